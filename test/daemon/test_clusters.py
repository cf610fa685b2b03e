#!/usr/bin/env python3
"""test_clusters.py KUBESIM RECORDINGS INFORMERD: many clusters in one process; dead ones do not affect others."""
import contextlib
import os
import re
import socket
import time

from service import Case, config_map, fold, run, wait_until

SOON = 10  # seconds; timeouts of dead servers are much longer


class Dead(Case):
    """One live server and one of each kind of dead server: the live one is watched and ready, and startup does not wait."""

    def kubeconfig(self, name, port, ca=None):
        path = self.folder / f'{name}.kubeconfig'
        scheme = 'https' if ca else 'http'
        trust = f', certificate-authority: {ca}' if ca else ''
        path.write_text(f"clusters: [{{name: c, cluster: {{server: '{scheme}://127.0.0.1:{port}'{trust}}}}}]\n"
                        "contexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x\n")
        return str(path)

    def silent(self):
        """A port where connections are accepted and no request is answered."""
        listener = self.stack.enter_context(socket.socket())
        listener.bind(('127.0.0.1', 0))
        listener.listen(16)
        return listener.getsockname()[1]

    def black_hole(self):
        """A port where connections are never established: its queue is full."""
        listener = self.stack.enter_context(socket.socket())
        listener.bind(('127.0.0.1', 0))
        listener.listen(0)
        for _ in range(4):
            waiting = self.stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        return listener.getsockname()[1]

    def refusing(self):
        """A port without a listener: bound, so that no other process can listen there."""
        taken = self.stack.enter_context(socket.socket())
        taken.bind(('127.0.0.1', 0))
        return taken.getsockname()[1]

    def folder_of(self, name):
        path = self.folder / name
        path.mkdir()
        return path

    def wrong_tls(self):
        """Its certificate is signed by another authority than the trusted one."""
        self.simulate('tls-real', '--self-signed', self.folder_of('real'))
        other = self.simulate('tls-other', '--self-signed', self.folder_of('other'))
        return self.kubeconfig('tls', other.port, ca=self.folder / 'real/ca.crt')

    def failing(self):
        sim = self.simulate('failing')
        sim.fault('status', code=500, times=0)
        return str(self.folder / 'failing')

    def all_dead(self):
        return {'refusing': self.kubeconfig('refusing', self.refusing()),
                'silent': self.kubeconfig('silent', self.silent()),
                'hole': self.kubeconfig('hole', self.black_hole()),
                'tls': self.wrong_tls(),
                'failing': self.failing()}

    def begin(self, dead):
        clusters = [{'name': name, 'kubeconfig': path} for name, path in dead.items()]
        clusters.append({'name': 'alive', 'kubeconfig': str(self.folder / 'kubeconfig')})
        watches = [{'name': f'{c["name"]}-maps', 'cluster': c['name'], 'resource': 'configmaps'} for c in clusters]
        return self.start(self.conf(clusters=clusters, watches=watches))

    def health(self):
        """{cluster: (sign, the rest)} from /readyz."""
        with contextlib.suppress(OSError):
            lines = re.findall(r'^\[(.)\] ([^/]+)/[^:]+: (.*)$', self.get('/readyz?verbose').text, re.MULTILINE)
            return {cluster: (sign, text) for sign, cluster, text in lines}
        return {}

    def test_live_cluster_is_not_affected_by_dead_ones(self):
        self.sim.put('configmaps', config_map('first'))
        dead = self.all_dead()
        began = time.monotonic()
        daemon = self.begin(dead)
        wait_until(lambda: self.health().get('alive', ' ')[0] == '+', lambda: f'life; {daemon.stderr_text()[-2000:]}')
        self.log.wait_for(lambda all: any(r.get('name') == 'first' for r in all), 'the initial objects')
        self.assertLess(time.monotonic() - began, SOON)
        for turn in range(20):
            self.sim.put('configmaps', config_map(f'turn-{turn}'))
        began = time.monotonic()
        self.log.wait_for(lambda all: len(fold(all)) == 21, 'the later changes')
        self.assertLess(time.monotonic() - began, SOON)
        for r in self.log.records:
            self.assertEqual(r.get('cluster', 'alive'), 'alive', r)
            self.assertTrue('cluster' in r or r['type'] == 'START', r)
        wait_until(lambda: all(self.health()[name][0] == '-' for name in dead), 'the dead clusters to be reported')
        wait_until(lambda: {self.health()[name][1].split(' for')[0].split(',')[0] for name in ('refusing', 'tls', 'failing')} ==
                   {'failing'}, lambda: f'their errors; {self.health()}')
        self.assertEqual(self.health()['alive'][0], '+')
        self.assertEqual(self.get('/livez').status, 200)
        for name, part in (('refusing', 'refused'), ('tls', 'certificate'), ('failing', '500')):
            self.assertIn(part, self.health()[name][1])
            self.assertRegex(daemon.stderr_text(), rf'{name}: .*{part}')
        helpers = len(os.listdir(f'/proc/{daemon.pid}/task')) - 1
        self.assertGreaterEqual(helpers, 2 * len(dead), 'each cluster has a thread for name lookups, however long they take')
        began = time.monotonic()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertLess(time.monotonic() - began, SOON)

    def test_each_cluster_retries_and_recovers_independently(self):
        other = self.simulate('other')
        other.put('configmaps', config_map('theirs'))
        self.sim.put('configmaps', config_map('ours'))
        daemon = self.begin({'other': str(self.folder / 'other')})
        self.wait_ready()
        other.fault('status', code=403, times=0, path='configmaps')
        other.control('close', how='end')
        wait_until(lambda: self.health()['other'][1].startswith('forbidden'), self.health)
        self.sim.put('configmaps', config_map('meanwhile'))
        records = self.log.wait_for(lambda all: any(r.get('name') == 'meanwhile' for r in all), 'the other cluster')
        self.assertEqual(self.health()['alive'][0], '+')
        m = self.metrics()
        up = {name: m[f'informerd_watch_up{{cluster="{name}",watch="{name}-maps"}}'] for name in ('alive', 'other')}
        self.assertEqual(up, {'alive': 1, 'other': 0})
        other.put('configmaps', config_map('later'))
        other.control('clear')
        records = self.log.wait_for(lambda all: any(r.get('name') == 'later' for r in all), 'the cluster that recovered')
        self.assertEqual({(r['cluster'], r['name']) for r in records if r['type'] == 'ADDED'},
                         {('alive', 'ours'), ('alive', 'meanwhile'), ('other', 'theirs'), ('other', 'later')})
        self.assertEqual([m for m in self.metrics() if 'cluster="alive"' in m and 'reconnects' in m], [])
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


run(__name__)
