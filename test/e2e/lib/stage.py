"""One run of a scenario: watchers for each kind of objects, and the account at the end."""

import contextlib
import time
from pathlib import Path
from typing import NamedTuple

from . import children, compare, service
from .feed import Feed, Follower
from .history import History
from .objects import Objects, Pods
from .pair import Outcome, Pair
from .resource import ALL, PODS


RECONNECT, EXPIRED = "retrying in", "(410 Expired)"  # as informerd's log says it


class Subject(NamedTuple):
    """What is under test, and how long it may take to catch up."""

    binary: Path
    follower: Path  # the library's
    environment: dict
    patience: int  # seconds
    is_wrong: bool = False  # on purpose: once that shows, we have seen enough


class Caught(Exception):
    """One that is wrong on purpose is seen to be: the scenario is over."""


class Load(NamedTuple):
    seed: int
    rate: int  # writes a second
    seconds: int


class Absence(NamedTuple):
    """Of the API server, or of the way to it."""

    begin: int  # length of informerd's log
    mentioned: str  # in that log, from then on


class Stage:
    def __init__(self, plane, programs, subject, load):
        self.plane = plane
        self.load = load
        self.pods = Pods(plane.admin)
        self._objects = {PODS: self.pods}
        self._programs = programs
        self.subject = subject
        self._pairs = []
        self._absences = []
        self._complaints = []
        self._outcome = Outcome()
        self._open = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pair in self._pairs:
            pair.kill()
        self._open.close()

    def enter(self, context):
        """What a scenario needs until the account is made: a proxy, a kubelet."""
        return self._open.enter_context(context)

    @property
    def patience(self):
        """Seconds that who is under test may take to catch up."""
        return self.subject.patience

    # -- the cluster

    def make_namespace(self, name):
        self.plane.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})

    def objects(self, resource):
        """What writes that kind, and keeps its ledger."""
        if resource not in self._objects:
            self._objects[resource] = Objects(self.plane.admin, resource)
        return self._objects[resource]

    @property
    def writes(self):
        return sum(len(objects.written) for objects in self._objects.values())

    # -- the watchers

    def watch(self, user, resources=(PODS,), asked=ALL, name="", interrupted=False,
              contents=False, through=None, theirs=None):
        """Start both watchers for each kind, with the same credentials.

        Name: of this watch, if it is not the only one of its kind.
        Contents: the oracle is to tell whole objects, for contents().
        Interrupted: with a record of what happens, because one of them will miss something.
        Through: a port, of a proxy that informerd has to go through; the oracle does not.
        Theirs: who the oracle is, if it is to be somebody else.
        """
        ours = self.plane.kubeconfig(user, through)
        for resource in resources:
            history = None
            if interrupted:
                history = History(self.plane.etcd_url, resource, asked.namespace)
            pair = Pair(name or resource.name, self.objects(resource), asked, history, contents)
            self._pairs.append(pair)
            pair.start(self.plane.folder / pair.name, self._programs, self.subject, ours,
                       self.plane.kubeconfig(theirs or user))

    def told(self, name):
        """What informerd said so far, of the kind or watch of that name."""
        return self._pair(name).events

    def readiness(self, name):
        """Whether informerd says that it is ready, and how the watch is; of one with a conf."""
        return service.readiness(self.plane.folder / name / "informerd")

    def records(self, name):
        """The same as it said it, with what it said of itself."""
        return self._pair(name).records

    def witnessed(self, name):
        """What the oracle was told so far, in informerd's words."""
        return self._pair(name).witnessed

    def contents(self, name):
        """The objects, by uid and version, as the oracle was told them."""
        return self._pair(name).contents

    def wait_until_told(self):
        """Wait until informerd has told the last write of each kind that the server answered."""
        for pair in self._pairs:
            written = [event for event in pair.objects.written if event.final]
            if written and not pair.wait_until_told(written[-1], self.subject.patience):
                self.complain(f"{pair.name}: informerd does not tell {written[-1]}")

    def wait_until_mentioned(self, words, seconds):
        """Wait until all informerds' logs say that, since expect_mentioned() was last called."""
        def mentioned():
            return all(words in pair.own_log[absence.begin:]
                       for pair, absence in self._absences[-1].items())
        children.until(mentioned, seconds, f"'{words}' in informerd's log")

    def mentions(self, words):
        """How often the informerds' logs say that."""
        return sum(pair.own_log.count(words) for pair in self._pairs)

    def relists(self):
        """How often one of the informerds said so."""
        return sum(pair.relists for pair in self._pairs)

    def deaf(self):
        """Nobody reads what the informerds say, while this lasts."""
        stack = contextlib.ExitStack()
        for pair in self._pairs:
            stack.enter_context(pair.deaf())
        return stack

    def most_memory(self):
        """The most that one of the informerds has had, in bytes."""
        return max(pair.most_memory for pair in self._pairs)

    def _pair(self, name):
        return next(pair for pair in self._pairs if pair.name == name)

    def interrupt(self, leave, then):
        """Let the API server leave in the given way, bring it back, and write the moment it is
        back: whether the watchers are there sooner is left to chance.
        """
        self.expect_mentioned(RECONNECT)
        leave()
        self.plane.start_apiserver()
        then()

    def compact(self):
        """Make etcd forget what happened up to now; who records it has recorded it."""
        for pair in self._pairs:
            pair.record_all()
        self.plane.compact()

    def interrupt_unseen(self, leave, then):
        """The same without chance: what is written the watchers don't see, and what they hold is
        too old to go on from.
        """
        self.make_namespace(f"newer-than-{self.writes}-writes")  # than every object
        self.compact()
        with contextlib.ExitStack() as frozen:
            for pair in self._pairs:
                frozen.enter_context(pair.frozen())
            self.interrupt(leave, then)
        self._absences[-1] = {pair: absence._replace(mentioned=EXPIRED)
                              for pair, absence in self._absences[-1].items()}

    def expect_mentioned(self, words):
        """From now on until this is called again, every informerd's log has to say that."""
        self._absences.append({pair: Absence(len(pair.own_log), words) for pair in self._pairs})

    def catch_up(self):
        """Wait until all watchers hold what the server lists. If they don't, account() says so."""
        caught_up = self._caught_up(self.subject.patience)
        if self.subject.is_wrong and any(
                equal_after is None or pair.findings(listed)
                for pair, (listed, equal_after) in caught_up.items()):
            raise Caught

    def _caught_up(self, patience):
        """For each pair the list, and how many seconds informerd took to hold it, or None."""
        caught = {}
        for pair in self._pairs:
            began = time.monotonic()
            listed = pair.list()
            equal = pair.catch_up(listed, patience)
            caught[pair] = listed, time.monotonic() - began if equal else None
        return caught

    def follow(self, kubeconfig, resource, name, **more):
        """A follower of its own, maybe by a way of its own. Its end is the scenario's business."""
        follower = Follower(self.subject, kubeconfig, resource, ALL,
                            self.plane.folder / f"follower-{name}.log", **more)
        self._open.callback(follower.kill)
        return follower

    def informerd(self, name, arguments, environment):
        """One of its own, by a way of its own. Its end is the scenario's business."""
        feed = Feed(f"informerd {name}", [self.subject.binary, *arguments],
                    self.plane.folder / f"{name}.log", compare.from_informerd,
                    self.subject.environment | environment)
        self._open.callback(feed.kill)
        return feed

    def service(self, user, resources):
        """Informerd as a service, not started. When it is, and ends, is the scenario's business."""
        made = service.Service(self.subject, self.plane.folder / "service",
                               self.plane.kubeconfig(user), resources)
        self._open.callback(made.stop)
        return made

    def different_from_list(self, who, state, resource):
        """Where what somebody holds is not what the server lists."""
        return compare.different_states(who, state, self.objects(resource).list())

    # -- the end

    def complain(self, text):
        """What a scenario itself finds wrong with informerd."""
        self._complaints.append(text)

    def note_told(self, events):
        """For the report: to others than the pairs."""
        self._outcome.ours += events

    def note_equal(self, seconds):
        """For the report: how long others than the pairs took to be equal."""
        self._outcome.equal_after = max(self._outcome.equal_after, seconds)

    def account(self, caught=False):
        """At rest: compare what was told, what is held, and what is there, kind by kind."""
        outcome = self._outcome
        outcome.verdict.findings += self._complaints
        caught_up = self._caught_up(0 if caught else self.subject.patience)
        for pair, (listed, equal_after) in caught_up.items():
            of_kind = pair.account(listed, equal_after)
            of_kind.verdict.findings += self._unmentioned(pair)
            if of_kind.verdict.findings:
                end = children.indented_end(pair.own_log, 10)
                of_kind.verdict.findings.append(f"{pair.name} informerd's log ends:\n{end}")
            outcome.add(of_kind)
        return outcome

    def _unmentioned(self, pair):
        """What informerd's log should say of the server's absences, each before the next one."""
        log, absences = pair.own_log, [absences[pair] for absences in self._absences]
        ends = [absence.begin for absence in absences[1:]] + [None]
        return [f"absence {number} of the API server: informerd's log does not say '{words}'"
                for number, ((begin, words), end) in enumerate(zip(absences, ends), 1)
                if words not in log[begin:end]]
