"""The API server is killed ten times while many writers continue.

A write without a response may have happened or not: etcd's history shows it. Twice the history is
compacted too, so that watchers must list again.
"""

import http.client
import time

from lib.api import ApiError

from . import churn
from .churn import Writer, meanwhile

KILLS = 10
COMPACTED = (3, 7)  # at these kills
NAMESPACES = 4
REST = 11  # seconds: after ten informerd resets its back-off
RATE = 50  # writes per second, plus those missed during the outage


def run(stage):
    writers, halt = churn.begin(stage, NAMESPACES, Stubborn, interrupted=True)
    before = stage.writes
    with meanwhile(writers, halt, RATE):
        for kill in range(KILLS):
            if kill in COMPACTED:
                stage.compact()
            stage.interrupt(stage.plane.kill_apiserver, stage.wait_until_reported)
            time.sleep(REST)
    failed = sum(writer.failed for writer in writers)
    return (f"{stage.writes - before} writes and {failed} without a response, {KILLS} kills,"
            f" {stage.relists()} relists, seed {stage.load.seed}")


class Stubborn(Writer):
    """A failed write is not an error; its result is read later."""

    failed = 0

    def _write_one(self):
        try:
            super()._write_one()
        except (OSError, http.client.HTTPException):
            self._give_up()
        except ApiError as error:
            if error.status == 404:
                self._alive.discard(self._chosen)
            elif error.status == 409:
                self._alive.add(self._chosen)
            else:  # starting: not authorized or not available yet
                self._give_up()

    def _give_up(self):
        self.failed += 1
        self._halt.wait(0.2)
