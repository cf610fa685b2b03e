"""Three services share the objects during churn, one of them is killed twice. Each event is in exactly one of their logs, and
together they end with the server's list. A server with the feature gate sends no object of another shard; any other
server sends all.
"""

import time

from lib import children, journal
from lib.service import ByPath, SOCKET

from . import churn
from .churn import KINDS, meanwhile

COUNT = 3
RATE = 200  # writes per second
SECONDS = 4  # of churn between two kills
DROPPED = "informerd_watch_other_shard_objects_total"


def run(stage):
    writers, halt = churn.begin(stage)
    services = [stage.service("token", KINDS, name=f"shard-{index}", top={"shard": {"index": index, "count": COUNT}})
                for index in range(COUNT)]
    before = stage.writes
    for service in services:
        service.start()
    with meanwhile(writers, halt, RATE):
        for _ in range(2):
            time.sleep(SECONDS)
            services[0].kill()
            services[0].start()
        time.sleep(SECONDS)
    stage.catch_up()
    wait_until_equal(stage, services)
    dropped = [dropped_by(service) for service in services]
    for service in services:
        if service.stop() != 0:
            stage.complain("a service failed")
    check_dropped(stage, dropped)
    return check(stage, services) + f", {stage.writes - before} writes, {sum(dropped)} objects of other shards received"


def shard_of(uid):
    """FNV-1a with 64 bits, in COUNT equal ranges."""
    value = 0xcbf29ce484222325
    for byte in uid.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value // (2**64 // COUNT + 1)


def of_kind(service, kind):
    records, _ = journal.records_of(service.log.read_bytes())
    return journal.of_watch(records, str(kind))


def together(services, kind):
    """The objects of all shards, and the keys that more than one of them has."""
    states = [journal.state_after(of_kind(service, kind)) for service in services]
    union = {}
    for state in states:
        union |= state
    return union, sum(map(len, states)) - len(union)


def wait_until_equal(stage, services):
    """Waits until the logs result in the server's list; otherwise check() reports the differences."""
    def is_equal():
        return all(together(services, kind) == (stage.objects(kind).list(), 0) for kind in KINDS)
    try:
        children.until(is_equal, stage.timeout, "the logs of the shards equal to the list", pause=1)
    except children.Failure as failure:
        stage.complain(str(failure))


def dropped_by(service):
    connection = ByPath(str(service.folder / SOCKET))
    connection.request("GET", "/metrics", headers={"Host": "informerd"})
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(DROPPED + "{"))


def check_dropped(stage, dropped):
    if stage.plane.splits and any(dropped):
        stage.complain(f"the server selects shards, but sent objects of others: {dropped}")
    if not stage.plane.splits and not all(dropped):
        stage.complain(f"the server does not select shards, but no object of another one arrived: {dropped}")


def check(stage, services):
    lines = 0
    for service in services:
        records, faults = journal.records_of(service.log.read_bytes())
        lines += len(records)
        for fault in faults + journal.faults_of(records):
            stage.complain(f"{service.folder.name}: {fault}")
    for kind in KINDS:
        union, doubled = together(services, kind)
        if doubled:
            stage.complain(f"{doubled} {kind.name} are in more than one shard")
        faults = stage.different_from_list(f"the shards ({kind.name})", union, kind)
        for index, service in enumerate(services):
            happened = [event for event in stage.oracle_events(kind.name) if shard_of(event.uid) == index]
            faults += journal.different_runs([of_kind(service, kind)], happened)
        for fault in faults:
            stage.complain(f"the logs of the shards: {fault}")
    return f"{COUNT} shards, {lines} lines"
