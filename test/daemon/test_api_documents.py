#!/usr/bin/env python3
"""test_api_documents.py KUBESIM RECORDINGS INFORMERD: documents of the API server that the local API passes on, and
columns that it takes from them."""
import hashlib
import json
import unittest

from api_case import TABLE, ApiCase
from service import FULL, run, wait_until

CORE = '/openapi/v3/api/v1'


class Documents(ApiCase):
    def count(self, path):
        """The number of requests for the path that the server has got."""
        return sum(path == r['target'] for r in self.sim.control('requests'))

    def test_the_version_is_that_of_the_server(self):
        self.begin()
        self.assertEqual(self.ask('/version')[1], self.sim.request('/version').json())
        self.ask('/version')
        self.assertEqual(self.count('/version'), 2)  # ours, and one of informerd

    def test_each_cluster_has_its_documents(self):
        self.simulate('other')
        self.begin(clusters=[{'name': n, 'kubeconfig': str(self.folder / k)} for n, k in (('sim', 'kubeconfig'), ('two', 'other'))],
                   watches=[{'resource': 'configmaps', 'cluster': 'sim'}, {'resource': 'pods', 'cluster': 'two'}])
        self.assertEqual(self.ask('/clusters/two/version')[1], self.sim.request('/version').json())
        self.assertEqual(self.count('/version'), 1)  # ours
        self.refused(404, 'NotFound', '/clusters/three/version')
        for prefix in '', '/clusters/two':
            listed = self.ask(prefix + '/openapi/v3')[1]['paths']['api/v1']['serverRelativeURL']
            self.assertTrue(listed.startswith(f'{prefix}{CORE}?hash='), listed)
            status, _, headers = self.ask_raw(listed)
            self.assertEqual(status, 301)
            self.assertEqual(self.ask(headers['Location'])[1], self.sim.request(CORE).json())

    def ask_raw(self, target, **headers):
        """(status, bytes, headers)."""
        connection = self.connect()
        connection.request('GET', target, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def test_schemas_are_passed_through_with_their_hash(self):
        self.begin()
        text = self.sim.request(CORE).body()
        current = hashlib.sha512(text).hexdigest().upper()
        status, body, headers = self.ask_raw(CORE)
        self.assertEqual((status, body, headers['ETag'], headers['Cache-Control']), (200, text, f'"{current}"', 'private, no-cache'))
        self.assertEqual(self.ask_raw(CORE, **{'If-None-Match': f'"{current}"'})[:2], (304, b''))
        self.assertEqual(self.ask_raw(CORE, **{'If-None-Match': '"0"'})[0], 200)
        status, body, headers = self.ask_raw(f'{CORE}?hash={current}')
        self.assertEqual((status, body), (200, text))
        self.assertIn('immutable', headers['Cache-Control'])
        status, _, headers = self.ask_raw(f'{CORE}?hash=0')
        self.assertEqual((status, headers['Location']), (301, f'{CORE}?hash={current}'))
        self.assertEqual(self.count(CORE), 2)  # ours, and one of informerd
        self.assertEqual(self.ask('/openapi/v3')[1], self.sim.request('/openapi/v3').json())
        self.assertEqual(self.ask('/openapi/v3/apis/apps/v1')[1], self.sim.request('/openapi/v3/apis/apps/v1').json())

    def test_what_is_not_passed_through(self):
        self.begin()
        before = len(self.sim.control('requests'))
        for target in '/openapi/v2', '/openapi', '/openapi/v3/%2e%2e/%2e%2e/api/v1/secrets', '/openapi/v3/a%20b', '/openapi/v3/a%3Fb':
            self.refused(404, 'NotFound', target)
        self.refused(406, 'NotAcceptable', CORE, Accept='application/com.github.proto-openapi.spec.v3@v1.0+protobuf')
        self.assertEqual(len(self.sim.control('requests')), before)
        self.assertIn('not found', self.refused(404, 'NotFound', '/openapi/v3/apis/none/v1'))

    def test_failures_of_the_server_are_status_objects(self):
        self.begin()
        self.sim.fault('status', code=403, times=1, path='/version')
        self.refused(403, 'Forbidden', '/version')
        self.sim.fault('status', code=500, times=0, path='/version')
        wait_until(lambda: self.ask('/version')[0] == 503, lambda: self.ask('/version'))
        self.refused(503, 'ServiceUnavailable', '/version')
        self.sim.fault('html', times=0, path='/openapi/v3')
        self.assertIn('something else than a JSON object', self.refused(503, 'ServiceUnavailable', '/openapi/v3'))

    def test_one_slow_document_delays_no_other_request(self):
        self.put('a')
        self.begin()
        self.sim.fault('blackhole', times=1, path=CORE)
        waiting = self.connect()
        waiting.request('GET', CORE)
        self.assertEqual(self.names('/api/v1/configmaps'), ['a'])
        self.assertEqual(self.ask('/version')[0], 200)
        waiting.close()
        self.assertEqual(self.names('/api/v1/configmaps'), ['a'])

    @unittest.skipUnless(FULL, 'waits 10 s')
    def test_a_server_that_hangs_is_504(self):
        self.begin()
        self.sim.fault('blackhole', times=0, path=CORE)
        self.assertIn('did not send', self.refused(504, 'Timeout', CORE))

    def test_a_daemon_stops_while_documents_are_read(self):
        daemon = self.begin()
        self.sim.fault('blackhole', times=0, path='/openapi')
        waiting = [self.connect() for _ in range(3)]
        for i, connection in enumerate(waiting):
            connection.request('GET', f'{CORE}{i}')
        wait_until(lambda: self.count(f'{CORE}2'), 'the requests')
        self.assertEqual(daemon.end(), 0)


WIDGETS = '/apis/example.com/v1/widgets'
DEFINITION = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'


def definition(*columns):
    """The definition of widgets with these columns: (name, type, path)."""
    return {'kind': 'CustomResourceDefinition', 'apiVersion': 'apiextensions.k8s.io/v1',
            'metadata': {'name': 'widgets.example.com'},
            'spec': {'versions': [{'name': 'v1beta1', 'additionalPrinterColumns': [{'name': 'Old', 'type': 'string', 'jsonPath': '.x'}]},
                                  {'name': 'v1', 'additionalPrinterColumns': [
                                      {'name': n, 'type': t, 'jsonPath': p} for n, t, p in columns]}]}}


class Columns(ApiCase):
    arguments = ('--resource', 'widgets.example.com/v1=Widget',
                 '--resource', 'customresourcedefinitions.apiextensions.k8s.io/v1=CustomResourceDefinition,cluster')

    def put_widget(self):
        self.sim.put('widgets.example.com', {'kind': 'Widget', 'apiVersion': 'example.com/v1',
                                             'metadata': {'name': 'w', 'namespace': 'default'}, 'spec': {'size': 3, 'color': 'red'}})

    def define(self, *columns):
        self.sim.control('put', definition(*columns), resource='customresourcedefinitions.apiextensions.k8s.io')

    def begin_widgets(self):
        self.begin(watches=[{'resource': 'widgets.example.com'}, {'resource': 'configmaps'}])

    def table(self, target=WIDGETS):
        """(names of columns, cells of the first row)."""
        answer = self.ask(target, Accept=TABLE)[1]
        return [c['name'] for c in answer['columnDefinitions']], answer['rows'][0]['cells'] if answer['rows'] else None

    def test_custom_resources_have_the_columns_of_their_definition(self):
        self.put_widget()
        self.define(('Size', 'integer', '.spec.size'), ('Color', 'string', '.spec.color'))
        self.begin_widgets()
        watch = self.watch(WIDGETS + '?watch=1', Accept=TABLE)
        first = watch.next()['object']
        self.assertEqual(first['rows'][0]['cells'], ['w', 3, 'red'])
        self.assertEqual([c['name'] for c in first['columnDefinitions']], ['Name', 'Size', 'Color'])
        self.assertEqual(self.table(), (['Name', 'Size', 'Color'], ['w', 3, 'red']))
        self.assertEqual(self.table('/apis/example.com/v1/namespaces/default/widgets/w')[1], ['w', 3, 'red'])
        self.assertEqual(sum(DEFINITION == r['target'] for r in self.sim.control('requests')), 1)

    def test_a_definition_that_can_not_be_read_gives_name_and_age(self):
        self.put_widget()
        self.define(('Size', 'integer', '.spec.size'))
        self.sim.fault('status', code=403, times=0, path='customresourcedefinitions')
        self.begin_widgets()
        self.assertEqual(self.table()[0], ['Name', 'Age'])

    def test_a_definition_without_columns_or_with_unknown_paths_gives_name_and_age(self):
        self.put_widget()
        self.define(('Size', 'integer', '.spec[?'))
        self.begin_widgets()
        self.assertEqual(self.table()[0], ['Name', 'Age'])
        self.assertIn("printer column 'Size'", (self.folder / 'stderr').read_text())

    def test_built_in_printers_are_used_if_the_server_has_the_same_columns(self):
        self.put('a', key='v')
        self.begin(watches=[{'resource': 'configmaps'}, {'resource': 'pods'}])
        for resource in 'pods', 'configmaps':  # kubesim has other columns for the second one
            target = f'/api/v1/{resource}'
            served = self.sim.request(target, Accept=TABLE).json()['columnDefinitions']
            self.assertEqual(self.table(target)[0], [c['name'] for c in served])
        self.assertEqual(self.table('/api/v1/configmaps')[1][0], 'a')

    def test_a_table_request_that_hangs_delays_only_tables(self):
        self.put_widget()
        self.define(('Size', 'integer', '.spec.size'))
        self.sim.fault('blackhole', times=1, path=DEFINITION)
        self.begin_widgets()
        waiting = self.connect()
        waiting.request('GET', WIDGETS, headers={'Accept': TABLE})
        self.assertEqual(self.names(WIDGETS), ['w'])
        answer = json.loads(waiting.getresponse().read())
        self.assertEqual([c['name'] for c in answer['columnDefinitions']], ['Name', 'Age'])


run(__name__)
