"""A TCP proxy between informerd and the API server that simulates network failures.

    proxy.cut()      all connections are reset
    proxy.refuse()   the same, and new connections are refused until accept()
    proxy.hole()     data is delayed without an error until heal(), which delivers all of it
    proxy.lose()     data of the current connections is dropped; new ones work
    proxy.slow(n)    at most n bytes per second to the client; None: no limit
"""

import contextlib
import socket
import struct
import threading
import time

CHUNK = 16 * 1024
RESET = struct.pack("ii", 1, 0)  # SO_LINGER 0: close() sends RST
PACES = 20  # pieces per second, when slow


class Link:
    """One connection: two sockets."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.lost = False

    def reset(self):
        """Resets both sides: a server that sees an orderly end first would end its response correctly."""
        self.lost = True
        for end in (self.client, self.server):
            with contextlib.suppress(OSError):  # closed already
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                end.shutdown(socket.SHUT_RD)  # wakes the reading thread
            end.close()


class Proxy:
    def __init__(self, port, host="127.0.0.1", own_port=0):
        self.connections = 0  # so far
        self.delivered = 0  # bytes to clients, so far
        self._target = port
        self._links = set()
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()
        self._rate = None
        self._accepting = True
        self._listener = socket.create_server((host, own_port))
        self.port = self._listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._accepting = False
        self._open.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def cut(self):
        with self._lock:
            links, self._links = self._links, set()
        for link in links:
            link.reset()

    def refuse(self):
        self._accepting = False
        self.cut()

    def accept(self):
        self._accepting = True

    def hole(self):
        self._open.clear()

    def heal(self):
        self._open.set()

    def lose(self):
        with self._lock:
            for link in self._links:
                link.lost = True

    def slow(self, rate):
        self._rate = rate

    # -- threads

    def _listen(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            self._connect(client)

    def _connect(self, client):
        """A refused connection is reset after it was accepted; a TLS client sees no difference."""
        self.connections += 1
        try:
            server = socket.create_connection(("127.0.0.1", self._target)) \
                if self._accepting else None
        except OSError:
            server = None
        if not server:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            return client.close()
        link = Link(client, server)
        with self._lock:
            self._links.add(link)
        for ends in ((client, server), (server, client)):
            threading.Thread(target=self._relay, args=(link, *ends), daemon=True).start()

    def _relay(self, link, source, sink):
        """Copies one direction until one side closes, then closes both. Lost data is not copied."""
        try:
            while data := source.recv(self._portion(sink is link.client)):
                self._open.wait()
                if link.lost:
                    return
                sink.sendall(data)
                if sink is link.client:
                    self._pace(len(data))
            if not link.lost:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            with self._lock:
                self._links.discard(link)
            link.reset()

    def _pace(self, delivered):
        with self._lock:
            self.delivered += delivered
        rate = self._rate
        if rate:
            time.sleep(delivered / rate)

    def _portion(self, to_client):
        return max(1, self._rate // PACES) if self._rate and to_client else CHUNK
