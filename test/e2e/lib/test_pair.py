"""Tests of the comparison before the end of a scenario."""

import unittest
from types import SimpleNamespace

from .compare import Event
from .pair import Pair
from .resource import ALL

WEB = Event("ADDED", "shop/web", "uid-1", 5)
BRIEF = (Event("ADDED", "shop/brief", "uid-2", 6), Event("DELETED", "shop/brief", "uid-2", 7))
STATE = {"shop/web": ("uid-1", 5)}


def feed(*events):
    return SimpleNamespace(state=STATE, events=list(events), records=[], newest=max(event.rv for event in events))


class Findings(unittest.TestCase):
    def pair(self, ours, oracle):
        pair = Pair("pods", SimpleNamespace(written=[WEB, *BRIEF]), ALL, None, False)
        pair._ours, pair._oracle = ours, oracle
        return pair

    def test_an_event_that_has_not_arrived_is_no_difference(self):
        self.assertEqual(self.pair(feed(WEB, *BRIEF), feed(WEB)).findings(STATE), [])
        self.assertEqual(self.pair(feed(WEB), feed(WEB, *BRIEF)).findings(STATE), [])

    def test_an_event_that_was_dropped_is_a_difference(self):
        created, deleted = BRIEF
        self.assertNotEqual(self.pair(feed(WEB, deleted), feed(WEB, created, deleted)).findings(STATE), [])
