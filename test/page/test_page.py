#!/usr/bin/env python3
"""test_page.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the page in Chromium, every view, against kubesim."""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import CHROMIUM, Browser
from world import PageCase
from service import config_map, run, wait_until


class Page(PageCase):
    """One browser for all cases: it takes a second to start."""
    browser = None

    def setUp(self):
        if not CHROMIUM:
            self.skipTest('needs chromium')
        super().setUp()
        if not Page.browser:
            Page.folder_of_browser = tempfile.TemporaryDirectory(prefix='informerd.', ignore_cleanup_errors=True)
            Page.browser = Browser(Path(Page.folder_of_browser.name))

    def open(self, view='', **size):
        tab = self.browser.tab(**size)
        self.addCleanup(tab.close)
        tab.open(self.url())
        tab.wait('document.body.classList.contains("open")', 'the session')
        if view:
            tab.run(f'location.hash = "#/{view}"')
        return tab


def tearDownModule():
    if Page.browser:
        Page.browser.__exit__()
        Page.folder_of_browser.cleanup()


class Login(Page):
    def test_the_code_is_removed_and_the_token_is_in_no_address_storage_or_cookie(self):
        self.serve()
        url = self.url()
        code = url.partition('=')[2]
        tab = self.browser.tab()
        self.addCleanup(tab.close)
        tab.open(url)
        tab.wait_text('configmaps')
        self.assertEqual(tab.run('location.href'), url.partition('#')[0])
        history = [entry['url'] for entry in tab.call('Page.getNavigationHistory')['entries']]
        self.assertEqual(history, ['about:blank', url.partition('#')[0]])
        self.assertEqual(tab.run('document.cookie + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage})'),
                         '{}{}')
        tokens = {h['Authorization'] for _, _, h in tab.requests if 'Authorization' in h}
        self.assertEqual(len(tokens), 1)
        for method, target, headers in tab.requests:
            self.assertNotIn(code, target)
            self.assertFalse(headers.get('Referer'))
            self.assertTrue(target.startswith(url.partition('#')[0]), target)
        self.assertEqual([m for m, t, _ in tab.requests if t.endswith('/session')], ['POST'])
        self.assertEqual(tab.problems, [])

    def test_a_used_code_leads_to_the_login(self):
        self.serve()
        url = self.url()
        self.login(url.partition('=')[2])
        tab = self.browser.tab()
        self.addCleanup(tab.close)
        tab.open(url)
        tab.wait_text('Open a session', 'was used or has expired', 'informerctl page')
        tab.type('#code', self.url())
        tab.key('Enter')
        tab.wait_text('configmaps')

    def test_a_session_that_ended_leads_to_the_login(self):
        self.serve(api={'readers': [{'name': 'own', 'uid': os.geteuid()}]})
        tab = self.open()
        tab.wait_text('configmaps')
        self.reload(api={'readers': [{'name': 'another', 'uid': os.geteuid()}]})
        tab.wait_text('The session has ended')


class Overview(Page):
    def test_it_shows_watches_and_outputs(self):
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        self.serve(watches=[{'resource': 'configmaps'}, {'resource': 'pods'}],
                   handlers=[{'name': 'notify', 'watches': ['pods'], 'exec': ['/bin/true']}])
        tab = self.open()
        tab.wait_text('No problems', 'configmaps', 'pods', str(self.path), 'notify')
        row = 'document.querySelector("tbody tr").innerText'
        tab.wait(f'{row}.includes("live")')
        self.assertEqual(tab.run('document.querySelectorAll("td.number")[0].innerText'), '2')
        self.sim.put('configmaps', config_map('c'))
        tab.wait('document.querySelectorAll("td.number")[0].innerText === "3"')
        tab.wait('document.querySelector(".spark polyline").getAttribute("points").includes(" ")', 'a sparkline')
        self.assertEqual(tab.problems, [])

    def test_problems_are_on_top_with_the_remedy(self):
        self.daemon = self.start(self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'secrets'},
                                                    {'resource': 'gadgets.example.com/v1', 'name': 'gadgets'}]))
        wait_until(lambda: self.socket.exists() and self.get('/informerd/v1/code').status == 200, 'the daemon')
        tab = self.open()
        tab.wait_text('gadgets: not found', 'Install the resource')
        top = tab.run('document.querySelector(".problems li").getBoundingClientRect().top')
        self.assertLess(top, tab.run('document.querySelector("table").getBoundingClientRect().top'))

    def test_a_limited_reader_gets_an_explanation(self):
        self.serve(api={'readers': [{'name': 'own', 'uid': os.geteuid(), 'watches': ['configmaps']}]})
        tab = self.open()
        tab.wait_text('for readers without limits')


class Keys(Page):
    def test_help_lists_the_keys(self):
        self.serve()
        tab = self.open()
        tab.key('?')
        tab.wait('document.querySelector("#help").open')
        tab.wait_text('Keyboard shortcuts')
        tab.key('Escape')
        tab.wait('!document.querySelector("#help").open')


run(__name__)
