"""A paged list whose later pages have expired when they are requested: the history was compacted, and
their objects have changed.

The first page must not count as the whole list, and pages of different versions must not be combined.
"""

import threading
from random import Random

from lib import children
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS

from .churn import together

NAMESPACE = "pages"
WRITERS = 8
EACH = 150  # objects: more than two pages of 500 in total
SIZE = 500  # random bytes, which can't be compressed
CRAWL = 100_000  # bytes per second: a page takes seconds
AGENTS = ("informerd/", "informer/")  # the daemon and the follower


def run(stage):
    proxy, objects = stage.enter(Proxy(stage.plane.port)), stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    writers, halt = range(WRITERS), threading.Event()
    together(writers, halt, lambda writer: fill(objects, writer, Random(writer), halt))
    proxy.slow(CRAWL)
    stage.watch("token", (CONFIGMAPS,), interrupted=True, through=proxy.port)
    children.until(lambda: pages(stage) >= len(AGENTS), 30, "first pages")
    together(writers, halt, lambda writer: change(objects, writer))
    stage.compact()
    proxy.slow(None)
    stage.catch_up()
    for agent in AGENTS:
        expired = [request for request in stage.plane.requests(agent)
                   if request.status == 410 and "continue" in request.query]
        if not expired:
            stage.complain(f"{agent} requested no expired page: the scenario proves nothing")
    return f"{stage.writes} writes"


def fill(objects, writer, random, halt):
    for number in range(EACH):
        if halt.is_set():
            return
        text = random.randbytes(SIZE).hex()
        objects.create(NAMESPACE, f"{writer}-{number}", {"data": {"text": text}})


def change(objects, writer):
    """On every page."""
    for number in range(0, EACH, EACH // 3):
        objects.delete(NAMESPACE, f"{writer}-{number}")
        objects.patch(NAMESPACE, f"{writer}-{number + 1}", {"data": {"text": "other"}})
        objects.create(NAMESPACE, f"{writer}-{number}-again")


def pages(stage):
    return sum("limit" in request.query for agent in AGENTS
               for request in stage.plane.requests(agent))
