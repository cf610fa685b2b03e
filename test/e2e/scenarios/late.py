"""Handlers that come late, or want no more than each object's newest state, while the world goes
on: what they are told in sum is what the others were told one by one.

Three followers of the library, each held up in its own way, beside an informerd that sees it all.
"""

from lib import compare
from lib.resource import PODS

NAMESPACE = "late"
BACKLOG = 2  # events that may wait before only the newest states count
TOLD = {  # in sum, while it was held up
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
        follower.wait_for_state(pods.list(), stage.patience)
    late.wait_until_held(pods.list(), stage.patience)
    told = {follower: len(follower.events) for follower in (paused, frozen)}
    paused.ask("pause")
    late.ask("listen")
    with frozen.frozen():
        disturb(pods)
        stage.catch_up()
        paused.wait_until_held(pods.list(), stage.patience)
        late.wait_until_held(pods.list(), stage.patience)
    paused.ask("resume")
    late.ask("resume")
    check(stage, "the one that was paused", paused, TOLD, told[paused])
    check(stage, "the one that was frozen", frozen, TOLD, told[frozen])
    check(stage, "the late one", late, {name: ["ADDED"] for name in
                                        ("same", "changed", "replaced", "came")}, 0)
    return f"{stage.writes} writes"


def disturb(pods):
    """As much as there is to be told in fewer words."""
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
    """What it was told since then; and in all, in an order that makes sense for each object."""
    listed = stage.pods.list()
    follower.wait_for_state(listed, stage.patience)
    told = {}
    for event in follower.events[since:]:
        told.setdefault(event.key.removeprefix(f"{NAMESPACE}/"), []).append(event.type)
    if told != expected:
        stage.complain(f"{who} was told {told}, should be {expected}")
    each_for_itself = [event._replace(live=False) for event in follower.events]
    for finding in (*compare.different_states(who, follower.state, listed),
                    *compare.faults_of(each_for_itself)):
        stage.complain(f"{who}: {finding}")
