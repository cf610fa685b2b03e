"""Shared by the tests of webhooks: servers that take requests, and a case whose handlers call them."""
import contextlib
import json
import ssl
import subprocess
import threading

from handled import Handled
from service import LoopbackServer, wait_until


class Request:
    def __init__(self, line, headers, body):
        self.line, self.headers, self.body = line, headers, body

    def records(self):
        return [json.loads(line) for line in self.body.splitlines()]


def answer(status=200, body=b'', headers=()):
    """A behaviour: a complete response; the connection is kept."""
    def act(sock, _):
        lines = [f'HTTP/1.1 {status} x', f'Content-Length: {len(body)}', *(f'{k}: {v}' for k, v in headers)]
        sock.sendall('\r\n'.join(lines).encode() + b'\r\n\r\n' + body)
        return True
    return act


def partial(sock, _):
    sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')


def close_early(_sock, _request):
    return False


class Hook(LoopbackServer):
    """Takes requests. Each gets the next of `behaviours`, later ones 200. A behaviour returns whether the connection is kept."""

    def __init__(self, *behaviours, tls=None):
        self.requests, self.behaviours, self.connections, self.tls = [], list(behaviours), 0, tls
        self.lock, self.release = threading.Lock(), threading.Event()
        super().__init__()

    def __exit__(self, *_):
        self.release.set()
        super().__exit__()

    def url(self, path='/hook', host='127.0.0.1'):
        return f'{"https" if self.tls else "http"}://{host}:{self.port}{path}'

    def never(self, _sock, _request):
        """A behaviour: no response until the end of the test."""
        self.release.wait()

    def read(self, file):
        line = file.readline().decode().strip()
        if not line:
            return None
        headers = {}
        while (header := file.readline().decode().strip()):
            name, value = header.split(': ', 1)
            headers[name] = value
        return Request(line, headers, file.read(int(headers['Content-Length'])))

    def serve(self, sock):
        with contextlib.suppress(OSError):
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            with sock, sock.makefile('rb') as file:
                self.connections += 1
                while (request := self.read(file)):
                    with self.lock:
                        self.requests.append(request)
                        act = self.behaviours.pop(0) if self.behaviours else answer()
                    if not act(sock, request):
                        return


class Hooked(Handled):
    def hook(self, *behaviours, **more):
        return self.stack.enter_context(Hook(*behaviours, **more))

    def webhook(self, server, webhook=None, **settings):
        return {'name': 'test', 'webhook': {'url': server.url(), 'proxy': 'none', **(webhook or {})},
                'retry': {'max': 3, 'backoff': '1ms..10ms'}, **settings}

    def run_hook(self, server, webhook=None, **settings):
        daemon = self.start(self.conf(handlers=[self.webhook(server, webhook, **settings)]))
        self.wait_ready()
        return daemon

    def wait_requests(self, server, count):
        wait_until(lambda: len(server.requests) >= count,
                   lambda: f'{count} requests; {len(server.requests)}; {(self.folder / "stderr").read_text()[-2000:]}')
        return server.requests

    def wait_delivered(self, runs):
        """So many runs have ended, and nothing is left."""
        wait_until(lambda: self.metric('runs_total') >= runs and self.metric('queue_length') == 0,
                   lambda: f'{runs} runs; {(self.folder / "stderr").read_text()[-2000:]}')

    def write(self, name, text):
        path = self.folder / name
        new = path.with_suffix('.new')
        new.write_text(text)
        new.rename(path)
        return str(path)

    def certificate(self, name):
        key, cert = self.folder / f'{name}.key', self.folder / f'{name}.pem'
        subprocess.run(['openssl', 'req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:P-256', '-subj', f'/CN={name}', '-addext', f'subjectAltName=DNS:{name}',
                        '-keyout', key, '-out', cert], check=True, capture_output=True)
        return str(cert), str(key)

    def tls_hook(self, name, client=None):
        """A server with that name in its certificate, and the file with the certificate."""
        cert, key = self.certificate(name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        if client:
            context.load_verify_locations(client)
            context.verify_mode = ssl.CERT_REQUIRED
        return self.hook(tls=context), cert
