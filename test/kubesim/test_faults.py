#!/usr/bin/env python3
"""test_faults.py KUBESIM RECORDINGS: the effect of each fault, as seen by a client."""
import email.utils
import json
import socket
import ssl
import sys
import time

sys.dont_write_bytecode = True
from lib import DEADLINE, WATCH_LIST, Answer, Broken, Case, config_map, run

MAPS = '/api/v1/namespaces/default/configmaps'
WATCH = f'{MAPS}?watch=1'
QUIET = 0.3  # seconds in which a silent server must not answer


class Faults(Case):
    def setUp(self):
        super().setUp()
        self.sim.put('configmaps', *map(config_map, 'abc'))

    def assert_recovered(self):
        """The fault is over, and the server answers normally."""
        self.assertEqual(self.names(self.sim.request(MAPS)), ['a', 'b', 'c'])

    def assert_quiet(self, wire):
        """Open, and silent."""
        wire.sock.settimeout(QUIET)
        with self.assertRaises(TimeoutError):
            wire.more()


class Connections(Faults):
    def test_refuse(self):
        self.sim.control('fault', do='refuse', ms=1000)
        with self.assertRaises(ConnectionRefusedError):
            self.sim.connect()
        end = time.monotonic() + DEADLINE
        while True:
            try:
                self.sim.connect()
                break
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
        self.assert_recovered()

    def test_reset_at_accept(self):
        self.sim.fault('reset', at='accept')
        with self.assertRaises(ConnectionResetError):
            self.sim.request(MAPS)
        self.assert_recovered()

    def test_reset_instead_of_an_answer(self):
        self.sim.fault('reset', verb='list')
        with self.assertRaises(ConnectionResetError):
            self.sim.request(MAPS)
        self.assert_recovered()

    def test_reset_in_the_body(self):
        self.sim.fault('reset', bytes=50)
        answer = self.sim.request(MAPS)
        with self.assertRaises(ConnectionResetError):
            answer.body()
        self.assertEqual(len(answer.wire.buffer), 50)
        self.assert_recovered()

    def test_blackhole_at_accept_and_at_request(self):
        for params in ({'at': 'accept'}, {'at': 'request'}):
            with self.subTest(params):
                self.sim.fault('blackhole', **params)
                wire = self.sim.connect()
                wire.sock.sendall(f'GET {MAPS} HTTP/1.1\r\n\r\n'.encode())
                self.assert_quiet(wire)
                self.assertEqual(wire.buffer, b'')
        self.assert_recovered()

    def test_blackhole_in_the_body(self):
        self.sim.fault('blackhole', bytes=30)
        answer = self.sim.request(MAPS)
        while len(answer.wire.buffer) < 30:
            answer.wire.more()
        self.assert_quiet(answer.wire)
        self.assertEqual(len(answer.wire.buffer), 30)
        self.assert_recovered()

    def test_cut(self):
        for size in (0, 1, 100):
            self.sim.fault('cut', bytes=size)
            answer = self.sim.request(WATCH)
            self.assertEqual(len(answer.wire.rest()), size)
        self.assert_recovered()

    def test_stall(self):
        self.sim.fault('stall', bytes=20, ms=500)
        start = time.monotonic()
        answer = self.sim.request(MAPS)
        answer.wire.sock.settimeout(DEADLINE)
        self.assertEqual(len(answer.json()['items']), 3)
        self.assertGreater(time.monotonic() - start, 0.45)

    def test_drip(self):
        self.sim.fault('drip', ms=2)
        wire = self.sim.connect()
        wire.sock.sendall(f'GET {MAPS}/a HTTP/1.1\r\n\r\n'.encode())
        reads = 0
        while b'"data"' not in wire.buffer:
            wire.more()
            reads += 1
        self.assertGreater(reads, len(wire.buffer) / 10)  # the kernel may merge some writes
        self.assert_recovered()

    def test_second_response(self):
        self.sim.fault('second')
        wire = self.sim.connect()
        self.assertEqual(len(self.sim.request(MAPS, wire=wire).json()['items']), 3)
        self.assertEqual(Answer(wire).json(), {'kind': 'UnsolicitedReply'})

    def test_close_ends_the_open_watches(self):
        watches = [self.sim.request(f'{MAPS}?watch=1&resourceVersion=103') for _ in range(2)]
        self.sim.control('close', path='bogus')
        self.assertEqual(self.sim.control('stats')['watches']['open'], 2)
        self.sim.control('close', how='reset')
        for watch in watches:
            with self.assertRaises(ConnectionResetError):
                list(watch.events())
        watch = self.sim.request(f'{MAPS}?watch=1&allowWatchBookmarks=1&resourceVersion=102')
        self.sim.control('close', how='end')
        self.assertEqual([e['type'] for e in watch.events()], ['ADDED', 'BOOKMARK'])


class OverTls(Case):
    arguments = ('--self-signed', 'FOLDER/pki')

    def test_cut_sends_no_close_notify(self):
        self.sim.put('configmaps', config_map('a'))
        self.sim.fault('cut', bytes=10)
        answer = self.sim.request(MAPS)
        with self.assertRaises((ssl.SSLError, Broken)):
            answer.body()
        self.sim.fault('drip')
        self.assertEqual(self.sim.request(MAPS).json()['kind'], 'ConfigMapList')

    def test_tls_sessions_are_resumed(self):
        context = ssl.create_default_context(cafile=self.folder / 'pki/ca.crt')
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        session = None
        for _ in range(2):
            sock = socket.create_connection(('127.0.0.1', self.sim.port), timeout=DEADLINE)
            with context.wrap_socket(sock, server_hostname='localhost', session=session) as tls:
                session = tls.session
        self.assertEqual(self.sim.control('stats')['tls']['resumed'], 1)


class Answers(Faults):
    def test_status(self):
        for code, reason in ((429, 'TooManyRequests'), (500, 'InternalError'), (503, 'ServiceUnavailable'),
                             (504, 'Timeout'), (403, 'Forbidden'), (410, 'Expired')):
            with self.subTest(code):
                self.sim.fault('status', code=code, retry_after=3)
                answer = self.sim.request(MAPS)
                status = answer.json()
                self.assertEqual((answer.code, answer.headers['Retry-After']), (code, '3'))
                self.assertEqual((status['kind'], status['reason'], status['code']), ('Status', reason, code))
                self.assertEqual(status['details'], {'retryAfterSeconds': 3})
        self.assert_recovered()

    def test_status_without_json(self):
        for text, content in (('plain', 'text/plain; charset=utf-8'), ('html', 'text/html')):
            self.sim.fault('status', code=429, text=text)
            answer = self.sim.request(MAPS)
            self.assertEqual((answer.code, answer.headers['Content-Type']), (429, content))
            self.assertIn(b'Too Many Requests', answer.body())
        self.sim.fault('status', code=502, text='empty')
        self.assertEqual(self.sim.request(MAPS).body(), b'')

    def test_redirect_html_and_type(self):
        self.sim.fault('redirect', text='https://example.com/login')
        answer = self.sim.request(MAPS)
        self.assertEqual((answer.code, answer.headers['Location']), (302, 'https://example.com/login'))
        self.sim.fault('html')
        answer = self.sim.request(MAPS)
        self.assertEqual((answer.code, answer.headers['Content-Type']), (200, 'text/html'))
        self.sim.fault('type', text='application/cbor')
        answer = self.sim.request(MAPS)
        self.assertEqual(answer.headers['Content-Type'], 'application/cbor')
        self.assertEqual(len(answer.json()['items']), 3)

    def test_retry_after_as_a_date_and_warnings(self):
        self.sim.fault('status', code=429, retry_after=100, date=1)
        date = email.utils.parsedate_to_datetime(self.sim.request(MAPS).headers['Retry-After']).timestamp()
        self.assertLess(abs(date - time.time() - 100), DEADLINE)
        self.sim.fault('warning', text='v1 is old')
        answer = self.sim.request(MAPS)
        self.assertEqual((answer.code, answer.headers['Warning']), (200, '299 - "v1 is old"'))

    def test_garbage(self):
        self.sim.fault('garbage', text='http')
        wire = self.sim.connect()
        wire.sock.sendall(f'GET {MAPS} HTTP/1.1\r\n\r\n'.encode())
        self.assertNotIn(b'HTTP/1', wire.rest())
        self.sim.fault('garbage', text='json')
        answer = self.sim.request(MAPS)
        self.assertEqual(answer.code, 200)
        with self.assertRaises(ValueError):
            answer.json()
        self.assert_recovered()

    def test_truncated_list_has_valid_framing(self):
        self.sim.fault('truncate', events=2)
        body = self.sim.request(MAPS).body()
        with self.assertRaises(ValueError):
            json.loads(body)
        self.assertEqual(len(json.loads(body + b']}')['items']), 2)

    def test_pretty(self):
        self.sim.fault('pretty', times=2)
        self.assertIn(b'\n  "metadata": {', self.sim.request(MAPS).body())
        text = b''.join(self.sim.request(f'{WATCH}&timeoutSeconds=1').chunks()).decode()
        event, _ = json.JSONDecoder().raw_decode(text)
        self.assertEqual(event['type'], 'ADDED')
        self.assertTrue(text.startswith('{\n'))


class Events(Faults):
    def watch(self, target=WATCH):
        """The lines of a watch, as text."""
        text = b''
        for chunk in self.sim.request(target).chunks():
            text += chunk
            *lines, text = text.split(b'\n')
            yield from lines

    def test_event_faults_come_after_the_given_number_of_events(self):
        for do, part in (('huge', b'kubesim-huge'), ('deep', b'[' * 3000), ('unknown', b'"RENAMED"'),
                         ('garbage', b']] not JSON')):
            with self.subTest(do):
                self.sim.fault(do, verb='watch', events=2, size=3000, text='json')
                lines = self.watch()
                got = [next(lines) for _ in range(4)]
                self.assertIn(part, got[2])
                self.assertEqual([json.loads(got[n])['object']['metadata']['name'] for n in (0, 1, 3)], list('abc'))

    def test_huge_event_has_the_given_size(self):
        self.sim.fault('huge', size=17 * 1024 * 1024)
        line = next(self.watch())
        self.assertGreater(len(line), 17 * 1024 * 1024)
        self.assertEqual(json.loads(line)['object']['kind'], 'ConfigMap')

    def test_error(self):
        for code in (410, 429, 500, 504):
            self.sim.fault('error', code=code, events=1, retry_after=2)
            first, error = map(json.loads, self.watch())
            self.assertEqual((first['type'], error['type'], error['object']['code']), ('ADDED', 'ERROR', code))
            self.assertEqual(error['object']['details'], {'retryAfterSeconds': 2})

    def test_each(self):
        self.sim.fault('each', times=0, verb='watch')
        after = 100
        for name in 'abc':
            (line,) = self.watch(f'{WATCH}&resourceVersion={after}')
            self.assertEqual(json.loads(line)['object']['metadata']['name'], name)
            after += 1
        self.sim.control('clear')
        self.assertEqual(self.sim.control('faults'), [])

    def test_noend_omits_the_end_bookmark(self):
        self.sim.fault('noend')
        lines = list(self.watch(f'{MAPS}?{WATCH_LIST}&timeoutSeconds=1'))
        self.assertEqual(len(lines), 4)
        self.assertNotIn(b'initial-events-end', b''.join(lines))

    def test_verb_path_skip_and_times_select_requests(self):
        self.sim.fault('status', verb='list', path='configmaps?limit', skip=1, times=2)
        codes = [self.sim.request(f'{MAPS}?limit=9').code for _ in range(4)]
        self.assertEqual(codes, [200, 503, 503, 200])
        self.sim.fault('status', verb='watch')
        self.assertEqual([self.sim.request(MAPS).code, self.sim.request(WATCH).code], [200, 503])
        self.assertEqual(self.sim.control('stats')['faults'], 3)


run(__name__)
