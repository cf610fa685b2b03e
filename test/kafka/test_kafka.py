#!/usr/bin/env python3
"""test_kafka.py KUBESIM RECORDINGS INFORMERD INFORMERD-KAFKA MOCK-KAFKA: informerd-kafka with a simulated cluster and a simulated Kafka."""
import json
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
from handled import Handled  # noqa: E402
from service import DEADLINE, FULL, config_map, environment, run, wait_until  # noqa: E402

SINK, MOCK = (Path(a).resolve() for a in sys.argv[4:6])
KILLS = 60 if FULL else 9


class Mock:
    """Kafka with one broker; its messages, in the order in which a consumer gets them."""

    def __init__(self, case, topic, partitions=4):
        self.child = subprocess.Popen([MOCK, topic, str(partitions)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      env=environment(case.folder))
        case.addCleanup(self.close)
        self.address = self.child.stdout.readline().decode().strip()
        self.messages, self.obeyed = [], threading.Semaphore(0)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            if line == b'ok\n':
                self.obeyed.release()
            else:
                self.messages.append(json.loads(line))

    def send(self, command):
        self.child.stdin.write(command.encode() + b'\n')
        self.child.stdin.flush()
        assert self.obeyed.acquire(timeout=DEADLINE), command

    def close(self):
        self.child.stdin.close()
        self.reader.join()
        self.child.stdout.close()
        self.child.wait()

    def wait(self, count):
        wait_until(lambda: len(self.messages) >= count, lambda: f'{count} messages; there are {len(self.messages)}')
        return self.messages


class Sink:
    def __init__(self, case, *arguments):
        self.log = case.folder / 'sink.log'
        with open(self.log, 'ab') as log:
            self.child = subprocess.Popen([SINK, '-s', case.socket, *arguments], stderr=log, env=environment(case.folder))
        case.addCleanup(self.end, signal.SIGKILL)

    def end(self, number=signal.SIGTERM):
        if self.child.poll() is None:
            self.child.send_signal(number)
        status = self.child.wait(DEADLINE)
        for word in ('Sanitizer', 'runtime error:'):
            assert word not in self.text(), self.text()
        return status

    def text(self):
        return self.log.read_text(errors='replace')

    def wait_logged(self, text):
        wait_until(lambda: text in self.text(), lambda: f'{text}: {self.text()[-2000:]}')


class Kafka(Handled):
    def start_all(self, *arguments, topic='k8s.{cluster}.{resource}', **settings):
        self.mock = Mock(self, 'k8s.sim.configmaps')
        self.arguments_of_sink = ['--handler', 'test', '--topic', topic, '--brokers', self.mock.address, *arguments]
        self.settings = settings
        self.daemon = self.start_daemon()
        self.sink = self.start_sink()

    def start_daemon(self):
        daemon = self.start(self.conf(handlers=[{'name': 'test', 'client': True, 'queue': '64M', **self.settings}]))
        self.wait_ready()
        return daemon

    def start_sink(self):
        return Sink(self, *self.arguments_of_sink)


class Delivery(Kafka):
    def test_a_record_becomes_a_message(self):
        self.start_all()
        self.put('web', a='1')
        self.put('web', a='2')
        self.sim.control('delete', resource='configmaps', namespace='default', name='web')
        messages = self.mock.wait(3)
        self.wait_metric('queue_length', 0)
        records = [r for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED', 'DELETED')]
        self.assertEqual([json.loads(m['value']) for m in messages], records)
        for m, r in zip(messages, records):
            self.assertEqual(m['key'], r['uid'])
            self.assertEqual(m['headers'], {'log': r['log'], 'seq': str(r['seq']), 'uid': r['uid'], 'rv': r['rv'], 'verb': r['type']})
        self.assertEqual(len({m['partition'] for m in messages}), 1)
        self.assertEqual(self.sink.end(), 0)

    def test_compact_topics_have_the_newest_object_and_tombstones(self):
        self.start_all('--compact', object='full')
        for n in range(4):
            self.put(f'web-{n}', n='1')
            self.put(f'web-{n}', n='2')
        self.sim.control('delete', resource='configmaps', namespace='default', name='web-3')
        messages = self.mock.wait(9)
        state = {}
        for m in messages:
            state[m['key']] = m['value']
        self.assertIsNone(state.pop('sim/configmaps/default/web-3'))
        objects = {k: json.loads(v)['metadata'] for k, v in state.items()}
        self.assertEqual({('configmaps', m['namespace'], m['name']): (m['uid'], m['resourceVersion']) for m in objects.values()},
                         self.on_server())
        self.assertEqual(sorted(objects), [f'sim/configmaps/default/web-{n}' for n in range(3)])

    def test_deletions_while_informerd_is_down_are_tombstones(self):
        self.start_all('--compact', object='full')
        for name in ('kept', 'deleted', 'replaced'):
            self.put(name)
        self.mock.wait(3)
        self.wait_metric('queue_length', 0)
        self.daemon.end(signal.SIGKILL)
        for name in ('deleted', 'replaced'):
            self.sim.control('delete', resource='configmaps', namespace='default', name=name)
        self.put('replaced', again='1')
        self.sim.control('compact')  # the watch can't continue: the objects are listed
        self.daemon = self.start_daemon()
        self.mock.wait(6)
        self.wait_metric('queue_length', 0)
        state = {m['key'].split('/')[-1]: m['value'] for m in self.mock.messages}
        self.assertIsNone(state.pop('deleted'))
        self.assertEqual({('configmaps', 'default', name): (m['uid'], m['resourceVersion']) for name, m in
                          ((name, json.loads(value)['metadata']) for name, value in state.items())}, self.on_server())
        self.assertIn('RELIST', self.log.types())

    def test_compact_needs_the_object(self):
        self.start_all('--compact')
        self.put('web')
        self.assertEqual(self.sink.child.wait(DEADLINE), 78)
        self.assertIn('set `object: full` in the handler', self.sink.text())
        self.assertEqual(self.mock.messages, [])

    def test_a_large_record_is_sent_without_its_object(self):
        self.start_all('--property', 'message.max.bytes=20000', object='full')
        self.sim.put('configmaps', config_map('large', data={'text': 'x' * 40000}))
        self.put('small')
        messages = {m['headers']['uid']: m for m in self.mock.wait(2)}
        by_name = {json.loads(m['value'])['name']: m for m in messages.values()}
        large = json.loads(by_name['large']['value'])
        self.assertEqual((large['truncated'], 'object' in large, by_name['large']['headers']['truncated']), (True, False, 'true'))
        self.assertNotIn('truncated', by_name['small']['headers'])
        self.sink.wait_logged('is too large for a message and sent without its object')

    def test_stops_after_the_messages_in_flight(self):
        """Messages would wait a minute for others: at the end they are sent at once. A stop before it has read them leaves all."""
        self.start_all('--property', 'linger.ms=60000')
        self.wait_logged(self.daemon, 'a client has connected')  # it has installed its signals
        self.assertEqual(self.sink.end(), 0)
        for n in range(5):
            self.put(f'web-{n}')
        self.wait_metric('queue_length', 5)
        while not self.mock.messages:
            sink = self.start_sink()
            self.wait_metric('running', 1)
            self.assertEqual(sink.end(), 0)
            if self.metric('queue_length') == 0:
                self.mock.wait(5)
            else:
                self.assertEqual(self.metric('queue_length'), 5)
        self.assertEqual(len(self.mock.messages), 5)


class Problems(Kafka):
    def test_broker_down_and_up_again(self):
        self.start_all('--property', 'reconnect.backoff.max.ms=200')
        self.put('before')
        self.mock.wait(1)
        self.mock.send('down')
        self.put('during')
        self.sink.wait_logged('check that the brokers run')
        self.assertEqual(self.metric('queue_length'), 1)
        for n in range(20):  # while informerd-kafka connects again and again
            self.put(f'log-goes-on-{n}')
            self.log.wait_for(lambda records: records[-1].get('name') == f'log-goes-on-{n}', 'the event log')
        self.mock.send('up')
        self.mock.wait(22)
        self.wait_metric('queue_length', 0)
        self.sink.wait_logged('messages are delivered again')
        self.assertLessEqual(self.sink.text().count('check that the brokers run'), 2)  # no connection, and no broker at all

    def test_broker_is_down_at_the_start(self):
        """What librdkafka reports before the loop polls it must not prevent later reports."""
        self.start_all('--property', 'reconnect.backoff.max.ms=200')
        for n in range(5):
            self.sink.end(signal.SIGKILL)
            self.mock.send('down')
            self.put(f'web-{n}')
            self.sink = self.start_sink()
            wait_until(lambda: self.sink.text().count('check that the brokers run') > n, self.sink.text)
            self.mock.send('up')
            self.mock.wait(n + 1)

    def test_a_broker_that_refuses_the_size_gets_a_shorter_message(self):
        self.start_all(object='full')
        self.mock.send('refuse 1')
        self.sim.put('configmaps', config_map('large', data={'text': 'x' * 40000}))
        value = json.loads(self.mock.wait(1)[0]['value'])
        self.sink.wait_logged('max.message.bytes of the topic; sent again, shortened')
        self.assertNotIn('object', value)
        self.wait_metric('queue_length', 0)

    def test_a_refused_batch_of_small_messages_is_sent_in_smaller_batches(self):
        """A broker compares the size of the whole batch: no message of it need be shortened."""
        self.start_all('--property', 'linger.ms=500', object='full')
        self.mock.send('refuse 3')
        for n in range(40):
            self.put(f'web-{n}')
        messages = self.mock.wait(40)
        self.wait_metric('queue_length', 0)
        self.sink.wait_logged('larger than max.message.bytes of the topic; sent again, in smaller batches')
        self.assertEqual({m['headers'].get('truncated') for m in messages}, {None})
        self.put('later')
        self.assertIn('object', json.loads(self.mock.wait(len(messages) + 1)[-1]['value']))

    def test_a_record_that_stays_too_large_without_its_diff_has_only_its_identity(self):
        self.start_all('--property', 'message.max.bytes=12000', object='full')
        labels = {f'key-{n}': 'x' * 60 for n in range(300)}
        self.sim.put('configmaps', config_map('large', labels=labels))
        self.sim.put('configmaps', config_map('large', labels={**labels, 'key-0': 'y'}))
        self.put('small')
        values = [json.loads(m['value']) for m in self.mock.wait(3)]
        self.wait_metric('queue_length', 0)
        added, changed = (v for v in values if v['name'] == 'large')
        for value in (added, changed):
            self.assertTrue(value['truncated'])
            self.assertNotIn('labels', value)
        self.assertEqual((changed['type'], changed['uid'], changed['old_rv']), ('MODIFIED', added['uid'], added['rv']))

    def test_informerd_is_not_there_yet(self):
        self.mock = Mock(self, 'k8s.sim.configmaps')
        self.settings = {}
        self.arguments_of_sink = ['--handler', 'test', '--topic', 'k8s.sim.configmaps', '--brokers', self.mock.address]
        sink = self.start_sink()
        sink.wait_logged('is informerd running')
        self.start_daemon()
        self.put('web')
        self.mock.wait(1)

    def test_an_unknown_handler_is_waited_for(self):
        self.start_all()
        other = Sink(self, *self.arguments_of_sink[:1], 'other', *self.arguments_of_sink[2:])
        other.wait_logged("handler 'other': Error from server (NotFound): no handler with client: true has this name")
        self.assertEqual(other.end(), 0)

    def test_command_line(self):
        secret = self.folder / 'properties'
        secret.write_text('# comment\nsasl.password = geheim\nno.such.property=geheim\n')
        common = ['--handler', 'h', '--topic', 't']
        for arguments, text in (
                (common, 'no brokers'),
                (common[:2], '--handler and --topic are required'),
                (['--handler', 'h', '--topic', 'k8s {x}'], "unexpected ' '"),
                ([*common, '--brokers', 'x', '--property', 'sasl.password=geheim'], 'visible to other users'),
                ([*common, '--brokers', 'x', '--property', 'nonsense=geheim'], "unknown property 'nonsense'"),
                ([*common, '--brokers', 'x', '--property', 'linger.ms=geheim'], 'the value of property linger.ms is invalid'),
                ([*common, '--brokers', 'x', '--property', 'enable.idempotence=false'], 'cannot be set'),
                ([*common, '--brokers', 'x', '--properties-file', str(secret)], f"{secret}:3: unknown property 'no.such.property'"),
                ([*common, '--brokers', 'x', '--properties-file', '/no/such'], "file '/no/such'"),
                (['--handler', 'h', '--topic', '..', '--brokers', 'x'], "Kafka does not allow the topic '..'"),
                ([*common, '--brokers', 'x', '--property', 'enable.gapless.guarantee=false'], 'cannot be set'),
                ([*common, '--brokers', 'x', '--key', 'rv'], 'neither uid nor name'),
                ([*common, 'x'], 'unexpected argument')):
            done = subprocess.run([SINK, *arguments], capture_output=True, text=True, timeout=DEADLINE, check=False)
            self.assertEqual((done.returncode, text in done.stderr, 'geheim' in done.stderr), (64, True, False), done.stderr)


class Kills(Kafka):
    def test_every_record_at_least_once_in_order_over_kills(self):
        """informerd-kafka is killed, or informerd."""
        rng, stop, names = random.Random(3), threading.Event(), [f'web-{n}' for n in range(20)]
        self.start_all()

        def change():
            n = 0
            while not stop.wait(0.003):
                if n - len({m['headers']['seq'] for m in list(self.mock.messages)}) < 100:
                    n += 1
                    self.put(names[n % len(names)], n=str(n))
        changer = threading.Thread(target=change)
        changer.start()
        try:
            for turn in range(KILLS):
                self.mock.wait(len(self.mock.messages) + rng.randrange(1, 60))
                if turn % 2:
                    self.daemon.end(signal.SIGKILL)
                    self.daemon = self.start_daemon()
                else:
                    self.sink.end(signal.SIGKILL)
                    self.sink = self.start_sink()
        finally:
            stop.set()
            changer.join()
        self.wait_equal()
        self.wait_metric('queue_length', 0)
        logged = {str(r['seq']): r for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED')}
        wait_until(lambda: set(logged) <= {m['headers']['seq'] for m in list(self.mock.messages)}, lambda: 'all records in Kafka')
        messages = list(self.mock.messages)
        for m in messages:
            self.assertEqual(json.loads(m['value']), logged[m['headers']['seq']])
        for uid in {m['key'] for m in messages}:
            mine = sorted((m for m in messages if m['key'] == uid), key=lambda m: m['offset'])
            self.assertEqual(len({m['partition'] for m in mine}), 1)
            first = list(dict.fromkeys(int(m['headers']['seq']) for m in mine))
            self.assertEqual(first, sorted(first))
        print(f'# {len(logged)} records, {KILLS} kills, {len(messages) - len(logged)} in Kafka more than once')


run(__name__)
