"""Informerd as a service: with a conf file, a state directory and an event log, all of them still
there when it is started again.
"""

import json
import os
import signal

from . import children
from .children import Failure


def conf_of(folder, kubeconfig, watches, event_log):
    """Written as JSON, which is YAML. Returns the file; the state directory is beside it."""
    state, conf = folder / "state", folder / "informerd.conf"
    state.mkdir(parents=True)
    conf.write_text(json.dumps({
        "state_dir": str(state), "clusters": [{"name": "e2e", "kubeconfig": str(kubeconfig)}],
        "watches": watches, "event_logs": [{"path": str(event_log)}]}, indent=2))
    return conf


class Service:
    def __init__(self, subject, folder, kubeconfig, resources):
        self.log = folder / "events.jsonl"
        self._own_log = folder / "informerd.log"
        self._command = [subject.binary, "-c", conf_of(
            folder, kubeconfig, [{"resource": str(each)} for each in resources], self.log)]
        self._environment = os.environ | subject.environment
        self._child = None

    def start(self):
        with open(self._own_log, "a") as own_log:
            self._child = children.start(self._command, stdout=own_log, stderr=own_log,
                                         env=self._environment)

    @property
    def logged(self):
        """Bytes."""
        return self.log.stat().st_size if self.log.exists() else 0

    def kill(self):
        if self._child.poll() is not None:
            raise Failure(f"informerd ended with status {self._child.returncode}; its log ends:\n"
                          f"{children.tail(self._own_log)}")
        self._child.send_signal(signal.SIGKILL)
        self._child.wait()

    def stop(self):
        return children.stop(self._child) if self._child else None
