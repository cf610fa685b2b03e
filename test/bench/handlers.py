#!/usr/bin/env python3
"""handlers.py BUILD: measures handlers, and compares the figures with the goals.

stream   records a second that a program with mode: stream acknowledges: those that waited while the handler was paused, and
         those of changes at full speed, with everything that informerd does for a change
webhook  records a second that a web server accepts, as JSON lines in batches of 1,000: likewise
kafka    records a second into a real Kafka with informerd-kafka (needs Java and Maven): likewise; and latency of the event log
         at 1,000 changes a second while Kafka runs and while it is stopped
nats     records a second that a NATS server with JetStream stores in a file, by a sink: likewise; and latency of the event log at
         1,000 changes a second while the server runs and while it is stopped
hang     latency of the event log at 1,000 changes a second, without a handler and beside handlers that hang: the best of
         several rounds

Each row is a function; its figures are lines of the table.
"""
import argparse
import contextlib
import itertools
import json
import shutil
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import pod
from actors import SERVER_CORE, Informerd, Server
from bench import RECORDINGS, Certificates
from life import KUBECONFIG

PODS, SIZE, NAMESPACES = 20_000, 1000, 20
RECORDS = 100_000
STREAM_GOAL = 50_000  # records a second
WEBHOOK_GOAL = 20_000
KAFKA_GOAL = 15_000
NATS_GOAL = 20_000
PACE, PACED, ROUNDS = 1000, 3000, 8
# Reads what the pipe has, and acknowledges it at once. Writes the time of the first and the last record of each RECORDS.
SINK = '''import os, re, sys, time
seqs, rest, count, first = re.compile(rb'"seq":(\\\\d+)'), b'', 0, 0
while chunk := os.read(0, 1 << 20):
    first = first or time.monotonic()
    whole, newline, rest = (rest + chunk).rpartition(b'\\\\n')
    found = seqs.findall(whole)
    os.write(1, b''.join(seq + b'\\\\n' for seq in found))
    count += len(found)
    if count >= {records}:
        with open({times!r}, 'a') as times:
            times.write(f'{{first}} {{time.monotonic()}} {{count}}\\\\n')
        count = first = 0
'''.replace('\\\\', '\\')


class World:
    """A server with pods, and informerd with handlers."""

    def __init__(self, build, handlers, more='', sinks=()):
        self.folder = Path(tempfile.mkdtemp(prefix='informerd-handlers-'))
        certificates = Certificates(self.folder / 'pki')
        certificates.server('server')
        template = self.folder / 'pod'
        template.write_text(pod.template(RECORDINGS, SIZE))
        tools = build / 'test' / 'bench'
        self.server = Server(tools, certificates.folder, template, PODS, NAMESPACES)
        (self.folder / 'kubeconfig').write_text(KUBECONFIG.format(port=self.server.port, folder=certificates.folder))
        more += f'handlers: {json.dumps([h(self.folder) for h in handlers])}\n'
        more += f'sinks: {json.dumps([s(self.folder) for s in sinks])}\n'
        self.informerd = Informerd(build / 'informerd', tools, self.folder, [], more)
        self.informerd.wait_until_synced()

    def change(self, count, rate=None):
        """Returns the figures of the event log when it has all changes."""
        self.informerd.expect(count)
        self.server.send_command('change', count, *([rate] if rate else []))
        return self.informerd.delivered()

    def get(self, target):
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as web:
            web.connect(str(self.folder / 'socket'))
            web.sendall(f'GET {target} HTTP/1.1\r\nHost: informerd\r\nConnection: close\r\n\r\n'.encode())
            answer = b''.join(iter(lambda: web.recv(65536), b'')).decode()
        if ' 200 ' not in answer.splitlines()[0]:
            raise RuntimeError(answer)
        return answer

    def control(self, command):
        self.get(f'/informerd/v1/handlers/control?name=bench&command={command}')

    def wait_delivered(self):
        """Waits until the queue of the handler is empty."""
        while json.loads(self.get('/informerd/v1/handlers').split('\r\n\r\n', 1)[1])['handlers'][0]['records']:
            time.sleep(0.02)

    def close(self):
        self.informerd.end()
        self.server.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_for_lines(path, count):
    while not path.exists() or len(path.read_text().splitlines()) < count:
        time.sleep(0.05)
    return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]


def stream(build):
    def handler(folder):
        sink = folder / 'sink.py'
        sink.write_text(SINK.format(records=RECORDS, times=str(folder / 'times')))
        return {'name': 'bench', 'mode': 'stream', 'concurrency': 4096, 'queue': '1024M',
                'exec': ['/usr/bin/taskset', '-c', str(SERVER_CORE), sys.executable, str(sink)]}
    with contextlib.closing(World(build, [handler])) as world:
        world.control('pause')
        world.change(RECORDS)
        before = world.informerd.cpu()
        world.control('resume')
        (waited,) = wait_for_lines(world.folder / 'times', 1)
        cpu = (world.informerd.cpu() - before) / RECORDS
        world.change(RECORDS)
        live = wait_for_lines(world.folder / 'times', 2)[1]
    yield 'exec stream, records that waited, a second', waited[2] / (waited[1] - waited[0]), '>=', STREAM_GOAL
    yield 'exec stream, CPU of informerd for each, us', cpu * 1e6, '', None
    yield 'exec stream, changes at full speed, a second', live[2] / (live[1] - live[0]), '', None


class Web:
    """Accepts all requests, and notes the time of the first and the last record of each RECORDS."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.times, self.count, self.first = [], 0, 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                self.serve(self.listener.accept()[0])

    def serve(self, sock):
        with sock, sock.makefile('rb', 1 << 20) as file:
            while file.readline():
                length = 0
                while (header := file.readline().strip()):
                    name, value = header.split(b': ', 1)
                    length = int(value) if name == b'Content-Length' else length
                self.take(file.read(length).count(b'\n'))
                sock.sendall(b'HTTP/1.1 204 No Content\r\n\r\n')

    def take(self, count):
        self.first = self.first or time.monotonic()
        self.count += count
        if self.count >= RECORDS:
            self.times.append((self.first, time.monotonic(), self.count))
            self.count = self.first = 0

    def wait(self, count):
        while len(self.times) < count:
            time.sleep(0.01)
        first, last, records = self.times[count - 1]
        return records / (last - first)


def webhook(build):
    web = Web()

    def handler(_folder):
        return {'name': 'bench', 'queue': '1024M', 'batch': {'max': 1000, 'within': '100ms'},
                'webhook': {'url': f'http://127.0.0.1:{web.listener.getsockname()[1]}/', 'proxy': 'none'}}
    with contextlib.closing(web.listener), contextlib.closing(World(build, [handler])) as world:
        world.control('pause')
        world.change(RECORDS)
        before = world.informerd.cpu()
        world.control('resume')
        waited = web.wait(1)
        cpu = (world.informerd.cpu() - before) / RECORDS
        world.change(RECORDS)
        live = web.wait(2)
    yield 'webhook jsonl, records that waited, a second', waited, '>=', WEBHOOK_GOAL
    yield 'webhook jsonl, CPU of informerd for each, us', cpu * 1e6, '', None
    yield 'webhook jsonl, changes at full speed, a second', live, '', None


def kafka(build):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'e2e'))
    from lib.certs import Certificates as KafkaCertificates
    from lib.kafka import Kafka, Sink
    handler = {'name': 'bench', 'client': True, 'queue': '1024M'}
    with contextlib.closing(World(build, [lambda _folder: handler])) as world:
        certificates = KafkaCertificates(world.folder / 'certificates')
        certificates.server('kafka')
        broker = Kafka(world.folder / 'kafka', certificates)
        sink = Sink(build / 'informerd-kafka', world.folder, world.folder / 'socket', '--handler', 'bench', '--topic', 'bench',
                    '--brokers', broker.plain)
        try:
            broker.start()
            world.change(1000)
            sink.start()
            world.wait_delivered()  # the topic exists
            world.control('pause')
            world.change(RECORDS)
            began = time.monotonic()
            before = world.informerd.cpu()
            world.control('resume')
            world.wait_delivered()
            waited, cpu = RECORDS / (time.monotonic() - began), (world.informerd.cpu() - before) / RECORDS
            began = time.monotonic()
            world.change(RECORDS)
            world.wait_delivered()
            live = RECORDS / (time.monotonic() - began)
            up = min((world.change(PACED, PACE) for _ in range(ROUNDS)), key=lambda one: one['p50'])
            broker.kill()
            down = min((world.change(PACED, PACE) for _ in range(ROUNDS)), key=lambda one: one['p50'])
        finally:
            sink.kill()
            broker.kill()
    yield 'kafka, records that waited, a second', waited, '>=', KAFKA_GOAL
    yield 'kafka, CPU of informerd for each, us', cpu * 1e6, '', None
    yield 'kafka, changes at full speed, a second', live, '', None
    yield 'event log while Kafka runs, median, ms', up['p50'] / 1e6, '', None
    yield 'event log while Kafka is stopped, median, ms', down['p50'] / 1e6, '', None
    yield 'median while Kafka is stopped, of that before', down['p50'] / up['p50'], '<=', 1.2


def nats(build):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'e2e'))
    from lib.certs import Certificates as NatsCertificates
    from lib.nats import SEED, Nats
    folder = Path(tempfile.mkdtemp(prefix='informerd-nats-'))
    certificates = NatsCertificates(folder / 'certificates')
    certificates.server('nats')
    server = Nats(folder / 'servers', certificates, 1)
    (folder / 'seed').write_text(SEED)
    sink = {'name': 'bench', 'queue': '1024M', 'initial': False,
            'nats': {'url': server.url, 'stream': 'K8S', 'ca_file': str(certificates.crt('ca')), 'nkey_file': str(folder / 'seed')}}
    try:
        server.start_all()
        client = server.client()
        client.make_stream('K8S', subjects=['k8s.>'], storage='file', allow_direct=True)
        with contextlib.closing(World(build, [], sinks=[lambda _folder: sink])) as world:
            world.change(1000)
            world.wait_delivered()
            world.control('pause')
            world.change(RECORDS)
            began, before = time.monotonic(), world.informerd.cpu()
            world.control('resume')
            world.wait_delivered()
            waited, cpu = RECORDS / (time.monotonic() - began), (world.informerd.cpu() - before) / RECORDS
            began = time.monotonic()
            world.change(RECORDS)
            world.wait_delivered()
            live = RECORDS / (time.monotonic() - began)
            stored = client.count('K8S')
            up = min((world.change(PACED, PACE) for _ in range(ROUNDS)), key=lambda one: one['p50'])
            server.kill_all()
            down = min((world.change(PACED, PACE) for _ in range(ROUNDS)), key=lambda one: one['p50'])
    finally:
        server.kill_all()
        shutil.rmtree(folder, ignore_errors=True)
    yield 'nats, records that waited, a second', waited, '>=', NATS_GOAL
    yield 'nats, CPU of informerd for each, us', cpu * 1e6, '', None
    yield 'nats, changes at full speed, a second', live, '', None
    yield 'nats, messages stored, of all changes', stored / (1000 + 2 * RECORDS), '>=', 1
    yield 'event log while NATS runs, median, ms', up['p50'] / 1e6, '', None
    yield 'event log while NATS is stopped, median, ms', down['p50'] / 1e6, '', None
    yield 'median while NATS is stopped, of that before', down['p50'] / up['p50'], '<=', 1.2


def hang(build):
    programs = [lambda folder: {'name': 'run', 'exec': ['/usr/bin/sleep', '1000'], 'concurrency': 8, 'timeout': '1h'},
                lambda folder: {'name': 'stream', 'mode': 'stream', 'exec': ['/usr/bin/sleep', '1000'], 'concurrency': 4096,
                                'timeout': '1h'}]
    with contextlib.ExitStack() as stack:
        worlds = {name: stack.enter_context(contextlib.closing(World(build, handlers)))
                  for name, handlers in (('without a handler', []), ('beside handlers that hang', programs))}
        late = {name: [] for name in worlds}
        for _ in range(ROUNDS):  # in turn: other load on the machine affects both
            for name, world in worlds.items():
                late[name].append(world.change(PACED, PACE))
    best = {name: {part: min(one[part] for one in rounds) / 1e6 for part in ('p50', 'p99')} for name, rounds in late.items()}
    for name, figures in best.items():
        yield f'event log {name}, median, ms', figures['p50'], '', None
        yield f'event log {name}, p99, ms', figures['p99'], '', None
    alone, beside = best.values()
    yield 'median beside handlers that hang, of that without', beside['p50'] / alone['p50'], '<=', 1.2


ROWS = {'stream': stream, 'webhook': webhook, 'kafka': kafka, 'nats': nats, 'hang': hang}


def print_rows(rows):
    """Prints the figures of rows. Whether a goal was missed."""
    missed = False
    for what, figure, relation, goal in itertools.chain.from_iterable(rows):
        met = goal is None or (figure >= goal if relation == '>=' else figure <= goal)
        missed = missed or not met
        print(f'{what:52}{figure:12,.2f}' + (f'   goal {relation} {goal:,}{"" if met else "   MISSED"}' if goal else ''), flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build', type=Path)
    parser.add_argument('rows', nargs='*', help=f'of {", ".join(ROWS)} (default: all)')
    arguments = parser.parse_args()
    return print_rows(ROWS[name](arguments.build.resolve()) for name in arguments.rows or ROWS)


if __name__ == '__main__':
    sys.exit(main())
