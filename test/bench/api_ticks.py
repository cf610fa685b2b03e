#!/usr/bin/env python3
"""api_ticks.py KUBESIM RECORDINGS INFORMERD API_LOAD [OBJECTS [BYTES]]: the longest tick while OBJECTS pods (100,000) of BYTES (7,500)
are listed through the local API.

For each cache, way to connect and form of the answer: the growth of memory at its peak, and the CPU time of the loop
iteration that used most. CPU time, because other processes must not count. The metric covers the last one to two minutes:
the ticks of the start are waited for to pass, and each figure includes the lists before it. Fails if a tick is above the
goal, or memory grows as for another copy.
"""
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
LOADER = Path(sys.argv[4]).resolve()
OBJECTS, BYTES = (int(n) for n in [*sys.argv[5:7], *('100000', '7500')[len(sys.argv[5:7]):]])
del sys.argv[4:]
import json  # noqa: E402

from service import Daemon, Sim, http_get, parse_metrics  # noqa: E402

GOAL_MS = 5
START = 600  # seconds, for the first sync
PASS = 125  # seconds until the metric has forgotten
LEAST = 100  # bytes of an object in an answer
COPY = 0.1  # of the memory of all objects: more is another copy
MIB = 1024 * 1024
LIST = '/api/v1/pods?resourceVersion=0'
WATCH_LIST = (f'{LIST}&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
              '&timeoutSeconds=10')
TABLE = 'Accept: application/json;as=Table;g=meta.k8s.io;v=v1'
FORMS = {'JSON': [LIST], 'Table': ['-H', TABLE, LIST], 'WatchList': [WATCH_LIST]}


def status(pid, field):
    """Bytes."""
    lines = Path(f'/proc/{pid}/status').read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f'{field}:'))


class Served:
    """An informerd that has all objects."""

    def __init__(self, folder, kubeconfig, cache):
        folder.mkdir()
        (folder / 'state').mkdir(mode=0o700)
        self.socket = folder / 'socket'
        conf = folder / 'informerd.conf'
        conf.write_text(json.dumps({
            'state_dir': str(folder / 'state'), 'state': {'enabled': False}, 'socket': {'path': str(self.socket)}, 'cache': cache,
            'api': {'listen': '127.0.0.1:0'}, 'clusters': [{'name': 'sim', 'kubeconfig': str(kubeconfig)}],
            'watches': [{'resource': 'pods'}], 'event_logs': []}))
        self.daemon = Daemon(folder, ['-c', conf])
        end = time.monotonic() + START
        while not self.is_ready():
            if time.monotonic() > end or not self.daemon.alive():
                raise SystemExit(f'informerd is not ready: {self.daemon.stderr_text()[-2000:]}')
            time.sleep(0.2)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return http_get(self.socket, '/readyz').status == 200
        return False

    def way(self, name):
        """The arguments of a loader, with a token that has just been made."""
        if name == 'Unix':
            return [f'unix:{self.socket}']
        access, token = (json.loads(http_get(self.socket, f'/informerd/v1/{each}').text) for each in ('access', 'token'))
        return ['-H', f'Authorization: Bearer {token["token"]}', f'https://{access["address"]}']

    def worst_ms(self):
        return parse_metrics(http_get(self.socket, '/metrics').text)['informerd_worst_tick_cpu_seconds'] * 1000

    def listed(self, way, form):
        """The largest tick in ms, and the growth of memory in bytes, of one list."""
        pid = self.daemon.pid
        Path(f'/proc/{pid}/clear_refs').write_text('5')  # the peak is that of the list
        before = status(pid, 'VmRSS')
        loader = ['-p', str(pid), *way[:-1], *form[:-1], way[-1], 'list', '1', form[-1]]
        done = subprocess.run([LOADER, *loader], stdout=subprocess.PIPE, text=True, check=True)
        got = json.loads(done.stdout.splitlines()[-1])
        if got['status'] != 200 or got['bytes'] < LEAST * OBJECTS:
            raise SystemExit(f'{form}: {got}')
        return self.worst_ms(), status(pid, 'VmHWM') - before


def measure(served, cache):
    """Prints a line for each list. Returns whether all are below the goals."""
    good = True
    held = status(served.daemon.pid, 'VmRSS')
    time.sleep(PASS)
    print(f'{cache:8} none             {served.worst_ms():6.1f} ms of CPU', flush=True)
    for way in ('Unix', 'TLS'):
        for name, form in FORMS.items():
            worst, grown = served.listed(served.way(way), form)
            good = good and worst <= GOAL_MS and grown < COPY * held
            print(f'{cache:8} {way:5} {name:10} {worst:6.1f} ms of CPU   {grown / MIB:6.1f} MiB', flush=True)
    return good


def main():
    with tempfile.TemporaryDirectory(prefix='informerd-ticks-') as name:
        folder, good = Path(name), True
        with Sim('--self-signed', folder / 'pki') as sim:
            sim.control('fill', resource='pods', count=OBJECTS, bytes=BYTES, namespaces=100)
            print(f'{OBJECTS} pods of {BYTES} bytes: longest tick of a list, memory at its peak')
            for cache in ('plain', 'compact'):
                served = Served(folder / cache, folder / 'pki' / 'kubeconfig', cache)
                try:
                    good = measure(served, cache) and good
                finally:
                    served.daemon.discard()
        if not good:
            raise SystemExit(f'a tick is above {GOAL_MS} ms, or memory above {COPY:.0%} of that of the objects')


main()
