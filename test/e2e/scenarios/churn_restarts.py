"""The same churn with three restarts of the API server.

There are no writes while it is down. They continue as soon as it is back, first with objects that are
deleted and created again with the same names: the first time no watcher is connected, later some may
be.
"""

from . import churn
from .churn import NAMESPACES, together

REPLACED = 5  # objects in each namespace, at each return
SHARE = 1 / 8  # of the duration of churn, before and after each outage


def run(stage):
    load, plane = stage.load, stage.plane
    writers, halt = churn.begin(stage, interrupted=True)
    before = stage.writes

    def write():
        rate, seconds = load.rate / NAMESPACES, load.seconds * SHARE
        together(writers, halt, lambda writer: writer.churn(rate, seconds))

    def go_on():
        together(writers, halt, lambda writer: writer.replace(REPLACED))
        write()

    for interrupt, leave in ((stage.interrupt_unseen, plane.kill_apiserver),
                             (stage.interrupt, plane.stop_apiserver),
                             (stage.interrupt, plane.kill_apiserver)):
        write()
        interrupt(leave, go_on)
        stage.catch_up()  # so that the next outage affects connected watchers
    return f"{stage.writes - before} writes, 3 restarts, seed {load.seed}"
