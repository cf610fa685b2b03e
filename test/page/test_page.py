#!/usr/bin/env python3
"""test_page.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the page in Chromium, every view, against kubesim."""
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import PagesInBrowser
from service import config_map, free_address, run, wait_until


class Login(PagesInBrowser):
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


class Overview(PagesInBrowser):
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
        self.wait_listening()
        tab = self.open()
        tab.wait_text('gadgets: not found', 'Install the resource')
        top = tab.run('document.querySelector(".problems li").getBoundingClientRect().top')
        self.assertLess(top, tab.run('document.querySelector("table").getBoundingClientRect().top'))

    def test_watches_with_the_same_problem_are_one_item(self):
        self.sim.control('allow', set='configmaps')
        self.daemon = self.start(self.conf(watches=[{'resource': r} for r in ('configmaps', 'pods', 'secrets')]))
        self.wait_listening()
        tab = self.open()
        tab.wait_text('sim: 2 watches: forbidden', 'pods: ', 'secrets: ', 'informerd rbac -c CONFIG')
        self.assertEqual(tab.run('document.querySelectorAll(".problems li").length'), 1)

    def test_handlers_have_kind_position_and_remedy(self):
        self.serve(handlers=[{'name': 'broken', 'watches': ['configmaps'], 'exec': ['/bin/false'], 'retry': {'max': 0}},
                             {'name': 'taken', 'watches': ['configmaps'], 'client': True}])
        self.sim.put('configmaps', config_map('a'))
        record, = self.log.wait_for(lambda records: [r for r in records if r.get('name') == 'a'], 'the record')[-1:]
        tab = self.open()
        tab.wait_text('broken: failing, 1 parked record', 'informerctl handler retry broken', 'taken: failing',
                      '1 record waits: start the program that takes them')
        rows = '[...document.querySelectorAll("tr")].map(r => [...r.cells].map(c => c.innerText))'
        cells = {row[0]: row[1:] for row in tab.run(rows)}
        self.assertEqual(cells['taken'][0], 'client')
        self.assertEqual(cells['taken'][2:4], [f'#{record["seq"] - 1}', '1'])
        self.assertEqual((cells['broken'][0], cells['broken'][3]), ('exec', '0'))
        self.assertGreaterEqual(int(cells['broken'][2].lstrip('#')), record['seq'])
        self.assertEqual(tab.problems, [])

    def test_a_limited_reader_gets_an_explanation(self):
        self.serve(api={'readers': [{'name': 'own', 'uid': os.geteuid(), 'watches': ['configmaps']}]})
        tab = self.open()
        tab.wait_text('for readers without limits')


ROWS = '[...document.querySelectorAll(".change:not([hidden])")].map(r => r.innerText).join("\\n")'


class Changes(PagesInBrowser):
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

    def test_a_long_text_has_its_changed_lines(self):
        self.serve()
        tab = self.live()
        lines = [f'line {i} of a file in a ConfigMap' for i in range(20)]
        self.sim.put('configmaps', {**config_map('a'), 'data': {'file': '\n'.join(lines)}})
        lines[7] = 'another <b>line</b>'
        self.sim.put('configmaps', {**config_map('a'), 'data': {'file': '\n'.join(lines)}})
        self.wait_rows(tab, 'MODIFIED')
        tab.key('j')
        tab.key('Enter')
        tab.wait('document.querySelector(".diff ins")?.innerText === "+another <b>line</b>"', 'the new line')
        self.assertEqual(tab.run('document.querySelector(".diff del").innerText'), '-line 7 of a file in a ConfigMap')

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

    def test_more_tabs_than_connections(self):
        """A browser has six connections to a server: hidden tabs have no streams, and continue when they are shown."""
        self.serve()
        tabs = [self.live() for _ in range(8)]
        tabs[0].call('Page.bringToFront')
        tabs[0].run('location.hash = "#/objects/sim/configmaps"')
        tabs[1].call('Page.bringToFront')
        self.sim.put('configmaps', config_map('one'), config_map('two'))
        for tab in tabs[1:]:
            tab.call('Page.bringToFront')
            self.wait_rows(tab, 'default/one', 'default/two')
            self.assertNotIn('NOTE', self.rows(tab))
        self.sim.put('configmaps', config_map('three'))
        tabs[0].call('Page.bringToFront')
        tabs[0].wait('document.querySelectorAll(".space .object-row:not([hidden])").length === 3', 'the table')
        tabs[0].run('location.hash = "#/changes"')
        self.wait_rows(tabs[0], 'default/one', 'default/two', 'default/three')
        for tab in tabs:
            self.assertEqual(tab.problems, [])

    def test_a_hidden_tab_reports_what_cannot_be_sent(self):
        self.serve(event_logs=[])
        tab, other = self.live(), self.browser.tab()
        self.addCleanup(other.close)
        other.call('Page.bringToFront')
        tab.wait('document.hidden', 'the other tab')
        self.sim.put('configmaps', config_map('unseen'))
        wait_until(lambda: self.local('status')['watches'][0]['objects'] == 1, 'the change')
        tab.call('Page.bringToFront')
        self.wait_rows(tab, 'this tab was hidden for', 'no event log has all of these records')

    def test_a_thousand_changes_a_second_need_few_elements(self):
        self.sim.control('fill', resource='configmaps', count=500, bytes=500)
        self.serve()
        tab = self.live()
        tab.wait_text('0/s')
        self.sim.control('churn', resource='configmaps', count=3000, rate=1000)
        tab.wait(f'Number(/of ([\\d,]+) change/.exec(document.body.innerText)?.[1].replace(",", "")) >= 3000', '3000 changes')
        self.assertLess(tab.run('document.querySelectorAll(".change").length'), 60)
        self.assertLess(tab.run('document.querySelectorAll("*").length'), 800)
        shown = tab.run("""(row => {
            row.click();
            return [row.querySelector('.object').innerText, document.querySelector('.pane h2').innerText];
        })(document.querySelectorAll('.change:not([hidden])')[5])""")
        self.assertEqual(f'ConfigMap {shown[0]}', shown[1])
        tab.key('G')
        tab.wait('document.querySelector(".change[aria-selected=true]") !== null')
        self.assertLess(tab.run('document.querySelectorAll(".change").length'), 60)


def owned(name, owner, **more):
    """A pod or replica set of an owner (kind, name, uid)."""
    kind, owner_name, uid = owner
    return {'metadata': {'name': name, 'namespace': 'shop', 'labels': {'app': 'web'}, 'ownerReferences': [
        {'apiVersion': 'apps/v1', 'kind': kind, 'name': owner_name, 'uid': uid, 'controller': True}], **more.pop('meta', {})}, **more}


class Objects(PagesInBrowser):
    def setUp(self):
        super().setUp()
        put = self.sim.put
        web, = put('deployments.apps', {'metadata': {'name': 'web', 'namespace': 'shop', 'labels': {'app': 'web'}},
                                        'spec': {'replicas': 1}})
        replicas, = put('replicasets.apps', owned('web-1', ('Deployment', 'web', web['metadata']['uid']), spec={'replicas': 1}))
        self.pod, = put('pods', owned('web-1-a', ('ReplicaSet', 'web-1', replicas['metadata']['uid']), spec={
            'nodeName': 'node-1', 'containers': [{'name': 'c', 'image': 'web:1'}]}, status={'phase': 'Running'}))
        put('pods', {'metadata': {'name': 'other', 'namespace': 'billing'}, 'spec': {'containers': [{'name': 'c'}]}})
        put('events', {'metadata': {'name': 'e1', 'namespace': 'shop'}, 'type': 'Warning', 'reason': 'BackOff',
                       'message': 'restarting <b>c</b>', 'lastTimestamp': '2026-01-01T00:00:00Z',
                       'involvedObject': {'kind': 'Pod', 'name': 'web-1-a', 'namespace': 'shop', 'uid': self.pod['metadata']['uid']}})
        put('secrets', {'metadata': {'name': 'keys', 'namespace': 'shop'}, 'data': {'password': 'c2VjcmV0'}})
        self.serve(watches=[{'resource': r, 'name': r.split('.')[0]} for r in (
            'deployments.apps/v1', 'replicasets.apps/v1', 'pods', 'events', 'secrets', 'nodes')])

    def names(self, tab):
        return tab.run('[...document.querySelectorAll(".space .object-row:not([hidden])")].map(r => r.children[1].innerText)')

    def head(self, tab):
        return tab.run('[...document.querySelectorAll(".head span")].map(s => s.innerText)')

    def wait_names(self, tab, *names):
        wait_until(lambda: self.names(tab) == list(names), lambda: f'{names}, not {self.names(tab)}')

    def test_the_table_has_kubectls_columns_and_follows_the_cluster(self):
        tab = self.open('objects/sim/pods')
        self.wait_names(tab, 'other', 'web-1-a')
        columns = ['Namespace', 'Name', 'Ready', 'Status', 'Restarts', 'Age']
        self.assertEqual(self.head(tab)[:7], [*columns, 'IP'])  # those of -o wide, because there is room
        tab.resize(700, 800)
        wait_until(lambda: self.head(tab) == columns, lambda: self.head(tab))
        tab.resize(360, 740)  # the name has a line of its own
        wait_until(lambda: self.head(tab) == columns[1:], lambda: self.head(tab))
        tab.wait('document.querySelector(".space .object-row").innerText.includes("billing/other")')
        tab.resize(1280, 800)
        wait_until(lambda: self.head(tab)[:7] == [*columns, 'IP'], lambda: self.head(tab))
        self.sim.put('pods', {'metadata': {'name': 'third', 'namespace': 'shop'}, 'spec': {'containers': [{'name': 'c'}]}})
        self.wait_names(tab, 'other', 'third', 'web-1-a')
        self.sim.control('delete', resource='pods', namespace='shop', name='third')
        self.wait_names(tab, 'other', 'web-1-a')
        self.assertEqual(tab.problems, [])

    def test_search_by_name_label_namespace_and_kind(self):
        tab = self.open('objects/sim/pods')
        self.wait_names(tab, 'other', 'web-1-a')
        for text, names in (('WEB', ['web-1-a']), ('app=web', ['web-1-a']), ('app!=web', ['other']), ('billing/', ['other'])):
            tab.type('[data-key=search]', text)
            self.wait_names(tab, *names)
        tab.type('[data-key=search]', '')
        tab.choose('[data-key=ns]', 'shop')
        self.wait_names(tab, 'web-1-a')
        tab.choose('[data-key=ns]', '')
        tab.run('location.hash = "#/objects/_/all"')
        tab.type('[data-key=search]', 'app=web')
        wait_until(lambda: sorted(self.names(tab)) == ['Deployment', 'Pod', 'ReplicaSet'], 'all kinds')
        tab.type('[data-key=search]', 'secret')
        self.wait_names(tab, 'Secret')

    def test_a_namespace_stays_selected_in_the_tables_of_other_kinds(self):
        self.sim.control('put', {'metadata': {'name': 'node-1'}}, resource='nodes')
        tab = self.open('objects/sim/pods')
        self.wait_names(tab, 'other', 'web-1-a')
        tab.choose('[data-key=ns]', 'billing')
        self.wait_names(tab, 'other')
        tab.run('location.hash = "#/objects/sim/secrets"')
        tab.wait_text('No object matches')
        self.assertEqual(tab.run('document.querySelector("[data-key=ns]").value'), 'billing')
        tab.run('location.hash = "#/objects/sim/nodes"')
        tab.wait('document.querySelector(".space .object-row:not([hidden])")?.innerText.includes("node-1")', 'the node')

    def test_an_object_has_owners_events_and_marked_changes(self):
        tab = self.open('objects/sim/pods')
        self.wait_names(tab, 'other', 'web-1-a')
        tab.type('[data-key=search]', 'web')
        self.wait_names(tab, 'web-1-a')
        tab.key('Escape')
        tab.key('j')
        tab.key('Enter')
        tab.wait_text('Pod shop/web-1-a', 'BackOff', 'restarting <b>c</b>')
        tree = tab.wait('document.querySelector(".tree")?.innerText', 'the tree')
        self.assertEqual(tree.split(), 'Deployment web ReplicaSet web-1 Pod web-1-a'.split())
        self.assertIn('image: web:1', tab.wait('document.querySelector(".yaml").innerText'))
        changed = {**self.pod, 'status': {'phase': 'Failed'}}
        changed['metadata'] = {k: v for k, v in changed['metadata'].items() if k != 'resourceVersion'}
        self.sim.put('pods', changed)
        tab.wait('[...document.querySelectorAll(".yaml mark")].some(m => m.innerText.includes("phase: Failed"))', 'the mark')
        self.assertEqual(tab.run('document.querySelectorAll(".yaml mark").length'), 1)
        tab.click('.tree a')
        tab.wait_text('Deployment shop/web')
        self.assertEqual(tab.run('location.hash'), '#/objects/sim/deployments.apps%2Fv1/shop/web')
        self.assertEqual(tab.problems, [])

    def test_secrets_have_no_values(self):
        tab = self.open('objects/sim/secrets/shop/keys')
        tab.wait_text('Only the metadata', 'name: keys')
        self.assertNotIn('c2VjcmV0', tab.text())

    def test_an_object_that_does_not_exist(self):
        tab = self.open('objects/sim/pods/shop/gone')
        tab.wait_text('Pod shop/gone', 'does not exist')
        tab.run('location.hash = "#/objects/sim/widgets"')
        tab.wait_text('widgets is not watched')

    def test_a_kind_that_is_not_watched_ends_the_table_before_it(self):
        tab = self.open('objects/sim/pods')
        tab.wait_text('web-1-a')
        tab.run('location.hash = "#/objects/sim/widgets"')
        tab.wait_text('widgets is not watched')
        tab.wait('!document.body.innerText.includes("web-1-a")', 'the end of the table')
        tab.run('location.hash = "#/objects/sim/pods"')
        tab.wait_text('web-1-a')
        self.assertNotIn('is not watched', tab.text())


class History(PagesInBrowser):
    def setUp(self):
        super().setUp()
        self.serve()
        for i in range(3):
            self.sim.put('configmaps', {**config_map('one'), 'data': {'k': f'value {i}'}})
        self.sim.put('configmaps', config_map('two'), {'metadata': {'name': 'far', 'namespace': 'shop'}})
        self.log.wait_for(lambda records: any(r.get('name') == 'far' for r in records), 'the records')

    def rows(self, tab):
        """The objects of the records, without those about the daemon."""
        return tab.run('[...document.querySelectorAll(".change:not([hidden])")].map(r => r.querySelector(".object").innerText).filter(Boolean)')

    def wait_rows(self, tab, *names):
        wait_until(lambda: self.rows(tab) == list(names), lambda: f'{names}, not {self.rows(tab)}; {tab.text()}')

    def test_a_namespace_and_an_object(self):
        tab = self.open('history')
        tab.wait_text('Select a kind, a namespace or a name')
        tab.type('[data-key=ns]', 'default')
        self.wait_rows(tab, 'default/one', 'default/one', 'default/one', 'default/two')
        tab.type('[data-key=name]', 'one')
        self.wait_rows(tab, 'default/one', 'default/one', 'default/one')
        self.assertEqual(tab.run('location.hash'), '#/history/_/_/default/one')
        tab.key('Escape')
        tab.key('G')
        tab.key('k')
        tab.key('Enter')
        tab.wait('document.querySelector(".diff")?.innerText.includes("+ value 1")', 'the diff')
        self.assertEqual(tab.problems, [])

    def test_the_timeline_zooms_and_picks(self):
        tab = self.open('history/sim/configmaps/default/one')
        self.wait_rows(tab, *['default/one'] * 3)
        self.assertRegex(tab.run('document.querySelector("canvas").getAttribute("aria-label")'), r'Timeline: \d records in 1h')
        box = tab.run('(b => [b.left, b.top, b.right, b.height])(document.querySelector("canvas").getBoundingClientRect())')
        left, top, right, height = box

        def mouse(kind, x):
            tab.call('Input.dispatchMouseEvent', {'type': kind, 'x': x, 'y': top + height / 3, 'button': 'left', 'clickCount': 1})

        mouse('mousePressed', right - 3)
        mouse('mouseReleased', right - 3)
        tab.wait('!document.querySelector(".pane").hidden', 'the record')
        tab.key('Escape')
        mouse('mousePressed', left + (right - left) / 2)
        mouse('mouseMoved', left + (right - left) / 2 + 60)
        mouse('mouseReleased', left + (right - left) / 2 + 60)
        tab.wait_text('Nothing happened in this time', '0 records')
        for _ in range(6):
            tab.key('-')
        self.wait_rows(tab, *['default/one'] * 3)

    def test_without_an_event_log_there_is_no_history(self):
        self.daemon.end()
        self.serve(event_logs=[])
        tab = self.open('history/_/_/default')
        tab.wait_text('event log')


class Keys(PagesInBrowser):
    def test_help_lists_the_keys(self):
        self.serve()
        tab = self.open()
        tab.key('?')
        tab.wait('document.querySelector("#help").open')
        tab.wait_text('Keyboard shortcuts')
        tab.key('Escape')
        tab.wait('!document.querySelector("#help").open')


run(__name__)
