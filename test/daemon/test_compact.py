#!/usr/bin/env python3
"""test_compact.py KUBESIM RECORDINGS INFORMERD: a compact cache reports the same changes as a plain one, in less memory."""
from service import Case, run

PODS, CHANGES = 1500, 2000


def changes_of(records, watch):
    """The changes of objects that a watch reported, without time and sequence number."""
    return [(r['type'], r['namespace'], r['name'], r['rv'], r.get('old_rv'), r.get('diff'), r.get('object'))
            for r in records if r.get('watch') == watch and r['type'] in ('ADDED', 'MODIFIED', 'DELETED')]


class Compact(Case):
    def begin(self):
        """The same pods twice, in a plain and in a compact cache."""
        self.sim.control('fill', resource='pods', count=PODS, bytes=4000, namespaces=7)
        self.start(self.conf(cache='compact', watches=[{'resource': 'pods', 'name': 'packed'},
                                                       {'resource': 'pods', 'name': 'plain', 'cache': 'plain'}],
                             event_logs=[{'path': str(self.path), 'object': 'full', 'max_line': '1M'}]))
        self.wait_ready()

    def same(self, count):
        """Waits until both have reported `count` changes, and compares them."""
        def complete(records):
            return all(len(changes_of(records, watch)) >= count for watch in ('packed', 'plain'))
        self.log.wait_for(complete, f'{count} changes of both watches')
        records = self.log.read()
        packed, plain = changes_of(records, 'packed'), changes_of(records, 'plain')
        self.assertEqual(len(packed), count)
        self.assertEqual(packed, plain)

    def cache_bytes(self, watch):
        metrics = self.metrics()
        return next(v for name, v in metrics.items()
                    if name.startswith('informerd_watch_cache_bytes{') and f'watch="{watch}"' in name)

    def test_changes_are_the_same_and_memory_is_less(self):
        self.begin()
        self.same(PODS)
        self.sim.control('churn', resource='pods', count=CHANGES)
        self.same(PODS + CHANGES)
        self.assertLess(self.cache_bytes('packed') * 3, self.cache_bytes('plain'))

    def test_a_relist_reports_only_the_differences(self):
        self.begin()
        self.same(PODS)
        self.sim.control('close', how='cut')
        self.sim.control('churn', resource='pods', count=20)
        self.sim.control('compact')
        self.same(PODS + 20)


run(__name__)
