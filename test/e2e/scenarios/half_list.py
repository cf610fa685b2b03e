"""A list that breaks off in the middle, at the start and when the watch must list again; before the
next attempt the objects that had been received are deleted.

Objects of the incomplete list are never reported.
"""

from lib import children
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS, Selection
from lib.stage import EXPIRED, RECONNECT

NAMESPACE = "half"
OBJECTS = 40
SIZE = 20_000  # bytes each
CRAWL = 100_000  # bytes per second
BACK = 60  # LIMIT: seconds until the next attempt
ENOUGH = 200_000  # bytes for two watchers: some objects were received, most were not


def run(stage):
    proxy, objects = stage.enter(Proxy(stage.plane.port)), stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    fill(objects, "first")
    proxy.slow(CRAWL)
    stage.watch("token", (CONFIGMAPS,), Selection(service=True), interrupted=True, through=proxy.port)
    break_off(stage, proxy, lambda: exchange(objects, "first", "second"))
    stage.catch_up()
    proxy.slow(CRAWL)
    stage.interrupt_unseen(stage.plane.kill_apiserver, lambda: exchange(objects, "second", "third"))
    stage.wait_until_mentioned(EXPIRED, BACK)  # so that its own list breaks off, not only that of the follower
    break_off(stage, proxy, lambda: exchange(objects, "third", "fourth"))
    stage.catch_up()
    return f"{stage.writes} writes, {proxy.connections} connections, {stage.relists()} relists"


def fill(objects, name):
    for number in range(OBJECTS):
        objects.create(NAMESPACE, f"{name}-{number}", {"data": {"text": "x" * SIZE}})


def exchange(objects, old, new):
    for number in range(OBJECTS):
        objects.delete(NAMESPACE, f"{old}-{number}")
    fill(objects, new)


def break_off(stage, proxy, then):
    """Cuts the list; new connections are refused until then() has returned."""
    before = proxy.delivered
    children.until(lambda: proxy.delivered > before + ENOUGH, 30, "a part of the list")
    stage.expect_mentioned(RECONNECT)
    proxy.refuse()
    stage.wait_until_mentioned(RECONNECT, 10)
    then()
    proxy.slow(None)
    proxy.accept()
