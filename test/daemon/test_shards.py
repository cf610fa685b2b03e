#!/usr/bin/env python3
"""test_shards.py KUBESIM RECORDINGS INFORMERD: `shard` splits the objects over daemons: each object is in exactly one, in lists,
watches, relists and after a restart."""
from service import Case, Daemon, Log, config_map, fold, run, wait_until

COUNT = 3
OBJECTS = 60


class Shards(Case):
    def setUp(self):
        super().setUp()
        self.logs, self.daemons = [], {}
        for n in range(OBJECTS):
            self.put(f'first-{n}')
        for index in range(COUNT):
            self.begin(index)

    def put(self, name):
        self.sim.put('configmaps', config_map(name))

    def begin(self, index, count=COUNT):
        """Starts the daemon of a shard. Its state directory and its event log are its own."""
        folder = self.folder / f'shard-{index}'
        (folder / 'state').mkdir(parents=True, exist_ok=True)
        path = folder / 'events.jsonl'
        conf = self.conf(shard={'index': index, 'count': count}, state_dir=str(folder / 'state'),
                         socket={'path': str(folder / 'socket')}, event_logs=[{'path': str(path)}])
        daemon = Daemon(folder, ['-c', self.write_conf(conf, f'shard-{index}.conf')])
        self.stack.callback(daemon.discard)
        self.daemons[index] = daemon
        if index == len(self.logs):
            self.logs.append(Log(path))

    def states(self):
        return [fold(log.read()) for log in self.logs]

    def expect(self, expected):
        """The shards together have exactly the objects with these names; no two have the same one."""
        def names():
            return sorted(key[2] for state in self.states() for key in state)
        wait_until(lambda: names() == sorted(expected), lambda: f'{len(names())} objects instead of {len(expected)}')

    def test_union_of_shards_is_the_whole(self):
        first = {f'first-{n}' for n in range(OBJECTS)}
        self.expect(first)
        self.assertTrue(all(self.states()), 'a shard is empty')
        for n in range(OBJECTS):
            self.put(f'second-{n}')
            self.sim.control('delete', resource='configmaps', namespace='default', name=f'first-{n}')
        second = {f'second-{n}' for n in range(OBJECTS)}
        self.expect(second)
        self.sim.control('compact')
        self.sim.control('close', how='cut')  # the next watch gets 410, so everything is listed again
        self.put('third')
        self.expect(second | {'third'})

    def test_recreated_object_moves_to_the_shard_of_its_new_uid(self):
        for _ in range(20):
            self.sim.control('delete', resource='configmaps', namespace='default', name='first-0')
            self.put('first-0')
        self.expect({f'first-{n}' for n in range(OBJECTS)})

    def test_another_count_reports_the_difference_after_a_restart(self):
        everything = {f'first-{n}' for n in range(OBJECTS)}
        self.expect(everything)
        for daemon in self.daemons.values():
            self.assertEqual(daemon.end(), 0)
        for index in range(COUNT):
            self.begin(index, count=COUNT + 1)
        self.begin(COUNT, count=COUNT + 1)
        self.expect(everything)

    def test_local_api_refuses_a_part_and_metrics_count_the_others(self):
        self.expect({f'first-{n}' for n in range(OBJECTS)})
        for index in range(COUNT):
            socket = self.folder / f'shard-{index}' / 'socket'
            reply = self.get('/api/v1/configmaps', socket)
            self.assertEqual(reply.status, 403)
            self.assertIn(f'only shard {index} of {COUNT}', reply.text)
            dropped = self.metrics(socket)['informerd_watch_other_shard_objects_total{cluster="sim",watch="configmaps"}']
            self.assertEqual(dropped + len(self.states()[index]), OBJECTS)


run(__name__)
