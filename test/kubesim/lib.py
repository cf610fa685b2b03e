"""Shared by the tests of kubesim: the server as a child process, a client that sees every byte, and TAP output.

The client uses plain sockets on purpose: a library would hide what is tested.
"""
import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))
from harness import DEADLINE, FULL, run  # noqa: F401 (imported from here by the tests)

KUBESIM, RECORDINGS = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
WATCH_LIST = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'


class Broken(Exception):
    """The answer ended before it was complete."""


class Wire:
    """The bytes of one connection, read on demand."""

    def __init__(self, sock):
        self.sock, self.buffer = sock, bytearray()

    def more(self):
        piece = self.sock.recv(65536)
        if not piece:
            raise Broken(self.buffer)
        self.buffer += piece

    def exactly(self, count):
        while len(self.buffer) < count:
            self.more()
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def until(self, mark):
        while (at := self.buffer.find(mark)) < 0:
            self.more()
        return self.exactly(at + len(mark))[:at]

    def rest(self):
        with contextlib.suppress(Broken):
            while True:
                self.more()
        return bytes(self.buffer)


class Recorded(Wire):
    """The same for a file."""

    def __init__(self, name):
        super().__init__(None)
        self.buffer = bytearray((RECORDINGS / f'{name}.http').read_bytes())

    def more(self):
        raise Broken(self.buffer)


class Answer:
    """A response: the head is read at once, the body on demand."""

    def __init__(self, wire):
        self.wire = wire
        first, *lines = wire.until(b'\r\n\r\n').decode().split('\r\n')
        self.version, code, self.phrase = first.split(' ', 2)
        self.code = int(code)
        self.fields = [tuple(line.split(': ', 1)) for line in lines]
        self.headers = dict(self.fields)

    def chunks(self):
        """The pieces of a body, by its framing."""
        if 'Content-Length' in self.headers:
            yield self.wire.exactly(int(self.headers['Content-Length']))
            return
        while size := int(self.wire.until(b'\r\n'), 16):
            yield self.wire.exactly(size)
            assert self.wire.exactly(2) == b'\r\n'
        assert self.wire.exactly(2) == b'\r\n'

    def body(self):
        return gunzip(b''.join(self.chunks()))[0] if 'Content-Encoding' in self.headers else b''.join(self.chunks())

    def json(self):
        return json.loads(self.body())

    def events(self):
        """The events of a watch, each as soon as its line is complete."""
        text = b''
        for chunk in self.chunks():
            text += chunk
            *lines, text = text.split(b'\n')
            for line in lines:
                yield json.loads(line)
        assert not text, text


def gunzip(body):
    """(uncompressed body, number of gzip members)"""
    text, members = b'', 0
    while body:
        member = zlib.decompressobj(31)
        text += member.decompress(body)
        assert member.eof, 'incomplete gzip member'
        body = member.unused_data
        members += 1
    return text, members


class Sim:
    """A running kubesim."""

    def __init__(self, *arguments):
        env = dict(os.environ)
        env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=4'
        self.child = subprocess.Popen([KUBESIM, '--stdin', *map(str, arguments)], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, env=env)
        line = self.child.stdout.readline()
        assert line, 'kubesim did not start'
        self.ready = json.loads(line)
        self.port = urllib.parse.urlsplit(self.ready['url']).port
        self.open_wires = []
        self.checked = True  # verifies its certificate; not used with invalid certificates

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for wire in self.open_wires:
            wire.sock.close()
        self.child.stdin.close()
        status = self.child.wait(DEADLINE)
        self.child.stdout.close()
        assert status == 0, f'kubesim exited with {status}'

    def connect(self):
        sock = socket.create_connection(('127.0.0.1', self.port), timeout=DEADLINE)
        if self.ready['url'].startswith('https'):
            folder = Path(self.ready['kubeconfig']).parent
            context = ssl.create_default_context(cafile=folder / 'ca.crt')
            if not self.checked:
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            sock = context.wrap_socket(sock, server_hostname='localhost')
        self.open_wires.append(Wire(sock))
        return self.open_wires[-1]

    def request(self, target, method='GET', body=b'', wire=None, **headers):
        """Sends a request and returns the answer; opens a connection unless one is given."""
        wire = wire or self.connect()
        lines = [f'{method} {target} HTTP/1.1', 'Host: kubesim', f'Content-Length: {len(body)}']
        lines += [f'{name.replace("_", "-")}: {value}' for name, value in headers.items()]
        wire.sock.sendall('\r\n'.join([*lines, '', '']).encode() + body)
        return Answer(wire)

    def control(self, command, body=None, **params):
        text = b'' if body is None else json.dumps(body).encode()
        answer = self.request(f'/kubesim/{command}?{urllib.parse.urlencode(params)}', 'POST', text)
        result = answer.json()
        assert answer.code == 200, result
        return result

    def fault(self, do, **params):
        self.control('fault', do=do, **params)

    def put(self, resource, *objects):
        return [self.control('put', o, resource=resource, namespace=o['metadata'].get('namespace', 'default'))
                for o in objects]

    def resident(self):
        """Bytes of resident memory."""
        with open(f'/proc/{self.child.pid}/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def config_map(name, **more):
    return {'metadata': {'name': name, 'namespace': 'default', **more}, 'data': {'k': name}}


class Case(unittest.TestCase):
    arguments = ()  # FOLDER in them is replaced by a directory of the test case

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='kubesim.')))
        self.sim = stack.enter_context(Sim(*(a.replace('FOLDER', str(self.folder)) for a in self.arguments)))

    def names(self, answer):
        self.assertEqual(answer.code, 200)
        return [item['metadata']['name'] for item in answer.json()['items']]
