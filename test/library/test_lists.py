#!/usr/bin/env python3
"""test_lists.py KUBESIM RECORDINGS TOLD: lists as servers send them, and as they should not: a list is whole or none.
Each story ends with the store, what was told and the server's list being the same."""
import sys

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, PODS, Story, run


class Lists(Story):
    """By LIST, then WATCH: the server knows no watch-list."""

    arguments = NO_WATCH_LIST

    def relist(self, *faults, **params):
        """The next list is one that is needed, with two things known, a third new, and one gone."""
        self.put('a', 'b', 'gone')
        self.follow().until('synced')
        with self.asleep():
            for fault in faults:
                self.sim.fault(fault, verb='list', **params)
            self.delete('gone')
            self.put('c')
            self.sim.control('compact')

    def assert_compared(self):
        """The differences were told, and nothing else."""
        self.settle()
        changes = [(s['told'], s['object']['metadata']['name'], s['origin'], s['final'])
                   for s in self.told.said if s.get('origin') == 'relist']
        self.assertEqual(changes, [('DELETED', 'gone', 'relist', False), ('ADDED', 'c', 'relist', True)])
        self.assertEqual([s['reason'] for s in self.told.of('gap')], ['relist'])

    def test_a_compacted_history_costs_one_list(self):
        self.relist()
        self.assert_compared()
        self.assertEqual(self.told.said[-1]['relists'], 1)

    def test_a_truncated_list_is_no_short_list(self):
        self.relist('truncate', events=1, times=2)
        self.assert_compared()

    def test_a_list_without_its_last_chunk_is_no_short_list(self):
        self.relist('cut', bytes=400)
        self.assert_compared()

    def test_a_list_that_is_reset_is_no_short_list(self):
        self.relist('reset', bytes=300)
        self.assert_compared()

    def test_a_page_of_html_is_no_list(self):
        self.relist('html')
        self.assert_compared()

    def test_a_second_answer_that_nobody_asked_for_is_not_taken_for_one(self):
        self.put('a')
        self.sim.fault('second', verb='list')
        self.follow().until('synced')
        self.put('b')
        self.settle()
        self.assertEqual(self.told.kinds.count('ADDED'), 2)

    def test_pages(self):
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
        self.told.wait_for(version=str(100 + self.COUNT + 200))
        self.settle()


class GzipList(Gzip):
    arguments = NO_WATCH_LIST

    def test_a_list_in_gzip(self):
        self.sync()


class GzipWatch(Gzip):
    arguments = *KUBECONFIG, '--gzip-watch'

    def test_a_watch_list_in_gzip_member_by_member(self):
        self.sync()


class Custom(Story):
    arguments = *NO_WATCH_LIST, '--resource', 'widgets.example.com/v1=Widget'
    resource, path = 'widgets.example.com/v1', '/apis/example.com/v1/widgets'

    def test_a_list_of_custom_objects_has_its_version_behind_them(self):
        for name in 'abc':
            self.sim.control('put', {'metadata': {'name': name}, 'spec': {'n': name}},
                             resource='widgets.example.com', namespace='default')
        body = self.sim.ask(self.path).body()
        self.assertLess(body.index(b'"items"'), body.rindex(b'"metadata":{"continue":""'))
        self.follow().until('synced')
        self.assertEqual(self.told.ask()['version'], '103')
        self.settle()


run(__name__)
