"""What the tests of the library share: kubesim as a child, programs that embed the library, and the last word: what
the handlers were told, what the store holds and what the server would list are the same.

Nothing waits for a fixed time: what must happen is waited for, until a deadline that no machine should need.
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
from harness import clean_environment, wait_until  # noqa: F401 (imported from here by the tests)
from lib import DEADLINE, Case, Sim, config_map, run  # noqa: the rest of the tests take them from here

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
        """Its next line; fails if none comes."""
        while b'\n' not in self.text:
            assert select.select([self.child.stdout], [], [], DEADLINE)[0], f'said no more after {self.lines[-9:]}'
            piece = os.read(self.child.stdout.fileno(), 1 << 20)
            assert piece, f'ended after {self.lines[-9:]}'
            self.text += piece
        line, _, self.text = self.text.partition(b'\n')
        self.lines.append(line.decode())
        return self.lines[-1]

    def status(self):
        """Its exit status, once it ends by itself."""
        return self.child.wait(DEADLINE)

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


class Told(Program):
    """told.c: what it says is folded as it comes, so that a change told twice or not at all does not go unnoticed."""

    def __init__(self, program, **words):
        super().__init__(program, *(f'{key}={value}' for key, value in words.items()))
        self.said, self.folded, self.kinds = [], {}, []

    def next(self):
        said = json.loads(self.line())
        if said['told'] in ('ADDED', 'MODIFIED', 'DELETED'):
            self.fold(said)
        if said['told'] != 'log':
            self.kinds.append(said['told'])
        self.said.append(said)
        return said

    def fold(self, said):
        key = key_of(said['object'])
        assert (key in self.folded) == (said['told'] != 'ADDED'), f'{said["told"]} of {key}, after {self.lines[-9:]}'
        if said['told'] == 'DELETED':
            del self.folded[key]
        else:
            assert self.folded.get(key) != said['object'], f'{key} was told twice'
            self.folded[key] = said['object']

    def until(self, told, **fields):
        """Reads on until that was said; what was said before does not count."""
        while True:
            said = self.next()
            if said['told'] == told and fields.items() <= said.items():
                return said

    def ask(self):
        """How it is now: its store and its status."""
        self.child.stdin.write(b'\n')
        self.child.stdin.flush()
        return self.until('store')

    def wait_for(self, **fields):
        wait_until(lambda: fields.items() <= self.ask().items(), fields)
        return self.said[-1]

    def of(self, told):
        return [said for said in self.said if said['told'] == told]

    def close(self):
        self.child.stdin.close()
        while self.child.poll() is None and select.select([self.child.stdout], [], [], DEADLINE)[0]:
            if not os.read(self.child.stdout.fileno(), 1 << 20):
                break
        return self.status()


def key_of(item):
    return item['metadata'].get('namespace', ''), item['metadata']['name']


def canonical(answer):
    """The items of a list as the store has them: each with the kind that a list does not repeat."""
    kind = {'kind': answer['kind'].removesuffix('List'), 'apiVersion': answer['apiVersion']}
    for item in answer['items'] or []:
        item['metadata'].pop('managedFields', None)
        yield {**kind, **item}


class Story(Case):
    """A kubesim and who follows it. At the end of each, the follower closes without a leak."""

    resource, path = 'configmaps', MAPS

    def follow(self, **words):
        told = Told(PROGRAMS[0], **{'kubeconfig': self.folder / 'kubeconfig', 'resource': self.resource, **words})
        self.addCleanup(told.stop)
        self.told = told
        return told

    def put(self, *names, **data):
        self.sim.put(self.resource, *({**config_map(name), 'data': data} for name in names))

    @contextlib.contextmanager
    def asleep(self):
        """Meanwhile the follower does not run, and its watch is gone when it wakes."""
        self.told.child.send_signal(signal.SIGSTOP)
        self.sim.control('close')
        yield
        self.told.child.send_signal(signal.SIGCONT)

    def delete(self, name):
        self.sim.control('delete', resource=self.resource, namespace='default', name=name)

    def listed(self):
        return list(canonical(self.sim.ask(self.path).json()))

    def settle(self):
        """All three agree, in the end; and then it ends well."""
        wait_until(lambda: not self.sim.control('faults'), 'every fault was had')
        listed = self.listed()
        wait_until(lambda: self.told.ask()['objects'] == listed, 'store and server agree')
        keyed = {key_of(item): item for item in listed}
        wait_until(lambda: self.told.ask() and self.told.folded == keyed, 'what was told is all of it')
        self.assertEqual(self.told.close(), 0)

    def asked(self, verb):
        """When requests of that verb came, in ms; tests list too, but not while they count."""
        return [r['ms'] for r in self.sim.control('requests') if r['verb'] == verb]
