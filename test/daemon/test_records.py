#!/usr/bin/env python3
"""test_records.py KUBESIM RECORDINGS INFORMERD: records of event logs over the local API, live and from files."""
import contextlib
import json
import os
import urllib.parse

from service import CHANGES, Case, UnixHttp, config_map, records_of, run, wait_until


def target(endpoint, **parameters):
    return f'/informerd/v1/{endpoint}?{urllib.parse.urlencode(parameters)}'


class Stream:
    """A response that is read record by record."""

    def __init__(self, case, path, **headers):
        connection = UnixHttp(case.socket)
        case.stack.callback(connection.close)
        connection.request('GET', path, headers=headers)
        self.answer = connection.getresponse()
        case.assertEqual(self.answer.status, 200)

    def take(self):
        return json.loads(self.answer.readline())

    def until(self, last):
        """All records up to one for which last() is true."""
        found = [self.take()]
        while not last(found[-1]):
            found.append(self.take())
        return found


class Records(Case):
    def stream(self, endpoint, headers=None, **parameters):
        return Stream(self, target(endpoint, **parameters), **(headers or {}))

    def records(self, endpoint, **parameters):
        answer = self.get(target(endpoint, **parameters))
        self.assertEqual(answer.status, 200, answer.text)
        return [json.loads(line) for line in answer.text.splitlines()]

    def assert_refused(self, code, message, endpoint, **parameters):
        answer = self.get(target(endpoint, **parameters))
        status = json.loads(answer.text)
        self.assertEqual((answer.status, status['kind'], status['code']), (code, 'Status', code))
        self.assertIn(message, status['message'])

    def put(self, *names, namespace='default', **data):
        self.sim.put('configmaps', *({**config_map(name, namespace=namespace), **({'data': data} if data else {})} for name in names))

    def text(self):
        with contextlib.suppress(FileNotFoundError):  # a rotation is in progress
            return self.path.read_text()
        return ''

    def wait_logged(self, name):
        self.log.wait_for(lambda all: any(r.get('name') == name for r in all), name)

    def begin(self, **changes):
        """A daemon whose log has the objects a, b in default, and c in shop."""
        self.put('a', 'b')
        self.put('c', namespace='shop')
        daemon = self.start(self.conf(**changes))
        self.wait_ready()
        if 'event_logs' not in changes:
            self.log.wait_for(lambda all: any(r['type'] == 'SYNCED' for r in all), 'the first objects')
        return daemon

    # ---- events?from= ----

    def test_records_of_the_file_are_followed_by_new_ones(self):
        self.begin()
        stream = self.stream('events', **{'from': 0})
        found = stream.until(lambda r: r['type'] == 'SYNCED')
        self.put('d')
        found += stream.until(lambda r: r.get('name') == 'd')
        self.put('e')
        found += stream.until(lambda r: r.get('name') == 'e')
        self.wait_logged('e')
        self.assertEqual(found, self.log.read())
        self.assertEqual(found[0]['type'], 'START')
        from_c = self.records('events', follow='false', **{'from': found[3]['seq']})
        self.assertEqual(from_c, found[3:])
        self.assertEqual(self.records('events', follow='false', **{'from': found[-1]['seq'] + 1}), [])
        self.assertEqual(self.records('events', follow='false', **{'from': found[-1]['time']})[-1], found[-1])
        self.assertEqual(self.records('events', follow='false', **{'from': '1h'}), found)

    def test_no_record_is_lost_or_repeated_while_files_are_rotated(self):
        self.begin(event_logs=[{'path': str(self.path), 'rotate': {'size': '8K', 'keep': 100}}])
        streams = [self.stream('events', **{'from': 0}) for _ in range(3)]
        for i in range(60):
            self.put(*(f'n{i}-{j}' for j in range(5)))
        self.put('last')
        found = [s.until(lambda r: r.get('name') == 'last') for s in streams]
        files = sorted(self.folder.glob('events.jsonl.*'), key=lambda p: -int(p.suffix[1:]))
        self.assertGreater(len(files), 5)
        written = records_of(*files, self.path)
        self.assertEqual(len({r['seq'] for r in written}), len(written))
        for records in found:
            self.assertEqual([r['seq'] for r in records], [r['seq'] for r in written])
        middle = written[len(written) // 2]['seq']
        self.assertEqual([r['seq'] for r in self.records('events', follow='false', **{'from': middle})],
                         [r['seq'] for r in written if r['seq'] >= middle])

    def test_a_position_that_is_no_longer_kept_is_a_gap(self):
        self.begin(event_logs=[{'path': str(self.path), 'rotate': {'size': '4K', 'keep': 1}}])
        for i in range(30):
            self.put(f'n{i}')
        wait_until(lambda: 'n29' in self.text(), 'the last object')
        oldest = records_of(self.folder / 'events.jsonl.1')[0]
        for position in (1, '1h'):
            gap, first = self.records('events', follow='false', **{'from': position})[:2]
            self.assertEqual((gap['type'], gap['reason'], gap['seq']), ('GAP', 'expired', oldest['seq'] - 1))
            self.assertEqual(first, oldest)
        self.assertEqual(self.records('events', follow='false', **{'from': 0})[0], oldest)  # all that is kept

    def test_server_sent_events_resume(self):
        self.begin()
        log = self.log.read()
        stream = self.stream('events', headers={'Accept': 'text/event-stream', 'Last-Event-ID': str(log[1]['seq'])})
        self.assertEqual(stream.answer.getheader('Content-Type'), 'text/event-stream')
        for record in log[2:]:
            self.assertEqual(stream.answer.readline(), f'id: {record["seq"]}\n'.encode())
            name, data = stream.answer.readline().split(b': ', 1)
            self.assertEqual((name, json.loads(data), stream.answer.readline()), (b'data', record, b'\n'))
        self.put('d')
        self.assertRegex(stream.answer.readline(), rb'^id: \d+\n$')

    def test_server_sent_events_without_a_log_begin_with_a_gap(self):
        self.start(self.conf(event_logs=[{'path': 'stdout'}]))
        self.wait_ready()
        stream = self.stream('events', headers={'Accept': 'text/event-stream', 'Last-Event-ID': '7'})
        self.assertEqual(stream.answer.readline(), b'id: 7\n')
        self.assertIn(b'"type":"GAP","reason":"expired"', stream.answer.readline())
        self.assertEqual(stream.answer.readline(), b'\n')
        self.put('d')
        self.assertRegex(stream.answer.readline(), rb'^id: \d+\n$')

    def test_which_log_is_read(self):
        """The first one that has everything."""
        other = self.folder / 'shop.jsonl'
        self.begin(event_logs=[{'path': 'stdout'}, {'path': str(self.folder / 'text'), 'format': 'short'},
                               {'path': str(other), 'namespaces': ['shop'], 'object': 'none'}])
        wait_until(lambda: other.exists() and 'SYNCED' in other.read_text(), 'the log')
        message = 'no event log has all of these records'
        self.assert_refused(404, message, 'events', **{'from': 0})
        self.assert_refused(404, message, 'history', namespace='default')
        self.assertEqual([r['name'] for r in self.records('history', namespace='shop', notes='false')], ['c'])

    def test_a_removed_log_ends_the_stream(self):
        daemon = self.begin()
        stream = self.stream('events', **{'from': 0})
        stream.until(lambda r: r['type'] == 'SYNCED')
        self.write_conf(self.conf(event_logs=[{'path': 'stdout'}]))
        self.get('/informerd/v1/reload')
        while line := stream.answer.readline():
            json.loads(line)
        self.assertTrue(daemon.alive())

    # ---- filters ----

    def test_filters(self):
        self.sim.put('configmaps', config_map('red', labels={'colour': 'red'}))
        self.begin(watches=[{'resource': 'configmaps', 'name': 'maps'}, {'resource': 'pods'}])
        live = self.stream('events', text='DEFAULT/A ', notes='false')
        self.put('a', k='v')
        self.assertEqual(live.take()['changed'], ['data.k'])
        self.log.wait_for(lambda all: any(r['type'] == 'MODIFIED' for r in all), 'the change')
        for names, parameters in ((['c'], {'namespace': 'shop'}), (['a', 'a'], {'name': 'a'}), (['a'], {'verb': 'modified'}),
                                  (['a', 'a', 'b', 'c', 'red'], {'verb': 'MODIFIED,ADDED'}), (['red'], {'label': 'colour=red'}),
                                  (['a'], {'changed': 'data', 'verb': 'MODIFIED'}), ([], {'changed': 'metadata', 'verb': 'MODIFIED'}),
                                  (['b'], {'text': 'default/b'}), ([], {'watch': 'pods'}), (['c'], {'watch': 'maps', 'name': 'c'}),
                                  (['b'], {'resource': 'configmaps', 'name': 'b'}), ([], {'resource': 'configmaps.apps'}),
                                  ([], {'level': 'error'}), ([], {'cluster': 'other'}), (['b'], {'cluster': 'sim', 'name': 'b'})):
            found = self.records('events', follow='false', notes='false', **{'from': 0}, **parameters)
            self.assertEqual(sorted(r['name'] for r in found), names, parameters)
        types = {r['type'] for r in self.records('events', follow='false', name='a', **{'from': 0})}
        self.assertEqual(types, {'START', 'ADDED', 'MODIFIED'})  # not SYNCED

    def test_wrong_parameters_are_refused(self):
        self.start()
        self.wait_ready()
        for message, parameters in (("unknown parameter 'nmae'", {'nmae': 'x'}), ("unknown verb 'GONE'", {'verb': 'GONE'}),
                                    ("unknown level 'loud'", {'level': 'loud'}), ('label: ', {'label': 'a b'}),
                                    ("from: 'noon' is neither a time", {'from': 'noon'}), ('follow=false needs', {'follow': 'false'}),
                                    ('follow: ', {'follow': 'yes'}), ('from: records of event logs', {'from': 0, 'format': 'short'}),
                                    ('width: ', {'width': '-1'})):
            self.assert_refused(400, message, 'events', **parameters)
        for message, parameters in (('history of what?', {}), ('limit: ', {'name': 'a', 'limit': '0'}),
                                    ("since: 'noon'", {'name': 'a', 'since': 'noon'}), ("unknown parameter 'from'", {'from': '0'})):
            self.assert_refused(400, message, 'history', **parameters)

    def test_limits_of_readers_apply_to_files_and_live_records(self):
        own = {'name': 'own', 'uid': os.geteuid(), 'watches': ['maps'], 'namespaces': ['shop']}
        self.begin(watches=[{'resource': 'configmaps', 'name': 'maps'}, {'resource': 'pods'}], api={'readers': [own]})
        live, stream = self.stream('events'), self.stream('events', **{'from': 0})
        self.assertEqual((stream.take()['name']), 'c')
        self.put('d')
        self.put('e', namespace='shop')
        self.sim.put('pods', {'metadata': {'name': 'p', 'namespace': 'shop'}, 'spec': {}})
        self.put('f', namespace='shop')
        for records in (live, stream):
            self.assertEqual([records.take()['name'] for _ in range(2)], ['e', 'f'])
        self.assertEqual({r['name'] for r in self.records('history', resource='configmaps')}, {'c', 'e', 'f'})

    # ---- history ----

    def test_history_of_an_object(self):
        self.sim.put('events', {'metadata': {'name': 'a.1', 'namespace': 'default'}, 'reason': 'Killing', 'message': 'bye',
                                'involvedObject': {'kind': 'ConfigMap', 'namespace': 'default', 'name': 'a'}})
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'events'}])
        for i in range(3):
            self.put('a', k=str(i))
            self.log.wait_for(lambda all: sum(r.get('name') == 'a' for r in all) == i + 2, 'the change')
        self.log.wait_for(lambda all: any(r.get('reason') == 'Killing' for r in all), 'the Event')
        uid = next(r['uid'] for r in self.log.read() if r.get('name') == 'a')
        found = self.records('history', resource='configmaps', namespace='default', name='a', notes='false')
        self.assertEqual([r['type'] for r in found if r['name'] == 'a'], ['ADDED', 'MODIFIED', 'MODIFIED', 'MODIFIED'])
        self.assertEqual([r['reason'] for r in found if r['name'] != 'a'], ['Killing'])
        self.assertEqual([r['seq'] for r in found], sorted(r['seq'] for r in found))
        changes = [r for r in found if r['name'] == 'a']
        self.assertEqual(self.records('history', uid=uid, notes='false'), changes)
        self.assertEqual(self.records('history', uid=uid, notes='false', limit=2), changes[-2:])
        self.assertEqual(self.records('history', uid=uid, notes='false', since=changes[1]['time'], until=changes[2]['time']),
                         changes[1:3])
        self.assertIn('START', {r['type'] for r in self.records('history', uid=uid)})

    def test_history_of_a_namespace(self):
        self.begin()
        self.put('d', namespace='shop')
        self.wait_logged('d')
        found = self.records('history', namespace='shop', since='1h', until='0s', notes='false')
        self.assertEqual([r['name'] for r in found], ['c', 'd'])
        self.assertEqual({r['type'] for r in found} - set(CHANGES), set())
        self.assertEqual(self.records('history', namespace='shop', until='1h'), [])

    def test_a_client_that_does_not_read_is_no_burden(self):
        """More bytes than the buffers of a socket hold."""
        self.begin(event_logs=[{'path': str(self.path), 'object': 'full', 'max_line': '1M'}])
        slow = self.stream('events', **{'from': 0})
        for i in range(40):
            self.put(f'n{i}', k='x' * 200000)
        self.wait_logged('n39')
        daemon_ok = self.records('history', name='n39', notes='false')
        self.assertEqual(len(daemon_ok), 1)
        self.assertEqual([r['seq'] for r in slow.until(lambda r: r.get('name') == 'n39')], [r['seq'] for r in self.log.read()])

    def test_the_newest_records_are_sent_as_fast_as_the_client_reads(self):
        """Until then the stream counts as open, so that the memory of all of them is limited."""
        self.begin(event_logs=[{'path': str(self.path), 'object': 'full', 'max_line': '1M'}])
        for i in range(40):
            self.put(f'n{i}', k='x' * 200000)
        self.wait_logged('n39')
        slow = self.stream('history', namespace='default', limit=30, notes='false')  # its head was received
        self.assertEqual(json.loads(self.get('/informerd/v1/status').text)['event_streams'], 1)
        self.assertEqual([json.loads(line)['name'] for line in slow.answer.read().splitlines()], [f'n{i}' for i in range(10, 40)])
        wait_until(lambda: json.loads(self.get('/informerd/v1/status').text)['event_streams'] == 0, 'the end of the stream')

    def test_a_live_client_that_does_not_read_is_cut(self):
        """Others are not: 400 records of about 15 KB are more than its buffers hold."""
        self.begin(event_logs=[{'path': 'stdout'}])
        self.stream('events')
        self.stream('events', name='none')
        for i in range(400):
            self.put('a', k=str(i % 10) * 7000)
        wait_until(lambda: json.loads(self.get('/informerd/v1/status').text)['event_streams'] == 1, 'the end of the first stream')


run(__name__)
