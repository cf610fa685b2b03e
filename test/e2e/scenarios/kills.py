"""The API server killed ten times while many write and never wait for it.

What a writer gets no answer to may have happened or not: etcd's history knows. Twice the history is
compacted too, so that who was away too long has to list again.
"""

import http.client
import time

from lib.api import ApiError

from . import churn
from .churn import Writer, meanwhile

KILLS = 10
COMPACTED = (3, 7)  # at these
NAMESPACES = 4
REST = 11  # seconds: after ten informerd takes a stream for good, and its patience begins anew
RATE = 50  # writes a second, and what was missed while the server was away


def run(stage):
    writers, halt = churn.begin(stage, NAMESPACES, Stubborn, interrupted=True)
    before = stage.writes
    with meanwhile(writers, halt, RATE):
        for kill in range(KILLS):
            if kill in COMPACTED:
                stage.compact()
            stage.interrupt(stage.plane.kill_apiserver, stage.wait_until_told)
            time.sleep(REST)
    failed = sum(writer.failed for writer in writers)
    return (f"{stage.writes - before} writes and {failed} without an answer, {KILLS} kills,"
            f" {stage.relists()} relists, seed {stage.load.seed}")


class Stubborn(Writer):
    """Does not mind a write that fails, and learns later what became of it."""

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
            else:  # it is starting: not allowed yet, or not yet able
                self._give_up()

    def _give_up(self):
        self.failed += 1
        self._halt.wait(0.2)
