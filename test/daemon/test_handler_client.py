#!/usr/bin/env python3
"""test_handler_client.py KUBESIM RECORDINGS INFORMERD [KILLS]: handlers with client: true, whose records a program takes over the
Unix socket. The test is that program.
"""
import contextlib
import http.client
import json
import random
import signal
import ssl
import sys
import threading

from handled import Handled
from service import DEADLINE, FULL, UnixHttp, free_address, run, wait_until

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 60 if FULL else 10


class Taker:
    """A client of a handler: its stream, and a second connection for acknowledgements."""

    def __init__(self, case, stream_id='a', name='test'):
        self.case, self.path, self.taken = case, f'name={name}&id={stream_id}', 0
        self.connection = UnixHttp(case.socket)
        self.connection.request('GET', f'/informerd/v1/handlers/stream?{self.path}')
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def next(self):
        """The next record; None at the end of the stream."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            line = self.answer.readline()
            if line.endswith(b'\n'):
                self.taken += 1
                return json.loads(line)

    def take(self, count):
        return [self.next() for _ in range(count)]

    def ack(self, lines=None):
        return self.case.get(f'/informerd/v1/handlers/ack?{self.path}&lines={self.taken if lines is None else lines}')

    def close(self):
        self.connection.close()
        self.answer.close()


class Client(Handled):
    def start_with(self, **settings):
        daemon = self.start(self.conf(handlers=[{'name': 'test', 'client': True, **settings}]))
        self.wait_ready()
        return daemon

    def taker(self, *arguments):
        taker = Taker(self, *arguments)
        self.addCleanup(taker.close)
        return taker

    def status(self):
        return json.loads(self.get('/informerd/v1/handlers').text)['handlers'][0]


class Delivery(Client):
    def test_records_wait_for_the_client_and_end_with_their_acknowledgement(self):
        daemon = self.start_with()
        for n in range(3):
            self.put('web', n=str(n))
        self.wait_metric('queue_length', 3)
        self.assertEqual(self.status()['error'], 'no client is connected')
        taker = self.taker()
        logged = self.log.wait_for(lambda all: sum(r['type'] in ('ADDED', 'MODIFIED') for r in all) == 3, 'three lines')
        self.assertEqual(taker.take(3), [r for r in logged if r['type'] in ('ADDED', 'MODIFIED')])
        self.assertEqual(self.metric('queue_length'), 3)
        self.assertEqual(taker.ack(2).status, 200)
        self.assertEqual(self.metric('queue_length'), 3)  # a run ends as a whole
        self.assertEqual(json.loads(taker.ack().text), {'ok': True, 'lines': 3})
        self.wait_metric('queue_length', 0)
        self.assertEqual(taker.ack(1).status, 200)  # an old one changes nothing
        self.put('web', n='live')
        self.assertEqual(taker.next()['type'], 'MODIFIED')
        self.assertNotIn('error', self.status())
        self.assertEqual(daemon.end(), 0)
        self.assertIsNone(taker.next())

    def test_what_is_not_acknowledged_is_sent_to_the_next_client(self):
        daemon = self.start_with()
        for n in range(4):
            self.put('web', n=str(n))
        self.wait_metric('queue_length', 4)
        first = self.taker()
        records = first.take(4)
        first.ack(1)
        first.close()
        self.wait_logged(daemon, 'the client has disconnected; 3 records')
        second = self.taker('b')
        self.assertEqual(second.take(3), records[1:])
        self.assertEqual(first.ack(4).status, 409)
        self.assertEqual(second.ack().status, 200)
        self.wait_metric('queue_length', 0)

    def test_a_restart_keeps_the_position(self):
        daemon = self.start_with()
        for n in range(4):
            self.put(f'web-{n}')
        self.wait_metric('queue_length', 4)
        taker = self.taker()
        records = taker.take(4)
        taker.ack(2)
        self.assertEqual(daemon.end(), 0)
        self.start_with()
        self.assertEqual(self.taker().take(2), records[2:])

    def test_a_removed_handler_disconnects_its_client(self):
        daemon = self.start_with()
        self.put('web')
        taker = self.taker()
        taker.take(1)
        self.reload(daemon)
        self.assertIsNone(taker.next())
        self.assertEqual(taker.ack().status, 404)

    def test_another_kind_continues_with_the_same_queue(self):
        daemon = self.start_with()
        self.put('web')
        taker = self.taker()
        taker.take(1)
        self.reload(daemon, self.handler('cat >> $DIR/got'))
        self.assertIsNone(taker.next())
        self.assertEqual([r['name'] for r in self.wait_got(1)], ['web'])

    def test_a_client_that_does_not_acknowledge_has_a_bounded_number_of_records(self):
        self.start_with(queue='64M')
        taker = self.taker()
        self.sim.control('fill', resource='configmaps', count=6000, bytes=200, prefix='many')
        self.wait_metric('queue_length', 6000)
        seqs = []
        while len(seqs) < 6000:
            seqs.append(taker.next()['seq'])
            if len(seqs) % 4096 == 0:  # it gets so many without an acknowledgement
                self.assertLessEqual(self.status()['running'], 4096)
                taker.ack()
        taker.ack()
        self.wait_metric('queue_length', 0)
        self.assertEqual(len(set(seqs)), 6000)


class Refusals(Client):
    def test_wrong_requests(self):
        self.start_with()
        self.taker()
        for target, status, text in (
                ('stream?name=test&id=b', 409, 'another client is connected'),
                ('stream?name=test', 400, 'parameters: name'),
                ('stream?id=b', 400, 'parameters: name'),
                (f'stream?name=test&id={"x" * 65}', 400, '1 to 64 bytes'),
                ('stream?name=other&id=b', 404, 'no handler with client: true'),
                ('ack?name=test&id=b&lines=0', 409, 'not connected'),
                ('ack?name=test&id=a', 400, "parameter 'lines'"),
                ('ack?name=test&id=a&lines=1x', 400, "parameter 'lines'"),
                ('ack?name=test&id=a&lines=99999999999999999999', 400, "parameter 'lines'"),
                ('ack?name=test&id=a&lines=1', 400, 'has not so many lines'),
                ('ack?name=test&id=a&lines=0', 200, 'true')):
            reply = self.get(f'/informerd/v1/handlers/{target}')
            self.assertEqual((reply.status, text in reply.text), (status, True), f'{target}: {reply}')

    def test_only_the_reader_of_the_handler_may_take_its_records(self):
        """With tokens at api.listen: on the Unix socket the test is the user of informerd, who may always."""
        address, readers = free_address(), []
        for name in ('kafka', 'other'):
            path = self.folder / f'{name}.token'
            path.write_text(f'{name}-0123456789abcdef0123456789abcdef\n')
            path.chmod(0o600)
            readers.append({'name': name, 'token_file': str(path)})
        self.start(self.conf(api={'listen': address, 'readers': readers},
                             handlers=[{'name': 'test', 'client': True, 'reader': 'kafka'}]))
        self.wait_ready()
        self.put('web')
        for name, status in (('other', 403), ('kafka', 200)):
            context = ssl._create_unverified_context()
            with contextlib.closing(http.client.HTTPSConnection(address, timeout=DEADLINE, context=context)) as connection:
                connection.request('GET', '/informerd/v1/handlers/stream?name=test&id=x',
                                   headers={'Authorization': f'Bearer {name}-0123456789abcdef0123456789abcdef'})
                answer = connection.getresponse()
                self.assertEqual(answer.status, status)
                self.assertIn(b'"web"' if status == 200 else b'reader', answer.readline())

    def test_configuration(self):
        for handler, text in (
                ({'client': True, 'exec': ['/bin/true']}, 'exactly one of the keys exec, webhook, client'),
                ({'client': True, 'concurrency': 4}, 'cannot be used with concurrency'),
                ({'client': True, 'batch': {'max': 10}}, 'cannot be used with client'),
                ({'client': True, 'mode': 'stream'}, 'cannot be used with client'),
                ({'client': True, 'reader': 'kafka'}, "no entry of api.readers has the name 'kafka'"),
                ({'exec': ['/bin/true'], 'reader': 'kafka'}, 'cannot be used with exec')):
            daemon = self.start(self.conf(handlers=[{'name': 'test', **handler}]))
            self.assertEqual(daemon.status(), 78)
            self.assertIn(text, daemon.stderr_text())
            daemon.log.write_text('')


class Kills(Client):
    def test_every_record_at_least_once_in_order_over_kills(self):
        """informerd is killed, or the client disconnects."""
        rng, stop, names, got = random.Random(1), threading.Event(), [f'web-{n}' for n in range(20)], {}

        def change():
            n = 0
            while not stop.wait(0.003):
                if n - len(got) < 100:  # got: by seq
                    n += 1
                    self.put(names[n % len(names)], n=str(n))
        daemon, taken = self.start_with(), []
        changer = threading.Thread(target=change)
        changer.start()
        try:
            for turn in range(KILLS):
                taker = self.taker(f'turn-{turn}')
                for left in reversed(range(rng.randrange(1, 60))):
                    taken.append(taker.next())
                    got[taken[-1]['seq']] = taken[-1]
                    if left:
                        taker.ack()
                if turn % 3 < 2:
                    daemon.end(signal.SIGKILL)
                    daemon = self.start_with()
                else:
                    before = daemon.stderr_text().count('the client has disconnected')
                    taker.close()
                    wait_until(lambda: daemon.stderr_text().count('the client has disconnected') > before, daemon.stderr_text)
        finally:
            stop.set()
            changer.join()
        self.wait_equal()
        logged = {r['seq'] for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED')}
        taker = self.taker('last')
        while self.metric('queue_length'):
            taken.append(taker.next())
            got[taken[-1]['seq']] = taken[-1]
            taker.ack()
        self.assertEqual(logged, set(got))
        for name in names:
            first = list(dict.fromkeys(r['seq'] for r in taken if r['name'] == name))
            self.assertEqual(first, sorted(first))
        print(f'# {len(logged)} records, {KILLS} kills, {len(taken) - len(logged)} delivered more than once')


run(__name__)
