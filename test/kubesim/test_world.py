#!/usr/bin/env python3
"""test_world.py KUBESIM RECORDINGS: the cluster that kubesim simulates, as seen by a client."""
import json
import subprocess
import sys
import time
import urllib.parse

sys.dont_write_bytecode = True
from lib import DEADLINE, KUBESIM, WATCH_LIST, Broken, Case, Sim, config_map, gunzip, run

MAPS = '/api/v1/namespaces/default/configmaps'


def brief(event):
    return event['type'], event['object']['metadata'].get('name'), event['object']['metadata']['resourceVersion']


class Writes(Case):
    def write(self, method, target, thing):
        return self.sim.request(target, method, json.dumps(thing).encode())

    def test_create_get_replace_delete(self):
        created = self.write('POST', MAPS, config_map('a'))
        self.assertEqual((created.code, created.json()['metadata']['resourceVersion']), (201, '101'))
        got = self.sim.request(f'{MAPS}/a').json()
        self.assertEqual((got['kind'], got['apiVersion'], got['data']), ('ConfigMap', 'v1', {'k': 'a'}))
        replaced = self.write('PUT', f'{MAPS}/a', {**got, 'data': {'k': 'b'}}).json()
        self.assertEqual(replaced['metadata'], {**got['metadata'], 'resourceVersion': '102'})
        deleted = self.sim.request(f'{MAPS}/a', 'DELETE').json()
        self.assertEqual((deleted['kind'], deleted['status'], deleted['details']),
                         ('Status', 'Success', {'name': 'a', 'kind': 'configmaps'}))
        self.assertEqual(self.sim.request(f'{MAPS}/a').code, 404)

    def assert_status(self, answer, code, reason, message):
        status = answer.json()
        self.assertEqual((answer.code, status['code'], status['reason']), (code, code, reason))
        self.assertIn(message, status['message'])

    def test_refusals(self):
        old = self.write('POST', MAPS, config_map('a')).json()
        self.write('PUT', f'{MAPS}/a', config_map('a'))
        self.assert_status(self.write('POST', MAPS, config_map('a')), 409, 'AlreadyExists', 'configmaps "a" already')
        self.assert_status(self.write('PUT', f'{MAPS}/a', old), 409, 'Conflict', 'the object has been modified')
        self.assert_status(self.write('PUT', f'{MAPS}/b', config_map('b')), 404, 'NotFound', 'configmaps "b" not found')
        self.assert_status(self.write('POST', MAPS, {'metadata': {}}), 400, 'BadRequest', 'name')
        self.assert_status(self.sim.request(MAPS, 'POST', b'{'), 400, 'BadRequest', 'not a JSON')
        self.assert_status(self.sim.request(f'{MAPS}/a', 'PATCH', b'{}'), 405, 'MethodNotAllowed', 'method')
        self.assert_status(self.sim.request('/apis/apps/v1/namespaces/x/deployments/d'), 404, 'NotFound',
                           'deployments.apps "d" not found')

    def test_numbers_and_names_are_stored_unchanged(self):
        text = b'{"metadata":{"name":"w","namespace":"default"},"b \\" c":[1e2,123456789012345678901234567890],"a":1.50}'
        self.sim.control('resource', spec='widgets.example.com/v1=Widget')
        self.sim.request('/apis/example.com/v1/namespaces/default/widgets', 'POST', text)
        body = self.sim.request('/apis/example.com/v1/namespaces/default/widgets').body()
        for part in (b'"a":1.50,', b'"b \\" c":[1e2,123456789012345678901234567890]'):
            self.assertIn(part, body)

    def test_several_requests_on_one_connection(self):
        wire = self.sim.connect()
        for name in 'abc':
            self.assertEqual(self.sim.request(MAPS, 'POST', json.dumps(config_map(name)).encode(), wire).json()['kind'],
                             'ConfigMap')
        self.assertEqual(self.names(self.sim.request(MAPS, wire=wire)), ['a', 'b', 'c'])
        self.assertEqual(self.sim.control('stats')['connections']['opened'], 2)


class Lists(Case):
    def test_lists_are_ordered_by_key(self):
        for ns in ('a', 'a-b', 'b'):
            self.sim.put('configmaps', {'metadata': {'name': 'x', 'namespace': ns}})
        items = self.sim.request('/api/v1/configmaps').json()['items']
        self.assertEqual([i['metadata']['namespace'] for i in items], ['a-b', 'a', 'b'])

    def test_pages_show_one_version(self):
        self.sim.put('configmaps', *map(config_map, 'abcdef'))
        page = self.sim.request(f'{MAPS}?limit=2').json()
        seen = [i['metadata']['name'] for i in page['items']]
        self.sim.put('configmaps', config_map('aa'), config_map('cc'))
        self.sim.control('delete', resource='configmaps', namespace='default', name='e')
        changed = dict(config_map('d'), data={'k': 'new'})
        self.sim.put('configmaps', changed)
        while token := page['metadata'].get('continue'):
            page = self.sim.request(f'{MAPS}?limit=2&continue={token}').json()
            self.assertEqual(page['metadata']['resourceVersion'], '106')
            seen += [(i['metadata']['name'], i['data']['k']) for i in page['items']]
        self.assertEqual(seen, ['a', 'b', ('c', 'c'), ('d', 'd'), ('e', 'e'), ('f', 'f')])

    def test_expired_token_comes_with_an_inconsistent_one(self):
        self.sim.put('configmaps', *map(config_map, 'abc'))
        token = self.sim.request(f'{MAPS}?limit=1').json()['metadata']['continue']
        self.sim.fault('expire')
        expired = self.sim.request(f'{MAPS}?limit=1&continue={token}')
        self.assertEqual(expired.code, 410)
        self.sim.put('configmaps', config_map('bb'))
        fresh = expired.json()['metadata']['continue']
        self.assertEqual(self.names(self.sim.request(f'{MAPS}?continue={fresh}')), ['b', 'bb', 'c'])
        self.assertEqual(self.sim.request(f'{MAPS}?continue=bogus').code, 400)

    def test_versions(self):
        self.sim.put('configmaps', *map(config_map, 'abc'))
        exact = f'{MAPS}?resourceVersion=102&resourceVersionMatch=Exact'
        self.assertEqual(self.names(self.sim.request(exact)), ['a', 'b'])
        self.assertEqual(self.names(self.sim.request(f'{MAPS}?resourceVersion=102&limit=9')), ['a', 'b'])
        self.assertEqual(self.names(self.sim.request(f'{MAPS}?resourceVersion=102')), ['a', 'b', 'c'])
        self.assertEqual(self.names(self.sim.request(f'{MAPS}?resourceVersion=0&limit=1')), ['a', 'b', 'c'])
        self.sim.control('compact')
        self.assertEqual(self.sim.request(exact).code, 410)

    def test_contradictory_parameters_are_refused(self):
        for query in ('resourceVersionMatch=Exact', 'resourceVersionMatch=Exact&resourceVersion=0',
                      'sendInitialEvents=true', 'watch=1&sendInitialEvents=true'):
            with self.subTest(query):
                self.assertEqual(self.sim.request(f'{MAPS}?{query}').code, 422)
        self.assertEqual(self.sim.request(f'{MAPS}?labelSelector=a%20in%20b').code, 400)

    def test_only_large_lists_are_compressed_on_request(self):
        self.sim.control('fill', resource='pods', count=100, bytes=2000)
        for target, encoding, packed in (('/api/v1/pods', 'gzip', True), ('/api/v1/pods', 'gzip;q=1', False),
                                         ('/api/v1/pods?limit=2', 'gzip', False)):
            answer = self.sim.request(target, Accept_Encoding=encoding)
            self.assertEqual('Content-Encoding' in answer.headers, packed, (target, encoding))
            if packed:
                text, members = gunzip(b''.join(answer.chunks()))
                self.assertEqual((members, len(json.loads(text)['items'])), (1, 100))

    def test_pretty(self):
        self.sim.put('configmaps', *map(config_map, 'ab'))
        body = self.sim.request(f'{MAPS}?pretty=true').body()
        self.assertGreater(body.count(b'\n'), 10)
        self.assertEqual([i['metadata']['name'] for i in json.loads(body)['items']], ['a', 'b'])


class Selectors(Case):
    def setUp(self):
        super().setUp()
        self.sim.put('pods', self.pod('a', 'n1', 'Running', app='web', tier='front'),
                     self.pod('b', 'n2', 'Pending', app='db'), self.pod('c', 'n1', 'Pending'))

    def pod(self, name, node, phase, **labels):
        return {'metadata': {'name': name, 'namespace': 'default', 'labels': labels},
                'spec': {'nodeName': node}, 'status': {'phase': phase}}

    def test_selectors_select(self):
        for kind, selector, names in (
                ('label', 'app=web', 'a'), ('label', 'app==web', 'a'), ('label', 'app!=web', 'bc'),
                ('label', 'app in (web, db)', 'ab'), ('label', 'app notin (web)', 'bc'), ('label', 'app', 'ab'),
                ('label', '!app', 'c'), ('label', 'app,tier=front', 'a'), ('label', 'app in (web,db),!tier', 'b'),
                ('field', 'metadata.name=b', 'b'), ('field', 'metadata.namespace=default', 'abc'),
                ('field', 'spec.nodeName=n1', 'ac'), ('field', 'spec.nodeName=n1,status.phase!=Running', 'c')):
            with self.subTest(selector):
                query = urllib.parse.urlencode({f'{kind}Selector': selector})
                self.assertEqual(self.names(self.sim.request(f'/api/v1/pods?{query}')), list(names))

    def test_watch_with_selector_sees_objects_enter_and_leave(self):
        watch = self.sim.request('/api/v1/pods?watch=1&resourceVersion=103&labelSelector=app%3Dweb').events()
        self.sim.put('pods', self.pod('c', 'n1', 'Running', app='web'), self.pod('b', 'n2', 'Running', app='db'),
                     self.pod('a', 'n1', 'Failed', app='old'), self.pod('c', 'n1', 'Failed', app='web'))
        self.sim.control('delete', resource='pods', namespace='default', name='c')
        events = [next(watch) for _ in range(4)]
        self.assertEqual([brief(e) for e in events], [('ADDED', 'c', '104'), ('DELETED', 'a', '106'),
                                                      ('MODIFIED', 'c', '107'), ('DELETED', 'c', '108')])
        self.assertEqual(events[1]['object']['status']['phase'], 'Running')  # the last state that matched


class Watches(Case):
    arguments = ('--gzip-watch', '--bookmark-every', '100', '--chunk', '64')

    def test_watch_starts_after_the_given_version(self):
        self.sim.put('configmaps', *map(config_map, 'abc'))
        watch = self.sim.request(f'{MAPS}?watch=1&resourceVersion=101').events()
        self.assertEqual([brief(next(watch)) for _ in range(2)], [('ADDED', 'b', '102'), ('ADDED', 'c', '103')])
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        self.assertEqual(brief(next(watch)), ('DELETED', 'a', '104'))

    def test_watch_without_version_sends_the_current_objects_first(self):
        self.sim.put('configmaps', *map(config_map, 'ab'))
        watch = self.sim.request(f'{MAPS}?watch=1').events()
        self.sim.put('configmaps', config_map('c'))
        self.assertEqual([brief(next(watch))[1] for _ in range(3)], ['a', 'b', 'c'])

    def test_watch_at_a_future_version_waits(self):
        watch = self.sim.request(f'{MAPS}?watch=1&resourceVersion=102').events()
        self.sim.put('configmaps', *map(config_map, 'abc'))
        self.assertEqual(brief(next(watch)), ('ADDED', 'c', '103'))

    def test_bookmarks_are_periodic_and_a_timeout_ends_the_watch(self):
        watch = self.sim.request(f'{MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=1')
        events = list(watch.events())
        self.assertGreater(len(events), 3)
        self.assertEqual({brief(e) for e in events}, {('BOOKMARK', None, '100')})

    def test_watch_list_is_compressed_in_members(self):
        self.sim.put('configmaps', *map(config_map, 'ab'))
        answer = self.sim.request(f'{MAPS}?{WATCH_LIST}&timeoutSeconds=1', Accept_Encoding='gzip')
        self.assertEqual(answer.headers['Content-Encoding'], 'gzip')
        text, members = gunzip(b''.join(answer.chunks()))
        types = [json.loads(line)['type'] for line in text.splitlines()]
        self.assertEqual(types[:3], ['ADDED', 'ADDED', 'BOOKMARK'])
        self.assertGreater(members, 2)
        plain = self.sim.request(f'{MAPS}?watch=1&resourceVersion=100&timeoutSeconds=1', Accept_Encoding='gzip')
        self.assertNotIn('Content-Encoding', plain.headers)

    def test_chunk_option_splits_events(self):
        self.sim.put('configmaps', *map(config_map, 'ab'))
        chunks = list(self.sim.request(f'{MAPS}?watch=1&timeoutSeconds=1').chunks())
        self.assertLessEqual(max(map(len, chunks)), 64)
        self.assertEqual(len(b''.join(chunks).splitlines()), 2)

    def test_watch_that_is_too_slow_is_ended(self):
        self.sim.control('set', history=10)
        self.sim.control('fill', resource='pods', count=20)
        watch = self.sim.request('/api/v1/pods?watch=1&resourceVersion=120').events()
        self.sim.control('churn', resource='pods', count=11)
        self.assertEqual(list(watch), [])  # ends regularly, without an error

    def test_version_before_the_history_is_gone(self):
        self.sim.control('set', history=10)
        self.sim.put('configmaps', *(config_map(f'm{n}') for n in range(20)))
        (error,) = self.sim.request(f'{MAPS}?watch=1&resourceVersion=105').events()
        self.assertEqual((error['type'], error['object']['code']), ('ERROR', 410))

    def test_watch_list_can_be_forbidden(self):
        self.sim.control('set', watch_list=0)
        answer = self.sim.request(f'{MAPS}?{WATCH_LIST}')
        self.assertEqual(answer.code, 422)
        self.assertIn('WatchList feature gate', answer.json()['message'])


class Control(Case):
    def test_rewind_restores_an_old_state_and_its_version(self):
        self.sim.put('configmaps', *map(config_map, 'abc'))
        watch = self.sim.request(f'{MAPS}?watch=1&resourceVersion=103')
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        self.sim.control('rewind', rv=102)
        self.assertEqual(self.names(self.sim.request(MAPS)), ['a', 'b'])
        with self.assertRaises(Broken):  # watches are closed
            list(watch.events())
        (new,) = self.sim.put('configmaps', config_map('d'))
        self.assertEqual(new['metadata']['resourceVersion'], '103')

    def test_tokens_can_be_changed_at_run_time(self):
        self.assertEqual(self.sim.request(MAPS).code, 200)
        self.sim.control('tokens', set='one,two')
        self.assertEqual([self.sim.request(MAPS).code, self.sim.request(MAPS, Authorization='Bearer two').code], [401, 200])
        self.sim.control('tokens', set='three')
        self.assertEqual(self.sim.request(MAPS, Authorization='Bearer two').code, 401)

    def test_custom_resources_by_name(self):
        self.sim.control('put', {'metadata': {'name': 'w', 'namespace': 'x'}}, resource='gears.example.com/v2', kind='Gear')
        self.sim.control('resource', spec='cogs.example.com/v1=Cog,cluster')
        self.sim.control('put', {'metadata': {'name': 'c'}}, resource='cogs.example.com/v1')
        self.assertEqual(self.names(self.sim.request('/apis/example.com/v2/namespaces/x/gears')), ['w'])
        self.assertEqual(self.names(self.sim.request('/apis/example.com/v1/cogs')), ['c'])

    def test_requests_are_recorded(self):
        self.sim.request(f'{MAPS}?limit=7')
        self.sim.request(f'{MAPS}?watch=1&resourceVersion=100')
        requests = self.sim.control('requests')
        self.assertEqual([(r['verb'], r['target']) for r in requests],
                         [('list', f'{MAPS}?limit=7'), ('watch', f'{MAPS}?watch=1&resourceVersion=100')])
        stats = self.sim.control('stats')
        self.assertEqual((stats['requests'], stats['watches']), (2, {'open': 1, 'opened': 1}))
        self.assertEqual(stats['paths'], {f'list {MAPS}': 1, f'watch {MAPS}': 1})
        self.sim.control('forget')
        self.assertEqual(self.sim.control('stats')['requests'], 0)

    def test_fill_and_churn(self):
        self.sim.control('fill', resource='pods', count=40, bytes=4000, namespaces=4)
        items = self.sim.request('/api/v1/pods').json()['items']
        self.assertEqual({i['metadata']['namespace'] for i in items}, {'ns-00', 'ns-01', 'ns-02', 'ns-03'})
        self.assertTrue(all(3000 < len(json.dumps(i, separators=(',', ':'))) < 5000 for i in items))
        watch = self.sim.request('/api/v1/pods?watch=1&resourceVersion=140').events()
        self.sim.control('churn', resource='pods', count=20, rate=1000)
        types = [next(watch)['type'] for _ in range(20)]
        self.assertEqual(sorted(types), ['ADDED'] * 2 + ['DELETED'] * 2 + ['MODIFIED'] * 16)

    def test_invalid_commands_are_refused(self):
        for target in ('bogus', 'fault?do=bogus', 'fill?resource=bogus', 'rewind?rv=1', 'resource?spec=x', 'tokens'):
            self.assertIn(self.sim.request(f'/kubesim/{target}', 'POST').code, (400, 404), target)

    def test_quit(self):
        self.sim.control('quit')
        self.assertEqual(self.sim.child.wait(DEADLINE), 0)


class CommandLine(Case):
    def test_tls_with_a_kubeconfig(self):
        with Sim('--self-signed', self.folder / 'pki', '--token', 't') as sim:
            self.assertEqual(sim.request('/api/v1/pods', Authorization='Bearer t').code, 200)
            self.assertIn('token: "t"', (self.folder / 'pki/kubeconfig').read_text())
            self.assertEqual(sim.control('stats')['tls']['handshakes'], 2)
            files = self.folder / 'pki'
            with Sim('--tls', files / 'server.crt', files / 'server.key', '--kubeconfig', files / 'second') as other:
                self.assertEqual(other.request('/readyz').body(), b'ok')
                self.assertIn(f'server: {other.ready["url"]}', (files / 'second').read_text())

    def test_script_runs_at_its_times(self):
        script = self.folder / 'script'
        script.write_text('# two faults and an object\n0 fault do=status code=429 retry_after=7\n\n'
                          '20 put resource=configmaps body={"metadata":{"name":"a","namespace":"default"}}\n')
        with Sim('--script', script) as sim:
            first = sim.request(MAPS)
            self.assertEqual((first.code, first.headers['Retry-After']), (429, '7'))
            end = time.monotonic() + DEADLINE
            while not sim.request(MAPS).json()['items']:
                self.assertLess(time.monotonic(), end)

    def test_same_seed_gives_the_same_faults(self):
        def codes(seed):
            with Sim('--seed', seed, '--fault-rate', 50) as sim:
                return [self.outcome(sim) for _ in range(40)]
        first = codes(7)
        self.assertEqual(first, codes(7))
        self.assertNotEqual(first, codes(8))
        self.assertIn(200, first)

    def outcome(self, sim):
        try:
            answer = sim.request(MAPS)
            answer.json()
            return answer.code
        except Exception as error:
            return type(error).__name__

    def test_wrong_usage(self):
        for arguments in (['--bogus'], ['--port', 'x'], ['word'], ['--anonymous', 'maybe'], ['--resource', 'pods']):
            result = subprocess.run([KUBESIM, *arguments], capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual((result.returncode, result.stdout), (64, ''), arguments)
        result = subprocess.run([KUBESIM, '--help'], capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(result.returncode, 0)
        for word in ('--self-signed', 'rewind', 'blackhole'):
            self.assertIn(word, result.stdout)


run(__name__)
