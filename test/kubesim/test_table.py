#!/usr/bin/env python3
"""test_table.py KUBESIM RECORDINGS: answers for kubectl (as=Table): columns, cells, rows of lists, watches and objects."""
import fnmatch
import shutil
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
from lib import WATCH_LIST, Case, Sim, config_map, run

TABLE = ('application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,'
         'application/json')
PODS = '/api/v1/namespaces/default/pods'
KUBECTL = shutil.which('kubectl')


def ago(seconds):
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() - seconds))


def container(ready=False, restarts=0, last=None, **state):
    return {'name': 'c', 'ready': ready, 'restartCount': restarts, 'state': state, 'lastState': last or {}}


def pod(name, *containers, phase='Running', status=None, init=(), **metadata):
    return {'metadata': {'name': name, 'namespace': 'default', **metadata},
            'spec': {'containers': [{'name': f'c{n}'} for n in range(max(1, len(containers)))],
                     'initContainers': [{'name': f'i{n}'} for n in range(len(init))]},
            'status': {'phase': phase, 'containerStatuses': list(containers),
                       'initContainerStatuses': list(init), **(status or {})}}


class Tables(Case):
    arguments = ('--resource', 'widgets.example.com/v1=Widget')

    def table(self, target):
        answer = self.sim.request(target, Accept=TABLE)
        self.assertEqual(answer.code, 200)
        table = answer.json()
        self.assertEqual((table['kind'], table['apiVersion']), ('Table', 'meta.k8s.io/v1'))
        return table

    def rows(self, target, columns):
        """The cells of these columns, row by row."""
        table = self.table(target)
        names = [c['name'] for c in table['columnDefinitions']]
        for row in table['rows']:
            self.assertEqual(len(row['cells']), len(names))
        return [[row['cells'][names.index(c)] for c in columns] for row in table['rows']]

    def test_columns_are_those_of_the_api_server(self):
        for path, plain, wide in (
                ('/api/v1/pods', ['Name', 'Ready', 'Status', 'Restarts', 'Age'],
                 ['IP', 'Node', 'Nominated Node', 'Readiness Gates']),
                ('/apis/apps/v1/deployments', ['Name', 'Ready', 'Up-to-date', 'Available', 'Age'],
                 ['Containers', 'Images', 'Selector']),
                ('/api/v1/nodes', ['Name', 'Status', 'Roles', 'Age', 'Version'],
                 ['Internal-IP', 'External-IP', 'OS-Image', 'Kernel-Version', 'Container-Runtime']),
                ('/apis/batch/v1/jobs', ['Name', 'Status', 'Completions', 'Duration', 'Age'],
                 ['Containers', 'Images', 'Selector']),
                ('/api/v1/events', ['Last Seen', 'Type', 'Reason', 'Object', 'Message'],
                 ['Subobject', 'Source', 'First Seen', 'Count', 'Name']),
                ('/api/v1/secrets', ['Name', 'Age'], []),
                ('/apis/example.com/v1/widgets', ['Name', 'Age'], [])):
            with self.subTest(path):
                table = self.table(path)
                columns = table['columnDefinitions']
                self.assertEqual([c['name'] for c in columns if not c['priority']], plain)
                self.assertEqual([c['name'] for c in columns if c['priority']], wide)
                self.assertEqual([c['name'] for c in columns if c['format'] == 'name'], ['Name'])
                self.assertEqual(table['rows'], [])

    def test_status_of_pods(self):
        running = {'startedAt': ago(1)}
        crashed = {'terminated': {'exitCode': 1, 'reason': 'Error', 'finishedAt': ago(905)}}
        cases = (
            ('running', ['1/1', 'Running', '0'], [container(True, running=running)], {}),
            ('half', ['1/2', 'CrashLoopBackOff', '3 (15m ago)'],
             [container(restarts=3, last=crashed, waiting={'reason': 'CrashLoopBackOff'}),
              container(True, running=running)], {}),
            ('failed', ['0/1', 'Error', '0'], [container(terminated={'exitCode': 1, 'reason': 'Error'})], {}),
            ('code', ['0/1', 'ExitCode:3', '0'], [container(terminated={'exitCode': 3})], {}),
            ('signal', ['0/1', 'Signal:9', '0'], [container(terminated={'exitCode': 137, 'signal': 9})], {}),
            ('done', ['0/1', 'Completed', '0'],
             [container(terminated={'exitCode': 0, 'reason': 'Completed'})], {'phase': 'Succeeded'}),
            ('partly-done', ['1/2', 'NotReady', '0'],
             [container(terminated={'exitCode': 0, 'reason': 'Completed'}), container(True, running=running)], {}),
            ('new', ['0/1', 'Pending', '0'], [], {'phase': 'Pending'}),
            ('evicted', ['0/1', 'Evicted', '0'], [], {'phase': 'Failed', 'status': {'reason': 'Evicted'}}),
            ('init', ['0/1', 'Init:1/2', '0'], [container(waiting={'reason': 'PodInitializing'})],
             {'phase': 'Pending', 'init': [container(terminated={'exitCode': 0}), container(running=running)]}),
            ('init-failed', ['0/1', 'Init:Error', '2'], [container(waiting={'reason': 'PodInitializing'})],
             {'phase': 'Pending', 'init': [container(restarts=2, terminated={'exitCode': 1, 'reason': 'Error'})]}),
            ('leaving', ['1/1', 'Terminating', '0'], [container(True, running=running)],
             {'deletionTimestamp': ago(1)}),
            ('lost', ['1/1', 'Unknown', '0'], [container(True, running=running)],
             {'deletionTimestamp': ago(1), 'status': {'reason': 'NodeLost'}}),
        )
        for name, _, containers, more in cases:
            self.sim.put('pods', pod(name, *containers, **more))
        found = {name: cells for name, *cells in self.rows(PODS, ['Name', 'Ready', 'Status', 'Restarts'])}
        self.assertEqual(found, {name: cells for name, cells, *_ in cases})

    def test_durations(self):
        """Far enough from the next value for a slow machine."""
        day = 24 * 3600
        for since, text in ((-90, '<invalid>'), (10, '1?s'), (301, '5m?s'), (605, '10m'), (3 * 3600 + 5, '3h'),
                            (3 * 3600 + 125, '3h2m'), (9 * 3600, '9h'), (47 * 3600, '47h'), (2 * day, '2d'),
                            (2 * day + 3600, '2d1h'), (9 * day, '9d'), (800 * day, '2y70d'), (9 * 365 * day, '9y')):
            self.sim.put('events', {'metadata': {'name': 'e', 'namespace': 'default'}, 'involvedObject': {},
                                    'lastTimestamp': ago(since)})
            (found,), = self.rows('/api/v1/events', ['Last Seen'])
            self.assertTrue(fnmatch.fnmatchcase(found, text), (since, found))

    def test_cells_of_other_kinds(self):
        meta = {'namespace': 'default'}
        template = {'spec': {'containers': [{'name': 'a', 'image': 'x:1'}, {'name': 'b', 'image': 'y:2'}]}}
        self.sim.put('deployments.apps', {
            'metadata': {'name': 'web', **meta},
            'spec': {'replicas': 3, 'template': template, 'selector': {'matchLabels': {'app': 'web', 'tier': 'f'}}},
            'status': {'readyReplicas': 1, 'updatedReplicas': 2, 'availableReplicas': 1}})
        self.assertEqual(self.rows('/apis/apps/v1/deployments',
                                   ['Name', 'Ready', 'Up-to-date', 'Available', 'Containers', 'Images', 'Selector']),
                         [['web', '1/3', 2, 1, 'a,b', 'x:1,y:2', 'app=web,tier=f']])
        for node in ({'metadata': {'name': 'n1', 'labels': {'node-role.kubernetes.io/control-plane': ''}},
                      'spec': {'unschedulable': True},
                      'status': {'conditions': [{'type': 'Ready', 'status': 'True'}],
                                 'addresses': [{'type': 'InternalIP', 'address': '10.0.0.1'}],
                                 'nodeInfo': {'kubeletVersion': 'v1.34.1'}}},
                     {'metadata': {'name': 'n2'}, 'status': {'conditions': [{'type': 'Ready', 'status': 'Unknown'}]}},
                     {'metadata': {'name': 'n3'}}):
            self.sim.control('put', node, resource='nodes')
        self.assertEqual(self.rows('/api/v1/nodes', ['Name', 'Status', 'Roles', 'Version', 'Internal-IP', 'External-IP']),
                         [['n1', 'Ready,SchedulingDisabled', 'control-plane', 'v1.34.1', '10.0.0.1', '<none>'],
                          ['n2', 'NotReady', '<none>', '', '<none>', '<none>'],
                          ['n3', 'Unknown', '<none>', '', '<none>', '<none>']])
        self.sim.put('jobs.batch',
                     {'metadata': {'name': 'done', **meta}, 'spec': {'completions': 2},
                      'status': {'succeeded': 2, 'startTime': ago(60), 'completionTime': ago(30),
                                 'conditions': [{'type': 'Complete', 'status': 'True'}]}},
                     {'metadata': {'name': 'new', **meta}, 'spec': {'parallelism': 3}})
        self.assertEqual(self.rows('/apis/batch/v1/jobs', ['Name', 'Status', 'Completions', 'Duration', 'Selector']),
                         [['done', 'Complete', '2/2', '30s', '<none>'], ['new', 'Running', '0/1 of 3', '', '<none>']])
        self.sim.put('events', {'metadata': {'name': 'e', **meta}, 'type': 'Warning', 'reason': 'BackOff', 'count': 4,
                                'message': 'back-off', 'source': {'component': 'kubelet', 'host': 'n1'},
                                'involvedObject': {'kind': 'Pod', 'name': 'p', 'fieldPath': 'spec.containers{c}'}})
        self.assertEqual(self.rows('/api/v1/events', ['Last Seen', 'Type', 'Reason', 'Object', 'Subobject', 'Source',
                                                      'Message', 'Count', 'Name']),
                         [['<unknown>', 'Warning', 'BackOff', 'pod/p', 'spec.containers{c}', 'kubelet, n1', 'back-off',
                           4, 'e']])

    def test_include_object(self):
        self.sim.put('configmaps', config_map('a'))
        path = '/api/v1/configmaps?includeObject='
        self.assertNotIn('object', self.table(path + 'None')['rows'][0])
        whole = self.table(path + 'Object')['rows'][0]['object']
        self.assertEqual((whole['kind'], whole['data']), ('ConfigMap', {'k': 'a'}))
        for target in ('/api/v1/configmaps', path + 'Metadata'):
            part = self.table(target)['rows'][0]['object']
            self.assertEqual((part['kind'], part['metadata']['namespace']), ('PartialObjectMetadata', 'default'))
            self.assertNotIn('data', part)
        self.assertEqual(self.sim.request(path + 'All', Accept=TABLE).code, 400)

    def test_pages_and_single_objects(self):
        self.sim.put('configmaps', *map(config_map, 'abc'))
        first = self.table('/api/v1/configmaps?limit=2')
        self.assertEqual([row['cells'][0] for row in first['rows']], ['a', 'b'])
        second = self.table(f'/api/v1/configmaps?limit=2&continue={first["metadata"]["continue"]}')
        self.assertEqual([row['cells'][0] for row in second['rows']], ['c'])
        one = self.table('/api/v1/namespaces/default/configmaps/b')
        self.assertEqual([row['cells'][0] for row in one['rows']], ['b'])
        self.assertTrue(one['columnDefinitions'])

    def test_only_the_first_event_of_a_watch_has_columns(self):
        self.sim.put('configmaps', *map(config_map, 'ab'))
        events = self.sim.request(f'/api/v1/configmaps?{WATCH_LIST}', Accept=TABLE).events()
        first, second, end = next(events), next(events), next(events)
        self.sim.control('delete', resource='configmaps', namespace='default', name='a')
        deleted = next(events)
        self.assertEqual([e['type'] for e in (first, second, end, deleted)], ['ADDED', 'ADDED', 'BOOKMARK', 'DELETED'])
        self.assertEqual([bool(e['object']['columnDefinitions']) for e in (first, second, end, deleted)],
                         [True, False, False, False])
        self.assertEqual([e['object']['rows'][0]['cells'][0] for e in (first, second, deleted)], ['a', 'b', 'a'])
        self.assertEqual(end['object']['rows'][0]['object']['metadata']['annotations'],
                         {'k8s.io/initial-events-end': 'true'})
        self.assertEqual(deleted['object']['metadata']['resourceVersion'],
                         deleted['object']['rows'][0]['object']['metadata']['resourceVersion'])


class Kubeconfig(Case):
    arguments = ('--self-signed', 'FOLDER')

    def token(self):
        line, = (line for line in (self.folder / 'kubeconfig').read_text().splitlines() if 'token' in line)
        return line.split('"')[1]

    def test_generated_token_is_accepted_and_others_are_not(self):
        for token, code in ((self.token(), 200), ('x' + self.token(), 401)):
            self.assertEqual(self.sim.request('/api/v1/pods', Authorization=f'Bearer {token}').code, code)
        with Sim('--self-signed', self.folder / 'other') as other:
            self.assertEqual(other.request('/api/v1/pods', Authorization=f'Bearer {self.token()}').code, 401)

    @unittest.skipUnless(KUBECTL, 'no kubectl')
    def test_kubectl_shows_pods(self):
        self.sim.put('pods', pod('web', container(True, restarts=2, running={'startedAt': ago(1)})))
        command = [KUBECTL, '--kubeconfig', self.folder / 'kubeconfig', '--cache-dir', self.folder / 'cache']
        done = subprocess.run([*command, 'get', 'pods', '-A'], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.stderr, '')
        head, row = (line.split() for line in done.stdout.splitlines())
        self.assertEqual(head, ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'])
        self.assertEqual(row[:5], ['default', 'web', '1/1', 'Running', '2'])


run(__name__)
