"""The same life, with an API server that goes away between its parts.

At once after each return other pods change, end, and come back under their names: the first time no
watcher is there to see it, later it depends.
"""

from .lifecycle import LIFE, NAMESPACE, POD

BRIEF = ("brief-0", "brief-1")  # lives that are over before the first absence


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
    """Let all look again, so that the next part is told live; with an "ended" to end once more."""
    stage.catch_up()
    stage.pods.create(NAMESPACE, "ended")
