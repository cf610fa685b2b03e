"""Did two watchers see the same? Pure functions over what they said; see test_compare.py.

An event is one line of informerd or of the oracle. Who believes every event from an empty start has
a Replica; at rest it must equal the server's list. By uid, the events are the objects' lives;
those informerd tells must be those the oracle tells.

That holds as long as the server does. When it was away, each watcher may have missed what the other
saw; then judge_interrupted() holds informerd's events against what happened, by etcd's history:
only a relist may pass over versions, and only those between the events told around it.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

CHANGES = ("ADDED", "MODIFIED", "DELETED")
LISTED = ("initial", "relist", "resync", "resumed")  # informerd's origins that are not the stream
SHOWN = 10  # differences told in full; the rest is a number


class Event(NamedTuple):
    type: str
    key: str  # namespace/name
    uid: str
    rv: int
    live: bool = True  # from the stream, so in the order of versions; False: from a list
    final: bool = True  # False on a deletion seen only as an absence: its own version is unknown

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
    """Its change records as events; the daemon's records about itself are not ours to judge."""
    for record in records:
        if record["type"] in CHANGES:
            yield Event(record["type"], key_of(record), record["uid"], int(record["rv"]),
                        record["origin"] not in LISTED, record.get("final", True))


def from_oracle(records):
    """What client-go said, in informerd's words.

    After a relist it repeats unchanged objects as updates: informerd is silent. And it tells a new
    object under an old name as an update: informerd says delete, then add.
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
    """What a list of the API server says there is."""
    versions = {}
    for thing in objects:
        meta = thing["metadata"]
        versions[key_of(meta)] = Version(meta["uid"], int(meta["resourceVersion"]))
    return versions


def from_store(record):
    """What the oracle's STORE line says it holds."""
    return {key_of(item): Version(item["uid"], int(item["rv"])) for item in record["items"]}


class Replica:
    """What a reader who believes every event holds, and what was wrong with their order."""

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
            return f"added, but {held.uid}@{held.rv} is there"
        if event.type != "ADDED" and not held:
            return "of an object that isn't there"
        if held and held.uid != event.uid:
            return f"of another object than the one that is there, {held.uid}"
        if held and event.final and event.rv <= held.rv:
            return f"not newer than what is there, @{held.rv}"
        if event.live and event.rv <= self._newest:
            return f"after @{self._newest} was told of another object"
        return None


def faults_of(events):
    """What is wrong with their order."""
    replica = Replica()
    for event in events:
        replica.apply(event)
    return replica.faults


@dataclass
class Verdict:
    """What a comparison found. No findings: the two agree."""

    lost: int = 0
    extra: int = 0
    repeated: int = 0
    disordered: int = 0
    findings: list = field(default_factory=list)

    def add(self, other):
        """What was found elsewhere."""
        self.lost += other.lost
        self.extra += other.extra
        self.repeated += other.repeated
        self.disordered += other.disordered
        self.findings += other.findings


def judge(ours, theirs):
    """Compare informerd's events with the oracle's."""
    said, expected = (Counter(event.identity() for event in events) for events in (ours, theirs))
    faults = faults_of(ours)
    return Verdict(
        lost=len(expected.keys() - said.keys()),
        extra=len(said.keys() - expected.keys()),
        repeated=sum(times - 1 for times in said.values()),
        disordered=len(faults),
        findings=shortened(different_lives(lives(ours), lives(theirs))) + shortened(faults),
    )


def judge_interrupted(ours, happened):
    """Compare informerd's events with all that happened, when relists may have passed over some."""
    faults = faults_of(ours)
    said = Counter(event.identity() for event in ours)
    lost, invented = untold(ours, happened), unreal(ours, happened)
    findings = (shortened(f"{event.key} {event.uid}: {event} happened, and no relist excuses that"
                          " informerd did not tell it" for event in lost)
                + invented_by("informerd", invented)
                + shortened(repeats(said)) + shortened(different_ends(ours, happened))
                + shortened(faults))
    return Verdict(lost=len(lost), extra=len(invented), disordered=len(faults),
                   repeated=sum(times - 1 for times in said.values()), findings=findings)


def untold(ours, happened):
    """What happened, was not told, and is not excused by a relist."""
    told, gaps = {version_of(event): event.live for event in ours}, passed_over(ours)
    lost, goes_on_live = [], {}  # by uid: the next thing told of it is live, which skips nothing
    for event in reversed(happened):
        live = told.get(version_of(event))
        if live is not None:
            goes_on_live[event.uid] = live
        elif goes_on_live.get(event.uid) or not any(a < event.rv < b for a, b in gaps):
            lost.append(event)
    return lost[::-1]


def version_of(event):
    """What a listed object still shows of the event that made it so: all but whether it was new."""
    return event.type == "DELETED", event.uid, event.rv if event.final else None


def passed_over(ours):
    """The open ranges of versions that lists stand for: from the live event before to the next."""
    gaps, newest, listed = [], 0, True  # what was before the first list is nobody's to tell
    for event in ours:
        if not event.live:
            listed = True
            continue
        if listed:
            gaps.append((newest, event.rv))
        newest, listed = max(newest, event.rv), False
    return gaps + [(newest, math.inf)] if listed else gaps


def unreal(told, happened):
    """What was told and never happened. A live event is told as what it was; a listed one as added
    or modified, whichever it is to the watcher. Deletions seen as absences: see different_ends().
    """
    as_it_was, real = {event.identity() for event in happened}, set(map(version_of, happened))

    def is_real(event):
        return event.identity() in as_it_was if event.live else version_of(event) in real

    return [event for event in told if event.final and not is_real(event)]


def invented_by(who, events):
    return shortened(f"{event.key} {event.uid}: {who} said {event}, which never happened"
                     for event in events)


def false_witness(written, theirs, happened):
    """Etcd's history is what the writer and the oracle know, and more; or it is no history.

    The oracle does not say which of its events are from a later list, so none is held to be live.
    """
    told = [event._replace(live=False) for event in theirs]
    return (unseen(written, happened, "etcd's history")
            + invented_by("the oracle", unreal(told, happened)))


def repeats(said):
    for (kind, uid, rv), times in said.items():
        if times > 1:
            yield f"{uid}: {kind}@{rv or '?'} was told {times} times"


def different_ends(ours, happened):
    """A deleted object that was told must be told deleted, once; one that lives must not be."""
    really = Counter(event.uid for event in happened if event.type == "DELETED")
    told = Counter(event.uid for event in ours if event.type == "DELETED")
    for uid, events in lives(ours).items():
        if told[uid] != really[uid]:
            yield (f"{events[0].key} {uid}: told deleted {told[uid]} times,"
                   f" was deleted {really[uid]} times")


def record_faults(records):
    """What is wrong with how informerd told its lists: the first before it says that it is synced,
    each other one announced, and first what is gone, then what is there.
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
            yield f"{key_of(record)}: {record['type']} of a relist that no RELIST record announced"
        elif record["type"] != "DELETED":
            present = True
        elif present and not is_replaced_by(record, after):
            yield f"{key_of(record)}: DELETED of a relist after what is there was told"


def is_replaced_by(record, after):
    """Another object that the list has under the name of one that is gone is told at once."""
    return (bool(after) and after["type"] == "ADDED" and key_of(after) == key_of(record)
            and after["origin"] == "relist")


def lives(events):
    """Each object's events in the order they were told."""
    told = {}
    for event in events:
        told.setdefault(event.uid, []).append(event)
    return told


def different_lives(ours, theirs):
    for uid in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(uid, []), theirs.get(uid, [])
        if [event.identity() for event in mine] != [event.identity() for event in other]:
            yield (f"{(mine or other)[0].key} {uid}:\n"
                   f"        informerd said {sentence(mine, other)}\n"
                   f"        the oracle said {sentence(other, mine)}")


def sentence(events, others, around=4):
    """The events near the first one that differs: lives can be long."""
    same = (mine.identity() == other.identity() for mine, other in zip(events, others))
    first = sum(itertools.takewhile(bool, same))
    start, end = max(0, first - around), first + around
    before, after = ["…"][:start], ["…"][:len(events[end:])]
    return " ".join([*before, *map(str, events[start:end]), *after]) or "nothing"


def different_states(who, state, listed):
    """Where what one holds is not what the server lists."""
    differing = (key for key in sorted(state.keys() | listed.keys())
                 if state.get(key) != listed.get(key))
    return shortened(f"{key}: {who} holds {shown(state.get(key))},"
                     f" the server lists {shown(listed.get(key))}" for key in differing)


def different_objects(held, listed):
    """Where the library's store is not the server's list, field by field.

    Its form is canonical: kind and version, which items of a list lack, are there, and who manages
    which field is cut.
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


def unseen(written, theirs, who="the oracle"):
    """Writes the server answered and the oracle was not told of: then it is no oracle."""
    told = {event.identity() for event in theirs}
    told |= {event._replace(final=False).identity() for event in theirs if event.type == "DELETED"}
    return shortened(f"{event.key} {event.uid}: {event} was written, and {who} was not told"
                     for event in written if event.identity() not in told)


def shown(version):
    return f"{version.uid}@{version.rv}" if version else "nothing"


def shortened(findings):
    found = list(findings)
    rest = len(found) - SHOWN
    return found[:SHOWN] + ([f"… and {rest} more like these"] if rest > 0 else [])
