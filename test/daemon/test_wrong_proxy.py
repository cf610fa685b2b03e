#!/usr/bin/env python3
"""test_wrong_proxy.py KUBESIM RECORDINGS INFORMERD: proxies that do something wrong in the middle of a list or a watch.

One informerd watches the same objects through many proxies at once, each of which fails in its own way for a few
connections. At the end every watch has reported exactly the objects of the server. Where TLS goes through the proxy, no
wrong state may be reported on the way either. Over plain HTTP a client can't detect every changed byte, only what is not
valid HTTP or JSON.
"""
import contextlib
import json
import random
import select
import socket
import struct
import threading

from service import Case, Log, LoopbackServer, fold, run, wait_until

OBJECTS, BYTES = 700, 1000  # two pages, and several hundred KB
PLACES = {'tls': (1, 2500, 9000), 'plain': (300, 9000, 70001)}  # offsets in the server's data, one per connection
FOREIGN = (b'HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 19\r\n\r\n<html>sorry</html>\n')


class Wrong(LoopbackServer):
    """A CONNECT proxy. The first connections that get as far as the next of `places` are treated by do()."""

    def __init__(self, target, places, seed):
        self.target, self.places, self.random = target, list(places), random.Random(seed)
        self.lock = threading.Lock()
        self.done = 0  # number of injected faults
        super().__init__()

    def serve(self, sock):
        with contextlib.suppress(OSError), sock, socket.create_connection(('127.0.0.1', self.target)) as server:
            head = b''
            while b'\r\n\r\n' not in head:
                head += sock.recv(1)
            sock.sendall(b'HTTP/1.1 200 Connection established\r\n\r\n')
            self.pump(sock, server)

    def pump(self, sock, server):
        sent = 0
        while True:
            for source in select.select([sock, server], [], [])[0]:
                piece = source.recv(16384)
                if not piece:
                    return
                if source is sock:
                    server.sendall(piece)
                    continue
                with self.lock:
                    due = bool(self.places) and sent + len(piece) > self.places[0]
                    at = max(0, self.places.pop(0) - sent) if due else 0
                    self.done += due
                sent += len(piece)
                if not due:
                    sock.sendall(piece)
                elif not self.do(sock, piece[:at], piece[at:]):
                    return

    def again(self, places):
        with self.lock:
            self.places += places

    def do(self, sock, before, behind):
        """Injects the fault instead of sending `before` and `behind`. Returns whether the connection continues."""
        raise NotImplementedError


class Cuts(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before)


class Resets(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))


class Garbles(Wrong):
    """Sends noise from there on, and keeps the connection open."""

    def do(self, sock, before, behind):
        sock.sendall(before + self.random.randbytes(len(behind) + 1000))
        return True


class Delays(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before)
        threading.Event().wait(1.5)
        sock.sendall(behind)
        return True


class Drips(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before)
        for byte in behind[:500]:
            sock.sendall(bytes([byte]))
        sock.sendall(behind[500:])
        return True


class Answers(Wrong):
    """Closes on behalf of the server, inside its data."""

    def do(self, sock, before, behind):
        sock.sendall(before + FOREIGN)


class Inserts(Wrong):
    """The same, but the server may continue."""

    def do(self, sock, before, behind):
        sock.sendall(before + FOREIGN + behind)
        return True


class Repeats(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before + behind + behind)
        return True


class Loses(Wrong):
    def do(self, sock, before, behind):
        sock.sendall(before + behind[100:])
        return True


def http(status, body, kind='application/json'):
    return f'HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}'.encode()


def api_status(code, reason):
    return http(f'{code} x', json.dumps({'kind': 'Status', 'apiVersion': 'v1', 'code': code, 'reason': reason, 'message': 'm'}))


# Answers of a proxy in place of the server, for the second page of a list.
PAGES = {
    'page': http('200 OK', '<html>Log in first</html>', 'text/html'),
    'missing': http('404 Not Found', '<html>no such page</html>', 'text/html'),
    'moved': b'HTTP/1.1 302 Found\r\nLocation: https://login.example.com/\r\nContent-Length: 0\r\n\r\n',
    'unavailable': http('503 Service Unavailable', 'try later', 'text/plain'),
    'nothing': http('200 OK', ''),
    'half': http('200 OK', '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[{"metad'),
    'other': http('200 OK', '{"kind":"Status","apiVersion":"v1","status":"Success"}'),
    'gone': api_status(410, 'Expired'),
    'unauthorized': api_status(401, 'Unauthorized'),
}


class Impersonates(Wrong):
    """Reads the requests, which are plain HTTP, and answers the first one for a further page itself."""

    def __init__(self, target, answer):
        super().__init__(target, (), 0)
        self.answers = [(b'/configmaps?', api_status(410, 'Expired')), (b'continue=', answer)]  # the first one leads to pages
        self.places = self.answers

    def pump(self, sock, server):
        while True:
            for source in select.select([sock, server], [], [])[0]:
                piece = source.recv(16384)
                if not piece:
                    return
                if source is sock and self.answers and self.answers[0][0] in piece:
                    sock.sendall(self.answers.pop(0)[1])
                else:
                    (server if source is sock else sock).sendall(piece)


KINDS = (Cuts, Resets, Garbles, Delays, Drips, Answers, Inserts, Repeats, Loses)


class WrongProxies(Case):
    arguments = ('--self-signed', 'FOLDER')

    def setUp(self):
        super().setUp()
        self.proxies, self.logs = {}, {}
        for sim in (self.sim, self.simulate('plain.kubeconfig')):
            sim.control('fill', resource='configmaps', count=OBJECTS, bytes=BYTES)
            sim.control('set', watch_list=0)
        self.plain = sim
        self.plain.control('set', gzip=0)
        for tls in (True, False):
            for i, kind in enumerate(KINDS):
                way = 'tls' if tls else 'plain'
                name = f'{way}-{kind.__name__.lower()}'
                sim = self.sim if tls else self.plain
                self.proxies[name] = self.stack.enter_context(kind(sim.port, PLACES[way], i))
                self.logs[name] = Log(self.folder / f'{name}.jsonl')

        for name, answer in PAGES.items():
            self.proxies[f'plain-{name}'] = self.stack.enter_context(Impersonates(self.plain.port, answer))
            self.logs[f'plain-{name}'] = Log(self.folder / f'plain-{name}.jsonl')

    def kubeconfig(self, name):
        tls = name.startswith('tls')
        cluster = {'server': f'{"https" if tls else "http"}://127.0.0.1:{(self.sim if tls else self.plain).port}',
                   'proxy-url': f'http://127.0.0.1:{self.proxies[name].port}'}
        if tls:
            cluster['certificate-authority'] = str(self.folder / 'ca.crt')
        path = self.folder / f'{name}.kubeconfig'
        path.write_text(json.dumps({'current-context': 'x', 'contexts': [{'name': 'x', 'context': {'cluster': 'c'}}],
                                    'clusters': [{'name': 'c', 'cluster': cluster}]}))
        return str(path)

    def conf(self, **changes):
        names = list(self.proxies)
        return super().conf(clusters=[{'name': n, 'kubeconfig': self.kubeconfig(n)} for n in names],
                            watches=[{'resource': 'configmaps', 'cluster': n, 'name': n} for n in names],
                            event_logs=[{'path': str(log.path), 'watches': [n]} for n, log in self.logs.items()], **changes)

    def listed(self, name):
        sim = self.sim if name.startswith('tls') else self.plain
        return {('configmaps', m['namespace'], m['name']): (m['uid'], m['resourceVersion'])
                for m in (item['metadata'] for item in sim.request('/api/v1/configmaps').json()['items'])}

    def wait_all(self, what):
        listed = {'tls': self.listed('tls'), 'plain': self.listed('plain')}
        for name, log in self.logs.items():
            wait_until(lambda: fold(log.read()) == listed[name.split('-')[0]],
                       lambda: f'{what} by {name}; {(self.folder / "stderr").read_text()[-3000:]}')

    def assert_reported(self, **expected):
        """The records of each object match the changes on the server, regardless of relists."""
        for name, log in self.logs.items():
            if name.startswith('tls') or name.split('-')[1] in PAGES:  # proxies that deliver bytes unchanged or not at all
                types = log.types()
                self.assertEqual({verb: types[verb] for verb in expected}, expected, name)

    def test_lists_and_watches_end_in_the_state_of_the_server(self):
        daemon = self.start()
        wait_until(lambda: not any(p.places for p in self.proxies.values()),
                   lambda: f'all to go wrong; left: {[(n, p.places) for n, p in self.proxies.items() if p.places]}')
        self.wait_all('the list')
        self.assert_reported(ADDED=OBJECTS, MODIFIED=0, DELETED=0)
        for name, proxy in self.proxies.items():  # now the watches
            proxy.again([] if name.split('-')[1] in PAGES else [0])
        for sim in (self.sim, self.plain):
            sim.control('churn', resource='configmaps', count=50)
        wait_until(lambda: not any(p.places for p in self.proxies.values()), 'watches to go wrong')
        for sim in (self.sim, self.plain):
            m = sim.request('/api/v1/configmaps').json()['items'][0]['metadata']
            sim.control('delete', resource='configmaps', namespace=m['namespace'], name=m['name'])
        self.wait_all('the changes')
        self.assertTrue(daemon.alive())
        self.assert_reported(ADDED=OBJECTS + 5, DELETED=5 + 1)  # churn adds and deletes one in ten each
        self.assertEqual(self.get('/readyz').status, 200, self.get('/readyz?verbose').text)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


run(__name__)
