#!/usr/bin/env python3
"""test_kill.py KUBESIM RECORDINGS INFORMERD [TIMES]: killed repeatedly while it writes.

The log stays valid: complete lines, increasing numbers without duplicates, one id, and a START record that reports
skipped numbers.
"""
import contextlib
import os
import random
import signal
import sys
import time

from service import FULL, Case, fold, records_of, run, runs_of, wait_until

TIMES = int(sys.argv[4]) if len(sys.argv) > 4 else 100 if FULL else 25
ENOUGH = 40  # seconds: on a slow machine, this many kills are enough
TORN = b'{"time":"2026-11-16T00:58:11.951020Z","seq":99999999,"type":"MODI'  # as a failing disk may leave it


class Kill(Case):
    def size(self):
        return os.path.getsize(self.path) if self.path.exists() else 0

    def reserved(self):
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / 'state/seq').read_text()

    def run_once(self, more):
        """A run that is killed when the log has grown by that many bytes; -1: as soon as it has numbers."""
        before, reserved = self.size(), self.reserved()
        daemon = self.start()
        if more < 0:
            wait_until(lambda: self.reserved() != reserved, 'numbers being reserved')
        else:
            wait_until(lambda: self.size() > before + more or not daemon.alive(), 'lines')
        self.assertTrue(daemon.alive(), daemon.stderr_text())
        daemon.end(signal.SIGKILL)

    def tear(self):
        """Writes the beginning of a line at the end of the file. Returns its offset."""
        with open(self.path, 'ab') as f:
            at = f.tell()
            f.write(TORN)
        return at

    def assert_blank(self, torn):
        text = self.path.read_bytes()
        for at in torn:
            self.assertEqual(text[at:at + len(TORN) + 1], b' ' * len(TORN) + b'\n')

    def test_log_stays_valid_after_every_kill(self):
        chance = random.Random(5)
        sizes, torn = [], []
        self.sim.control('fill', resource='configmaps', count=40, bytes=400)
        self.sim.control('churn', resource='configmaps', count=10**9, rate=400)
        end = time.monotonic() + ENOUGH
        for i in range(TIMES):
            self.run_once(chance.choice((-1, 0, 500, 12000, 20000, 40000)))
            sizes.append(self.size())
            if i % 7 == 3 and self.size() and self.path.read_bytes().endswith(b'\n'):
                torn.append(self.tear())
            if time.monotonic() > end:
                break
        self.assertEqual(sizes, sorted(sizes))
        print(f'# killed {len(sizes)} times, {len(torn)} torn lines')
        self.finish(torn)

    def finish(self, torn):
        """One more run, that ends cleanly, and then one that reports so."""
        for _ in range(2):
            daemon = self.start()
            self.wait_ready()
            self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        records = records_of(self.path)
        numbers = [r['seq'] for r in records]
        self.assertTrue(all(a < b for a, b in zip(numbers, numbers[1:])), 'numbers grow')
        self.assertEqual(len({r['log'] for r in records}), 1)
        self.assert_blank(torn)
        self.assertTrue(torn)
        runs = runs_of(records)
        self.assertEqual({run[0]['type'] for run in runs}, {'START'})
        fold(records)
        self.assertNotIn('reason', runs[0][0] if runs[0][0]['seq'] == 1 else {})
        self.assertEqual({r[0].get('reason') for r in runs[1:-1]}, {'seq-skipped'})
        self.assertNotIn('reason', runs[-1][0])
        self.assertEqual(runs[-1][0]['seq'], runs[-2][-1]['seq'] + 1)

    def test_last_run_reports_the_objects_of_the_server(self):
        self.sim.control('fill', resource='configmaps', count=300, bytes=400)
        for more in (0, 20000, 60000):
            self.sim.control('churn', resource='configmaps', count=400)  # each run has lines to write
            self.run_once(more)
        daemon = self.start()
        self.wait_equal()
        self.sim.control('churn', resource='configmaps', count=100)
        self.wait_equal()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertEqual(self.log.read()[-1]['type'], 'STOP')


run(__name__)
