"""Shared by the tests of the daemon: informerd as a child process, its event logs, and HTTP requests to it.

The API server is kubesim, whose own test library brings the deadline, the client and TAP. Every file, socket and address
belongs to the case alone, so any number of these run side by side.
"""
import collections
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
for folder in ('kubesim', 'lib'):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))
from harness import LoopbackServer, wait_until  # noqa: E402, F401
from lib import DEADLINE, FULL, Sim, config_map, run  # noqa: E402, F401 (imported from here by the tests)

INFORMERD = Path(sys.argv[3]).resolve()
CHANGES = ('ADDED', 'MODIFIED', 'DELETED')
BACKLOG = 4096  # events that a watch holds by default: core/dispatch/consumer.c
Reply = collections.namedtuple('Reply', 'status text')


def records_of(*paths):
    """All records of files in the order given. Each line is one, or blanks where a torn one was."""
    found = []
    for path in paths:
        text = path.read_bytes()
        assert text.endswith(b'\n') or not text, f'{path} ends in {text[-60:]}'
        found += [json.loads(line) for line in text.split(b'\n') if line.strip(b' ')]
    return found


class Log:
    """An event log that is being written: its complete lines so far."""

    def __init__(self, path):
        self.path, self.taken, self.records = path, 0, []

    def read(self):
        """All records up to now. The file only grows."""
        if self.path.exists():
            with open(self.path, 'rb') as f:
                f.seek(self.taken)
                text = f.read()
            whole = text[:text.rfind(b'\n') + 1]
            self.taken += len(whole)
            self.records += [json.loads(line) for line in whole.split(b'\n') if line.strip(b' ')]
        return self.records

    def types(self, watch=None):
        """The number of records of each type, of one watch or of all."""
        return collections.Counter(r['type'] for r in self.read() if watch in (None, r.get('watch')))

    def wait_for(self, true, what):
        wait_until(lambda: true(self.read()), lambda: f'{what}; the last record: {self.records[-1:]}')
        return self.records


def fold(records):
    """The objects that result from the records: {(resource, namespace, name): (uid, rv)}. Each record must fit the state."""
    state = {}
    for r in records:
        if r['type'] not in CHANGES:
            continue
        key = r['resource'], r['namespace'], r['name']
        if r['type'] == 'ADDED':
            assert key not in state, f'added twice: {r}'
            state[key] = r['uid'], r['rv']
            continue
        assert key in state, f'of nothing: {r}'
        assert state[key][0] == r['uid'], f'another uid than {state[key]}: {r}'
        if r['type'] == 'DELETED':
            del state[key]
        else:
            assert state[key][1] == r['old_rv'], f'after {state[key]}: {r}'
            state[key] = r['uid'], r['rv']
    return state


def runs_of(records):
    """The records of each run: a list that starts at each START."""
    runs = []
    for r in records:
        if r['type'] == 'START' or not runs:
            runs.append([])
        runs[-1].append(r)
    return runs


def environment(folder, **more):
    """Without variables of the user's cluster, time zone and service manager, and without meson's MALLOC_PERTURB_."""
    drop = ('KUBE', 'NOTIFY_', 'WATCHDOG_', 'MALLOC_PERTURB_')
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    env.update({'HOME': str(folder), 'TZ': 'UTC', **more})
    env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=4'
    return env


class Daemon:
    """A running informerd; its stderr goes to a file."""

    def __init__(self, folder, arguments, stdout=subprocess.DEVNULL, env=None, wrap=(), **more):
        self.log = folder / 'stderr'
        with open(self.log, 'ab') as log:
            self.child = subprocess.Popen([*wrap, INFORMERD, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                                          stderr=log, env=environment(folder, **(env or {})), **more)
        self.pid = self.child.pid

    def stderr_text(self):
        return self.log.read_text(errors='replace')

    def send_signal(self, number):
        self.child.send_signal(number)

    def alive(self):
        return self.child.poll() is None

    def status(self):
        """Waits for the program to exit and returns its status."""
        return self.child.wait(DEADLINE)

    def end(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.status()

    def resident(self):
        """Bytes of resident memory."""
        with open(f'/proc/{self.pid}/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    def discard(self):
        """Called at the end of a test, passed or failed. A report of a sanitizer is a failure."""
        if self.alive():
            self.child.kill()
        self.child.wait()
        if self.child.stdout:
            self.child.stdout.close()
        for word in ('Sanitizer', 'runtime error:'):
            assert word not in self.stderr_text(), self.stderr_text()


class UnixHttp(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=DEADLINE)
        self.place = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE)
        self.sock.connect(self.place)


def http_get(place, target):
    """(status, text) of a GET on a Unix socket's path or an 'address:port'."""
    connection = UnixHttp(place) if isinstance(place, Path) else http.client.HTTPConnection(place, timeout=DEADLINE)
    with contextlib.closing(connection):
        connection.request('GET', target)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read().decode())


def free_address():
    """A loopback address that no other process uses: derived from the id of this process."""
    pid = os.getpid()
    host = f'127.{1 + (pid >> 16) % 250}.{(pid >> 8) & 255}.{pid & 255}'
    with socket.socket() as taken:
        taken.bind((host, 0))
        return f'{host}:{taken.getsockname()[1]}'


class Case(unittest.TestCase):
    """A kubesim and a folder; the informerd processes that the test started are ended with it."""
    arguments = ()  # of kubesim; FOLDER in them is the folder

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='informerd.')))
        (self.folder / 'state').mkdir(mode=0o700)
        self.socket = self.folder / 'socket'
        self.path = self.folder / 'events.jsonl'
        self.log = Log(self.path)
        self.sim = self.simulate('kubeconfig', *(a.replace('FOLDER', str(self.folder)) for a in self.arguments))

    def simulate(self, name, *arguments):
        """Starts another server, with a kubeconfig of that name."""
        return self.stack.enter_context(Sim('--kubeconfig', self.folder / name, *arguments))

    def conf(self, **changes):
        """A configuration with one watch, one log and the socket; `changes` replace members, None removes them."""
        conf = {'state_dir': str(self.folder / 'state'),
                'socket': {'path': str(self.socket)},
                'clusters': [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig')}],
                'watches': [{'resource': 'configmaps'}],
                'event_logs': [{'path': str(self.path)}]}
        conf.update(changes)
        return {k: v for k, v in conf.items() if v is not None}

    def write_conf(self, conf, name='informerd.conf'):
        """Writes it as JSON, which is YAML too, in one step, because informerd may be reading it."""
        path = self.folder / name
        new = path.with_suffix('.new')
        new.write_text(conf if isinstance(conf, str) else json.dumps(conf, indent=1))
        new.rename(path)
        return path

    def start(self, conf=None, **more):
        daemon = Daemon(self.folder, ['-c', self.write_conf(self.conf() if conf is None else conf)], **more)
        self.stack.callback(daemon.discard)
        return daemon

    def get(self, target, place=None):
        return http_get(place or self.socket, target)

    def wait_ready(self, place=None):
        def ready():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.get('/readyz', place).status == 200
        wait_until(ready, lambda: f'readiness; stderr: {(self.folder / "stderr").read_text()[-2000:]}')

    def wait_held(self):
        """Waits until the watch of ConfigMaps is held for good: its backlog is full. A burst of changes holds it for a moment."""
        def held():
            m = self.metrics()
            return all(m[f'informerd_watch_{name}{{cluster="sim",watch="configmaps"}}'] >= least
                       for name, least in (('backlog_events', BACKLOG), ('held', 1)))
        wait_until(held, 'being held')

    def metrics(self, place=None):
        """{name{labels}: value}, parsed strictly."""
        return parse_metrics(self.get('/metrics', place).text)

    def on_server(self, *resources):
        """The objects that the server lists, in the form of fold()."""
        state = {}
        for resource in resources or ('configmaps',):
            for item in self.sim.request(f'/api/v1/{resource}').json()['items']:
                m = item['metadata']
                state[resource, m.get('namespace', ''), m['name']] = m['uid'], m['resourceVersion']
        return state

    def wait_equal(self, log=None, resources=(), since=0):
        """Waits until the log from record `since` on results in the objects of the server."""
        (log or self.log).wait_for(lambda records: fold(records[since:]) == self.on_server(*resources),
                                   'the log having the objects of the server')


def parse_metrics(text):
    """Parses the text format of Prometheus strictly: HELP, TYPE, then the samples of one family, no sample twice."""
    samples, families, family = {}, {}, None
    assert text.endswith('\n')
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.startswith('# HELP '):
            family = line.split(' ')[2]
            assert family not in families, line
            kind = lines[i + 1].split(' ')
            assert kind[:3] == ['#', 'TYPE', family] and kind[3] in ('counter', 'gauge', 'histogram'), lines[i + 1]
            families[family] = kind[3]
        elif not line.startswith('# TYPE '):
            name, value = line.rsplit(' ', 1)
            base, histogram = name.split('{')[0], families[family] == 'histogram'
            assert base == family or (histogram and base[len(family):] in ('_bucket', '_sum', '_count')), f'{line} under {family}'
            assert name not in samples, line
            assert (families[family] == 'counter') == family.endswith('_total'), line
            samples[name] = float(value)
    return samples


def collector(socket_path):
    """A NOTIFY_SOCKET that collects the messages."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.bind(str(socket_path))
    sock.setblocking(False)
    return sock
