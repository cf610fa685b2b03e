#!/usr/bin/env python3
"""bench.py [--quick | --large] [--only TITLE] [--rounds N] BUILD: measures informerd, client-go and kube-rs on the same bytes.

A replay server on one core sends the same list and the same changes to one client at a time, on another core: TLS 1.3,
HTTP/1.1, JSON, pods recorded from a real server. Clients take turns for several rounds; the result is the median, for
ticks the maximum. CPU time and memory are those that the kernel reports for the client's process. Latency is measured
from the time stamp that the server puts into an object to the callback, or to the line in informerd's event log as
another process reads it.

informerd does more than the others: it computes the differences and writes them to a file. They only fill their caches.
`floor` is a program that does the least that any client can do (floor.c): what it takes is due to the machine, the
kernel and the server.

Prints tables during the run and a result for every target at the end; writes bench.json and cost.svg to BUILD. Seconds
depend on the machine, so compare ratios; the machine should be idle otherwise.
"""
import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'e2e'))

import actors
import deployments
import draw
import peers
import pod
import start
import targets
from lib.certs import Certificates
from life import Case, live
from table import show

RECORDINGS = HERE.parent / 'data' / 'recordings'
CLIENTS = {'informerd': None, 'informerd plain': None, 'informerd latency 0': None, 'informerd without state': None,
           'informerd plain, no state': None, 'floor': None, 'library': None, 'library compact': None,
           'client-go typed': 'client-go', 'client-go dynamic': 'client-go', 'kube-rs': 'kube-rs'}  # and the peer that it requires
OTHER_STATE = ('informerd without state', 'informerd plain, no state')
VARIANTS = ('informerd latency 0', 'library compact', *OTHER_STATE)
USUAL = tuple(name for name in CLIENTS if name not in VARIANTS)
BOTH_CACHES = tuple(name for name in CLIENTS if name not in ('informerd latency 0', 'client-go dynamic', *OTHER_STATE))
STATE = ('informerd', 'informerd without state', 'informerd plain', 'informerd plain, no state')
PACED = ('informerd', 'informerd plain', 'informerd latency 0', 'informerd without state', 'floor', 'library',
         'client-go typed', 'kube-rs')
OURS, MAIN = ('informerd', 'informerd plain', 'library'), ('informerd', 'client-go typed')
ALL = ('sync', 'flat_out', 'paced', 'steady', 'relist', 'churn')
SHORT = ('sync', 'flat_out', 'steady')

FULL = (
    Case('steady pace', 1000, ('sync', 'rates'), rounds=3, clients=PACED),
    Case('state on disk', 1000, ('sync', 'rates'), rounds=3, clients=STATE),
    Case('state on disk, start', 100_000, ('start',), rounds=5, clients=(), size=7000),
    Case('10k pods', 10_000, ALL, rounds=3),
    Case('1k pods', 1000, ALL, rounds=3),
    Case('100k pods', 100_000, (*SHORT, 'reads')),
    Case('10k pods of 200 deployments', 10_000, ALL, rounds=3, clients=BOTH_CACHES, deployments=200),
    Case('100k pods of 200 deployments', 100_000, (*SHORT, 'reads'), clients=BOTH_CACHES, deployments=200),
    Case('100k pods, relists', 100_000, ('sync', 'steady', 'relist', 'churn'), clients=OURS),
    Case('1 KB pods', 10_000, SHORT, rounds=3, size=1000),
    Case('200 KB pods', 500, SHORT, rounds=2, size=200_000, events=500),
    Case('20 watches', 10_000, SHORT, watches=20),
    Case('200 watches', 10_000, (*SHORT, 'storm', 'scrape'), watches=200),
    Case('200 idle watches', 200, ('sync', 'idle'), clients=MAIN, watches=200),
)
LARGE = (  # needs 10 GB of memory
    Case('1M pods of 200 deployments', 1_000_000, ('sync', 'steady'), clients=('informerd', 'informerd plain'), deployments=200),
)
QUICK = (
    Case('steady pace', 1000, ('sync', 'rates'), clients=PACED),
    Case('state on disk', 1000, ('sync', 'rates'), clients=STATE),
    Case('state on disk, start', 100_000, ('start',), clients=(), size=7000),
    Case('10k pods', 10_000, ALL, events=2000, paced=1000),
    Case('1k pods', 1000, ALL, events=2000, paced=1000),
)


def clients_of(case):
    return USUAL if case.clients is None else case.clients


class Stage:
    """Shared by all runs: programs, certificates and the texts of pods."""

    def __init__(self, folder, build, cases):
        self.folder, self.tools, self.informerd = folder, build / 'test' / 'bench', build / 'informerd'
        certificates = Certificates(folder / 'pki')
        certificates.server('server')
        self.pki = certificates.folder
        self.peers, self.missing = {}, {}
        wanted = {CLIENTS[name] for case in cases for name in clients_of(case)}
        for name in (name for name in peers.COMMANDS if name in wanted):
            try:
                self.peers[name] = peers.build(name)
            except peers.Missing as why:
                self.missing[name] = str(why)
                print(f'{name} is missing: {why}', flush=True)

    def template(self, case):
        path = self.folder / f'pod-{case.deployments}-{case.size}'
        if not path.exists():
            path.write_text(deployments.template(case.deployments) if case.deployments else pod.template(RECORDINGS, case.size))
        return path

    def clients(self, case):
        wanted = clients_of(case)
        return [name for name, peer in CLIENTS.items() if name in wanted and peer not in self.missing
                and (name != 'floor' or case.watches == 1)]  # it has one blocking connection


class Progress:
    """One line that is updated on a terminal, separate lines in a log."""

    def __init__(self, cases, stage):
        self.total = sum(case.rounds * len(stage.clients(case)) for case in cases)
        self.done, self.began, self.live = 0, time.monotonic(), sys.stderr.isatty()

    def show(self, case, round_, name):
        self.done += 1
        seconds = time.monotonic() - self.began
        line = f'{seconds:5.0f} s  {self.done} of {self.total}: {case.title}, round {round_ + 1}, {name}'
        print(f'\r{line}\033[K' if self.live else line, end='' if self.live else '\n', file=sys.stderr, flush=True)

    def clear(self):
        if self.live:
            print('\r\033[K', end='', file=sys.stderr, flush=True)


def middle(rounds):
    """The median of each figure; for ticks the maximum."""
    pick = {'tick': max}
    return {name: pick.get(name, statistics.median)([figures[name] for figures in rounds]) for name in rounds[0]}


def measure(case, stage, progress):
    if case.steps == ('start',):
        return {'library compact': start.measure(stage.tools, case.pods, case.rounds),
                'informerd': start.service(stage.informerd.parent, case.pods, case.rounds)}
    clients = stage.clients(case)
    lives = {name: [] for name in clients}
    for round_ in range(case.rounds):
        for name in clients:
            progress.show(case, round_, name)
            lives[name].append(live(stage, name, case))
    progress.clear()
    return {name: middle(rounds) for name, rounds in lives.items()}


def circumstances(stage):
    with open('/proc/cpuinfo') as cpus:
        names = [line.split(':')[1].strip() for line in cpus if line.startswith('model name')]
    machine = f'{names[0] if names else platform.machine()}, {os.cpu_count()} cores'
    return {'date': date.today().isoformat(), 'machine': machine, 'kernel': platform.release(), 'load': os.getloadavg()[0],
            'missing': stage.missing, 'text': pod.kept(RECORDINGS, 11700)}


def stall(seconds=5):
    """The longest time for which a program that only reads the clock did not run, because of other processes or the host."""
    os.sched_setaffinity(0, {actors.CLIENT_CORE})
    worst, began = 0, time.monotonic()
    last = began
    while last - began < seconds:
        now = time.monotonic()
        worst, last = max(worst, now - last), now
    os.sched_setaffinity(0, {actors.SERVER_CORE})
    return worst


def warn(load):
    if load > 0.5:
        print(f'the machine is not idle (load {load:.1f}): latencies, ticks and seconds are not reliable', flush=True)
    if actors.SERVER_CORE == actors.CLIENT_CORE:
        print('there is only one core, which server and client share', flush=True)


def keep(results, build):
    (build / 'bench.json').write_text(json.dumps(results, indent=1) + '\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=Path, help='a release build')
    parser.add_argument('--quick', action='store_true', help='less work and one round: about four minutes')
    parser.add_argument('--large', action='store_true', help='also a million pods; needs 10 GB of memory')
    parser.add_argument('--only', metavar='TITLE', help='only cases whose title contains this')
    parser.add_argument('--rounds', type=int, metavar='N', help='rounds of each case instead of 1 to 5: with 1 about 40 minutes')
    args = parser.parse_args()
    chosen = QUICK if args.quick else FULL + LARGE if args.large else FULL
    cases = [replace(case, rounds=args.rounds or case.rounds) for case in chosen if not args.only or args.only in case.title]
    os.sched_setaffinity(0, {actors.SERVER_CORE})
    with tempfile.TemporaryDirectory(prefix='informerd-bench-') as folder:
        stage = Stage(Path(folder), args.build.resolve(), cases)
        results = {'circumstances': circumstances(stage), 'cases': {}}
        warn(results['circumstances']['load'])
        progress = Progress(cases, stage)
        for case in cases:
            results['cases'][case.title] = measure(case, stage, progress)
            show(case, results['cases'][case.title])
            results['circumstances']['stall'] = max(results['circumstances'].get('stall', 0), stall())
            keep(results, args.build)
    targets.verdict(results)
    keep(results, args.build)
    draw.cost(results, args.build / 'cost.svg')


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit('\ninterrupted: completed cases are in bench.json')
