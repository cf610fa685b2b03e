#!/usr/bin/env python3
"""test_state.py KUBESIM RECORDINGS EVENT_PRINTER: a program that saves what its handler has seen, ends in some way, and is
started again: its handler gets exactly the difference."""
import sys

sys.dont_write_bytecode = True
from stage import KUBECONFIG, Story, run


class State(Story):
    arguments = *KUBECONFIG, '--bookmark-every', '300'
    options = {}

    def start(self, **options):
        """Starts the program, with what its handler has seen before."""
        before = getattr(self, 'follower', None)
        self.follow(state=self.folder / 'state', **self.options, **options)
        self.follower.replica = dict(before.replica) if before else {}
        return self.follower

    def first_run(self, *names):
        self.put(*names)
        self.start().until('synced')
        self.follower.until('flushed')

    def kill(self):
        self.follower.child.kill()
        self.follower.status()

    def events(self):
        return [(r['type'], r['origin'], r['object']['metadata']['name'])
                for r in self.follower.records if 'origin' in r]

    def test_nothing_changed(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.start().until('synced')
        self.settle()
        self.assertEqual(self.events(), [])

    def test_changes_are_delivered_by_the_watch(self):
        self.first_run('a', 'b', 'c')
        self.assertEqual(self.follower.close(), 0)
        self.put('a', more='data')
        self.delete('b')
        self.put('d')
        self.start().until('ADDED')
        self.settle()
        self.assertEqual(self.events(), [('MODIFIED', 'live', 'a'), ('DELETED', 'live', 'b'), ('ADDED', 'live', 'd')])
        self.assertEqual(self.follower.of('gap'), [])

    def test_net_difference_after_a_kill_and_a_compaction(self):
        self.first_run('a', 'b', 'c')
        self.put('a', more='data')
        self.follower.until('MODIFIED')
        self.follower.until('flushed')
        self.kill()
        self.put('a', more='more')
        self.put('a', more='even more')
        self.delete('b')
        self.delete('c')
        self.put('c')  # another object of the same name
        self.put('d')
        self.sim.control('compact')
        self.start().until('synced')
        self.settle()
        self.assertEqual(self.events(), [('DELETED', 'resumed', 'b'), ('MODIFIED', 'resumed', 'a'),
                                         ('DELETED', 'resumed', 'c'), ('ADDED', 'resumed', 'c'),
                                         ('ADDED', 'resumed', 'd')])
        self.assertEqual([r['final'] for r in self.follower.of('DELETED')], [False, False])
        self.assertEqual([r['reason'] for r in self.follower.of('gap')], ['relist'])

    def test_copy_is_readable_without_a_server(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.sim.fault('status', code=503, times=0)
        self.start()
        record = self.follower.wait_for(restored=True)
        self.assertEqual([o['metadata']['name'] for o in record['objects']], ['a', 'b'])
        self.assertTrue(record['aged'])
        self.assertNotIn('synced', self.follower.kinds)
        self.sim.control('clear')
        self.follower.until('synced')
        self.assertFalse(self.follower.query()['restored'])
        self.settle()
        self.assertEqual(self.events(), [])

    def test_changed_watch_reports_what_left_and_came(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.start(labels='none=such', changed='label selector changed').until('synced')
        self.assertEqual(self.events(), [('DELETED', 'resumed', 'a'), ('DELETED', 'resumed', 'b')])
        self.assertEqual([r['text'] for r in self.follower.of('gap')], ['label selector changed'])
        self.assertEqual(self.follower.close(), 0)

    def test_many_starts(self):
        self.first_run('a')
        for n in range(5):
            self.kill() if n % 2 else self.follower.close()
            self.put(f'n{n}')
            self.start().until('ADDED')
            self.follower.until('flushed')
            self.assertEqual(self.events(), [('ADDED', 'live', f'n{n}')])
        self.settle()


class CompactState(State):
    """The same with a compact cache and objects that are large enough to be packed."""
    options = {'compact': 1}

    def put(self, *names, **data):
        super().put(*names, filler=''.join(f'a line of text, number {n};' for n in range(200)), **data)

    def test_many_objects(self):
        names = [f'm{n:04}' for n in range(600)]
        self.first_run(*names)
        while len(self.follower.replica) < len(names):
            self.follower.next()
        self.put('m0007', more='data')
        self.follower.until('MODIFIED')
        self.follower.until('flushed')
        self.assertEqual(self.follower.close(), 0)
        self.delete('m0100')
        self.put('m0200', more='data')
        self.sim.control('compact')
        self.start().until('synced')
        self.settle()
        self.assertEqual(self.events(), [('DELETED', 'resumed', 'm0100'), ('MODIFIED', 'resumed', 'm0200')])


class RecordedByTheClient(State):
    """The client records its caches itself: handlers get the saved objects as added, then the differences."""

    def start(self, **options):
        self.follow(recorded=self.folder / 'state', **options)
        return self.follower

    def saved(self, *names):
        return [('ADDED', 'initial', name) for name in names]

    def test_nothing_changed(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        lists = len(self.request_times('list'))
        self.start().until('synced')
        self.assertEqual(self.events(), self.saved('a', 'b'))
        self.assertLessEqual(len(self.request_times('list')), lists + 1)  # one of a single object, for the version
        self.settle()

    def test_changes_are_delivered_by_the_watch(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.delete('a')
        self.put('c')
        self.start().until('ADDED', origin='live')
        self.settle()
        self.assertEqual(self.events(), [*self.saved('a', 'b'), ('DELETED', 'live', 'a'), ('ADDED', 'live', 'c')])

    def test_net_difference_after_a_kill_and_a_compaction(self):
        self.first_run('a', 'b')
        self.kill()
        self.delete('a')
        self.put('b', more='data')
        self.sim.control('compact')
        self.start().until('synced')
        self.settle()
        self.assertEqual(self.events(), [*self.saved('a', 'b'), ('DELETED', 'resumed', 'a'),
                                         ('MODIFIED', 'resumed', 'b')])

    def test_copy_is_readable_without_a_server(self):
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.sim.fault('status', code=503, times=0)
        self.start().wait_for(restored=True)
        self.assertEqual(self.events(), self.saved('a', 'b'))
        self.sim.control('clear')
        self.follower.until('synced')
        self.settle()

    def test_changed_watch_reports_what_left_and_came(self):
        """Another watch is recorded apart."""
        self.first_run('a', 'b')
        self.assertEqual(self.follower.close(), 0)
        self.start(labels='none=such').until('synced')
        self.assertEqual(self.events(), [])
        self.assertEqual(self.follower.close(), 0)
        self.start().until('synced')
        self.assertEqual(self.events(), self.saved('a', 'b'))
        self.settle()

    def restored(self):
        return [r['text'] for r in self.follower.of('log') if ': restored' in r['text']]

    def test_watch_that_changes_is_recorded_as_the_new_one(self):
        self.put('a', 'b')
        self.start(relabel='none=such').until('gap')
        self.follower.wait_for(objects=[], status='live')
        self.assertEqual(self.follower.close(), 0)
        self.start(labels='none=such').until('synced')
        self.assertEqual((self.restored(), self.events()), (['configmaps: restored 0 objects'], []))
        self.assertEqual(self.follower.close(), 0)
        self.start().until('synced')
        self.assertEqual(self.restored(), [])
        self.settle()

    def test_many_starts(self):
        self.first_run('a')
        for n in range(5):
            self.kill() if n % 2 else self.follower.close()
            self.put(f'n{n}')
            self.start().until('ADDED', origin='live')
            self.follower.until('flushed')
            self.assertEqual(self.events()[-1], ('ADDED', 'live', f'n{n}'))
            self.assertEqual(len(self.events()), n + 2)
        self.settle()


run(__name__)
