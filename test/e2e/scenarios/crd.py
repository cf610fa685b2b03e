"""A kind that the server gets to know after informerd was started, that is deleted under the
running watch with all its objects, and comes back: waited for without a fault, found by itself,
told deleted once. By its full name, and by a word for which the server has to be asked what it has.
"""

from lib import children
from lib.resource import WIDGETS, Asked

from .custom import DEFINITIONS, NAME, NAMESPACE, begin, define, is_served, live

WATCHES = {"by-name": Asked(optional=True), "by-kind": Asked(optional=True, word=WIDGETS.kind)}
LOOK = 30  # seconds to the next look for what has just gone; usually it is 10


def run(stage):
    widgets = stage.objects(WIDGETS)
    stage.make_namespace(NAMESPACE)
    for name, asked in WATCHES.items():
        stage.watch("token", (WIDGETS,), asked, name, interrupted=True)
    wait_for_word(stage, "waiting")
    define(stage)
    begin(widgets, "first")
    live(widgets, "unseen")
    be_told(stage)
    stage.plane.admin.delete(f"{DEFINITIONS}/{NAME}", 0)
    children.until(lambda: not is_served(stage), 30, "the kind gone")
    wait_for_word(stage, "waiting")
    children.until(lambda: all(is_empty(stage, name) for name in WATCHES), 10,
                   "all objects of the kind told deleted")
    define(stage)
    begin(widgets, "first")
    be_told(stage)
    return f"{stage.writes} writes, {stage.relists()} relists"


def be_told(stage):
    """What is there now, and then the life of one that comes and goes."""
    stage.catch_up()
    wait_for_word(stage, "live")
    live(stage.objects(WIDGETS), "short")
    stage.wait_until_told()


def wait_for_word(stage, word):
    """Until each watch says that of itself; and whichever it is, all is well."""
    def said():
        return all(is_said(stage, name, word) for name in WATCHES)
    children.until(said, LOOK, f"each watch {word}", pause=0.2)


def is_said(stage, name, word):
    try:
        ready, text = stage.readiness(name)
    except (FileNotFoundError, ConnectionRefusedError):
        return False  # it is being started
    return ready and f": {word}" in text


def is_empty(stage, name):
    """By the last that was told of each object."""
    last = {event.key: event.type for event in stage.told(name)}
    return set(last.values()) == {"DELETED"}
