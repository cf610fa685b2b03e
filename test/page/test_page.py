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
from service import config_map, free_address, run, wait_until


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


ROWS = '[...document.querySelectorAll(".change:not([hidden])")].map(r => r.innerText).join("\\n")'


class Changes(Page):
    def live(self, **size):
        """The view, connected."""
        tab = self.open('changes', **size)
        tab.wait('document.querySelector("#link").dataset.state === "live"', 'the stream')
        return tab

    def wait_rows(self, tab, *texts):
        for text in texts:
            tab.wait(f'{ROWS}.includes({text!r})', f'{text!r} in {tab.run(ROWS)!r}')

    def rows(self, tab):
        return tab.run(ROWS)

    def test_changes_appear_with_author_and_diff(self):
        self.serve()
        tab = self.live()
        authors = [{'manager': 'kubectl-edit', 'operation': 'Update', 'apiVersion': 'v1', 'time': '2026-01-01T00:00:00Z',
                    'fieldsType': 'FieldsV1', 'fieldsV1': {'f:data': {'f:k': {}}}}]
        self.sim.put('configmaps', config_map('a', managedFields=authors))
        self.wait_rows(tab, 'default/a', 'ADDED')
        self.sim.put('configmaps', {**config_map('a', managedFields=authors), 'data': {'k': 'new <b>value</b>', 'more': 'x'}})
        self.wait_rows(tab, 'MODIFIED', 'data.k')
        tab.key('j')
        tab.key('Enter')
        tab.wait_text('Changed by', 'kubectl-edit at 2026-01-01', 'record #')
        self.assertEqual(tab.run('document.querySelector(".diff").innerText').split('\n')[:3],
                         ['data.k', '- a', '+ "new <b>value</b>"'])
        tab.key('j')
        tab.wait('document.querySelector(".pane .verb").innerText.includes("ADDED")')
        tab.key('Escape')
        tab.wait('document.querySelector(".pane").hidden')
        self.assertEqual(tab.problems, [])

    def test_filters(self):
        self.serve(watches=[{'resource': 'configmaps'}, {'resource': 'secrets'}],
                   levels=[{'kind': 'Secret', 'when': 'metadata.name=four', 'level': 'warn'}])
        tab = self.live()
        self.sim.put('configmaps', config_map('one', labels={'app': 'web'}), config_map('two', labels={'app': 'db'}),
                     {'metadata': {'name': 'three', 'namespace': 'shop'}})
        self.sim.put('secrets', {'metadata': {'name': 'four', 'namespace': 'shop'}})
        self.sim.put('configmaps', {**config_map('one', labels={'app': 'web'}), 'data': {'k': 'changed'}})
        self.wait_rows(tab, 'one', 'two', 'three', 'four', 'MODIFIED')

        def shown():
            return sorted(tab.run('[...document.querySelectorAll(".change:not([hidden])")].map(r => '
                                  'r.querySelector(".object").innerText.split("/")[1])'))

        def expect(*names):
            wait_until(lambda: shown() == sorted(names), lambda: f'{names}, not {shown()}')

        for key, value, names in (('text', 'TWO', ['two']), ('label', 'app=web', ['one', 'one']),
                                  ('label', 'app!=web', ['two', 'three', 'four']), ('path', 'data.k', ['one']),
                                  ('text', 'nothing', [])):
            tab.type(f'[data-key={key}]', value)
            expect(*names)
            tab.type(f'[data-key={key}]', '')
            expect('one', 'one', 'two', 'three', 'four')
        for key, value, names in (('watch', 'secrets', ['four']), ('ns', 'shop', ['three', 'four']), ('level', 'warn', ['four'])):
            tab.choose(f'[data-key={key}]', value)
            expect(*names)
            tab.choose(f'[data-key={key}]', '')
        tab.click('button[data-verb=MODIFIED]')
        expect('one')
        tab.wait_text('4 filtered out')

    def test_a_pause_loses_nothing(self):
        self.serve()
        tab = self.live()
        self.sim.put('configmaps', config_map('first'))
        self.wait_rows(tab, 'first')
        tab.key('p')
        tab.wait_text('paused')
        self.sim.put('configmaps', *(config_map(f'later-{i}') for i in range(30)))
        tab.wait_text('30 new changes')
        self.assertNotIn('later', self.rows(tab))
        tab.key('p')
        self.wait_rows(tab, 'later-29', 'later-10')
        tab.wait_text('31 rows')

    def test_changes_that_look_the_same_are_folded(self):
        self.serve()
        tab = self.live()
        for i in range(6):
            self.sim.put('configmaps', {**config_map('noise'), 'data': {'k': str(i)}})
        self.wait_rows(tab, '×5')
        tab.wait_text('2 rows of 6 changes')
        tab.key('j')
        tab.key('Enter')
        tab.wait_text('5 changes like this')
        tab.key('f')
        tab.wait_text('6 rows of 6 changes')

    def test_text_from_the_cluster_is_never_markup(self):
        self.serve(watches=[{'resource': 'configmaps'}, {'resource': 'events'}])
        evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
        tab = self.live()
        name = '<img src=x onerror=window.hacked=1>'
        for data in ({evil: evil}, {evil: evil + evil, 'javascript:alert(1)': evil}):
            self.sim.put('configmaps', {'metadata': {'name': name, 'namespace': 'default', 'labels': {evil: evil}}, 'data': data})
        self.sim.put('events', {'metadata': {'name': 'e', 'namespace': 'default'}, 'reason': evil, 'message': evil,
                                'type': 'Warning', 'involvedObject': {'kind': evil, 'name': evil, 'namespace': 'default'}})
        self.wait_rows(tab, '<img src=x', 'MODIFIED', 'Event')
        for _ in range(3):
            tab.key('j')
            tab.key('Enter')
            tab.wait('document.querySelector(".pane").innerText.includes("<img src=x")')
        self.assertEqual(tab.run('document.querySelectorAll("main img, main script, main iframe").length'), 0)
        self.assertIsNone(tab.run('window.hacked'))
        self.assertEqual(tab.problems, [])

    def test_it_connects_again_after_a_restart_and_reports_what_it_missed(self):
        self.conf_address = free_address()
        self.serve(api={'listen': self.conf_address})
        tab = self.live()
        self.sim.put('configmaps', config_map('before'))
        self.wait_rows(tab, 'before')
        self.daemon.end()
        tab.wait('document.querySelector("#link").dataset.state === "lost"')
        self.sim.put('configmaps', config_map('meanwhile-1'), config_map('meanwhile-2'))
        self.daemon = self.start(self.conf(api={'listen': self.conf_address}))
        tab.wait('document.querySelector("#link").dataset.state === "live"')
        self.wait_rows(tab, 'connected again after', 'missed', 'which follow', 'meanwhile-1', 'meanwhile-2')
        self.sim.put('configmaps', config_map('after'))
        self.wait_rows(tab, 'default/after', 'default/before')
        self.assertEqual(self.rows(tab).count('default/before'), 1)

    def test_a_thousand_changes_a_second_need_few_elements(self):
        self.sim.control('fill', resource='configmaps', count=500, bytes=500)
        self.serve()
        tab = self.live()
        tab.wait_text('0/s')
        self.sim.control('churn', resource='configmaps', count=3000, rate=1000)
        tab.wait(f'Number(/of ([\\d,]+) change/.exec(document.body.innerText)?.[1].replace(",", "")) >= 3000', '3000 changes')
        self.assertLess(tab.run('document.querySelectorAll(".change").length'), 60)
        self.assertLess(tab.run('document.querySelectorAll("*").length'), 800)
        tab.key('G')
        tab.wait('document.querySelector(".change[aria-selected=true]")')
        self.assertLess(tab.run('document.querySelectorAll(".change").length'), 60)


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
