#!/usr/bin/env python3
"""test_reload.py KUBESIM RECORDINGS INFORMERD: SIGHUP changes what the conf changes, and nothing else."""
import os
import shutil
import signal
import socket
import stat
import time

from service import Case, Log, ask, config_map, fold, free_address, run, wait_until


class Reload(Case):
    def requests(self, resource, sim=None):
        """How many there were for it; the control interface's own are not among them."""
        paths = (sim or self.sim).control('stats')['paths']
        return sum(n for path, n in paths.items() if path.endswith('/' + resource))

    def configs(self, reason):
        return sum(r['type'] == 'CONFIG' and r['reason'] == reason for r in self.log.read())

    def reload(self, daemon, conf, reason='applied'):
        """Until the log says what came of it."""
        before = self.configs(reason)
        self.write_conf(conf)
        daemon.tell(signal.SIGHUP)
        wait_until(lambda: self.configs(reason) > before, lambda: f'CONFIG {reason}; {daemon.said()[-1000:]}')

    def assert_goes_on(self, name, log=None):
        """What the server is given now comes out."""
        self.sim.put('configmaps', config_map(name))
        (log or self.log).wait_for(lambda all: any(r.get('name') == name for r in all), f'{name} being told')


class Storm(Reload):
    def confs(self):
        """Two that differ in everything but one watch and one log."""
        maps = {'resource': 'configmaps'}
        main = {'path': str(self.path)}
        return (self.conf(watches=[maps, {'resource': 'pods'}], log={'level': 'info'},
                          event_logs=[main, {'path': str(self.folder / 'second.jsonl'), 'watches': ['pods']}]),
                self.conf(watches=[{'resource': 'pods', 'name': 'more', 'namespaces': ['shop']}, maps],
                          log={'level': 'debug', 'format': 'json'}, http={'listen': free_address()},
                          event_logs=[{'path': str(self.folder / 'third.jsonl')}, dict(main, object='none')]))

    def test_what_stays_is_not_touched(self):
        confs = self.confs()
        self.sim.control('fill', resource='configmaps', count=100, bytes=400)
        daemon = self.start(confs[0])
        self.wait_ready()
        before = self.requests('configmaps')
        self.sim.control('churn', resource='configmaps', count=10**9, rate=300)
        for i in range(20):
            self.reload(daemon, confs[(i + 1) % 2])
        for i in range(200):  # faster than any can be read: some are taken together
            self.write_conf(confs[i % 2])
            daemon.tell(signal.SIGHUP)
        self.reload(daemon, confs[0])
        self.wait_ready()
        self.assertEqual(self.requests('configmaps'), before)
        self.assertEqual(self.log.types('configmaps')['SYNCED'], 1)
        self.assertEqual(self.configs('refused'), 0)
        self.assertEqual(daemon.end(), 0, daemon.said())
        records = self.log.read()
        fold(r for r in records if r.get('watch') == 'configmaps')
        self.assertEqual([r['origin'] for r in records if r.get('watch') == 'configmaps' and r.get('origin') == 'initial'],
                         ['initial'] * 100)
        numbers = [r['seq'] for r in records]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_nothing_is_missing_of_it(self):
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
        self.assertEqual(daemon.end(), 0, daemon.said())


class Refused(Reload):
    def test_a_bad_conf_leaves_the_old_one(self):
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
        self.assertEqual(daemon.end(), 0, daemon.said())

    def test_errors_say_where(self):
        daemon = self.start()
        self.wait_ready()
        self.reload(daemon, 'watches:\n  - resorce: pods\n', 'refused')
        self.assertIn(f"{self.folder}/informerd.conf:2:5: watches[0]: unknown key 'resorce'", daemon.said())


class Changes(Reload):
    def test_outputs_come_and_go_and_change(self):
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

    def test_addresses_move(self):
        places = [free_address(), free_address()]
        daemon = self.start(self.conf(http={'listen': places[0]}))
        self.wait_ready(places[0])
        self.reload(daemon, self.conf(http={'listen': places[1]}))
        self.assertEqual(ask(places[1], '/livez'), (200, 'ok\n'))
        with self.assertRaises(ConnectionRefusedError):
            ask(places[0], '/livez')
        other = self.folder / 'other-socket'
        self.reload(daemon, self.conf(http=None, socket={'path': str(other), 'mode': '0600'}))
        self.assertEqual(ask(other, '/livez').status, 200)
        self.assertEqual(stat.S_IMODE(other.stat().st_mode), 0o600)
        self.assertFalse(self.socket.exists())
        with self.assertRaises(ConnectionRefusedError):
            ask(places[1], '/livez')

    def test_the_same_socket_with_another_mode(self):
        daemon = self.start(self.conf(socket={'path': str(self.socket), 'mode': '0600'}))
        self.wait_ready()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)
        self.reload(daemon, self.conf(socket={'path': str(self.socket), 'mode': '0666'}))
        self.wait_ready()
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o666)
        self.assertEqual(daemon.end(), 0, daemon.said())
        self.assertFalse(self.socket.exists())

    def test_the_level_of_the_own_log(self):
        daemon = self.start(self.conf(log={'level': 'error'}))
        self.wait_ready()
        self.assertEqual(daemon.said(), '')
        self.reload(daemon, self.conf(log={'level': 'debug'}))
        self.sim.control('close', how='end')
        wait_until(lambda: 'level=debug' in daemon.said(), 'a line of that level')

    def test_a_watch_that_changed_begins_anew_and_says_so(self):
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        daemon = self.start()
        self.wait_ready()
        self.reload(daemon, self.conf(watches=[{'resource': 'configmaps', 'field_selector': 'metadata.name=b'}]))
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] == 2, 'a second beginning')
        config = [r for r in self.log.read() if r['type'] == 'CONFIG'][-1]
        self.assertIn('1 watch begins', config['msg'])
        self.assertEqual([r['name'] for r in self.log.read() if r['type'] == 'ADDED'], ['a', 'b', 'b'])


class Clusters(Reload):
    """Two servers. A kubeconfig that is written anew is the business of its own watches."""

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

    def test_only_the_cluster_whose_file_changed_begins_anew(self):
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

    def test_a_file_that_only_looks_new_changes_nothing(self):
        daemon = self.start(self.two)
        self.wait_ready()
        path = self.folder / 'other-kubeconfig'
        path.write_text(path.read_text() + '\n# seen\n')
        os.utime(path, (time.time() + 5, time.time() + 5))
        self.reload(daemon, self.two)
        self.assertEqual((self.requests('configmaps'), self.requests('configmaps', self.other)), (1, 1))
        self.assertEqual(self.log.types()['SYNCED'], 2)


run(__name__)
