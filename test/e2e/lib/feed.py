"""A child process that tells changes as JSON lines: informerd, or the oracle.

A thread reads it, so it is never held up by us. Waiting is for events, with a deadline.
"""

import contextlib
import json
import os
import signal
import subprocess
import threading

from . import children, compare
from .children import Failure


class Feed:
    """Events as they are told, and the state that follows from them."""

    def __init__(self, name, command, log, understand, environment=()):
        self.name = name
        self.events = []
        self._log = log
        self._news = threading.Condition()
        self._replica = compare.Replica()
        self._broken = self._line = None
        self._ended = False
        with open(log, "w") as messages:
            self._child = children.start(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages,
                env=os.environ | dict(environment))
        self._reader = threading.Thread(target=self._read, args=(understand,), daemon=True)
        self._reader.start()

    @property
    def state(self):
        return self._replica.state

    def wait(self, happened, seconds):
        """Wait until happened(), which is asked after each event; False when time ran out."""
        with self._news:
            came = self._news.wait_for(lambda: self._ended or happened(), seconds)
            if self._ended and not happened():
                raise Failure(self.last_words())
            return came

    def wait_for_state(self, state, seconds):
        return self.wait(lambda: self.state == state, seconds)

    @contextlib.contextmanager
    def frozen(self):
        """Not scheduled for a while, as on a busy machine: what happens meanwhile it can't see."""
        self._child.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._child.send_signal(signal.SIGCONT)

    def close(self):
        """End it; all it said is in events afterwards. Fails unless it ended well."""
        ended_early = self._child.poll() is not None
        status = children.stop(self._child)
        self._reader.join()
        if self._broken or ended_early or status != 0:
            raise Failure(self.last_words())

    def kill(self):
        """For the way out, when nobody wants to know how it ended."""
        children.stop(self._child, seconds=1)

    def last_words(self):
        status = self._child.poll()
        how = "stopped talking" if status is None else f"ended with status {status}"
        return f"{self.name} {self._broken or how}; its log ends:\n{children.tail(self._log)}"

    def _read(self, understand):
        try:
            for event in understand(self._records()):
                with self._news:
                    self.events.append(event)
                    self._replica.apply(event)
                    self._news.notify_all()
        except (ValueError, KeyError, TypeError) as error:
            self._broken = f"said what we don't understand ({error!r}): {self._line!r}"
        with self._news:
            self._ended = True
            self._news.notify_all()

    def _records(self):
        with open(self._log.with_suffix(".jsonl"), "wb") as copy:  # for readers of a kept folder
            for self._line in self._child.stdout:
                copy.write(self._line)
                record = json.loads(self._line)
                self._heard(record)
                yield record

    def _heard(self, record):
        pass


class Informerd(Feed):
    def __init__(self, binary, kubeconfig, log, environment=()):
        command = [binary, "watch", "pods", "-A", "--kubeconfig", kubeconfig, "-o", "jsonl"]
        super().__init__("informerd", command, log, compare.from_informerd, environment)


class Oracle(Feed):
    def __init__(self, binary, kubeconfig, log):
        self._store = None
        command = [binary, "--kubeconfig", kubeconfig, "--resource", "pods"]
        super().__init__("oracle", command, log, compare.from_oracle)

    def store(self):
        """What its store holds now: the informer's own cache, not what follows from its events."""
        self._store = None
        self._child.stdin.write(b"store\n")
        self._child.stdin.flush()
        if not self.wait(lambda: self._store, 10):
            raise Failure("the oracle did not show its store within 10 s")
        return compare.from_store(self._store)

    def _heard(self, record):
        if record["type"] == "STORE":
            with self._news:
                self._store = record
                self._news.notify_all()
