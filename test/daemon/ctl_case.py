"""What the tests of informerctl share. The arguments of the test program: KUBESIM RECORDINGS INFORMERD INFORMERCTL."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

from service import DEADLINE, Case, environment

INFORMERCTL = Path(sys.argv[4]).resolve()
SCREENS = Path(__file__).resolve().parent.parent / 'data' / 'screens'


def resource(name, kind, *short_names):
    return {'resource': name, 'responseKind': {'kind': kind}, 'scope': 'Namespaced', 'singularResource': kind.lower(),
            'shortNames': short_names, 'categories': ['all'] if name in ('pods', 'deployments') else []}


DISCOVERY = {
    '/api': [{'metadata': {}, 'versions': [{'version': 'v1', 'resources': [
        resource('pods', 'Pod', 'po'), resource('configmaps', 'ConfigMap', 'cm')]}]}],
    '/apis': [{'metadata': {'name': 'apps'}, 'versions': [{'version': 'v1', 'resources': [
        resource('deployments', 'Deployment', 'deploy')]}]}],
}


class Ctl(Case):
    def ctl(self, *arguments, socket=None, program=INFORMERCTL, plain=False, **env):
        """@plain: without the socket."""
        return subprocess.run([program, *arguments, *([] if plain else ['-s', socket or self.socket])], capture_output=True, text=True,
                              timeout=DEADLINE, env=environment(self.folder, **env), stdin=subprocess.DEVNULL)

    def good(self, *arguments, **more):
        done = self.ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return done.stdout

    def assert_screen(self, name, text):
        """Compares with a file; SCREENS=write writes it instead."""
        path = SCREENS / f'informerctl-{name}.txt'
        if os.environ.get('SCREENS') == 'write':
            path.write_text(text)
        self.assertEqual(text, path.read_text())


class Forwarded(Ctl):
    """A forwarder from a Unix socket to kubesim."""

    def setUp(self):
        super().setUp()
        url = urllib.parse.urlsplit(self.sim.ready['url'])
        self.server = url.hostname, url.port
        listener = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(self.socket))
        listener.listen()
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        self.sim.put('pods', *(self.pod(ns, name) for ns, name in (('shop', 'web-0'), ('shop', 'web-1'), ('default', 'db-0'))))

    def pod(self, namespace, name, **labels):
        return {'metadata': {'namespace': namespace, 'name': name, 'labels': {'app': name[:-2], **labels}},
                'spec': {'containers': [{'name': 'c', 'image': 'i'}]}, 'status': {'phase': 'Running'}}

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self.forward, args=(client,), daemon=True).start()

    def forward(self, client):
        """Every request, except that /api and /apis get documents which kubesim does not have."""
        with client, socket.create_connection(self.server) as server, contextlib.suppress(OSError):
            threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
            head = b''
            while piece := client.recv(65536):
                head += piece
                if b'\r\n\r\n' not in head:
                    continue
                target = head.split()[1].decode()
                if target in DISCOVERY:
                    body = json.dumps({'items': DISCOVERY[target]})
                    client.sendall(f'HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}'.encode())
                else:
                    server.sendall(head)
                head = b''

    def pump(self, a, b):
        with contextlib.suppress(OSError):
            while piece := a.recv(65536):
                b.sendall(piece)

    def names(self, text):
        return [line.split()[0] for line in text.splitlines()]
