#!/usr/bin/env python3
"""test_health.py KUBESIM RECORDINGS INFORMERD: what it says about itself is true, in the same words everywhere."""
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

from service import DEADLINE, Case, UnixHttp, ask, collector, config_map, free_address, run, wait_until

IDLE = 60  # seconds after which a connection is closed anyway
LABELS = '{cluster="sim",watch="configmaps"}'


class States(Case):
    """Each word of /readyz, from a server that gives reason for it."""

    def setUp(self):
        super().setUp()
        self.place = free_address()
        self.sim.put('configmaps', config_map('a'), config_map('b'))

    def begin(self, **cluster):
        clusters = [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig'), **cluster}]
        return self.start(self.conf(clusters=clusters, http={'listen': self.place}))

    def wait_word(self, word):
        """Until the watch is called that; then what holds in any state."""
        def said():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return re.search(rf' sim/configmaps: {word}( for \d+s)?, ', self.get('/readyz?verbose').text)
        wait_until(said, f'{word}; {(self.folder / "stderr").read_text()[-500:]}')
        for place in (self.place, self.socket):
            self.assertEqual(self.get('/livez', place), (200, 'ok\n'))
        return self.get('/readyz?verbose').text

    def assert_not_ready(self):
        for place in (self.place, self.socket):
            answer = self.get('/readyz', place)  # who is not ready says why without being asked
            self.assertEqual(answer.status, 503)
            self.assertRegex(answer.text, r'\A\[-\] sim/configmaps: .*\nnot ready\n\Z')

    def test_syncing_then_live(self):
        self.sim.fault('stall', ms=10**6, path='configmaps', bytes=10)
        self.begin()
        self.assertRegex(self.wait_word('syncing'), r', 0 objects, no data received yet\n\[\+\] event log \S+: writable\nnot ready\n')
        self.assert_not_ready()
        self.assertEqual(self.metrics()['informerd_watch_synced' + LABELS], 0)
        self.sim.control('close', how='reset')
        self.assertRegex(self.wait_word('live'), r'\A\[\+\] sim/configmaps: live( for \d+s)?, 2 objects, last data \d+s ago')
        for place in (self.place, self.socket):
            self.assertEqual(self.get('/readyz', place), (200, 'ok\n'))
            self.assertRegex(self.get('/readyz?verbose', place).text, r'\nready\n\Z')
        m = self.metrics()
        self.assertEqual([m[f'informerd_watch_{name}{LABELS}'] for name in ('up', 'synced', 'stale', 'held', 'objects')],
                         [1, 1, 0, 0, 2])

    def test_stale_and_back(self):
        self.begin(stale_after='1s')
        self.wait_word('live')
        self.sim.fault('blackhole', at='request', times=0, path='configmaps')
        self.sim.control('close', how='reset')
        self.wait_word('stale')
        self.assert_not_ready()
        self.assertEqual(self.metrics()['informerd_watch_stale' + LABELS], 1)
        self.log.wait_for(lambda _: self.log.types()['STALE'] == 1, 'STALE')
        self.sim.control('clear')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda _: self.log.types()['RECOVERED'], 'RECOVERED')
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'what happened meanwhile')

    def test_watches_that_show_nothing(self):
        """A proxy that buffers ends every watch in good order and without a byte: changes are reported all the same, and
        a copy that nothing vouches for is stale."""
        self.begin(stale_after='3s')
        self.wait_word('live')
        self.sim.fault('blind', verb='watch', times=0)
        self.sim.control('close', how='end')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'what no watch showed')
        self.sim.fault('status', code=500, times=0, verb='list', path='configmaps')
        self.sim.fault('status', code=500, times=0, verb='watchlist', path='configmaps')
        self.sim.put('configmaps', config_map('d'))
        self.wait_word('(stale|failing)')
        self.assert_not_ready()
        self.log.wait_for(lambda _: self.log.types()['STALE'], 'STALE')
        recovered = self.log.types()['RECOVERED']
        time.sleep(5)  # some more of them, and none is a sign
        self.assertEqual(self.log.types()['RECOVERED'], recovered)
        self.sim.control('clear')
        self.log.wait_for(lambda all: any(r.get('name') == 'd' for r in all), 'what happened meanwhile')
        self.wait_word('live')

    def test_a_daemon_that_was_stopped_blames_no_server(self):
        daemon = self.begin(stale_after='8s')
        self.wait_word('live')
        daemon.tell(signal.SIGSTOP)
        time.sleep(20)  # it wakes up after 8 s at the latest, and 10 s more cannot be distinguished from a busy machine
        daemon.tell(signal.SIGCONT)
        records = self.log.wait_for(lambda _: self.log.types()['STALE'], 'STALE')
        text = next(r['msg'] for r in reversed(records) if r['type'] == 'STALE')
        self.assertRegex(text, r'process suspended for \d+s')
        self.sim.put('configmaps', config_map('c'))
        self.log.wait_for(lambda all: any(r.get('name') == 'c' for r in all), 'c')
        self.assertNotIn('silent', daemon.said())
        self.assertIn('this process was stopped for', daemon.said())

    def test_forbidden_unauthorized_failing(self):
        daemon = self.begin()
        self.wait_word('live')
        for code, word in ((403, 'forbidden'), (401, 'unauthorized'), (500, 'failing')):
            with self.subTest(word):
                self.sim.fault('status', code=code, times=0, path='configmaps')
                self.sim.control('close', how='end')
                self.assertRegex(self.wait_word(word), rf'{word} for \d+s, .*: ')
                self.assertEqual(self.metrics()['informerd_watch_up' + LABELS], 0)
                self.sim.control('clear')
                self.wait_word('live')
        self.assertEqual(daemon.end(), 0, daemon.said())

    def test_never_let_in(self):
        self.sim.fault('status', code=403, times=0, path='configmaps')
        self.begin()
        self.wait_word('forbidden')
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
        self.assertRegex(daemon.said(), rf'event log {self.failing}: not written for \d+ s: its directory does not exist')
        self.place.mkdir()
        daemon.tell(signal.SIGUSR1)
        self.wait_ready()
        self.assertRegex(self.get('/readyz?verbose').text, rf'\n\[\+\] event log {self.failing}: writable\n')
        self.assertEqual(self.log_metrics('stuck', 'failing', 'writable', 'unwritten_bytes'), [0, 0, 1, 0])
        self.assertIn(f'event log {self.failing}: no longer stuck', daemon.said())
        self.assertEqual(daemon.end(), 0, daemon.said())

    def test_zero_disables_it(self):
        self.start(self.conf(event_logs=[{'path': str(self.failing), 'stuck_after': '0s'}]))
        self.wait_ready()
        wait_until(lambda: self.log_metrics('failing') == [1], 'the failure')
        wait_until(lambda: self.log_metrics('oldest_unwritten_seconds')[0] > 1, 'a second')
        self.assertEqual(self.get('/readyz').status, 200)


class Places(Case):
    def test_the_socket_is_for_whom_the_conf_says(self):
        group = grp.getgrgid(os.getegid()).gr_name
        for mode in (0o600, 0o660, 0o666):
            daemon = self.start(self.conf(socket={'path': str(self.socket), 'mode': f'{mode:04o}', 'group': group}))
            self.wait_ready()
            st = self.socket.stat()
            self.assertEqual((stat.S_IMODE(st.st_mode), st.st_gid), (mode, os.getegid()))
            self.assertEqual(daemon.end(), 0, daemon.said())
            self.assertFalse(self.socket.exists())

    def test_a_port_that_the_system_chose_is_named(self):
        daemon = self.start(self.conf(http={'listen': '127.0.0.1:0'}))
        self.wait_ready()
        port = re.search(r'http: listening on port (\d+)', daemon.said())
        self.assertTrue(port, daemon.said())
        self.assertEqual(ask(f'127.0.0.1:{port[1]}', '/livez').status, 200)
        self.assertEqual(daemon.end(), 0, daemon.said())

    def test_bad_requests_disturb_nobody(self):
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
            self.assertEqual(ask(place, target).status, status, target)
        for method, status in (('POST', 405), ('DELETE', 405)):
            with contextlib.closing(http.client.HTTPConnection(place)) as other:
                other.request(method, '/metrics')
                self.assertEqual(other.getresponse().status, status)
        self.assertEqual(daemon.end(), 0, daemon.said())

    def raw(self, place, text):
        """The status and text of the answer to a request that is sent as it is."""
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
        said = self.raw(place, 'GET /readyz HTTP/1.0\r\nHost: evil.example\r\n\r\n')
        self.assertEqual(said[0], 421)
        self.assertIn('http.allowed_hosts', said[1])
        with contextlib.closing(UnixHttp(self.socket)) as local:  # no browser gets there
            local.request('GET', '/livez', headers={'Host': 'evil.example'})
            self.assertEqual(local.getresponse().status, 200)
        self.write_conf(self.conf(http={**http_conf, 'allowed_hosts': ['other.example.com']}))
        daemon.tell(signal.SIGHUP)
        wait_until(lambda: status('other.example.com') == 200, 'another name')
        self.assertEqual((status('metrics.example.com'), status('localhost')), (421, 200))

    def test_host_names_are_checked(self):
        for host in ('http://metrics', 'metrics:80', 'a/b', '', '.', '*.example.com'):
            daemon = self.start(self.conf(http={'listen': '127.0.0.1:0', 'allowed_hosts': [host]}))
            self.assertEqual(daemon.status(), 78)
            self.assertIn('without scheme, port and path', daemon.said())

    def test_clients_that_keep_their_connections_lock_nobody_out(self):
        """As many as may be open, each idle after a request; one more is answered, and the first has made room."""
        place = free_address()
        self.start(self.conf(http={'listen': place}))
        self.wait_ready(place)
        for where in (place, self.socket):
            clients = [self.stack.enter_context(contextlib.closing(
                http.client.HTTPConnection(where) if where == place else UnixHttp(where))) for _ in range(64)]
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
        self.assertEqual(daemon.end(), 0, daemon.said())

    def test_a_dump_says_the_same(self):
        self.sim.put('configmaps', config_map('a'))
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'indexes': {'name': 'metadata.name'}}]))
        self.wait_ready()
        daemon.tell(signal.SIGUSR2)
        path = self.folder / 'state/dump.json'
        wait_until(path.exists, 'the dump')
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        watch = json.loads(path.read_text())['watches'][0]
        self.assertEqual((watch['state'], watch['objects'], watch['indexes']), ('live', 1, {'name': 1}))


class Manager(Case):
    """sd_notify, as a service manager hears it."""

    def setUp(self):
        super().setUp()
        self.manager = self.stack.enter_context(collector(self.folder / 'notify'))
        self.heard = []

    def hears(self, pattern):
        def heard():
            with contextlib.suppress(BlockingIOError):
                while True:
                    self.heard.append(self.manager.recv(65536).decode())
            return any(re.search(pattern, text, re.MULTILINE) for text in self.heard)
        wait_until(heard, lambda: f'{pattern} among {self.heard}')

    def test_a_life(self):
        env = {'NOTIFY_SOCKET': str(self.folder / 'notify'), 'WATCHDOG_USEC': '200000'}
        daemon = self.start(env=env)
        self.hears('^READY=1$')
        self.hears('^WATCHDOG=1$')
        self.hears(r'^STATUS=1 watch, 1 live$')
        self.heard.clear()
        daemon.tell(signal.SIGHUP)
        self.hears(r'^RELOADING=1\nMONOTONIC_USEC=\d+$')
        self.hears('^READY=1$')
        self.sim.fault('status', code=403, times=0, path='configmaps')
        self.sim.control('close', how='end')
        self.hears(r'^STATUS=1 watch, 0 live; configmaps: forbidden$')
        daemon.tell(signal.SIGTERM)
        self.hears('^STOPPING=1$')
        self.assertEqual(daemon.status(), 0, daemon.said())

    def test_a_bad_conf_is_ready_again_too(self):
        daemon = self.start(env={'NOTIFY_SOCKET': str(self.folder / 'notify')})
        self.hears('^READY=1$')
        self.heard.clear()
        self.write_conf('{{{')
        daemon.tell(signal.SIGHUP)
        self.hears('^RELOADING=1$')
        self.hears('^READY=1$')
        self.assertNotIn('WATCHDOG=1', self.heard)


class Ends(Case):
    """Exit codes of a daemon that can't begin."""

    def ends(self, conf, status, *parts):
        before = (self.folder / 'stderr').stat().st_size if (self.folder / 'stderr').exists() else 0
        daemon = self.start(conf)
        self.assertEqual(daemon.status(), status, daemon.said())
        for part in parts:
            self.assertIn(part, daemon.said()[before:])

    def test_codes(self):
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

    def test_one_informerd_a_state_dir(self):
        first = self.start()
        self.wait_ready()
        second = self.start(self.conf(socket=None, event_logs=[]))
        self.assertEqual(second.status(), 78, second.said())
        self.assertIn('in use by another informerd', second.said())
        self.assertEqual(first.end(), 0, first.said())
        third = self.start()
        self.wait_ready()
        self.assertEqual(third.end(signal.SIGINT), 0, third.said())

    def test_a_socket_with_somebody_behind_it_is_left_alone(self):
        first = self.start()
        self.wait_ready()
        (self.folder / 'other').mkdir()
        self.ends(self.conf(state_dir=str(self.folder / 'other'), event_logs=[]), 74, 'another process is listening')
        self.assertEqual(self.get('/livez').status, 200)
        first.end(signal.SIGKILL)
        self.assertTrue(self.socket.exists())
        again = self.start()  # what a dead one left is no hindrance
        self.wait_ready()
        self.assertEqual(again.end(), 0, again.said())


run(__name__)
