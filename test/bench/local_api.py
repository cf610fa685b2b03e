#!/usr/bin/env python3
"""local_api.py KUBESIM RECORDINGS INFORMERD API_LOAD [--pods N] [--seconds N]: measures the local API of informerd.

Prints a line per row: the CPU time of informerd for each request, object, or change and watcher, over TLS and on the Unix
socket. The cost of the changes themselves is that of a run with one watcher; it is subtracted.
"""
import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'daemon'))
from service import Daemon, Sim, http_get, wait_until  # noqa: E402

PODS = '/api/v1/pods'
WATCH_LIST = f'{PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'


class World:
    """A kubesim with pods, and an informerd that watches them."""

    def __init__(self, stack, cache, options):
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='local_api.')))
        self.load, self.options = options.programs[3], options
        self.sim = stack.enter_context(Sim('--kubeconfig', self.folder / 'kubeconfig'))
        self.sim.control('fill', resource='pods', count=options.pods, bytes=options.bytes, namespaces=20)
        self.socket = self.folder / 'socket'
        (self.folder / 'informerd.conf').write_text(json.dumps({
            'socket': {'path': str(self.socket)}, 'api': {'listen': '127.0.0.1:0'}, 'state': {'enabled': False},
            'state_dir': str(self.folder), 'cache': cache, 'watches': [{'resource': 'pods'}],
            'clusters': [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig')}], 'event_logs': []}))
        self.daemon = Daemon(self.folder, ['-c', self.folder / 'informerd.conf'])
        stack.callback(self.daemon.discard)
        wait_until(self.ready, self.daemon.stderr_text)

    def ready(self):
        with contextlib.suppress(OSError):
            return http_get(self.socket, '/readyz').status == 200

    def get(self, target):
        return http_get(self.socket, target).text

    def one_pod(self):
        pod = json.loads(self.get(PODS))['items'][0]['metadata']
        return f'/api/v1/namespaces/{pod["namespace"]}/pods/{pod["name"]}'

    def places(self):
        """The arguments of api_load for each way to connect."""
        access, token = (json.loads(self.get(f'/informerd/v1/{name}')) for name in ('access', 'token'))
        return {'unix': [f'unix:{self.socket}'],
                'tls': ['-H', f'Authorization: Bearer {token["token"]}', f'https://{access["address"]}']}

    def start_load(self, place, *command):
        return subprocess.Popen([self.load, '-p', str(self.daemon.pid), *place, *map(str, command)],
                                stdout=subprocess.PIPE, text=True)

    def run_load(self, place, *command):
        child = self.start_load(place, *command)
        return json.loads(child.communicate()[0].splitlines()[-1])

    def fan_out(self, place, watchers, stuck, target):
        """The result of watches during changes at options.rate; the changes of kubesim end before the watches."""
        seconds = self.options.seconds
        version = json.loads(self.get(f'{PODS}?limit=1&fieldSelector=metadata.name%3Dx'))['metadata']['resourceVersion']
        child = self.start_load(place, 'watch', watchers, stuck, seconds + 1, f'{target}&resourceVersion={version}')
        child.stdout.readline()
        self.sim.control('churn', resource='pods', count=self.options.rate * seconds, rate=self.options.rate)
        return json.loads(child.communicate()[0])


def measure(world, cache, place_name, place):
    options = world.options

    def show(row, value, unit, more=''):
        print(f'{cache:8} {place_name:5} {row:40} {value:9.2f} {unit}{more}', flush=True)

    if 'idle' in options.rows:
        idle = world.daemon.resident()
        child = world.start_load(place, 'watch', options.watchers, 0, 2, f'{PODS}?watch=1&labelSelector=app%3Dnone')
        child.stdout.readline()
        show('idle watch', (world.daemon.resident() - idle) / 1024 / options.watchers, 'KiB')
        child.communicate()
    one = world.one_pod()
    if 'get' in options.rows:
        got = world.run_load(place, 'get', 16, options.seconds, one)
        show('GET, CPU', got['cpu_us'] / got['requests'], 'us', f', {got["per_second"]}/s, {got["failed"]} failed')
    if 'list' in options.rows:
        got = world.run_load(place, 'list', 5, PODS)
        show('LIST, CPU per object', got['cpu_us'] / options.pods, 'us', f', first byte {got["first_us"] / 1000:.1f} ms')
        got = world.run_load(place, 'list', 20, f'{one.rsplit("/", 1)[0]}?labelSelector=app%3Dnone')
        show('LIST by label, no match', got['cpu_us'] / 1000, 'ms')
    if 'watchlist' in options.rows:
        got = world.run_load(place, 'list', 1, f'{WATCH_LIST}&timeoutSeconds=3')
        show('WatchList, CPU per object', got['cpu_us'] / options.pods, 'us')
    if 'fanout' in options.rows:
        target = f'{PODS}?watch=1'
        base = world.fan_out(place, 1, 0, target)
        many = world.fan_out(place, options.watchers, options.stuck, target)
        each = (many['cpu_us'] - base['cpu_us']) / max(1, many['events'] - base['events'])
        show(f'watch, per change and watcher ({options.watchers})', each, 'us',
             f', {many["least"]} to {many["most"]} events, {many["ended"]} ended, change alone '
             f'{base["cpu_us"] / max(1, base["events"]):.0f} us')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('programs', nargs=4)
    parser.add_argument('--pods', type=int, default=10000)
    parser.add_argument('--bytes', type=int, default=6700)
    parser.add_argument('--seconds', type=int, default=10)
    parser.add_argument('--rate', type=int, default=20)
    parser.add_argument('--watchers', type=int, default=500)
    parser.add_argument('--stuck', type=int, default=0)
    parser.add_argument('--caches', default='compact,plain')
    parser.add_argument('--places', default='unix,tls')
    parser.add_argument('--rows', default='idle,get,list,watchlist,fanout')
    options = parser.parse_args()
    for cache in options.caches.split(','):
        with contextlib.ExitStack() as stack:
            world = World(stack, cache, options)
            for name, place in world.places().items():
                if name in options.places:
                    measure(world, cache, name, place)


main()
