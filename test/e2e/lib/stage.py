"""One run of a scenario: watchers for each kind of objects, and the comparison at the end."""

import contextlib
import time
from pathlib import Path
from typing import NamedTuple

from . import children, compare, service
from .feed import Feed, Follower, Oracle
from .history import History
from .objects import Objects, Pods
from .pair import Outcome, Pair
from .resource import ALL, PODS


RECONNECT, EXPIRED = "retrying in", "(410 Expired)"  # text in informerd's log


class Subject(NamedTuple):
    """The program under test, and how long it may take to catch up."""

    binary: Path
    follower: Path  # the library's
    environment: dict
    timeout: int  # seconds
    is_wrong: bool = False  # a mutant: the scenario ends when it is detected


class Caught(Exception):
    """A mutant was detected: the scenario ends."""


class Load(NamedTuple):
    seed: int
    rate: int  # writes per second
    seconds: int


class Absence(NamedTuple):
    """An outage of the API server, or of the way to it."""

    begin: int  # length of informerd's log
    mentioned: str  # expected in that log, from then on


class Stage:
    def __init__(self, plane, programs, subject, load):
        self.plane = plane
        self.load = load
        self.pods = Pods(plane.admin)
        self._objects = {PODS: self.pods}
        self.programs = programs
        self.subject = subject
        self._pairs = []
        self._absences = []
        self._failures = []
        self._outcome = Outcome()
        self._open = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pair in self._pairs:
            pair.kill()
        self._open.close()

    def enter(self, context):
        """Keeps something open until the comparison: a proxy, a kubelet."""
        return self._open.enter_context(context)

    @property
    def timeout(self):
        """Seconds that the program under test may take to catch up."""
        return self.subject.timeout

    # -- the cluster

    def make_namespace(self, name):
        self.plane.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})

    def objects(self, resource):
        """Writes objects of that kind and records the writes."""
        if resource not in self._objects:
            self._objects[resource] = Objects(self.plane.admin, resource)
        return self._objects[resource]

    @property
    def writes(self):
        return sum(len(objects.written) for objects in self._objects.values())

    # -- the watchers

    def watch(self, user, resources=(PODS,), selection=ALL, name="", interrupted=False,
              contents=False, through=None, theirs=None):
        """Start both watchers for each kind, with the same credentials.

        Name: of this watch, if it is not the only one of its kind.
        Contents: the oracle prints whole objects, for contents().
        Interrupted: records etcd's history, because a watcher may miss events.
        Through: port of a proxy for informerd; the oracle connects directly.
        Theirs: the user of the oracle, if it is another one.
        """
        ours = self.plane.kubeconfig(user, through)
        for resource in resources:
            history = None
            if interrupted:
                history = History(self.plane.etcd_url, resource, selection.namespace)
            pair = Pair(name or resource.name, self.objects(resource), selection, history, contents)
            self._pairs.append(pair)
            pair.start(self.plane.folder / pair.name, self.programs, self.subject, ours,
                       self.plane.kubeconfig(theirs or user))

    def events(self, name):
        """The events of informerd so far, of the kind or watch of that name."""
        return self._pair(name).events

    def readiness(self, name):
        """Whether informerd is ready, and the status of its watches; only with a configuration file."""
        return service.readiness(self.plane.folder / name / "informerd")

    def records(self, name):
        """All records of informerd, including those about the daemon."""
        return self._pair(name).records

    def oracle_events(self, name):
        """The events of the oracle so far, as informerd would report them."""
        return self._pair(name).oracle_events

    def contents(self, name):
        """Objects by uid and version, from the oracle."""
        return self._pair(name).contents

    def wait_until_reported(self):
        """Waits until informerd has reported the last confirmed write of each kind."""
        for pair in self._pairs:
            written = [event for event in pair.objects.written if event.final]
            if written and not pair.wait_until_reported(written[-1], self.subject.timeout):
                self.complain(f"{pair.name}: informerd does not report {written[-1]}")

    def wait_until_mentioned(self, words, seconds):
        """Waits until the logs of all informerds contain that, since the last expect_mentioned()."""
        def mentioned():
            return all(words in pair.own_log[absence.begin:]
                       for pair, absence in self._absences[-1].items())
        children.until(mentioned, seconds, f"'{words}' in informerd's log")

    def mentions(self, words):
        """The number of occurrences in the logs of all informerds."""
        return sum(pair.own_log.count(words) for pair in self._pairs)

    def relists(self):
        """The number of RELIST records of all informerds."""
        return sum(pair.relists for pair in self._pairs)

    def unread(self):
        """The output of the informerds is not read inside the block."""
        stack = contextlib.ExitStack()
        for pair in self._pairs:
            stack.enter_context(pair.unread())
        return stack

    def most_memory(self):
        """The highest peak memory of an informerd, in bytes."""
        return max(pair.most_memory for pair in self._pairs)

    def _pair(self, name):
        return next(pair for pair in self._pairs if pair.name == name)

    def interrupt(self, leave, then):
        """Stops the API server with leave(), starts it again and calls then() immediately. Whether the
        watchers reconnect before the writes is not determined.
        """
        self.expect_mentioned(RECONNECT)
        leave()
        self.plane.start_apiserver()
        then()

    def compact(self):
        """Compacts etcd, after the history was recorded."""
        for pair in self._pairs:
            pair.record_all()
        self.plane.compact()

    def interrupt_unseen(self, leave, then):
        """The same, but the watchers are stopped during the writes, and their version has expired
        afterwards.
        """
        self.make_namespace(f"newer-than-{self.writes}-writes")  # newer than every object
        self.compact()
        with contextlib.ExitStack() as frozen:
            for pair in self._pairs:
                frozen.enter_context(pair.frozen())
            self.interrupt(leave, then)
        self._absences[-1] = {pair: absence._replace(mentioned=EXPIRED)
                              for pair, absence in self._absences[-1].items()}

    def expect_mentioned(self, words):
        """From now on until the next call, the log of every informerd must contain that."""
        self._absences.append({pair: Absence(len(pair.own_log), words) for pair in self._pairs})

    def catch_up(self):
        """Waits until all caches equal the server's list. If not, account() reports it."""
        caught_up = self._caught_up(self.subject.timeout)
        if self.subject.is_wrong and any(
                equal_after is None or pair.findings(listed)
                for pair, (listed, equal_after) in caught_up.items()):
            raise Caught

    def _caught_up(self, timeout):
        """For each pair the list, and the seconds until informerd was equal, or None."""
        caught = {}
        for pair in self._pairs:
            began = time.monotonic()
            listed = pair.list()
            equal = pair.catch_up(listed, timeout)
            caught[pair] = listed, time.monotonic() - began if equal else None
        return caught

    def follow(self, kubeconfig, resource, name, **more):
        """Starts an additional follower. The scenario must end it."""
        follower = Follower(self.subject, kubeconfig, resource, ALL,
                            self.plane.folder / f"follower-{name}.log", **more)
        self._open.callback(follower.kill)
        return follower

    def informer(self, kubeconfig, resource, name, selection=ALL):
        """Starts an additional informer of client-go."""
        informer = Oracle(self.programs["oracle"], kubeconfig, resource, selection,
                          self.plane.folder / f"informer-{name}.log", False)
        self._open.callback(informer.kill)
        return informer

    def informerd(self, name, arguments, environment):
        """Starts an additional informerd. The scenario must end it."""
        feed = Feed(f"informerd {name}", [self.subject.binary, *arguments],
                    self.plane.folder / f"{name}.log", compare.from_informerd,
                    self.subject.environment | environment)
        self._open.callback(feed.kill)
        return feed

    def at_end(self, callback):
        """Calls that after the comparison."""
        self._open.callback(callback)

    def service(self, user, resources, log_options=None, top=None, name="service", through=None, **cluster):
        """informerd as a service. The scenario starts and stops it. `top`: more sections of its configuration.
        Resources may also be watches, as in the configuration. Through: port of a proxy.
        """
        made = service.Service(self.subject, self.plane.folder / name,
                               self.plane.kubeconfig(user, through), resources, log_options, top, **cluster)
        self._open.callback(made.stop)
        return made

    def different_from_list(self, watcher, state, resource):
        """Differences between a cache and the server's list."""
        return compare.different_states(watcher, state, self.objects(resource).list())

    # -- the end

    def complain(self, text):
        """Records a failure that the scenario itself found."""
        self._failures.append(text)

    def note_events(self, events):
        """Counts events of additional watchers in the report."""
        self._outcome.ours += events

    def note_equal(self, seconds):
        """Includes the catch-up time of additional watchers in the report."""
        self._outcome.equal_after = max(self._outcome.equal_after, seconds)

    def account(self, caught=False):
        """When all are idle: compares events, caches and the server's lists, kind by kind."""
        outcome = self._outcome
        outcome.verdict.findings += self._failures
        caught_up = self._caught_up(0 if caught else self.subject.timeout)
        for pair, (listed, equal_after) in caught_up.items():
            of_kind = pair.account(listed, equal_after)
            of_kind.verdict.findings += self._unmentioned(pair)
            if of_kind.verdict.findings:
                end = children.indented_end(pair.own_log, 10)
                of_kind.verdict.findings.append(f"{pair.name} informerd's log ends:\n{end}")
            outcome.add(of_kind)
        return outcome

    def _unmentioned(self, pair):
        """Expected texts about outages that are missing in informerd's log."""
        log, absences = pair.own_log, [absences[pair] for absences in self._absences]
        ends = [absence.begin for absence in absences[1:]] + [None]
        return [f"outage {number} of the API server: informerd's log does not contain '{words}'"
                for number, ((begin, words), end) in enumerate(zip(absences, ends), 1)
                if words not in log[begin:end]]
