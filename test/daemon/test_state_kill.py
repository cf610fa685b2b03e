#!/usr/bin/env python3
"""test_state_kill.py KUBESIM RECORDINGS INFORMERD [KILLS]: killed again and again while everything changes.

The log continues as if there had been one run. The files of the state have 1 MB, so that they are compacted all the time.
"""
import contextlib
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
KEEP = 100  # rotated files
PER_RUN = 700  # changes before each kill, so that no file of these is removed; more than any run waits for
SEGMENT = {'INFORMERD_TEST_SEGMENT_BYTES': str(1 << 20)}


class Killed(Case):
    def size(self):
        total = 0
        for path in self.folder.glob('events*.jsonl*'):
            with contextlib.suppress(FileNotFoundError):  # it is rotated just now
                total += os.path.getsize(path)
        return total

    def conf(self, **changes):
        """Every update is reported, also one that changes no kept field."""
        return super().conf(**{'watches': [{'resource': 'configmaps', 'ignore': []}], **changes})

    def kill_often(self, conf, kills, compact=0, disturb=None, per_run=0):
        """Kills it at random amounts of written lines. After some kills the server forgets its history. @disturb is
        called with the daemon shortly before each kill. The changes never end, or are @per_run more for each run."""
        chance = random.Random(7)
        began = time.monotonic()
        self.sim.control('set', history=10**7)
        self.sim.control('fill', resource='configmaps', count=200, bytes=400)
        if not per_run:
            self.sim.control('churn', resource='configmaps', count=10**9, rate=RATE)
        for _ in range(kills):
            if per_run:
                self.sim.control('churn', resource='configmaps', count=per_run, rate=RATE)
            before, more = self.size(), chance.choice((0, 500, 12000, 40000, 400000))
            daemon = self.start(conf, env=SEGMENT)
            wait_until(lambda: self.size() > before + more or not daemon.alive(), 'lines')
            self.assertTrue(daemon.alive(), daemon.stderr_text())
            if disturb:
                disturb(daemon, chance)
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

    def assert_each_version_once(self, records):
        seqs = [r['seq'] for r in records]
        self.assertTrue(all(a < b for a, b in itertools.pairwise(seqs)), 'numbers grow')
        live = [int(r['rv']) for r in records if r['type'] in CHANGES and r['origin'] == 'live']
        self.assertTrue(all(a + 1 == b for a, b in itertools.pairwise(live)), 'no version is missing or repeated')

    def test_each_change_is_in_the_log_once(self):
        self.kill_often(self.conf(), KILLS)
        self.last_run(self.conf())
        records = records_of(self.path)
        fold(records)
        self.assert_each_version_once(records)
        self.assertEqual({r['origin'] for r in records if r['type'] in CHANGES}, {'initial', 'live'})

    def rotated(self, path):
        """The rotated files of a log, the oldest one first."""
        return sorted(self.folder.glob(f'{path.name}.*'), key=lambda p: -int(p.name.rsplit('.', 1)[1]))

    def records_of_rotated(self):
        """All records of the log; None if it was rotated or written to meanwhile."""
        def files():
            return [(path.name, path.stat().st_ino, path.stat().st_size) for path in (*self.rotated(self.path), self.path)]
        with contextlib.suppress(FileNotFoundError):
            before, found = files(), None
            with contextlib.suppress(AssertionError):  # the last line is incomplete
                found = records_of(*(self.folder / name for name, *_ in before))
            if files() == before:
                return found
        return None

    def test_kills_during_rotations_and_reloads(self):
        """The files rotate at another size after each reload, which also opens and removes another log."""
        size = 32 if KILLS < FEWER else 256

        def conf(number):
            more = [{'path': str(self.folder / 'events-sometimes.jsonl')}] if number % 2 else []
            rotate = {'size': f'{size + number % 5}K', 'keep': KEEP}
            return self.conf(event_logs=[{'path': str(self.path), 'rotate': rotate}, *more])

        def disturb(daemon, chance):
            for _ in range(chance.randrange(4)):
                self.write_conf(conf(chance.randrange(10)))
                daemon.send_signal(chance.choice((signal.SIGHUP, signal.SIGHUP, signal.SIGUSR1)))
                time.sleep(chance.random() * 0.02)
        self.kill_often(conf(0), min(KILLS, FEWER), disturb=disturb, per_run=PER_RUN)
        daemon = self.start(conf(0), env=SEGMENT)
        self.wait_ready()

        def has_all():
            records = self.records_of_rotated()
            return records and fold(records) == self.on_server()
        wait_until(has_all, 'the objects of the server')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertIn(len(self.rotated(self.path)), range(2, KEEP))
        self.assert_each_version_once(self.records_of_rotated())

    def test_differences_are_in_two_logs_once(self):
        other = self.folder / 'events-small.jsonl'
        conf = self.conf(event_logs=[{'path': str(self.path)},
                                     {'path': str(other), 'rotate': {'size': '1M', 'keep': 100}}])
        self.kill_often(conf, min(KILLS, FEWER), compact=0.2)
        self.last_run(conf)
        one, two = records_of(self.path), records_of(*self.rotated(other), other)
        fold(one)
        fold(two)

        def changes(records):
            return [(r['type'], r['name'], r['rv']) for r in records if r['type'] in CHANGES]
        self.assertEqual(changes(one), changes(two))


run(__name__)
