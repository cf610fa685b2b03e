"""The service is stopped, by TERM and by kill -9, while a tenth of the objects changes: some are changed,
some deleted, some deleted and created again under the same name, some are new. Once the server still has
these changes, once it does not, because etcd was compacted and the API server restarted.

After each start the log has exactly these changes, each once. Folding the whole log from its beginning
gives the server's objects to the letter.
"""

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from lib import children, compare, journal
from lib.resource import CONFIGMAPS
from lib.stage import Caught

OBJECTS = 5000
SHARE = 10  # one of so many changes
NAMESPACES = ("resumed-a", "resumed-b")
WRITERS = 8  # threads
FULL = {"object": "full", "max_line": "64K"}  # longer than the largest object
LIVE, COMPARED = "live", "resumed"


def run(stage):
    return run_with(stage, OBJECTS)


def run_with(stage, count):
    for namespace in NAMESPACES:
        stage.make_namespace(namespace)
    names = [(namespace, f"map-{number}") for namespace in NAMESPACES
             for number in range(count // len(NAMESPACES))]
    objects = stage.objects(CONFIGMAPS)
    in_parallel(lambda key: objects.create(*key, body_of(key[1], 0)), names)
    service = stage.service("token", (CONFIGMAPS,), FULL)
    service.start()
    wait_until_equal(stage, service)
    rounds = list(itertools.product((False, True), ("TERM", "KILL")))
    for number, (compacted, how) in enumerate(rounds, 1):
        leave(stage, service, how)
        due = change(objects, names, number)
        if compacted:
            forget_history(stage.plane)
        service.start()
        wait_until_equal(stage, service)
        check_run(stage, service, f"after {how}{', compacted' if compacted else ''}", due,
                  COMPARED if compacted else LIVE)
    leave(stage, service, "TERM")
    check_whole(stage, service)
    return f"{count} objects, {len(rounds)} stops, {stage.writes} writes"


def in_parallel(write, items):
    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(write, items))


def body_of(name, number):
    return {"data": {"number": str(number), "text": f"{name} \U0001f680 \"quoted\"\n" * 20}}


# -- while it does not run


def leave(stage, service, how):
    if how == "KILL":
        service.kill()
    elif service.stop() != 0:
        stage.complain("the service failed")


def change(objects, names, number):
    """Changes a tenth, others each time. Returns what has to be reported: (type, key)."""
    chosen = names[number::SHARE]
    kinds = {key: ("change", "change", "delete", "replace")[at % 4] for at, key in enumerate(chosen)}
    existing = set(objects.list())
    due = Counter()
    for key in chosen:
        if f"{key[0]}/{key[1]}" not in existing:
            kinds[key] = "add"
        types = {"change": ["MODIFIED"], "delete": ["DELETED"], "replace": ["DELETED", "ADDED"],
                 "add": ["ADDED"]}[kinds[key]]
        due.update((type, f"{key[0]}/{key[1]}") for type in types)
    for extra in range(number):
        kinds[NAMESPACES[0], f"new-{number}-{extra}"] = "add"
        due["ADDED", f"{NAMESPACES[0]}/new-{number}-{extra}"] += 1

    def write(item):
        key, kind = item
        if kind in ("delete", "replace"):
            objects.delete(*key)
        if kind in ("add", "replace"):
            objects.create(*key, body_of(key[1], number))
        if kind == "change":
            objects.patch(*key, body_of(key[1], number))
    in_parallel(write, kinds.items())
    return due


def forget_history(plane):
    """A watch from an older version gets 410 now."""
    plane.stop_apiserver()
    plane.compact()
    plane.start_apiserver()


# -- afterwards


def records_of(service):
    text = service.log.read_bytes() if service.log.exists() else b""
    return journal.records_of(text[:text.rfind(b"\n") + 1])[0]


def changes_of(records):
    """Without those of the control plane itself, which writes config maps, too."""
    return [record for record in records if record["type"] in compare.CHANGES
            and record["namespace"] in NAMESPACES]


def wait_until_equal(stage, service):
    """Waits until the log results in the server's list; otherwise the checks report the differences."""
    listed = stage.objects(CONFIGMAPS).list()
    before = len(records_of(service))
    try:
        children.until(lambda: journal.state_after(records_of(service)) == listed, stage.timeout,
                       "the whole log equal to the list", pause=0.5)
    except children.Failure as failure:
        stage.complain(str(failure))
        if stage.subject.is_wrong:
            raise Caught from None
    finally:
        stage.note_events(len(records_of(service)) - before)


def check_run(stage, service, title, due, origin):
    """The last run has reported `due`, each once, and nothing else."""
    records = changes_of(journal.runs_of(records_of(service))[-1])
    reported = Counter((record["type"], compare.key_of(record)) for record in records)
    wrong = {record["origin"] for record in records} - {origin}
    if wrong:
        stage.complain(f"{title}: changes have the origin {wrong} instead of {origin}")
    for what, differing in (("missing", due - reported), ("reported, but did not happen, or twice", reported - due)):
        if differing:
            stage.complain(f"{title}: {sum(differing.values())} changes are {what}: {list(differing)[:5]}")


def check_whole(stage, service):
    """All records from the beginning, folded, are the server's objects after `drop`."""
    records, faults = journal.records_of(service.log.read_bytes())
    replica = compare.Replica()
    for event in compare.from_informerd(records):
        replica.apply(event)
    for fault in compare.shortened([*faults, *replica.faults]):
        stage.complain(f"the whole log: {fault}")
    folded = {}
    for record in records:
        if record["type"] == "DELETED":
            folded.pop(compare.key_of(record), None)
        elif record["type"] in compare.CHANGES:
            folded[compare.key_of(record)] = without_type(record["object"])
    listed = {compare.key_of(item["metadata"]): dropped(without_type(item))
              for item in stage.objects(CONFIGMAPS).items()}
    differing = [key for key in {**folded, **listed} if folded.get(key) != listed.get(key)]
    if differing:
        key = differing[0]
        stage.complain(f"the whole log: {len(differing)} objects differ from the server's, {key}: "
                       f"{folded.get(key)} instead of {listed.get(key)}")


def without_type(item):
    """The items of a list do not have it."""
    return {name: value for name, value in item.items() if name not in ("kind", "apiVersion")}


def dropped(item):
    """As the default of `drop`."""
    meta = {name: value for name, value in item["metadata"].items() if name != "managedFields"}
    return item | {"metadata": meta}
