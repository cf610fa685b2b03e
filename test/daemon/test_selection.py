#!/usr/bin/env python3
"""test_selection.py KUBESIM RECORDINGS INFORMERD: why objects of a watch with a label selector are reported as deleted."""
from service import Case, config_map, run


class Left(Case):
    """Issue 14, 26: the server sends the last state that was selected, so `why: left` was never written."""

    def put(self, name, app):
        self.sim.put('configmaps', config_map(name, labels={'app': app}))

    def begin(self, *more):
        for name in 'ab':
            self.put(name, 'web')
        self.start(self.conf(watches=[{'name': 'some', 'resource': 'cm', 'label_selector': 'app=web'}, *more]))
        self.wait_ready()

    def behind(self):
        """The selecting watch is opened again after a second, so that all other watches have seen the changes by then."""
        self.sim.fault('status', code=500, path='labelSelector')
        self.sim.control('close', how='cut', path='labelSelector')

    def gone(self, name):
        def found(records):
            return [r for r in records if r['type'] == 'DELETED' and r['watch'] == 'some' and r['name'] == name]
        self.log.wait_for(found, f'{name} gone')
        return found(self.log.records)[0]

    def leave_and_delete(self):
        self.behind()
        self.put('a', 'db')
        self.sim.control('delete', resource='configmaps', namespace='default', name='b')
        return self.gone('a'), self.gone('b')

    def test_left_is_known_from_a_watch_of_all_objects(self):
        self.begin({'name': 'all', 'resource': 'configmaps'})
        left, deleted = self.leave_and_delete()
        self.assertEqual(left['why'], 'left')
        self.assertIn('left the selection', left['msg'])
        self.assertNotEqual(deleted.get('why'), 'left')

    def test_left_is_known_from_a_watch_of_the_namespace(self):
        self.begin({'name': 'here', 'resource': 'configmaps', 'namespaces': ['default', 'other'], 'keep': 'metadata'})
        self.assertEqual(self.leave_and_delete()[0]['why'], 'left')

    def test_left_is_known_after_a_relist(self):
        self.begin({'name': 'all', 'resource': 'configmaps'})
        self.behind()
        self.put('a', 'db')
        self.sim.control('delete', resource='configmaps', namespace='default', name='b')
        self.sim.control('compact')
        left, deleted = self.gone('a'), self.gone('b')
        self.assertEqual((left['why'], left['final']), ('left', False))
        self.assertNotIn('why', deleted)

    def test_left_is_unknown_without_a_suitable_watch(self):
        self.begin({'name': 'others', 'resource': 'configmaps', 'namespaces': ['other']},
                   {'name': 'selected', 'resource': 'configmaps', 'label_selector': 'app'},
                   {'name': 'bare', 'resource': 'configmaps', 'drop': ['metadata.labels']})
        for record in self.leave_and_delete():
            self.assertNotIn('why', record)


run(__name__)
