"""A network that resets, refuses, swallows and crawls, while many write.

The server never forgets, so whatever the network does, informerd goes on where it was: it tells
every version, and never lists again. (The oracle goes to the server directly, and misses nothing.)
"""

import time

from lib.proxy import Proxy
from lib.stage import RECONNECT

from . import churn
from .churn import meanwhile

NAMESPACES = 4
RATE = 100  # writes a second
SECONDS = 3  # that a trouble lasts
CRAWL = 20_000  # bytes a second


def run(stage):
    proxy = stage.enter(Proxy(stage.plane.port))
    writers, halt = churn.begin(stage, NAMESPACES, interrupted=True, through=proxy.port)
    before = stage.writes
    with meanwhile(writers, halt, RATE):
        for trouble, end, mentioned in (
                (proxy.cut, None, RECONNECT),
                (proxy.refuse, proxy.accept, RECONNECT),
                (proxy.hole, proxy.heal, ""),
                (proxy.cut, None, RECONNECT),
                (lambda: proxy.slow(CRAWL), lambda: proxy.slow(None), "")):
            stage.expect_mentioned(mentioned)
            trouble()
            stage.wait_until_mentioned(mentioned, 30)
            if end:
                time.sleep(SECONDS)
                end()
            stage.wait_until_told()
    stage.catch_up()
    if stage.relists():
        stage.complain(f"{stage.relists()} relists, with a server that never forgot anything")
    return (f"{stage.writes - before} writes, {proxy.connections} connections,"
            f" seed {stage.load.seed}")
