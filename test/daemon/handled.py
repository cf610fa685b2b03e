"""Shared by the tests of handlers: a case whose handlers run shell scripts.

A script appends the records that it gets to the file `got`, which is read like an event log.
"""
import signal
from pathlib import Path

from service import Case, Log, config_map, wait_until

TAKE = 'cat >> $DIR/got'


class Handled(Case):
    def setUp(self):
        super().setUp()
        self.got = Log(self.folder / 'got')

    def handler(self, script, **settings):
        """A handler that runs @script; its directory is not in the environment, which is clean."""
        path = self.folder / f'{settings.get("name", "test").replace("/", "_")}.sh'
        new = path.with_suffix('.new')  # a program that runs can't be overwritten
        new.write_text(f'#!/bin/sh\nDIR={self.folder}\n{script}\n')
        new.chmod(0o755)
        new.rename(path)
        return {'name': 'test', 'exec': [str(path)], 'retry': {'backoff': '1ms..10ms'}, **settings}

    def run_with(self, script, **settings):
        daemon = self.start(self.conf(handlers=[self.handler(script, **settings)]))
        self.wait_ready()
        return daemon

    def reload(self, daemon, *handlers):
        before = daemon.stderr_text().count('configuration reloaded')
        self.write_conf(self.conf(handlers=list(handlers)))
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: daemon.stderr_text().count('configuration reloaded') > before, daemon.stderr_text)

    def put(self, name, **labels):
        self.sim.put('configmaps', config_map(name, labels=labels))

    def metric(self, name, handler='test'):
        return self.metrics()[f'informerd_handler_{name}{{handler="{handler}"}}']

    def wait_metric(self, name, value):
        wait_until(lambda: self.metric(name) == value,
                   lambda: f'{name} {value}; it is {self.metric(name)}; {(self.folder / "stderr").read_text()[-2000:]}')

    def wait_got(self, count):
        return self.got.wait_for(lambda records: len(records) >= count, f'{count} records')

    def wait_file(self, name):
        wait_until((self.folder / name).exists, lambda: f'{name}; {(self.folder / "stderr").read_text()[-2000:]}')
        return self.folder / name

    def wait_logged(self, daemon, text):
        wait_until(lambda: text in daemon.stderr_text(), lambda: f'{text}: {daemon.stderr_text()[-2000:]}')

    def wait_dead(self, pid):
        def dead():
            try:
                return Path(f'/proc/{pid}/stat').read_text().rsplit(') ', 1)[1][0] in 'ZX'
            except OSError:
                return True
        wait_until(dead, lambda: f'the end of {pid}')

    def children(self, daemon):
        return Path(f'/proc/{daemon.pid}/task/{daemon.pid}/children').read_text().split()
