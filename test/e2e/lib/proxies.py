"""The proxies that people have, from Debian: tinyproxy for HTTP, stunnel before it for https,
microsocks for SOCKS5. Each is a context, which gives the port on loopback where it listens.
"""

import contextlib
import socket
import subprocess

from . import children
from .children import Failure

TINYPROXY = """
Port {port}
Listen 127.0.0.1
Allow 127.0.0.1
Timeout 600
LogLevel Connect
LogFile "{folder}/tinyproxy.log"
ConnectPort {allowed}
"""
STUNNEL = """
foreground = yes
pid =
output = {folder}/stunnel.log
[proxy]
accept = 127.0.0.1:{port}
connect = 127.0.0.1:{inner}
cert = {crt}
key = {key}
"""
TOOLS = {"tinyproxy": "tinyproxy-bin", "stunnel4": "stunnel4", "microsocks": "microsocks"}


@contextlib.contextmanager
def tinyproxy(folder, allowed):
    """Lets people connect to that port, and to no other."""
    def command(port):
        return ["tinyproxy", "-d", "-c", write(folder / "tinyproxy.conf", TINYPROXY, port=port,
                                               folder=folder, allowed=allowed)]
    with started(command) as port:
        yield port


@contextlib.contextmanager
def stunnel(folder, inner, crt, key):
    """TLS for whoever is at that port."""
    def command(port):
        return ["stunnel4", write(folder / "stunnel.conf", STUNNEL, port=port, folder=folder,
                                  inner=inner, crt=crt, key=key)]
    with started(command) as port:
        yield port


@contextlib.contextmanager
def microsocks(*login):
    """For whoever has that user and password, if they are given."""
    words = [word for pair in zip(("-u", "-P"), login) for word in pair]
    command = ["microsocks", "-i", "127.0.0.1", *words, "-p"]
    with started(lambda port: [*command, str(port)]) as port:
        yield port


def write(path, text, **values):
    path.write_text(text.format(**values))
    return path


@contextlib.contextmanager
def started(command, tries=5):
    """On a port that was free a moment ago; if somebody was faster, on another one."""
    for _ in range(tries):
        port = free_port()
        child = children.start(command(port), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            children.until(lambda: child.poll() is not None or listens(port), 10, command(port)[0])
            if child.poll() is None:
                yield port
                return
        finally:
            children.stop(child, seconds=2)
    raise Failure(f"{command(0)[0]} does not start")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
