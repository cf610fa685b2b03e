"""The workloads of a cluster, and what people and controllers do to them.

Namespaces of teams hold deployments with services, stateful sets, cron jobs and configuration; every second one has a
ResourceQuota. A daemon set runs on each node. While activity() runs, deployments are rolled out and scaled, pods are
deleted and configuration is edited, in a seeded order; cron jobs start every minute; an operator renews its leadership in
the annotation of a ConfigMap every two seconds, as older controllers do; a GitOps agent writes the time of its last check
into the deployments of one team every minute.
"""
import contextlib
import json
import random
import time

from lib.api import ApiError

from .nodes import now

LEADER = 'control-plane.alpha.kubernetes.io/leader'
CHECKED = 'gitops.example.com/checked-at'
LEADER_EVERY, CHECK_EVERY = 2, 60
STEP_EVERY = 1.5  # seconds between two actions of people
TEAMS = 10
JOBS_PER_MINUTE = 10
RESOURCES = {'requests': {'cpu': '50m', 'memory': '64Mi'}, 'limits': {'memory': '256Mi'}}
QUOTA = {'pods': '2000', 'requests.cpu': '500', 'requests.memory': '1000Gi', 'services': '500', 'configmaps': '500'}


class Workloads:
    def __init__(self, api, nodes, pods, seed):
        self.api, self.random = api, random.Random(seed)
        self.deployments = []  # (namespace, name)
        self.replicas, self.release = {}, {}
        self.stateful, self.size = TEAMS, max(10, (pods - len(nodes.names) - 3 * TEAMS) // 5)

    @property
    def pods(self):
        """The number of pods that run when nothing changes, without those of jobs."""
        return sum(self.replicas.values()) + 3 * self.stateful

    def set_up(self):
        for team in range(TEAMS):
            self.make_team(f'team-{team}', quota=team % 2 == 0)
        for i in range(self.size):
            self.make_deployment(f'team-{i % TEAMS}', f'app-{i:03}', self.random.choice((2, 3, 5, 5, 10)))
        self.create('kube-system', '/apis/apps/v1', 'daemonsets', 'node-agent', {
            'spec': {'selector': {'matchLabels': {'app': 'node-agent'}}, 'template': template('node-agent', 1)}})
        self.create('kube-system', '/api/v1', 'configmaps', 'operator-leader', {})

    def make_team(self, namespace, quota):
        self.api.create('/api/v1/namespaces', {'metadata': {'name': namespace}})
        if quota:
            self.create(namespace, '/api/v1', 'resourcequotas', 'quota', {'spec': {'hard': QUOTA}})
        self.create(namespace, '/api/v1', 'configmaps', 'settings', {'data': {'level': 'info', 'size': '1'}})
        self.create(namespace, '/api/v1', 'secrets', 'credentials', {'stringData': {'password': 'x' * 16}})
        self.create(namespace, '/apis/apps/v1', 'statefulsets', 'store', {'spec': {
            'replicas': 3, 'serviceName': 'store', 'podManagementPolicy': 'Parallel',
            'selector': {'matchLabels': {'app': 'store'}}, 'template': template('store', 1)}})
        for i in range(JOBS_PER_MINUTE // TEAMS):
            pod = template('report', 1)
            pod['spec']['restartPolicy'] = 'Never'
            job = {'spec': {'completions': 1 + i % 3, 'parallelism': 2, 'template': pod}}
            self.create(namespace, '/apis/batch/v1', 'cronjobs', f'report-{i}', {'spec': {
                'schedule': '* * * * *', 'successfulJobsHistoryLimit': 2, 'jobTemplate': job}})

    def make_deployment(self, namespace, name, replicas):
        self.deployments.append((namespace, name))
        self.replicas[namespace, name], self.release[namespace, name] = replicas, 1
        self.create(namespace, '/apis/apps/v1', 'deployments', name, {'spec': {
            'replicas': replicas, 'selector': {'matchLabels': {'app': name}}, 'template': template(name, 1)}})
        self.create(namespace, '/api/v1', 'services', name, {'spec': {
            'selector': {'app': name}, 'ports': [{'name': 'http', 'port': 80}]}})

    def create(self, namespace, group, resource, name, body):
        labels = {'app': name, 'app.kubernetes.io/managed-by': 'gitops', 'team': namespace}
        self.api.create(f'{group}/namespaces/{namespace}/{resource}?fieldManager=kubectl-create',
                        {'metadata': {'name': name, 'labels': labels}, **body})

    # -- what happens

    def activity(self, seconds):
        """Returns the number of actions, after that many seconds."""
        actions = ((self.roll_out, 4), (self.scale, 3), (self.delete_pod, 2), (self.edit_settings, 1))
        kinds, weights = zip(*actions)
        end, count = time.monotonic() + seconds, 0
        leader = checked = step = time.monotonic()
        while (at := time.monotonic()) < end:
            if at >= leader:
                self.renew_leadership()
                leader += LEADER_EVERY
            if at >= checked:
                self.check_sources()
                checked += CHECK_EVERY
            if at >= step:
                with contextlib.suppress(ApiError):  # another component changed the object at the same time
                    self.random.choices(kinds, weights)[0]()
                count += 1
                step = max(step + STEP_EVERY, at)
            time.sleep(max(0.0, min(leader, checked, step) - time.monotonic()))
        return count

    def roll_out(self):
        app = self.random.choice(self.deployments)
        self.release[app] += 1
        image = {'name': 'main', 'image': f'none.invalid/{app[1]}:{self.release[app]}', 'resources': RESOURCES}
        self.patch(app, 'kubectl-set', {'spec': {'template': {'spec': {'containers': [image]}}}})

    def scale(self):
        app = self.random.choice(self.deployments)
        self.replicas[app] = max(1, self.replicas[app] + self.random.choice((-2, -1, 1, 2)))
        self.patch(app, 'kubectl', {'spec': {'replicas': self.replicas[app]}})

    def patch(self, app, manager, change):
        self.api.patch(f'/apis/apps/v1/namespaces/{app[0]}/deployments/{app[1]}?fieldManager={manager}', change)

    def delete_pod(self):
        namespace = f'team-{self.random.randrange(TEAMS)}'
        self.api.delete(f'/api/v1/namespaces/{namespace}/pods/store-{self.random.randrange(3)}', 30)

    def edit_settings(self):
        namespace = f'team-{self.random.randrange(TEAMS)}'
        self.api.patch(f'/api/v1/namespaces/{namespace}/configmaps/settings?fieldManager=kubectl-edit',
                       {'data': {'size': str(self.random.randrange(100))}})

    def renew_leadership(self):
        record = {'holderIdentity': 'operator-0', 'leaseDurationSeconds': 15, 'acquireTime': '2026-01-01T00:00:00Z',
                  'renewTime': now(), 'leaderTransitions': 0}
        self.api.patch('/api/v1/namespaces/kube-system/configmaps/operator-leader?fieldManager=operator',
                       {'metadata': {'annotations': {LEADER: json.dumps(record)}}})

    def check_sources(self):
        for app in self.deployments:
            if app[0] == 'team-0':
                self.patch(app, 'gitops', {'metadata': {'annotations': {CHECKED: now()}}})


def template(app, release):
    labels = {'app': app, 'app.kubernetes.io/name': app}
    container = {'name': 'main', 'image': f'none.invalid/{app}:{release}', 'resources': RESOURCES,
                 'ports': [{'containerPort': 8080}],
                 'env': [{'name': 'NAME', 'value': app}, {'name': 'LEVEL', 'valueFrom': {'configMapKeyRef': {
                     'name': 'settings', 'key': 'level', 'optional': True}}}]}
    return {'metadata': {'labels': labels}, 'spec': {'containers': [container], 'terminationGracePeriodSeconds': 5}}
