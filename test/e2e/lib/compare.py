"""Compares the events of two watchers. Pure functions; see test_compare.py.

An event is one line of informerd or of the oracle. Applying every event to an empty Replica must give
the server's list when everything is idle. The events of each object (by uid) must be the same for
informerd and the oracle.

After an outage of the server each watcher may have missed events that the other received. Then
compare_with_history() compares informerd's events with etcd's history: only a relist may skip versions,
and only those between the events reported before and after it.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

CHANGES = ("ADDED", "MODIFIED", "DELETED")
LISTED = ("initial", "relist", "resync", "resumed")  # origins of informerd other than the watch
SHOWN = 10  # LIMIT: differences shown; the rest is counted


class Event(NamedTuple):
    type: str
    key: str  # namespace/name
    uid: str
    rv: int
    live: bool = True  # from a watch, in the order of versions; False: from a list
    final: bool = True  # False: a deletion found by a relist, whose version is unknown

    def __str__(self):
        return f"{self.type}@{self.rv if self.final else '?'}"

    def identity(self):
        return self.type, self.uid, self.rv if self.final else None


class Version(NamedTuple):
    uid: str
    rv: int


def key_of(thing):
    return f"{thing.get('namespace', '')}/{thing['name']}"


def from_informerd(records):
    """Change records as events; records about the daemon are ignored."""
    for record in records:
        if record["type"] in CHANGES:
            yield Event(record["type"], key_of(record), record["uid"], int(record["rv"]),
                        record["origin"] not in LISTED, record.get("final", True))


def from_oracle(records):
    """The events of client-go, as informerd would report them.

    After a relist client-go reports unchanged objects as updates; informerd does not. A new object
    under an old name is an update for client-go; informerd reports a deletion and an addition.
    """
    held = {}
    for record in records:
        if record["type"] not in CHANGES:
            continue
        event = Event(record["type"], key_of(record), record["uid"], int(record["rv"]),
                      not record["initial"], record["final"])
        before = held.pop(event.key, None)
        if event.type != "DELETED":
            held[event.key] = version = Version(event.uid, event.rv)
            if event.type == "MODIFIED" and before == version:
                continue
            if before and before.uid != event.uid:
                yield Event("DELETED", event.key, before.uid, before.rv, live=False, final=False)
                event = event._replace(type="ADDED")
        yield event


def from_list(objects):
    """Versions by key, from a list of the API server."""
    versions = {}
    for thing in objects:
        meta = thing["metadata"]
        versions[key_of(meta)] = Version(meta["uid"], int(meta["resourceVersion"]))
    return versions


def from_store(record):
    """Versions by key, from a STORE line of the oracle."""
    return {key_of(item): Version(item["uid"], int(item["rv"])) for item in record["items"]}


class Replica:
    """The state that results from applying events, and faults in their order."""

    def __init__(self):
        self.state = {}
        self.faults = []
        self._newest = 0

    def apply(self, event):
        fault = self._fault_of(event)
        if fault:
            self.faults.append(f"{event.key} {event.uid}: {event}: {fault}")
        if event.live:
            self._newest = max(self._newest, event.rv)
        if event.type == "DELETED":
            self.state.pop(event.key, None)
        else:
            self.state[event.key] = Version(event.uid, event.rv)

    def _fault_of(self, event):
        held = self.state.get(event.key)
        if event.type == "ADDED" and held:
            return f"added, but {held.uid}@{held.rv} exists"
        if event.type != "ADDED" and not held:
            return "of an object that does not exist"
        if held and held.uid != event.uid:
            return f"of another object than the existing one, {held.uid}"
        if held and event.final and event.rv <= held.rv:
            return f"not newer than the existing version, @{held.rv}"
        if event.live and event.rv <= self._newest:
            return f"after @{self._newest} was reported for another object"
        return None


def faults_of(events):
    """Faults in the order of the events."""
    replica = Replica()
    for event in events:
        replica.apply(event)
    return replica.faults


@dataclass
class Verdict:
    """The result of a comparison. No findings: no differences."""

    lost: int = 0
    extra: int = 0
    repeated: int = 0
    disordered: int = 0
    findings: list = field(default_factory=list)

    def add(self, other):
        """Adds another verdict."""
        self.lost += other.lost
        self.extra += other.extra
        self.repeated += other.repeated
        self.disordered += other.disordered
        self.findings += other.findings


def compare_events(ours, theirs):
    """Compares the events of informerd with those of the oracle."""
    reported, expected = (Counter(event.identity() for event in events) for events in (ours, theirs))
    faults = faults_of(ours)
    return Verdict(
        lost=len(expected.keys() - reported.keys()),
        extra=len(reported.keys() - expected.keys()),
        repeated=sum(times - 1 for times in reported.values()),
        disordered=len(faults),
        findings=shortened(different_lives(lives(ours), lives(theirs))) + shortened(faults),
    )


def compare_with_history(ours, happened):
    """Compares the events of informerd with etcd's history, where relists may have skipped some."""
    faults = faults_of(ours)
    reported = Counter(event.identity() for event in ours)
    lost, invented = unreported(ours, happened), unreal(ours, happened)
    findings = (shortened(f"{event.key} {event.uid}: {event} happened, and informerd did not report"
                          " it, although no relist skipped it" for event in lost)
                + invented_by("informerd", invented)
                + shortened(repeats(reported)) + shortened(different_ends(ours, happened))
                + shortened(faults))
    return Verdict(lost=len(lost), extra=len(invented), disordered=len(faults),
                   repeated=sum(times - 1 for times in reported.values()), findings=findings)


def unreported(ours, happened):
    """Events that happened and were neither reported nor skipped by a relist."""
    reported, gaps = {version_of(event): event.live for event in ours}, passed_over(ours)
    lost, goes_on_live = [], {}  # by uid: whether the next reported event is live; live events skip nothing
    for event in reversed(happened):
        live = reported.get(version_of(event))
        if live is not None:
            goes_on_live[event.uid] = live
        elif goes_on_live.get(event.uid) or not any(a < event.rv < b for a, b in gaps):
            lost.append(event)
    return lost[::-1]


def version_of(event):
    """The part of an event that a list shows: everything except whether it was an addition."""
    return event.type == "DELETED", event.uid, event.rv if event.final else None


def passed_over(ours):
    """The open ranges of versions that lists skip: from the last live event before to the next one after."""
    gaps, newest, listed = [], 0, True  # events before the first list are not reported
    for event in ours:
        if not event.live:
            listed = True
            continue
        if listed:
            gaps.append((newest, event.rv))
        newest, listed = max(newest, event.rv), False
    return gaps + [(newest, math.inf)] if listed else gaps


def unreal(reported, happened):
    """Reported events that never happened. A live event must match exactly; a listed object may be added
    or modified for the watcher. For deletions found by a relist see different_ends().
    """
    as_it_was, real = {event.identity() for event in happened}, set(map(version_of, happened))

    def is_real(event):
        return event.identity() in as_it_was if event.live else version_of(event) in real

    return [event for event in reported if event.final and not is_real(event)]


def invented_by(watcher, events):
    return shortened(f"{event.key} {event.uid}: {watcher} reported {event}, which never happened"
                     for event in events)


def missing_in_history(written, theirs, happened):
    """Checks that etcd's history contains all events of the writer and the oracle.

    The oracle does not mark events of a later list, so none of them counts as live.
    """
    reported = [event._replace(live=False) for event in theirs]
    return (unseen(written, happened, "etcd's history")
            + invented_by("the oracle", unreal(reported, happened)))


def repeats(reported):
    for (kind, uid, rv), times in reported.items():
        if times > 1:
            yield f"{uid}: {kind}@{rv or '?'} was reported {times} times"


def different_ends(ours, happened):
    """A reported object that was deleted must be reported as deleted exactly once; others never."""
    really = Counter(event.uid for event in happened if event.type == "DELETED")
    reported = Counter(event.uid for event in ours if event.type == "DELETED")
    for uid, events in lives(ours).items():
        if reported[uid] != really[uid]:
            yield (f"{events[0].key} {uid}: reported as deleted {reported[uid]} times,"
                   f" was deleted {really[uid]} times")


def record_faults(records):
    """Faults in the reports of lists: the first list comes before SYNCED; each later one is announced,
    with deletions before existing objects.
    """
    return shortened([*late_initials(records), *relist_faults(records)])


def late_initials(records):
    synced = itertools.dropwhile(lambda record: record["type"] != "SYNCED", records)
    for record in synced:
        if record.get("origin") == "initial":
            yield f"{key_of(record)}: {record['type']} of the first list after SYNCED"


def relist_faults(records):
    announced = present = False  # since the last live record
    for record, after in itertools.zip_longest(records, records[1:]):
        if record["type"] in ("RELIST", "GAP"):
            announced, present = True, False
        elif record["type"] not in CHANGES or record["origin"] != "relist":
            announced = announced and record["type"] not in CHANGES
        elif not announced:
            yield f"{key_of(record)}: {record['type']} of a relist without a RELIST record"
        elif record["type"] != "DELETED":
            present = True
        elif present and not is_replaced_by(record, after):
            yield f"{key_of(record)}: DELETED of a relist after existing objects were reported"


def is_replaced_by(record, after):
    """An object that replaces a deleted one of the same name is reported immediately after it."""
    return (bool(after) and after["type"] == "ADDED" and key_of(after) == key_of(record)
            and after["origin"] == "relist")


def lives(events):
    """The events of each object, in the order in which they were reported."""
    reported = {}
    for event in events:
        reported.setdefault(event.uid, []).append(event)
    return reported


def different_lives(ours, theirs):
    for uid in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(uid, []), theirs.get(uid, [])
        if [event.identity() for event in mine] != [event.identity() for event in other]:
            yield (f"{(mine or other)[0].key} {uid}:\n"
                   f"        informerd reported {sentence(mine, other)}\n"
                   f"        the oracle reported {sentence(other, mine)}")


def sentence(events, others, around=4):
    """The events near the first difference."""
    same = (mine.identity() == other.identity() for mine, other in zip(events, others))
    first = sum(itertools.takewhile(bool, same))
    start, end = max(0, first - around), first + around
    before, after = ["…"][:start], ["…"][:len(events[end:])]
    return " ".join([*before, *map(str, events[start:end]), *after]) or "nothing"


def different_states(watcher, state, listed):
    """Differences between a cache and the server's list."""
    differing = (key for key in sorted(state.keys() | listed.keys())
                 if state.get(key) != listed.get(key))
    return shortened(f"{key}: {watcher} holds {shown(state.get(key))},"
                     f" the server lists {shown(listed.get(key))}" for key in differing)


def different_objects(held, listed):
    """Differences between the library's store and the server's list, field by field.

    The store has the canonical form: with kind and version, which list items lack, and without
    managedFields.
    """
    ours, theirs = ({key_of(thing["metadata"]): thing for thing in things}
                    for things in (held, map(canonical, listed)))
    for key in sorted(ours.keys() | theirs.keys()):
        mine = {name: value for name, value in ours.get(key, {}).items()
                if name not in ("kind", "apiVersion")}
        if mine != theirs.get(key, {}):
            yield f"{key}: the library's store has {mine}, the server lists {theirs.get(key)}"


def canonical(thing):
    meta = {name: value for name, value in thing["metadata"].items() if name != "managedFields"}
    return {name: value for name, value in thing.items() if name not in ("kind", "apiVersion")} \
        | {"metadata": meta}


def unseen(written, theirs, watcher="the oracle"):
    """Writes that the server confirmed and the oracle did not report: the oracle is wrong then."""
    reported = {event.identity() for event in theirs}
    reported |= {event._replace(final=False).identity() for event in theirs if event.type == "DELETED"}
    return shortened(f"{event.key} {event.uid}: {event} was written, and {watcher} did not report it"
                     for event in written if event.identity() not in reported)


def shown(version):
    return f"{version.uid}@{version.rv}" if version else "nothing"


def shortened(findings):
    found = list(findings)
    rest = len(found) - SHOWN
    return found[:SHOWN] + ([f"… and {rest} more"] if rest > 0 else [])
