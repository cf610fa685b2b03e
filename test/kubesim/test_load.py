#!/usr/bin/env python3
"""test_load.py KUBESIM RECORDINGS: many watches, and more data than the server may keep in memory."""
import sys

sys.dont_write_bytecode = True
from lib import FULL, WATCH_LIST, Case, config_map, run

MIB = 1024 * 1024
MAPS = '/api/v1/namespaces/default/configmaps'


class Crowds(Case):
    def test_two_hundred_watches_get_the_same_events(self):
        self.sim.put('configmaps', config_map('a'))
        watches = [self.sim.request(f'{MAPS}?{WATCH_LIST}').events() for _ in range(200)]
        self.assertEqual(self.sim.control('stats')['watches']['open'], 200)
        self.sim.put('configmaps', config_map('b'))
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        for watch in watches:
            events = [next(watch) for _ in range(4)]
            self.assertEqual([(e['type'], e['object']['metadata']['resourceVersion']) for e in events],
                             [('ADDED', '101'), ('BOOKMARK', '101'), ('ADDED', '102'), ('DELETED', '103')])


class Bulk(Case):
    COUNT, BYTES = 50000 if FULL else 10000, 12000

    def setUp(self):
        super().setUp()
        self.sim.control('fill', resource='pods', count=self.COUNT, bytes=self.BYTES, namespaces=20)
        self.full = self.sim.resident()

    def drain(self, answer):
        """The number of bytes received, and the server's memory meanwhile."""
        size, most = 0, 0
        for number, chunk in enumerate(answer.chunks()):
            size += len(chunk)
            if number % 1000 == 0:
                most = max(most, self.sim.resident())
        return size, most

    def test_large_lists_are_sent_with_little_memory(self):
        self.assertLess(self.full, 300 * MIB)
        for target in ('/api/v1/pods', f'/api/v1/pods?{WATCH_LIST}&timeoutSeconds=1'):
            with self.subTest(target):
                size, most = self.drain(self.sim.request(target))
                self.assertGreater(size, self.COUNT * self.BYTES * 0.95)
                self.assertLess(most - self.full, 64 * MIB)

    def test_client_that_does_not_read_needs_little_memory(self):
        stuck = [self.sim.connect() for _ in range(20)]
        for wire in stuck:
            wire.sock.sendall(b'GET /api/v1/pods HTTP/1.1\r\n\r\n')
        self.assertEqual(len(self.sim.request('/api/v1/pods?limit=3').json()['items']), 3)  # other clients are served
        self.assertLess(self.sim.resident() - self.full, 64 * MIB)

    def test_burst_of_changes_reaches_a_watch(self):
        version = self.sim.request('/api/v1/pods?limit=1').json()['metadata']['resourceVersion']
        watch = self.sim.request(f'/api/v1/pods?watch=1&resourceVersion={version}').events()
        self.sim.control('churn', resource='pods', count=2000)
        versions = [int(next(watch)['object']['metadata']['resourceVersion']) for _ in range(2000)]
        self.assertEqual(versions, list(range(int(version) + 1, int(version) + 2001)))


run(__name__)
