#!/usr/bin/env python3
"""test_api.py KUBESIM RECORDINGS INFORMERD: the local API on the Unix socket, in the shapes of kube-apiserver."""
import contextlib
import gzip
import json
import os
import socket

from api_case import AGGREGATED, ApiCase, METADATA, METADATA_LIST, TABLE
from service import UnixHttp, run, wait_until


class Api(ApiCase):
    # ---- requests ----

    def test_refusals_are_status_objects(self):
        self.put('a')
        self.begin()
        self.refused(405, 'MethodNotAllowed', '/api/v1/namespaces/default/configmaps', method='POST', body='{}')
        self.refused(405, 'MethodNotAllowed', '/api/v1/namespaces/default/configmaps/a', method='DELETE')
        self.refused(405, 'MethodNotAllowed', '/api/v1/namespaces/default/configmaps/a/status')
        self.refused(406, 'NotAcceptable', '/api/v1/configmaps', Accept='application/vnd.kubernetes.protobuf')
        self.refused(403, 'Forbidden', '/api/v1/configmaps', **{'Impersonate-User': 'root'})
        self.refused(404, 'NotFound', '/api/v1/pods')
        self.refused(404, 'NotFound', '/apis/apps/v1/deployments')
        self.refused(404, 'NotFound', '/nothing')
        self.refused(403, 'Forbidden', '/api/v1/namespaces/default')
        self.refused(400, 'BadRequest', '/api/v1/configmaps?labelSelector=a%3D%3D%3D')
        self.refused(400, 'BadRequest', '/api/v1/configmaps?resourceVersion=abc')
        self.refused(410, 'Expired', '/api/v1/configmaps?limit=5&continue=abc')
        self.refused(422, 'Invalid', '/api/v1/configmaps?resourceVersionMatch=Exact')
        self.refused(422, 'Invalid', '/api/v1/configmaps?watch=1&resourceVersion=1&resourceVersionMatch=NotOlderThan')
        self.assertEqual(self.refused(404, 'NotFound', '/api/v1/namespaces/default/configmaps/b'), 'configmaps "b" not found')
        self.assertEqual(self.ask('/api/v1/configmaps', Accept='application/vnd.kubernetes.protobuf,application/json')[0], 200)

    def test_a_reader_gets_only_its_watches_and_namespaces(self):
        for namespace in 'default', 'shop':
            self.put('a', namespace)
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'nodes'}, {'resource': 'secrets'}],
                   api={'readers': [{'name': 'ops', 'uid': os.getuid(), 'watches': ['configmaps', 'nodes'],
                                     'namespaces': ['shop']}]})
        self.assertEqual(self.names('/api/v1/namespaces/shop/configmaps'), ['a'])
        for target in ('/api/v1/configmaps', '/api/v1/namespaces/default/configmaps',
                       '/api/v1/namespaces/default/configmaps/a', '/api/v1/configmaps?watch=1',
                       '/api/v1/configmaps?fieldSelector=metadata.namespace%3Ddefault',
                       '/api/v1/namespaces/shop/secrets', '/api/v1/nodes'):
            for accept in 'application/json', TABLE, METADATA_LIST:
                self.assertIn('ops may not read', self.refused(403, 'Forbidden', target, Accept=accept), target)
        self.assertIn('api: denied GET /api/v1/configmaps from uid', (self.folder / 'stderr').read_text())

    def test_a_limited_reader_sees_only_its_resources(self):
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'secrets'}],
                   api={'readers': [{'name': 'ops', 'uid': os.getuid(), 'watches': ['configmaps']}]})
        self.assertEqual([r['name'] for r in self.ask('/api/v1')[1]['resources']], ['configmaps'])
        self.refused(403, 'Forbidden', '/informerd/v1/status')

    def test_a_token_is_that_of_the_user_of_the_socket(self):
        token = self.folder / 'token'
        token.write_text('a-token-of-the-test-0123456789')
        token.chmod(0o600)
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'nodes'}],
                   api={'readers': [{'name': 'low', 'uid': os.getuid(), 'watches': ['nodes']},
                                    {'name': 'high', 'token_file': str(token)}]})
        high = {'Authorization': 'Bearer a-token-of-the-test-0123456789'}
        self.assertEqual(self.ask('/api/v1/configmaps', **high)[0], 200)
        issued = self.ask('/informerd/v1/token', **high)[1]['token']
        self.refused(403, 'Forbidden', '/api/v1/configmaps', Authorization='Bearer ' + issued)

    def test_field_selectors_of_fields_that_are_not_kept_are_refused(self):
        self.put('a', key='v')
        self.begin(watches=[{'resource': 'configmaps', 'drop': ['data.key']}, {'resource': 'nodes', 'keep': 'metadata'}])
        self.assertIn('drop', self.refused(403, 'Forbidden', '/api/v1/configmaps?fieldSelector=data.key%3Dv'))
        self.assertIn('drop', self.refused(403, 'Forbidden', '/api/v1/configmaps?fieldSelector=metadata.name%3Da,data%21%3Dv'))
        self.assertEqual(self.names('/api/v1/configmaps?fieldSelector=metadata.name%3Da,data.keys%21%3Dv'), ['a'])
        self.assertIn('keep: metadata', self.refused(403, 'Forbidden', '/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue',
                                                     Accept=METADATA_LIST))
        self.assertEqual(self.names('/api/v1/nodes?fieldSelector=metadata.name%3Dnone', Accept=METADATA_LIST), [])

    def test_health_has_no_api_over_tcp(self):
        self.put('a')
        self.begin(http={'listen': '127.0.0.1:0'})
        wait_until(lambda: 'http: listening on' in (self.folder / 'stderr').read_text(), lambda: 'the listener')
        place = (self.folder / 'stderr').read_text().split('http: listening on ')[1].split('"')[0].split()[0]
        self.assertEqual(self.get('/livez', place).status, 200)
        self.assertEqual(self.get('/api/v1/configmaps', place).status, 404)

    def test_discovery_has_the_watched_resources(self):
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'nodes'}, {'resource': 'deployments.apps'}])
        self.assertEqual(self.ask('/version')[1]['major'], '1')
        self.assertEqual(self.ask('/api')[1]['versions'], ['v1'])
        core = self.ask('/api/v1')[1]
        self.assertEqual([(r['name'], r['namespaced'], r['kind'], r['singularName']) for r in core['resources']],
                         [('configmaps', True, 'ConfigMap', 'configmap'), ('nodes', False, 'Node', 'node')])
        self.assertEqual([g['name'] for g in self.ask('/apis')[1]['groups']], ['apps'])
        self.assertEqual(self.ask('/apis/apps')[1]['preferredVersion']['groupVersion'], 'apps/v1')
        self.assertEqual(self.ask('/apis/apps/v1')[1]['resources'][0]['name'], 'deployments')
        self.refused(404, 'NotFound', '/apis/batch/v1')

    def test_aggregated_discovery_has_the_version_that_is_accepted(self):
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'deployments.apps'}])
        for version in 'v2', 'v2beta1':
            accept = AGGREGATED.format(version) + ',application/json'
            _, core, headers = self.ask('/api', Accept=accept)
            self.assertEqual(headers['Content-Type'], AGGREGATED.format(version))
            self.assertEqual(core['apiVersion'], f'apidiscovery.k8s.io/{version}')
            self.assertEqual(core['items'][0]['versions'][0]['resources'][0]['resource'], 'configmaps')
            _, groups, _ = self.ask('/apis', Accept=accept)
            self.assertEqual(groups['items'][0]['metadata']['name'], 'apps')
        self.assertEqual(self.ask('/api', Accept=AGGREGATED.format('v3') + ',application/json')[1]['kind'], 'APIVersions')

    # ---- objects ----

    def test_lists_and_objects_equal_the_servers(self):
        for name in 'a', 'b', 'c':
            self.put(name, labels={'app': name}, key=name)
        self.put('d', namespace='other')
        self.begin()
        for target in ('/api/v1/configmaps', '/api/v1/namespaces/default/configmaps', '/api/v1/namespaces/other/configmaps',
                       '/api/v1/namespaces/none/configmaps', '/api/v1/configmaps?labelSelector=app%20in%20(a,c)',
                       '/api/v1/configmaps?fieldSelector=metadata.name%3Db',
                       '/api/v1/configmaps?labelSelector=app&fieldSelector=metadata.name%3Db'):
            served, own = self.sim.request(target).json(), self.ask(target)[1]
            for item in served['items'] + own['items']:
                item['metadata'].pop('managedFields', None)
                item.pop('kind', None)
                item.pop('apiVersion', None)
            self.assertEqual(own, served, target)
        one = self.ask('/api/v1/namespaces/default/configmaps/a')[1]
        self.assertEqual((one['kind'], one['apiVersion'], one['data']), ('ConfigMap', 'v1', {'key': 'a'}))

    def test_metadata_and_tables(self):
        self.put('a', key='value')
        self.begin()
        answer = self.ask('/api/v1/configmaps', Accept=METADATA_LIST)[1]
        self.assertEqual((answer['kind'], answer['apiVersion']), ('PartialObjectMetadataList', 'meta.k8s.io/v1'))
        self.assertEqual(answer['items'][0]['kind'], 'PartialObjectMetadata')
        self.assertNotIn('data', answer['items'][0])
        self.assertEqual(self.ask('/api/v1/namespaces/default/configmaps/a', Accept=METADATA)[1]['kind'], 'PartialObjectMetadata')
        for include, kind in (('', 'PartialObjectMetadata'), ('?includeObject=Object', 'ConfigMap'), ('?includeObject=None', None)):
            table = self.ask('/api/v1/configmaps' + include, Accept=TABLE)[1]
            self.assertEqual(table['kind'], 'Table')
            self.assertEqual(table['columnDefinitions'][0]['name'], 'Name')
            self.assertEqual(table['rows'][0]['cells'][0], 'a')
            self.assertEqual((table['rows'][0].get('object') or {}).get('kind'), kind)

    def test_resource_versions(self):
        self.put('a')
        self.begin()
        now = int(self.version_of_cache())
        for query in ('resourceVersion=0', 'resourceVersion=1', f'resourceVersion={now}&resourceVersionMatch=Exact',
                      f'resourceVersion={now}&limit=1', 'limit=1'):
            self.assertEqual(self.names('/api/v1/configmaps?' + query), ['a'], query)
        self.refused(410, 'Expired', '/api/v1/configmaps?resourceVersion=1&resourceVersionMatch=Exact')
        self.refused(504, 'Timeout', '/api/v1/configmaps?resourceVersion=999999')
        self.refused(504, 'Timeout', '/api/v1/namespaces/default/configmaps/a?resourceVersion=999999')
        written = now + 1
        self.put('b')
        self.assertIn('b', self.names(f'/api/v1/configmaps?resourceVersion={written}'))

    def test_a_copy_that_is_not_synced_is_429(self):
        for verb in 'list', 'watchlist':
            self.sim.fault('status', code=500, times=0, verb=verb, path='configmaps')
        self.start(self.conf(watches=[{'resource': 'widgets.v1.none.example', 'optional': True}, {'resource': 'configmaps'}]))
        wait_until(self.is_live, lambda: 'the socket')
        self.refused(429, 'TooManyRequests', '/api/v1/configmaps')
        self.assertEqual(self.ask('/api/v1/configmaps')[2]['Retry-After'], '1')
        wait_until(lambda: self.ask('/apis/none.example/v1/widgets')[0] == 404,
                   lambda: self.ask('/apis/none.example/v1/widgets'))

    def test_restricted_watches_say_so(self):
        self.put('a', labels={'app': 'web'})
        self.put('b', namespace='other', labels={'app': 'web'})
        self.begin(watches=[{'resource': 'configmaps', 'label_selector': 'app=web', 'namespaces': ['default']},
                            {'resource': 'secrets'}, {'resource': 'nodes', 'keep': 'metadata'}])
        self.assertIn('app=web', self.refused(403, 'Forbidden', '/api/v1/namespaces/default/configmaps'))
        self.assertEqual(self.names('/api/v1/namespaces/default/configmaps?labelSelector=app%3Dweb,x%21%3D1'), ['a'])
        self.assertIn('default', self.refused(403, 'Forbidden', '/api/v1/configmaps?labelSelector=app%3Dweb'))
        self.refused(403, 'Forbidden', '/api/v1/namespaces/other/configmaps')
        self.assertIn('reveal', self.refused(403, 'Forbidden', '/api/v1/secrets'))
        self.assertEqual(self.ask('/api/v1/secrets', Accept=TABLE)[0], 200)
        self.assertIn('metadata', self.refused(403, 'Forbidden', '/api/v1/nodes'))
        self.assertEqual(self.ask('/api/v1/nodes', Accept=METADATA_LIST)[0], 200)

    def test_freshness_is_in_the_headers(self):
        self.put('a')
        self.begin()
        headers = self.ask('/api/v1/configmaps')[2]
        self.assertEqual(headers['Informerd-State'], 'live')
        self.assertGreaterEqual(int(headers['Age']), 0)
        self.assertNotIn('Warning', headers)

    # ---- watches ----

    def test_a_watch_list_ends_with_a_bookmark_and_continues(self):
        self.put('a')
        self.begin()
        watch = self.watch('/api/v1/configmaps?watch=1&sendInitialEvents=true&allowWatchBookmarks=true'
                           '&resourceVersionMatch=NotOlderThan')
        self.assertEqual(watch.take(1), [('ADDED', 'a')])
        bookmark = watch.next()
        self.assertEqual(bookmark['type'], 'BOOKMARK')
        self.assertEqual(bookmark['object']['metadata']['annotations'], {'k8s.io/initial-events-end': 'true'})
        self.assertEqual(bookmark['object']['metadata']['resourceVersion'], self.version_of_cache())
        self.put('b')
        self.put('b', key='1')
        self.delete('b')
        self.assertEqual(watch.take(3), [('ADDED', 'b'), ('MODIFIED', 'b'), ('DELETED', 'b')])

    def test_a_watch_continues_from_a_version(self):
        self.put('a')
        self.begin()
        version = self.version_of_cache()
        self.put('b')
        self.delete('a')
        self.assertEqual(self.watch(f'/api/v1/configmaps?watch=1&resourceVersion={version}').take(2),
                         [('ADDED', 'b'), ('DELETED', 'a')])
        error = self.watch('/api/v1/configmaps?watch=1&resourceVersion=1')
        event = error.next()
        self.assertEqual((event['type'], event['object']['code'], event['object']['reason']), ('ERROR', 410, 'Expired'))
        self.assertIsNone(error.next())
        error = self.watch('/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
                           '&resourceVersion=99999999').next()
        self.assertEqual((error['type'], error['object']['code']), ('ERROR', 504))

    def test_a_watch_with_a_selector_sees_objects_enter_and_leave(self):
        self.put('a', labels={'app': 'web'})
        self.begin()
        version = self.version_of_cache()
        watch = self.watch(f'/api/v1/namespaces/default/configmaps?watch=1&resourceVersion={version}&labelSelector=app%3Dweb')
        self.put('b', namespace='other', labels={'app': 'web'})
        self.put('c', labels={'app': 'db'})
        self.put('c', labels={'app': 'web'}, key='1')
        self.put('c', labels={'app': 'web'}, key='2')
        self.put('c', labels={'app': 'db'}, key='3')
        self.delete('c')
        self.delete('a')
        events = [watch.next() for _ in range(4)]
        self.assertEqual([(e['type'], e['object']['metadata']['name']) for e in events],
                         [('ADDED', 'c'), ('MODIFIED', 'c'), ('DELETED', 'c'), ('DELETED', 'a')])
        left = events[2]['object']
        self.assertEqual((left['data'], left['metadata']['labels']), ({'key': '2'}, {'app': 'web'}))
        self.assertGreater(int(left['metadata']['resourceVersion']), int(events[1]['object']['metadata']['resourceVersion']))

    def test_forms_of_watch_events(self):
        self.put('a')
        self.begin()
        metadata = self.watch('/api/v1/configmaps?watch=1', Accept=METADATA)
        self.assertEqual(metadata.next()['object']['kind'], 'PartialObjectMetadata')
        table = self.watch('/api/v1/configmaps?watch=1', Accept=TABLE)
        self.assertEqual(table.next()['object']['columnDefinitions'][0]['name'], 'Name')
        self.put('b')
        later = table.next()['object']
        self.assertEqual((later['kind'], later['columnDefinitions'], later['rows'][0]['cells'][0]), ('Table', None, 'b'))

    def test_a_watch_from_an_old_version_has_other_lines_than_a_current_one(self):
        self.sim.control('fill', resource='configmaps', count=100, bytes=3000)
        self.begin()
        version = self.version_of_cache()
        target = f'/api/v1/configmaps?watch=1&resourceVersion={version}'
        current = self.watch(target)
        self.sim.control('churn', resource='configmaps', count=1000)
        names = [name for _, name in current.take(1000)]
        old = self.watch(target + '&includeObject=Object', Accept=TABLE)
        rows = [old.next()['object']['rows'][0] for _ in range(1000)]
        self.assertEqual([row['object']['metadata']['name'] for row in rows], names)

    def test_a_server_that_goes_back_ends_watches(self):
        self.put('a')
        before = self.sim.request('/api/v1/configmaps').json()['metadata']['resourceVersion']
        for name in 'bcde':
            self.put(name)
        self.begin()
        watch = self.watch(f'/api/v1/configmaps?watch=1&resourceVersion={self.version_of_cache()}')
        self.sim.control('rewind', rv=before)
        event = watch.next()
        self.assertEqual((event['type'], event['object']['code']), ('ERROR', 410))

    def test_head_of_a_watch_does_not_wait(self):
        self.begin()
        with contextlib.closing(UnixHttp(self.socket)) as connection:
            for method, target in (('HEAD', '/api/v1/configmaps?watch=1'), ('GET', '/livez')):
                connection.request(method, target)
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.read()), (200, b'' if method == 'HEAD' else b'ok\n'))

    def test_a_watch_ends_after_its_timeout(self):
        self.put('a')
        self.begin()
        watch = self.watch('/api/v1/configmaps?watch=1&timeoutSeconds=1')
        self.assertEqual(watch.take(1), [('ADDED', 'a')])
        self.assertIsNone(watch.next())

    def test_watches_see_a_relist_as_changes(self):
        self.put('a')
        self.put('b')
        self.begin()
        watch = self.watch(f'/api/v1/configmaps?watch=1&resourceVersion={self.version_of_cache()}')
        self.sim.control('close', how='cut')
        self.delete('a')
        self.put('c')
        self.sim.control('compact')
        self.assertEqual(sorted(watch.take(2)), [('ADDED', 'c'), ('DELETED', 'a')])

    # ---- size ----

    def test_a_long_list_has_one_version_while_objects_change(self):
        count = 3000
        self.sim.control('fill', resource='configmaps', count=count, bytes=3000, namespaces=5)
        self.begin(cache='compact')
        sock = socket.socket(socket.AF_UNIX)
        self.stack.callback(sock.close)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(str(self.socket))
        sock.sendall(b'GET /api/v1/configmaps HTTP/1.0\r\n\r\n')
        text = sock.recv(1000)
        self.sim.control('churn', resource='configmaps', count=500)
        wait_until(lambda: int(self.version_of_cache('/api/v1/configmaps?limit=1&labelSelector=none')) >= count + 500,
                   lambda: 'the changes')
        while piece := sock.recv(1 << 20):
            text += piece
        answer = json.loads(text.split(b'\r\n\r\n', 1)[1])
        version = int(answer['metadata']['resourceVersion'])
        keys = [(i['metadata']['namespace'] + '/' + i['metadata']['name']) for i in answer['items']]
        self.assertEqual(len(keys), count)
        self.assertEqual(keys, sorted(keys))
        self.assertLessEqual(max(int(i['metadata']['resourceVersion']) for i in answer['items']), version)

    def test_a_slow_watch_ends_with_410_and_others_do_not_wait(self):
        self.sim.control('fill', resource='configmaps', count=100, bytes=3000)
        self.begin(api={'history': 100})
        version = self.version_of_cache()
        slow = socket.socket(socket.AF_UNIX)
        self.stack.callback(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(str(self.socket))
        slow.sendall(f'GET /api/v1/configmaps?watch=1&resourceVersion={version} HTTP/1.0\r\n\r\n'.encode())
        slow.recv(10)
        quick = self.watch(f'/api/v1/configmaps?watch=1&resourceVersion={version}')
        for _ in range(20):
            self.sim.control('churn', resource='configmaps', count=50)
            quick.take(50)
        text = b''
        while piece := slow.recv(1 << 20):
            text += piece
        last = json.loads(text.splitlines()[-1])
        self.assertEqual((last['type'], last['object']['code']), ('ERROR', 410))

    def test_the_memory_of_recent_changes_counts_in_the_backlog(self):
        self.put('a')
        self.begin()
        self.assertEqual(self.names('/api/v1/configmaps'), ['a'])
        for _ in range(20):
            self.put('a', key='x' * 10000)
        wait_until(lambda: self.metrics()['informerd_backlog_bytes'] > 100 * 1000, lambda: self.metrics()['informerd_backlog_bytes'])

    # ---- compression ----

    def fetch(self, target, **headers):
        """(Content-Encoding, the decompressed body)."""
        connection = self.connect()
        connection.request('GET', target, headers={'Accept-Encoding': 'gzip', **headers})
        answer = connection.getresponse()
        encoding, body = answer.headers['Content-Encoding'], answer.read()
        return encoding, gzip.decompress(body) if encoding else body

    def test_large_answers_are_compressed(self):
        self.sim.control('fill', resource='configmaps', count=200, bytes=3000)
        self.put('large', key='x' * 300000)
        self.put('small')
        self.begin(api={'gzip': 'always'})
        objects = '/api/v1/namespaces/default/configmaps/'
        for target, encoding in (('/api/v1/configmaps', 'gzip'), (objects + 'large', 'gzip'), (objects + 'small', None),
                                 ('/api/v1/configmaps?fieldSelector=metadata.name%3Dsmall', None), ('/version', None)):
            plain = self.fetch(target, **{'Accept-Encoding': 'identity'})
            self.assertEqual(plain[0], None)
            self.assertEqual(self.fetch(target), (encoding, plain[1]), target)
            self.assertEqual(self.fetch(target, **{'Accept-Encoding': 'gzip;q=0, br'})[0], None)
        self.assertEqual(self.fetch('/api/v1/configmaps', Accept=TABLE)[0], None)  # less than 128 KB
        watch = self.watch('/api/v1/configmaps?watch=1', **{'Accept-Encoding': 'gzip'})
        self.assertIsNone(watch.answer.headers['Content-Encoding'])
        self.assertEqual(watch.next()['type'], 'ADDED')

    def test_clients_of_this_host_get_no_compression_unless_configured(self):
        self.put('large', key='x' * 300000)
        self.begin()
        self.assertEqual(self.fetch('/api/v1/configmaps')[0], None)

    def test_more_compressed_lists_than_the_limit(self):
        self.sim.control('fill', resource='configmaps', count=300, bytes=3000)
        self.begin(api={'gzip': 'always'})
        waiting = [self.connect() for _ in range(40)]
        for connection in waiting:
            connection.request('GET', '/api/v1/configmaps', headers={'Accept-Encoding': 'gzip'})
        for connection in waiting:
            answer = connection.getresponse()
            body = answer.read()
            if answer.headers['Content-Encoding']:
                body = gzip.decompress(body)
            self.assertEqual(len(json.loads(body)['items']), 300)
        self.assertEqual(self.fetch('/api/v1/configmaps')[0], 'gzip')


run(__name__)
