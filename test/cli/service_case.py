"""service_case.py: shared by the tests of the service: a simulated API server, a configuration, and the daemon with it."""
import contextlib
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from lib import DEADLINE, INFORMERD, Daemon, environment, wait_until

KUBESIM = Path(sys.argv[2]).resolve()

# Core dumps are forbidden by making the process undumpable, and then a sanitizer can't look for leaks.
CONF = """
core_dumps: true
state_dir: state
socket: {{path: sock}}
drain_timeout: {drain}
clusters: [{{name: sim, kubeconfig: kubeconfig}}]
watches:
{watches}
event_logs: [{{path: {log}}}]
"""
CONFIGMAPS = '  - {resource: configmaps}'


class Sim:
    """kubesim, for the duration of a test."""

    def __init__(self, folder):
        self.child = subprocess.Popen([KUBESIM, '--kubeconfig', folder / 'kubeconfig', '--stdin'], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)
        self.url = json.loads(self.child.stdout.readline())['url']

    def stop(self):
        self.child.stdin.close()
        self.child.stdout.close()
        assert self.child.wait(DEADLINE) == 0, 'kubesim did not end well'

    def control(self, command, body=None, **params):
        data = json.dumps(body).encode() if body is not None else b''
        url = f'{self.url}/kubesim/{command}?{urllib.parse.urlencode(params)}'
        with urllib.request.urlopen(urllib.request.Request(url, data, method='POST'), timeout=DEADLINE) as answer:
            return answer.read()

    def put(self, name, **metadata):
        self.control('put', {'kind': 'ConfigMap', 'apiVersion': 'v1',
                             'metadata': {'name': name, 'namespace': 'shop', **metadata}}, resource='configmaps')


class LocalConnection(http.client.HTTPConnection):
    """HTTP on a Unix socket."""

    def __init__(self, path):
        super().__init__('localhost', timeout=DEADLINE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(DEADLINE)
        self.sock.connect(str(self.path))


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='test_service.')))
        (self.folder / 'state').mkdir()
        self.log = self.folder / 'events.jsonl'
        self.sim = Sim(self.folder)
        self.stack.callback(self.sim.stop)

    def conf(self, watches=CONFIGMAPS, log='events.jsonl', drain='10s', more=''):
        path = self.folder / 'informerd.conf'
        path.write_text(CONF.format(watches=watches, log=log, drain=drain) + more)
        return path

    def start(self, **conf):
        daemon = Daemon(self.folder, '-c', self.conf(**conf))
        self.stack.callback(daemon.stop)
        return daemon

    def refused(self, status, part, **conf):
        """It prints one line and ends with that status."""
        result = subprocess.run([INFORMERD, '-c', self.conf(**conf)], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=DEADLINE, env=environment(self.folder))
        self.assertEqual((result.returncode, result.stdout), (status, ''), result.stderr)
        self.assertRegex(result.stderr, r'\Ainformerd: [^\n]+\n\Z')
        self.assertIn(part, result.stderr)

    def records(self, path=None):
        path = path or self.log
        return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.exists() else []

    def types(self, path=None):
        return [record['type'] for record in self.records(path)]

    def wait_for(self, type, count=1):
        wait_until(lambda: self.types().count(type) >= count, f'{count} {type}')
        return [record for record in self.records() if record['type'] == type][-1]

    def accepts_connections(self):
        """The socket file exists a moment before the daemon listens on it."""
        with contextlib.closing(LocalConnection(self.folder / 'sock')) as connection:
            try:
                connection.connect()
            except (FileNotFoundError, ConnectionRefusedError):
                return False
        return True

    def request(self, target, method='GET'):
        with contextlib.closing(LocalConnection(self.folder / 'sock')) as connection:
            connection.request(method, target)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def end(self, daemon, status=0):
        daemon.signal()
        self.assertEqual(daemon.status(), status, daemon.log_text())
