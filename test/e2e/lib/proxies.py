"""Common proxies from Debian's packages: HTTP CONNECT, the same over TLS, SOCKS5.

    with HttpProxy(folder, "plain") as proxy:
        proxy.url       # http://127.41.3.9:40001
        proxy.kill()    # cuts all connections through it
        proxy.start()   # again at the same address

Each has its own loopback address, so that its port is not taken while it is down.
"""

import random
import signal
import socket
from urllib.parse import quote

from . import children
from .children import Failure

TOOLS = {"tinyproxy": "tinyproxy-bin", "microsocks": "microsocks", "stunnel4": "stunnel4"}
USER = "reader"


class Middle:
    """A program that listens on an address, with a log."""

    scheme = "http"
    password = "s3cretpass"

    def __init__(self, folder, name, login=False, address=None):
        self.address = address or f"127.{random.randint(1, 254)}.{random.randint(0, 255)}.9"
        self.port = free_port(self.address)
        self.log = folder / f"{name}.proxy.log"
        self._folder, self._name, self._login = folder, name, login
        self._child = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        children.stop(self._child, seconds=2)

    def start(self):
        command = self._command()
        with open(self.log, "a") as log:
            self._child = children.start(command, stdout=log, stderr=log)
        children.until(self._is_there, 10, f"{command[0]} listening")

    def kill(self):
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()

    @property
    def url(self):
        return self.url_with(self.password) if self._login else self.url_with(None)

    def url_with(self, password):
        login = f"{USER}:{quote(password, safe='')}@" if password else ""
        return f"{self.scheme}://{login}{self.place}"

    @property
    def place(self):
        return f"{self.address}:{self.port}"

    def mentions(self, words):
        return words in self.log.read_text(errors="replace")

    def _is_there(self):
        if self._child.poll() is not None:
            raise Failure(f"it ended; its log ends:\n{children.tail(self.log)}")
        with socket.socket() as probe:
            return probe.connect_ex((self.address, self.port)) == 0

    def _conf(self, text):
        path = self._folder / f"{self._name}.proxy.conf"
        path.write_text(text)
        return path


class HttpProxy(Middle):
    """Connects to any port, or only to one."""

    def __init__(self, folder, name, login=False, only=None):
        super().__init__(folder, name, login)
        self._only = only

    def _command(self):
        login = f"BasicAuth {USER} {self.password}\n" if self._login else ""
        only = f"ConnectPort {self._only}\n" if self._only else ""
        return ["tinyproxy", "-d", "-c", self._conf(
            f"Listen {self.address}\nPort {self.port}\nAllow 127.0.0.0/8\nLogLevel Connect\n"
            f"{login}{only}")]


class SocksProxy(Middle):
    scheme = "socks5"
    password = "s3cret/p@ss:word"  # must be escaped in a URL

    def _command(self):
        login = ["-u", USER, "-P", self.password] if self._login else []
        return ["microsocks", "-i", self.address, "-p", self.port, *login]


class HttpsProxy(Middle):
    """An HTTP proxy behind TLS. Its certificate is valid for 127.0.0.1."""

    scheme = "https"

    def __init__(self, folder, name, behind, crt, key):
        super().__init__(folder, name, address="127.0.0.1")
        self._behind, self._crt, self._key = behind, crt, key

    def _command(self):
        return ["stunnel4", self._conf(
            f"foreground = yes\npid =\n[proxy]\naccept = {self.place}\n"
            f"connect = {self._behind.place}\ncert = {self._crt}\nkey = {self._key}\n")]


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]
