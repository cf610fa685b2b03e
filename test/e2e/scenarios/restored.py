"""Etcd goes back to a backup, as after a disaster, while informerd holds what came later; twice,
the second time with new writes under the versions it has seen before.

To a plain watch from a version that is yet to come the server says nothing at all. Informerd must
notice, say that the server went back, and end with what is there. (What the oracle does is its own
affair: it is not asked.)
"""

import time

from lib import children, compare, journal
from lib.api import ApiError
from lib.resource import CONFIGMAPS

NAMESPACE = "restored"
AHEAD = 40  # writes that get lost


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
    children.until(lambda: is_writable(objects), 30, "the API server at work again")
    for restore in range(2):
        go_ahead(objects)
        wait_until_equal(stage, follower, service)
        stage.plane.restore()
        if restore:  # versions come back, of other objects
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
    follower.wait_for_state(listed, stage.patience)
    try:
        children.until(lambda: service.logged and journal.state_after(of_service(service)) == listed,
                       stage.patience, "the service's log equal to the list")
    except children.Failure as failure:
        stage.complain(str(failure))
    stage.note_equal(time.monotonic() - began)


def check(stage, follower, service):
    stage.note_told(len(follower.events))
    listed = stage.objects(CONFIGMAPS).list()
    for who, records in (("the follower", follower.records), ("the service", of_service(service))):
        events = [event._replace(live=False, final=False)  # versions do go back
                  for event in compare.from_informerd(records)]
        findings = [*compare.faults_of(events), *compare.relist_faults(records),
                    *compare.different_states(who, journal.state_after(records), listed)]
        gaps = sum(record["type"] == "GAP" for record in records)
        if gaps != 2:
            findings.append(f"says {gaps} times that the server went back, which it did twice")
        for finding in findings:
            stage.complain(f"{who}: {finding}")
