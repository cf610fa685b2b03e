"""A scripted incident in a small cluster, for the questions of the README: a bad image is rolled out, and rolled back.

Each step is one write, and waits until the log has it. The records are therefore the same in every run, except for times,
uids and versions. The objects have what the components of a cluster write: owners, labels, managedFields.
"""

OLD, NEW = '6f7d9c5b8', '75c9f4d66'  # hashes of the two pod templates of the deployment web


class Writer:
    """Writes objects with managedFields. The times in them are one second apart."""

    def __init__(self, sim, log):
        self.sim, self.log, self.second = sim, log, 0

    def write(self, resource, thing, manager, subresource=None, paths=()):
        """`manager` writes the object; `paths` are the top-level fields that it owns."""
        meta = thing['metadata']
        entries = {(e['manager'], e.get('subresource')): e for e in meta.get('managedFields', [])}
        self.second += 1
        entry = {'manager': manager, 'operation': 'Update', 'apiVersion': thing['apiVersion'],
                 'time': f'2026-11-16T12:{self.second // 60:02}:{self.second % 60:02}Z', 'fieldsType': 'FieldsV1',
                 'fieldsV1': {f'f:{path}': {} for path in paths}}
        if subresource:
            entry['subresource'] = subresource
        entries[manager, subresource] = entry
        meta['managedFields'] = list(entries.values())
        where = {'namespace': meta['namespace']} if 'namespace' in meta else {}
        stored = self.sim.control('put', thing, resource=resource, **where)
        meta['uid'] = stored['metadata']['uid']
        version = stored['metadata']['resourceVersion']
        self.log.wait_for(lambda records: any(r.get('rv') == version for r in records), f'version {version}')
        return thing

    def delete(self, resource, thing):
        meta = thing['metadata']
        self.sim.control('delete', resource=resource, namespace=meta['namespace'], name=meta['name'])
        self.log.wait_for(lambda records: any(r['type'] == 'DELETED' and r['uid'] == meta['uid'] for r in records),
                          f'{meta["name"]} deleted')


class Incident:
    def __init__(self, sim, log):
        self.sim, self.writer = sim, Writer(sim, log)
        self.pods = {}

    def play(self):
        self.set_up()
        self.roll_out()
        self.crash()
        self.change_settings()
        self.roll_back()

    def set_up(self):
        for name in ('node-1', 'node-2'):
            self.writer.write('nodes', thing('Node', name, status={'conditions': [
                {'type': 'Ready', 'status': 'True', 'reason': 'KubeletReady'}]}), 'kubelet', 'status', ['status'])
        self.settings = self.writer.write('configmaps', thing('ConfigMap', 'rates', 'billing', data={'vat': '19'}),
                                          'kubectl-create', None, ['data'])
        self.web = self.writer.write('deployments.apps', deployment(), 'kubectl-create', None, ['spec'])
        self.old = self.replica_set(OLD)
        self.add_pod(self.old, OLD, 'x7k2p', 'node-1', 'web:1.4')
        self.add_pod(self.old, OLD, '9qz4m', 'node-2', 'web:1.4')

    def roll_out(self):
        self.set_image('web:1.5', 'kubectl-set')
        self.new = self.replica_set(NEW)
        self.add_pod(self.new, NEW, 'l4t8d', 'node-1', 'web:1.5')
        self.delete_pod('x7k2p')

    def crash(self):
        pod = self.pods['l4t8d']
        for restarts in (1, 2):
            self.container(pod, restarts, {'waiting': {'reason': 'CrashLoopBackOff',
                                                       'message': 'back-off 10s restarting failed container'}},
                           last={'terminated': {'exitCode': 1, 'reason': 'Error'}})
            self.event(pod, 'BackOff', f'Back-off restarting failed container web, attempt {restarts}', 'kubelet')
        waiting = thing('Pod', 'report-28391', 'billing', labels={'app': 'report'}, status={'phase': 'Pending'})
        self.writer.write('pods', waiting, 'kube-controller-manager', None, ['spec'])
        self.event(waiting, 'FailedScheduling', '0/2 nodes are available: 2 Insufficient memory.', 'default-scheduler')

    def change_settings(self):
        self.settings['data'] = {'vat': '20'}
        self.writer.write('configmaps', self.settings, 'kubectl-edit', None, ['data'])

    def roll_back(self):
        self.set_image('web:1.4', 'kubectl-rollout')
        self.delete_pod('l4t8d')

    # -- parts

    def set_image(self, image, manager):
        self.web['spec']['template']['spec']['containers'][0]['image'] = image
        self.web['metadata']['generation'] += 1
        self.writer.write('deployments.apps', self.web, manager, None, ['spec'])

    def replica_set(self, pod_hash):
        made = thing('ReplicaSet', f'web-{pod_hash}', 'shop', labels={'app': 'web'}, owner=self.web)
        return self.writer.write('replicasets.apps', made, 'kube-controller-manager', None, ['spec'])

    def add_pod(self, owner, pod_hash, suffix, node, image):
        pod = thing('Pod', f'web-{pod_hash}-{suffix}', 'shop', labels={'app': 'web', 'pod-template-hash': pod_hash},
                    owner=owner, spec={'containers': [{'name': 'web', 'image': image}]}, status={'phase': 'Pending'})
        self.pods[suffix] = self.writer.write('pods', pod, 'kube-controller-manager', None, ['spec'])
        pod['spec']['nodeName'] = node
        self.writer.write('pods', pod, 'kube-scheduler', 'binding', ['spec'])
        pod['status']['phase'] = 'Running'
        self.container(pod, 0, {'running': {'startedAt': '2026-11-16T12:00:00Z'}})

    def container(self, pod, restarts, state, last=None):
        status = {'name': 'web', 'image': pod['spec']['containers'][0]['image'], 'ready': 'running' in state,
                  'restartCount': restarts, 'state': state}
        if last:
            status['lastState'] = last
        pod['status']['containerStatuses'] = [status]
        self.writer.write('pods', pod, 'kubelet', 'status', ['status'])

    def delete_pod(self, suffix):
        self.writer.delete('pods', self.pods.pop(suffix))

    def event(self, about, reason, message, component):
        meta = about['metadata']
        involved = {'kind': about['kind'], 'apiVersion': about['apiVersion'], 'uid': meta['uid'],
                    'namespace': meta['namespace'], 'name': meta['name']}
        made = thing('Event', f'{meta["name"]}.{self.writer.second:x}', meta['namespace'], involvedObject=involved,
                     reason=reason, message=message, type='Warning', count=1,
                     lastTimestamp='2026-11-16T12:00:00Z', source={'component': component})
        self.writer.write('events', made, component)


def thing(kind, name, namespace=None, labels=None, owner=None, **more):
    group = 'apps/v1' if kind in ('Deployment', 'ReplicaSet') else 'v1'
    meta = {'name': name}
    if namespace:
        meta['namespace'] = namespace
    if labels:
        meta['labels'] = labels
    if owner:
        meta['ownerReferences'] = [{'apiVersion': 'apps/v1', 'kind': owner['kind'], 'controller': True,
                                    'name': owner['metadata']['name'], 'uid': owner['metadata']['uid']}]
    return {'apiVersion': group, 'kind': kind, 'metadata': meta, **more}


def deployment():
    made = thing('Deployment', 'web', 'shop', labels={'app': 'web'}, spec={
        'replicas': 2, 'template': {'spec': {'containers': [{'name': 'web', 'image': 'web:1.4'}]}}})
    made['metadata']['generation'] = 1
    return made
