"""Simulated nodes: they write what the kubelets of a cluster write, in the same intervals.

A node renews its lease every ten seconds and reports its status every five minutes. A pod that is assigned to a node goes
through the states of a real one (creating, running, ready; for a job: succeeded; after a deletion request: terminated,
deleted), one write each, with the kubelet's events. Of the pods, some fail: a share of them crashes again and again, and
a share of them becomes unready for some seconds from time to time. Which ones depends on their names alone.

One thread watches the pods. Workers take due steps from one schedule.
"""
import contextlib
import heapq
import http.client
import itertools
import json
import random
import threading
import time
import zlib
from datetime import datetime, timezone

from lib.api import ApiError

LEASE_EVERY, STATUS_EVERY = 10, 300  # seconds; the defaults of kubelets
CREATING, STARTING = (0.5, 2), (0.5, 3)  # seconds that a pod stays in these states
JOB_RUNS = (5, 20)
CRASH_EVERY, UNREADY_EVERY = 40, 60
CRASHING, UNREADY = 0.01, 0.02  # shares of pods
WORKERS = 6
SIZE = {'cpu': '32', 'memory': '128Gi', 'pods': '110', 'ephemeral-storage': '200Gi'}
CONDITIONS = (('MemoryPressure', 'False', 'KubeletHasSufficientMemory'), ('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
              ('PIDPressure', 'False', 'KubeletHasSufficientPID'), ('Ready', 'True', 'KubeletReady'))


def now(micro=False):
    text = datetime.now(timezone.utc).isoformat(timespec='microseconds' if micro else 'seconds')
    return text.replace('+00:00', 'Z')


class Schedule:
    """Steps and their due times, taken by several threads."""

    def __init__(self):
        self._due, self._order = [], itertools.count()
        self._changed, self._over = threading.Condition(), False

    def add(self, delay, step, *arguments):
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + delay, next(self._order), step, arguments))
            self._changed.notify()

    def work(self):
        while (taken := self._next()) is not None:
            step, arguments = taken
            try:
                step(*arguments)
            except ApiError as error:
                if error.status not in (404, 409):  # deleted, or changed by another component
                    print(f'realistic: {error}', flush=True)
            except (OSError, http.client.HTTPException) as error:
                print(f'realistic: {error!r}; again', flush=True)
                self.add(1, step, *arguments)

    def end(self):
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _next(self):
        with self._changed:
            while not self._over:
                wait = self._due[0][0] - time.monotonic() if self._due else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._due)[2:]
                self._changed.wait(wait)
        return None


class Nodes:
    def __init__(self, api, count):
        self.api, self.names = api, [f'node-{i:03}' for i in range(count)]
        self.schedule = Schedule()
        self._stages, self._lock = {}, threading.Lock()  # uid: the stage a pod is in
        self._threads = [threading.Thread(target=self.schedule.work, daemon=True) for _ in range(WORKERS)]
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._over, self._addresses = False, itertools.count(1)

    def __enter__(self):
        for name in self.names:
            self.schedule.add(0, self._register, name)
        for thread in (*self._threads, self._watcher):
            thread.start()
        return self

    def __exit__(self, *_):
        self._over = True
        self.schedule.end()
        for thread in self._threads:
            thread.join()

    # -- nodes

    def _register(self, name):
        labels = {'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64',
                  'topology.kubernetes.io/zone': f'zone-{zlib.crc32(name.encode()) % 3}'}
        with contextlib.suppress(ApiError):  # registered before an interruption
            self.api.create('/api/v1/nodes', {'metadata': {'name': name, 'labels': labels}})
        self._report_node(name)
        self.api.patch(f'/api/v1/nodes/{name}', {'spec': {'taints': None}})
        with contextlib.suppress(ApiError):
            self.api.create(f'{LEASES}', {'metadata': {'name': name}, 'spec': {
                'holderIdentity': name, 'leaseDurationSeconds': 40, 'renewTime': now(micro=True)}})
        self.schedule.add(random.uniform(0, LEASE_EVERY), self._renew, name)
        self.schedule.add(random.uniform(0, STATUS_EVERY), self._refresh, name)

    def _renew(self, name):
        self.schedule.add(LEASE_EVERY, self._renew, name)
        self.api.patch(f'{LEASES}/{name}?fieldManager=kubelet', {'spec': {'renewTime': now(micro=True)}})

    def _refresh(self, name):
        self.schedule.add(STATUS_EVERY, self._refresh, name)
        self._report_node(name)

    def _report_node(self, name):
        conditions = [{'type': kind, 'status': status, 'reason': reason, 'message': f'kubelet: {reason}',
                       'lastHeartbeatTime': now(), 'lastTransitionTime': '2026-01-01T00:00:00Z'}
                      for kind, status, reason in CONDITIONS]
        self.api.patch(f'/api/v1/nodes/{name}/status?fieldManager=kubelet', {'status': {
            'capacity': SIZE, 'allocatable': SIZE, 'conditions': conditions,
            'addresses': [{'type': 'Hostname', 'address': name}],
            'nodeInfo': {'kubeletVersion': 'v1.36.4', 'containerRuntimeVersion': 'containerd://2.1.0', 'osImage': 'Debian',
                         'kernelVersion': '6.12', 'operatingSystem': 'linux', 'architecture': 'amd64', 'machineID': name,
                         'systemUUID': name, 'bootID': name, 'kubeProxyVersion': ''}}})

    # -- pods

    def _watch(self):
        """Lists and watches all pods; starts again from a list when the watch ends."""
        while not self._over:
            try:
                listed = self.api.get('/api/v1/pods')
                for pod in listed['items']:
                    self._seen('ADDED', pod)
                version = listed['metadata']['resourceVersion']
                for event in self.api.watch(f'/api/v1/pods?watch=true&resourceVersion={version}'):
                    self._seen(event['type'], event['object'])
            except (OSError, ApiError, http.client.HTTPException, ValueError) as error:
                print(f'realistic: watching pods: {error!r}; again', flush=True)
                time.sleep(1)

    def _seen(self, kind, pod):
        """Starts the life of a pod when it is assigned, and its end when its deletion is requested."""
        if 'nodeName' not in pod.get('spec', {}):
            return
        meta, stage = pod['metadata'], self._stages.get(pod['metadata']['uid'])
        if kind == 'DELETED':
            self._stages.pop(meta['uid'], None)
        elif 'deletionTimestamp' in meta and stage != 'ending':
            self._stages[meta['uid']] = 'ending'
            self.schedule.add(random.uniform(*CREATING), self._terminate, pod)
        elif stage is None and pod['status'].get('phase') == 'Pending':
            self._stages[meta['uid']] = 'living'
            self.schedule.add(0.1, self._create, pod)

    def _create(self, pod):
        self._report(pod, 'Pending', {'waiting': {'reason': 'ContainerCreating'}}, ready=False)
        self.schedule.add(random.uniform(*CREATING), self._start, pod)

    def _start(self, pod):
        address = next(self._addresses)
        pod['ip'] = f'10.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}'
        image = pod['spec']['containers'][0]['image']
        for reason, message in (('Pulled', f'Container image "{image}" already present on machine'),
                                ('Created', 'Container created'), ('Started', 'Container started')):
            self._event(pod, reason, message)
        pod['started'] = now()
        self._report(pod, 'Running', self._running(pod), ready=False)
        if pod['spec']['restartPolicy'] == 'Always':
            self.schedule.add(random.uniform(*STARTING), self._ready, pod)
        else:
            self.schedule.add(random.uniform(*JOB_RUNS), self._succeed, pod)

    def _ready(self, pod):
        if not self._lives(pod):
            return
        self._report(pod, 'Running', self._running(pod), ready=True)
        fate = zlib.crc32(pod['metadata']['name'].encode()) % 10_000 / 10_000
        if fate < CRASHING:
            self.schedule.add(random.uniform(0.5, 1.5) * CRASH_EVERY, self._crash, pod)
        elif fate < CRASHING + UNREADY:
            self.schedule.add(random.uniform(0.5, 1.5) * UNREADY_EVERY, self._lose_readiness, pod)

    def _crash(self, pod):
        if not self._lives(pod):
            return
        pod['restarts'] = pod.get('restarts', 0) + 1
        ended = {'terminated': {'exitCode': 1, 'reason': 'Error', 'startedAt': pod['started'], 'finishedAt': now()}}
        self._report(pod, 'Running', ended, ready=False)
        pod['last'] = ended
        waiting = {'waiting': {'reason': 'CrashLoopBackOff', 'message': 'back-off 10s restarting failed container'}}
        self._report(pod, 'Running', waiting, ready=False)
        self._event(pod, 'BackOff', 'Back-off restarting failed container', 'Warning')
        pod['started'] = now()
        self.schedule.add(10, self._ready, pod)

    def _lose_readiness(self, pod):
        if self._lives(pod):
            self._event(pod, 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503', 'Warning')
            self._report(pod, 'Running', self._running(pod), ready=False)
            self.schedule.add(5, self._ready, pod)

    def _succeed(self, pod):
        ended = {'terminated': {'exitCode': 0, 'reason': 'Completed', 'startedAt': pod['started'], 'finishedAt': now()}}
        self._report(pod, 'Succeeded', ended, ready=False)

    def _terminate(self, pod):
        self._event(pod, 'Killing', 'Stopping container main')
        ended = {'terminated': {'exitCode': 0, 'reason': 'Completed', 'finishedAt': now()}}
        if pod['status']['phase'] == 'Running':
            self._report(pod, 'Running', ended, ready=False)
        self.api.delete(path_of(pod), 0)

    def _lives(self, pod):
        return self._stages.get(pod['metadata']['uid']) == 'living'

    def _running(self, pod):
        return {'running': {'startedAt': pod['started']}}

    def _report(self, pod, phase, state, ready):
        old = {c['type']: c for c in pod['status'].get('conditions', [])}
        good = {'PodReadyToStartContainers': phase != 'Pending', 'Initialized': True, 'Ready': ready,
                'ContainersReady': ready, 'PodScheduled': True}
        conditions = [changed_condition(old.get(kind), kind, status) for kind, status in good.items()]
        spec, pod['status']['conditions'] = pod['spec'], conditions
        container = {'name': spec['containers'][0]['name'], 'image': spec['containers'][0]['image'], 'ready': ready,
                     'imageID': f'sha256:{zlib.crc32(spec["containers"][0]["image"].encode()):064x}',
                     'containerID': f'containerd://{pod["metadata"]["uid"]}', 'started': ready,
                     'restartCount': pod.get('restarts', 0), 'state': state, 'lastState': pod.get('last', {})}
        status = {'phase': phase, 'conditions': conditions, 'containerStatuses': [container], 'hostIP': '192.0.2.1',
                  'startTime': pod.setdefault('since', now()), 'qosClass': 'Burstable'}
        if 'ip' in pod:
            status |= {'podIP': pod['ip'], 'podIPs': [{'ip': pod['ip']}]}
        pod['status'] |= {'phase': phase}
        self.api.patch(f'{path_of(pod)}/status?fieldManager=kubelet', {'status': status})

    def _event(self, pod, reason, message, kind='Normal'):
        meta, at = pod['metadata'], now()
        key = zlib.crc32(f'{reason} {message}'.encode())
        path = f'/api/v1/namespaces/{meta["namespace"]}/events'
        counts = pod.setdefault('events', {})
        counts[key] = counts.get(key, 0) + 1
        name = f'{meta["name"]}.{key:x}'
        if counts[key] > 1:
            self.api.patch(f'{path}/{name}?fieldManager=kubelet', {'count': counts[key], 'lastTimestamp': at})
            return
        self.api.create(f'{path}?fieldManager=kubelet', {
            'metadata': {'name': name}, 'reason': reason, 'message': message, 'type': kind, 'count': 1,
            'firstTimestamp': at, 'lastTimestamp': at, 'reportingComponent': 'kubelet',
            'source': {'component': 'kubelet', 'host': pod['spec']['nodeName']},
            'involvedObject': {'kind': 'Pod', 'apiVersion': 'v1', 'namespace': meta['namespace'], 'name': meta['name'],
                               'uid': meta['uid'], 'fieldPath': 'spec.containers{main}'}})


LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'


def path_of(pod):
    return f'/api/v1/namespaces/{pod["metadata"]["namespace"]}/pods/{pod["metadata"]["name"]}'


def changed_condition(old, kind, good):
    """The condition with its transition time, which changes only with its status."""
    if old and old['status'] == str(good):
        return old
    made = {'type': kind, 'status': str(good), 'lastProbeTime': None, 'lastTransitionTime': now()}
    if not good:
        made |= {'reason': 'ContainersNotReady', 'message': 'containers with unready status: [main]'}
    return made
