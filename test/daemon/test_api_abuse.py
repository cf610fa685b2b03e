#!/usr/bin/env python3
"""test_api_abuse.py KUBESIM RECORDINGS INFORMERD: invalid, excessive and hostile requests to the local API.

Each is refused with a Status object, or answered; never is another client affected. Every case ends with an ordinary request.
"""
import contextlib
import json
import os
import re
import socket
import ssl
import unittest

from api_case import ApiCase
from service import DEADLINE, FULL, run, wait_until

MAPS = '/api/v1/configmaps'
MIB = 1024 * 1024


def head(target=MAPS, method='GET', version='HTTP/1.1', host='localhost', **headers):
    lines = [f'{method} {target} {version}', *([f'Host: {host}'] if host else []), *(f'{n}: {v}' for n, v in headers.items()), '', '']
    return '\r\n'.join(lines).encode('latin-1')


def read_answer(wire):
    """(status, headers, body) of an answer with a length; None at the end of the connection."""
    line = wire.readline()
    if not line:
        return None
    headers = {}
    while (field := wire.readline().strip()):
        name, _, value = field.partition(b':')
        headers[name.decode().lower()] = value.strip().decode()
    body = wire.read(int(headers['content-length'])) if 'content-length' in headers else b''
    return int(line.split()[1]), headers, body


class Abuse(ApiCase):
    def setUp(self):
        super().setUp()
        self.put('a')
        self.daemon = self.begin(api={'listen': '127.0.0.1:0'})
        self.addCleanup(self.check_service)

    def check_service(self):
        """The daemon still serves, and has not restarted."""
        self.assertEqual(self.names(MAPS), ['a'])
        self.assertTrue(self.daemon.alive())

    def plain(self):
        sock = self.stack.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX)))
        sock.settimeout(DEADLINE)
        sock.connect(str(self.socket))
        return sock

    def address(self):
        found = wait_until(lambda: re.findall(r'api: listening on (\S+):(\d+)"', self.daemon.stderr_text()), 'api.listen')
        host, port = found[-1]
        return host, int(port)

    def tls(self):
        context = ssl.create_default_context(cadata=self.ask('/informerd/v1/access')[1]['certificate_authority'])
        sock = socket.create_connection(self.address(), DEADLINE)
        return self.stack.enter_context(contextlib.closing(context.wrap_socket(sock, server_hostname='localhost')))

    def exchange(self, request, sock=None):
        """The first answer to the bytes."""
        sock = sock or self.plain()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            sock.sendall(request)
        return read_answer(sock.makefile('rb'))

    def refused_with(self, codes, request, sock=None):
        answer = self.exchange(request, sock)
        self.assertIsNotNone(answer, request[:100])
        status, headers, body = answer
        self.assertIn(status, codes, request[:100])
        self.assertEqual(headers['content-type'], 'application/json')
        status_object = json.loads(body)
        self.assertEqual((status_object['kind'], status_object['status'], status_object['code']), ('Status', 'Failure', status))
        self.assertTrue(status_object['message'])
        return headers, status_object

    # ---- heads ----

    def test_sizes(self):
        self.refused_with([431], head(**{'X-Large': 'x' * 20000}))
        self.refused_with([431], head(**{f'X-{i}': 'y' for i in range(101)}))
        self.refused_with([414], head(MAPS + '?a=' + 'x' * 9000))
        self.refused_with([431], b'\r\n' * 20000 + head())
        self.refused_with([431], head(**{'Authorization': 'Bearer ' + 'x' * 20000}))

    def test_bytes_that_are_no_request(self):
        for request in (b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(100), b'\x00' * 100 + b'\r\n\r\n', b'hello\r\n\r\n',
                        head(version='HTTP/1.1 x'), head(version='HTTP/9.9'), head(version='http/1.1'),
                        b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', head('api/v1/pods'), head('*'), head(MAPS + '%00'), head(MAPS + '%zz'),
                        head(MAPS + '#fragment'), head('/%0d%0aX-Injected:%20yes'), b'GET ' + MAPS.encode() + b'\xff HTTP/1.1\r\n\r\n',
                        head(**{'Bad Name': 'x'}), head(**{'X': 'a\x01b'}), b'GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n'):
            self.refused_with([400, 404, 505], request)

    def test_methods(self):
        for method in 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE':
            headers, status = self.refused_with([405], head(method=method, **{'Content-Length': '0'}))
            self.assertEqual((headers['allow'], status['reason']), ('GET, HEAD', 'MethodNotAllowed'))
        for method in 'CONNECT', 'BREW', 'GETT', 'get', 'G\x7fT':
            self.refused_with([400, 405], head(method=method))

    def test_bodies(self):
        chunked = {'Transfer-Encoding': 'chunked'}
        for body in b'5\r\nhello\r\n0\r\n\r\n', b'zz\r\nhello', b'ffffffffffffffffff\r\n', b'-1\r\n', b'5;' + b'x' * 5000:
            self.refused_with([400, 413], head(**chunked) + body)
            self.refused_with([405], head(method='POST', **chunked) + body)
        self.refused_with([400, 413], head(**{'Content-Length': '5'}) + b'hello')
        self.refused_with([400, 413], head(**{'Content-Length': '99999999999999999999999'}))
        self.refused_with([400], head(**{'Content-Length': '-5'}))
        self.refused_with([400, 413], head(**{'Content-Length': '3', **chunked}) + b'0\r\n\r\n')
        self.refused_with([400, 413], head(**{'Transfer-Encoding': 'gzip, chunked'}) + b'0\r\n\r\n')
        self.refused_with([400, 413, 417], head(**{'Expect': '100-continue', 'Content-Length': '5'}))

    # ---- queries ----

    def test_queries(self):
        """Selectors and numbers of absurd size or form: an answer, or a refusal that says why."""
        many = ','.join(f'k{i}=v' for i in range(900))
        for query in ('labelSelector=' + 'a' * 7000, 'labelSelector=' + '(' * 3000, 'labelSelector=' + many, 'labelSelector=a%20in%20(' + 'x,' * 2000 + ')',
                      'labelSelector=%ff%fe', 'labelSelector=a%00b', 'fieldSelector=' + 'a.' * 3000 + 'b%3Dc', 'fieldSelector=' + many,
                      'fieldSelector=' + '[' * 3000 + '%3D1', 'fieldSelector=metadata.name', 'resourceVersion=' + '9' * 3000,
                      'resourceVersion=-1', 'resourceVersion=1e9', 'resourceVersion=%20', 'limit=-1', 'limit=' + '9' * 500, 'limit=abc',
                      'timeoutSeconds=' + '9' * 500, 'timeoutSeconds=-1', 'continue=' + 'x' * 3000, 'resourceVersionMatch=' + 'x' * 3000,
                      'includeObject=' + 'x' * 3000, 'sendInitialEvents=%', 'watch=%', '&' * 7000, '=' * 7000, '%', 'a=%4', '?' * 7000,
                      'watch=maybe&timeoutSeconds=1', 'watch=1&watch=0&timeoutSeconds=1', 'watch=1&timeoutSeconds=1&resourceVersion=' + '9' * 30):
            sock = self.plain()
            sock.sendall(head(f'{MAPS}?{query}', Connection='close'))
            with sock.makefile('rb') as wire:
                line = wire.readline()
                rest = wire.read()
            self.assertRegex(line, rb'^HTTP/1.1 (200|400|403|410|422|504) ', query[:60])
            if b' 200 ' not in line:
                self.assertEqual(json.loads(rest.partition(b'\r\n\r\n')[2])['kind'], 'Status', query[:60])

    def test_paths(self):
        for target in ('/' * 5000, '/api/v1/' + 'a/' * 3000, '/api/v1/namespaces//configmaps', '/api/v1/namespaces/..%2f..%2fetc/configmaps',
                       '/api/v1/namespaces/default/configmaps/' + 'x' * 5000, '/apis/' + 'x' * 5000 + '/v1/a', '/clusters/none/api/v1/configmaps',
                       '/clusters//version', '/informerd/v1/', '/informerd/v1/../../status', '/informerd/v2/status', '/openapi/v3/' + 'a' * 5000):
            status = self.exchange(head(target))[0]
            self.assertIn(status, (200, 403, 404, 405), target[:60])
            if status != 200:
                self.refused_with([status], head(target))

    # ---- identity ----

    def test_impersonation_and_tokens(self):
        for name in 'Impersonate-User', 'impersonate-group', 'IMPERSONATE-UID', 'Impersonate-Extra-Scopes', 'Impersonate-':
            self.refused_with([403], head(**{name: 'system:masters'}))
            self.refused_with([403], head(**{name: ''}))
        for value in 'Bearer', 'Bearer ', 'Bearer x', 'Bearer ' + 'x' * 8000, 'Basic cm9vdDo=', 'bearer \xff\xfe', 'x' * 8000, 'Negotiate':
            for sock in self.plain(), self.tls():
                headers, status = self.refused_with([401], head(Authorization=value), sock)
                self.assertEqual((headers['www-authenticate'], status['reason']), ('Bearer', 'Unauthorized'))
        self.refused_with([401], head(), self.tls())
        self.assertNotIn('xxxxxxxx', self.daemon.stderr_text())

    def test_other_hosts(self):
        token = {'Authorization': 'Bearer ' + self.ask('/informerd/v1/token')[1]['token']}
        self.assertEqual(self.exchange(head('/version', **token), self.tls())[0], 200)
        for host in 'evil.example.com', 'evil.example.com:6444', '127.0.0.1.evil.example.com', 'localhost.evil.example.com':
            _, status = self.refused_with([400, 421], head('/version', host=host, **token), self.tls())
            self.assertTrue(status['code'] == 400 or 'allowed_hosts' in status['message'])
        self.refused_with([400, 421], head('http://evil.example.com/version', **token), self.tls())
        self.refused_with([400], head('/version', host=None, **token), self.tls())
        twice = head('/version', **token).replace(b'Host: localhost\r\n', b'Host: localhost\r\nHost: evil.example.com\r\n')
        self.refused_with([400, 421], twice, self.tls())

    def test_bytes_that_are_no_handshake(self):
        for first in b'GET / HTTP/1.1\r\n\r\n', b'\x16\x03\x01', bytes(1000), os.urandom(5000):
            with contextlib.closing(socket.create_connection(self.address(), DEADLINE)) as sock:
                sock.sendall(first)
                sock.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    while sock.recv(1000):
                        pass

    # ---- connections ----

    def test_more_pipelined_requests_than_fit(self):
        """A client that sends and does not read is not read either; later it gets all answers, in order."""
        count, sent, sock = 3000, 0, self.plain()
        text = b''.join(head(f'/api/v1/namespaces/default/configmaps/n{i}') for i in range(count))
        before = self.daemon.resident()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while sent < len(text):
                sent += sock.send(text[sent:sent + 1000])
        self.assertLess(sent, len(text))
        self.check_service()
        self.assertLess(self.daemon.resident() - before, 8 * MIB)
        answers = b''
        while sent < len(text) or answers.count(b'HTTP/1.1 404') < count:
            sock.settimeout(DEADLINE)
            answers += sock.recv(MIB)
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while sent < len(text):
                    sent += sock.send(text[sent:])
        self.assertEqual(re.findall(rb'configmaps \\"n(\d+)\\"', answers), [b'%d' % i for i in range(count)])

    def test_a_refused_request_ends_the_pipeline(self):
        sock = self.plain()
        sock.sendall(head() + head(method='POST', **{'Content-Length': '4'}) + b'GET ' + head('/secret'))
        with sock.makefile('rb') as wire:
            self.assertEqual([read_answer(wire)[0], read_answer(wire)[0], read_answer(wire)], [200, 405, None])

    def test_slow_heads_delay_no_other_client(self):
        slow = [self.plain() for _ in range(40)]
        for i, sock in enumerate(slow):
            sock.sendall(head()[:1 + i % 30])
        self.check_service()
        rest = head()
        for i, sock in enumerate(slow):
            for k in range(1 + i % 30, len(rest), 5):
                sock.sendall(rest[k:k + 5])
            self.assertEqual(read_answer(sock.makefile('rb'))[0], 200)

    @unittest.skipUnless(FULL, 'waits 10 s')
    def test_a_head_that_is_not_completed_is_408(self):
        self.refused_with([408], head()[:-2])

    def test_clients_that_leave_at_once(self):
        for i in range(120):
            sock = self.plain()
            sock.sendall(head(f'{MAPS}?watch=1') if i % 3 else head() * 3)
            sock.close()
        wait_until(lambda: self.count_sockets() < 50, self.count_sockets)

    def count_sockets(self):
        folder = f'/proc/{self.daemon.pid}/fd'
        names = []
        for fd in os.listdir(folder):
            with contextlib.suppress(OSError):
                names.append(os.readlink(f'{folder}/{fd}'))
        return sum(n.startswith('socket:') for n in names)


run(__name__)
