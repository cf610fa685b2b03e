#!/usr/bin/env python3
"""test_indexes.py KUBESIM RECORDINGS INFORMERD: objects of the copies by the indexes of the configuration."""
import json
import os
import urllib.parse

from service import Case, UnixHttp, config_map, run


class Indexes(Case):
    def begin(self, **changes):
        self.sim.put('pods', *(
            {'metadata': {'namespace': ns, 'name': name, 'labels': {'app': app}}, 'spec': {'nodeName': node, 'containers': []}}
            for ns, name, app, node in (('shop', 'web-0', 'web', 'node-1'), ('shop', 'db-0', 'db', 'node-1'),
                                        ('default', 'web-1', 'web', 'node-1'), ('shop', 'web-2', 'web', 'node-2'))))
        self.sim.put('configmaps', {**config_map('odd'), 'data': {'k': 'a/b,c=d\\e f%'}}, config_map('even'))
        self.start(self.conf(**{'watches': [{'resource': 'pods', 'indexes': {'node': 'spec.nodeName'}},
                                            {'resource': 'configmaps', 'name': 'maps', 'indexes': {'k': 'data.k'}}], **changes}))
        self.wait_ready()

    def names(self, index, value, **parameters):
        answer = self.get(f'/informerd/v1/indexes/{index}/{urllib.parse.quote(value, safe="")}?{urllib.parse.urlencode(parameters)}')
        self.assertEqual(answer.status, 200, answer.text)
        return [item['metadata']['name'] for item in json.loads(answer.text)['items']]

    def refused(self, path):
        answer = self.get(path)
        return answer.status, json.loads(answer.text)['message']

    def test_objects_by_value(self):
        self.begin()
        self.assertEqual(self.names('node', 'node-1'), ['web-1', 'db-0', 'web-0'])
        self.assertEqual(self.names('node', 'node-1', namespace='shop'), ['db-0', 'web-0'])
        self.assertEqual(self.names('node', 'node-1', namespace='shop', labelSelector='app=db'), ['db-0'])
        self.assertEqual(self.names('node', 'node-9'), [])
        self.assertEqual(self.names('k', 'a/b,c=d\\e f%', watch='maps'), ['odd'])
        full = json.loads(self.get('/informerd/v1/indexes/node/node-2').text)
        self.assertEqual((full['kind'], full['items'][0]['spec']['nodeName']), ('PodList', 'node-2'))
        self.assertEqual(json.loads(self.get('/informerd/v1/indexes').text)['indexes'],
                         [{'index': 'node', 'watch': 'pods', 'path': 'spec.nodeName'}, {'index': 'k', 'watch': 'maps', 'path': 'data.k'}])

    def test_forms(self):
        self.begin()
        for kind, accept in (('PartialObjectMetadataList', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'),
                             ('PodList', 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'),
                             ('PodList', 'application/json;as =Table;v=v1;g=meta.k8s.io,application/json')):
            connection = UnixHttp(self.socket)
            self.stack.callback(connection.close)
            connection.request('GET', '/informerd/v1/indexes/node/node-2', headers={'Accept': accept})
            self.assertEqual(json.loads(connection.getresponse().read())['kind'], kind)

    def test_refusals(self):
        self.begin(watches=[{'resource': r, 'indexes': {'name': 'metadata.name'}} for r in ('pods', 'configmaps')])
        self.assertEqual(self.refused('/informerd/v1/indexes/node/x'),
                         (404, 'there is no index "node"; see `indexes` in the configuration'))
        self.assertEqual(self.refused('/informerd/v1/indexes/node/x?watch=pods'),
                         (404, 'the watch "pods" has no index "node"; see `indexes` in the configuration'))
        self.assertEqual(self.refused('/informerd/v1/indexes/name')[0], 404)
        for wrong in ('', 'shop/pods', '../shop'):
            self.assertEqual(self.refused(f'/informerd/v1/indexes/name/web-0?watch=pods&namespace={wrong}'),
                             (400, f"namespace: '{wrong}' can't be the name of a namespace"))
        status, message = self.refused('/informerd/v1/indexes/name/web-0')
        self.assertEqual((status, message), (400, 'the watches "pods" and "configmaps" have an index "name"; '
                                                  'choose one with the parameter watch'))
        self.assertEqual(self.names('name', 'web-0', watch='pods'), ['web-0'])

    def test_limits_of_readers(self):
        self.begin(api={'readers': [{'name': 'own', 'uid': os.geteuid(), 'watches': ['pods'], 'namespaces': ['shop']}]})
        self.assertEqual(self.refused('/informerd/v1/indexes/k/even')[0], 404)
        self.assertEqual(self.refused('/informerd/v1/indexes/node/node-1')[0], 403)
        self.assertEqual(self.refused('/informerd/v1/indexes/node/node-1?namespace=default')[0], 403)
        self.assertEqual(self.names('node', 'node-1', namespace='shop'), ['db-0', 'web-0'])
        self.assertEqual([i['watch'] for i in json.loads(self.get('/informerd/v1/indexes').text)['indexes']], ['pods'])


run(__name__)
