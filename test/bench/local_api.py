#!/usr/bin/env python3
"""local_api.py [options] BUILD: measures the local API of informerd, and kube-apiserver with the same requests.

Both serve the same pods from memory: kube-apiserver from its watch cache (resourceVersion=0), informerd from its copy. The
load is that of api_load, without compression. Prints the CPU time of the server for each request, object, or change and
watcher, and compares it with the goals. The cost of the changes themselves is that of a run with one watcher; it is
subtracted. Memory of idle watchers is the growth of an informerd without objects, so that free memory does not hide it.

The control plane is built once, as for make e2e.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import local_api_goals
import local_api_world as world
from lib import children, parts
from lib.plane import Plane

PODS = '/api/v1/pods'
ONE = '/api/v1/namespaces/ns-00/pods/web-frontend-66b99d9c48-00000?resourceVersion=0'
BY_LABEL = f'{PODS}?resourceVersion=0&labelSelector=app%3Dapp-07'
WATCH_LIST = (f'{PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
              '&resourceVersion=0&timeoutSeconds=')
WATCH = f'{PODS}?watch=1'
IDLE = '/api/v1/configmaps?watch=1&labelSelector=app%3Dnone'
CONNECTIONS = 16  # of GET
LISTS, LABEL_LISTS = 5, 20
WATCH_LIST_SECONDS = 10  # enough for all objects; bookmarks cost nothing


class Loader:
    """Runs api_load on a place."""

    def __init__(self, program, place):
        self._program, self._place = program, place

    def start(self, *command):
        return subprocess.Popen([self._program, '-p', str(self._place.pid), *self._place.arguments, *map(str, command)],
                                stdout=subprocess.PIPE, text=True)

    def run(self, *command):
        child = self.start(*command)
        return self.result(child)

    @staticmethod
    def result(child):
        out = child.communicate()[0]
        if child.returncode != 0:
            raise children.Failure(f'api_load failed: {child.args}')
        return json.loads(out.splitlines()[-1])


class Measurement:
    """The figures of one server, by the names of local_api_goals.ROWS."""

    def __init__(self, options, plane, place):
        self._options, self._plane, self._place = options, plane, place
        self._load = Loader(options.build / 'test' / 'bench' / 'api_load', place)
        self.figures = {}

    def measure(self, rows):
        for row in rows:
            getattr(self, f'_measure_{row}')()
        return self.figures

    def _checked(self, got):
        if got.get('status', 200) != 200 or got.get('failed'):
            raise children.Failure(f'{self._place.arguments[-1]}: unexpected responses: {got}')
        return got

    def _measure_list(self):
        got = self._checked(self._load.run('list', LISTS, f'{PODS}?resourceVersion=0'))
        self.figures['list'] = got['cpu_us'] / self._options.pods
        self.figures['first'] = got['first_us'] / 1000

    def _measure_get(self):
        got = self._checked(self._load.run('get', CONNECTIONS, self._options.seconds, ONE))
        self.figures['get'] = got['cpu_us'] / got['requests']

    def _measure_label(self):
        self.figures['label'] = self._checked(self._load.run('list', LABEL_LISTS, BY_LABEL))['cpu_us'] / 1000

    def _measure_watchlist(self):
        got = self._checked(self._load.run('list', 1, f'{WATCH_LIST}{WATCH_LIST_SECONDS}'))
        self.figures['watchlist'] = got['cpu_us'] / self._options.pods

    def _measure_fanout(self):
        one, many = self._watches(1), self._watches(self._options.watchers)
        if many['least'] < self._options.rate * self._options.seconds or many['ended']:
            raise children.Failure(f'{self._place.arguments[-1]}: watches missed events: {many}')
        self.figures['fanout'] = (many['cpu_us'] - one['cpu_us']) / (many['events'] - one['events'])

    def _watches(self, watchers):
        """The result of watches during changes, which end before the watches."""
        seconds = self._options.seconds
        version = self._plane.admin.get(f'{PODS}?limit=1')['metadata']['resourceVersion']
        child = self._load.start('watch', watchers, 0, seconds + 3, f'{WATCH}&resourceVersion={version}')
        child.stdout.readline()
        world.change_pods(self._plane, self._options.rate * seconds, self._options.rate)
        return self._load.result(child)

    def _measure_idle(self):
        before = self._place.resident()
        child = self._load.start('watch', self._options.watchers, 0, 2, IDLE)
        child.stdout.readline()
        self.figures['idle'] = (self._place.resident() - before) / 1024 / self._options.watchers
        self._load.result(child)


def measure_peer(options, plane):
    return Measurement(options, plane, world.Peer(plane)).measure(options.rows) if options.peer else {}


def measure_informerd(options, plane, cache):
    """{way to connect: figures} of an informerd with that cache."""
    busy = world.Informerd(options.build / 'informerd', plane.folder / f'informerd-{cache}', plane.kubeconfig('token'),
                           cache, ['pods'])
    idle = world.Informerd(options.build / 'informerd', plane.folder / f'informerd-{cache}-idle',
                           plane.kubeconfig('token'), cache, ['configmaps'])
    try:
        idle_places, figures = idle.places(), {}
        for way, place in busy.places().items():
            if way not in options.ways:
                continue
            rows = [row for row in options.rows if row != 'idle']
            figures[way] = Measurement(options, plane, place).measure(rows)
            if 'idle' in options.rows:
                figures[way] |= Measurement(options, plane, idle_places[way]).measure(['idle'])
        return figures
    finally:
        busy.stop()
        idle.stop()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows = [row for row in local_api_goals.ROWS if row != 'first']  # measured with the lists
    parser.add_argument('build', type=Path)
    parser.add_argument('--pods', type=int, default=10000)
    parser.add_argument('--seconds', type=int, default=10, help='of GET, and of changes')
    parser.add_argument('--rate', type=int, default=20, help='changes per second')
    parser.add_argument('--watchers', type=int, default=500)
    parser.add_argument('--caches', default='plain,compact', type=lambda text: text.split(','))
    parser.add_argument('--ways', default='Unix,TLS', type=lambda text: text.split(','))
    parser.add_argument('--rows', default=rows, type=lambda text: text.split(','), help=f'of {",".join(rows)}')
    parser.add_argument('--no-peer', dest='peer', action='store_false', help='measure only informerd')
    return parser.parse_args()


def main():
    options = arguments()
    programs = parts.programs(parts.NEW)
    with children.temporary_folder(keep=False) as folder, Plane(folder, programs) as plane:
        world.fill(plane, options.pods)
        peer = measure_peer(options, plane)
        ours = {(cache, way): figures for cache in options.caches
                for way, figures in measure_informerd(options, plane, cache).items()}
        local_api_goals.show(peer, ours)


if __name__ == '__main__':
    try:
        main()
    except children.Failure as failure:
        sys.exit(f'local_api.py: {failure}')
