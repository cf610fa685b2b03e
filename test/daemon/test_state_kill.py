#!/usr/bin/env python3
"""test_state_kill.py KUBESIM RECORDINGS INFORMERD [KILLS]: killed again and again while everything changes.

The log continues as if there had been one run. The files of the state have 1 MB, so that they are compacted all the time.
"""
import itertools
import os
import random
import signal
import sys
import time

from service import CHANGES, FULL, Case, fold, records_of, run, wait_until

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 200 if FULL else 5
RATE = 1000  # changes a second
FEWER = 25  # kills of the other tests in the full tier
SEGMENT = {'INFORMERD_TEST_SEGMENT_BYTES': str(1 << 20)}


class Killed(Case):
    def size(self):
        return sum(os.path.getsize(path) for path in self.folder.glob('events*.jsonl*'))

    def conf(self, **changes):
        """Every update is reported, also one that changes no kept field."""
        return super().conf(**{'watches': [{'resource': 'configmaps', 'ignore': []}], **changes})

    def kill_often(self, conf, kills, compact=0):
        """Kills it at random amounts of written lines. After some kills the server forgets its history."""
        chance = random.Random(7)
        began = time.monotonic()
        self.sim.control('set', history=10**7)
        self.sim.control('fill', resource='configmaps', count=200, bytes=400)
        self.sim.control('churn', resource='configmaps', count=10**9, rate=RATE)
        for _ in range(kills):
            before, more = self.size(), chance.choice((0, 500, 12000, 40000, 400000))
            daemon = self.start(conf, env=SEGMENT)
            wait_until(lambda: self.size() > before + more or not daemon.alive(), 'lines')
            self.assertTrue(daemon.alive(), daemon.stderr_text())
            daemon.end(signal.SIGKILL)
            if chance.random() < compact:
                self.sim.control('compact')
        self.sim.control('calm')
        changes = int(self.sim.control('stats')['resourceVersion']) - 300
        print(f'# {kills} kills, {changes} changes in {time.monotonic() - began:.0f} s')

    def last_run(self, conf):
        """Without changes; returns when it has reported everything."""
        daemon = self.start(conf, env=SEGMENT)
        self.wait_ready()
        size = -1
        while size != self.size():  # on a slow machine this takes longer than anything that is waited for
            size = self.size()
            self.log.read()
            time.sleep(1)
        self.wait_equal()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_each_change_is_in_the_log_once(self):
        self.kill_often(self.conf(), KILLS)
        self.last_run(self.conf())
        records = records_of(self.path)
        fold(records)
        seqs = [r['seq'] for r in records]
        self.assertTrue(all(a < b for a, b in itertools.pairwise(seqs)), 'numbers grow')
        live = [int(r['rv']) for r in records if r['type'] in CHANGES and r['origin'] == 'live']
        self.assertTrue(all(a + 1 == b for a, b in itertools.pairwise(live)), 'no version is missing or repeated')
        self.assertEqual({r['origin'] for r in records if r['type'] in CHANGES}, {'initial', 'live'})

    def test_differences_are_in_two_logs_once(self):
        other = self.folder / 'events-small.jsonl'
        conf = self.conf(event_logs=[{'path': str(self.path)},
                                     {'path': str(other), 'rotate': {'size': '1M', 'keep': 100}}])
        self.kill_often(conf, min(KILLS, FEWER), compact=0.2)
        self.last_run(conf)
        rotated = sorted(self.folder.glob('events-small.jsonl.*'), key=lambda p: -int(p.name.rsplit('.', 1)[1]))
        one, two = records_of(self.path), records_of(*rotated, other)
        fold(one)
        fold(two)

        def changes(records):
            return [(r['type'], r['name'], r['rv']) for r in records if r['type'] in CHANGES]
        self.assertEqual(changes(one), changes(two))


run(__name__)
