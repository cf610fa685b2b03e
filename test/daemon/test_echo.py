#!/usr/bin/env python3
"""test_echo.py KUBESIM RECORDINGS INFORMERD: servers and proxies that repeat the client's credentials in their answers.
The credentials must not appear in anything that informerd writes: its log, /readyz, metrics, records, the dump.
"""
import base64
import contextlib
import json
import signal
import socket
import ssl
import sys
import threading
from pathlib import Path

from service import Case, LoopbackServer, run, wait_until

sys.path.append(str(Path(__file__).resolve().parent.parent / 'cli'))
from server import make_certificate

TOKEN = 'eyJhbGciOiJSUzI1NiJ9.' + 'Zt5Yw2Rq' * 40 + '.c2ln"\\/'
PASSWORD = 'hunter-2 & "more"'
LOGIN = base64.b64encode(f'jane:{PASSWORD}'.encode()).decode()
PAD = 'x' * 190  # up to where informerd truncates texts


def status(text, code=500):
    body = {'kind': 'Status', 'apiVersion': 'v1', 'status': 'Failure', 'message': text, 'reason': text, 'code': code}
    return json.dumps(body)


def watch_event(verb, **members):
    return json.dumps({'type': verb, 'object': {'kind': 'Thing', 'apiVersion': 'echo.io/v1', **members}}) + '\n'


# The requested resource selects the place of the echo: {resource: (status, headers, body)}.
PLACES = {
    'messages': lambda text: (500, {}, status(f'bad token {text}')),
    'escapes': lambda text: (500, {}, status('X').replace('X', ''.join(f'\\u{ord(c):04x}' for c in text))),
    'throttles': lambda text: (429, {'Retry-After': text}, status(PAD * 5 + text, 429)),
    'challenges': lambda text: (401, {'WWW-Authenticate': f'Bearer realm="{text}"'}, status(text, 401)),
    'denials': lambda text: (403, {}, status(f'User "{text}" cannot list resource "things"', 403)),
    'phrases': lambda text: (f'502 {text}', {}, f'Authorization: {text}'),
    'pages': lambda text: (503, {'Content-Type': 'text/html'}, f'<h1>{PAD[:150]}{text}'),
    'locations': lambda text: (302, {'Location': f'https://login.test/{PAD[:150]}{text}/{text}?{text}'}, ''),
    'media': lambda text: (200, {'Content-Type': f'text/{text}'}, ''),
    'encodings': lambda text: (200, {'Content-Encoding': text}, ''),
    'warnings': lambda text: (500, {'Warning': f'299 - "{text}", 299 - "{PAD * 5}{text}"'.replace('\\', '')}, ''),
    'events': lambda text: (200, {}, watch_event(text)),
    'errors': lambda text: (200, {}, json.dumps({'type': 'ERROR', 'object': json.loads(status(text))})),
    'kinds': lambda text: (200, {}, watch_event('ADDED', kind=text, metadata={'name': f'a/{text}'})),
    'bookmarks': lambda text: (200, {}, watch_event('BOOKMARK', metadata={'resourceVersion': text})),
}


class Hostile(LoopbackServer):
    """Repeats the credentials of each request in its response, at the place that the name of the resource selects."""

    def __init__(self, folder):
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca, key = make_certificate(folder)
        self.tls.load_cert_chain(self.ca, key)
        self.requested = set()
        super().__init__()

    def serve(self, sock):
        with contextlib.suppress(OSError), self.tls.wrap_socket(sock, server_side=True) as sock:
            head = b''
            while b'\r\n\r\n' not in head:
                piece = sock.recv(4096)
                if not piece:
                    return
                head += piece
            lines = head.decode().split('\r\n')
            credential = next(line.split(' ', 2)[2] for line in lines if line.startswith('Authorization: '))
            path = lines[0].split(' ')[1].split('?')[0]
            sock.sendall(self.answer(path, credential))
            self.requested.add(path.split('/')[-1])

    def answer(self, path, credential):
        text = credential if credential == TOKEN else f'{PASSWORD} or {credential}'
        if '/echo.io/v1/' in path:
            code, headers, body = PLACES[path.split('/')[-1]](text)
        else:  # discovery
            resource = {'name': text, 'singularName': text, 'kind': text, 'shortNames': ['gadgets'], 'verbs': ['list', 'watch'],
                        'namespaced': True}
            groups = {'kind': 'APIGroupList', 'groups': []}
            lists = {'kind': 'APIResourceList', 'groupVersion': 'v1', 'resources': [resource, dict(resource, name='b')]}
            code, headers, body = 200, {}, json.dumps(groups if path == '/apis' else lists)
        body = body.encode()
        headers = {'Content-Type': 'application/json', **headers, 'Content-Length': len(body), 'Connection': 'close'}
        phrase = code if isinstance(code, str) else f'{code} {text}'
        return '\r\n'.join([f'HTTP/1.1 {phrase}', *(f'{k}: {v}' for k, v in headers.items()), '', '']).encode() + body


class Echo(Case):
    def kubeconfig(self, user, port, **cluster):
        path = self.folder / 'echo.kubeconfig'
        cluster = {'server': f'https://127.0.0.1:{port}', 'certificate-authority': str(self.folder / 'server.crt'), **cluster}
        path.write_text(json.dumps({'current-context': 'x', 'users': [{'name': 'u', 'user': user}],
                                    'contexts': [{'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
                                    'clusters': [{'name': 'c', 'cluster': cluster}]}))
        return str(path)

    def begin(self, kubeconfig, names):
        return self.start(self.conf(clusters=[{'name': 'echo', 'kubeconfig': kubeconfig}], log={'level': 'debug'},
                                    watches=[{'resource': f'{n}.echo.io/v1' if n in PLACES else n} for n in names]))

    def written(self, daemon):
        """Everything that informerd wrote or answered: {name: text}."""
        daemon.send_signal(signal.SIGUSR2)
        dump = self.folder / 'state/dump.json'
        wait_until(dump.exists, 'the dump')
        answers = {target: self.get(target).text for target in ('/readyz?verbose', '/metrics')}
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        return {'dump': dump.read_text(), 'records': self.path.read_text(), 'stderr': daemon.stderr_text(), **answers}

    def assert_hidden(self, daemon, *secrets):
        for name, text in self.written(daemon).items():
            for secret in secrets:
                for form in (secret, json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])[1:-1]):
                    for part in (form, form[:24], form[-24:]):
                        self.assertNotIn(part, text, name)
            if name == 'stderr':
                self.assertIn('***', text)

    def check(self, user, *secrets):
        server = self.stack.enter_context(Hostile(self.folder))
        names = [*PLACES, 'gadgets']
        daemon = self.begin(self.kubeconfig(user, server.port), names)
        wait_until(lambda: server.requested >= {*PLACES, 'v1'}, lambda: f'all requests; there were {server.requested}')
        wait_until(lambda: 'syncing' not in self.get('/readyz?verbose').text, 'a result for each watch')
        self.assert_hidden(daemon, *secrets)

    def test_a_token_is_not_shown(self):
        self.check({'token': TOKEN}, TOKEN)

    def test_a_password_is_not_shown(self):
        self.check({'username': 'jane', 'password': PASSWORD}, PASSWORD, LOGIN)

    def test_the_login_of_a_proxy_is_not_shown(self):
        listener = self.stack.enter_context(socket.create_server(('127.0.0.1', 0)))

        def refuse():
            with contextlib.suppress(OSError):
                while True:
                    sock = listener.accept()[0]
                    head = sock.recv(65536).decode()
                    login = head.split('Basic ')[1].split('\r\n')[0]
                    text = f'{login} is {base64.b64decode(login).decode()}'
                    sock.sendall(f'HTTP/1.1 407 {text}\r\nProxy-Authenticate: {text}\r\n\r\n{text}'.encode())
                    sock.close()
        threading.Thread(target=refuse, daemon=True).start()
        proxy = f'http://proxy-user:hunter-2-hunter@127.0.0.1:{listener.getsockname()[1]}'
        make_certificate(self.folder)
        daemon = self.begin(self.kubeconfig({'token': TOKEN}, 1, **{'proxy-url': proxy}), ['messages'])
        wait_until(lambda: 'rejected the user and password' in daemon.stderr_text(), daemon.stderr_text)
        login = base64.b64encode(b'proxy-user:hunter-2-hunter').decode()
        self.assert_hidden(daemon, 'hunter-2-hunter', 'proxy-user', login, TOKEN)


run(__name__)
