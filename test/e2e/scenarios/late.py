"""Handlers that are added late, or that get only the newest state of each object, while objects change:
their events are the net changes of what others received one by one.

Three followers of the library, each delayed in a different way, and an informerd that sees everything.
"""

from lib import compare
from lib.resource import PODS

NAMESPACE = "late"
BACKLOG = 2  # events that may wait before they are coalesced
EXPECTED = {  # net changes while it was delayed
    "changed": ["MODIFIED"], "ended": ["DELETED"], "replaced": ["DELETED", "ADDED"],
    "came": ["ADDED"]}


def run(stage):
    pods, kubeconfig = stage.pods, stage.plane.kubeconfig("token")
    stage.make_namespace(NAMESPACE)
    for name in ("same", "changed", "ended", "replaced"):
        pods.create(NAMESPACE, name)
    stage.watch("token")
    paused = stage.follow(kubeconfig, PODS, "paused", backlog=BACKLOG)
    frozen = stage.follow(kubeconfig, PODS, "frozen", coalesce="yes")
    late = stage.follow(kubeconfig, PODS, "late", late="yes")
    stage.catch_up()
    for follower in (paused, frozen):
        follower.wait_for_state(pods.list(), stage.timeout)
    late.wait_until_held(pods.list(), stage.timeout)
    received = {follower: len(follower.events) for follower in (paused, frozen)}
    paused.send_command("pause")
    late.send_command("listen")
    with frozen.frozen():
        disturb(pods)
        stage.catch_up()
        paused.wait_until_held(pods.list(), stage.timeout)
        late.wait_until_held(pods.list(), stage.timeout)
    paused.send_command("resume")
    late.send_command("resume")
    check(stage, "the paused handler", paused, EXPECTED, received[paused])
    check(stage, "the stopped process", frozen, EXPECTED, received[frozen])
    check(stage, "the late handler", late, {name: ["ADDED"] for name in
                                        ("same", "changed", "replaced", "came")}, 0)
    return f"{stage.writes} writes"


def disturb(pods):
    """The same net changes in fewer events."""
    for number in range(3):
        pods.patch(NAMESPACE, "changed", {"metadata": {"labels": {"write": str(number)}}})
    pods.patch(NAMESPACE, "ended", {"metadata": {"labels": {"write": "last"}}})
    pods.delete(NAMESPACE, "ended")
    for name in ("replaced", "replaced"):
        pods.delete(NAMESPACE, name)
        pods.create(NAMESPACE, name)
    for name in ("brief", "came", "brief"):
        pods.create(NAMESPACE, name)
        pods.patch(NAMESPACE, name, {"metadata": {"labels": {"write": "only"}}})
        if name == "brief":
            pods.delete(NAMESPACE, name)


def check(stage, who, follower, expected, since):
    """Its events since then; all events together must be in a valid order for each object."""
    listed = stage.pods.list()
    follower.wait_for_state(listed, stage.timeout)
    received = {}
    for event in follower.events[since:]:
        received.setdefault(event.key.removeprefix(f"{NAMESPACE}/"), []).append(event.type)
    if received != expected:
        stage.complain(f"{who} received {received}, should be {expected}")
    each_for_itself = [event._replace(live=False) for event in follower.events]
    for finding in (*compare.different_states(who, follower.state, listed),
                    *compare.faults_of(each_for_itself)):
        stage.complain(f"{who}: {finding}")
