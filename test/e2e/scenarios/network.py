"""A network that resets, refuses, delays and throttles connections, while many writers continue.

The server keeps its history, so informerd resumes where it was: it reports every version and never
lists again. (The oracle connects directly.)
"""

import time

from lib.proxy import Proxy
from lib.stage import RECONNECT

from . import churn
from .churn import meanwhile

NAMESPACES = 4
RATE = 100  # writes per second
SECONDS = 3  # duration of a failure
CRAWL = 20_000  # bytes per second


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
            stage.wait_until_reported()
    stage.catch_up()
    if stage.relists():
        stage.complain(f"{stage.relists()} relists, although the server kept its history")
    return (f"{stage.writes - before} writes, {proxy.connections} connections,"
            f" seed {stage.load.seed}")
