"""etcd is restored from a backup while informerd has newer objects; twice, the second time with new
writes that reuse versions it has seen.

The server sends nothing on a watch from a version in the future. informerd must detect that, report a
rewind, and end with the server's objects. (The oracle is not compared.)
"""

import time

from lib import children, compare, journal
from lib.api import ApiError
from lib.resource import CONFIGMAPS

NAMESPACE = "restored"
AHEAD = 40  # writes that the restore loses


def run(stage):
    objects = stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    for name in ("same", "changed", "ended", "replaced"):
        objects.create(NAMESPACE, name)
    follower = stage.follow(stage.plane.kubeconfig("token"), CONFIGMAPS, "alone")
    service = stage.service("token", (CONFIGMAPS,))
    service.start()
    wait_until_equal(stage, follower, service)
    stage.plane.back_up()
    children.until(lambda: is_writable(objects), 30, "the API server is available again")
    for restore in range(2):
        go_ahead(objects)
        wait_until_equal(stage, follower, service)
        stage.plane.restore()
        if restore:  # the same versions again, for other objects
            objects.create(NAMESPACE, "other")
        wait_until_equal(stage, follower, service)
    service.stop()
    check(stage, follower, service)
    return f"{stage.writes} writes, 2 restores"


def is_writable(objects):
    try:
        return objects.create(NAMESPACE, "kept-in-no-backup")
    except ApiError:
        return False


def go_ahead(objects):
    objects.patch(NAMESPACE, "changed", {"data": {"seen": "later"}})
    objects.delete(NAMESPACE, "ended")
    objects.delete(NAMESPACE, "replaced")
    objects.create(NAMESPACE, "replaced")
    for number in range(AHEAD):
        objects.create(NAMESPACE, f"lost-{number}")


def of_service(service):
    records, _ = journal.records_of(service.log.read_bytes())
    return records


def wait_until_equal(stage, follower, service):
    began, listed = time.monotonic(), stage.objects(CONFIGMAPS).list()
    follower.wait_for_state(listed, stage.timeout)
    try:
        children.until(lambda: service.logged and journal.state_after(of_service(service)) == listed,
                       stage.timeout, "the service's log equal to the list")
    except children.Failure as failure:
        stage.complain(str(failure))
    stage.note_equal(time.monotonic() - began)


def check(stage, follower, service):
    stage.note_events(len(follower.events))
    listed = stage.objects(CONFIGMAPS).list()
    for who, records in (("the follower", follower.records), ("the service", of_service(service))):
        events = [event._replace(live=False, final=False)  # versions go back
                  for event in compare.from_informerd(records)]
        findings = [*compare.faults_of(events), *compare.relist_faults(records),
                    *compare.different_states(who, journal.state_after(records), listed)]
        gaps = sum(record["type"] == "GAP" for record in records)
        if gaps != 2:
            findings.append(f"reports {gaps} rewinds of the server instead of 2")
        for finding in findings:
            stage.complain(f"{who}: {finding}")
