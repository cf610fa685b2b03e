#!/usr/bin/env python3
"""memory.py KUBESIM RECORDINGS HOLD BENCH_MEMORY BENCH_STATE: measures the memory of objects and watches over TLS against the documented limits.

The figures do not depend on the machine, but need a build without sanitizers.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[1] / 'library'))
import deployments
from stage import PROGRAMS, Case, Program, Sim, run, wait_until

KIB, MIB = 1024, 1024 * 1024


class Hold(Program):
    def __init__(self, case, folder, resource, watches):
        super().__init__(PROGRAMS[0], folder / 'kubeconfig', resource, watches)
        case.addCleanup(self.stop)

    def read_status(self):
        self.child.stdin.write(b'\n')
        self.child.stdin.flush()
        return json.loads(self.line())

    def wait_for(self, **fields):
        wait_until(lambda: fields.items() <= self.read_status().items(), fields)
        return json.loads(self.lines[-1])

    def close(self):
        self.child.stdin.close()
        return self.status()


class Objects(Case):
    arguments = '--self-signed', 'FOLDER/pki'

    def sync(self, mode):
        """50,000 objects of 12 KB: peak memory is at most their size plus 5 % plus 24 MiB."""
        self.sim.control('fill', resource='pods', count=50000, bytes=12000, namespaces=20)
        hold = Hold(self, self.folder / 'pki', 'pods', 0)
        now = hold.wait_for(synced=1, objects=50000)
        limit = now['bytes'] * 105 // 100 + 24 * MIB
        print(f'# {mode}: {now["objects"]} objects, {now["bytes"] / MIB:.1f} MiB; peak {now["peak"] / MIB:.1f} MiB '
              f'resident, {(now["peak"] - now["bytes"]) / MIB:.1f} MiB more than they are; limit {limit / MIB:.1f} MiB')
        self.assertLessEqual(now['peak'], limit)
        self.assertEqual(hold.close(), 0)

    def test_50000_objects_by_watch_list(self):
        self.sync('watch-list')

    def test_50000_objects_by_list(self):
        self.sim.control('set', watch_list=0)
        self.sync('list')


class Pods(unittest.TestCase):
    def fill(self, cache, count, changes):
        """Resident bytes per pod of 200 deployments, all included, after the first list and after changes."""
        with tempfile.NamedTemporaryFile('w') as templates:
            templates.write(deployments.template(200))
            templates.flush()
            output = subprocess.run([PROGRAMS[1], templates.name, cache, str(count), str(changes)], check=True,
                                  capture_output=True, text=True).stdout
        figures = [line for line in map(json.loads, output.splitlines()) if 'when' in line]
        for now in figures:
            print(f'# {cache}, {now["pods"]} pods of {now["text"]} bytes, {now["when"]}: {now["rss"]:.0f} bytes resident each: '
                  f'{now["body"]:.0f} text, {now["names"]:.0f} names, {now["header"]:.0f} header, {now["entry"]:.0f} entry with one '
                  f'index, {now["table"]:.0f} hash table, {now["buckets"]:.0f} values of indexes, {now["rounding"]:.0f} rounding')
        return [now['rss'] for now in figures]

    def test_100000_compact(self):
        for each in self.fill('compact', 100_000, 20_000):
            self.assertLessEqual(each, 1.3 * KIB)

    def test_20000_plain(self):
        for each in self.fill('plain', 20_000, 2000):
            self.assertLessEqual(each, 7.5 * KIB)


class Start(unittest.TestCase):
    def run_bench(self, *arguments):
        return json.loads(subprocess.run([PROGRAMS[2], *map(str, arguments)], check=True, capture_output=True, text=True).stdout)

    def test_100000_saved_objects(self):
        """The peak of a start is at most a fifth above what stays; a change of 7 KB writes at most 1.2 KB."""
        with tempfile.TemporaryDirectory() as folder:
            saved = self.run_bench('save', folder, 100_000, 5000)
            now = self.run_bench('start', folder)
        print(f'# start with {now["objects"]} saved objects: peak {now["peak"] / MIB:.1f} MiB, then {now["rss"] / MIB:.1f} MiB; '
              f'{saved["written_per_change"]} bytes written per change')
        self.assertLessEqual(now['peak'], 1.2 * now['rss'])
        self.assertLessEqual(saved['written_per_change'], 1200)


class Watches(Case):
    def idle(self, watches):
        """Resident memory after each of `count` watches had a burst of changes and all are idle again."""
        folder = self.folder / str(watches)
        with Sim('--self-signed', folder, '--bookmark-every', 1000) as sim:
            sim.control('fill', resource='configmaps', count=200, bytes=2000, namespaces=200)
            hold = Hold(self, folder, 'configmaps', watches)
            hold.wait_for(synced=watches)
            sim.control('churn', resource='configmaps', count=10000)
            now = hold.wait_for(version='10300')
            self.assertEqual(hold.close(), 0)
            return now

    def test_200_watches(self):
        few, many = self.idle(20), self.idle(200)
        each = (many['rss'] - few['rss']) / 180
        print(f'# {few["rss"] / MIB:.1f} MiB with 20 watches, {many["rss"] / MIB:.1f} MiB with 200: {each / KIB:.1f} KiB each, '
              f'{(many["bytes"] - few["bytes"]) / 180 / KIB:.1f} of it objects; limit 64')
        self.assertLessEqual(each, 64 * KIB)


run(__name__)
