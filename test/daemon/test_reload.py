#!/usr/bin/env python3
"""test_reload.py KUBESIM RECORDINGS INFORMERD: SIGHUP changes what the conf changes, and nothing else."""
import os
import shutil
import signal
import socket
import stat
import time

from service import Case, Log, config_map, fold, free_address, http_get, run, wait_until


class Reload(Case):
    def requests(self, resource, sim=None):
        """The number of requests for it, without those of the control interface."""
        paths = (sim or self.sim).control('stats')['paths']
        return sum(n for path, n in paths.items() if path.endswith('/' + resource))

    def configs(self, reason):
        return sum(r['type'] == 'CONFIG' and r['reason'] == reason for r in self.log.read())

    def reload(self, daemon, conf, reason='applied'):
        """Waits until the log has the result of the reload."""
        before = self.configs(reason)
        self.write_conf(conf)
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: self.configs(reason) > before, lambda: f'CONFIG {reason}; {daemon.stderr_text()[-1000:]}')

    def assert_goes_on(self, name, log=None):
        """A new object on the server is reported."""
        self.sim.put('configmaps', config_map(name))
        (log or self.log).wait_for(lambda all: any(r.get('name') == name for r in all), f'{name} to be reported')


class Storm(Reload):
    def confs(self):
        """Two configurations that differ in everything except one watch and one log."""
        maps = {'resource': 'configmaps'}
        main = {'path': str(self.path)}
        return (self.conf(watches=[maps, {'resource': 'pods'}], log={'level': 'info'},
                          event_logs=[main, {'path': str(self.folder / 'second.jsonl'), 'watches': ['pods']}]),
                self.conf(watches=[{'resource': 'pods', 'name': 'more', 'namespaces': ['shop']}, maps],
                          log={'level': 'debug', 'format': 'json'}, http={'listen': free_address()},
                          event_logs=[{'path': str(self.folder / 'third.jsonl')}, dict(main, object='none')]))

    def test_unchanged_parts_are_kept(self):
        confs = self.confs()
        self.sim.control('fill', resource='configmaps', count=100, bytes=400)
        daemon = self.start(confs[0])
        self.wait_ready()
        before = self.requests('configmaps')
        self.sim.control('churn', resource='configmaps', count=10**9, rate=300)
        for i in range(20):
            self.reload(daemon, confs[(i + 1) % 2])
        for i in range(200):  # faster than they can be handled: some are merged
            self.write_conf(confs[i % 2])
            daemon.send_signal(signal.SIGHUP)
        self.reload(daemon, confs[0])
        self.wait_ready()
        self.assertEqual(self.requests('configmaps'), before)
        self.assertEqual(self.log.types('configmaps')['SYNCED'], 1)
        self.assertEqual(self.configs('refused'), 0)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        records = self.log.read()
        fold(r for r in records if r.get('watch') == 'configmaps')
        self.assertEqual([r['origin'] for r in records if r.get('watch') == 'configmaps' and r.get('origin') == 'initial'],
                         ['initial'] * 100)
        numbers = [r['seq'] for r in records]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_unchanged_watch_misses_nothing(self):
        confs = self.confs()
        self.sim.control('fill', resource='configmaps', count=50, bytes=400)
        daemon = self.start(confs[0])
        self.wait_ready()
        self.sim.control('churn', resource='configmaps', count=900, rate=600)
        for i in range(10):
            self.reload(daemon, confs[(i + 1) % 2])
        wait_until(lambda: self.sim.control('stats')['resourceVersion'] == str(100 + 50 + 900), 'the end of the changes')
        self.wait_equal()
        versions = {int(r['rv']) for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED', 'DELETED')}
        self.assertEqual(versions, set(range(101, 100 + 50 + 900 + 1)))
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Refused(Reload):
    def test_invalid_configuration_keeps_the_old_one(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            (self.folder / 'elsewhere').mkdir()
            bad = {
                'no YAML': '{{{',
                'unknown key': self.conf(wathces=[]),
                'no name of a resource': self.conf(watches=[{'resource': 'pods!'}]),
                'no such kubeconfig': self.conf(clusters=[{'name': 'sim', 'kubeconfig': '/nowhere/kubeconfig'}]),
                'a log twice': self.conf(event_logs=[{'path': str(self.path)}] * 2),
                'address in use': self.conf(http={'listen': f'127.0.0.1:{taken.getsockname()[1]}'}),
                'another state': self.conf(state_dir=str(self.folder / 'elsewhere')),
                'a socket nowhere': self.conf(socket={'path': '/nowhere/socket'}),
                'a new watch and an address in use': self.conf(
                    watches=[{'resource': 'pods'}], event_logs=[{'path': str(self.folder / 'other')}],
                    http={'listen': f'127.0.0.1:{taken.getsockname()[1]}'}),
            }
            daemon = self.start()
            self.wait_ready()
            before = self.requests('configmaps')
            for i, (why, conf) in enumerate(bad.items()):
                with self.subTest(why):
                    self.reload(daemon, conf, 'refused')
                    self.assertEqual(self.metrics()['informerd_config_last_reload_successful'], 0)
                    self.assert_goes_on(f'after-{i}')
        self.assertEqual((self.requests('configmaps'), self.requests('pods')), (before, 0))
        self.assertFalse((self.folder / 'other').exists())
        self.reload(daemon, self.conf())
        self.assertEqual(self.metrics()['informerd_config_last_reload_successful'], 1)
        self.assertEqual(self.requests('configmaps'), before)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_errors_have_file_line_and_column(self):
        daemon = self.start()
        self.wait_ready()
        self.reload(daemon, 'watches:\n  - resorce: pods\n', 'refused')
        self.assertIn(f"{self.folder}/informerd.conf:2:5: watches[0]: unknown key 'resorce'", daemon.stderr_text())


class Changes(Reload):
    def test_outputs_are_added_removed_and_changed(self):
        second = Log(self.folder / 'second.jsonl')
        main = {'path': str(self.path)}
        daemon = self.start()
        self.wait_ready()
        self.assert_goes_on('a')
        self.reload(daemon, self.conf(event_logs=[main, {'path': str(second.path), 'object': 'full'}]))
        self.assert_goes_on('b')
        second.wait_for(lambda all: [r['name'] for r in all if r['type'] == 'ADDED'] == ['b'], 'what came since')
        self.assertEqual(second.read()[-1]['object']['data'], {'k': 'b'})
        numbers = {r['name']: r['seq'] for r in self.log.read() if 'name' in r}
        self.assertEqual(second.read()[-1]['seq'], numbers['b'])
        self.reload(daemon, self.conf(event_logs=[dict(main, verbs=['DELETED']),
                                                  {'path': str(second.path), 'object': 'none'}]))
        self.assert_goes_on('c', second)
        self.assertNotIn('object', second.read()[-1])
        self.sim.control('delete', resource='configmaps', namespace='default', name='c')
        self.log.wait_for(lambda all: all[-1]['type'] == 'DELETED', 'the deletion')
        self.assertNotIn('c', {r['name'] for r in self.log.read() if r['type'] == 'ADDED'})
        self.reload(daemon, self.conf(event_logs=[main]))
        size = os.path.getsize(second.path)
        self.assert_goes_on('d')
        self.assertEqual(os.path.getsize(second.path), size)

    def test_addresses_are_changed(self):
        places = [free_address(), free_address()]
        daemon = self.start(self.conf(http={'listen': places[0]}))
        self.wait_ready(places[0])
        self.reload(daemon, self.conf(http={'listen': places[1]}))
        self.assertEqual(http_get(places[1], '/livez'), (200, 'ok\n'))
        with self.assertRaises(ConnectionRefusedError):
            http_get(places[0], '/livez')
        other = self.folder / 'other-socket'
        self.reload(daemon, self.conf(http=None, socket={'path': str(other), 'mode': '0600'}))
        self.assertEqual(http_get(other, '/livez').status, 200)
        self.assertEqual(stat.S_IMODE(other.stat().st_mode), 0o600)
        self.assertFalse(self.socket.exists())
        with self.assertRaises(ConnectionRefusedError):
            http_get(places[1], '/livez')

    def test_mode_of_the_socket_is_changed(self):
        daemon = self.start(self.conf(socket={'path': str(self.socket), 'mode': '0600'}))
        self.wait_ready()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)
        self.reload(daemon, self.conf(socket={'path': str(self.socket), 'mode': '0666'}))
        self.wait_ready()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o666)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertFalse(self.socket.exists())

    def test_level_of_the_daemon_log_is_changed(self):
        daemon = self.start(self.conf(log={'level': 'error'}))
        self.wait_ready()
        self.assertEqual(daemon.stderr_text(), '')
        self.reload(daemon, self.conf(log={'level': 'debug'}))
        self.sim.control('close', how='end')
        wait_until(lambda: 'level=debug' in daemon.stderr_text(), 'a line of that level')


class Watches(Reload):
    """A watch that is edited reports the differences, and nothing else."""

    def begin(self, *objects, **watch):
        """A daemon that has reported all objects."""
        self.sim.put('configmaps', *objects)
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', **watch}]))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 1, 'the first list')
        self.begun = len(self.log.read())
        return daemon

    def change(self, daemon, result='1 watch changed', **watch):
        self.reload(daemon, self.conf(watches=[{'resource': 'configmaps', **watch}]))
        self.assertIn(result, [r for r in self.log.read() if r['type'] == 'CONFIG'][-1]['msg'])

    def reported(self, until=None):
        """The records since the start, up to the object `until`, which is created now."""
        if until:
            self.assert_goes_on(until)
        return [(r['type'], r['name'], r['origin']) for r in self.log.read()[self.begun:] if 'name' in r]

    def relists(self):
        return [r['msg'] for r in self.log.read()[self.begun:] if r['type'] == 'RELIST']

    def labelled(self, name, app, ns='default'):
        return {'metadata': {'name': name, 'namespace': ns, 'labels': {'app': app}}, 'data': {'k': name}}

    def test_another_selector_reports_the_differences(self):
        daemon = self.begin(*(self.labelled(name, app) for name, app in (('a', 'x'), ('b', 'x'), ('c', 'y'))),
                            label_selector='app=x')
        self.sim.put('configmaps', self.labelled('b', 'x') | {'data': {'k': 'new'}})
        self.log.wait_for(lambda _: self.log.types()['MODIFIED'] == 1, 'the change')
        self.change(daemon, label_selector='app in (x, y)')
        self.log.wait_for(lambda _: self.reported()[-1:] == [('ADDED', 'c', 'relist')], 'the differences')
        self.change(daemon, label_selector='app=y')
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 2, 'those that are not selected any more')
        self.assertEqual(self.reported(), [('MODIFIED', 'b', 'live'), ('ADDED', 'c', 'relist'),
                                       ('DELETED', 'a', 'relist'), ('DELETED', 'b', 'relist')])
        gone = [r for r in self.log.read() if r['type'] == 'DELETED']
        self.assertEqual([r['why'] for r in gone], ['left', 'left'])
        self.assertEqual(len(self.relists()), 2)
        self.assertIn('label_selector', self.relists()[0])
        self.assertEqual(self.log.types()['SYNCED'], 1)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_deletions_while_a_watch_is_edited_are_reported(self):
        daemon = self.begin(config_map('a'), config_map('b'))
        self.sim.fault('reset', at='request', verb='watchlist', times=2)
        self.change(daemon, field_selector='metadata.namespace=default')
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        self.assertEqual(self.reported('c'), [('DELETED', 'a', 'relist'), ('ADDED', 'c', 'relist')])

    def test_another_shape_reports_nothing(self):
        daemon = self.begin(config_map('a'), config_map('b'))
        for number, watch in enumerate(({'drop': ['data']}, {'redact': ['data.k']}, {'keep': 'metadata'}, {})):
            self.change(daemon, **watch)
            wait_until(lambda: len(self.relists()) == number + 1, 'the list')
        self.assertEqual(self.reported('c'), [('ADDED', 'c', 'live')])

    def test_other_name_or_options_cause_no_list(self):
        daemon = self.begin(config_map('a'))
        before = self.requests('configmaps')
        for watch in ({'name': 'maps'}, {'name': 'maps', 'ignore': ['heartbeats']}, {'name': 'back', 'ignore': []}):
            self.change(daemon, '1 watch unchanged', **watch)
        for watch in ({'optional': True}, {'optional': True, 'coalesce': True}, {}):
            self.change(daemon, name='back', **watch)
        self.assertEqual(self.reported('b'), [('ADDED', 'b', 'live')])
        self.assertEqual(self.log.read()[-1]['watch'], 'back')
        self.assertEqual((self.requests('configmaps'), self.relists()), (before, []))

    def test_namespaces_come_and_go(self):
        daemon = self.begin(*(self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'three'))),
                            namespaces=['one', 'two'])
        self.change(daemon, namespaces=['two', 'three'])
        self.log.wait_for(lambda _: len(self.reported()) == 2, 'the differences')
        self.assertEqual(sorted(self.reported()), [('ADDED', 'c', 'relist'), ('DELETED', 'a', 'relist')])
        gone = [r for r in self.log.read() if r['type'] == 'DELETED']
        self.assertEqual([r['why'] for r in gone], ['namespace left the selection'])
        self.sim.put('configmaps', self.labelled('z', 'x', 'one'), self.labelled('d', 'x', 'two'))
        self.log.wait_for(lambda _: self.reported()[-1][1] == 'd', 'the namespace that stays')
        self.assertNotIn('z', [name for _, name, _ in self.reported()])
        self.change(daemon, namespaces=['two'])
        self.change(daemon)  # all
        self.log.wait_for(lambda _: len(self.reported()) == 7, 'all namespaces')
        self.assertEqual(sorted(self.reported()[3:]), [('ADDED', 'a', 'relist'), ('ADDED', 'c', 'relist'),
                                                   ('ADDED', 'z', 'relist'), ('DELETED', 'c', 'relist')])
        wait_until(lambda: self.sim.control('stats')['watches']['open'] == 1, 'one stream')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_several_namespaces_become_all_and_all_become_several(self):
        objects = [self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'three'), ('d', 'four'))]
        several = {'namespaces': ['one', 'two']}
        daemon = self.begin(*objects, **several)
        self.change(daemon)
        self.log.wait_for(lambda _: len(self.reported()) == 2, 'the namespaces that were not watched')
        self.sim.put('configmaps', self.labelled('e', 'x', 'one'))
        self.log.wait_for(lambda _: len(self.reported()) == 3, 'a change')
        self.change(daemon, namespaces=['two', 'three', 'five'])
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 3, 'the namespaces that are not watched any more')
        for name, ns in (('f', 'two'), ('g', 'three'), ('h', 'five'), ('z', 'one')):
            self.sim.put('configmaps', self.labelled(name, 'x', ns))
        self.log.wait_for(lambda _: len(self.reported()) == 9, 'changes')
        reported = self.reported()
        self.assertEqual(sorted(reported[:2]), [('ADDED', 'c', 'relist'), ('ADDED', 'd', 'relist')])
        self.assertEqual(reported[2], ('ADDED', 'e', 'live'))
        self.assertEqual(sorted(reported[3:6]), [(f'DELETED', name, 'relist') for name in 'ade'])
        self.assertEqual(sorted(reported[6:]), [('ADDED', name, 'live') for name in 'fgh'])
        self.assertEqual({r['why'] for r in self.log.read() if r['type'] == 'DELETED'}, {'namespace left the selection'})
        self.assertEqual((self.log.types()['SYNCED'], self.log.types()['GAP']), (1, 0))
        wait_until(lambda: self.sim.control('stats')['watches']['open'] == 3, 'three streams')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_deletions_while_namespaces_are_regrouped_are_reported(self):
        objects = [self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'two'))]
        for before, after in (({'namespaces': ['one', 'two']}, {}), ({}, {'namespaces': ['one', 'two']})):
            with self.subTest(before):
                self.setUp()
                daemon = self.begin(*objects, **before)
                self.sim.fault('reset', at='request', verb='watchlist', times=4)
                self.change(daemon, **after)
                self.sim.control('delete', resource='configmaps', namespace='two', name='b')
                self.sim.put('configmaps', self.labelled('a', 'y', 'one'))
                self.log.wait_for(lambda _: len(self.reported()) == 2, 'the differences')
                self.assertEqual(sorted(self.reported()), [('DELETED', 'b', 'relist'), ('MODIFIED', 'a', 'relist')])
                self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_namespaces_change_again_before_their_list_has_come(self):
        objects = [self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'three'))]
        for last in (['three', 'one'], ['one']):
            with self.subTest(last):
                self.setUp()
                daemon = self.begin(*objects)
                self.sim.fault('status', code=503, path='namespaces/three/', times=0)
                self.change(daemon, namespaces=['three'])
                self.sim.control('delete', resource='configmaps', namespace='two', name='b')
                self.change(daemon, namespaces=last)
                self.sim.control('clear')
                gone = ['b'] if 'three' in last else ['b', 'c']
                self.log.wait_for(lambda _: self.log.types()['DELETED'] >= len(gone), 'the differences')
                self.sim.put('configmaps', self.labelled('d', 'x', 'one'))
                self.log.wait_for(lambda _: self.reported()[-1][1] == 'd', 'a change')
                self.assertEqual(sorted(self.reported()[:-1]), [('DELETED', name, 'relist') for name in gone])
                self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_a_shared_copy_is_regrouped_for_one_watch_only(self):
        self.sim.put('configmaps', *(self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'three'))))
        both = [{'resource': 'configmaps', 'name': 'x'}, {'resource': 'configmaps', 'name': 'y'}]
        daemon = self.start(self.conf(watches=both))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 2, 'the first list')
        self.begun = len(self.log.read())
        self.reload(daemon, self.conf(watches=[both[0], dict(both[1], namespaces=['one', 'two'])]))
        self.log.wait_for(lambda _: self.reported() == [('DELETED', 'c', 'relist')], 'what was in a third namespace')
        self.reload(daemon, self.conf(watches=both))
        self.log.wait_for(lambda _: self.reported()[1:] == [('ADDED', 'c', 'relist')], 'all again')
        self.sim.put('configmaps', self.labelled('d', 'x', 'two'))
        self.log.wait_for(lambda _: len(self.reported()) == 4, 'a change, of both')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_a_watch_that_shared_a_copy_gets_its_own(self):
        self.sim.put('configmaps', self.labelled('a', 'x'), self.labelled('b', 'y'))
        both = [{'resource': 'configmaps', 'name': 'one'}, {'resource': 'configmaps', 'name': 'two'}]
        daemon = self.start(self.conf(watches=both))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 2, 'the first list')
        self.begun = len(self.log.read())
        self.assertEqual(self.requests('configmaps'), 1)
        self.reload(daemon, self.conf(watches=[both[0], dict(both[1], label_selector='app=x')]))
        self.log.wait_for(lambda _: self.reported() == [('DELETED', 'b', 'relist')], 'the difference')
        self.sim.put('configmaps', self.labelled('c', 'y'), self.labelled('d', 'x'))
        self.log.wait_for(lambda _: len(self.reported()) == 4, 'changes')
        changes = [(r['watch'], r['name']) for r in self.log.read()[self.begun:] if 'name' in r]
        self.assertEqual(sorted(changes), [('one', 'c'), ('one', 'd'), ('two', 'b'), ('two', 'd')])
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_a_selector_of_namespaces_changes(self):
        for name, team in (('one', 'x'), ('two', 'x'), ('three', 'y')):
            self.sim.control('put', {'metadata': {'name': name, 'labels': {'team': team}}}, resource='namespaces')
        daemon = self.begin(*(self.labelled(name, 'x', ns) for name, ns in (('a', 'one'), ('b', 'two'), ('c', 'three'))),
                            namespace_selector='team=x')
        self.change(daemon, namespace_selector='team', exclude_namespaces=['two'])
        self.log.wait_for(lambda _: len(self.reported()) == 2, 'the differences')
        self.assertEqual(sorted(self.reported()), [('ADDED', 'c', 'relist'), ('DELETED', 'b', 'live')])
        self.change(daemon, namespace_selector='team=y')
        self.log.wait_for(lambda _: len(self.reported()) == 3, 'what has left')
        self.assertEqual(self.reported()[2], ('DELETED', 'a', 'live'))
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Clusters(Reload):
    """Two servers. A changed kubeconfig affects only its own watches."""

    def setUp(self):
        super().setUp()
        self.other = self.simulate('other-kubeconfig')
        self.sim.put('configmaps', config_map('here'))
        self.other.put('configmaps', config_map('there'))
        clusters = [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig')},
                    {'name': 'other', 'kubeconfig': str(self.folder / 'other-kubeconfig')}]
        watches = [{'resource': 'configmaps', 'cluster': 'sim', 'name': 'here'},
                   {'resource': 'configmaps', 'cluster': 'other', 'name': 'there'}]
        self.two = self.conf(clusters=clusters, watches=watches)

    def test_only_the_cluster_with_a_changed_file_is_opened_again(self):
        daemon = self.start(self.two)
        self.wait_ready()
        third = self.simulate('third-kubeconfig')
        third.put('configmaps', config_map('moved'))
        shutil.move(self.folder / 'third-kubeconfig', self.folder / 'other-kubeconfig')
        self.reload(daemon, self.two)
        self.log.wait_for(lambda _: self.log.types('there')['SYNCED'] == 2, 'the new server being listed')
        self.assertEqual(self.log.types('here')['SYNCED'], 1)
        self.assertEqual(self.requests('configmaps'), 1)
        self.assertEqual(self.requests('configmaps', self.other), 1)
        added = [(r['cluster'], r['name']) for r in self.log.read() if r['type'] == 'ADDED']
        self.assertEqual(sorted(added), [('other', 'moved'), ('other', 'there'), ('sim', 'here')])
        wait_until(lambda: self.other.control('stats')['watches']['open'] == 0, 'the old server being left')

    def test_file_with_equal_settings_changes_nothing(self):
        daemon = self.start(self.two)
        self.wait_ready()
        path = self.folder / 'other-kubeconfig'
        path.write_text(path.read_text() + '\n# seen\n')
        os.utime(path, (time.time() + 5, time.time() + 5))
        self.reload(daemon, self.two)
        self.assertEqual((self.requests('configmaps'), self.requests('configmaps', self.other)), (1, 1))
        self.assertEqual(self.log.types()['SYNCED'], 2)


class Servers(Reload):
    """A cluster whose server URL changes. The uid of kube-system says whether it is the same cluster."""

    def setUp(self):
        super().setUp()
        self.sim.control('put', {'metadata': {'name': 'kube-system'}}, resource='namespaces')
        self.sim.put('configmaps', config_map('a'), config_map('b'))

    def url(self, host='127.0.0.1', port=None):
        return f'http://{host}:{port or self.sim.port}'

    def use(self, url):
        return self.conf(clusters=[{'name': 'sim', 'server': url}])

    def begin(self):
        daemon = self.start(self.use(self.url()))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 1, 'the first list')
        wait_until(lambda: any('kube-system' in r['target'] for r in self.sim.control('requests')), 'the uid')
        self.begun = len(self.log.read())
        return daemon

    def reported(self):
        return [(r['type'], r['name'], r['origin']) for r in self.log.read()[self.begun:] if 'name' in r]

    def test_another_url_of_the_same_cluster_reports_the_differences(self):
        daemon = self.begin()
        self.sim.fault('reset', at='request', verb='watchlist', times=2)  # so that there is time for a deletion
        self.reload(daemon, self.use(self.url('localhost')))
        wait_until(lambda: 'is the same cluster' in daemon.stderr_text(), 'the new server being recognised')
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        self.assert_goes_on('c')
        self.assertEqual(self.reported(), [('DELETED', 'a', 'relist'), ('ADDED', 'c', 'relist')])
        self.assertEqual((self.log.types()['SYNCED'], self.log.types()['GAP']), (1, 0))
        relist = [r['msg'] for r in self.log.read() if r['type'] == 'RELIST']
        self.assertEqual(relist, [f'the server URL changed from {self.url()} to {self.url("localhost")}'])
        self.reload(daemon, self.use(self.url('localhost')))
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_another_cluster_is_named_and_reported_from_the_beginning(self):
        daemon = self.begin()
        other = self.simulate('other-kubeconfig')
        other.control('put', {'metadata': {'name': 'kube-system'}}, resource='namespaces')
        other.put('configmaps', config_map('x'))
        self.reload(daemon, self.use(self.url(port=other.port)))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 2, lambda: f'the new cluster; {daemon.stderr_text()}')
        self.assertEqual(self.reported(), [('ADDED', 'x', 'initial')])
        gap, = (r for r in self.log.read() if r['type'] == 'GAP')
        self.assertEqual((gap['reason'], gap['watch']), ('restarted', 'configmaps'))
        self.assertIn('not known to be the same cluster', gap['msg'])
        self.assertIn('not known to be the same cluster', daemon.stderr_text())
        wait_until(lambda: self.sim.control('stats')['watches']['open'] == 0, 'the old server being left')
        self.wait_ready()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_a_server_without_an_identity_is_another_cluster(self):
        daemon = self.begin()
        other = self.simulate('other-kubeconfig')
        self.reload(daemon, self.use(self.url(port=other.port)))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 2, 'the new server')
        self.assertEqual(self.log.types()['GAP'], 1)
        self.reload(daemon, self.use(self.url('localhost', other.port)))  # also without an identity
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 3, 'the next server')
        self.assertEqual(self.log.types()['GAP'], 2)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_the_watches_stay_until_the_new_server_answers(self):
        daemon = self.begin()
        with socket.socket() as unused:
            unused.bind(('127.0.0.1', 0))
            self.reload(daemon, self.use(self.url(port=unused.getsockname()[1])))
            wait_until(lambda: 'cannot read its identity' in daemon.stderr_text(), 'the new server being tried')
            self.assert_goes_on('c')
        self.assertEqual(self.reported(), [('ADDED', 'c', 'live')])
        self.reload(daemon, self.use(self.url()))  # errors are ignored
        self.assert_goes_on('d')
        self.assertEqual(self.reported(), [('ADDED', 'c', 'live'), ('ADDED', 'd', 'live')])
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


run(__name__)
