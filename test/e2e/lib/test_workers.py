"""Tests of the workers: what runs at the same time, and that no process is left."""

import multiprocessing
import os
import signal
import time
import unittest
from typing import NamedTuple

from . import workers


class Piece(NamedTuple):
    name: str
    weight: int = 1


def work_briefly(piece):
    began = time.monotonic()
    time.sleep(0.05)
    return began, time.monotonic()


def kill_itself(_):
    os.kill(os.getpid(), signal.SIGKILL)


def run(pieces, work, jobs=3):
    return dict(workers.side_by_side(pieces, jobs, work, lambda piece: None))


class TestWorkers(unittest.TestCase):
    def most_at_once(self, pieces):
        times = run(pieces, work_briefly)
        self.assertEqual(sorted(times), list(range(len(pieces))))
        return max(sum(began <= moment < ended for began, ended in times.values())
                   for moment, _ in times.values())

    def test_runs_at_most_the_given_number_of_jobs(self):
        self.assertLessEqual(self.most_at_once([Piece(str(number)) for number in range(7)]), 3)

    def test_a_piece_counts_by_its_weight(self):
        self.assertEqual(self.most_at_once([Piece("a", 2), Piece("b", 2)]), 1)

    def test_a_piece_heavier_than_the_limit_runs_alone(self):
        self.assertEqual(self.most_at_once([Piece("a", 100), Piece("b", 2)]), 1)

    def test_a_killed_worker_is_reported_as_lost(self):
        self.assertIsInstance(run([Piece("a")], kill_itself)[0], workers.Lost)

    def test_no_worker_is_left_after_the_end(self):
        done = workers.side_by_side([Piece("long"), Piece("short")], 3, sleep, lambda piece: None)
        self.assertEqual(next(done), (1, "short"))
        done.close()  # as an exception in the block does
        self.assertEqual(multiprocessing.active_children(), [])


def sleep(piece):
    time.sleep(60 if piece.name == "long" else 0)
    return piece.name
