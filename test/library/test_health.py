#!/usr/bin/env python3
"""test_health.py KUBESIM RECORDINGS TOLD: servers that are slow, silent, away, or have a bad day; and what is said about
it meanwhile."""
import signal
import sys
import time

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, PODS, Story, run


class Manners(Story):
    arguments = KUBECONFIG

    def assert_waits(self, least, **params):
        self.put('a')
        self.sim.fault('status', verb='watchlist', **params)
        self.follow().until('synced')
        first, second = self.asked('watchlist')
        self.assertGreaterEqual(second - first, least)
        self.settle()

    def test_retry_after_is_obeyed(self):
        self.assert_waits(3000, code=429, retry_after=3)

    def test_also_as_a_date(self):
        self.assert_waits(2900, code=503, retry_after=4, date=1)  # whole seconds: what is left of the first may be little

    def test_nobody_there_for_a_while(self):
        self.put('a')
        self.follow().until('synced')
        with self.asleep():
            self.put('b')
            self.sim.fault('refuse', ms=3000)  # longer than the first wait: as a rule it is refused once or twice
        self.told.until('ADDED')
        self.settle()


class Stale(Story):
    arguments = *NO_WATCH_LIST, '--bookmark-every', '300'

    def test_a_black_hole_is_noticed_in_stale_after(self):
        self.put('a')
        self.sim.fault('blackhole', verb='watch', bytes=900)  # some bookmarks, and a part of one
        self.follow(stale=2).until('synced')
        start = time.monotonic()
        self.told.until('stale', stale=True)
        self.assertLess(time.monotonic() - start, 20)  # 2 s, twice for a partial event, and a machine with much to do
        self.put('b')
        self.told.until('stale', stale=False)
        self.settle()
        self.assertEqual(self.told.kinds.count('stale'), 2)
        self.assertEqual(self.told.of('gap'), [])

    def test_so_is_a_server_that_hangs(self):
        self.put('a')
        self.follow(stale=2).wait_for(bookmarked=True)
        self.sim.child.send_signal(signal.SIGSTOP)
        self.addCleanup(self.sim.child.send_signal, signal.SIGCONT)
        self.told.until('stale', stale=True)
        self.assertEqual(self.told.ask()['word'], 'stale')
        self.sim.child.send_signal(signal.SIGCONT)
        self.told.until('stale', stale=False)
        self.put('b')
        self.settle()


class Chance(Story):
    resource, path = 'pods', PODS
    arguments = *KUBECONFIG, '--seed', '7', '--fault-rate', '40', '--history', '300'

    def test_a_bad_day_ends_well(self):
        self.sim.control('fill', resource='pods', count=200, bytes=500, namespaces=3)
        self.follow()
        for _ in range(20):
            self.sim.control('churn', resource='pods', count=100)
            self.sim.control('close', how='cut')
            time.sleep(0.1)  # for faults to happen in; what is checked does not depend on it
        self.sim.control('clear')
        self.settle()


run(__name__)
