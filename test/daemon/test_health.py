#!/usr/bin/env python3
"""test_health.py KUBESIM RECORDINGS INFORMERD: /readyz, metrics, the dump and sd_notify are correct and consistent."""
import contextlib
import grp
import http.client
import json
import os
import re
import signal
import socket
import stat
import time

from service import DEADLINE, Case, UnixHttp, collector, config_map, free_address, http_get, run, wait_until

IDLE = 60  # seconds after which a connection is closed anyway
LABELS = '{cluster="sim",watch="configmaps"}'


class States(Case):
    """Each status of /readyz, with a server that causes it."""

    def setUp(self):
        super().setUp()
        self.place = free_address()
        self.sim.put('configmaps', config_map('a'), config_map('b'))

    def begin(self, **cluster):
        clusters = [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig'), **cluster}]
        return self.start(self.conf(clusters=clusters, http={'listen': self.place}))

    def wait_for_status(self, word):
        """Waits until the watch has that status; then checks what holds in any state."""
        def shown():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return re.search(rf' sim/configmaps: {word}( for \d+s)?, ', self.get('/readyz?verbose').text)
        wait_until(shown, f'{word}; {(self.folder / "stderr").read_text()[-500:]}')
        for place in (self.place, self.socket):
            self.assertEqual(self.get('/livez', place), (200, 'ok\n'))
        return self.get('/readyz?verbose').text

    def assert_not_ready(self):
        for place in (self.place, self.socket):
            answer = self.get('/readyz', place)  # the reason is given without ?verbose if not ready
            self.assertEqual(answer.status, 503)
            self.assertRegex(answer.text, r'\A\[-\] sim/configmaps: .*\nnot ready\n\Z')

    def test_syncing_then_live(self):
        self.sim.fault('stall', ms=10**6, path='configmaps', bytes=10)
        self.begin()
        self.wait_for_status('syncing')
        report = (r', 0 objects, no data received yet\n\[\+\] event log \S+: writable\n'  # START is written
                  r'\[\+\] state: 0 objects, .*\nnot ready\n')
        wait_until(lambda: re.search(report, self.get('/readyz?verbose').text), self.get('/readyz?verbose').text)
        self.assert_not_ready()
        self.assertEqual(self.metrics()['informerd_watch_synced' + LABELS], 0)
        self.sim.control('close', how='reset')
        self.assertRegex(self.wait_for_status('live'), r'\A\[\+\] sim/configmaps: live( for \d+s)?, 2 objects, last data \d+s ago')
        for place in (self.place, self.socket):
            self.assertEqual(self.get('/readyz', place), (200, 'ok\n'))
            self.assertRegex(self.get('/readyz?verbose', place).text, r'\nready\n\Z')
        m = self.metrics()
        self.assertEqual([m[f'informerd_watch_{name}{LABELS}'] for name in ('up', 'synced', 'stale', 'held', 'objects')],
                         [1, 1, 0, 0, 2])

    def test_stale_and_back(self):
        self.begin(stale_after='1s')
        self.wait_for_status('live')
        self.sim.fault('blackhole', at='request', times=0, path='configmaps')
        self.sim.control('close', how='reset')
        self.wait_for_status('stale')
        self.assert_not_ready()
        self.assertEqual(self.metrics()['informerd_watch_stale' + LABELS], 1)
        self.log.wait_for(lambda _: self.log.types()['STALE'] == 1, 'STALE')
        self.sim.control('clear')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda _: self.log.types()['RECOVERED'], 'RECOVERED')
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'the changes made meanwhile')

    def test_watches_without_data_are_checked(self):
        """A buffering proxy ends every watch regularly and without a byte: changes are reported anyway, and the copy is
        stale if nothing confirms it."""
        self.begin(stale_after='3s')
        self.wait_for_status('live')
        self.sim.fault('blind', verb='watch', times=0)
        self.sim.control('close', how='end')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'changes that no watch showed')
        self.sim.fault('status', code=500, times=0, verb='list', path='configmaps')
        self.sim.fault('status', code=500, times=0, verb='watchlist', path='configmaps')
        self.sim.put('configmaps', config_map('d'))
        self.wait_for_status('(stale|failing)')
        self.assert_not_ready()
        self.log.wait_for(lambda _: self.log.types()['STALE'], 'STALE')
        recovered = self.log.types()['RECOVERED']
        time.sleep(5)  # some more watches that show nothing
        self.assertEqual(self.log.types()['RECOVERED'], recovered)
        self.sim.control('clear')
        self.log.wait_for(lambda all: any(r.get('name') == 'd' for r in all), 'the changes made meanwhile')
        self.wait_for_status('live')

    def test_stopped_daemon_does_not_blame_the_server(self):
        daemon = self.begin(stale_after='8s')
        self.wait_for_status('live')
        daemon.send_signal(signal.SIGSTOP)
        time.sleep(20)  # it wakes up after 8 s at the latest, and 10 s more cannot be distinguished from a busy machine
        daemon.send_signal(signal.SIGCONT)
        records = self.log.wait_for(lambda _: self.log.types()['STALE'], 'STALE')
        text = next(r['msg'] for r in reversed(records) if r['type'] == 'STALE')
        self.assertRegex(text, r'process suspended for \d+s')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'c')
        self.assertNotIn('silent', daemon.stderr_text())
        self.assertIn('this process was stopped for', daemon.stderr_text())

    def test_forbidden_unauthorized_failing(self):
        daemon = self.begin()
        self.wait_for_status('live')
        for code, word in ((403, 'forbidden'), (401, 'unauthorized'), (500, 'failing')):
            with self.subTest(word):
                self.sim.fault('status', code=code, times=0, path='configmaps')
                self.sim.control('close', how='end')
                self.assertRegex(self.wait_for_status(word), rf'{word}( for \d+s)?, .*: ')  # none in the first millisecond
                self.assertEqual(self.metrics()['informerd_watch_up' + LABELS], 0)
                self.sim.control('clear')
                self.wait_for_status('live')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_forbidden_from_the_start(self):
        self.sim.fault('status', code=403, times=0, path='configmaps')
        self.begin()
        self.wait_for_status('forbidden')
        self.assert_not_ready()


class EventLogs(Case):
    """An event log that can't be written makes informerd not ready, and is named."""

    def setUp(self):
        super().setUp()
        self.place = self.folder / 'missing'
        self.failing = self.place / 'events.jsonl'
        self.sim.put('configmaps', config_map('a'))

    def log_metrics(self, *names):
        m = self.metrics()
        return [m[f'informerd_event_log_{name}{{log="{self.failing}"}}'] for name in names]

    def test_not_ready_after_stuck_after(self):
        daemon = self.start(self.conf(event_logs=[{'path': str(self.failing), 'stuck_after': '2s'}, {'path': str(self.path)}]))
        self.wait_ready()
        wait_until(lambda: self.log_metrics('failing') == [1], 'the failure')
        self.assertEqual(self.log_metrics('held', 'writable'), [0, 0])
        wait_until(lambda: self.get('/readyz').status == 503, 'being not ready')
        self.assertRegex(self.get('/readyz').text, rf'\A\[\+\] sim/configmaps: live.*\n\[-\] event log {self.failing}: failing '
                         r'for \d+s: its directory does not exist, \d+ bytes unwritten, oldest line waiting for \d+s\nnot ready\n\Z')
        self.assertEqual(self.log_metrics('stuck'), [1])
        self.assertGreaterEqual(self.log_metrics('oldest_unwritten_seconds')[0], 2)
        self.assertRegex(daemon.stderr_text(), rf'event log {self.failing}: not written for \d+ s: its directory does not exist')
        self.place.mkdir()
        daemon.send_signal(signal.SIGUSR1)
        self.wait_ready()
        self.assertRegex(self.get('/readyz?verbose').text, rf'\n\[\+\] event log {self.failing}: writable\n')
        self.assertEqual(self.log_metrics('stuck', 'failing', 'writable', 'unwritten_bytes'), [0, 0, 1, 0])
        self.assertIn(f'event log {self.failing}: no longer stuck', daemon.stderr_text())
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_stuck_after_zero_disables_the_check(self):
        self.start(self.conf(event_logs=[{'path': str(self.failing), 'stuck_after': '0s'}]))
        self.wait_ready()
        wait_until(lambda: self.log_metrics('failing') == [1], 'the failure')
        wait_until(lambda: self.log_metrics('oldest_unwritten_seconds')[0] > 1, 'a second')
        self.assertEqual(self.get('/readyz').status, 200)


class Places(Case):
    def test_socket_has_the_configured_mode_and_group(self):
        group = grp.getgrgid(os.getegid()).gr_name
        for mode in (0o600, 0o660, 0o666):
            daemon = self.start(self.conf(socket={'path': str(self.socket), 'mode': f'{mode:04o}', 'group': group}))
            self.wait_ready()
            st = self.socket.stat()
            self.assertEqual((stat.S_IMODE(st.st_mode), st.st_gid), (mode, os.getegid()))
            self.assertEqual(daemon.end(), 0, daemon.stderr_text())
            self.assertFalse(self.socket.exists())

    def test_chosen_port_is_logged(self):
        daemon = self.start(self.conf(http={'listen': '127.0.0.1:0'}))
        self.wait_ready()
        port = re.search(r'"http: listening on 127\.0\.0\.1:(\d+)"', daemon.stderr_text())
        self.assertTrue(port, daemon.stderr_text())
        self.assertEqual(http_get(f'127.0.0.1:{port[1]}', '/livez').status, 200)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_invalid_requests_do_not_affect_other_clients(self):
        place = free_address()
        host, port = place.split(':')
        daemon = self.start(self.conf(http={'listen': place}))
        self.wait_ready(place)
        with contextlib.closing(http.client.HTTPConnection(place)) as good, contextlib.ExitStack() as stack:
            good.request('GET', '/livez')
            self.assertEqual(good.getresponse().read(), b'ok\n')
            for text in (b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n',
                         b'POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n',
                         b'GET /livez HTTP/1.1\r\nHost: x\r\nX: ' + b'y' * 100000 + b'\r\n\r\n',
                         b'GET /' + b'z' * 100000, b'G', b''):
                sock = stack.enter_context(socket.create_connection((host, int(port))))
                with contextlib.suppress(ConnectionError):
                    sock.sendall(text)
                good.request('GET', '/livez')
                self.assertEqual(good.getresponse().read(), b'ok\n')
        for target, status in (('/', 404), ('/livez/', 404), ('/readyz?verbose=1', 200), ('/metrics?x', 200)):
            self.assertEqual(http_get(place, target).status, status, target)
        for method, status in (('POST', 405), ('DELETE', 405)):
            with contextlib.closing(http.client.HTTPConnection(place)) as other:
                other.request(method, '/metrics')
                self.assertEqual(other.getresponse().status, status)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def raw(self, place, text):
        """The status and text of the answer to a raw request."""
        host, port = place.rsplit(':', 1)
        with socket.create_connection((host, int(port)), timeout=DEADLINE) as sock:
            sock.sendall(text.encode())
            answer = http.client.HTTPResponse(sock)
            answer.begin()
            return answer.status, answer.read().decode()

    def test_only_known_hosts_are_served_by_tcp(self):
        place = free_address()
        http_conf = {'listen': place, 'allowed_hosts': ['metrics.example.com']}
        daemon = self.start(self.conf(http=http_conf))
        self.wait_ready(place)

        def status(host, target='/metrics'):
            return self.raw(place, f'GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n')[0]
        for host in (place, '10.0.0.1', '[::1]:80', 'localhost', 'Metrics.Example.com:443'):
            self.assertEqual(status(host), 200, host)
        for host in ('evil.example', 'localhost.evil.example:80', 'other.example.com', '127.0.0.1.evil.example'):
            self.assertEqual(status(host), 421, host)
        self.assertEqual(status(place, 'http://evil.example/metrics'), 421)
        self.assertEqual(self.raw(place, 'GET /livez HTTP/1.0\r\n\r\n'), (200, 'ok\n'))
        answer = self.raw(place, 'GET /readyz HTTP/1.0\r\nHost: evil.example\r\n\r\n')
        self.assertEqual(answer[0], 421)
        self.assertIn('http.allowed_hosts', answer[1])
        with contextlib.closing(UnixHttp(self.socket)) as local:  # not reachable for browsers
            local.request('GET', '/livez', headers={'Host': 'evil.example'})
            self.assertEqual(local.getresponse().status, 200)
        self.write_conf(self.conf(http={**http_conf, 'allowed_hosts': ['other.example.com']}))
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: status('other.example.com') == 200, 'another name')
        self.assertEqual((status('metrics.example.com'), status('localhost')), (421, 200))

    def test_host_names_are_checked(self):
        for host in ('http://metrics', 'metrics:80', 'a/b', '', '.', '*.example.com'):
            daemon = self.start(self.conf(http={'listen': '127.0.0.1:0', 'allowed_hosts': [host]}))
            self.assertEqual(daemon.status(), 78)
            self.assertIn('without scheme, port and path', daemon.stderr_text())

    def test_idle_connections_do_not_block_new_clients(self):
        """With the maximum number of idle connections, a further request is answered and the first connection is closed."""
        place = free_address()
        self.start(self.conf(http={'listen': place}))
        self.wait_ready(place)
        for where, most in ((place, 64), (self.socket, 512)):
            clients = [self.stack.enter_context(contextlib.closing(
                http.client.HTTPConnection(where) if where == place else UnixHttp(where))) for _ in range(most)]
            for client in clients:
                client.request('GET', '/livez')
                self.assertEqual(client.getresponse().read(), b'ok\n')
            clients[0].sock.settimeout(IDLE / 2)
            for i in range(3):
                probe = http.client.HTTPConnection(where) if where == place else UnixHttp(where)
                probe.timeout = IDLE / 2
                with contextlib.closing(probe):
                    probe.request('GET', '/livez')
                    self.assertEqual(probe.getresponse().read(), b'ok\n')
            self.assertEqual(clients[0].sock.recv(1), b'')
            clients[-1].request('GET', '/livez')
            self.assertEqual(clients[-1].getresponse().read(), b'ok\n')

    def test_metrics_count_what_happened(self):
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'pods'}]))
        self.wait_ready()
        self.sim.put('configmaps', *map(config_map, 'abcde'))
        self.sim.put('configmaps', *(config_map(n, labels={'x': 'y'}) for n in 'abc'))
        self.sim.control('delete', resource='configmaps', namespace='default', name='e')
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 1, 'all changes')
        m = self.metrics()
        events = {verb: m[f'informerd_watch_events_total{LABELS[:-1]},verb="{verb}"}}'] for verb in self.log.types()
                  if verb in ('ADDED', 'MODIFIED', 'DELETED')}
        self.assertEqual(events, {'ADDED': 5, 'MODIFIED': 3, 'DELETED': 1})
        self.assertEqual(m['informerd_watch_objects' + LABELS], 4)
        self.assertEqual(m['informerd_watch_requests_total' + LABELS], 1)
        self.assertEqual(m['informerd_log_seq'], self.log.read()[-1]['seq'] + 1)
        self.assertEqual(m['informerd_log_bytes_total'], self.path.stat().st_size)
        self.assertEqual(m['informerd_log_unwritten_bytes'], 0)
        self.assertEqual(m['informerd_watch_objects{cluster="sim",watch="pods"}'], 0)
        self.assertGreater(m['process_resident_memory_bytes'], 2**20)
        before = len(m)
        self.sim.control('fill', resource='pods', count=300)
        wait_until(lambda: self.metrics()['informerd_watch_objects{cluster="sim",watch="pods"}'] == 300, 'the pods')
        self.assertLessEqual(len(self.metrics()), before + 2)  # the ages of a first event; no series for an object
        self.sim.control('close', how='reset', path='configmaps')
        wait_until(lambda: self.metrics()['informerd_watch_requests_total' + LABELS] > 1, 'another request')
        again = [name for name in self.metrics() if name.startswith('informerd_watch_reconnects_total')]
        self.assertTrue(again)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_dump_agrees_with_readyz(self):
        self.sim.put('configmaps', config_map('a'))
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'indexes': {'name': 'metadata.name'}}]))
        self.wait_ready()
        daemon.send_signal(signal.SIGUSR2)
        path = self.folder / 'state/dump.json'
        wait_until(path.exists, 'the dump')
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        watch = json.loads(path.read_text())['watches'][0]
        self.assertEqual((watch['state'], watch['objects'], watch['indexes']), ('live', 1, {'name': 1}))


class Manager(Case):
    """sd_notify messages."""

    def setUp(self):
        super().setUp()
        self.manager = self.stack.enter_context(collector(self.folder / 'notify'))
        self.messages = []

    def expect_message(self, pattern):
        def received():
            with contextlib.suppress(BlockingIOError):
                while True:
                    self.messages.append(self.manager.recv(65536).decode())
            return any(re.search(pattern, text, re.MULTILINE) for text in self.messages)
        wait_until(received, lambda: f'{pattern} among {self.messages}')

    def test_messages_of_a_complete_run(self):
        env = {'NOTIFY_SOCKET': str(self.folder / 'notify'), 'WATCHDOG_USEC': '200000'}
        daemon = self.start(env=env)
        self.expect_message('^READY=1$')
        self.expect_message('^WATCHDOG=1$')
        self.expect_message(r'^STATUS=1 watch, 1 live$')
        self.messages.clear()
        daemon.send_signal(signal.SIGHUP)
        self.expect_message(r'^RELOADING=1\nMONOTONIC_USEC=\d+$')
        self.expect_message('^READY=1$')
        self.sim.fault('status', code=403, times=0, path='configmaps')
        self.sim.control('close', how='end')
        self.expect_message(r'^STATUS=1 watch, 0 live; configmaps: forbidden$')
        daemon.send_signal(signal.SIGTERM)
        self.expect_message('^STOPPING=1$')
        self.assertEqual(daemon.status(), 0, daemon.stderr_text())

    def test_failed_reload_is_ready_again(self):
        daemon = self.start(env={'NOTIFY_SOCKET': str(self.folder / 'notify')})
        self.expect_message('^READY=1$')
        self.messages.clear()
        self.write_conf('{{{')
        daemon.send_signal(signal.SIGHUP)
        self.expect_message('^RELOADING=1$')
        self.expect_message('^READY=1$')
        self.assertNotIn('WATCHDOG=1', self.messages)


class Ends(Case):
    """Exit codes of a daemon that can't start."""

    def ends(self, conf, status, *parts):
        before = (self.folder / 'stderr').stat().st_size if (self.folder / 'stderr').exists() else 0
        daemon = self.start(conf)
        self.assertEqual(daemon.status(), status, daemon.stderr_text())
        for part in parts:
            self.assertIn(part, daemon.stderr_text()[before:])

    def test_exit_codes_of_a_failed_start(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            address = f'127.0.0.1:{taken.getsockname()[1]}'
            self.ends(self.conf(http={'listen': address}), 74, address)
        self.ends(self.conf(state_dir='/nowhere/state'), 74, '/nowhere/state')
        self.ends(self.conf(socket={'path': '/nowhere/socket'}), 74, '/nowhere/socket')
        self.ends(self.conf(socket={'path': str(self.socket), 'group': 'no-such-group'}), 78, 'no-such-group')
        self.ends(self.conf(clusters=[{'name': 'x', 'kubeconfig': '/nowhere/kubeconfig'}]), 78, '/nowhere/kubeconfig')
        self.ends('watches: {', 78, 'informerd.conf:2:1: ')
        (self.folder / 'state/seq').write_text('many\n')
        (self.folder / 'state/log-id').write_text('0' * 32 + '\n')
        self.ends(self.conf(), 74, 'damaged')

    def test_one_process_per_state_dir(self):
        first = self.start()
        self.wait_ready()
        second = self.start(self.conf(socket=None, event_logs=[]))
        self.assertEqual(second.status(), 78, second.stderr_text())
        self.assertIn('in use by another informerd', second.stderr_text())
        self.assertEqual(first.end(), 0, first.stderr_text())
        third = self.start()
        self.wait_ready()
        self.assertEqual(third.end(signal.SIGINT), 0, third.stderr_text())

    def test_socket_in_use_is_not_replaced(self):
        first = self.start()
        self.wait_ready()
        (self.folder / 'other').mkdir()
        self.ends(self.conf(state_dir=str(self.folder / 'other'), event_logs=[]), 74, 'another process is listening')
        self.assertEqual(self.get('/livez').status, 200)
        first.end(signal.SIGKILL)
        self.assertTrue(self.socket.exists())
        again = self.start()  # the socket of a dead process is replaced
        self.wait_ready()
        self.assertEqual(again.end(), 0, again.stderr_text())


run(__name__)
