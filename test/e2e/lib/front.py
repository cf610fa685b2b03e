"""A reverse proxy in front of the API server, as Rancher has one: the server is below a URL path.

    with Front(plane, "/k8s/clusters/c-1") as front:
        front.url  # https://127.0.0.1:40001/k8s/clusters/c-1

It uses TLS with the certificate of the API server, and forwards requests without the prefix. Other
paths get 404.
"""

import asyncio
import contextlib
import ssl
import threading

CHUNK = 16 * 1024
UNKNOWN = (b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n\r\n"
           b"404 page not found\n")


class Front:
    def __init__(self, plane, prefix):
        self._prefix = prefix.encode()
        self._target = plane.port
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(plane.certs.crt("apiserver"), plane.certs.key("apiserver"))
        self._trust = ssl.create_default_context(cafile=plane.certs.crt("ca"))
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls))
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"https://127.0.0.1:{port}{prefix}"

    def __enter__(self):
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._server.close()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _serve(self, reader, writer):
        """One connection. Requests have no bodies; responses are forwarded as they arrive."""
        with contextlib.suppress(OSError, EOFError):
            up, down = await asyncio.open_connection("127.0.0.1", self._target, ssl=self._trust)
            answers = asyncio.ensure_future(relay(up, writer))
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, rest = head.split(b" ", 2)
                if target.startswith(self._prefix + b"/"):
                    down.write(b" ".join((method, target.removeprefix(self._prefix), rest)))
                else:
                    writer.write(UNKNOWN)
        answers.cancel()
        for end in (down, writer):
            end.close()


async def relay(source, sink):
    with contextlib.suppress(OSError):
        while data := await source.read(CHUNK):
            sink.write(data)
            await sink.drain()
        sink.close()
