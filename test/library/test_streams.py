#!/usr/bin/env python3
"""test_streams.py KUBESIM RECORDINGS TOLD: what comes in a watch and should not, or should and doesn't. Each story
ends with the store, what was told and the server's list being the same."""
import sys

sys.dont_write_bytecode = True
from stage import KUBECONFIG, NO_WATCH_LIST, Story, run

MIB = 1024 * 1024
AT_ONCE = 700  # ms; less than the shortest wait


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
        """It costs the others nothing: the watch goes on, and nothing is listed again."""
        self.put('a')
        self.sim.fault(fault, verb='watch', size=size)
        self.follow().until('synced')
        gap = self.told.until('gap', reason='skipped')
        self.assertIn(why, gap['text'])
        self.put('b')
        self.told.until('ADDED')
        self.settle()
        self.assertEqual((self.told.said[-1]['skipped'], self.told.kinds.count('ADDED')), (1, 2))
        self.assertEqual([s['reason'] for s in self.told.of('gap')], ['skipped'])
        self.assertEqual(len(self.asked('watch')), 1)

    def test_an_event_over_16_mib(self):
        self.assert_skipped('huge', 17 * MIB, 'frame_max=16777216')

    def test_an_event_nested_too_deep(self):
        self.assert_skipped('deep', 10000, 'deep')


run(__name__)
