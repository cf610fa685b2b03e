#!/usr/bin/env python3
"""test_noise.py KUBESIM RECORDINGS INFORMERD: updates that the option `ignore` counts instead of reporting them."""
from service import Case, config_map, run


class Noise(Case):

    def put(self, revision, value, extra='a'):
        self.sim.put('configmaps', {
            **config_map('a', annotations={'deployment.kubernetes.io/revision': revision, 'other': 'x'}),
            'data': {'k': value, 'checked': extra}})

    def modified(self, count):
        def found(records):
            return [r for r in records if r['type'] == 'MODIFIED' and r['name'] == 'a']
        return found(self.log.wait_for(lambda records: len(found(records)) >= count, f'{count} changes'))

    def ignored(self):
        return [value for name, value in self.metrics().items() if name.startswith('informerd_watch_noise_ignored_total')]

    def begin(self, ignore):
        self.put('1', 'a')
        self.start(self.conf(watches=[{'resource': 'configmaps', 'ignore': ignore}]))
        self.wait_ready()

    def test_presets_and_paths_are_counted_and_not_reported(self):
        self.begin(['managed-metadata', 'data.checked'])
        self.put('2', 'a')
        self.put('3', 'a', 'b')
        self.put('4', 'b', 'c')
        records = self.modified(1)
        self.assertEqual(len(records), 1)
        self.assertEqual(records[0]['ignored'], 2)
        self.assertIn('data.k', records[0]['changed'])
        self.assertEqual(self.ignored(), [2])

    def test_nothing_of_it_is_ignored_by_default(self):
        self.put('1', 'a')
        self.start()
        self.wait_ready()
        self.put('2', 'a')
        self.put('3', 'a', 'b')
        self.assertEqual(len(self.modified(2)), 2)
        self.assertEqual(self.ignored(), [0])


run(__name__)
