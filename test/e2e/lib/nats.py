"""A cluster of real NATS servers with JetStream, and a client that makes streams and reads them.

The servers speak TLS. Users: `admin` with a password, for the client, and one with an nkey, for sinks; or, with `jwt`, one with a
JWT, whose file is `creds`.
"""

import base64
import contextlib
import json
import re
import signal
import socket
import ssl
import subprocess
import time

from . import children, parts
from .children import Failure
from .plane import ReservedPort

ADMIN, PASSWORD = "admin", "a-password-of-the-test"
# The example of the documentation of NATS.
SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
PUBLIC = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
CONF = """server_name: node-{number}
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{folder}/store", max_memory_store: 256MB, max_file_store: 4GB }}
tls {{ cert_file: "{certificate}", key_file: "{key}", timeout: 10{first} }}
{access}
{cluster}
"""
USERS = f"""authorization {{ users: [ {{ user: {ADMIN}, password: "{PASSWORD}" }}, {{ nkey: {PUBLIC} }} ] }}"""
CLUSTER = """cluster {{ name: e2e, listen: "127.0.0.1:{port}", routes: [ {routes} ] }}"""


class Nats:
    """The servers; each can be killed and started again."""

    def __init__(self, folder, certificates, size=3, jwt=False, tls_first=False):
        self.folder, self.size, self.tls_first = folder, size, tls_first
        folder.mkdir(parents=True)
        self._access, self.creds = USERS, None
        if jwt:
            subprocess.run([parts.programs("nats")["nats-creds"], folder], check=True)
            self._access, self.creds = (folder / "operator.conf").read_text(), folder / "user.creds"
        self._program = parts.programs("nats")["nats-server"]
        self._certificates = certificates
        self._ports, self._routes = ([ReservedPort() for _ in range(size)] for _ in range(2))
        self._children = [None] * size
        self.ports = [reserved.number for reserved in self._ports]
        self.url = ",".join(f"tls://localhost:{port}" for port in self.ports)
        self._confs = [self._configure(number) for number in range(size)]

    def _configure(self, number):
        folder = self.folder / f"node-{number}"
        folder.mkdir(parents=True)
        routes = ", ".join(f'"nats://127.0.0.1:{reserved.number}"' for reserved in self._routes)
        cluster = CLUSTER.format(port=self._routes[number].number, routes=routes) if self.size > 1 else ""
        conf = folder / "nats.conf"
        conf.write_text(CONF.format(number=number, port=self.ports[number], folder=folder, access=self._access,
                                    first=", handshake_first: true" if self.tls_first else "", certificate=self._certificates.crt("nats"),
                                    key=self._certificates.key("nats"), cluster=cluster))
        return conf

    def start(self, number):
        for reserved in (self._ports[number], self._routes[number]):
            reserved.release()
        with open(self.folder / f"node-{number}" / "log", "a") as log:
            self._children[number] = children.start([self._program, "-c", self._confs[number]], stdout=log, stderr=log)

    def start_all(self):
        for number in range(self.size):
            self.start(number)

    def kill(self, number):
        if self._children[number]:
            self._children[number].kill()
            self._children[number].wait()

    def kill_all(self):
        for number in range(self.size):
            self.kill(number)

    def signal_all(self, number=signal.SIGSTOP):
        for child in self._children:
            child.send_signal(number)

    def client(self, seconds=60):
        """A client of any server, as soon as JetStream works there."""
        deadline = time.monotonic() + seconds
        while True:
            for port in self.ports:
                with contextlib.suppress(OSError, Failure):
                    client = Client(port, self._certificates.crt("ca"), self.tls_first, self.creds)
                    if "error" not in client.request("$JS.API.INFO"):
                        return client
                    client.close()
            if time.monotonic() > deadline:
                raise Failure(f"JetStream: not available after {seconds} s:\n{children.tail(self.folder / 'node-0' / 'log')}")
            time.sleep(0.2)


class Client:
    """One request at a time."""

    def __init__(self, port, ca, tls_first=False, creds=None, timeout=10):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        info = b"" if tls_first else self._read_info()
        self._socket = ssl.create_default_context(cafile=ca).wrap_socket(self._socket, server_hostname="localhost")
        info = info or self._read_info()
        self._file = self._socket.makefile("rb")
        self._inbox, self._number = f"_INBOX.test{id(self)}", 0
        options = {"verbose": False, "headers": True, "no_responders": True}
        options |= signed(creds, json.loads(info[5:])["nonce"]) if creds else {"user": ADMIN, "pass": PASSWORD}
        self._send(f"CONNECT {json.dumps(options)}\r\nSUB {self._inbox}.* 1\r\nPING\r\n")

    def close(self):
        self._socket.close()

    def _read_info(self):
        info = b""
        while not info.endswith(b"\n"):
            byte = self._socket.recv(1)
            if not byte:
                raise Failure("the server closed the connection")
            info += byte
        return info

    def _send(self, text):
        self._socket.sendall(text.encode())

    def _ask(self, subject, payload):
        self._number += 1
        self._send(f"PUB {subject} {self._inbox}.{self._number} {len(payload)}\r\n{payload}\r\n")

    def _next(self):
        """(headers, payload) of the next reply to the last request."""
        while line := self._file.readline():
            words = line.decode().split()
            if words[0] == "PING":
                self._send("PONG\r\n")
            elif words[0] == "-ERR":
                raise Failure(line.decode().strip())
            elif words[0] in ("MSG", "HMSG"):
                head = int(words[-2]) if words[0] == "HMSG" else 0
                body = self._file.read(int(words[-1]) + 2)[:-2]
                if words[1] == f"{self._inbox}.{self._number}":
                    return body[:head].decode(), body[head:]
        raise Failure("the server closed the connection")

    def request(self, subject, **payload):
        self._ask(subject, json.dumps(payload) if payload else "")
        headers, body = self._next()
        if headers.startswith("NATS/1.0 503"):
            raise Failure(f"no answer to {subject}")
        return json.loads(body)

    def make_stream(self, name, **config):
        made = self.request(f"$JS.API.STREAM.CREATE.{name}", name=name, **config)
        if "error" in made:
            raise Failure(f"stream {name}: {made['error']}")

    def update_stream(self, name, **config):
        changed = self.request(f"$JS.API.STREAM.UPDATE.{name}", name=name, **config)
        if "error" in changed:
            raise Failure(f"stream {name}: {changed['error']}")

    def count(self, name):
        return self.request(f"$JS.API.STREAM.INFO.{name}")["state"]["messages"]

    def messages(self, name):
        """All messages of a stream with allow_direct from which none was removed: {seq: (headers, record)}."""
        found, wanted = {}, self.count(name)
        while len(found) < wanted:
            self._ask(f"$JS.API.DIRECT.GET.{name}", json.dumps({"seq": len(found) + 1, "batch": 500}))
            while True:
                headers, body = self._next()
                fields = dict(line.split(": ", 1) for line in headers.split("\r\n")[1:] if line)
                if "Nats-Subject" not in fields:
                    break
                found[int(fields["Nats-Sequence"])] = fields, json.loads(body)
        return found


def signed(creds, nonce):
    """The members of CONNECT of a user with a .creds file, made without the code of informerd."""
    jwt, seed = re.findall(r"-----BEGIN [^\n]*\n(\S+)\n", creds.read_text())
    key = creds.parent / "client.key"
    # PKCS #8 of an Ed25519 key, and its 32 bytes, which follow two bytes in the seed.
    text = base64.b64encode(bytes.fromhex("302e020100300506032b657004220420") + base64.b32decode(seed + "======")[2:34])
    key.write_text(f"-----BEGIN PRIVATE KEY-----\n{text.decode()}\n-----END PRIVATE KEY-----\n")
    message = creds.parent / "nonce"
    message.write_text(nonce)
    signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", message],
                               check=True, capture_output=True).stdout
    return {"jwt": jwt, "sig": base64.urlsafe_b64encode(signature).decode().rstrip("=")}
