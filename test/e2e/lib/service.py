"""informerd as a service, with a configuration file, a state directory and an event log that are kept
across restarts.
"""

import http.client
import json
import os
import signal
import socket

from . import children
from .children import Failure

SOCKET = "informerd.sock"


def conf_of(folder, kubeconfig, watches, event_log, log_options=None, top=None, **cluster):
    """Writes a configuration as JSON, which is YAML. State directory and socket are next to it.
    `top` adds sections, `cluster` options of the cluster. Every update is reported, as by the oracle.
    """
    state, conf = folder / "state", folder / "informerd.conf"
    state.mkdir(parents=True)
    conf.write_text(json.dumps((top or {}) | {
        "state_dir": str(state), "socket": {"path": str(folder / SOCKET)},
        "clusters": [{"name": "e2e", "kubeconfig": str(kubeconfig)} | cluster],
        "watches": [{"ignore": []} | watch for watch in watches], "event_logs": [{"path": str(event_log)} | (log_options or {})]},
        indent=2))
    return conf


class ByPath(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.host)


def readiness(folder):
    """Whether the service in that folder is ready, and the status of its watches."""
    connection = ByPath(str(folder / SOCKET))
    try:
        connection.request("GET", "/readyz?verbose", headers={"Host": "informerd"})
        answer = connection.getresponse()
        return answer.status == 200, answer.read().decode()
    finally:
        connection.close()


class Service:
    def __init__(self, subject, folder, kubeconfig, resources, log_options=None, top=None, **cluster):
        self.folder = folder
        self.log = folder / "events.jsonl"
        self._own_log = folder / "informerd.log"
        self._command = [subject.binary, "-c", conf_of(
            folder, kubeconfig, [each if isinstance(each, dict) else {"resource": str(each)} for each in resources],
            self.log, log_options, top, **cluster)]
        self._environment = os.environ | subject.environment
        self._child = None

    def start(self):
        with open(self._own_log, "a") as own_log:
            self._child = children.start(self._command, stdout=own_log, stderr=own_log,
                                         env=self._environment)

    @property
    def logged(self):
        """Size of the event log in bytes."""
        return self.log.stat().st_size if self.log.exists() else 0

    def kill(self):
        if self._child.poll() is not None:
            raise Failure(f"informerd ended with status {self._child.returncode}; its log ends:\n"
                          f"{children.tail(self._own_log)}")
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()

    def signal(self, number):
        self._child.send_signal(number)

    def stop(self):
        return children.stop(self._child) if self._child else None
