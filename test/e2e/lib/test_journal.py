"""Tests that the checks of a log find each fault, and nothing in a valid log."""

import json
import unittest

from . import journal
from .compare import Event


def record(seq, kind, **more):
    return {"seq": seq, "log": "L", "type": kind} | more


def change(seq, kind, name, rv, origin="live"):
    return record(seq, kind, watch="pods", origin=origin, namespace="ns", name=name,
                  uid=f"uid-{name}", rv=str(rv))


def event(kind, name, rv):
    return Event(kind, f"ns/{name}", f"uid-{name}", rv)


HAPPENED = [event("ADDED", "a", 1), event("ADDED", "b", 2), event("MODIFIED", "a", 3),
            event("DELETED", "b", 4), event("ADDED", "c", 5), event("MODIFIED", "a", 6)]
FIRST = [record(1, "START"), change(2, "ADDED", "a", 1, "initial"),
         record(3, "SYNCED", watch="pods"), change(4, "ADDED", "b", 2),
         change(5, "MODIFIED", "a", 3)]
SECOND = [record(65537, "START", reason="seq-skipped"),
          change(65538, "ADDED", "a", 3, "initial"), record(65539, "SYNCED", watch="pods"),
          change(65540, "ADDED", "c", 5), change(65541, "MODIFIED", "a", 6)]
LOG = FIRST + SECOND


def differing(records):
    runs = [journal.of_watch(run, "pods") for run in journal.runs_of(records)]
    return journal.different_runs(runs, HAPPENED)


class TestLines(unittest.TestCase):
    def test_whole_and_blanked_ones_are_fine(self):
        text = b"".join(json.dumps(each).encode() + b"\n" for each in LOG)
        self.assertEqual(journal.records_of(text + b"    \n"), (LOG, []))

    def test_a_torn_one_is_found(self):
        _, faults = journal.records_of(b'{"seq":1\n{"seq":2}\n{"se')
        self.assertEqual(len(faults), 2)


class TestNumbers(unittest.TestCase):
    def test_a_good_log(self):
        self.assertEqual(journal.faults_of(LOG), [])

    def test_a_number_that_is_given_twice(self):
        again = FIRST[-1] | {"name": "other"}
        self.assertEqual(len(journal.faults_of([*FIRST, again, *SECOND])), 1)

    def test_another_log(self):
        self.assertEqual(len(journal.faults_of([*FIRST, *(each | {"log": "M"} for each in SECOND)])),
                         1)

    def test_a_kill_that_is_not_said(self):
        self.assertEqual(len(journal.faults_of([*FIRST, record(65537, "START")])), 1)


class TestRuns(unittest.TestCase):
    def test_good_ones(self):
        self.assertEqual(differing(LOG), [])

    def test_a_change_that_is_told_again_by_the_next_run(self):
        again = change(65540, "MODIFIED", "a", 3)
        self.assertTrue(differing([*FIRST, *SECOND[:3], again]))

    def test_a_change_that_is_missing(self):
        self.assertTrue(differing([*FIRST[:3], change(4, "ADDED", "c", 5)] + FIRST[3:4]))
        self.assertTrue(differing([*FIRST[:4], change(5, "MODIFIED", "a", 6)]))

    def test_a_change_that_never_happened(self):
        self.assertTrue(differing([*FIRST, change(6, "ADDED", "d", 4)]))

    def test_an_object_that_is_told_twice_by_one_run(self):
        self.assertTrue(differing([*FIRST, change(6, "ADDED", "a", 6)]))

    def test_what_a_run_leaves(self):
        self.assertEqual(sorted(journal.state_after(SECOND)), ["ns/a", "ns/c"])
