#!/usr/bin/env python3
"""scale.py KUBESIM RECORDINGS INFORMERD [OBJECTS [BYTES [SHARDS]]]: shows what limits one informerd first.

Fills a simulated API server with OBJECTS pods (1,000,000) of about BYTES (2,000) and starts SHARDS processes of informerd (1) with
`cache: compact`, state on disk and one event log each. Prints time, CPU and memory of the first sync, then changes pods at
growing rates, and prints for each rate how many changes were logged in a second, the CPU of every process, the longest
queues, and how long the last change took to be logged. It stops at the first limit: a rate at which the server ends a watch
that reads too slowly and has forgotten its version, so that everything is listed again and only net changes are logged.

Fails only if records are missing without a relist, never because of a figure: these depend on the machine.
"""
import os
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
OBJECTS, BYTES, SHARDS = (int(n) for n in [*sys.argv[4:7], *('1000000', '2000', '1')[len(sys.argv[4:7]):]])
del sys.argv[4:]
import json  # noqa: E402

from service import Daemon, Sim, http_get, parse_metrics  # noqa: E402

RATES = 1000, 5000, 10000, 20000, 50000, 100000
SECONDS = 10  # of each rate
PATIENCE = 600  # seconds
HISTORY = 100000  # changes that a watch can be resumed from, about that of the watch cache of kube-apiserver
MIB = 1024 * 1024


def cpu(pid):
    """Seconds of CPU that a process has used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Shard:
    def __init__(self, folder, kubeconfig, index):
        self.folder = folder / f'shard-{index}'
        (self.folder / 'state').mkdir(parents=True, mode=0o700)
        self.socket = self.folder / 'socket'
        conf = self.folder / 'informerd.conf'
        conf.write_text(json.dumps({
            'state_dir': str(self.folder / 'state'), 'state': {'max_disk': '8G'}, 'socket': {'path': str(self.socket)}, 'cache': 'compact',
            'shard': {'index': index, 'count': SHARDS}, 'clusters': [{'name': 'sim', 'kubeconfig': str(kubeconfig)}],
            'watches': [{'resource': 'pods', 'ignore': []}],
            'event_logs': [{'path': str(self.folder / 'events.jsonl'), 'initial': False, 'object': 'none'}]}))
        self.daemon = Daemon(self.folder, ['-c', conf])

    def metrics(self):
        return parse_metrics(http_get(self.socket, '/metrics').text)

    def is_ready(self):
        try:
            return http_get(self.socket, '/readyz').status == 200
        except OSError:
            if not self.daemon.alive():
                raise SystemExit(f'informerd ended: {self.daemon.stderr_text()[-2000:]}') from None
            return False


def total(pages, family):
    """The sum of a family of metrics over all shards."""
    return sum(value for page in pages for name, value in page.items() if name.startswith(family + '{'))


def until(true, what):
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise SystemExit(f'after {PATIENCE} s: no {what}')
        time.sleep(0.2)


def first_sync(shards, server, before):
    began = time.monotonic()
    until(lambda: all(shard.is_ready() for shard in shards), 'first sync')
    seconds = time.monotonic() - began
    print(f'first sync: {OBJECTS} pods of {BYTES} bytes in {seconds:.0f} s; server {cpu(server) - before:.1f} s of CPU')
    for number, shard in enumerate(shards):
        objects = total([shard.metrics()], 'informerd_watch_objects')
        print(f'  shard {number}: {objects:.0f} objects, {cpu(shard.daemon.pid) * 1e6 / OBJECTS:.1f} µs of CPU for each object sent, '
              f'{shard.daemon.resident() / MIB:.0f} MiB resident, {shard.daemon.resident() / objects:.0f} bytes for each object held')


def run_rate(sim, server, shards, rate):
    """One line of the table. Returns whether all changes were logged without a relist."""
    count, queued, backlog, relisted = rate * SECONDS, 0, 0, False
    pages = [shard.metrics() for shard in shards]
    events, relists = total(pages, 'informerd_watch_events_total'), total(pages, 'informerd_watch_relists_total')
    pids = [server, *(shard.daemon.pid for shard in shards)]
    used = [cpu(pid) for pid in pids]
    began = time.monotonic()
    sim.control('churn', resource='pods', count=count, rate=rate)
    while not relisted:
        pages = [shard.metrics() for shard in shards]
        queued = max(queued, total(pages, 'informerd_watch_queue_length'))
        backlog = max(backlog, total(pages, 'informerd_watch_backlog_events'))
        relisted = total(pages, 'informerd_watch_relists_total') > relists
        if total(pages, 'informerd_watch_events_total') - events >= count:
            break
        if time.monotonic() > began + PATIENCE:
            raise SystemExit(f'{count} changes at {rate}/s: some are missing after {PATIENCE} s')
        time.sleep(0.1)
    seconds = time.monotonic() - began
    logged = total(pages, 'informerd_watch_events_total') - events
    shares = [(cpu(pid) - before) / seconds * 100 for pid, before in zip(pids, used)]
    print(f'{rate:>9} {logged / seconds:>9.0f} {max(0, seconds - SECONDS):>8.1f} {shares[0]:>10.0f} % '
          f'{" ".join(f"{share:.0f} %" for share in shares[1:]):>15} {queued:>8.0f} {backlog:>8.0f}'
          f'{"  relisted after " + format(seconds, ".1f") + " s: the first limit" if relisted else ""}', flush=True)
    return not relisted


def main():
    with tempfile.TemporaryDirectory(prefix='informerd-scale-') as name:
        folder = Path(name)
        with Sim('--self-signed', folder / 'pki', '--history', HISTORY) as sim:
            server = sim.child.pid
            sim.control('fill', resource='pods', count=OBJECTS, bytes=BYTES, namespaces=1000)
            before = cpu(server)
            kubeconfig = folder / 'pki' / 'kubeconfig'
            shards = [Shard(folder, kubeconfig, index) for index in range(SHARDS)]
            try:
                first_sync(shards, server, before)
                print('changes/s  logged/s   s late   server CPU   informerd CPU   queued  backlog', flush=True)
                for rate in RATES:
                    if not run_rate(sim, server, shards, rate):
                        break
                for number, shard in enumerate(shards):
                    print(f'shard {number}: {shard.daemon.resident() / MIB:.0f} MiB resident at the end')
            finally:
                for shard in shards:
                    shard.daemon.discard()


main()
