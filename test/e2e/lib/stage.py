"""One run of a scenario: informerd and the oracle side by side, and the account at the end."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from . import children, compare
from .feed import Informerd, Oracle
from .history import History
from .pods import Pods


RECONNECT, EXPIRED = "trying again in", "(410 Expired)"  # as informerd's log says it


class Subject(NamedTuple):
    """What is under test, and how long it may take to catch up."""

    binary: Path
    environment: dict
    patience: int  # seconds


class Load(NamedTuple):
    seed: int
    rate: int  # writes a second
    seconds: int


class Absence(NamedTuple):
    """Of the API server."""

    begin: int  # length of informerd's log
    mentioned: str  # in that log, from then on


@dataclass
class Outcome:
    ours: int
    theirs: int
    equal_after: float | None  # seconds after the last write; None: never
    verdict: compare.Verdict
    log: str  # the end of informerd's own log, for when the verdict is bad


class Stage:
    def __init__(self, plane, binaries, subject, load):
        self.plane = plane
        self.load = load
        self.pods = Pods(plane.admin)
        self._binaries = binaries
        self._subject = subject
        self._ours = self._oracle = self._history = None
        self._absences = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for feed in filter(None, (self._ours, self._oracle)):
            feed.kill()

    def watch(self, user):
        """Start both watchers with the same credentials."""
        kubeconfig, folder = self.plane.kubeconfigs[user], self.plane.folder
        self._oracle = Oracle(self._binaries / "oracle", kubeconfig, folder / "oracle.log")
        self._ours = Informerd(self._subject.binary, kubeconfig, folder / "informerd.log",
                               self._subject.environment)

    def watch_interrupted(self, user):
        """The same, with a record of what happens, because interrupt() will be called."""
        self._history = History(self.plane.etcd_url)
        self.watch(user)

    def interrupt(self, leave, then):
        """Let the API server leave in the given way, bring it back, and write the moment it is
        back: whether the watchers are there sooner is left to chance.
        """
        self._absences.append(Absence(len(self._log()), RECONNECT))
        leave()
        self.plane.start_apiserver()
        then()

    def interrupt_unseen(self, leave, then):
        """The same without chance: what is written the watchers don't see, and what they hold is
        too old to go on from.
        """
        self.pods.make_namespace(f"newer-than-{len(self.pods.written)}-writes")  # than every pod
        self.plane.compact()
        with self._ours.frozen(), self._oracle.frozen():
            self.interrupt(leave, then)
        self._absences[-1] = self._absences[-1]._replace(mentioned=EXPIRED)

    def catch_up(self):
        """Wait until both watchers hold what the server lists.

        Returns the list, and how many seconds informerd took. Not to catch up in time is no error
        here: the account will say who holds what.
        """
        began = time.monotonic()
        listed = self.pods.list()
        equal = self._ours.wait_for_state(listed, self._subject.patience)
        seconds = time.monotonic() - began
        self._oracle.wait_for_state(listed, self._subject.patience)
        return listed, seconds if equal else None

    def account(self):
        """At rest: compare what was told, what is held, and what is there."""
        listed, equal_after = self.catch_up()
        states = {"informerd": self._ours.state, "the oracle": self._oracle.state,
                  "the oracle's store": self._oracle.store()}
        self._ours.close()
        self._oracle.close()
        verdict = self._judge(listed)
        for who, state in states.items():
            verdict.findings += compare.different_states(who, state, listed)
        return Outcome(len(self._ours.events), len(self._oracle.events), equal_after, verdict,
                       children.tail(self.plane.folder / "informerd.log", 10))

    def _judge(self, listed):
        ours, theirs, written = self._ours.events, self._oracle.events, self.pods.written
        if not self._history:
            verdict = compare.judge(ours, theirs)
            verdict.findings += compare.unseen(written, theirs)
            return verdict
        self._history.wait_for_state(listed, 10)
        happened = self._history.events
        verdict = compare.judge_interrupted(ours, happened)
        verdict.findings += compare.false_witness(written, theirs, happened)
        verdict.findings += self._unmentioned()
        return verdict

    def _unmentioned(self):
        """What informerd's log should say of the server's absences, each before the next one."""
        log, ends = self._log(), [absence.begin for absence in self._absences[1:]] + [None]
        return [f"absence {number} of the API server: informerd's log does not say '{words}'"
                for number, ((begin, words), end) in enumerate(zip(self._absences, ends), 1)
                if words not in log[begin:end]]

    def _log(self):
        return (self.plane.folder / "informerd.log").read_text(errors="replace")
