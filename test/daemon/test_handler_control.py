#!/usr/bin/env python3
"""test_handler_control.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: informerctl handler, and command files."""
import json
import signal
import subprocess
import sys
from pathlib import Path

from handled import TAKE, Handled
from service import DEADLINE, environment, run, wait_until

INFORMERCTL = Path(sys.argv[4]).resolve()
FIX = '[ -e $DIR/fixed ] || exit 3; ' + TAKE
ONCE = {'retry': {'max': 1, 'backoff': '1ms..1ms'}}


class Control(Handled):
    def ctl(self, *arguments):
        return subprocess.run([INFORMERCTL, 'handler', *arguments, '-s', self.socket], capture_output=True, text=True,
                              timeout=DEADLINE, env=environment(self.folder), stdin=subprocess.DEVNULL)

    def good(self, *arguments):
        done = self.ctl(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return done.stdout

    def park(self, *names):
        daemon = self.run_with(FIX, **ONCE)
        for count, name in enumerate(names, 1):
            self.put(name)
            self.wait_metric('parked', count)
        return daemon

    def parked(self):
        """Sequence numbers by name."""
        rows = [line.split() for line in self.good('parked', 'test').splitlines()[1:]]
        return {row[3].split('/')[1]: row[0] for row in rows}


class Informerctl(Control):
    def test_ls(self):
        self.run_with(TAKE)
        self.put('web')
        self.wait_metric('runs_total', 1)
        header, row = self.good('ls').splitlines()
        self.assertEqual(header.split(), ['NAME', 'KIND', 'MODE', 'STATE', 'POSITION', 'WAITING', 'RUNNING', 'PARKED', 'RUNS', 'FAILURES', 'REASON'])
        name, kind, mode, state, position, *numbers = row.split()
        self.assertEqual((name, kind, mode, state, numbers), ('test', 'exec', 'run', 'idle', ['0', '0', '0', '1', '0']))
        self.assertGreaterEqual(int(position), self.got.read()[0]['seq'])

    def test_the_position_is_before_the_oldest_record_that_waits(self):
        self.run_with('[ "$INFORMERD_NAME" != stuck ] || exec sleep 1000', concurrency=4)
        for name in ('first', 'stuck', 'third'):
            self.put(name)
        self.wait_metric('runs_total', 2)
        stuck = self.log.wait_for(lambda records: any(r.get('name') == 'stuck' for r in records), 'the record')
        seq = next(r['seq'] for r in stuck if r.get('name') == 'stuck')
        self.assertEqual(self.good('ls').splitlines()[1].split()[4:6], [str(seq - 1), '1'])
        handler, = json.loads(self.get('/informerd/v1/status').text)['handlers']
        self.assertEqual((handler['kind'], handler['position'], handler['records']), ('exec', seq - 1, 1))

    def test_without_handlers(self):
        self.start(self.conf())
        self.wait_ready()
        self.assertEqual(self.good('ls'), 'No handlers are configured.\n')

    def test_parked_has_object_reason_attempts_and_times(self):
        self.park('web')
        header, row = self.good('parked', 'test').splitlines()
        self.assertEqual(header.split(), ['SEQ', 'OBJECT', 'TYPE', 'TIME', 'ATTEMPTS', 'PARKED', 'REASON'])
        seq, cluster, kind, name, verb, time, attempts, parked, *reason = row.split()
        record = [r for r in self.log.read() if r.get('name') == 'web'][0]
        self.assertEqual((seq, cluster, kind, name, verb), (str(record['seq']), 'sim', 'ConfigMap', 'default/web', 'ADDED'))
        self.assertEqual((attempts, ' '.join(reason)), ('2', 'exit code 3'))
        self.assertLess(time, parked)
        self.assertIn('test   exec   run    failing', self.good('ls'))

    def test_parked_survives_a_restart_with_its_reason(self):
        daemon = self.park('web')
        before = self.good('parked', 'test')
        daemon.end(signal.SIGKILL)
        self.run_with(FIX, **ONCE)
        self.assertEqual(self.good('parked', 'test'), before)

    def test_retry_and_drop_one_or_all(self):
        self.park('a', 'b', 'c', 'd')
        seqs = self.parked()
        self.assertEqual(list(seqs), ['a', 'b', 'c', 'd'])
        self.assertEqual(self.good('drop', 'test', seqs['b']), 'handler test: 1 parked records are dropped\n')
        (self.folder / 'fixed').touch()
        self.assertEqual(self.good('retry', 'test', seqs['c']), 'handler test: 1 parked records are delivered again\n')
        self.assertEqual(self.wait_got(1)[0]['name'], 'c')
        self.assertEqual(list(self.parked()), ['a', 'd'])
        self.assertEqual(self.good('retry', 'test'), 'handler test: 2 parked records are delivered again\n')
        self.wait_got(3)
        self.wait_metric('parked', 0)
        self.assertEqual({r['name'] for r in self.got.read()}, {'a', 'c', 'd'})
        self.assertEqual(self.good('parked', 'test'), 'No records are parked.\n')

    def test_drop_survives_kill_9(self):
        daemon = self.park('a', 'b')
        self.good('drop', 'test')
        self.put('flushed')  # its record is saved after the drop
        self.wait_metric('parked', 1)
        daemon.end(signal.SIGKILL)
        self.run_with(FIX, **ONCE)
        self.assertEqual(list(self.parked()), ['flushed'])

    def test_a_paused_handler_collects_records_also_after_a_restart(self):
        daemon = self.run_with(TAKE)
        self.assertEqual(self.good('pause', 'test'),
                         'handler test: paused: no further run is started until it is resumed\n')
        self.good('pause', 'test')
        self.put('a')
        self.wait_metric('queue_length', 1)
        self.assertEqual((self.metric('paused'), self.metric('runs_total')), (1, 0))
        self.assertIn('[+] handler test: paused, 1 record waiting', self.get('/readyz?verbose').text)
        for number in (signal.SIGTERM, signal.SIGKILL):
            daemon.end(number)
            daemon = self.run_with(TAKE)
            self.put('b')
            self.wait_metric('paused', 1)
        self.reload(daemon, self.handler(TAKE))
        self.assertIn('paused', self.good('ls'))
        self.assertEqual(self.metric('runs_total'), 0)
        self.assertEqual(self.good('resume', 'test'), 'handler test: resumed\n')
        self.assertEqual([r['name'] for r in self.wait_got(2)][:2], ['a', 'b'])
        daemon.end()
        self.run_with(TAKE)
        self.assertEqual(self.metric('paused'), 0)

    def test_a_handler_that_is_removed_and_added_again_is_not_paused(self):
        daemon = self.run_with(TAKE)
        self.good('pause', 'test')
        self.reload(daemon)
        self.reload(daemon, self.handler(TAKE))
        self.assertEqual(self.metric('paused'), 0)

    def test_errors(self):
        self.run_with(TAKE)
        for arguments, status, message in (
                ((), 64, 'missing action'), (('stop', 'test'), 64, "unknown action 'stop'"),
                (('pause',), 64, 'missing name'), (('pause', 'test', '1'), 64, "unexpected argument '1'"),
                (('drop', 'test', 'x'), 64, "'x' is not a sequence number"), (('ls', 'x'), 64, "unexpected argument 'x'"),
                (('pause', 'other'), 1, "no handler is named 'other'"), (('parked', 'other'), 1, "no handler is named 'other'"),
                (('retry', 'test', '99'), 1, "handler 'test' has no parked record with sequence number 99")):
            with self.subTest(arguments=arguments):
                done = self.ctl(*arguments)
                self.assertEqual(done.returncode, status, done)
                self.assertIn(message, done.stderr)

    def test_malformed_requests(self):
        self.run_with(TAKE)
        for target, status in (('control', 400), ('control?name=test', 400), ('control?name=test&command=x', 400),
                               ('control?name=test&command=drop&seq=x', 400), ('control?name=x&command=drop', 404),
                               ('control?name=test&command=pause&seq=1', 400), ('parked', 400), ('nothing', 404)):
            with self.subTest(target=target):
                self.assertEqual(self.get('/informerd/v1/handlers/' + target, self.socket).status, status)


class CommandFiles(Control):
    def commands(self, daemon, text, name='test'):
        path = self.folder / 'state' / f'handler-{name}.cmd'
        path.write_text(text)
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: not path.exists(), lambda: f'{path} is removed; {daemon.stderr_text()[-2000:]}')
        return path

    def test_pause_resume_and_drop_without_the_api(self):
        daemon = self.park('a')
        self.commands(daemon, 'drop\npause\n')
        self.wait_logged(daemon, 'handler test: command file: 1 parked records are dropped')
        self.wait_metric('paused', 1)
        self.assertEqual(self.metric('parked'), 0)
        (self.folder / 'fixed').touch()
        self.put('b')
        self.wait_metric('queue_length', 1)
        self.commands(daemon, 'resume')
        self.assertEqual([r['name'] for r in self.wait_got(1)], ['b'])

    def test_errors_are_logged(self):
        daemon = self.run_with(TAKE)
        self.commands(daemon, 'stop\ndrop x\nretry 7\npause\n')
        for text in ("unknown command 'stop'; use pause, resume, retry or drop", "'drop' takes a sequence number",
                     "handler 'test' has no parked record with sequence number 7", 'paused: no further run'):
            self.wait_logged(daemon, 'handler test: command file: ' + text)
        self.commands(daemon, 'x' * 70000)
        self.wait_logged(daemon, 'handler test: command file')

    def test_a_name_with_a_slash(self):
        daemon = self.run_with(TAKE, name='team/page')
        self.commands(daemon, 'pause\n', 'team_page')
        self.wait_logged(daemon, 'handler team/page: command file: paused')


run(__name__)
