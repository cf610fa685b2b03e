"""A child process that prints changes as JSON lines: informerd, or the oracle.

A thread reads its output, so the child never waits for the test. Waiting is for events, with a deadline.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

from . import children, compare
from .children import Failure
from .service import conf_of

ANSWERS = ("STORE", "DONE")  # types of answers of a Holder

class Feed:
    """The events of a child as they arrive, and the state that results from them."""

    def __init__(self, name, command, log, parse, environment=()):
        self.name = name
        self.records = []  # in order of arrival
        self.events = []
        self.newest = 0  # reported version
        self._log = log
        self._news = threading.Condition()
        self._replica = compare.Replica()
        self._broken = self._line = None
        self._ended = False
        self._hears = threading.Event()
        self._hears.set()
        with open(log, "w") as messages:
            self._child = children.start(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages,
                env=os.environ | dict(environment))
        self._reader = threading.Thread(target=self._read, args=(parse,), daemon=True)
        self._reader.start()

    @property
    def state(self):
        return self._replica.state

    def wait(self, happened, seconds):
        """Waits until happened(), which is checked after each event. False: timed out."""
        with self._news:
            came = self._news.wait_for(lambda: self._ended or happened(), seconds)
            if self._ended and not happened():
                raise Failure(self.last_words())
            return came

    def wait_for_state(self, state, seconds):
        return self.wait(lambda: self.state == state, seconds)

    @contextlib.contextmanager
    def frozen(self):
        """The child is stopped (SIGSTOP) inside the block."""
        self._child.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._child.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def unread(self):
        """Its output is not read inside the block."""
        self._hears.clear()
        try:
            yield
        finally:
            self._hears.set()

    def most_memory(self):
        """Its peak memory so far, in bytes."""
        status = Path(f"/proc/{self._child.pid}/status").read_text()
        return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024

    def close(self):
        """Ends it; `events` is complete afterwards. Raises Failure if it failed."""
        ended_early = self._child.poll() is not None
        status = children.stop(self._child)
        self._reader.join()
        if self._broken or ended_early or status != 0:
            raise Failure(self.last_words())

    def kill(self):
        """Ends it without checking its status."""
        children.stop(self._child, seconds=1)

    def last_words(self):
        status = self._child.poll()
        how = "stopped talking" if status is None else f"ended with status {status}"
        return f"{self.name} {self._broken or how}; its log ends:\n{children.tail(self._log)}"

    def _read(self, parse):
        try:
            for event in parse(self._records()):
                with self._news:
                    self.events.append(event)
                    self.newest = max(self.newest, event.rv)
                    self._replica.apply(event)
                    self._news.notify_all()
        except (ValueError, KeyError, TypeError) as error:
            self._broken = f"printed an unexpected line ({error!r}): {self._line!r}"
        with self._news:
            self._ended = True
            self._news.notify_all()

    def own_log(self):
        """Its log."""
        return self._log.read_text(errors="replace")

    def _records(self):
        with open(self._log.with_suffix(".jsonl"), "wb") as copy:  # for --keep
            for self._line in self._child.stdout:
                self._hears.wait()
                copy.write(self._line)
                record = json.loads(self._line)
                self._received(record)
                yield record

    def _received(self, record):
        self.records.append(record)


class Informerd(Feed):
    def __init__(self, subject, kubeconfig, resource, selection, log):
        command = service_command if selection.metadata or selection.optional or selection.service else watch_command
        super().__init__("informerd", command(subject.binary, kubeconfig, resource, selection, log),
                         log, compare.from_informerd, subject.environment)


def watch_command(binary, kubeconfig, resource, selection, _):
    """`informerd watch`, where that is sufficient; with every attempt in its log."""
    where = ("-n", selection.namespace) if selection.namespace else ("-A",)
    labels = ("-l", selection.labels) if selection.labels else ()
    fields = ("--field-selector", selection.fields) if selection.fields else ()
    return [binary, "watch", "-v", "--every-update", selection.resource_name or resource, *where, *labels, *fields,
            "--kubeconfig", kubeconfig]


def service_command(binary, kubeconfig, resource, selection, log):
    """The daemon, with a conf file."""
    watch = {"resource": selection.resource_name or str(resource), "optional": selection.optional,
             "keep": "metadata" if selection.metadata else "all"}
    chosen = {"namespaces": [selection.namespace] if selection.namespace else None,
              "label_selector": selection.labels, "field_selector": selection.fields}
    watch |= {name: value for name, value in chosen.items() if value}
    return [binary, "-c", conf_of(log.with_suffix(""), kubeconfig, [watch], "stdout")]


class Holder(Feed):
    """A feed whose process answers commands, for example with the contents of its cache."""

    def __init__(self, name, command, log, parse, environment=()):
        self._answer = None
        super().__init__(name, command, log, parse, environment)

    def send_command(self, request):
        self._answer = None
        self._child.stdin.write(f"{request}\n".encode())
        self._child.stdin.flush()
        if not self.wait(lambda: self._answer, 30):
            raise Failure(f"{self.name} did not answer '{request}' within 30 s")
        return self._answer

    def _received(self, record):
        super()._received(record)
        if record["type"] in ANSWERS:
            with self._news:
                self._answer = record
                self._news.notify_all()


class Oracle(Holder):
    def __init__(self, program, kubeconfig, resource, selection, log, with_objects):
        command = [program, "--kubeconfig", kubeconfig, "--group", resource.group,
                   "--version", resource.version, "--resource", resource.name,
                   "--namespace", selection.namespace, "--labels", selection.labels,
                   "--fields", selection.fields, f"--metadata={selection.metadata}",
                   f"--objects={with_objects}"]
        super().__init__("oracle", command, log, compare.from_oracle)

    def store(self):
        """The contents of the informer's cache, not the state that results from its events."""
        return compare.from_store(self.send_command("store"))


class Follower(Holder):
    """The library without the daemon: see ../follower.c."""

    def __init__(self, subject, kubeconfig, resource, selection, log, **more):
        words = {"kubeconfig": kubeconfig, "resource": selection.resource_name or resource,
                 "namespace": selection.namespace, "labels": selection.labels, "fields": selection.fields,
                 "metadata": "yes" if selection.metadata else "",
                 "optional": "yes" if selection.optional else ""} | more
        command = [subject.follower, *(f"{name}={value}" for name, value in words.items())]
        super().__init__("follower", command, log, compare.from_informerd, subject.environment)

    def objects(self):
        """The objects in its store."""
        return self.send_command("store")["items"]

    def wait_until_held(self, state, seconds):
        """Waits until its store equals `state`, whatever its handler received."""
        children.until(lambda: compare.from_list(self.objects()) == state, seconds,
                       f"{self.name} holding what the server lists")
