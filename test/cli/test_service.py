#!/usr/bin/env python3
"""test_service.py INFORMERD KUBESIM: the daemon as a service, with a simulated API server. Prints results as TAP.

As in test_cli.py nothing waits for a fixed time.
"""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from lib import DEADLINE, INFORMERD, Daemon, environment, run, wait_until
from service_case import CONFIGMAPS, Case, LocalConnection

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype = ctypes.c_long
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class Life(Case):
    def test_starts_stops_and_starts_again(self):
        self.sim.put('a')
        daemon = self.start()
        self.assertEqual(self.wait_for('SYNCED')['objects'], 1)
        self.sim.put('b')
        self.assertEqual(self.wait_for('ADDED', 2)['name'], 'b')
        self.end(daemon)
        self.assertEqual(self.types(), ['START', 'ADDED', 'SYNCED', 'ADDED', 'STOP'])
        self.assertFalse((self.folder / 'sock').exists())
        self.end(self.start_synced(2))
        self.assertEqual(self.types()[5:], ['START', 'SYNCED', 'STOP'])
        self.assertEqual([r['seq'] for r in self.records()], list(range(1, 5 + 3 + 1)))
        self.assertEqual(len({r['log'] for r in self.records()}), 1)
        self.assertNotIn('reason', self.records()[5])

    def start_synced(self, count):
        daemon = self.start()
        self.wait_for('SYNCED', count)
        return daemon

    def test_a_crash_is_reported_by_the_next_start(self):
        self.start_synced(1).stop()  # by SIGKILL
        self.end(self.start_synced(2))
        starts = [r for r in self.records() if r['type'] == 'START']
        self.assertEqual(starts[1]['reason'], 'seq-skipped')
        self.assertGreater(starts[1]['seq'], 1 << 24)

    def test_stops_before_the_server_has_responded(self):
        self.sim.control('fault', do='blackhole', at='request', times=0)
        daemon = self.start()
        wait_until(self.accepts_connections, 'the socket')
        status, text = self.request('/readyz')
        self.assertEqual(status, 503)
        self.assertIn('[-] sim/configmaps: syncing', text)
        self.end(daemon)
        self.assertEqual(self.types(), ['START', 'STOP'])

    def test_a_state_directory_is_locked(self):
        self.start_synced(1)
        self.refused(78, 'stop it, or set another state_dir')

    def test_start_errors(self):
        with socket.socket() as other:
            other.bind(('127.0.0.1', 0))
            other.listen()
            self.refused(74, 'Address already in use',
                         more=f'http: {{listen: "127.0.0.1:{other.getsockname()[1]}"}}\n')
        (self.folder / 'kubeconfig').rename(self.folder / 'elsewhere')
        self.refused(78, "cluster 'sim': ")
        shutil.rmtree(self.folder / 'state')
        (self.folder / 'state').symlink_to('nowhere/state')
        self.refused(74, 'create it writable by informerd')
        self.assertFalse(self.log.exists())

    def test_hup_ends_informerd_watch(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests themselves may run under nohup
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        daemon = Daemon(self.folder, 'watch', 'configmaps', '-A', '--kubeconfig', self.folder / 'kubeconfig')
        self.stack.callback(daemon.stop)
        self.assertEqual(json.loads(daemon.stdout.readline())['type'], 'SYNCED')
        daemon.signal(signal.SIGUSR2)
        wait_until(lambda: daemon.log_text().endswith(']}\n'), 'a dump on stderr')
        daemon.signal(signal.SIGHUP)
        self.assertEqual(daemon.status(), 0, daemon.log_text())

    def test_hup_does_not_end_informerd_watch_under_nohup(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which children inherit
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        daemon = Daemon(self.folder, 'watch', 'configmaps', '-A', '--kubeconfig', self.folder / 'kubeconfig')
        self.stack.callback(daemon.stop)
        self.assertEqual(json.loads(daemon.stdout.readline())['type'], 'SYNCED')
        daemon.signal(signal.SIGHUP)
        self.sim.put('a')
        self.assertEqual(json.loads(daemon.stdout.readline())['name'], 'a')
        self.end(daemon)


class Stopped:
    """A child under ptrace(2), stopped in the middle of its start: when it has a certain file open."""
    TRACEME, DETACH, SYSCALL = 0, 17, 24

    def __init__(self, folder, arguments, path):
        self.log = folder / 'stderr'
        with open(self.log, 'wb') as log:
            self.child = subprocess.Popen([INFORMERD, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                          stderr=log, env=environment(folder),
                                          preexec_fn=lambda: self.ptrace(self.TRACEME, 0))
        self.wait_stopped()
        while not self.has_open(path):
            self.ptrace(self.SYSCALL, self.child.pid)
            self.wait_stopped()

    @staticmethod
    def ptrace(request, pid):
        if LIBC.ptrace(request, pid, None, None) < 0:
            raise OSError(ctypes.get_errno(), 'ptrace')

    def wait_stopped(self):
        status = os.waitpid(self.child.pid, 0)[1]
        assert os.WIFSTOPPED(status), f'ended too soon: {status}, {self.log.read_text()}'

    def has_open(self, path):
        with contextlib.suppress(FileNotFoundError):
            folder = f'/proc/{self.child.pid}/fd'
            return any(os.readlink(f'{folder}/{fd}') == str(path) for fd in os.listdir(folder))

    def go_on(self):
        self.ptrace(self.DETACH, self.child.pid)

    def stop(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


class Early(Case):
    """Signals that arrive before their handlers are installed."""

    def start_with(self, *numbers):
        """Sends them while the daemon reads its configuration."""
        daemon = Stopped(self.folder, ['-c', self.conf()], self.conf())
        self.stack.callback(daemon.stop)
        for number in numbers:
            daemon.child.send_signal(number)
        daemon.go_on()
        return daemon

    def test_hup_usr1_and_usr2_are_handled_after_the_start(self):
        self.sim.put('a')
        daemon = self.start_with(signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
        wait_until(lambda: (self.folder / 'state/dump.json').exists() or daemon.child.poll() is not None, 'the dump')
        self.assertIsNone(daemon.child.poll(), daemon.log.read_text())
        self.wait_for('CONFIG')
        self.wait_for('SYNCED')
        daemon.child.terminate()
        self.assertEqual(daemon.child.wait(DEADLINE), 0, daemon.log.read_text())

    def test_term_during_the_start_is_not_lost(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            self.assertIn(self.start_with(number).child.wait(DEADLINE), (0, -number))

    def watch_with(self, number, action):
        """`informerd watch` with a signal pending from its first instruction."""
        def prepare():
            signal.signal(number, action)
            signal.pthread_sigmask(signal.SIG_BLOCK, [number])
            os.kill(os.getpid(), number)
        child = subprocess.Popen([INFORMERD, 'watch', 'configmaps', '-A', '-v', '--kubeconfig', self.folder / 'kubeconfig'],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=environment(self.folder), preexec_fn=prepare)
        self.stack.callback(child.communicate)
        self.stack.callback(child.kill)
        return child

    def test_an_early_hup_ends_informerd_watch(self):
        child = self.watch_with(signal.SIGHUP, signal.SIG_DFL)
        self.assertIn('the terminal was closed', child.communicate(timeout=DEADLINE)[1])
        self.assertEqual(child.returncode, 0)

    def test_an_early_hup_does_not_end_informerd_watch_under_nohup(self):
        self.sim.put('a')
        child = self.watch_with(signal.SIGHUP, signal.SIG_IGN)
        self.assertEqual(json.loads(child.stdout.readline())['name'], 'a')
        child.terminate()
        child.communicate(timeout=DEADLINE)
        self.assertEqual(child.returncode, 0)

    def test_any_signal_ends_a_check(self):
        silent = self.stack.enter_context(socket.create_server(('127.0.0.1', 0)))
        config = (self.folder / 'kubeconfig').read_text().replace(self.sim.url, f'http://127.0.0.1:{silent.getsockname()[1]}')
        (self.folder / 'kubeconfig').write_text(config)
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGTERM):
            child = subprocess.Popen([INFORMERD, '-c', self.conf(), '--check-config', '--online'],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(self.folder),
                                     preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
            silent.accept()[0].close()
            child.send_signal(number)
            self.assertEqual(child.wait(DEADLINE), -number)


class Reload(Case):
    def setUp(self):
        super().setUp()
        self.sim.put('a')
        self.daemon = self.start()
        self.wait_for('SYNCED')

    def reload(self, count, **conf):
        self.conf(**conf)
        self.daemon.signal(signal.SIGHUP)
        return self.wait_for('CONFIG', count)

    def test_unchanged_watches_continue(self):
        record = self.reload(1, watches=CONFIGMAPS + '\n  - {resource: pods, namespaces: [a, b]}')
        self.assertEqual((record['reason'], record['msg']),
                         ('applied', 'configuration reloaded: 1 watch unchanged, 1 watch started'))
        self.assertEqual(self.wait_for('SYNCED', 2)['watch'], 'pods')
        self.assertNotIn('rv', self.records()[-1])
        self.sim.put('b')
        self.wait_for('ADDED', 2)
        self.end(self.daemon)
        self.assertEqual([r['name'] for r in self.records() if r['type'] == 'ADDED'], ['a', 'b'])

    def test_an_invalid_configuration_is_refused(self):
        record = self.reload(1, more='nonsense: 1\nwatchs: []\n')
        self.assertEqual(record['reason'], 'refused')
        self.assertIn("unknown key 'nonsense'", record['msg'])
        self.assertTrue(record['msg'].endswith("; the daemon's log has all 2 errors"), record['msg'])
        self.assertIn("unknown key 'watchs'", self.daemon.log_text())
        self.assertIn('informerd_config_last_reload_successful 0', self.request('/metrics')[1])
        record = self.reload(2, more='http: {listen: "192.0.2.1:1"}\n')
        self.assertEqual(record['reason'], 'refused')
        self.sim.put('b')
        self.wait_for('ADDED', 2)
        self.assertEqual(self.reload(3)['reason'], 'applied')
        self.assertIn('informerd_config_last_reload_successful 1', self.request('/metrics')[1])
        self.end(self.daemon)

    def test_usr1_reopens_event_logs(self):
        old = self.folder / 'old.jsonl'
        self.log.rename(old)
        self.daemon.signal(signal.SIGUSR1)
        wait_until(self.log.exists, 'a new file')
        self.sim.put('b')
        self.wait_for('ADDED')
        self.assertEqual(self.types(old), ['START', 'ADDED', 'SYNCED'])
        wait_until(lambda: self.daemon.log_text().count(f'event log {self.log}: reopened"') == 1, 'a message')
        self.end(self.daemon)

    def test_logs_its_socket_and_the_first_sync_once(self):
        self.reload(1)
        self.reload(2, watches=CONFIGMAPS + '\n  - {resource: pods}')
        self.wait_for('SYNCED', 2)
        self.end(self.daemon)
        text = self.daemon.log_text()
        self.assertEqual(text.count(f'level=info msg="socket: listening on {self.folder}/sock"'), 1, text)
        self.assertEqual(len(re.findall(r'level=info msg="watch configmaps: synced, 1 object in \d+\.\ds"', text)), 1, text)
        self.assertEqual(len(re.findall(r'level=info msg="watch pods: synced, 0 objects in \d+\.\ds"', text)), 1, text)

    def test_usr2_writes_a_dump(self):
        self.daemon.signal(signal.SIGUSR2)
        wait_until((self.folder / 'state/dump.json').exists, 'the dump')
        watch = json.loads((self.folder / 'state/dump.json').read_text())['watches'][0]
        self.assertEqual((watch['state'], watch['objects']), ('live', 1))


class Trouble(Case):
    def test_a_log_without_a_directory_waits_for_it(self):
        self.log = self.folder / 'logs/events.jsonl'
        self.sim.put('a')
        daemon = self.start(log='logs/events.jsonl')
        wait_until(lambda: 'its directory does not exist' in daemon.log_text(), 'the complaint')
        self.log.parent.mkdir()
        self.wait_for('SYNCED')
        self.assertEqual(self.types(), ['START', 'ADDED', 'SYNCED'])
        self.end(daemon)
        self.assertEqual(daemon.log_text().count('its directory does not exist'), 1)

    def test_unwritten_records_at_drain_timeout_are_a_failure(self):
        daemon = self.start(log='logs/events.jsonl', drain='100ms')
        wait_until(lambda: 'its directory does not exist' in daemon.log_text(), 'the complaint')
        self.end(daemon, 74)
        self.assertIn('not written', daemon.log_text())
        self.assertFalse((self.folder / 'sock').exists())

    def test_messages_name_the_cluster(self):
        self.sim.control('fault', do='status', code=503, text='plain')
        daemon = self.start()
        self.wait_for('SYNCED')
        self.assertIn('msg="sim: configmaps: ', daemon.log_text())
        self.end(daemon)

    def test_leaving_a_selection_is_not_called_a_deletion(self):
        self.sim.put('a', labels={'app': 'web'})
        daemon = self.start(watches='  - {resource: configmaps, label_selector: app=web}')
        self.wait_for('SYNCED')
        self.sim.put('a', labels={'app': 'old'})
        record = self.wait_for('DELETED')
        self.assertNotEqual(record.get('why'), 'deleted')
        self.assertIn('left the selection', record['msg'])
        self.end(daemon)


class Pages(Case):
    def test_health_and_metrics(self):
        daemon = self.start()
        self.wait_for('SYNCED')
        self.assertEqual(self.request('/livez'), (200, 'ok\n'))
        self.assertEqual(self.request('/readyz'), (200, 'ok\n'))
        self.assertRegex(self.request('/readyz?verbose')[1], r'\A\[\+\] sim/configmaps: live, 0 objects, .*\n\[\+\] event log \S+: writable\n\[\+\] state: 0 objects, .*\nready\n\Z')
        self.assertEqual(self.request('/metrics', 'HEAD'), (200, ''))
        self.assertIn('\ninformerd_watch_up{cluster="sim",watch="configmaps"} 1\n', self.request('/metrics')[1])
        status, text = self.request('/nowhere')
        self.assertEqual((status, json.loads(text)['kind']), (404, 'Status'))
        with contextlib.closing(LocalConnection(self.folder / 'sock')) as idle:
            idle.connect()
            self.end(daemon)


class Manager(Case):
    """Notifications to the service manager."""

    def next_message(self, manager):
        """Without periodic notifications."""
        while (message := manager.recv(999)) == b'STATUS=1 watch, 1 live':
            pass
        return message

    def test_notifies_ready_reloading_and_stopping(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.folder / 'notify'))
            manager.settimeout(DEADLINE)
            os.environ['NOTIFY_SOCKET'] = str(self.folder / 'notify')
            self.addCleanup(os.environ.pop, 'NOTIFY_SOCKET')
            daemon = self.start()
            self.assertEqual(manager.recv(999), b'READY=1\nSTATUS=starting')
            self.assertEqual(manager.recv(999), b'STATUS=1 watch, 1 live')
            daemon.signal(signal.SIGHUP)
            self.assertRegex(manager.recv(999), rb'\ARELOADING=1\nMONOTONIC_USEC=\d+\Z')
            self.assertEqual(manager.recv(999), b'READY=1\nSTATUS=reloaded')
            self.conf(more='nonsense: 1\n')
            daemon.signal(signal.SIGHUP)
            self.assertIn(b'RELOADING=1', self.next_message(manager))
            self.assertEqual(manager.recv(999), b'READY=1\nSTATUS=configuration reload failed')
            self.end(daemon)
            self.assertEqual(self.next_message(manager), b'STOPPING=1')


run(__name__)
