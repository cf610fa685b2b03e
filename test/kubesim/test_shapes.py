#!/usr/bin/env python3
"""test_shapes.py KUBESIM RECORDINGS: answers of kubesim have the shape of recorded answers of a real API server.

The recorded objects are put into kubesim and the same request is sent. Both answers must have the same headers and the
same keys in the same order, at all levels. Errors must be equal, including the message.
"""
import json
import sys

sys.dont_write_bytecode = True
from lib import WATCH_LIST, Answer, Case, Recorded, run

METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
LENGTH = ('Content-Length', 'Transfer-Encoding')  # depends on the size


def shape(value):
    """Keys in their order, and the types of their values."""
    if isinstance(value, dict):
        return [(key, shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


def head_shape(answer, sizes=False):
    """The status, and the headers with the values that don't depend on the time."""
    moment = ('Audit-Id', 'Date', 'Content-Length') + tuple(n for n, _ in answer.fields if n.startswith('X-K'))
    fields = [(n, None if n in moment else v) for n, v in answer.fields]
    if not sizes:
        fields = [f if f[0] not in LENGTH else 'length' for f in fields]
    return answer.version, answer.code, answer.phrase, fields


def recorded(name):
    return Answer(Recorded(name))


class Shapes(Case):
    arguments = ('--resource', 'widgets.example.com/v1=Widget')

    def assert_same(self, name, answer, sizes=True):
        """Same head, same keys; returns both bodies."""
        theirs = recorded(name)
        self.assertEqual(head_shape(answer, sizes), head_shape(theirs, sizes))
        ours, theirs = answer.body(), theirs.body()
        self.assertEqual(shape(json.loads(ours)), shape(json.loads(theirs)))
        self.assertEqual(ours[-1:], theirs[-1:])
        return ours, theirs

    def assert_equal(self, name, answer):
        ours, theirs = self.assert_same(name, answer)
        self.assertEqual(ours, theirs)

    def assert_events(self, name, answer, events=None):
        theirs = recorded(name)
        self.assertEqual(head_shape(answer), head_shape(theirs))
        theirs = list(theirs.events())
        ours = []
        for event in events or answer.events():
            ours.append(event)
            if len(ours) == len(theirs):
                break
        self.assertEqual([e['type'] for e in ours], [e['type'] for e in theirs])
        for mine, other in zip(ours, theirs):
            self.assertEqual(shape(mine), shape(other))
        return ours, theirs

    def put_recorded(self, resource, name):
        """Puts the objects of a recorded watch-list into kubesim."""
        self.sim.put(resource, *(e['object'] for e in recorded(name).events() if e['type'] == 'ADDED'))

    # -- lists

    def test_pages_of_a_list(self):
        self.sim.put('configmaps', *recorded('configmaps-list-page1').json()['items'],
                     *recorded('configmaps-list-page2').json()['items'],
                     *({'metadata': {'name': f'cm-7{n}', 'namespace': 'default'}} for n in range(8)))
        ours, _ = self.assert_same('configmaps-list-page1', self.sim.request('/api/v1/namespaces/default/configmaps?limit=3'))
        token = json.loads(ours)['metadata']['continue']
        second = self.sim.request(f'/api/v1/namespaces/default/configmaps?limit=3&continue={token}')
        ours, theirs = self.assert_same('configmaps-list-page2', second)
        self.assertEqual(json.loads(ours)['metadata']['remainingItemCount'],
                         json.loads(theirs)['metadata']['remainingItemCount'])
        self.sim.put('configmaps', {'metadata': {'name': 'new', 'namespace': 'default'}})
        self.sim.control('compact')
        expired = self.sim.request(f'/api/v1/namespaces/default/configmaps?limit=3&continue={token}')
        ours, theirs = self.assert_same('configmaps-list-expired-continue-410', expired)
        self.assertEqual(json.loads(ours)['message'], json.loads(theirs)['message'])

    def test_list_of_a_custom_resource_has_sorted_keys(self):
        self.sim.put('widgets.example.com/v1', *recorded('widgets-list').json()['items'])
        self.assert_same('widgets-list', self.sim.request('/apis/example.com/v1/widgets'))

    def test_list_of_metadata(self):
        self.put_recorded('pods', 'pods-watchlist')
        answer = self.sim.request('/api/v1/pods', Accept=METADATA_LIST)
        self.assert_same('pods-list-metadata', answer)

    def test_large_list_is_compressed(self):
        self.sim.control('fill', resource='configmaps', count=300, bytes=1000)
        answer = self.sim.request('/api/v1/configmaps', Accept_Encoding='gzip')
        self.assertEqual(head_shape(answer), head_shape(recorded('configmaps-list-gzip')))
        self.assertEqual(len(answer.json()['items']), 300)

    # -- watches

    def test_watch_lists(self):
        for resource, path in (('pods', '/api/v1/pods'), ('secrets', '/api/v1/secrets'),
                               ('widgets.example.com/v1', '/apis/example.com/v1/widgets')):
            with self.subTest(resource):
                name = f'{resource.split(".")[0]}-watchlist'
                self.put_recorded(resource, name)
                self.assert_events(name, self.sim.request(f'{path}?{WATCH_LIST}'))

    def test_watch_list_of_metadata(self):
        self.put_recorded('pods', 'pods-watchlist')
        self.assert_events('pods-watchlist-metadata', self.sim.request(f'/api/v1/pods?{WATCH_LIST}', Accept=METADATA))

    def test_events_of_a_pod(self):
        watch = self.sim.request('/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=100')
        history = list(recorded('pods-watch-lifecycle').events())
        for event in history:
            if event['type'] in ('ADDED', 'MODIFIED'):
                self.sim.put('pods', event['object'])
        pod = history[0]['object']['metadata']
        self.sim.control('delete', resource='pods', namespace=pod['namespace'], name=pod['name'])
        self.sim.control('bookmark')
        ours, _ = self.assert_events('pods-watch-lifecycle', watch)
        versions = [int(e['object']['metadata']['resourceVersion']) for e in ours]
        self.assertEqual(versions, [101, 102, 103, 104, 105, 106, 107, 107])

    def test_failed_watch_sends_an_error_event(self):
        ours, theirs = self.assert_events('pods-watch-too-old-410', self.sim.request('/api/v1/pods?watch=1&resourceVersion=2'))
        self.assertEqual(ours[0]['object']['message'], 'too old resource version: 2 (100)')
        answer = self.sim.request(f'/api/v1/pods?{WATCH_LIST}&resourceVersion=999999999')
        ours, theirs = self.assert_events('pods-watchlist-rv-too-large', answer)
        self.assertEqual(ours[0]['object']['message'], theirs[0]['object']['message'].replace('610', '100'))

    # -- errors

    def test_errors_equal_the_recorded_ones(self):
        for name, target in (
                ('list-invalid-rv-400', '/api/v1/pods?resourceVersion=abc'),
                ('pods-list-fieldselector-400', '/api/v1/pods?fieldSelector=spec.bogus%3Dx'),
                ('pods-list-exact-expired-410', '/api/v1/pods?resourceVersion=2&resourceVersionMatch=Exact'),
                ('watch-rvmatch-invalid-422', '/api/v1/pods?watch=true&resourceVersionMatch=NotOlderThan')):
            with self.subTest(name):
                self.assert_equal(name, self.sim.request(target))

    def test_future_version_is_refused(self):
        ours, theirs = self.assert_same('pods-list-rv-too-large', self.sim.request('/api/v1/pods?resourceVersion=999999999'))
        self.assertEqual(ours, theirs.replace(b'610', b'100'))

    def test_unknown_path(self):
        answer, theirs = self.sim.request('/apis/example.com/v1/bogus'), recorded('notfound-404')
        self.assertEqual(head_shape(answer, True), head_shape(theirs, True))
        self.assertEqual(answer.body(), theirs.body())

    # -- discovery

    def test_discovery(self):
        self.assert_same('discovery-api', self.sim.request('/api'))
        ours, theirs = self.sim.request('/version'), recorded('version')
        self.assertEqual(head_shape(ours, True), head_shape(theirs, True))
        self.assertEqual(shape(ours.json()), shape(theirs.json()))

    def test_groups(self):
        ours, theirs = self.sim.request('/apis'), recorded('discovery-apis')
        self.assertEqual(head_shape(ours), head_shape(theirs))
        ours, theirs = ours.json(), theirs.json()
        self.assertEqual(list(ours), list(theirs))
        apps = [g for g in ours['groups'] if g['name'] == 'apps']
        self.assertEqual(apps, [g for g in theirs['groups'] if g['name'] == 'apps'])

    def test_resources_of_a_version(self):
        for name, target in (('discovery-core-v1', '/api/v1'), ('discovery-apps-v1', '/apis/apps/v1'),
                             ('discovery-example', '/apis/example.com/v1')):
            with self.subTest(name):
                ours, theirs = self.sim.request(target), recorded(name)
                self.assertEqual(head_shape(ours), head_shape(theirs))
                ours, theirs = ours.json(), theirs.json()
                self.assertEqual(list(ours), list(theirs))
                known = {r['name']: r for r in theirs['resources']}
                for r in ours['resources']:
                    self.assert_resource(r, known[r['name']])

    def assert_resource(self, ours, theirs):
        """Equal except for the hash, the categories and, for custom resources, the short names."""
        optional = ('storageVersionHash', 'categories') + (() if ours.get('shortNames') else ('shortNames',))
        cut = [{k: v for k, v in r.items() if k not in optional} for r in (ours, theirs)]
        self.assertEqual(*map(list, cut))
        self.assertEqual(*cut)


class Strangers(Case):
    arguments = ('--token', 'right', '--anonymous', 'forbid')

    def test_anonymous_and_wrong_tokens(self):
        for name, headers in (('anonymous-403', {}), ('badtoken-401', {'Authorization': 'Bearer wrong'})):
            with self.subTest(name):
                answer, theirs = self.sim.request('/api/v1/pods', **headers), recorded(name)
                self.assertEqual(head_shape(answer, True), head_shape(theirs, True))
                self.assertEqual(answer.body(), theirs.body())
        self.assertEqual(self.sim.request('/api/v1/pods', Authorization='Bearer right').code, 200)


run(__name__)
