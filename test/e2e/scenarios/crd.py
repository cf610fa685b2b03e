"""A custom resource that is created after informerd was started, deleted with all its objects while
it is watched, and created again: informerd waits without an error, finds it by itself, and reports
each deletion once. By its full name, and by a short name that needs discovery.
"""

from lib import children
from lib.resource import WIDGETS, Asked

from .custom import DEFINITIONS, NAME, NAMESPACE, begin, define, is_served, live

WATCHES = {"by-name": Asked(optional=True), "by-kind": Asked(optional=True, word=WIDGETS.kind)}
LOOK = 30  # seconds until the next check after the resource was deleted; usually 10


def run(stage):
    widgets = stage.objects(WIDGETS)
    stage.make_namespace(NAMESPACE)
    for name, asked in WATCHES.items():
        stage.watch("token", (WIDGETS,), asked, name, interrupted=True)
    wait_for_word(stage, "waiting")
    define(stage)
    begin(widgets, "first")
    live(widgets, "unseen")
    be_reported(stage)
    stage.plane.admin.delete(f"{DEFINITIONS}/{NAME}", 0)
    children.until(lambda: not is_served(stage), 30, "the resource is deleted")
    wait_for_word(stage, "waiting")
    children.until(lambda: all(is_empty(stage, name) for name in WATCHES), 10,
                   "all objects are reported as deleted")
    define(stage)
    begin(widgets, "first")
    be_reported(stage)
    return f"{stage.writes} writes, {stage.relists()} relists"


def be_reported(stage):
    """Existing objects, then one that is created and deleted."""
    stage.catch_up()
    wait_for_word(stage, "live")
    live(stage.objects(WIDGETS), "short")
    stage.wait_until_reported()


def wait_for_word(stage, word):
    """Waits until each watch has that status, without an error."""
    def said():
        return all(is_said(stage, name, word) for name in WATCHES)
    children.until(said, LOOK, f"each watch {word}", pause=0.2)


def is_said(stage, name, word):
    try:
        ready, text = stage.readiness(name)
    except (FileNotFoundError, ConnectionRefusedError):
        return False  # starting
    return ready and f": {word}" in text


def is_empty(stage, name):
    """From the last event of each object."""
    last = {event.key: event.type for event in stage.events(name)}
    return set(last.values()) == {"DELETED"}
