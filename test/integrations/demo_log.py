"""A log and a page of metrics of the demo: kubesim's changing cluster, followed by informerd with conf/demo.conf."""
import contextlib
import os
import signal
import tempfile
from pathlib import Path

from service import Daemon, Log, Sim, http_get

CONF = Path(__file__).resolve().parents[2] / 'conf'
WATCHES = (CONF / 'demo.conf').read_text().count('{resource: ')


class DemoLog:
    """`path` is the log of a daemon that has ended, `records` are its records, `metrics` is its page of metrics."""

    def __init__(self):
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with self.stack:
            self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='integrations.')))
            self.observe()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def observe(self):
        (self.folder / 'state').mkdir(mode=0o700)
        self.path = self.folder / 'events.jsonl'
        with Sim('--self-signed', self.folder, '--demo', '--seed', '1', '--pace', '60'):
            variables = {'INFORMERD_DEMO_DIR': str(self.folder), 'INFORMERD_DEMO_HTTP': loopback(9471),
                         'INFORMERD_DEMO_API': loopback(6471)}
            daemon = Daemon(self.folder, ['-c', CONF / 'demo.conf'], env=variables)
            self.stack.callback(daemon.discard)
            log = Log(self.path)
            log.wait_for(eventful, 'additions, changes, deletions, warnings and the first sync of each watch')
            self.metrics = http_get(self.folder / 'informerd.sock', '/metrics').text
            assert daemon.end(signal.SIGTERM) == 0, daemon.stderr_text()
        self.records = log.read()


def eventful(records):
    """Whether the log has a record of every type that the demo causes, in some number."""
    synced = sum(r['type'] == 'SYNCED' for r in records)
    return (synced == WATCHES and sum(r['type'] == 'DELETED' and r['kind'] == 'Pod' for r in records) >= 3
            and sum(r['type'] == 'MODIFIED' for r in records) >= 100
            and any(r['level'] == 'warn' for r in records))


def loopback(port):
    """An address of loopback that depends on the process, so that several tests can run at the same time."""
    pid = os.getpid()
    return f'127.{1 + (pid >> 16) % 250}.{pid >> 8 & 255}.{pid & 255}:{port}'
