"""The same churn, with an API server that goes away three times in its middle.

Nobody writes while it is away. Who writes goes on the moment it is back, beginning with objects
that end and come back under their names: the first time no watcher is there to see it, later it
depends.
"""

from . import churn
from .churn import NAMESPACES, together

REPLACED = 5  # objects in each namespace, at each return
SHARE = 1 / 8  # of the churn's seconds, before and after each absence


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
        stage.catch_up()  # so that the next absence takes a server that is being watched
    return f"{stage.writes - before} writes, 3 restarts, seed {load.seed}"
