#!/usr/bin/env python3
"""test_lists.py KUBESIM RECORDINGS EVENT_PRINTER: valid lists and incomplete ones, which must not be applied. At the end
of each test the store, the events and the server's list must agree."""
import sys

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, PODS, Story, run


class Lists(Story):
    """LIST, then WATCH: the server does not support watch-lists."""

    arguments = NO_WATCH_LIST

    def relist(self, *faults, **params):
        """Forces a relist with the faults: two objects are unchanged, one is new, one is deleted."""
        self.put('a', 'b', 'gone')
        self.follow().until('synced')
        with self.follower_stopped():
            for fault in faults:
                self.sim.fault(fault, verb='list', **params)
            self.delete('gone')
            self.put('c')
            self.sim.control('compact')

    def assert_compared(self):
        """Only the differences were reported."""
        self.settle()
        changes = [(s['type'], s['object']['metadata']['name'], s['origin'], s['final'])
                   for s in self.follower.records if s.get('origin') == 'relist']
        self.assertEqual(changes, [('DELETED', 'gone', 'relist', False), ('ADDED', 'c', 'relist', True)])
        self.assertEqual([s['reason'] for s in self.follower.of('gap')], ['relist'])

    def test_compacted_history_causes_one_relist(self):
        self.relist()
        self.assert_compared()
        self.assertEqual(self.follower.records[-1]['relists'], 1)

    def test_truncated_list_is_not_applied(self):
        self.relist('truncate', events=1, times=2)
        self.assert_compared()

    def test_list_without_its_last_chunk_is_not_applied(self):
        self.relist('cut', bytes=400)
        self.assert_compared()

    def test_list_that_is_reset_is_not_applied(self):
        self.relist('reset', bytes=300)
        self.assert_compared()

    def test_html_page_is_not_applied(self):
        self.relist('html')
        self.assert_compared()

    def test_unsolicited_second_response_is_ignored(self):
        self.put('a')
        self.sim.fault('second', verb='list')
        self.follow().until('synced')
        self.put('b')
        self.settle()
        self.assertEqual(self.follower.kinds.count('ADDED'), 2)

    def test_list_in_pages_with_an_expired_token(self):
        self.sim.control('fill', resource='configmaps', count=1200, bytes=300)
        self.sim.fault('expire', times=1)
        self.follow().until('synced')
        self.settle()


class Gzip(Story):
    resource, path = 'pods', PODS
    COUNT, BYTES = 300, 2000

    def sync(self):
        self.sim.control('fill', resource='pods', count=self.COUNT, bytes=self.BYTES)
        self.follow().until('synced')
        self.assertLess(self.sim.control('stats')['sent'], self.COUNT * self.BYTES / 2)
        self.sim.control('churn', resource='pods', count=200)
        self.follower.wait_for(version=str(100 + self.COUNT + 200))
        self.settle()


class GzipList(Gzip):
    arguments = NO_WATCH_LIST

    def test_list_with_gzip(self):
        self.sync()


class GzipWatch(Gzip):
    arguments = *KUBECONFIG, '--gzip-watch'

    def test_watch_list_with_gzip_in_members(self):
        self.sync()


class Custom(Story):
    arguments = *NO_WATCH_LIST, '--resource', 'widgets.example.com/v1=Widget'
    resource, path = 'widgets.example.com/v1', '/apis/example.com/v1/widgets'

    def test_list_of_custom_resources_has_its_version_at_the_end(self):
        for name in 'abc':
            self.sim.control('put', {'metadata': {'name': name}, 'spec': {'n': name}},
                             resource='widgets.example.com', namespace='default')
        body = self.sim.request(self.path).body()
        self.assertLess(body.index(b'"items"'), body.rindex(b'"metadata":{"continue":""'))
        self.follow().until('synced')
        self.assertEqual(self.follower.query()['version'], '103')
        self.settle()


run(__name__)
