#!/usr/bin/env python3
"""test_disk.py KUBESIM RECORDINGS INFORMERD: event logs on full, missing and limited disks, and rotated files.

kubesim numbers every change, so the expected content is known: each version once, and no incomplete line.
"""
import contextlib
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time

from service import CHANGES, Case, Daemon, Log, fold, records_of, run, runs_of, wait_until

FIRST = 101  # the version of kubesim's first object


class Disk(Case):
    arguments = ('--history', '100000')

    def fill(self, count=50):
        self.sim.control('fill', resource='configmaps', count=count, bytes=400)

    def change(self, count):
        """Changes the objects that fill() made, and waits until all changes are done."""
        last = self.version() + count
        self.sim.control('churn', resource='configmaps', count=count)
        wait_until(lambda: self.version() == last, 'the changes')

    def version(self):
        return int(self.sim.control('stats')['resourceVersion'])

    def assert_complete(self, *paths):
        """Each version of the server once, in order, with increasing numbers."""
        records = records_of(*paths)
        numbers = [r['seq'] for r in records]
        self.assertEqual(numbers, sorted(set(numbers)))
        versions = [int(r['rv']) for r in records if r['type'] in CHANGES]
        self.assertEqual(versions, list(range(FIRST, self.version() + 1)))
        self.assertEqual(fold(records), self.on_server())
        return records

    def wait_last(self):
        """Waits until the last change is in the file."""
        last = b'"rv":"%d"' % self.version()
        def there():
            with contextlib.suppress(FileNotFoundError):  # between two files
                return last in self.path.read_bytes()
        wait_until(there, 'the last change')

    def failing(self):
        return self.metrics()['informerd_log_outputs_failing']

    def wait_failing(self):
        wait_until(lambda: self.failing() == 1, 'the failure')

    def end_well(self, daemon):
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Full(Disk):
    """A small tmpfs, filled by a file of ballast."""

    def setUp(self):
        super().setUp()
        if not MOUNTS:
            self.skipTest('no permission to mount a tmpfs')
        mount = self.folder / 'mount'
        mount.mkdir()
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=32m', 'none', mount], check=True)
        self.stack.callback(subprocess.run, ['umount', '-l', mount], check=True)
        self.path = mount / 'events.jsonl'
        self.ballast = mount / 'ballast'
        self.ballast.write_bytes(bytes(31 * 1024 * 1024 + 900 * 1024))

    def fill_disk(self):
        """Waits until nothing moves: the disk is full, 1 MiB of lines wait, then 4096 events, then the stream."""
        daemon = self.start(self.conf(event_logs=[{'path': str(self.path), 'object': 'full'}]))
        self.wait_ready()
        self.fill()
        self.change(8000)
        self.wait_held()
        return daemon

    def test_full_disk_is_reported_once_and_recovers(self):
        daemon = self.fill_disk()
        self.assertRegex(self.get('/readyz').text, r'\A\[-\] sim/configmaps: held for \d+s, \d+ objects, .*, held by event log /\S+\n')
        m = self.metrics()
        self.assertEqual([m[f'informerd_log_{name}'] for name in ('outputs_failing', 'failures_total')], [1, 1])
        self.assertEqual(m['informerd_watch_held{cluster="sim",watch="configmaps"}'], 1)
        self.assertEqual(m['informerd_watch_up{cluster="sim",watch="configmaps"}'], 0)
        self.assertLess(m['informerd_log_unwritten_bytes'], 4 * 1024 * 1024)
        self.assertEqual(self.get('/livez').status, 200)
        daemon.send_signal(signal.SIGUSR1)  # one more attempt
        daemon.send_signal(signal.SIGHUP)  # a reload does not change that
        wait_until(lambda: self.metrics()['informerd_config_last_reload_successful'], 'the reload')
        self.assertEqual(daemon.stderr_text().count('No space left'), 1)
        self.ballast.unlink()
        daemon.send_signal(signal.SIGUSR1)
        self.wait_ready()
        self.wait_last()
        self.assertEqual(self.failing(), 0)
        self.assertEqual(daemon.stderr_text().count('writable again'), 1)
        self.end_well(daemon)
        self.assert_complete(self.path)

    def test_free_space_is_detected_without_a_signal(self):
        daemon = self.fill_disk()
        self.ballast.unlink()
        self.wait_ready()
        self.end_well(daemon)

    def test_kill_on_a_full_disk_leaves_no_torn_line(self):
        daemon = self.fill_disk()
        daemon.end(signal.SIGKILL)
        self.assertFalse(self.path.read_bytes().endswith(b'\n'), 'a disk that is full inside a line')
        self.ballast.unlink()
        daemon = self.start(self.conf(event_logs=[{'path': str(self.path)}]))
        self.wait_ready()
        wait_until(lambda: self.path.read_bytes().endswith(b'\n'), 'a complete line')
        Log(self.path).wait_for(lambda records: fold(records) == self.on_server(), 'the objects of the server')
        self.end_well(daemon)
        self.assertEqual(runs_of(records_of(self.path))[-1][0]['reason'], 'seq-skipped')

    def test_file_moved_on_a_full_disk_has_no_partial_line(self):
        daemon = self.fill_disk()
        moved = self.path.with_suffix('.moved')
        self.assertFalse(self.path.read_bytes().endswith(b'\n'), 'a disk that is full inside a line')
        self.ballast.unlink()
        self.path.rename(moved)
        daemon.send_signal(signal.SIGUSR1)
        self.wait_ready()
        self.wait_last()
        self.end_well(daemon)
        self.assert_complete(moved, self.path)

    def test_stop_on_a_full_disk_ends_after_drain_timeout(self):
        daemon = self.start(self.conf(event_logs=[{'path': str(self.path)}], drain_timeout='1s'))
        self.wait_ready()
        self.fill()
        self.change(1000)
        self.wait_failing()
        self.assertEqual(daemon.end(), 74)
        self.assertRegex(daemon.stderr_text(), r'stopping with \d+ bytes of records not written')


class Limited(Disk):
    def test_file_size_limit_is_reported(self):
        """RLIMIT_FSIZE, which sends a signal that would kill the process."""
        limit = 64 * 1024
        daemon = self.start(self.conf(state={'enabled': False}), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                  (limit, resource.RLIM_INFINITY)))
        self.wait_ready()
        self.fill()
        self.change(500)
        self.wait_failing()
        self.assertEqual(self.path.stat().st_size, limit)
        self.assertEqual(daemon.stderr_text().count('File too large'), 1)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        daemon.send_signal(signal.SIGUSR1)
        self.wait_last()
        self.end_well(daemon)
        self.assert_complete(self.path)


class Moved(Disk):
    def setUp(self):
        super().setUp()
        self.place = self.folder / 'logs'
        self.place.mkdir()
        self.path = self.place / 'events.jsonl'
        self.fill()

    def test_removed_directory_is_detected_and_recovers(self):
        daemon = self.start()
        self.wait_last()
        self.place.rename(self.folder / 'away')
        self.sim.control('churn', resource='configmaps', count=10**6, rate=100)
        self.wait_failing()
        self.assertEqual(daemon.stderr_text().count('its directory does not exist'), 1)
        (self.folder / 'away').rename(self.place)
        wait_until(lambda: self.failing() == 0, 'recovery')
        self.end_well(daemon)
        records = records_of(self.path)
        versions = [int(r['rv']) for r in records if r['type'] in CHANGES]
        self.assertEqual(versions, list(range(FIRST, FIRST + len(versions))))

    def test_removed_file_is_created_again(self):
        daemon = self.start()
        self.wait_last()
        with open(self.path, 'rb') as old:
            self.path.unlink()
            def there():
                self.change(5)
                return self.path.exists()
            wait_until(there, 'a new file')
            self.wait_last()
            kept = self.folder / 'kept'
            kept.write_bytes(old.read())
        self.end_well(daemon)
        self.assert_complete(kept, self.path)
        self.assertIn('was moved or removed', daemon.stderr_text())

    def test_lines_written_to_a_removed_file_are_counted(self):
        """A GAP in the next file, whose count is at least the number of lines written after the removal."""
        daemon = self.start()
        self.wait_last()
        afterwards, kept = 0, []
        self.sim.control('churn', resource='configmaps', count=10**6, rate=300)
        for i in range(5):
            with open(self.path, 'rb') as old:
                self.path.unlink()
                size = os.fstat(old.fileno()).st_size
                wait_until(self.path.exists, 'a new file')
                text = old.read()
            afterwards += text[size:].count(b'\n')
            kept.append(self.folder / f'kept.{i}')
            kept[-1].write_bytes(text)
        self.end_well(daemon)
        gaps = [r for r in records_of(*kept, self.path) if r['type'] == 'GAP']
        self.assertEqual({r['reason'] for r in gaps} - {'removed'}, set())
        self.assertLessEqual(afterwards, sum(r['dropped'] for r in gaps))

    def test_external_rotation_under_load(self):
        daemon = self.start()
        self.wait_last()
        old = []
        for i in range(20):
            self.change(100)
            old.append(self.path.with_suffix(f'.{i}'))
            self.path.rename(old[-1])
            daemon.send_signal(signal.SIGUSR1)
            wait_until(self.path.exists, 'a new file')
        self.change(10)
        self.wait_last()
        self.end_well(daemon)
        self.assert_complete(*old, self.path)


class Removed(Disk):
    """A log that can't be written is removed by a reload."""

    def setUp(self):
        super().setUp()
        self.place = self.folder / 'logs'
        self.failing_log = {'path': str(self.place / 'failing.jsonl')}
        self.healthy = {'path': str(self.path)}
        self.fill()

    def reload(self, daemon, *logs):
        before = self.log.types()['CONFIG']
        self.write_conf(self.conf(event_logs=logs))
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: self.log.types()['CONFIG'] > before, 'the reload')

    def begin(self):
        daemon = self.start(self.conf(event_logs=[self.failing_log, self.healthy]))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'], 'the first list')
        self.wait_failing()
        return daemon

    def test_waiting_lines_are_written_if_the_log_returns(self):
        daemon = self.begin()
        self.reload(daemon, self.healthy)
        self.reload(daemon, self.healthy, self.failing_log)
        self.change(5)
        self.place.mkdir()
        daemon.send_signal(signal.SIGUSR1)
        wait_until(lambda: self.failing() == 0, 'recovery')
        self.end_well(daemon)
        self.assert_complete(self.path)
        self.assert_complete(self.place / 'failing.jsonl')
        self.assertNotIn('not written', daemon.stderr_text())

    def test_lost_lines_are_counted_in_a_gap(self):
        daemon = self.begin()
        waiting = len(self.log.read())
        self.reload(daemon, self.healthy)
        gap = self.log.wait_for(lambda _: self.log.types()['GAP'], 'the gap')[-1]
        self.assertEqual((gap['reason'], gap['dropped']), ('unwritten', waiting))
        self.assertIn(self.failing_log['path'], gap['msg'])
        self.assertRegex(daemon.stderr_text(), rf'not written: {waiting} lines are lost: its directory does not exist')
        self.assertNotIn('no change was lost', daemon.stderr_text())
        self.place.mkdir()
        self.reload(daemon, self.healthy, self.failing_log)
        self.change(5)
        self.wait_last()
        self.end_well(daemon)
        self.assert_complete(self.path)
        first = records_of(self.place / 'failing.jsonl')[0]
        self.assertEqual((first['type'], first['reason'], first['dropped']), ('GAP', 'unwritten', waiting))


class Locked(Disk):
    """A second informerd with the same event log, by mistake."""

    def start_second(self):
        state, place = self.folder / 'state2', self.folder / 'socket2'
        state.mkdir(mode=0o700)
        conf = self.conf(state_dir=str(state), socket={'path': str(place)})
        daemon = Daemon(self.folder, ['-c', self.write_conf(conf, 'second.conf')])
        self.stack.callback(daemon.discard)
        wait_until(lambda: 'has locked the file' in daemon.stderr_text(), 'the lock')
        return daemon

    def test_second_writer_waits_for_the_first(self):
        self.fill()
        first = self.start()
        self.wait_last()
        second = self.start_second()
        self.assertIn(f'process {first.pid} has locked the file', second.stderr_text())
        self.change(100)
        self.wait_last()
        self.assertEqual(self.metrics(self.folder / 'socket2')['informerd_log_outputs_failing'], 1)
        self.end_well(first)
        size = self.path.stat().st_size
        self.assert_complete(self.path)
        second.send_signal(signal.SIGUSR1)  # one more attempt
        wait_until(lambda: self.path.stat().st_size > size, 'the second one')
        self.end_well(second)
        runs = runs_of(records_of(self.path))
        self.assertEqual([len({r['log'] for r in run}) for run in runs], [1, 1])

    def test_lock_follows_the_file_after_a_rotation(self):
        first = self.start(self.conf(event_logs=[{'path': str(self.path), 'rotate': {'size': 20000, 'keep': 100}}]))
        self.wait_ready()
        self.fill()
        self.change(200)
        self.wait_last()
        old = sorted(self.folder.glob('events.jsonl.*'), key=lambda path: -int(path.suffix[1:]))
        self.assertGreater(len(old), 1)
        second = self.start_second()
        self.end_well(first)
        second.end(signal.SIGKILL)
        self.assert_complete(*old, self.path)


class Rotated(Disk):
    SIZE = 20000

    def rotating(self, keep):
        """The files, oldest first, after writing far more than fits."""
        daemon = self.start(self.conf(event_logs=[{'path': str(self.path), 'rotate': {'size': self.SIZE, 'keep': keep}}]))
        self.wait_ready()
        self.fill()
        self.change(1000)
        self.wait_last()
        self.end_well(daemon)
        old = sorted(self.folder.glob('events.jsonl.*'), key=lambda path: -int(path.suffix[1:]))
        for path in (*old, self.path):
            self.assertLessEqual(path.stat().st_size, self.SIZE)
        return *old, self.path

    def test_rotated_files_are_complete(self):
        files = self.rotating(100)
        self.assertGreater(len(files), 10)
        self.assert_complete(*files)

    def test_old_rotated_files_are_removed(self):
        files = self.rotating(3)
        self.assertEqual(len(files), 4)
        records = records_of(*files)
        numbers = [r['seq'] for r in records]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))


class Lookup(Disk):
    """A name server that never answers."""

    def setUp(self):
        super().setUp()
        if not MOUNTS:
            self.skipTest('no permission to mount')
        self.server = self.stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        address = f'127.53.{os.getpid() >> 8 & 255}.{os.getpid() & 255}'
        try:
            self.server.bind((address, 53))
        except PermissionError:
            self.skipTest('no permission to listen on port 53')
        conf = self.folder / 'resolv.conf'
        conf.write_text(f'nameserver {address}\noptions timeout:30 attempts:2\n')
        if subprocess.run(['mount', '--bind', conf, '/etc/resolv.conf'], capture_output=True).returncode:
            self.skipTest('no /etc/resolv.conf to replace')
        self.stack.callback(subprocess.run, ['umount', '-l', '/etc/resolv.conf'], check=True)
        self.fill()

    def test_blocked_name_lookup_delays_neither_log_nor_exit(self):
        clusters = [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig')},
                    {'name': 'nowhere', 'server': 'https://api.nowhere.example:6443'}]
        watches = [{'resource': 'configmaps', 'cluster': 'sim'}, {'resource': 'secrets', 'cluster': 'nowhere'}]
        daemon = self.start(self.conf(clusters=clusters, watches=watches, drain_timeout='30s'))
        self.server.settimeout(30)
        self.server.recv(512)
        self.change(10)
        self.wait_last()
        began = time.monotonic()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertLess(time.monotonic() - began, 15)
        self.assertIn('exiting without waiting', daemon.stderr_text())
        self.assertEqual(records_of(self.path)[-1]['type'], 'STOP')


# Uses its own mounts where permitted: as root, or as root of a user namespace.
MOUNTS = 'INFORMERD_TEST_MOUNTS' in os.environ
if not MOUNTS and shutil.which('unshare'):
    alone = ['unshare', *([] if os.geteuid() == 0 else ['-r']), '-m']
    if subprocess.run([*alone, 'mount', '-t', 'tmpfs', 'none', '/mnt'], capture_output=True).returncode == 0:
        os.environ['INFORMERD_TEST_MOUNTS'] = 'yes'
        os.execvp(alone[0], [*alone, sys.executable, *sys.argv])

run(__name__)
