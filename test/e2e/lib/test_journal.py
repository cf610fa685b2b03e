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
    def test_complete_and_blanked_lines_are_valid(self):
        text = b"".join(json.dumps(each).encode() + b"\n" for each in LOG)
        self.assertEqual(journal.records_of(text + b"    \n"), (LOG, []))

    def test_incomplete_lines_are_found(self):
        _, faults = journal.records_of(b'{"seq":1\n{"seq":2}\n{"se')
        self.assertEqual(len(faults), 2)


class TestNumbers(unittest.TestCase):
    def test_a_valid_log_has_no_faults(self):
        self.assertEqual(journal.faults_of(LOG), [])

    def test_a_repeated_number_is_found(self):
        again = FIRST[-1] | {"name": "other"}
        self.assertEqual(len(journal.faults_of([*FIRST, again, *SECOND])), 1)

    def test_a_changed_log_id_is_found(self):
        self.assertEqual(len(journal.faults_of([*FIRST, *(each | {"log": "M"} for each in SECOND)])),
                         1)

    def test_a_start_without_its_reason_is_found(self):
        self.assertEqual(len(journal.faults_of([*FIRST, record(65537, "START")])), 1)


class TestRuns(unittest.TestCase):
    def test_valid_runs_have_no_differences(self):
        self.assertEqual(differing(LOG), [])

    def test_a_change_repeated_by_the_next_run_is_found(self):
        again = change(65540, "MODIFIED", "a", 3)
        self.assertTrue(differing([*FIRST, *SECOND[:3], again]))

    def test_a_missing_change_is_found(self):
        self.assertTrue(differing([*FIRST[:3], change(4, "ADDED", "c", 5)] + FIRST[3:4]))
        self.assertTrue(differing([*FIRST[:4], change(5, "MODIFIED", "a", 6)]))

    def test_an_invented_change_is_found(self):
        self.assertTrue(differing([*FIRST, change(6, "ADDED", "d", 4)]))

    def test_an_object_added_twice_in_one_run_is_found(self):
        self.assertTrue(differing([*FIRST, change(6, "ADDED", "a", 6)]))

    def test_the_state_after_a_run_has_its_objects(self):
        self.assertEqual(sorted(journal.state_after(SECOND)), ["ns/a", "ns/c"])
