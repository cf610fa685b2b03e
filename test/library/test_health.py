#!/usr/bin/env python3
"""test_health.py KUBESIM RECORDINGS EVENT_PRINTER: servers that are overloaded, silent, unavailable or full of faults; and
the status that is reported meanwhile."""
import signal
import sys
import time

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, PODS, Story, run


class RetryAfter(Story):
    arguments = KUBECONFIG

    def assert_waits(self, least, **params):
        self.put('a')
        self.sim.fault('status', verb='watchlist', **params)
        self.follow().until('synced')
        first, second = self.request_times('watchlist')
        self.assertGreaterEqual(second - first, least)
        self.settle()

    def test_retry_after_is_obeyed(self):
        self.assert_waits(3000, code=429, retry_after=3)

    def test_retry_after_as_a_date_is_obeyed(self):
        self.assert_waits(2900, code=503, retry_after=4, date=1)  # dates have whole seconds: up to one may be lost

    def test_port_closed_for_a_while(self):
        self.put('a')
        self.follow().until('synced')
        with self.follower_stopped():
            self.put('b')
            self.sim.fault('refuse', ms=3000)  # longer than the first delay: usually one or two attempts fail
        self.follower.until('ADDED')
        self.settle()


class Stale(Story):
    arguments = *NO_WATCH_LIST, '--bookmark-every', '300'

    def test_silent_watch_becomes_stale(self):
        self.put('a')
        self.sim.fault('blackhole', verb='watch', bytes=900)  # some bookmarks, and a part of one
        self.follow(stale=2).until('synced')
        start = time.monotonic()
        self.follower.until('stale', stale=True)
        self.assertLess(time.monotonic() - start, 20)  # 2 s, twice for a partial event, and a busy machine
        self.put('b')
        self.follower.until('stale', stale=False)
        self.settle()
        self.assertEqual(self.follower.kinds.count('stale'), 2)
        self.assertEqual(self.follower.of('gap'), [])

    def test_stopped_server_becomes_stale(self):
        self.put('a')
        self.follow(stale=2).wait_for(bookmarked=True)
        self.sim.child.send_signal(signal.SIGSTOP)
        self.addCleanup(self.sim.child.send_signal, signal.SIGCONT)
        self.follower.until('stale', stale=True)
        self.assertEqual(self.follower.query()['status'], 'stale')
        self.sim.child.send_signal(signal.SIGCONT)
        self.follower.until('stale', stale=False)
        self.put('b')
        self.settle()


class RandomFaults(Story):
    resource, path = 'pods', PODS
    arguments = *KUBECONFIG, '--seed', '7', '--fault-rate', '40', '--history', '300'

    def test_random_faults_end_in_a_consistent_state(self):
        self.sim.control('fill', resource='pods', count=200, bytes=500, namespaces=3)
        self.follow()
        for _ in range(20):
            self.sim.control('churn', resource='pods', count=100)
            self.sim.control('close', how='cut')
            time.sleep(0.1)  # time for faults; the checks do not depend on it
        self.sim.control('clear')
        self.settle()


run(__name__)
