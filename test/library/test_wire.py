#!/usr/bin/env python3
"""test_wire.py KUBESIM RECORDINGS TOLD: what comes over the wire and should not, or should and doesn't. Each story
ends with the store, what was told and the server's list being the same."""
import signal
import sys
import time

sys.dont_write_bytecode = True
from stage import PODS, Story, run

MIB = 1024 * 1024
KUBECONFIG = '--kubeconfig', 'FOLDER/kubeconfig'
NO_WATCH_LIST = *KUBECONFIG, '--no-watch-list'
AT_ONCE = 700  # ms; less than the shortest wait


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


class Streams(Story):
    arguments = *KUBECONFIG, '--bookmark-every', '300'

    def sync(self, *names, **words):
        self.put(*names)
        return self.follow(**words).until('synced')

    def test_a_stream_laid_out_for_people(self):
        self.sim.fault('pretty', times=0)
        self.sync('a', 'b')
        self.put('b', 'c', more='data')
        self.delete('a')
        self.told.until('DELETED')
        self.sim.control('clear')
        self.settle()
        self.assertEqual(self.told.kinds[:3], ['ADDED', 'ADDED', 'synced'])

    def test_byte_by_byte(self):
        self.sim.fault('drip', times=0)
        self.sync('a', 'b')
        self.put('a', more='data')
        self.told.until('MODIFIED')
        self.sim.control('clear')
        self.settle()

    def test_a_stream_cut_in_the_middle_of_an_event_goes_on_where_it_was(self):
        self.sync('a')
        with self.asleep():
            for size in (1, 100, 250):
                self.sim.fault('cut', verb='watch', bytes=size)
            self.put('b', 'c', 'd')
        self.settle()
        self.assertEqual(self.told.of('gap'), [])
        self.assertEqual([s['origin'] for s in self.told.of('ADDED')], ['initial', 'live', 'live', 'live'])

    def test_a_server_that_ends_each_stream_after_an_event_is_not_hammered(self):
        self.sync('a')
        with self.asleep():
            self.sim.fault('each', verb='watch', times=0)
            for n in range(7):
                self.put('a', n=str(n))
        self.told.wait_for(version='108')
        first, *_, last = self.asked('watch')
        self.assertLessEqual(len(self.asked('watch')), 5 + 3)  # five at once, then with waits that grow
        self.assertGreater(last - first, AT_ONCE)
        self.sim.control('clear')
        self.settle()

    def test_an_error_in_the_stream(self):
        self.sync('a')
        with self.asleep():
            for code in (500, 504):
                self.sim.fault('error', verb='watch', code=code)
            self.put('b')
        self.settle()
        self.assertEqual(self.told.of('gap'), [])

    def test_a_410_in_the_stream_lists_anew(self):
        self.sync('a')
        with self.asleep():
            self.sim.fault('error', verb='watch', code=410)
            self.put('b')
        self.settle()
        self.assertEqual([s['reason'] for s in self.told.of('gap')], ['relist'])

    def test_a_restored_backup_is_a_rewind(self):
        self.sync('a', 'b')
        self.put('c')
        self.put('a', more='data')
        self.told.until('MODIFIED')
        with self.asleep():
            self.sim.fault('error', verb='watch', code=410)
            self.sim.control('rewind', rv=102)
        self.told.until('DELETED')
        self.settle()
        self.assertEqual([s['reason'] for s in self.told.of('gap')], ['rewind'])

    def test_types_that_nobody_knows_and_what_is_no_json(self):
        self.sync('a')
        for fault in ('unknown', 'garbage'):
            with self.asleep():
                self.sim.fault(fault, verb='watch', text='json')
                self.put('b', by=fault)
            self.told.wait_for(version=self.sim.control('stats')['resourceVersion'])
        self.settle()


class BadEvents(Story):
    arguments = NO_WATCH_LIST

    def assert_skipped(self, fault, size, why):
        """Twice it may be an accident: listed anew. The third time the rest is worth more than this one."""
        self.put('a')
        self.sim.fault(fault, verb='watch', size=size, times=3)
        self.follow().until('synced')
        gap = self.told.until('gap', reason='skipped')
        self.assertIn(why, gap['text'])
        self.put('b')
        self.told.until('ADDED')
        self.settle()
        self.assertEqual((self.told.said[-1]['skipped'], self.told.kinds.count('ADDED')), (1, 2))

    def test_an_event_over_16_mib(self):
        self.assert_skipped('huge', 17 * MIB, 'frame_max=16777216')

    def test_an_event_nested_too_deep(self):
        self.assert_skipped('deep', 10000, 'deep')


class Manners(Story):
    arguments = KUBECONFIG

    def assert_waits(self, least, **params):
        self.put('a')
        self.sim.fault('status', verb='watchlist', **params)
        self.follow().until('synced')
        first, second = self.asked('watchlist')
        self.assertGreaterEqual(second - first, least)
        self.settle()

    def test_retry_after_is_obeyed(self):
        self.assert_waits(3000, code=429, retry_after=3)

    def test_also_as_a_date(self):
        self.assert_waits(2900, code=503, retry_after=4, date=1)  # whole seconds: what is left of the first may be little

    def test_nobody_there_for_a_while(self):
        self.put('a')
        self.follow().until('synced')
        with self.asleep():
            self.put('b')
            self.sim.fault('refuse', ms=1500)
        while 'refused' not in self.told.until('log')['text']:
            pass
        self.told.until('ADDED')
        self.settle()


class Stale(Story):
    arguments = *NO_WATCH_LIST, '--bookmark-every', '300'

    def test_a_black_hole_is_noticed_in_stale_after(self):
        self.put('a')
        self.sim.fault('blackhole', verb='watch', bytes=900)  # some bookmarks, and a part of one
        self.follow(stale=2).until('synced')
        start = time.monotonic()
        self.told.until('stale', stale=True)
        self.assertLess(time.monotonic() - start, 20)  # 2 s, twice for a partial event, and a machine with much to do
        self.put('b')
        self.told.until('stale', stale=False)
        self.settle()
        self.assertEqual(self.told.kinds.count('stale'), 2)
        self.assertEqual(self.told.of('gap'), [])

    def test_so_is_a_server_that_hangs(self):
        self.put('a')
        self.follow(stale=2).wait_for(bookmarked=True)
        self.sim.child.send_signal(signal.SIGSTOP)
        self.addCleanup(self.sim.child.send_signal, signal.SIGCONT)
        self.told.until('stale', stale=True)
        self.assertEqual(self.told.ask()['word'], 'stale')
        self.sim.child.send_signal(signal.SIGCONT)
        self.told.until('stale', stale=False)
        self.put('b')
        self.settle()


class Chance(Story):
    resource, path = 'pods', PODS
    arguments = *KUBECONFIG, '--seed', '7', '--fault-rate', '40', '--history', '300'

    def test_a_bad_day_ends_well(self):
        self.sim.control('fill', resource='pods', count=200, bytes=500, namespaces=3)
        self.follow()
        for _ in range(20):
            self.sim.control('churn', resource='pods', count=100)
            self.sim.control('close', how='cut')
            time.sleep(0.1)  # for faults to happen in; what is checked does not depend on it
        self.sim.control('clear')
        self.settle()


run(__name__)
