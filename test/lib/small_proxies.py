"""Small real proxies: CONNECT and SOCKS5, with a login or without, on TLS or without."""
import base64
import contextlib
import select
import socket
import struct

from harness import LoopbackServer


def exactly(sock, count):
    got = b''
    while len(got) < count:
        piece = sock.recv(count - len(got))
        if not piece:
            raise ConnectionError
        got += piece
    return got


class Proxy(LoopbackServer):
    """Connects every client to the port `target`, for any name, with the protocol of a subclass."""

    def __init__(self, target, tls=None):
        self.target, self.tls, self.requests, self.open = target, tls, [], []
        super().__init__()

    def __exit__(self, *_):
        super().__exit__()
        for sock in self.open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def serve(self, sock):
        self.open.append(sock)
        with contextlib.suppress(OSError, ConnectionError), sock:
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            if self.greet(sock):
                with socket.create_connection(('127.0.0.1', self.target)) as server:
                    self.welcome(sock)
                    self.pump(sock, server)

    def pump(self, a, b):
        while True:
            ready = [a] if self.tls and a.pending() else select.select([a, b], [], [])[0]
            for sock in ready:
                piece = sock.recv(65536)
                if not piece:
                    return
                (b if sock is a else a).sendall(piece)


class HttpProxy(Proxy):
    login = None

    def greet(self, sock):
        head = b''
        while b'\r\n\r\n' not in head:
            head += exactly(sock, 1)
        lines = head.decode().split('\r\n')
        self.requests.append(lines[0])
        wanted = self.login and 'Proxy-Authorization: Basic ' + base64.b64encode(self.login).decode()
        if wanted and wanted not in lines:
            sock.sendall(b'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n')
        return not wanted or wanted in lines

    def welcome(self, sock):
        sock.sendall(b'HTTP/1.1 200 Connection established\r\n\r\n')


class SocksProxy(Proxy):
    login = None

    def greet(self, sock):
        methods = exactly(sock, exactly(sock, 2)[1])
        if self.login:
            assert 2 in methods
            sock.sendall(b'\5\2')
            user = exactly(sock, exactly(sock, 2)[1])
            password = exactly(sock, exactly(sock, 1)[0])
            good = user + b':' + password == self.login
            sock.sendall(b'\1' + (b'\0' if good else b'\1'))
            if not good:
                return False
        else:
            sock.sendall(b'\5\0')
        kind = exactly(sock, 4)[3]
        host = exactly(sock, exactly(sock, 1)[0]) if kind == 3 else exactly(sock, 4)
        self.requests.append((host.decode('latin-1'), struct.unpack('>H', exactly(sock, 2))[0]))
        return True

    def welcome(self, sock):
        sock.sendall(b'\5\0\0\1\0\0\0\0\0\0')
