"""A custom resource that is created after informerd was started, deleted with all its objects while
it is watched, and created again: informerd waits without an error, finds it by itself, and reports
each deletion once. By its full name, and by a short name that needs discovery.
"""

from lib import children
from lib.resource import WIDGETS, Selection

from .custom import DEFINITIONS, NAME, NAMESPACE, begin, define, is_served, live

WATCHES = {"by-name": Selection(optional=True), "by-kind": Selection(optional=True, resource_name=WIDGETS.kind)}
LOOK = 30  # seconds until the next check after the resource was deleted; usually 10


def run(stage):
    widgets = stage.objects(WIDGETS)
    stage.make_namespace(NAMESPACE)
    for name, selection in WATCHES.items():
        stage.watch("token", (WIDGETS,), selection, name, interrupted=True)
    wait_for_status(stage, "waiting")
    define(stage)
    begin(widgets, "first")
    live(widgets, "unseen")
    check_reports(stage)
    stage.plane.admin.delete(f"{DEFINITIONS}/{NAME}", 0)
    children.until(lambda: not is_served(stage), 30, "the resource is deleted")
    wait_for_status(stage, "waiting")
    children.until(lambda: all(is_empty(stage, name) for name in WATCHES), 10,
                   "all objects are reported as deleted")
    define(stage)
    begin(widgets, "first")
    check_reports(stage)
    return f"{stage.writes} writes, {stage.relists()} relists"


def check_reports(stage):
    """Existing objects, then one that is created and deleted."""
    stage.catch_up()
    wait_for_status(stage, "live")
    live(stage.objects(WIDGETS), "short")
    stage.wait_until_reported()


def wait_for_status(stage, status):
    """Waits until each watch has that status, without an error."""
    def all_have_it():
        return all(has_status(stage, name, status) for name in WATCHES)
    children.until(all_have_it, LOOK, f"each watch {status}", pause=0.2)


def has_status(stage, name, status):
    try:
        ready, text = stage.readiness(name)
    except (FileNotFoundError, ConnectionRefusedError):
        return False  # starting
    return ready and f": {status}" in text


def is_empty(stage, name):
    """From the last event of each object."""
    last = {event.key: event.type for event in stage.events(name)}
    return set(last.values()) == {"DELETED"}
