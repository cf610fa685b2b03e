#!/usr/bin/env python3
"""test_state_disk.py KUBESIM RECORDINGS INFORMERD: a state directory that is full, read-only, hangs or vanishes.

Each case: the state is suspended, with a warning and a metric, while changes are still logged; when the disk works again
the state is rebuilt, and a restart after kill -9 reports exactly what has changed meanwhile. fold() checks that over the
records of all runs: no object is added twice, and each change follows the one before it.
"""
import os
import random
import shutil
import signal
import string
import subprocess
import sys

from service import CHANGES, Case, config_map, run, runs_of, wait_until

SEGMENT = 64 * 1024  # so that a new file is needed soon


class Disk(Case):
    def setUp(self):
        super().setUp()
        self.state = self.folder / 'state'
        self.noise = random.Random(1)

    def conf(self, **changes):
        return super().conf(**{'watches': [{'resource': 'configmaps', 'ignore': []}], **changes})

    def begin(self, **changes):
        self.sim.put('configmaps', *(config_map(name) for name in ('kept', 'changed', 'deleted')))
        return self.run_daemon(**changes)

    def run_daemon(self, **changes):
        daemon = self.start(self.conf(**changes), env={'INFORMERD_TEST_SEGMENT_BYTES': str(SEGMENT)})
        self.wait_ready()
        self.wait_equal()
        return daemon

    def daemon_text(self):
        return (self.folder / 'stderr').read_text()

    def put_noise(self, name='changed', size=16 * 1024):
        """A change that can't be compressed."""
        data = {'x': ''.join(self.noise.choices(string.ascii_letters + string.digits, k=size))}
        self.sim.put('configmaps', {'metadata': {'name': name, 'namespace': 'default'}, 'data': data})

    def change_until_suspended(self):
        """Each change is logged, also the one that can't be saved."""
        for _ in range(64):
            self.put_noise()
            self.wait_equal()
            if "can't be saved: " in self.daemon_text():
                break
        self.assert_suspended()

    def assert_suspended(self):
        wait_until(lambda: self.metrics()['informerd_state_active'] == 0, 'the suspension')
        self.assertRegex(self.daemon_text(), r"state in \S+/cache can't be saved: .*; changes are still logged")
        self.assertRegex(self.get('/readyz?verbose').text, r'\[\+\] state: not saved: ')
        for _ in range(3):
            self.put_noise()
            self.wait_equal()
        self.assertEqual(self.metrics()['informerd_watch_up{cluster="sim",watch="configmaps"}'], 1)

    def wait_rebuilt(self, objects=3):
        wait_until(lambda: 'is saved again' in self.daemon_text(), 'the disk')
        wait_until(lambda: self.metrics()['informerd_state_objects'] == objects, 'the objects')
        self.assertEqual(self.metrics()['informerd_state_active'], 1)
        self.put_noise()  # its line is written after the state
        self.wait_equal()

    def assert_next_start_is_exact(self, **changes):
        runs = len(runs_of(self.log.read()))
        self.sim.control('delete', resource='configmaps', namespace='default', name='deleted')
        self.put_noise()
        daemon = self.start(self.conf(**changes))
        self.wait_ready()
        self.log.wait_for(lambda records: len(runs_of(records)) > runs, 'START')
        self.wait_equal()
        changed = [(r['type'], r['name']) for r in runs_of(self.log.read())[-1] if r['type'] in CHANGES]
        self.assertEqual(changed, [('DELETED', 'deleted'), ('MODIFIED', 'changed')])
        self.assertEqual(daemon.end(), 0)

    def assert_recovers(self, daemon):
        self.wait_rebuilt()
        daemon.end(signal.SIGKILL)
        self.assert_next_start_is_exact()


class Mounted(Disk):
    def setUp(self):
        super().setUp()
        if not MOUNTS:
            self.skipTest('no permission to mount a tmpfs')

    def mount(self, place, options):
        subprocess.run(['mount', '-t', 'tmpfs', '-o', options, 'none', place], check=True)
        self.stack.callback(self.unmount, place)

    def unmount(self, place):
        if os.path.ismount(place):
            subprocess.run(['umount', '-l', place], check=True)


class Full(Mounted):
    def fill_disk(self):
        """Returns the file that takes all space."""
        ballast = self.state / 'ballast'
        with open(ballast, 'wb', buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        return ballast

    def begin_on_small_disk(self):
        self.mount(self.state, 'size=4m,mode=700')
        return self.begin()

    def test_state_is_rebuilt_when_there_is_space(self):
        daemon = self.begin_on_small_disk()
        ballast = self.fill_disk()
        self.change_until_suspended()
        self.assertIn('No space left', self.daemon_text())
        ballast.unlink()
        self.assert_recovers(daemon)

    def test_start_while_it_is_full(self):
        """It watches and logs, and the state is rebuilt when there is space."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.setUp()
                daemon = self.begin_on_small_disk()
                ballast = self.fill_disk()
                self.change_until_suspended()
                daemon.end(number)
                (self.folder / 'stderr').write_text('')
                daemon = self.run_daemon()
                self.change_until_suspended()
                seqs = [r['seq'] for r in self.log.read()]
                self.assertEqual(seqs, sorted(set(seqs)))
                ballast.unlink()
                self.assert_recovers(daemon)

    def test_space_returns_before_the_next_start(self):
        """The state is older than the log: what the log has is not reported again."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.setUp()
                daemon = self.begin_on_small_disk()
                ballast = self.fill_disk()
                self.change_until_suspended()
                daemon.end(number)
                ballast.unlink()
                self.assert_next_start_is_exact()


class ReadOnly(Mounted):
    """Another file system over the directory: the next file can't be created. (A file system with files that are open for
    writing can't be mounted read-only again, except by the kernel after an error.)"""

    def test_state_is_rebuilt_when_it_is_writable(self):
        daemon = self.begin()
        self.mount(self.state / 'cache', 'ro')
        self.change_until_suspended()
        self.assertIn('Read-only file system', self.daemon_text())
        self.unmount(self.state / 'cache')
        self.assert_recovers(daemon)


class Hanging(Disk):
    """The next file is a FIFO: to open it for writing takes until there is a reader."""

    def begin_hanging(self):
        daemon = self.begin()
        newest = max(int(file.stem) for file in (self.state / 'cache').glob('*.seg'))
        fifo = self.state / 'cache' / f'{newest + 1:08}.seg'
        os.mkfifo(fifo)
        for _ in range(SEGMENT // (8 * 1024)):
            self.put_noise()
        wait_until(lambda: 'has not completed an operation' in self.daemon_text(), 'the suspension')
        self.wait_equal()
        self.assert_suspended()
        return daemon, fifo

    def test_state_is_rebuilt_when_the_operation_ends(self):
        daemon, fifo = self.begin_hanging()
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.stack.callback(os.close, reader)
        self.assert_recovers(daemon)

    def test_stop_while_it_hangs(self):
        daemon, fifo = self.begin_hanging()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        fifo.unlink()
        self.assert_next_start_is_exact()


class Gone(Disk):
    def test_state_is_rebuilt_in_a_new_directory(self):
        daemon = self.begin()
        self.assertRegex(self.get('/readyz?verbose').text, r'\[\+\] state: 3 objects, 0\.\d MB on disk, saved \S+ ago')
        shutil.rmtree(self.state / 'cache')
        self.change_until_suspended()
        self.assert_recovers(daemon)

    def test_whole_state_directory_is_removed(self):
        daemon = self.begin()
        self.state.rename(self.folder / 'away')
        self.change_until_suspended()
        (self.folder / 'away').rename(self.state)
        self.assert_recovers(daemon)


class MaxDisk(Disk):
    """More than max_disk is needed. The smallest one that the configuration accepts is 64 MiB."""
    OBJECTS, SIZE = 110, 900 * 1024

    def test_larger_limit_at_the_next_start(self):
        daemon = self.begin(state={'max_disk': '64M'}, event_logs=[{'path': str(self.path), 'object': 'none'}])
        for i in range(self.OBJECTS):
            self.put_noise(f'large-{i}', self.SIZE)
        self.wait_equal()
        self.assert_suspended()
        self.assertRegex(self.daemon_text(), r'it needs \d+ bytes; max_disk is 67108864')
        self.assertEqual(daemon.end(), 0)
        self.assert_next_start_is_exact(state={'max_disk': '1G'})
        self.sim.put('configmaps', config_map('deleted'))
        self.run_daemon(state={'max_disk': '1G'}).end(signal.SIGKILL)
        self.assert_next_start_is_exact(state={'max_disk': '1G'})


# Uses its own mounts where permitted: as root, or as root of a user namespace.
MOUNTS = 'INFORMERD_TEST_MOUNTS' in os.environ
if not MOUNTS and shutil.which('unshare'):
    alone = ['unshare', *([] if os.geteuid() == 0 else ['-r']), '-m']
    if subprocess.run([*alone, 'mount', '-t', 'tmpfs', 'none', '/mnt'], capture_output=True).returncode == 0:
        os.environ['INFORMERD_TEST_MOUNTS'] = 'yes'
        os.execvp(alone[0], [*alone, sys.executable, *sys.argv])

run(__name__)
