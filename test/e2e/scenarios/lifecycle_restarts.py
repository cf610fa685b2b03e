"""The same pod, with restarts of the API server in between.

Immediately after each restart other pods change, are deleted and are created again with the same
names: the first time no watcher is connected, later some may be.
"""

from .lifecycle import LIFE, NAMESPACE, POD

BRIEF = ("brief-0", "brief-1")  # pods that are deleted before the first outage


def run(stage):
    pods, plane = stage.pods, stage.plane
    stage.make_namespace(NAMESPACE)
    for name in ("changed", "ended", "replaced", "replaced-twice"):
        pods.create(NAMESPACE, name)
    stage.watch("certificate-data", interrupted=True)
    stage.catch_up()
    for name in BRIEF:
        live(pods, name)

    def disturb():
        change_others(pods)

    begin, go_on, recover, end = LIFE
    begin(pods, POD)
    stage.interrupt_unseen(plane.kill_apiserver, disturb)
    settle(stage)
    go_on(pods, POD)
    stage.interrupt(plane.stop_apiserver, disturb)
    settle(stage)
    recover(pods, POD)
    stage.interrupt(plane.kill_apiserver, disturb)
    settle(stage)
    end(pods, POD)
    return f"{len(pods.written)} writes, 3 restarts"


def live(pods, name):
    for part in LIFE:
        part(pods, name)


def change_others(pods):
    pods.patch(NAMESPACE, "changed", {"metadata": {"labels": {"write": str(len(pods.written))}}})
    pods.delete(NAMESPACE, "ended")
    for name in ("replaced", "replaced-twice", "replaced-twice"):
        pods.delete(NAMESPACE, name)
        pods.create(NAMESPACE, name)
    live(pods, "unseen")


def settle(stage):
    """Waits until all watch again, so that the next part is live; creates an "ended" pod again."""
    stage.catch_up()
    stage.pods.create(NAMESPACE, "ended")
