#!/usr/bin/env python3
"""test_handler_stream.py KUBESIM RECORDINGS INFORMERD [KILLS]: handlers with mode: stream, whatever their programs do.

A program is a shell script that reads lines. ACK appends the record to `got` and acknowledges it.
"""
import os
import random
import signal
import sys
import threading
from pathlib import Path

from handled import Handled
from service import FULL, Log, config_map, run, wait_until

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 100 if FULL else 10
# A line is read; $seq and $name are those of its record.
NEXT = '''next() {
    IFS= read -r line || return 1
    seq=${line#*\\"seq\\":}; seq=${seq%%[,\\}]*}
    name=${line#*\\"name\\":\\"}; name=${name%%\\"*}
}
take() { printf '%s\\n' "$line" >> $DIR/got; }
'''
ACK = 'take; echo ACK $seq'
ALL = f'while next; do {ACK}; done'
# The same without `read` of the shell, which makes a system call for each byte.
ALL_LONG = """tee -a $DIR/got | grep -o --line-buffered '"seq":[0-9]*' | grep -o --line-buffered '[0-9]*$'"""
FAST = {'backoff': '1ms..10ms'}


class Stream(Handled):
    def handler(self, script, **settings):
        return super().handler(NEXT + script, mode='stream', **settings)

    def names(self):
        return [r['name'] for r in self.got.read()]


class Delivery(Stream):
    def test_one_program_gets_all_records(self):
        daemon = self.run_with(f'echo $$ >> $DIR/pids; env > $DIR/env; {ALL}', concurrency=10)
        for n in range(20):
            self.put(f'web-{n % 4}', n=str(n))
        records = self.wait_got(20)
        self.wait_metric('queue_length', 0)
        self.assertEqual(records, [r for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED')])
        self.assertEqual(len((self.folder / 'pids').read_text().split()), 1)
        self.assertEqual(self.metric('runs_total'), 20)
        self.assertIn('INFORMERD_HANDLER=test\n', (self.folder / 'env').read_text())
        self.assertEqual(self.children(daemon), (self.folder / 'pids').read_text().split())
        self.assertEqual(daemon.end(), 0)

    def test_acknowledgements_in_any_order_and_as_plain_numbers(self):
        self.run_with('next; take; a=$seq; next; take; b=$seq; next; take; printf "$seq\\nACK $b\\n"; echo $a; ' + ALL,
                      concurrency=3)
        for name in ('a', 'b', 'c', 'd'):
            self.put(name)
        self.wait_got(4)
        self.wait_metric('queue_length', 0)
        self.assertEqual(self.names(), ['a', 'b', 'c', 'd'])

    def test_at_most_one_record_of_an_object_is_in_flight(self):
        self.run_with('next; take; while [ ! -e $DIR/go ]; do sleep 0.01; done; echo ACK $seq; ' + ALL, concurrency=10)
        self.put('web', n='1')
        self.wait_got(1)
        self.put('web', n='2')
        self.put('other')
        self.wait_metric('queue_length', 3)
        self.wait_metric('running', 2)
        (self.folder / 'go').touch()
        self.wait_got(3)
        self.assertEqual(self.names(), ['web', 'other', 'web'])

    def test_concurrency_limits_the_records_in_flight(self):
        self.run_with('while [ ! -e $DIR/go ]; do sleep 0.01; done; ' + ALL, concurrency=3)
        for n in range(8):
            self.put(f'web-{n}')
        self.wait_metric('queue_length', 8)
        self.wait_metric('running', 3)
        (self.folder / 'go').touch()
        self.wait_got(8)

    def test_latest(self):
        self.run_with('next; take; while [ ! -e $DIR/go ]; do sleep 0.01; done; echo ACK $seq; ' + ALL, deliver='latest')
        self.put('web', n='0')
        self.wait_got(1)
        for n in range(1, 6):
            self.put('web', n=str(n))
        self.wait_metric('coalesced_total', 4)
        (self.folder / 'go').touch()
        self.wait_got(2)
        self.wait_metric('queue_length', 0)
        self.assertEqual(len(self.got.read()), 2)

    def test_negative_acknowledgements(self):
        daemon = self.run_with('''while next; do case $name in
            bad) echo NAK $seq does not parse;; busy) n=$((n + 1)); if [ $n -lt 9 ]; then echo RETRY $seq; else take; echo $seq; fi;;
            *) take; echo ACK $seq;; esac; done''', retry={'max': 2, 'backoff': '1ms..2ms'}, concurrency=4)
        for name in ('bad', 'busy', 'good'):
            self.put(name)
        self.wait_metric('parked', 1)
        self.wait_got(2)
        self.assertEqual(sorted(self.names()), ['busy', 'good'])
        self.wait_logged(daemon, 'sim ConfigMap default/bad: does not parse; given up after 3 runs')


    def test_a_thousand_objects_that_fail_do_not_delay_another_one(self):
        self.run_with('while next; do case $name in bad*) echo RETRY $seq;; *) take; echo ACK $seq;; esac; done', concurrency=100,
                      retry={'backoff': '10ms..1s'})
        self.sim.control('fill', resource='configmaps', count=1000, bytes=200, prefix='bad')
        self.wait_metric('queue_length', 1000)
        for n in range(3):
            self.put(f'good-{n}')
            self.wait_got(n + 1)
        self.assertEqual(self.metric('queue_length'), 1000)
        self.assertEqual(self.names(), ['good-0', 'good-1', 'good-2'])


class Ends(Stream):
    """The program ends, or has to be ended."""

    def test_records_without_acknowledgement_are_sent_again(self):
        daemon = self.run_with('next; take; if [ ! -e $DIR/first ]; then touch $DIR/first; next; exit 4; fi; echo ACK $seq; ' + ALL,
                               concurrency=10, retry=FAST)
        self.put('a')
        self.put('b')
        records = self.wait_got(3)
        self.wait_metric('queue_length', 0)
        self.assertEqual([r['name'] for r in records], ['a', 'a', 'b'])
        self.wait_logged(daemon, 'handler test: the program has ended: exit code 4; started again in 0.0 s')
        self.assertEqual(self.metric('parked_total'), 0)

    def test_acknowledgements_before_the_end_count(self):
        self.run_with('next; take; echo ACK $seq; exit 1', concurrency=10, retry=FAST)
        for n in range(5):
            self.put(f'web-{n}')
        self.wait_got(5)
        self.wait_metric('queue_length', 0)
        self.assertEqual(sorted(self.names()), [f'web-{n}' for n in range(5)])

    def test_a_record_that_crashes_the_program_is_parked_and_no_other(self):
        self.run_with(f'while next; do case $name in bad) kill -SEGV $$;; esac; {ACK}; done', concurrency=100,
                      retry={'max': 2, 'backoff': '1ms..2ms'})
        for n in range(30):
            self.put('bad' if n == 15 else f'web-{n}')
        self.wait_metric('parked', 1)
        self.wait_metric('queue_length', 0)
        self.assertEqual(set(self.names()), {f'web-{n}' for n in range(30)} - {'web-15'})
        self.assertEqual(self.metric('parked_total'), 1)

    def test_no_acknowledgement_within_the_timeout(self):
        daemon = self.run_with("trap '' TERM; sleep 1000 & echo $! > $DIR/new; mv $DIR/new $DIR/pid; while :; do wait; done",
                               timeout='100ms', retry={'max': 0, 'backoff': '1ms..1ms'})
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        self.wait_metric('parked', 1)
        self.wait_dead(pid)
        self.wait_logged(daemon, 'the program has ended: a record was not acknowledged within 0.1 s')
        self.assertIn('[+] handler test: failing', self.get('/readyz?verbose').text)
        self.assertEqual(daemon.end(), 0)

    def test_a_program_that_does_not_read_delays_nothing(self):
        settings = {'queue': '64M', 'object': 'full', 'concurrency': 4000, 'timeout': '3s'}
        daemon = self.run_with('echo $$ >> $DIR/pids; exec sleep 1000', **settings)
        for n in range(200):
            self.sim.put('configmaps', {**config_map(f'web-{n}'), 'data': {'much': 'x' * 20000}})
        self.wait_equal()  # the event log has all of them
        self.wait_metric('queue_length', 200)
        self.assertLess(self.metric('running'), 200)  # the pipe and the buffer are full
        self.reload(daemon, self.handler(ALL_LONG, **settings))
        self.wait_got(200)
        self.wait_dead(int((self.folder / 'pids').read_text().split()[0]))

    def test_closes_its_stdin(self):
        daemon = self.run_with('if [ ! -e $DIR/first ]; then touch $DIR/first; exec <&-; touch $DIR/closed; exec sleep 1000; fi; ' + ALL,
                               timeout='10s', retry=FAST)
        self.put('web')
        self.wait_got(1)
        self.wait_metric('queue_length', 0)
        del daemon

    def test_endless_output(self):
        for name, script, why in (('out', 'yes', "unexpected line on its stdout: 'y'"),
                                  ('long', "tr '\\0' x < /dev/zero", 'of its stdout'),
                                  ('err', 'yes >&2', 'it writes too much to its stderr')):
            with self.subTest(name=name):
                daemon = self.run_with(script, retry={'max': 0, 'backoff': '1ms..1ms'})
                self.put(name)
                self.wait_logged(daemon, why)
                self.assertLess(len(daemon.stderr_text()), 200000)
                self.assertEqual(daemon.end(), 0)

    def test_a_program_that_does_not_exist(self):
        daemon = self.start(self.conf(handlers=[{'name': 'test', 'mode': 'stream', 'exec': ['/nonexistent/program'],
                                                 'retry': {'max': 0, 'backoff': '1ms..10ms'}}]))
        self.wait_ready()
        self.put('web')
        self.wait_logged(daemon, 'the program cannot be started: No such file or directory')
        self.assertEqual(self.metric('parked'), 0)  # it is not the record's fault
        self.reload(daemon, self.handler(ALL))
        self.wait_got(1)

    def test_leaks_neither_descriptors_nor_processes(self):
        daemon = self.run_with('sleep 1000 & ' + ACK.join(('next && { ', '; }; exit 1')), retry=FAST)
        fds = Path(f'/proc/{daemon.pid}/fd')
        self.put('first')
        self.wait_got(1)
        self.wait_metric('queue_length', 0)
        wait_until(lambda: not self.children(daemon), lambda: self.children(daemon))
        before = len(list(fds.iterdir()))
        for n in range(30):
            self.put(f'web-{n}')
        self.wait_got(31)
        self.wait_metric('queue_length', 0)
        wait_until(lambda: not self.children(daemon) and len(list(fds.iterdir())) <= before, lambda: list(fds.iterdir()))


class Restarts(Stream):
    HANG = 'echo $$ > $DIR/new; mv $DIR/new $DIR/pid; next; while [ ! -e $DIR/go ]; do sleep 0.01; done; ' + ACK + '; ' + ALL

    def test_reload_replaces_the_program_when_its_records_are_settled(self):
        daemon = self.run_with(self.HANG)
        self.put('a')
        pid = int(self.wait_file('pid').read_text())
        self.wait_metric('running', 1)
        # another path, because the settings and not the file decide
        self.reload(daemon, {**self.handler(ALL, name='new'), 'name': 'test'})
        self.put('b')
        self.wait_metric('queue_length', 2)
        self.assertEqual(self.names(), [])
        (self.folder / 'go').touch()
        self.wait_got(2)
        self.wait_dead(pid)
        self.assertEqual(self.names(), ['a', 'b'])

    def test_reload_without_a_change_keeps_the_program(self):
        daemon = self.run_with(f'echo $$ >> $DIR/pids; {ALL}')
        self.put('a')
        self.wait_got(1)
        self.reload(daemon, self.handler(f'echo $$ >> $DIR/pids; {ALL}'))
        self.put('b')
        self.wait_got(2)
        self.assertEqual(len((self.folder / 'pids').read_text().split()), 1)

    def test_changing_the_mode_loses_no_record(self):
        daemon = self.run_with(self.HANG)
        self.put('a')
        pid = int(self.wait_file('pid').read_text())
        self.put('b')
        self.wait_metric('queue_length', 2)
        path = self.handler('cat >> $DIR/got', name='run')['exec']
        self.reload(daemon, {'name': 'test', 'exec': path})
        self.wait_got(2)
        self.wait_dead(pid)
        self.assertEqual(set(self.names()), {'a', 'b'})

    def test_reloads_lose_no_record(self):
        """While objects change, the handler changes its program, mode and concurrency, and another one comes and goes."""
        run_path = Handled.handler(self, 'cat >> $DIR/got', name='run')['exec']
        variants = [self.handler(ALL, concurrency=4), {'name': 'test', 'exec': run_path, 'concurrency': 2},
                    {**self.handler(f'sleep 0.01; {ALL}', name='slow', concurrency=8), 'name': 'test'}]
        other = {**self.handler('while next; do echo ACK $seq; done', name='other', concurrency=2)}
        daemon = self.start(self.conf(handlers=[variants[0]]))
        self.wait_ready()
        stop = threading.Event()

        def change():
            n, got = 0, Log(self.folder / 'got')
            while not stop.wait(0.003):
                if n - len({r['seq'] for r in got.read()}) < 60:
                    n += 1
                    self.put(f'web-{n % 5}', n=str(n))
        changer = threading.Thread(target=change)
        changer.start()
        try:
            for turn in range(1, 10):
                self.wait_got(len(self.got.read()) + 10)
                self.reload(daemon, variants[turn % 3], *([other] if turn % 2 else []))
        finally:
            stop.set()
            changer.join()
        self.wait_equal()
        self.wait_metric('queue_length', 0)
        self.assertEqual({r['seq'] for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED')},
                         {r['seq'] for r in self.got.read()})
        self.assertEqual((self.metric('skipped_total'), self.metric('parked_total')), (0, 0))
        self.assertEqual(daemon.end(), 0)

    def test_removing_the_handler_ends_the_program(self):
        daemon = self.run_with(f'echo $$ > $DIR/pid; {ALL}')
        self.put('a')
        self.wait_got(1)
        self.reload(daemon)
        self.wait_dead(int((self.folder / 'pid').read_text()))
        wait_until(lambda: not self.children(daemon), lambda: self.children(daemon))

    def test_term_waits_for_acknowledgements(self):
        daemon = self.run_with(self.HANG, concurrency=2)
        for name in ('a', 'b', 'c'):
            self.put(name)
        pid = int(self.wait_file('pid').read_text())
        self.wait_metric('running', 2)
        self.wait_metric('queue_length', 3)
        daemon.send_signal(signal.SIGTERM)
        self.wait_logged(daemon, 'stopping: terminated')
        self.assertEqual(self.names(), [])
        (self.folder / 'go').touch()
        self.assertEqual(daemon.status(), 0)
        self.assertEqual(self.names(), ['a', 'b'])
        self.wait_dead(pid)
        self.run_with(self.HANG)
        self.wait_got(3)
        self.wait_metric('queue_length', 0)
        self.assertEqual(self.names(), ['a', 'b', 'c'])

    def test_term_ends_a_program_that_takes_too_long(self):
        daemon = self.start(self.conf(handlers=[self.handler(self.HANG)], drain_timeout='200ms'))
        self.wait_ready()
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        self.wait_metric('running', 1)
        self.assertEqual(daemon.end(), 0)
        self.wait_dead(pid)
        (self.folder / 'go').touch()
        self.run_with(self.HANG)
        self.wait_got(1)

    def test_every_record_at_least_once_in_order_over_kills(self):
        """informerd is killed, or its program."""
        script = f'echo $$ > $DIR/new; mv $DIR/new $DIR/pid; {ALL}'
        settings = {'concurrency': 8, 'queue': '64M', 'retry': FAST}
        rng = random.Random(20)
        daemon = self.run_with(script, **settings)
        stop = threading.Event()
        names = [f'web-{n}' for n in range(6)]

        def change():
            n, got = 0, Log(self.folder / 'got')
            while not stop.wait(0.003):
                if n - len({r['seq'] for r in got.read()}) < 60:
                    n += 1
                    self.put(names[n % len(names)], n=str(n))
        changer = threading.Thread(target=change)
        changer.start()
        try:
            for turn in range(KILLS):
                self.wait_got(len(self.got.read()) + rng.randrange(1, 60))
                if turn % 3 == 2:
                    subprocess_kill(int(self.wait_file('pid').read_text()))
                else:
                    daemon.end(signal.SIGKILL)
                    daemon = self.run_with(script, **settings)
        finally:
            stop.set()
            changer.join()
        self.wait_equal()
        self.wait_metric('queue_length', 0)
        logged = [r for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED')]
        got = self.got.read()
        self.assertEqual({r['seq'] for r in logged}, {r['seq'] for r in got})
        for name in names:
            first = list(dict.fromkeys(r['seq'] for r in got if r['name'] == name))
            self.assertEqual(first, sorted(first))
        print(f'# {len(logged)} records, {KILLS} kills, {len(got) - len({r["seq"] for r in got})} delivered more than once')


def subprocess_kill(pid):
    """A program of informerd, which a restart may have ended already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


run(__name__)
