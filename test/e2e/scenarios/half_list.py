"""A list that breaks off in its middle, at the start and when the watch has to begin anew; before
the next attempt all that had come is gone from the server.

What was half there was never told, and is nowhere in what comes after it.
"""

from lib import children
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS
from lib.stage import EXPIRED, RECONNECT

NAMESPACE = "half"
OBJECTS = 40
SIZE = 20_000  # bytes each
CRAWL = 100_000  # bytes a second
BACK = 60  # seconds until it has tried again, at most
ENOUGH = 200_000  # bytes, to two watchers: some objects have come, and most have not


def run(stage):
    proxy, objects = stage.enter(Proxy(stage.plane.port)), stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    fill(objects, "first")
    proxy.slow(CRAWL)
    stage.watch("token", (CONFIGMAPS,), interrupted=True, through=proxy.port)
    break_off(stage, proxy, lambda: exchange(objects, "first", "second"))
    stage.catch_up()
    proxy.slow(CRAWL)
    stage.interrupt_unseen(stage.plane.kill_apiserver, lambda: exchange(objects, "second", "third"))
    stage.wait_until_mentioned(EXPIRED, BACK)  # so that its own list is broken off, not only the follower's
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
    """The list that is coming; and nobody gets another one until then() is done."""
    before = proxy.delivered
    children.until(lambda: proxy.delivered > before + ENOUGH, 30, "a part of the list")
    stage.expect_mentioned(RECONNECT)
    proxy.refuse()
    stage.wait_until_mentioned(RECONNECT, 10)
    then()
    proxy.slow(None)
    proxy.accept()
