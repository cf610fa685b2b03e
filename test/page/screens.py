#!/usr/bin/env python3
"""screens.py KUBESIM RECORDINGS INFORMERD INFORMERCTL FOLDER: pictures of every view of the page, at each size, light and
dark, as FOLDER/page-VIEW-WIDTH-SCHEME.png (`make screens`).

They show two simulated clusters with more than 1,000 objects that change by themselves, watches that fail, and handlers, one with
a record that it could not deliver. pngquant reduces each picture to few colours.
"""
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import SIZES, PagesInBrowser
from lib import Sim

FOLDER = Path(sys.argv[5])
VIEWS = ('overview', 'changes', 'change', 'objects', 'object', 'history')
FILLED = {'pods': 900, 'configmaps': 300}
PACE = 4  # of the demo
RUN_S = 30  # of the demo, before the pictures
COLOURS = 40
HALVED = 2000  # pixels: a larger picture is kept at half its size
WATCHES = [{'resource': r} for r in ('nodes', 'deployments.apps/v1', 'replicasets.apps/v1', 'pods', 'jobs.batch/v1', 'configmaps',
                                     'services', 'events')]
FAILING = [{'resource': 'secrets'}, {'resource': 'certificates.cert-manager.io/v1', 'optional': True}]
HANDLERS = [{'name': 'page-on-crash', 'watches': ['pods'], 'level': 'error', 'exec': ['/bin/true']},
            {'name': 'inventory', 'watches': ['deployments.apps/v1'], 'exec': ['/bin/false'], 'retry': {'max': 0}},
            {'name': 'siem', 'watches': ['pods'], 'batch': {'max': 100, 'within': '1s'},
             'webhook': {'url': 'http://127.0.0.1:9/ingest', 'proxy': 'none'}},
            {'name': 'kafka', 'client': True, 'watches': ['pods']}]


class Screens(PagesInBrowser):
    arguments = ('--demo', '--seed', '8', '--pace', str(PACE))

    def setUp(self):
        super().setUp()
        for resource, count in FILLED.items():
            self.sim.control('fill', resource=resource, count=count, bytes=900, namespaces=3, prefix='checkout')
        edge = self.stack.enter_context(Sim('--kubeconfig', self.folder / 'edge'))
        edge.control('fill', resource='pods', count=40, bytes=900)
        self.sim.control('allow', set=','.join(w['resource'].split('/')[0] for w in WATCHES))
        self.daemon = self.start(self.conf(
            clusters=[{'name': 'prod', 'kubeconfig': str(self.folder / 'kubeconfig')}, {'name': 'edge', 'kubeconfig': str(self.folder / 'edge')}],
            watches=[{**w, 'cluster': 'prod'} for w in WATCHES + FAILING] + [{'resource': 'pods', 'cluster': 'edge', 'name': 'edge-pods'}],
            handlers=HANDLERS, event_logs=[{'path': str(self.path), 'object': 'full'}]))
        self.wait_listening()

    def keep(self, tab, view, width, dark):
        path = FOLDER / f'page-{view}-{width}-{"dark" if dark else "light"}.png'
        tab.picture(path, 0.5 if width > HALVED else 1)
        subprocess.run(['pngquant', '--force', '--nofs', '--speed', '1', '--output', path, str(COLOURS), path], check=True)

    def looks(self, tab):
        """Each size, light and dark."""
        for width, height in SIZES:
            for dark in (False, True):
                tab.resize(width, height, dark)
                yield width, dark

    def test_views(self):
        self.assertTrue(shutil.which('pngquant'), 'pngquant is missing: install the package of that name')
        tab = self.open('changes')
        self.browser.receive(1)
        time.sleep(RUN_S)
        for width, dark in self.looks(tab):
            for name in VIEWS:
                getattr(self, name)(tab)
                self.keep(tab, name, width, dark)
                tab.key('Escape')
        self.assertEqual(tab.problems, [])

    def test_login(self):
        tab = self.browser.tab()
        self.addCleanup(tab.close)
        tab.open(self.url().partition('#')[0])
        tab.wait_text('Open a session')
        for width, dark in self.looks(tab):
            self.keep(tab, 'login', width, dark)

    def pod(self):
        """The last record of the pod that changed last and is running."""
        pods = {r['uid']: r for r in self.log.read() if r.get('kind') == 'Pod' and r.get('owner')}
        return max((r for r in pods.values() if r['type'] == 'MODIFIED' and 'deletionTimestamp' not in r['object']['metadata']),
                   key=lambda r: r['seq'])

    def go(self, tab, address):
        tab.run(f'location.hash = "#/{address}"')

    def overview(self, tab):
        self.go(tab, 'overview')
        tab.wait_text('page-on-crash', 'forbidden')
        tab.wait('document.querySelector(".spark polyline").getAttribute("points").includes(" ")', 'a rate')

    def changes(self, tab):
        self.go(tab, 'changes')
        tab.wait('document.querySelectorAll(".change:not([hidden])").length > 5')

    def change(self, tab):
        self.changes(tab)
        tab.wait("""(row => {
            row?.click();
            return row;
        })([...document.querySelectorAll('.change:not([hidden])')].find(r => /MODIFIED[^]*Pod/.test(r.textContent)))""", 'a changed pod')
        tab.wait('document.querySelector(".diff") !== null')

    def objects(self, tab):
        self.go(tab, 'objects/prod/pods')
        tab.wait('document.querySelectorAll(".object-row:not([hidden])").length > 5')

    def object(self, tab):
        pod = self.pod()
        self.go(tab, f'objects/prod/pods/{pod["namespace"]}/{pod["name"]}')
        tab.wait_text('Owners', 'Events', 'YAML')
        tab.wait('!document.querySelector(".pane").innerText.includes("Loading")')

    def history(self, tab):
        self.go(tab, f'history/prod/_/{self.pod()["namespace"]}')
        tab.wait_text('record')
        tab.choose('[data-key=range]', '300')
        tab.wait('document.querySelectorAll(".change:not([hidden])").length > 5')


if __name__ == '__main__':
    del sys.argv[1:]
    unittest.main()
