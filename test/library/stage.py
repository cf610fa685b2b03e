"""Shared by the tests of the library: kubesim as a child process, programs that embed the library, and the final check:
the events of the handlers, the store and the server's list must agree.

No test sleeps for a fixed time. Each waits for a condition, with a generous deadline.
"""
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[1] / 'kubesim'))
sys.path.insert(0, str(Path(__file__).parents[1] / 'lib'))
from harness import FULL, clean_environment, wait_until  # noqa: F401 (imported from here by the tests)
from lib import DEADLINE, Case, Sim, config_map, run  # noqa: the tests import them from here

PROGRAMS = [Path(path).resolve() for path in sys.argv[3:]]
PODS, MAPS = '/api/v1/pods', '/api/v1/configmaps'
KUBECONFIG = '--kubeconfig', 'FOLDER/kubeconfig'
NO_WATCH_LIST = *KUBECONFIG, '--no-watch-list'


class Program:
    """A running program, read line by line."""

    def __init__(self, *arguments, **env):
        self.child = subprocess.Popen([str(a) for a in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=clean_environment(**env))
        self.text, self.lines = b'', []

    def line(self):
        """The next line of output; fails after a deadline."""
        while b'\n' not in self.text:
            assert select.select([self.child.stdout], [], [], DEADLINE)[0], f'no output after {self.lines[-9:]}'
            piece = os.read(self.child.stdout.fileno(), 1 << 20)
            assert piece, f'ended after {self.lines[-9:]}'
            self.text += piece
        line, _, self.text = self.text.partition(b'\n')
        self.lines.append(line.decode())
        return self.lines[-1]

    def status(self):
        """Waits for the program to exit and returns its status."""
        return self.child.wait(DEADLINE)

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


class EventPrinter(Program):
    """event_printer.c. Its events are applied to a copy of the store, so that missing and duplicate events are found."""

    def __init__(self, program, **options):
        super().__init__(program, *(f'{key}={value}' for key, value in options.items()))
        self.records, self.replica, self.kinds = [], {}, []

    def next(self):
        record = json.loads(self.line())
        if record['type'] in ('ADDED', 'MODIFIED', 'DELETED'):
            self.apply(record)
        if record['type'] != 'log':
            self.kinds.append(record['type'])
        self.records.append(record)
        return record

    def apply(self, record):
        key = key_of(record['object'])
        expected = record['type'] != 'ADDED'
        assert (key in self.replica) == expected, f'{record["type"]} of {key}, after {self.lines[-9:]}'
        if record['type'] == 'DELETED':
            del self.replica[key]
        else:
            assert self.replica.get(key) != record['object'], f'{key} was reported twice'
            self.replica[key] = record['object']

    def until(self, type, **fields):
        """Reads until the next such record; earlier records don't count."""
        while True:
            record = self.next()
            if record['type'] == type and fields.items() <= record.items():
                return record

    def query(self):
        """The current store and status."""
        self.child.stdin.write(b'\n')
        self.child.stdin.flush()
        return self.until('store')

    def wait_for(self, **fields):
        wait_until(lambda: fields.items() <= self.query().items(), fields)
        return self.records[-1]

    def of(self, type):
        return [record for record in self.records if record['type'] == type]

    def close(self):
        self.child.stdin.close()
        while self.child.poll() is None and select.select([self.child.stdout], [], [], DEADLINE)[0]:
            if not os.read(self.child.stdout.fileno(), 1 << 20):
                break
        return self.status()


def key_of(item):
    return item['metadata'].get('namespace', ''), item['metadata']['name']


def canonical(answer):
    """The items of a list as in the store: with kind and apiVersion, which list items lack."""
    kind = {'kind': answer['kind'].removesuffix('List'), 'apiVersion': answer['apiVersion']}
    for item in answer['items'] or []:
        item['metadata'].pop('managedFields', None)
        yield {**kind, **item}


class Story(Case):
    """A kubesim and a program that follows it. At the end of each test the program must exit without a leak."""

    resource, path = 'configmaps', MAPS

    def follow(self, **options):
        options = {'kubeconfig': self.folder / 'kubeconfig', 'resource': self.resource, **options}
        follower = EventPrinter(PROGRAMS[0], **options)
        self.addCleanup(follower.stop)
        self.follower = follower
        return follower

    def put(self, *names, **data):
        self.sim.put(self.resource, *({**config_map(name), 'data': data} for name in names))

    @contextlib.contextmanager
    def follower_stopped(self):
        """The follower is stopped meanwhile; its watch is closed when it continues."""
        self.follower.child.send_signal(signal.SIGSTOP)
        self.sim.control('close')
        yield
        self.follower.child.send_signal(signal.SIGCONT)

    def delete(self, name):
        self.sim.control('delete', resource=self.resource, namespace='default', name=name)

    def listed(self):
        return list(canonical(self.sim.request(self.path).json()))

    def settle(self):
        """Waits until events, store and server agree; then closes the follower."""
        wait_until(lambda: not self.sim.control('faults'), 'every fault was applied')
        listed = self.listed()
        wait_until(lambda: self.follower.query()['objects'] == listed, 'store and server agree')
        keyed = {key_of(item): item for item in listed}
        wait_until(lambda: self.follower.query() and self.follower.replica == keyed, 'events and server agree')
        self.assertEqual(self.follower.close(), 0)

    def request_times(self, verb):
        """Times of the requests with that verb, in ms. Tests must not list while they count."""
        return [r['ms'] for r in self.sim.control('requests') if r['verb'] == verb]
