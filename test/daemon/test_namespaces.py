#!/usr/bin/env python3
"""test_namespaces.py KUBESIM RECORDINGS INFORMERD: several namespaces as one watch, some left out."""
from service import Case, config_map, fold, run


def named(records, *types):
    """Who was told so, in order."""
    return [f"{r['namespace']}/{r['name']}" for r in records if r['type'] in types]


def in_namespace(ns, name, **more):
    return config_map(name, **{'namespace': ns, **more})


class Excluded(Case):
    """All namespaces but some: neither kept nor told, and plain names not even sent."""

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
        asked = [e['target'] for e in self.sim.ask('/kubesim/requests').json() if 'configmaps' in e['target']]
        self.assertTrue(asked)
        for target in asked:
            self.assertIn('fieldSelector=metadata.namespace%21%3Dlogs', target)
            self.assertNotIn('kube-', target)
        self.assertEqual(daemon.end(), 0, daemon.said())


class Listed(Case):
    def test_one_watch_of_several(self):
        """One SYNCED when the last has come, one line of health, and each object once."""
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
        self.assertEqual(daemon.end(), 0, daemon.said())


run(__name__)
