#!/usr/bin/env python3
"""test_example_proxy.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: conf/examples/proxy-reload.conf as it is, apart from its paths.

The proxy is a shell script that counts the signals.
"""
import os
import signal
import subprocess
import sys
from pathlib import Path

from service import Case, run, wait_until

INFORMERCTL = Path(sys.argv[4]).resolve()
SLICES = 'endpointslices.discovery.k8s.io/v1'
EXAMPLES = Path(__file__).resolve().parent.parent.parent / 'conf' / 'examples'


def endpoint_slice(name, service, *addresses):
    return {'apiVersion': 'discovery.k8s.io/v1', 'kind': 'EndpointSlice', 'addressType': 'IPv4',
            'metadata': {'name': name, 'namespace': 'default', 'labels': {'kubernetes.io/service-name': service}},
            'endpoints': [{'addresses': [address]} for address in addresses]}


class Proxy(Case):
    def setUp(self):
        super().setUp()
        self.backends, self.reloads = self.folder / 'backends', self.folder / 'reloads'
        proxy = subprocess.Popen(['sh', '-c', 'trap "echo reloaded >> $0" HUP; touch $0.ready; while :; do sleep 0.05; done',
                                  self.reloads], preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        self.addCleanup(lambda: (proxy.kill(), proxy.wait()))
        wait_until(Path(f'{self.reloads}.ready').exists, lambda: 'the proxy')
        (self.folder / 'proxy.pid').write_text(f'{proxy.pid}\n')

    def start_example(self):
        text = (EXAMPLES / 'proxy-reload.conf').read_text()
        for path, ours in (('/usr/share/doc/informerd/examples/proxy-reload', EXAMPLES / 'proxy-reload'),
                           ('/run/informerd/informerd.sock', self.socket), ('/etc/proxy/backends', self.backends),
                           ('/run/proxy.pid', self.folder / 'proxy.pid')):
            self.assertIn(path, text)
            text = text.replace(path, str(ours))
        conf = {key: value for key, value in self.conf().items() if key not in ('watches', 'event_logs')}
        os.environ['PATH'] = f'{INFORMERCTL.parent}:{os.environ["PATH"]}'
        (self.folder / 'conf.d').mkdir(exist_ok=True)
        self.write_conf(conf, 'conf.d/test.conf')
        return self.start(text)

    def wait_backends(self, *lines):
        wait_until(lambda: self.backends.exists() and self.backends.read_text().splitlines() == sorted(lines),
                   lambda: f'{lines}: {self.backends.exists() and self.backends.read_text()} '
                           f'{(self.folder / "stderr").read_text()[-2000:]}')

    def wait_reloads(self, count):
        wait_until(lambda: self.reloads.exists() and len(self.reloads.read_text().split()) >= count, lambda: f'{count} reloads')

    def test_follows_the_endpoints(self):
        self.sim.put(SLICES, endpoint_slice('web-1', 'web', '10.0.0.1', '10.0.0.2'))
        daemon = self.start_example()
        self.wait_backends('default web 10.0.0.1,10.0.0.2')
        self.wait_reloads(1)
        self.sim.put(SLICES, endpoint_slice('db-1', 'db', '10.0.1.1'))
        self.wait_backends('default web 10.0.0.1,10.0.0.2', 'default db 10.0.1.1')
        self.wait_reloads(2)
        self.sim.put(SLICES, endpoint_slice('web-1', 'web', '10.0.0.2'))
        self.wait_backends('default web 10.0.0.2', 'default db 10.0.1.1')
        self.wait_reloads(3)
        self.assertEqual(daemon.end(), 0)
        self.sim.put(SLICES, endpoint_slice('db-1', 'db', '10.0.1.7'))
        daemon = self.start_example()  # what changed while informerd was down
        self.wait_backends('default web 10.0.0.2', 'default db 10.0.1.7')
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.status(), 0)


run(__name__)
