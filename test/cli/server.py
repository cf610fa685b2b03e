"""A small API server for the tests of the command line: it replays recordings of a real one (test/data/recordings).

It serves one watch-list a connection, on a port the system chose, by TLS if it was given a certificate. What comes
after the initial objects is up to the test: nothing, or changes without end.
"""
import re
import socket
import ssl
import subprocess
import threading
import time


EXPIRED = (b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
           b'"message":"too old resource version: 1 (2)","reason":"Expired","code":410}}\n')


class Recording:
    """The lines of a recorded watch-list: the initial objects, and the bookmark behind them."""

    def __init__(self, path):
        body = path.read_bytes().split(b'\r\n\r\n', 1)[1]
        text = b''
        while size := int(re.match(rb'[0-9a-f]+', body)[0], 16):
            start = body.index(b'\r\n') + 2
            text, body = text + body[start:start + size], body[start + size + 2:]
        lines = text.splitlines(keepends=True)
        self.initial, self.end = lines[:-1], lines[-1]

    def touch(self, number):
        """The first object in another version in which nothing changed."""
        line = self.initial[0].replace(b'"type":"ADDED"', b'"type":"MODIFIED"')
        return re.sub(rb'"resourceVersion":"\d+"', b'"resourceVersion":"%d"' % (1000 + number), line)

    def change(self, number):
        """The first object, changed for the number-th time."""
        return re.sub(rb'"generation":\d+', b'"generation":%d' % (2 + number), self.touch(number))


def make_certificate(folder):
    """(certificate, key): one for 127.0.0.1 that signs itself."""
    crt, key = folder / 'server.crt', folder / 'server.key'
    subprocess.run(['openssl', 'req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:prime256v1', '-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1',
                    '-keyout', key, '-out', crt], check=True, capture_output=True)
    return crt, key


def chunk(data):
    return b'%x\r\n%s\r\n' % (len(data), data)


class Server:
    """with Server(recording, changes=10) as server: ... server.url ...

    changes: how many to send after the initial objects; None: without end. expire: the first watch ends with the
    error of an expired version instead. touches: how many versions in which nothing changed to send before the changes.
    """

    def __init__(self, recording, changes=0, certificate=None, expire=False, touches=0):
        self.recording, self.changes, self.expire, self.touches = recording, changes, expire, touches
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(*certificate)
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'{"https" if certificate else "http"}://127.0.0.1:{self.listener.getsockname()[1]}'
        self.requests = []  # their first lines
        self.sent = 0  # bytes of bodies that a client, or the sockets between us, took
        self.sent_at = time.monotonic()
        self.left = 0  # clients that went
        self.connections = []

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for connection in [self.listener, *self.connections]:
            try:
                connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in it
            except OSError:
                pass
            connection.close()

    def quiet_for(self):
        """Seconds since the client has read anything."""
        return time.monotonic() - self.sent_at

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
                self.connections.append(connection)
            self._read_request(connection)
            connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                               b'Transfer-Encoding: chunked\r\n\r\n')
            self._send(connection, b''.join(self.recording.initial) + self.recording.end)
            if self.expire:
                self.expire = False
                self._send(connection, EXPIRED)
                connection.sendall(b'0\r\n\r\n')
            if self.touches:
                self._send(connection, b''.join(self.recording.touch(i - self.touches) for i in range(self.touches)))
            number = 0
            while self.changes is None or number < self.changes:
                self._send(connection, b''.join(self.recording.change(number + i) for i in range(16)))
                number += 16
            connection.recv(1)  # until the client goes
        except OSError:
            pass  # it went while we were talking
        self.left += 1

    def _read_request(self, connection):
        head = b''
        while b'\r\n\r\n' not in head:
            data = connection.recv(4096)
            if not data:
                raise OSError('no request')
            head += data
        self.requests.append(head.split(b'\r\n', 1)[0].decode())

    def _send(self, connection, body):
        connection.sendall(chunk(body))
        self.sent += len(body)
        self.sent_at = time.monotonic()
