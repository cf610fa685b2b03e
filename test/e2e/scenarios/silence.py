"""A connection that silently drops all data: the watcher detects the silence, reports that its cache is
stale, and reconnects.

The daemon waits minutes for that, so this uses the library with a shorter limit.
"""

from lib import compare
from lib.proxy import Proxy
from lib.resource import PODS

NAMESPACE = "quiet"
STALE_AFTER = 5  # seconds


def run(stage):
    proxy, pods = stage.enter(Proxy(stage.plane.port)), stage.pods
    stage.make_namespace(NAMESPACE)
    for name in ("changed", "ended", "replaced"):
        pods.create(NAMESPACE, name)
    stage.watch("token")
    follower = stage.follow(stage.plane.kubeconfig("token", proxy.port), PODS, "in-silence",
                            stale_after=STALE_AFTER)
    stage.catch_up()
    follower.wait_for_state(pods.list(), 30)
    proxy.lose()
    pods.patch(NAMESPACE, "changed", {"metadata": {"labels": {"seen": "later"}}})
    pods.delete(NAMESPACE, "ended")
    pods.delete(NAMESPACE, "replaced")
    pods.create(NAMESPACE, "replaced")
    if not follower.wait_for_state(pods.list(), 4 * STALE_AFTER):
        stage.complain(f"{4 * STALE_AFTER} s after the start of the silence the follower is not equal")
    types = [record["type"] for record in follower.records]
    if [word for word in types if word in ("STALE", "RECOVERED")] != ["STALE", "RECOVERED"]:
        stage.complain(f"the follower did not report that it was stale and recovered: {types}")
    for finding in compare.different_states("the follower", follower.state, pods.list()):
        stage.complain(finding)
    return f"{stage.writes} writes, {proxy.connections} connections: {', '.join(types)}"
