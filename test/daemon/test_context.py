#!/usr/bin/env python3
"""test_context.py KUBESIM RECORDINGS INFORMERD: questions that the context of records answers."""
from service import CHANGES, Case, run


def controlled_by(kind, name, uid, api_version='apps/v1'):
    return [{'apiVersion': api_version, 'kind': kind, 'name': name, 'uid': uid, 'controller': True}]


def pod(name, node, app, owners=()):
    return {'apiVersion': 'v1', 'kind': 'Pod',
            'metadata': {'name': name, 'namespace': 'shop', 'ownerReferences': list(owners),
                         'labels': {'app': app, 'pod-template-hash': '7d9c'}},
            'spec': {'nodeName': node, 'containers': [{'name': 'main', 'image': f'{app}:1'}]},
            'status': {'phase': 'Running'}}


class Questions(Case):
    """Issue 16: records contain labels, owner, workload and node of an object, and the last state of a deleted one."""

    def begin(self, *watches, **log):
        self.start(self.conf(watches=[{'resource': r} for r in ('pods', *watches)],
                             event_logs=[{'path': str(self.path), **log}]))
        self.wait_ready()

    def replica_set(self, name, **metadata):
        """Returns its uid."""
        self.sim.put('replicasets.apps', {'apiVersion': 'apps/v1', 'kind': 'ReplicaSet',
                                          'metadata': {'name': name, 'namespace': 'shop', **metadata}})
        return self.sim.request(f'/apis/apps/v1/namespaces/shop/replicasets/{name}').json()['metadata']['uid']

    def delete(self, name, resource='pods'):
        self.sim.control('delete', resource=resource, namespace='shop', name=name)

    def deleted(self, name):
        def found(records):
            return [r for r in records if r['type'] == 'DELETED' and r['name'] == name]
        self.log.wait_for(found, f'{name} deleted')
        return found(self.log.records)[0]

    def test_deleted_pods_of_a_node_with_their_owner(self):
        owner = controlled_by('ReplicaSet', 'web-7d9c', 'u-9')
        self.sim.put('pods', pod('web-a', 'node-1', 'web', owner), pod('web-b', 'node-2', 'web', owner),
                     pod('bare', 'node-1', 'bare'))
        self.begin()
        for name in ('web-a', 'web-b', 'bare'):
            self.delete(name)
            self.deleted(name)
        found = {r['name']: (r.get('owner', {}).get('name'), r.get('workload'))
                 for r in self.log.records if r['type'] == 'DELETED' and r.get('node') == 'node-1'}
        self.assertEqual(found, {'web-a': ('web-7d9c', {'kind': 'Deployment', 'name': 'web'}), 'bare': (None, None)})

    def test_everything_about_a_label(self):
        self.sim.put('pods', pod('web-a', 'node-1', 'web'), pod('db-a', 'node-1', 'db'))
        self.replica_set('web-7d9c', labels={'app': 'web'})
        self.begin('replicasets.apps')
        changed = pod('web-a', 'node-1', 'web')
        changed['status']['phase'] = 'Failed'
        self.sim.put('pods', changed)
        self.delete('web-a')
        self.deleted('web-a')
        found = sorted((r['kind'], r['type']) for r in self.log.records
                       if r['type'] in CHANGES and r.get('labels', {}).get('app') == 'web')
        self.assertEqual(found, [('Pod', 'ADDED'), ('Pod', 'DELETED'), ('Pod', 'MODIFIED'), ('ReplicaSet', 'ADDED')])

    def test_the_workload_is_found_in_the_watch_of_its_owner(self):
        alone = self.replica_set('web-7d9c')
        owned = self.replica_set('odd', ownerReferences=controlled_by('Rollout', 'front', 'u-8', 'argoproj.io/v1alpha1'))
        self.begin('replicasets.apps')
        self.sim.put('pods', pod('a', 'node-1', 'web', controlled_by('ReplicaSet', 'web-7d9c', alone)),
                     pod('b', 'node-1', 'web', controlled_by('ReplicaSet', 'odd', owned)),
                     pod('c', 'node-1', 'web', controlled_by('ReplicaSet', 'web-7d9c', 'another uid')))
        self.log.wait_for(lambda records: any(r.get('name') == 'c' for r in records), 'c')
        found = {r['name']: f"{r['workload']['kind']}/{r['workload']['name']}"
                 for r in self.log.records if r.get('kind') == 'Pod'}
        self.assertEqual(found, {'a': 'ReplicaSet/web-7d9c', 'b': 'Rollout/front', 'c': 'Deployment/web'})

    def test_a_deleted_object_is_logged_with_its_last_state(self):
        self.sim.put('pods', pod('web-a', 'node-1', 'web'))
        self.begin()
        self.delete('web-a')
        gone = self.deleted('web-a')
        self.assertEqual(gone['object']['spec']['containers'][0]['image'], 'web:1')
        self.assertFalse([r for r in self.log.records if r['type'] == 'ADDED' and 'object' in r])

    def test_the_conf_chooses_context_fields_and_objects(self):
        self.sim.put('pods', pod('web-a', 'node-1', 'web', controlled_by('ReplicaSet', 'web-7d9c', 'u-9')))
        self.begin(context=['node'], object_verbs=['ADDED'],
                   fields={'image': 'spec.containers[*].image', 'phase': 'status.phase', 'ip': 'status.podIP'})
        self.delete('web-a')
        gone = self.deleted('web-a')
        added = next(r for r in self.log.records if r['type'] == 'ADDED')
        self.assertEqual(gone['fields'], {'image': ['web:1'], 'phase': 'Running'})
        self.assertEqual(gone['node'], 'node-1')
        self.assertFalse({'labels', 'owner', 'workload', 'object'} & set(gone))
        self.assertEqual(added['object']['metadata']['name'], 'web-a')


run(__name__)
