#!/usr/bin/env python3
"""test_demo.py KUBESIM RECORDINGS: the cluster of --demo behaves like a real one."""
import collections
import sys
import time
import unittest

sys.dont_write_bytecode = True
from lib import DEADLINE, FULL, Recorded, Answer, Sim, run

START = 100  # the version before the first
PODS, EVENTS, NODES = '/api/v1/pods', '/api/v1/events', '/api/v1/nodes'
DEPLOYMENTS, SETS, JOBS = '/apis/apps/v1/deployments', '/apis/apps/v1/replicasets', '/apis/batch/v1/jobs'

# Allowed next states of a pod; 'gone' is its DELETED event.
LEGAL = {
    None: {'new', 'ready'},  # ready: created before the start
    'new': {'scheduled', 'dying'},
    'scheduled': {'creating', 'dying'},
    'creating': {'running', 'dying'},
    'running': {'ready', 'crashed', 'done', 'dying'},
    'ready': {'crashed', 'dying'},
    'crashed': {'running', 'backoff', 'dying'},
    'backoff': {'running', 'dying'},
    'done': {'dying'},
    'dying': {'stopped', 'gone'},
    'stopped': {'gone'},
}


def items(sim, path):
    return sim.request(path).json()['items']


def events_of(sim, path):
    """All events of a resource since the start."""
    return list(sim.request(f'{path}?watch=1&resourceVersion={START}&timeoutSeconds=1').events())


def wait_for(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, 'timed out'
        time.sleep(0.05)


def owner(thing):
    return thing['metadata']['ownerReferences'][0]


def state_of(pod):
    """The state of a pod, from its status."""
    if 'deletionTimestamp' in pod['metadata']:
        return 'stopped' if pod['status']['phase'] == 'Succeeded' and owner(pod)['kind'] != 'Job' else 'dying'
    if 'containerStatuses' not in pod['status']:
        return 'scheduled' if 'nodeName' in pod['spec'] else 'new'
    container = pod['status']['containerStatuses'][0]
    (name, detail), = container['state'].items()
    if name == 'running':
        return 'ready' if container['ready'] else 'running'
    return {'ContainerCreating': 'creating', 'CrashLoopBackOff': 'backoff', 'Error': 'crashed',
            'Completed': 'done'}[detail['reason']]


def count_jobs(sim):
    return sum('Job completed' == event['message'] for event in items(sim, EVENTS))


class World(unittest.TestCase):
    """One long run of a cluster in which each kind of change happens."""

    @classmethod
    def setUpClass(cls):
        with Sim('--demo', '--seed', 7, '--pace', 1000) as sim:
            wanted = {'Scheduled', 'Pulled', 'Started', 'Killing', 'BackOff', 'ScalingReplicaSet', 'Completed',
                      'NodeNotSchedulable', 'NodeSchedulable', 'Rebooted'}
            wait_for(lambda: wanted <= {event['reason'] for event in items(sim, EVENTS)})
            wait_for(lambda: count_jobs(sim) > 5)
            cls.events = {path: events_of(sim, path) for path in (PODS, DEPLOYMENTS, NODES, '/api/v1/secrets',
                                                                '/api/v1/configmaps')}

    def by_name(self, path):
        lives = collections.defaultdict(list)
        for event in self.events[path]:
            meta = event['object']['metadata']
            lives[meta.get('namespace'), meta['name']].append(event)
        return lives

    def test_pod_states_follow_the_allowed_order(self):
        seen = set()
        for name, life in self.by_name(PODS).items():
            last = None
            for event in life:
                state = 'gone' if event['type'] == 'DELETED' else state_of(event['object'])
                if state != last:
                    self.assertIn(state, LEGAL[last], f'{name}: {last} -> {state}')
                last = state
                seen.add(state)
        self.assertEqual(seen, {state for after in LEGAL.values() for state in after})

    def test_restarts_count_one_by_one(self):
        for life in self.by_name(PODS).values():
            counts = [c['restartCount'] for e in life for c in e['object']['status'].get('containerStatuses', [])]
            self.assertTrue(all(b - a in (0, 1) for a, b in zip(counts, counts[1:])), counts)

    def test_pod_stays_on_its_node_which_was_schedulable(self):
        changes = sorted(self.events[PODS] + self.events[NODES], key=lambda e: int(e['object']['metadata']['resourceVersion']))
        closed, bound = set(), {}
        for thing in (event['object'] for event in changes):
            name = thing['metadata']['name']
            if thing['kind'] == 'Node':
                (closed.add if thing['spec'].get('unschedulable') else closed.discard)(name)
            elif 'nodeName' in thing['spec']:
                node = thing['spec']['nodeName']
                self.assertTrue(name in bound or node not in closed, f'{name} was bound to {node}')
                self.assertEqual(bound.setdefault(name, node), node)

    def test_deployment_status_is_consistent_and_generation_never_decreases(self):
        rolled = 0
        for life in self.by_name(DEPLOYMENTS).values():
            seen = 0
            for deployment in (event['object'] for event in life):
                status, generation = deployment['status'], deployment['metadata']['generation']
                if not status:
                    continue
                self.assertTrue(seen <= status['observedGeneration'] <= generation)
                seen = status['observedGeneration']
                self.assertLessEqual(status['readyReplicas'], status['replicas'])
                self.assertLessEqual(status['updatedReplicas'], status['replicas'])
                self.assertLessEqual(status['replicas'], 6)
            rolled += int(deployment['metadata']['annotations']['deployment.kubernetes.io/revision']) > 1
        self.assertGreater(rolled, 1)

    def test_nodes_are_drained_and_return(self):
        def look(event):
            node = event['object']
            ready = next(c for c in node['status']['conditions'] if c['type'] == 'Ready')['status']
            return ready, 'unschedulable' in node['spec'], 'taints' in node['spec']
        drained = 0
        for life in self.by_name(NODES).values():
            looks = [look(e) for e in life]
            steps = [b for a, b in zip([None, *looks], looks) if a != b]
            cycle = [('True', False, False), ('True', True, False), ('True', True, True), ('False', True, True),
                     ('True', True, True), ('True', False, True)]
            self.assertEqual(steps, (cycle * len(steps))[:len(steps)])
            drained += len(steps) > len(cycle)
        self.assertGreater(drained, 0)

    def test_secrets_and_configmaps_change(self):
        for path in ('/api/v1/secrets', '/api/v1/configmaps'):
            for event in self.events[path]:
                self.assertTrue(event['object']['data'])
            self.assertIn('MODIFIED', {event['type'] for event in self.events[path]})


class Shapes(unittest.TestCase):
    def test_pod_has_the_members_of_a_recorded_pod(self):
        recorded = {}
        for event in Answer(Recorded('pods-watch-lifecycle')).events():
            pod = event['object']
            if event['type'] != 'BOOKMARK' and pod['status'].get('podIP'):
                recorded = recorded or pod
        with Sim('--demo') as sim:
            ours = items(sim, PODS)[0]
        for part in ('metadata', 'spec', 'status'):
            self.assertLessEqual(set(recorded[part]), set(ours[part]), part)
        for part in ('containerStatuses', 'conditions'):
            self.assertLessEqual(set(recorded['status'][part][0]), set(ours['status'][part][0]), part)
        self.assertLessEqual(set(recorded['metadata']['managedFields'][0]), set(ours['metadata']['managedFields'][0]))
        self.assertEqual([f['manager'] for f in ours['metadata']['managedFields']], ['kube-controller-manager', 'kubelet'])


class LongRuns(unittest.TestCase):
    def test_number_of_objects_stays_bounded(self):
        with Sim('--demo', '--seed', 3, '--pace', 5000) as sim:
            last = 'invoices-29713460'  # hours later: events have expired, deployments were rolled out many times
            wait_for(lambda: any(last <= job['metadata']['name'] for job in items(sim, JOBS)))
            pods, sets, jobs = items(sim, PODS), items(sim, SETS), items(sim, JOBS)
            self.assertLessEqual(len(pods), 5 * 6 + 4)
            self.assertLessEqual(len(sets), 5 * 4)
            self.assertLessEqual(len(jobs), 4)
            self.assertLessEqual(len(items(sim, EVENTS)), 6000)
            self.assertGreater(int(items(sim, DEPLOYMENTS)[0]['metadata']['annotations']['deployment.kubernetes.io/revision']), 3)

    def test_owner_of_every_pod_exists(self):
        with Sim('--demo', '--seed', 5, '--pace', 500) as sim:
            wait_for(lambda: count_jobs(sim) > 5)
            version = sim.request(f'{PODS}?limit=1').json()['metadata']['resourceVersion']
            at = f'?resourceVersion={version}&resourceVersionMatch=Exact'  # one consistent version
            uids = {item['metadata']['uid'] for path in (SETS, JOBS, DEPLOYMENTS) for item in items(sim, path + at)}
            for thing in items(sim, PODS + at) + items(sim, SETS + at):
                self.assertIn(owner(thing)['uid'], uids, thing['metadata']['name'])


class Stops(unittest.TestCase):
    def test_stops_while_a_job_runs(self):
        """At the end of a stop, Sim checks the exit status: a sanitizer's report changes it. No client can see the exact
        moment (the job's controller is about to act), so several seeds are stopped near it."""
        for seed in range(1, 9 if FULL else 3):
            with self.subTest(seed=seed), Sim('--demo', '--seed', seed, '--pace', 1000) as sim:
                jobs = sim.request(f'{JOBS}?watch=1&resourceVersion={START}').events()
                self.assertTrue(any(event['object']['status'].get('active') for event in jobs))


class Seeds(unittest.TestCase):
    def first(self, seed):
        """The first events, without times and uids."""
        with Sim('--demo', '--seed', seed, '--pace', 1000) as sim:
            wait_for(lambda: count_jobs(sim) > 1)
            events = events_of(sim, PODS)[:60]
        return [(e['type'], e['object']['metadata']['name'], e['object']['metadata']['resourceVersion']) for e in events]

    def test_same_seed_gives_the_same_events(self):
        self.assertEqual(self.first(11), self.first(11))
        self.assertNotEqual(self.first(11), self.first(12))


run(__name__)
