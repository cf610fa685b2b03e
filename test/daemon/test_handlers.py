#!/usr/bin/env python3
"""test_handlers.py KUBESIM RECORDINGS INFORMERD [KILLS]: handlers run real programs, whatever these do.

A program is a shell script in the folder of the case: see handled.py.
"""
import grp
import json
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from handled import TAKE, Handled
from service import FULL, INFORMERD, Log, config_map, run, wait_until

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 100 if FULL else 10


class Delivery(Handled):
    def test_what_a_program_gets(self):
        self.put('before')
        daemon = self.run_with('env > $DIR/env; ls /proc/self/fd > $DIR/fds; ' + TAKE)
        self.put('web', a='b')
        record = self.wait_got(1)[0]
        logged = self.log.wait_for(lambda records: any(r.get('name') == 'web' for r in records), 'the same record')
        self.assertEqual(record, [r for r in logged if r.get('name') == 'web'][0])
        env = dict(line.split('=', 1) for line in (self.folder / 'env').read_text().splitlines())
        ours = {k: v for k, v in env.items() if k.startswith('INFORMERD_')}
        self.assertEqual(ours, {
            'INFORMERD_SEQ': str(record['seq']), 'INFORMERD_LOG': record['log'], 'INFORMERD_HANDLER': 'test',
            'INFORMERD_CLUSTER': 'sim', 'INFORMERD_WATCH': 'configmaps', 'INFORMERD_TYPE': 'ADDED',
            'INFORMERD_KIND': 'ConfigMap', 'INFORMERD_NAMESPACE': 'default', 'INFORMERD_NAME': 'web',
            'INFORMERD_ATTEMPT': '1'})
        self.assertLessEqual(set(env) - set(ours), {'PATH', 'HOME', 'LANG', 'TZ', 'PWD', 'SHLVL', '_', 'OLDPWD'})
        self.assertLessEqual(set((self.folder / 'fds').read_text().split()), {'0', '1', '2', '3'})  # 3 is of ls
        self.assertEqual(daemon.end(), 0)

    def test_initial_objects_only_if_configured(self):
        self.put('a')
        self.put('b')
        self.run_with(TAKE, initial=True)
        self.assertEqual({r['name'] for r in self.wait_got(2)}, {'a', 'b'})

    def test_selection(self):
        self.put('web', a='1')
        self.run_with(TAKE, verbs=['MODIFIED'], when='metadata.labels.a=3')
        self.put('other')
        self.put('web', a='2')
        self.put('web', a='3')
        self.put('web', a='3', more='x')
        self.put('web', a='4')
        self.put('web', a='3')
        self.log.wait_for(lambda records: sum(r['type'] == 'MODIFIED' for r in records) == 5, 'five changes')
        records = self.wait_got(2)
        self.wait_metric('queue_length', 0)
        versions = [r['rv'] for r in self.log.read() if r['type'] == 'MODIFIED']
        self.assertEqual([r['rv'] for r in self.got.read()], [versions[1], versions[4]], records)

    def test_order_of_each_object_while_others_wait(self):
        self.run_with('case $INFORMERD_NAME in slow) while [ ! -e $DIR/go ]; do sleep 0.01; done;; esac; ' + TAKE,
                      concurrency=2)
        self.put('slow', n='0')
        for n in range(10):
            self.put('slow', n=str(n + 1))
            self.put('fast', n=str(n))
        self.wait_got(10)
        self.assertEqual({r['name'] for r in self.got.read()}, {'fast'})
        (self.folder / 'go').touch()
        records = self.wait_got(21)
        for name in ('slow', 'fast'):
            seqs = [r['seq'] for r in records if r['name'] == name]
            self.assertEqual(seqs, sorted(seqs))

    def test_latest(self):
        self.run_with('touch $DIR/began; while [ ! -e $DIR/go ]; do sleep 0.01; done; ' + TAKE, deliver='latest')
        self.put('web', n='0')
        self.wait_file('began')
        for n in range(1, 6):
            self.put('web', n=str(n))
        self.wait_metric('coalesced_total', 4)
        (self.folder / 'go').touch()
        records = self.wait_got(2)
        self.wait_metric('queue_length', 0)
        self.assertEqual([r['rv'] for r in self.got.read()],
                         [r['rv'] for r in self.log.read() if r.get('name') == 'web'][::5], records)


class Failures(Handled):
    def test_repeats_a_run_that_fails(self):
        daemon = self.run_with('echo oops >&2; [ $INFORMERD_ATTEMPT = 3 ] || exit 7; ' + TAKE)
        self.put('web')
        self.wait_got(1)
        self.wait_metric('retries_total', 2)
        self.wait_metric('runs_total', 3)
        self.assertEqual(self.metric('failures_total'), 2)
        self.wait_logged(daemon, 'handler test: sim ConfigMap default/web: stderr: oops')
        self.wait_logged(daemon, 'handler test: sim ConfigMap default/web: exit code 7; repeated in')

    def test_metrics(self):
        """Each of them with its value: one record is delivered, one parked after three runs, one is being delivered."""
        self.run_with('case $INFORMERD_NAME in bad) exit 1;; slow) while [ ! -e $DIR/go ]; do sleep 0.01; done;; esac; ' + TAKE,
                      retry={'max': 2, 'backoff': '1ms..2ms'})
        self.put('good')
        self.put('bad')
        self.wait_metric('parked', 1)
        self.put('slow')
        self.wait_metric('running', 1)
        wait_until(lambda: self.metric('oldest_seconds') > 0, 'the age of the record')
        values = {name: self.metric(name) for name in (
            'queue_length', 'runs_total', 'failures_total', 'retries_total', 'parked_total', 'forgotten_total', 'coalesced_total',
            'skipped_total', 'gaps_total', 'paused', 'held', 'run_duration_seconds_count')}
        self.assertEqual(values, {
            'queue_length': 1, 'runs_total': 4, 'failures_total': 3, 'retries_total': 2, 'parked_total': 1, 'forgotten_total': 0,
            'coalesced_total': 0, 'skipped_total': 0, 'gaps_total': 0, 'paused': 0, 'held': 0, 'run_duration_seconds_count': 4})
        self.assertGreater(self.metric('queue_bytes'), 0)
        (self.folder / 'go').touch()
        self.wait_metric('queue_length', 0)
        self.assertEqual((self.metric('oldest_seconds'), self.metric('running'), self.metric('runs_total')), (0, 0, 5))

    def test_exit_code_75_is_repeated_for_ever(self):
        self.run_with('[ $INFORMERD_ATTEMPT = 9 ] || exit 75; ' + TAKE, retry={'max': 1, 'backoff': '1ms..2ms'})
        self.put('web')
        self.wait_got(1)
        self.wait_metric('queue_length', 0)
        self.assertEqual(self.metric('parked_total'), 0)

    def test_parks_and_delivers_after_a_reload(self):
        script = '[ -e $DIR/fixed ] || exit 1; ' + TAKE
        settings = {'retry': {'max': 2, 'backoff': '1ms..2ms'}}
        daemon = self.run_with(script, **settings)
        self.put('bad')
        self.wait_metric('parked', 1)
        self.assertEqual(self.metric('runs_total'), 3)
        daemon.send_signal(signal.SIGUSR2)
        dump = json.loads(self.wait_file('state/dump.json').read_text())['handlers'][0]
        self.assertEqual((dump['name'], dump['parked'], dump['error']), ('test', 1, 'exit code 1'))
        self.assertEqual([r['name'] for r in dump['parked_records']], ['bad'])
        self.assertIn('[+] handler test: failing: exit code 1, 1 parked\n', self.get('/readyz?verbose').text)
        self.assertEqual(daemon.end(), 0)
        daemon = self.run_with(script, **settings)
        self.wait_metric('parked', 1)
        self.wait_logged(daemon, 'continues with 0 records of the last run, and 1 parked')
        (self.folder / 'fixed').touch()
        self.reload(daemon, self.handler(script, **settings))
        self.assertEqual(self.wait_got(1)[0]['name'], 'bad')
        self.wait_metric('parked', 0)

    def test_a_program_that_does_not_exist(self):
        daemon = self.start(self.conf(handlers=[{'name': 'test', 'exec': ['/nonexistent/program'],
                                                 'retry': {'max': 0}}]))
        self.wait_ready()
        self.put('web')
        self.wait_metric('parked', 1)
        self.assertIn("'/nonexistent/program' cannot be started: No such file or directory", daemon.stderr_text())

    def test_failing_objects_do_not_block_others(self):
        self.run_with('case $INFORMERD_NAME in bad*) exit 75;; esac; ' + TAKE, retry={'backoff': '50ms..100ms'})
        for n in range(50):
            self.put(f'bad-{n}')
        for n in range(5):
            self.put(f'good-{n}')
        self.assertEqual({r['name'] for r in self.wait_got(5)}, {f'good-{n}' for n in range(5)})


class Programs(Handled):
    """Programs that do not behave."""
    once = {'retry': {'max': 0, 'backoff': '1ms..1ms'}}

    def test_ignores_sigterm_and_has_children(self):
        daemon = self.run_with("trap '' TERM; sleep 1000 & echo $! > $DIR/new; mv $DIR/new $DIR/pid; while :; do wait; done",
                               timeout='100ms', **self.once)
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        self.wait_metric('parked', 1)
        self.wait_dead(pid)
        self.assertIn('timed out after 0.1 s', daemon.stderr_text())
        wait_until(lambda: not self.children(daemon), lambda: self.children(daemon))

    def test_endless_output(self):
        for stream in ('', '>&2'):
            with self.subTest(stream=stream):
                daemon = self.run_with('yes ' + stream, **self.once)
                self.put(f'web{len(stream)}')
                self.wait_metric('parked', 1 if not stream else 2)
                self.wait_logged(daemon, 'more than 262144 bytes of output')
                self.assertLess(len(daemon.stderr_text()), 100000)
                self.assertEqual(daemon.end(), 0)

    def test_leaves_a_child_that_holds_the_pipes(self):
        daemon = self.run_with('sleep 1000 & echo $! > $DIR/new; mv $DIR/new $DIR/pid; ' + TAKE)
        self.put('web')
        self.wait_got(1)
        self.wait_dead(int(self.wait_file('pid').read_text()))
        wait_until(lambda: not self.children(daemon), lambda: self.children(daemon))

    def test_crashes(self):
        daemon = self.run_with('kill -SEGV $$', **self.once)
        self.put('web')
        self.wait_metric('parked', 1)
        self.assertIn('killed by SIGSEGV', daemon.stderr_text())

    def test_leaks_no_descriptors(self):
        daemon = self.run_with(TAKE, concurrency=8)
        fds = Path(f'/proc/{daemon.pid}/fd')
        self.put('first')
        self.wait_got(1)
        self.wait_metric('queue_length', 0)
        before = len(list(fds.iterdir()))
        for n in range(60):
            self.put(f'web-{n}')
        self.wait_got(61)
        self.wait_metric('queue_length', 0)
        wait_until(lambda: len(list(fds.iterdir())) <= before, lambda: list(fds.iterdir()))
        self.assertFalse(self.children(daemon))


class Restarts(Handled):
    HANG = 'echo $$ > $DIR/new; mv $DIR/new $DIR/pid; while [ ! -e $DIR/go ]; do sleep 0.01; done; ' + TAKE

    def test_kill_9(self):
        daemon = self.run_with(self.HANG)
        self.put('web', n='0')
        pid = int(self.wait_file('pid').read_text())
        self.put('web', n='1')
        self.put('other')
        self.wait_metric('queue_length', 3)
        self.log.wait_for(lambda records: len({r.get('rv') for r in records if r['type'] != 'SYNCED'}) > 3, 'all changes')
        daemon.end(signal.SIGKILL)
        self.wait_dead(pid)
        (self.folder / 'go').touch()
        daemon = self.run_with(self.HANG)
        records = self.wait_got(3)
        self.assertEqual({r['name'] for r in records}, {'web', 'other'})
        seqs = [r['seq'] for r in records if r['name'] == 'web']
        self.assertEqual(seqs, sorted(seqs))
        self.wait_metric('queue_length', 0)
        self.assertEqual(daemon.end(), 0)

    def test_term_finishes_what_runs(self):
        daemon = self.run_with(self.HANG)
        self.put('web', n='0')
        self.wait_file('pid')
        self.put('web', n='1')
        self.wait_metric('queue_length', 2)
        daemon.send_signal(signal.SIGTERM)
        self.wait_logged(daemon, 'stopping: terminated')
        self.assertEqual(self.got.read(), [])
        (self.folder / 'go').touch()
        self.assertEqual(daemon.status(), 0)
        self.assertEqual(len(self.got.read()), 1)
        self.run_with(self.HANG)
        records = self.wait_got(2)
        self.wait_metric('queue_length', 0)
        self.assertEqual(len({r['seq'] for r in records}), 2)
        self.assertEqual(len(self.got.read()), 2)

    def test_term_ends_what_takes_too_long(self):
        daemon = self.start(self.conf(handlers=[self.handler(self.HANG)], drain_timeout='200ms'))
        self.wait_ready()
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        self.assertEqual(daemon.end(), 0)
        self.wait_dead(pid)
        self.assertIn('their records are delivered again after the next start', daemon.stderr_text())
        (self.folder / 'go').touch()
        self.run_with(self.HANG)
        self.wait_got(1)

    def test_without_state_the_queue_is_in_memory(self):
        conf = self.conf(handlers=[self.handler(self.HANG)], state={'enabled': False}, drain_timeout='200ms')
        daemon = self.start(conf)
        self.wait_ready()
        self.put('web', n='0')
        self.wait_file('pid')
        self.put('web', n='1')
        self.wait_metric('queue_length', 2)
        self.assertEqual(daemon.end(), 0)
        self.assertIn('informerd stops and keeps no state on disk; 1 records that were not delivered', daemon.stderr_text())

    def test_reload_keeps_the_queue_of_a_handler_and_drops_that_of_a_removed_one(self):
        other = self.handler(self.HANG, name='other')
        daemon = self.start(self.conf(handlers=[self.handler(self.HANG), other]))
        self.wait_ready()
        self.put('web', n='0')
        self.put('web', n='1')
        self.wait_metric('queue_length', 2)
        self.wait_file('pid')
        self.reload(daemon, self.handler('cat > /dev/null; ' + TAKE + ' <<END\n{"new": true}\nEND'))
        self.wait_logged(daemon, 'handler other: it was removed from the configuration; 1 records')
        (self.folder / 'go').touch()
        self.wait_metric('queue_length', 0)
        self.got.wait_for(lambda records: {'new': True} in records, 'a run with the new settings')

    def test_every_record_at_least_once_in_order_over_kills(self):
        settings = {'concurrency': 4, 'queue': '64M'}
        rng = random.Random(20)
        daemon = self.run_with(TAKE, **settings)
        stop = threading.Event()
        names = [f'web-{n}' for n in range(6)]

        def change():
            n, got = 0, Log(self.folder / 'got')
            while not stop.wait(0.003):
                if n - len({r['seq'] for r in got.read()}) < 40:  # not faster than the programs
                    n += 1
                    self.put(names[n % len(names)], n=str(n))
        changer = threading.Thread(target=change)
        changer.start()
        try:
            for _ in range(KILLS):
                seen = len(self.got.read())
                self.wait_got(seen + rng.randrange(1, 30))
                daemon.end(signal.SIGKILL)
                daemon = self.run_with(TAKE, **settings)
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
        repeated = len(got) - len({r['seq'] for r in got})
        print(f'# {len(logged)} records, {KILLS} kills, {repeated} delivered more than once')


class Overflow(Handled):
    """A handler that hangs, and more changes than its queue has room for."""
    CHANGES = 150

    def overflow(self, policy):
        daemon = self.start(self.conf(handlers=[self.handler(
            'while [ ! -e $DIR/go ]; do sleep 0.01; done; ' + TAKE, queue='1M', object='full', overflow=policy,
            concurrency=16)]))
        self.wait_ready()
        for n in range(self.CHANGES):
            self.sim.put('configmaps', {**config_map(f'web-{n % 3}'), 'data': {'n': str(n), 'much': 'x' * 20000}})
        return daemon

    def finish(self):
        (self.folder / 'go').touch()
        self.wait_equal()
        self.wait_metric('queue_length', 0)
        return self.got.read()

    def test_gap(self):
        daemon = self.overflow('gap')
        self.wait_equal()  # the event log is not delayed
        self.assertGreater(self.metric('skipped_total'), 0)
        self.assertIn('handler test: GAP: the queue is full (1048576 bytes)', daemon.stderr_text())
        skipped = self.metric('skipped_total')
        self.assertEqual(len(self.finish()) + skipped, self.CHANGES)

    def test_coalesce_keeps_the_newest_of_each_object(self):
        self.overflow('coalesce')
        self.wait_equal()
        self.assertGreater(self.metric('coalesced_total'), 0)
        self.assertEqual(self.metric('skipped_total'), 0)
        newest = {r['name']: r['rv'] for r in self.log.read() if r.get('name')}
        self.assertEqual({r['name']: r['rv'] for r in self.finish()}, newest)

    def test_wait_holds_the_watch(self):
        self.overflow('wait')
        self.wait_metric('held', 1)
        self.assertIn('[+] handler test: full', self.get('/readyz?verbose').text)
        seqs = [r['seq'] for r in self.finish()]
        self.assertEqual(self.metric('skipped_total'), 0)
        self.assertEqual(len(seqs), sum(r['type'] in ('ADDED', 'MODIFIED') for r in self.log.read()))


class Context(Handled):
    """User, limits, directory and umask of a program."""

    def test_limits_directory_and_umask(self):
        daemon = self.run_with('pwd > $DIR/pwd; umask > $DIR/umask; cat /proc/self/limits > $DIR/limits; ' + TAKE,
                               directory='/usr', umask='0077',
                               limits={'cpu': '7s', 'memory': '512M', 'files': 100, 'processes': 5000})
        self.put('web')
        self.wait_got(1)
        self.assertEqual((self.folder / 'pwd').read_text(), '/usr\n')
        self.assertEqual((self.folder / 'umask').read_text(), '0077\n')
        limits = (self.folder / 'limits').read_text()
        for line in ('Max cpu time              7                    7',
                     'Max address space         536870912            536870912',
                     'Max open files            100                  100',
                     'Max processes             5000                 5000'):
            self.assertIn(line, limits)
        self.assertEqual(daemon.end(), 0)

    def test_without_settings(self):
        self.run_with('pwd > $DIR/pwd; umask > $DIR/umask; ' + TAKE)
        self.put('web')
        self.wait_got(1)
        self.assertEqual((self.folder / 'pwd').read_text(), '/\n')
        self.assertEqual((self.folder / 'umask').read_text(), '0027\n')

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_user_and_groups(self):
        user = pwd.getpwnam('daemon')
        self.folder.chmod(0o777)
        self.run_with('id -u > $DIR/uid; id -G > $DIR/groups; cat /proc/self/status > $DIR/status; ' + TAKE, user='daemon')
        self.put('web')
        self.wait_got(1)
        self.assertEqual((self.folder / 'uid').read_text(), f'{user.pw_uid}\n')
        groups = {int(n) for n in (self.folder / 'groups').read_text().split()}
        self.assertEqual(groups, set(os.getgrouplist('daemon', user.pw_gid)))
        self.assertIn('CapEff:\t0000000000000000\n', (self.folder / 'status').read_text())

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_only_a_group(self):
        group = grp.getgrnam('daemon')
        self.folder.chmod(0o777)
        self.run_with('id -u > $DIR/uid; id -G > $DIR/groups; ' + TAKE, group='daemon')
        self.put('web')
        self.wait_got(1)
        self.assertEqual((self.folder / 'uid').read_text(), f'{os.geteuid()}\n')
        self.assertEqual((self.folder / 'groups').read_text(), f'{group.gr_gid}\n')

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_a_program_of_another_user_is_ended_at_its_timeout(self):
        self.folder.chmod(0o777)
        daemon = self.run_with('echo $$ > $DIR/pid; exec sleep 1000', user='daemon', timeout='200ms', retry={'max': 0})
        self.put('web')
        self.wait_metric('parked', 1)
        self.wait_dead(int((self.folder / 'pid').read_text()))
        wait_until(lambda: not self.children(daemon), lambda: self.children(daemon))

    @unittest.skipUnless(os.geteuid() == 0, 'needs root')
    def test_kill_9_ends_a_program_of_another_user(self):
        self.folder.chmod(0o777)
        daemon = self.run_with('echo $$ > $DIR/new; mv $DIR/new $DIR/pid; exec sleep 1000', user='daemon')
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        daemon.end(signal.SIGKILL)
        self.wait_dead(pid)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('setpriv'), 'needs root and setpriv')
    def test_without_capabilities_the_error_names_the_drop_in(self):
        for dropped in ('-setuid', '-setgid', '-kill'):
            with self.subTest(dropped=dropped):
                daemon = self.start(self.conf(handlers=[self.handler(TAKE, user='daemon')]),
                                    wrap=('setpriv', f'--bounding-set={dropped}', f'--inh-caps={dropped}'))
                self.assertEqual(daemon.status(), 78)
                self.assertIn("handler 'test': user and group need the capabilities CAP_SETUID, CAP_SETGID and CAP_KILL",
                              daemon.stderr_text())
                self.assertIn('/informerd-handlers.conf', daemon.stderr_text())

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which('setpriv'), 'needs root and setpriv')
    def test_the_capabilities_of_the_drop_in_are_enough(self):
        """informerd is not root; its programs run as another user, have no capability, and can be ended."""
        capabilities = '+setuid,+setgid,+kill'
        as_daemon = ('setpriv', '--reuid=daemon', '--regid=daemon', '--clear-groups', '--no-new-privs',
                     '--inh-caps=' + capabilities, '--ambient-caps=' + capabilities)
        if subprocess.run([*as_daemon, INFORMERD, '--version'], capture_output=True).returncode:
            self.skipTest('another user cannot run the informerd of this build directory')
        for path in (self.folder, *self.folder.iterdir()):
            shutil.chown(path, 'daemon', 'daemon')
        self.folder.chmod(0o777)
        script = 'id -un > $DIR/user; grep Cap /proc/self/status > $DIR/caps; echo $$ > $DIR/new; mv $DIR/new $DIR/pid; exec sleep 1000'
        daemon = self.start(self.conf(handlers=[self.handler(script, user='bin', timeout='200ms', retry={'max': 0})]),
                            wrap=as_daemon)
        self.wait_ready()
        self.put('web')
        pid = int(self.wait_file('pid').read_text())
        self.assertEqual((self.folder / 'user').read_text(), 'bin\n')
        caps = dict(line.split() for line in (self.folder / 'caps').read_text().splitlines())
        self.assertEqual({name: int(caps[name], 16) for name in ('CapEff:', 'CapPrm:', 'CapAmb:')},
                         {'CapEff:': 0, 'CapPrm:': 0, 'CapAmb:': 0})
        self.wait_metric('parked', 1)
        self.wait_dead(pid)
        self.assertEqual(daemon.end(), 0)

    def test_a_user_that_does_not_exist(self):
        conf = self.conf(handlers=[self.handler(TAKE, user='no-such-user')])
        done = subprocess.run([INFORMERD, '--check-config', '-c', self.write_conf(conf)], capture_output=True, text=True)
        self.assertIn("handler 'test': user 'no-such-user' does not exist", done.stdout)
        daemon = self.start(conf)
        self.assertEqual(daemon.status(), 78)
        self.assertIn("handler 'test': user 'no-such-user' does not exist", daemon.stderr_text())

    def test_concurrency_above_64_needs_a_stream(self):
        path = self.write_conf(self.conf(handlers=[self.handler(TAKE, concurrency=65)]))
        done = subprocess.run([INFORMERD, '--check-config', '-c', path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 78)
        self.assertIn('handlers[0].concurrency: is more than 64, which needs mode: stream', done.stderr)


class Configuration(Handled):
    def test_check_config_reports_a_program_that_cannot_be_executed(self):
        path = self.write_conf(self.conf(handlers=[{'name': 'x', 'exec': ['/nonexistent/page']},
                                                   {'name': 'y', 'exec': ['/bin/sh', '-c', 'true']}]))
        done = subprocess.run([INFORMERD, '--check-config', '-c', path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('1 watch, 1 event log, 2 handlers\n', done.stdout)
        self.assertIn("handler 'x': '/nonexistent/page' cannot be executed: No such file or directory", done.stdout)
        self.assertNotIn("handler 'y'", done.stdout)

    def test_errors(self):
        for handler, error in (
                ({'name': 'x', 'exec': ['page']}, 'the program must be an absolute path'),
                ({'name': 'x', 'exec': []}, 'is an empty list; write it like'),
                ({'name': 'x'}, 'exactly one of the keys exec, webhook, client is required'),
                ({'name': 'x', 'exec': ['/bin/true'], 'watches': ['pods']}, "unknown watch 'pods'"),
                ({'name': 'x', 'exec': ['/bin/true'], 'retry': {'backoff': '5m..1s'}}, 'the smaller one first'),
                ({'name': 'x', 'exec': ['/bin/true'], 'retry': {'backoff': '5m'}}, 'not a range of durations'),
                ({'name': 'x', 'exec': ['/bin/true'], 'when': 'status.phase'}, 'when')):
            with self.subTest(handler=json.dumps(handler)):
                daemon = self.start(self.conf(handlers=[handler]))
                self.assertEqual(daemon.status(), os.EX_CONFIG)
                self.assertIn(error, daemon.stderr_text())
                daemon.log.write_text('')


run(__name__)
