#!/usr/bin/env python3
"""test_namespaces.py KUBESIM RECORDINGS INFORMERD: one watch of several namespaces, excluded namespaces, and namespaces
that are selected by labels."""
import contextlib
import json
import signal

from service import Case, Daemon, Log, config_map, fold, run, wait_until


def named(records, *types):
    """The objects of these records, in order."""
    return [f"{r['namespace']}/{r['name']}" for r in records if r['type'] in types]


def in_namespace(ns, name, **more):
    return config_map(name, **{'namespace': ns, **more})


class Excluded(Case):
    """exclude_namespaces: excluded objects are neither cached nor reported; for plain names the server does not send them."""

    def test_names_and_patterns(self):
        for ns in ('shop', 'shop-test', 'kube-system', 'kubernetes', 'logs'):
            self.sim.put('configmaps', in_namespace(ns, 'a'))
        watch = {'resource': 'configmaps', 'exclude_namespaces': ['kube-*', '*-test', 'logs']}
        daemon = self.start(self.conf(watches=[watch]))
        self.wait_ready()
        self.assertIn('2 objects', self.get('/readyz?verbose').text)
        for ns in ('kube-system', 'logs', 'a-test', 'shop'):
            self.sim.put('configmaps', in_namespace(ns, 'b'))
        self.sim.control('delete', resource='configmaps', namespace='kube-system', name='a')
        self.sim.put('configmaps', in_namespace('shop', 'last'))
        records = self.log.wait_for(lambda all: any(r.get('name') == 'last' for r in all), 'the last one')
        self.assertEqual(named(records, 'ADDED', 'MODIFIED', 'DELETED'),
                         ['kubernetes/a', 'shop/a', 'shop/b', 'shop/last'])
        requested = [e['target'] for e in self.sim.request('/kubesim/requests').json() if 'configmaps' in e['target']]
        self.assertTrue(requested)
        for target in requested:
            self.assertIn('fieldSelector=metadata.namespace%21%3Dlogs', target)
            self.assertNotIn('kube-', target)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Listed(Case):
    def test_several_namespaces_are_one_watch(self):
        """One SYNCED when the last namespace is synced, one line of health, and each object once."""
        for ns in ('a', 'b', 'c', 'other'):
            self.sim.put('configmaps', in_namespace(ns, 'x'))
        self.sim.fault('stall', ms=10**6, path='/namespaces/c/configmaps', bytes=10)
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespaces': ['a', 'b', 'c']}]))
        self.log.wait_for(lambda all: set(named(all, 'ADDED')) == {'a/x', 'b/x'}, 'two of three')
        self.assertEqual(self.log.types()['SYNCED'], 0)
        health = self.get('/readyz?verbose').text
        self.assertEqual(health.count('sim/configmaps:'), 1, health)
        self.assertIn('2 of 3 namespaces live', health)
        self.sim.control('close', how='reset')
        self.wait_ready()
        self.log.wait_for(lambda _: self.log.types()['SYNCED'], 'SYNCED')
        self.assertEqual(self.log.types()['SYNCED'], 1)
        self.assertEqual([r['objects'] for r in self.log.records if r['type'] == 'SYNCED'], [3])
        self.assertEqual(set(ns for _, ns, _ in fold(self.log.records)), {'a', 'b', 'c'})
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_records_and_log_lines_name_watch_and_namespace(self):
        """Issue 14, 25: RELIST, GAP and the log named the resource alone."""
        daemon = self.start(self.conf(watches=[{'name': 'maps', 'resource': 'configmaps', 'namespaces': ['a', 'b']},
                                               {'name': 'same', 'resource': 'configmaps', 'namespaces': ['b']}]))
        self.wait_ready()
        version = int(self.sim.control('stats')['resourceVersion'])
        self.sim.fault('error', path='/namespaces/b/configmaps')
        self.sim.control('close', how='end', path='/namespaces/b/configmaps')
        self.sim.put('configmaps', in_namespace('b', 'x'), in_namespace('b', 'y'))
        self.log.wait_for(lambda all: [r for r in all if r['type'] == 'RELIST' and r['watch'] == 'maps'], 'RELIST')
        self.log.wait_for(lambda all: 'b/y' in named(all, 'ADDED'), 'y')
        self.sim.control('rewind', rv=version)
        self.log.wait_for(lambda all: [r for r in all if r['type'] == 'GAP' and r['watch'] == 'maps'], 'GAP')
        for record in (r for r in self.log.records if r['type'] in ('RELIST', 'GAP')):
            self.assertIn(record.get('namespace'), ('b',) if record['type'] == 'RELIST' else ('a', 'b'), record)
            self.assertTrue(record['msg'].endswith(f", in namespace {record['namespace']}"), record)
        wait_until(lambda: 'sim: maps, same: configmaps in b: ' in daemon.stderr_text(), 'the names of both watches')


class Usual(Case):
    """`informerd watch` uses the namespace of the context, unless the resource is cluster-scoped."""

    def names(self, *arguments):
        with open(self.path, 'wb') as out:
            daemon = Daemon(self.folder, ['watch', *arguments, '--kubeconfig', str(self.folder / 'kubeconfig')], stdout=out)
        self.stack.callback(daemon.discard)
        records = Log(self.path).wait_for(lambda all: any(r['type'] == 'SYNCED' for r in all), 'SYNCED')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        return [r['name'] for r in records if r['type'] == 'ADDED']

    def test_namespaces_are_ignored_for_nodes(self):
        self.sim.control('put', {'metadata': {'name': 'n1'}}, resource='nodes')
        self.sim.put('configmaps', config_map('here'), in_namespace('elsewhere', 'there'))
        self.assertEqual(self.names('nodes'), ['n1'])
        self.assertEqual(self.names('no'), ['n1'])
        self.assertEqual(self.names('cm'), ['here'])
        self.assertEqual(self.names('configmaps', '-n', 'elsewhere'), ['there'])
        self.assertEqual(self.names('nodes', '-n', 'shop'), ['n1'])  # as kubectl


class Rights(Case):
    """A list of namespaces needs only permission to list and watch in these namespaces."""
    MAY_NOT = 'configmaps is forbidden: User "system:serviceaccount:mon:informerd" cannot {} resource "configmaps" in API group ""'

    def test_requests_are_limited_to_the_namespaces(self):
        self.sim.fault('status', code=403, times=0, verb='other')  # discovery
        for verb in ('list', 'watch', 'watchlist'):
            self.sim.fault('status', code=403, times=0, verb=verb, path='/api/v1/configmaps')
            self.sim.fault('status', code=403, times=0, verb=verb, path='/namespaces?')
        for ns in 'ab':
            self.sim.put('configmaps', in_namespace(ns, 'x'))
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespaces': ['a', 'b']}]))
        self.wait_ready()
        self.log.wait_for(lambda all: sorted(named(all, 'ADDED')) == ['a/x', 'b/x'], 'both')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_missing_permission_is_reported_once_with_a_remedy(self):
        self.sim.fault('status', code=403, times=0, path='/namespaces/b/', text=self.MAY_NOT.format('watch'))
        self.sim.put('configmaps', in_namespace('a', 'x'), in_namespace('b', 'y'))
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespaces': ['a', 'b']}]))
        self.log.wait_for(lambda all: named(all, 'ADDED') == ['a/x'], 'the permitted objects')
        remedy = ("kubectl -n b create role watch-configmaps --verb=list,watch --resource=configmaps && kubectl -n b create "
                  "rolebinding watch-configmaps --role=watch-configmaps --serviceaccount='mon:informerd'")
        wait_until(lambda: remedy in daemon.stderr_text(), daemon.stderr_text)
        health = self.get('/readyz').text
        for part in ('forbidden', '1 of 2 namespaces live', "namespace 'b': ", 'cannot watch', remedy):
            self.assertIn(part, health)
        wait_until(lambda: self.metrics()['informerd_watch_requests_total{cluster="sim",watch="configmaps"}'] > 4, 'tries')
        self.assertEqual(daemon.stderr_text().count(remedy), 1)
        self.sim.control('clear')
        self.wait_ready()
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 1, 'SYNCED')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Selected(Case):
    """Namespaces selected by labels, live."""
    LEFT = 'namespace left the selection'

    def namespace(self, name, team='shop', **more):
        labels = {'team': team} if team else {}
        self.sim.control('put', {'metadata': {'name': name, 'labels': labels, **more}}, resource='namespaces')

    def watching(self, **watch):
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespace_selector': 'team=shop', **watch}]))
        self.wait_ready()
        return daemon

    def reported(self, true, what):
        return self.log.wait_for(true, f'{what}; {(self.folder / "stderr").read_text()[-1000:]}')

    def setUp(self):
        super().setUp()
        for ns, team in (('a', 'shop'), ('b', 'shop'), ('c', 'other'), ('d', None)):
            self.namespace(ns, team)
            for name in 'xy':
                self.sim.put('configmaps', in_namespace(ns, name))

    def test_matching_namespaces_are_synced(self):
        daemon = self.watching()
        self.reported(lambda all: any(r['type'] == 'SYNCED' for r in all), 'SYNCED')
        self.assertEqual(sorted(named(self.log.records, 'ADDED')), ['a/x', 'a/y', 'b/x', 'b/y'])
        self.assertEqual([r['objects'] for r in self.log.records if r['type'] == 'SYNCED'], [4])
        self.assertRegex(self.get('/readyz?verbose').text, r'\A\[\+\] sim/configmaps: live.*, 2 of 2 namespaces live')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def counters(self):
        return {name: value for name, value in self.metrics().items()
                if name.startswith('informerd_watch_') and '_total{' in name}

    def test_counters_keep_what_closed_streams_counted(self):
        daemon = self.watching()
        before = self.counters()
        self.namespace('b', 'other')
        self.reported(lambda all: len(named(all, 'DELETED')) == 2, 'the objects of b gone')
        wait_until(lambda: '1 of 1 namespaces live' in self.get('/readyz?verbose').text, 'one stream')
        self.assertEqual([name for name, count in before.items() if self.counters().get(name, 0) < count], [])
        self.namespace('b')  # a new stream does not count what the old one did
        wait_until(lambda: '2 of 2 namespaces live' in self.get('/readyz?verbose').text, 'two streams')
        last = self.counters()
        self.assertEqual([name for name, count in before.items() if last.get(name, 0) < count], [])
        self.write_conf(self.conf(watches=[{'resource': 'configmaps', 'namespaces': ['a']}]))  # starts at zero
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: 'namespaces live' not in self.get('/readyz?verbose').text, 'the reload')
        self.wait_ready()
        self.assertEqual([name for name, count in last.items() if self.counters().get(name, 0) < count], [])
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_watch_without_matching_namespaces_is_synced(self):
        daemon = self.watching(namespace_selector='team=none')
        self.reported(lambda all: any(r['type'] == 'SYNCED' for r in all), 'SYNCED')
        self.assertIn('0 objects, 0 of 0 namespaces live', self.get('/readyz?verbose').text)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_namespace_that_begins_to_match_is_listed(self):
        daemon = self.watching()
        self.namespace('c')
        records = self.reported(lambda all: {'c/x', 'c/y'} <= set(named(all, 'ADDED')), 'the objects of c')
        self.assertEqual({r['origin'] for r in records if r.get('namespace') == 'c'}, {'relist'})
        self.sim.put('configmaps', in_namespace('c', 'z'))
        self.reported(lambda all: 'c/z' in named(all, 'ADDED'), 'a new object there')
        self.wait_ready()
        self.assertEqual(self.log.types()['SYNCED'], 1)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_objects_of_a_namespace_that_no_longer_matches_are_removed_once(self):
        daemon = self.watching()
        self.namespace('b', 'other')
        records = self.reported(lambda all: len(named(all, 'DELETED')) == 2, 'the objects of b gone')
        gone = [r for r in records if r['type'] == 'DELETED']
        self.assertEqual([(r['namespace'], r['name'], r['why']) for r in gone], [('b', 'x', self.LEFT), ('b', 'y', self.LEFT)])
        self.assertEqual(gone[0]['msg'], 'ConfigMap b/x left the selection with its namespace')
        self.sim.put('configmaps', in_namespace('b', 'z'), in_namespace('a', 'z'))
        self.reported(lambda all: 'a/z' in named(all, 'ADDED'), 'what follows')
        self.namespace('b')
        self.reported(lambda all: named(all, 'ADDED').count('b/z') == 1, 'b again')
        self.sim.control('delete', resource='configmaps', namespace='b', name='z')
        records = self.reported(lambda all: 'b/z' in named(all, 'DELETED'), 'a real deletion')
        self.assertNotIn('why', records[-1])
        self.assertEqual(set(ns + '/' + name for _, ns, name in fold(records)), {'a/x', 'a/y', 'a/z', 'b/x', 'b/y'})
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_deleted_namespace_reports_the_deletions_of_the_server(self):
        daemon = self.watching()
        self.namespace('b', deletionTimestamp='2026-01-01T00:00:00Z')
        self.sim.control('delete', resource='namespaces', name='b')  # before its objects: streams don't wait for each other
        for name in 'xy':
            self.sim.control('delete', resource='configmaps', namespace='b', name=name)
        records = self.reported(lambda all: len(named(all, 'DELETED')) == 2, 'the objects of b gone')
        for r in records:
            self.assertNotIn('why', r)
        wait_until(lambda: '1 of 1 namespaces live' in self.get('/readyz?verbose').text, 'the end of its stream')
        self.assertEqual(fold(records).keys(), {('configmaps', 'a', 'x'), ('configmaps', 'a', 'y')})
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_excluded_namespaces_among_matching_ones(self):
        daemon = self.watching(exclude_namespaces=['b*'])
        self.namespace('bb')
        self.sim.put('configmaps', in_namespace('bb', 'x'))
        self.namespace('c')
        records = self.reported(lambda all: {'c/x', 'c/y'} <= set(named(all, 'ADDED')), 'the objects of c')
        self.assertEqual(set(r['namespace'] for r in records if r['type'] == 'ADDED'), {'a', 'c'})
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_forbidden_namespaces_are_reported(self):
        self.sim.fault('status', code=403, times=0, path='/api/v1/namespaces?')
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespace_selector': 'team=shop'}]))
        wait_until(lambda: 'is forbidden' in daemon.stderr_text() or '(403 ' in daemon.stderr_text(), daemon.stderr_text)
        wait_until(lambda: 'forbidden' in self.get('/readyz?verbose').text, 'forbidden')
        self.assertRegex(self.get('/readyz').text, r'\A\[-\] sim/configmaps: forbidden.*: namespaces: ')
        self.sim.control('clear')
        self.wait_ready()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_namespace_limit_is_reported_and_recovers(self):
        for number in range(499):
            self.namespace(f'n{number}')
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'namespace_selector': 'team=shop'}]))
        def reported():
            with contextlib.suppress(OSError):  # it may not listen yet
                return '501 namespaces, the limit is 500' in self.get('/readyz').text
        wait_until(reported, 'one namespace too many')
        self.namespace('n0', 'other')
        self.wait_ready()
        self.assertIn('500 of 500 namespaces live', self.get('/readyz?verbose').text)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_repeated_label_changes_give_a_consistent_log(self):
        daemon = self.watching()
        for turn in range(6):
            self.namespace('b', 'other' if turn % 2 == 0 else 'shop')
            self.sim.put('configmaps', in_namespace('b', f't{turn}'))
        self.sim.put('configmaps', in_namespace('a', 'last'))
        self.namespace('c')

        def settled(all):
            state = {f'{ns}/{name}' for _, ns, name in fold(all)}
            return state == {'a/x', 'a/y', 'a/last', 'c/x', 'c/y', 'b/x', 'b/y', *(f'b/t{t}' for t in range(6))}
        self.reported(settled, 'all changes')
        daemon.send_signal(signal.SIGUSR2)
        dump = self.folder / 'state/dump.json'
        wait_until(dump.exists, 'the dump')
        self.assertEqual(json.loads(dump.read_text())['watches'][0]['streams'], 3)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


run(__name__)
