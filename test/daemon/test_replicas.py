#!/usr/bin/env python3
"""test_replicas.py KUBESIM RECORDINGS INFORMERD: two informerd with one Lease. One delivers, the other one takes over.

Each replica has its own folder, state and socket. Its handler appends the records to the file `got` of both, with the time and
the name of the replica.
"""
import collections
import json
import signal
import sys
import time

from handled import Handled
from service import FULL, Daemon, Log, UnixHttp, config_map, http_get, parse_metrics, run, wait_until

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 30 if FULL else 6
LEASE_MS, DEADLINE_MS, RETRY_MS = 2000, 1200, 200
TAKEOVER = (LEASE_MS + 3 * RETRY_MS) / 1000 + 1.5  # seconds; the last summand is for a loaded machine
LEASE = '/apis/coordination.k8s.io/v1/namespaces/informerd/leases/test'
PROGRAM = r'''#!/usr/bin/env python3
import os, sys, time
out = os.open({got!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for line in sys.stdin:
    head = '{{"replica":"{name}","at":%.3f,' % time.time()
    os.write(out, (head + line[1:]).encode())
    print(line.split('"seq":', 1)[1].split(',', 1)[0], flush=True)
'''


class Replica:
    def __init__(self, case, name):
        self.case, self.name, self.folder, self.daemon = case, name, case.folder / name, None
        (self.folder / 'state').mkdir(parents=True, mode=0o700)
        self.socket, self.log = self.folder / 'socket', Log(self.folder / 'events.jsonl')
        self.program = self.folder / 'take'
        self.program.write_text(PROGRAM.format(got=str(case.folder / 'got'), name=name))
        self.program.chmod(0o755)

    def start(self, **settings):
        handler = {'name': 'test', 'exec': [str(self.program)], 'mode': 'stream', 'concurrency': 64, 'initial': True,
                   'retry': {'backoff': '1ms..10ms'}, **settings}
        handler = {key: value for key, value in handler.items() if value is not None}
        conf = self.case.conf(state_dir=str(self.folder / 'state'), socket={'path': str(self.socket)},
                              event_logs=[{'path': str(self.log.path)}], handlers=[handler],
                              replica={'group': 'test', 'lease_duration': f'{LEASE_MS}ms', 'renew_deadline': f'{DEADLINE_MS}ms',
                                       'retry_period': f'{RETRY_MS}ms'})
        path = self.folder / 'informerd.conf'
        path.write_text(json.dumps(conf))
        self.daemon = Daemon(self.folder, ['-c', path])
        self.case.addCleanup(self.daemon.discard)
        self.case.wait_ready(self.socket)
        return self

    def metric(self, name):
        return parse_metrics(http_get(self.socket, '/metrics').text)[name]

    def leads(self):
        return self.metric('informerd_replica_leader') == 1

    def end(self, number):
        self.daemon.end(number)

    def text(self):
        return self.daemon.stderr_text()[-3000:]


class Replicas(Handled):
    def setUp(self):
        super().setUp()
        self.replicas = [Replica(self, name) for name in 'ab']

    def wait_leader(self, replica):
        wait_until(replica.leads, lambda: f'{replica.name} leading: {replica.text()}')

    def texts(self):
        return ''.join(f'--- {r.name}\n{r.text()}' for r in self.replicas if r.daemon)

    def wait_got(self, count, replica=None):
        def mine():
            return [r for r in self.got.read() if replica in (None, r['replica'])]
        wait_until(lambda: len(mine()) >= count, lambda: f'{count} records, not {len(mine())}: {self.texts()}')
        return mine()

    def drop(self, name):
        self.sim.control('delete', resource='configmaps', namespace='default', name=name)

    def lease(self):
        return self.sim.request(LEASE).json()

    def published(self):
        """The position of the only handler and stream."""
        text = self.lease()['metadata'].get('annotations', {}).get('informerd/positions')
        return int(text.split('\t')[-1]) if text else 0

    def on_server_version(self):
        return int(self.sim.request('/api/v1/configmaps').json()['metadata']['resourceVersion'])

    def wait_delivered(self):
        """Until the last record of each object that was delivered is that of the server."""
        def newest():
            state = {}
            for r in self.got.read():
                key = r['resource'], r['namespace'], r['name']
                state.pop(key, None) if r['type'] == 'DELETED' else state.__setitem__(key, (r['uid'], r['rv']))
            return state
        wait_until(lambda: newest() == self.on_server(),
                   lambda: f'the objects of the server: {set(newest().items()) ^ set(self.on_server().items())}; {self.texts()}')

    def check_got(self, repeats=0):
        """Nothing is lost, and the order of each object holds, apart from at most `repeats` records that came again."""
        seen, state, again = set(), collections.defaultdict(lambda: None), 0
        for r in self.got.read():
            key, identity = (r['namespace'], r['name']), (r['uid'], r['type'], r['rv'])
            if identity in seen:
                again += 1
                continue
            seen.add(identity)
            if r['type'] == 'MODIFIED':
                assert state[key] == r['old_rv'], f'after {state[key]}: {r}; {self.texts()}'
            else:
                assert (state[key] is None) == (r['type'] == 'ADDED'), f'after {state[key]}: {r}; {self.texts()}'
            state[key] = None if r['type'] == 'DELETED' else r['rv']
        assert again <= repeats, f'{again} records came again, more than {repeats}; {self.texts()}'
        return again


class Roles(Replicas):
    def test_only_the_leader_delivers_and_the_standby_logs(self):
        a, b = self.replicas
        a.start()
        self.wait_leader(a)
        b.start()
        for n in range(5):
            self.put('web', n=str(n))
        self.wait_got(5, 'a')
        b.log.wait_for(lambda records: len([r for r in records if r['type'] in ('ADDED', 'MODIFIED')]) == 5, 'the log of b')
        self.assertFalse(b.leads())
        wait_until(lambda: b.metric('informerd_handler_queue_length{handler="test"}') == 0,
                   lambda: f'covered records being dropped: {b.text()}')
        self.assertEqual(self.check_got(), 0)
        self.assertEqual({r['replica'] for r in self.got.read()}, {'a'})
        ready = http_get(b.socket, '/readyz?verbose').text
        self.assertIn('[+] replica', ready)
        self.assertIn('standby', ready)
        self.assertIn('[+] handler test: standby', ready)
        replica = json.loads(http_get(b.socket, '/informerd/v1/status').text)['replica']
        self.assertEqual((replica['group'], replica['role'], replica['holder']),
                         ('test', 'standby', self.lease()['spec']['holderIdentity']))
        self.assertIn('informerd/positions', self.lease()['metadata']['annotations'])

    def test_terminated_leader_releases_the_lease_and_nothing_comes_again(self):
        a, b = self.replicas
        a.start()
        self.wait_leader(a)
        b.start()
        for n in range(20):
            self.put(f'web-{n % 3}', n=str(n))
        self.wait_got(20)
        began = time.monotonic()
        a.end(signal.SIGTERM)
        self.wait_leader(b)
        self.assertLess(time.monotonic() - began, TAKEOVER)
        self.assertEqual(self.lease()['spec']['leaseTransitions'], 1)
        self.put('web-0', n='last')
        self.wait_got(21)
        self.wait_delivered()
        self.assertEqual(self.check_got(), 0)

    def test_killed_leader_is_replaced_within_the_lease_time(self):
        a, b = self.replicas
        a.start()
        self.wait_leader(a)
        b.start()
        self.put('web', n='0')
        self.wait_got(1)
        a.end(signal.SIGKILL)
        began = time.monotonic()
        self.put('web', n='1')
        self.wait_got(2, None)
        self.assertLess(time.monotonic() - began, TAKEOVER)
        self.wait_delivered()
        self.check_got(repeats=1)

    def test_deletion_is_not_lost_with_the_leader(self):
        a, b = self.replicas
        a.start()
        self.wait_leader(a)
        b.start()
        self.put('web', n='0')
        self.wait_got(1)
        a.end(signal.SIGKILL)
        self.drop('web')
        self.wait_delivered()
        self.check_got(repeats=1)
        self.assertEqual(self.got.read()[-1]['type'], 'DELETED')


class Positions(Replicas):
    def test_standby_that_starts_later_drops_initial_objects_that_were_delivered(self):
        a, b = self.replicas
        for n in range(10):
            self.put(f'web-{n}')
        a.start()
        self.wait_leader(a)
        self.wait_got(10)
        b.start()
        seen = self.on_server_version()
        self.sim.control('bookmark')  # with it the leader knows that nothing has happened before b listed
        wait_until(lambda: self.published() >= seen, lambda: f'positions from {seen} on: {self.lease()}')
        wait_until(lambda: b.metric('informerd_handler_queue_length{handler="test"}') == 0, lambda: b.text())
        a.end(signal.SIGTERM)
        self.wait_leader(b)
        self.put('last')
        self.wait_got(11)
        self.assertEqual(self.check_got(), 0)
        self.assertNotIn('GAP', b.text())

    def test_what_a_leader_without_receiver_did_not_deliver_is_delivered_by_the_next(self):
        a, b = self.replicas
        a.program.write_text('#!/bin/sh\nexit 1\n')
        a.start()
        self.wait_leader(a)
        b.start()
        for n in range(10):
            self.put(f'web-{n % 2}', n=str(n))
        self.drop('web-1')
        b.log.wait_for(lambda records: records and records[-1]['type'] == 'DELETED', 'the deletion')
        self.assertEqual(self.got.read(), [])
        a.end(signal.SIGTERM)
        self.wait_leader(b)
        self.wait_delivered()
        self.assertEqual(self.check_got(), 0)
        self.assertEqual(len(self.got.read()), 11)

    def test_gap_is_reported_if_nobody_knows_what_was_deleted(self):
        a, b = self.replicas
        for n in range(3):
            self.put(f'web-{n}')
        a.start()
        self.wait_leader(a)
        self.wait_got(3)
        wait_until(self.published, lambda: 'positions')
        a.end(signal.SIGKILL)
        self.drop('web-1')
        b.start()
        self.wait_leader(b)
        wait_until(lambda: 'GAP: the last leader' in b.text(), lambda: b.text())
        self.assertEqual(b.metric('informerd_handler_gaps_total{handler="test"}'), 1)

    def test_restarted_replica_continues_with_its_own_queue(self):
        a, b = self.replicas
        b.start()
        self.wait_leader(b)
        b.end(signal.SIGTERM)
        a.start()
        self.wait_leader(a)
        for n in range(10):
            self.put('web', n=str(n))
        self.wait_got(10)
        a.end(signal.SIGKILL)
        for n in range(10, 15):
            self.put('web', n=str(n))
        self.drop('web')
        b.start()
        self.wait_leader(b)
        self.wait_delivered()
        self.assertNotIn('GAP', b.text())
        self.check_got(repeats=10)


class Clients(Replicas):
    """A consumer is connected to each replica, as a sink on each host would be."""

    def connect(self, replica):
        connection = UnixHttp(replica.socket)
        self.addCleanup(connection.close)
        connection.request('GET', '/informerd/v1/handlers/stream?name=test&id=x')
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        return answer

    def ack(self, replica, lines):
        self.assertEqual(http_get(replica.socket, f'/informerd/v1/handlers/ack?name=test&id=x&lines={lines}').status, 200)

    def test_consumer_of_a_standby_waits_and_gets_what_the_other_one_did_not_acknowledge(self):
        a, b = self.replicas
        for replica in (a, b):
            replica.start(client=True, exec=None, mode=None, concurrency=None)
            self.wait_leader(a)
        of_a, of_b = self.connect(a), self.connect(b)
        for n in range(4):
            self.put(f'web-{n}')
        got = [json.loads(of_a.readline()) for _ in range(4)]
        self.assertEqual([r['name'] for r in got], ['web-0', 'web-1', 'web-2', 'web-3'])
        self.ack(a, 4)
        wait_until(lambda: self.published() >= int(got[-1]['rv']), self.texts)
        self.put('web-1', n='last')
        self.assertEqual(json.loads(of_a.readline())['labels'], {'n': 'last'})
        a.end(signal.SIGTERM)
        record = json.loads(of_b.readline())  # the first one that this consumer gets
        self.assertEqual((record['name'], record['labels'], record['old_rv']), ('web-1', {'n': 'last'}, got[1]['rv']))
        self.ack(b, 1)


class Losing(Replicas):
    def test_program_of_a_leader_that_was_stopped_is_ended_when_it_continues(self):
        a, b = self.replicas
        program = {'mode': None, 'concurrency': None, 'timeout': '60s'}
        for replica in (a, b):
            replica.program.write_text(f'#!/bin/sh\necho $$ > {replica.folder}/pid.new\nmv {replica.folder}/pid.new {replica.folder}/pid\n'
                                       'exec sleep 60\n')
        a.start(**program)
        self.wait_leader(a)
        self.put('web')
        pid = int(self.wait_file('a/pid').read_text())
        b.start(**program)
        a.daemon.send_signal(signal.SIGSTOP)
        self.wait_leader(b)
        self.assertEqual(self.lease()['spec']['leaseTransitions'], 1)
        a.daemon.send_signal(signal.SIGCONT)
        self.wait_dead(pid)
        self.wait_file('b/pid')
        self.assertEqual(a.metric('informerd_handler_queue_length{handler="test"}'), 1)

    def test_leader_without_api_server_stops_before_its_lease_expires(self):
        a = self.replicas[0].start()
        self.wait_leader(a)
        self.sim.fault('status', path='/leases', code=503, times=1000000)
        wait_until(lambda: not a.leads(), a.text)
        self.assertIn('could not be renewed', a.text())
        self.put('web', n='0')
        a.log.wait_for(lambda records: records and records[-1]['type'] == 'ADDED', 'the record')
        time.sleep(0.3)
        self.assertEqual(self.got.read(), [])
        self.sim.control('clear')
        self.wait_got(1)

    def test_stopped_leader_delivers_nothing_when_it_continues(self):
        a, b = self.replicas
        a.start()
        self.wait_leader(a)
        b.start()
        self.put('web', n='0')
        self.wait_got(1)
        a.daemon.send_signal(signal.SIGSTOP)
        for n in range(1, 20):
            self.put(f'web-{n}')
        self.wait_leader(b)
        self.wait_got(20)
        a.daemon.send_signal(signal.SIGCONT)
        wait_until(lambda: 'stands by' in a.text().rsplit('leads and delivers', 1)[-1], a.text)
        self.put('last')
        self.wait_got(21)
        self.wait_delivered()
        self.check_got(repeats=1)
        self.assertEqual(len([r for r in self.got.read() if r['replica'] == 'a']), 1)

    def test_alternating_kills_lose_nothing(self):
        for replica in self.replicas:
            replica.start()
        for n in range(KILLS):
            replica = self.replicas[n % 2]
            self.wait_leader(replica)
            number = signal.SIGKILL if n % 3 else signal.SIGTERM
            for i in range(30):
                self.sim.put('configmaps', config_map(f'web-{i % 7}', labels={'n': f'{n}-{i}'}))
                if i % 11 == 10:
                    self.drop(f'web-{i % 7}')
                if i == 15:
                    replica.end(number)
            self.wait_leader(self.replicas[1 - n % 2])
            replica.start()
            self.wait_delivered()
        again = self.check_got(repeats=30 * KILLS)  # a kill repeats at most what was delivered in a second
        print(f'# {KILLS} kills, {len(self.got.read())} records delivered, {again} of them again')


run(__name__)
