"""informerd and the oracle on one kind of objects, and the comparison of their events.

A third watcher is the library without the daemon: its store must equal the server's list in every
field.
"""

import contextlib
import time
from dataclasses import dataclass, field

from . import compare
from .compare import Verdict
from .feed import Follower, Informerd, Oracle


@dataclass
class Outcome:
    ours: int = 0
    theirs: int = 0
    equal_after: float | None = 0  # seconds after the last write; None: never
    verdict: Verdict = field(default_factory=Verdict)

    def add(self, other):
        """Adds the outcome of another kind."""
        self.ours += other.ours
        self.theirs += other.theirs
        times = self.equal_after, other.equal_after
        self.equal_after = None if None in times else max(times)
        self.verdict.add(other.verdict)


class Pair:
    def __init__(self, name, objects, selection, history, with_contents):
        self.name = name
        self.objects = objects
        self._selection = selection
        self._history = history  # None: no watcher is interrupted
        self._with_contents = with_contents
        self._ours = self._oracle = self._follower = None

    @property
    def resource(self):
        return self.objects.resource

    def list(self):
        """The server's list of the watched objects."""
        return self.objects.list(self._selection)

    def start(self, folder, programs, subject, kubeconfig, theirs):
        """`theirs` is the kubeconfig of the oracle, which does not use the proxies of informerd."""
        folder.mkdir()
        what = self.resource, self._selection
        self._oracle = Oracle(programs["oracle"], theirs, *what, folder / "oracle.log",
                              self._with_contents)
        self._ours = Informerd(subject, kubeconfig, *what, folder / "informerd.log")
        self._follower = Follower(subject, kubeconfig, *what, folder / "follower.log")

    @property
    def events(self):
        """The events of informerd so far."""
        return self._ours.events

    @property
    def oracle_events(self):
        return self._oracle.events

    @property
    def records(self):
        return self._ours.records

    @property
    def relists(self):
        """The number of RELIST records of informerd."""
        return sum(record["type"] == "RELIST" for record in self._ours.records)

    @property
    def most_memory(self):
        return self._ours.most_memory()

    def unread(self):
        return self._ours.unread()

    def wait_until_reported(self, event, timeout):
        """Waits for this event or a later one."""
        return self._ours.wait(lambda: self._ours.newest >= event.rv, timeout)

    @property
    def contents(self):
        """Objects by uid and version, from the oracle."""
        return {(record["uid"], int(record["rv"])): record["object"]
                for record in self._oracle.records if "object" in record}

    @property
    def own_log(self):
        """The log of informerd."""
        return self._ours.own_log()

    def kill(self):
        for feed in self._feeds:
            feed.kill()

    @property
    def _feeds(self):
        return [feed for feed in (self._ours, self._oracle, self._follower) if feed]

    @contextlib.contextmanager
    def frozen(self):
        with contextlib.ExitStack() as stack:
            for feed in self._feeds:
                stack.enter_context(feed.frozen())
            yield

    def catch_up(self, listed, timeout):
        """Whether informerd caught up. If not, account() reports the differences."""
        deadline = time.monotonic() + timeout
        return [feed.wait_for_state(listed, max(0, deadline - time.monotonic()))
                for feed in self._feeds][0]

    def findings(self, listed):
        """The differences so far; empty unless all watchers are idle.

        An object that was created and deleted leaves the state as it was before: its versions must have been seen, too.
        With a selector it is unknown which of them are.
        """
        newest = 0 if self._selection.selects else max((event.rv for event in self.objects.written), default=0)
        if any(feed.state != listed or feed.newest < newest for feed in self._feeds):
            return []
        return self._compare(listed).findings + compare.record_faults(self._ours.records)

    def account(self, listed, equal_after):
        """When all are idle: compares events, caches and the server's list."""
        states = {"informerd": self._ours.state, "the oracle": self._oracle.state,
                  "the oracle's store": self._oracle.store()}
        held = self._follower.objects()
        for feed in self._feeds:
            feed.close()
        verdict = self._compare(listed)
        different = compare.different_objects(held, self.objects.items(self._selection))
        verdict.findings += compare.shortened(different)
        for feed in (self._ours, self._follower):
            verdict.findings += compare.record_faults(feed.records)
        for watcher, state in states.items():
            verdict.findings += compare.different_states(watcher, state, listed)
        verdict.findings = [f"{self.name} {finding}" for finding in verdict.findings]
        return Outcome(len(self._ours.events), len(self._oracle.events), equal_after, verdict)

    def record_all(self):
        """Records the history up to now, before etcd is compacted."""
        if self._history:
            self._history.catch_up(10)

    def _compare(self, listed):
        ours, theirs, written = self._ours.events, self._oracle.events, self.objects.written
        if not self._history:
            verdict = compare.compare_events(ours, theirs)
            if not self._selection.selects:  # with a selector it is unknown which events to expect
                verdict.findings += compare.unseen(written, theirs)
            return verdict
        self._history.wait_for_state(listed, 10)
        happened = self._history.events
        verdict = compare.compare_with_history(ours, happened)
        verdict.findings += compare.missing_in_history(written, theirs, happened)
        return verdict
