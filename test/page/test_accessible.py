#!/usr/bin/env python3
"""test_accessible.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: axe-core on every view, small and large, light and dark.

axe-core comes from npm into a cache folder; where that is not possible, its cases are skipped.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import SIZES, PagesInBrowser
from service import config_map, run

CACHE = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'informerd-tools/npm'
AXE = CACHE / 'node_modules/axe-core/axe.min.js'
RULES = {'runOnly': ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], 'resultTypes': ['violations']}


def axe_source():
    """The text of axe-core; None: it can't be had."""
    if not AXE.exists() and shutil.which('npm'):
        subprocess.run(['npm', 'install', '--silent', '--no-audit', '--no-fund', '--prefix', CACHE, 'axe-core'],
                       capture_output=True, timeout=120)
    return AXE.read_text() if AXE.exists() else None


class Accessible(PagesInBrowser):
    VIEWS = {
        'overview': ('overview', 'configmaps', None),
        'changes': ('changes', 'default/one', '.change'),
        'objects': ('objects/sim/configmaps', 'one', '.object-row[role=option]'),
        'object': ('objects/sim/configmaps/default/one', 'YAML', None),
        'history': ('history/_/_/default', 'default/one', '.change'),
    }

    def check(self, tab, what):
        tab.run(self.axe)
        found = tab.run(f'axe.run(document, {json.dumps(RULES)}).then(r => r.violations.map(v => '
                        f'`${{v.id}}: ${{v.help}}: ${{v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join("; ")}}`))')
        self.assertEqual(found, [], what)

    def test_every_view_at_every_size(self):
        self.axe = axe_source()
        if not self.axe:
            self.skipTest('needs axe-core: npm, or a network')
        self.serve(watches=[{'resource': 'configmaps'}, {'resource': 'gadgets.example.com/v1', 'name': 'gadgets', 'optional': True}])
        for width, height in SIZES:
            for dark in (False, True):
                tab = self.open(width=width, height=height, dark=dark, bypass=True)
                tab.wait('document.querySelector("#link").dataset.state === "live"', 'the stream')
                self.sim.put('configmaps', config_map('one', labels={'app': 'web'}))
                self.sim.put('configmaps', {**config_map('one', labels={'app': 'web'}), 'data': {'k': f'{width} {dark}'}})
                for name, (address, text, opened) in self.VIEWS.items():
                    tab.run(f'location.hash = "#/{address}"')
                    tab.wait_text(text)
                    if opened:
                        tab.click(f'{opened}:not([hidden])')
                        tab.wait('!document.querySelector(".pane").hidden')
                    self.check(tab, f'{name} at {width}, {"dark" if dark else "light"}')
                tab.close()  # a browser has at most six connections to a server

    def test_login_and_help(self):
        self.axe = axe_source()
        if not self.axe:
            self.skipTest('needs axe-core: npm, or a network')
        self.serve()
        tab = self.open(bypass=True)
        tab.key('?')
        tab.wait('document.querySelector("#help").open')
        self.check(tab, 'help')
        tab.open(self.url().partition('#')[0])
        tab.wait_text('Open a session')
        self.check(tab, 'login')


run(__name__)
