#!/usr/bin/env python3
"""test_streams.py KUBESIM RECORDINGS EVENT_PRINTER: faults in a watch. At the end of each test the store, the events
and the server's list must agree."""
import sys

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, Story, run

MIB = 1024 * 1024
AT_ONCE = 700  # ms; less than the shortest delay


class Streams(Story):
    arguments = *KUBECONFIG, '--bookmark-every', '300'

    def sync(self, *names, **options):
        self.put(*names)
        return self.follow(**options).until('synced')

    def test_pretty_printed_stream(self):
        self.sim.fault('pretty', times=0)
        self.sync('a', 'b')
        self.put('b', 'c', more='data')
        self.delete('a')
        self.follower.until('DELETED')
        self.sim.control('clear')
        self.settle()
        self.assertEqual(self.follower.kinds[:3], ['ADDED', 'ADDED', 'synced'])

    def test_stream_byte_by_byte(self):
        self.sim.fault('drip', times=0)
        self.sync('a', 'b')
        self.put('a', more='data')
        self.follower.until('MODIFIED')
        self.sim.control('clear')
        self.settle()

    def test_stream_cut_inside_an_event_is_resumed(self):
        self.sync('a')
        with self.follower_stopped():
            for size in (1, 100, 250):
                self.sim.fault('cut', verb='watch', bytes=size)
            self.put('b', 'c', 'd')
        self.settle()
        self.assertEqual(self.follower.of('gap'), [])
        self.assertEqual([s['origin'] for s in self.follower.of('ADDED')], ['initial', 'live', 'live', 'live'])

    def test_reconnects_are_delayed_if_each_stream_ends_after_one_event(self):
        self.sync('a')
        with self.follower_stopped():
            self.sim.fault('each', verb='watch', times=0)
            for n in range(7):
                self.put('a', n=str(n))
        self.follower.wait_for(version='108')
        first, *_, last = self.request_times('watch')
        self.assertLessEqual(len(self.request_times('watch')), 5 + 3)  # five without delay, then with growing delays
        self.assertGreater(last - first, AT_ONCE)
        self.sim.control('clear')
        self.settle()

    def test_error_event_does_not_cause_a_relist(self):
        self.sync('a')
        with self.follower_stopped():
            for code in (500, 504):
                self.sim.fault('error', verb='watch', code=code)
            self.put('b')
        self.settle()
        self.assertEqual(self.follower.of('gap'), [])

    def test_410_in_the_stream_causes_a_relist(self):
        self.sync('a')
        with self.follower_stopped():
            self.sim.fault('error', verb='watch', code=410)
            self.put('b')
        self.settle()
        self.assertEqual([s['reason'] for s in self.follower.of('gap')], ['relist'])

    def test_restored_backup_is_reported_as_rewind(self):
        self.sync('a', 'b')
        self.put('c')
        self.put('a', more='data')
        self.follower.until('MODIFIED')
        with self.follower_stopped():
            self.sim.control('rewind', rv=102)
        self.follower.until('DELETED')
        self.settle()
        self.assertEqual([s['reason'] for s in self.follower.of('gap')], ['rewind'])

    def test_unknown_event_types_and_invalid_json(self):
        self.sync('a')
        for fault in ('unknown', 'garbage'):
            with self.follower_stopped():
                self.sim.fault(fault, verb='watch', text='json')
                self.put('b', by=fault)
            self.follower.wait_for(version=self.sim.control('stats')['resourceVersion'])
        self.settle()


class BadEvents(Story):
    arguments = NO_WATCH_LIST

    def assert_skipped(self, fault, size, why):
        """Only that event is skipped: the watch continues, and there is no relist."""
        self.put('a')
        self.sim.fault(fault, verb='watch', size=size)
        self.follow().until('synced')
        gap = self.follower.until('gap', reason='skipped')
        self.assertIn(why, gap['text'])
        self.put('b')
        self.follower.until('ADDED')
        self.settle()
        self.assertEqual((self.follower.records[-1]['skipped'], self.follower.kinds.count('ADDED')), (1, 2))
        self.assertEqual([s['reason'] for s in self.follower.of('gap')], ['skipped'])
        self.assertEqual(len(self.request_times('watch')), 1)

    def test_event_over_16_mib_is_skipped(self):
        self.assert_skipped('huge', 17 * MIB, 'frame_max=16777216')

    def test_event_nested_too_deep_is_skipped(self):
        self.assert_skipped('deep', 10000, 'deep')


run(__name__)
