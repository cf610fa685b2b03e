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


def nap(piece):
    began = time.monotonic()
    time.sleep(0.05)
    return began, time.monotonic()


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def run(pieces, work, jobs=3):
    return dict(workers.side_by_side(pieces, jobs, work, lambda piece: None))


class TestWorkers(unittest.TestCase):
    def most_at_once(self, pieces):
        times = run(pieces, nap)
        self.assertEqual(sorted(times), list(range(len(pieces))))
        return max(sum(began <= moment < ended for began, ended in times.values())
                   for moment, _ in times.values())

    def test_no_more_than_there_are_jobs(self):
        self.assertLessEqual(self.most_at_once([Piece(str(number)) for number in range(7)]), 3)

    def test_heavy_ones_count_for_more(self):
        self.assertEqual(self.most_at_once([Piece("a", 2), Piece("b", 2)]), 1)

    def test_one_that_is_too_heavy_is_alone_but_has_its_turn(self):
        self.assertEqual(self.most_at_once([Piece("a", 100), Piece("b", 2)]), 1)

    def test_one_that_dies_is_lost(self):
        self.assertIsInstance(run([Piece("a")], die)[0], workers.Lost)

    def test_none_is_left_behind(self):
        done = workers.side_by_side([Piece("long"), Piece("short")], 3, sleep, lambda piece: None)
        self.assertEqual(next(done), (1, "short"))
        done.close()  # as an exception in the block does
        self.assertEqual(multiprocessing.active_children(), [])


def sleep(piece):
    time.sleep(60 if piece.name == "long" else 0)
    return piece.name
