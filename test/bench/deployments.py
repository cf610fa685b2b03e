"""Pods that differ as those of a real cluster do: many deployments with their own images, env, volumes, probes and ids.

One template per deployment, in the form that replay_pods.c reads; pods of a deployment differ in names, ids, addresses,
nodes and times. One template for all pods would flatter every compression. The same seed gives the same texts.
"""
import json
import random

COMPACT = (',', ':')
RESTARTS = 100  # marks a placeholder, which is not valid JSON in place of a number
CONTAINER_IDS = 'xyz'  # letters of placeholders for hexadecimal digits: replay_pods.c
TEAMS = 'storefront payments search identity logistics media growth platform data-eng fraud crm billing'.split()
WORDS = ('cart catalog checkout order invoice ledger quote pricing stock shipment parcel courier profile session token consent '
         'review rating feed banner coupon loyalty refund payout risk rule score graph ranker suggest crawl image video thumb '
         'mail sms push webhook audit export import report metric quota tenant partner contract').split()
ROLES = 'api web worker consumer gateway scheduler indexer cache sync proxy admin exporter'.split()
ENV = ('LOG_LEVEL DB_HOST DB_NAME DB_POOL_SIZE CACHE_URL KAFKA_BROKERS KAFKA_GROUP_ID OTEL_EXPORTER_OTLP_ENDPOINT '
       'OTEL_SERVICE_NAME FEATURE_FLAGS REGION TENANT_MODE HTTP_TIMEOUT_MS MAX_CONNECTIONS GOMAXPROCS JAVA_TOOL_OPTIONS '
       'SENTRY_ENVIRONMENT S3_BUCKET RATE_LIMIT UPSTREAM_URL AUTH_ISSUER RETRY_BUDGET WORKER_THREADS QUEUE_NAME').split()
SIDECARS = (('istio-proxy', 'registry.example.com/mesh/proxyv2', 15090), ('vault-agent', 'registry.example.com/security/vault', 8200),
            ('fluent-bit', 'registry.example.com/logging/fluent-bit', 2020), ('oauth2-proxy', 'registry.example.com/identity/oauth2-proxy', 4180))


class Deployment:
    def __init__(self, number, seed=17):
        self.random = random.Random(f'{seed}/{number}')
        self.number, self.version = number, self.semver()
        self.team = self.random.choice(TEAMS)
        self.name = f'{self.random.choice(WORDS)}-{self.random.choice(WORDS)}-{self.random.choice(ROLES)}'
        self.hash = self.suffix(9 + number % 2)
        self.main = self.name.rsplit('-', 1)[1]
        self.containers = [self.container()] + [self.sidecar(*s) for s in self.random.sample(SIDECARS, number % 3)]
        self.migrates = number % 4 == 0

    def semver(self):
        return '.'.join(str(self.random.randrange(n)) for n in (9, 40, 20))

    def suffix(self, length):
        return ''.join(self.random.choices('bcdfghjklmnpqrstvwxz2456789', k=length))

    def hex(self, length):
        return f'{self.random.getrandbits(4 * length):0{length}x}'

    def uid(self):
        text = self.hex(32)
        return '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))

    # ---- spec ----

    def setting(self, name):
        if name.endswith(('URL', 'ENDPOINT', 'ISSUER')):
            return f'https://{self.random.choice(WORDS)}.{self.team}.svc.cluster.local:{self.random.randrange(1024, 9999)}/{self.suffix(4)}'
        if name.endswith(('HOST', 'BROKERS')):
            return f'{self.random.choice(WORDS)}-{self.random.randrange(9)}.{self.team}.svc.cluster.local'
        if name.endswith(('FLAGS', 'OPTIONS')):
            return ','.join(f'{self.random.choice(WORDS)}-{self.random.choice(ROLES)}' for _ in range(self.random.randrange(2, 6)))
        if name.endswith(('NAME', 'ID', 'BUCKET', 'MODE', 'ENVIRONMENT', 'REGION', 'LEVEL')):
            return f'{self.random.choice(WORDS)}-{self.random.choice(WORDS)}'
        return str(self.random.randrange(1, 5000))

    def env(self):
        entries = [{'name': name, 'valueFrom': {'fieldRef': {'apiVersion': 'v1', 'fieldPath': path}}}
                   for name, path in (('POD_NAME', 'metadata.name'), ('POD_IP', 'status.podIP'))]
        entries += [{'name': name, 'value': self.setting(name)} for name in self.random.sample(ENV, self.random.randrange(12, 20))]
        secret = f'{self.name}-credentials'
        entries += [{'name': f'{self.random.choice(WORDS).upper()}_{kind}', 'valueFrom': {'secretKeyRef': {'name': secret, 'key': kind.lower()}}}
                    for kind in self.random.sample(('PASSWORD', 'API_KEY', 'DSN', 'TOKEN'), self.random.randrange(1, 4))]
        return entries

    def probe(self, port):
        return {'httpGet': {'path': self.random.choice(('/healthz', '/livez', '/ready', '/actuator/health', '/-/healthy', '/status')),
                            'port': port, 'scheme': 'HTTP'},
                'initialDelaySeconds': self.random.randrange(1, 60), 'timeoutSeconds': self.random.randrange(1, 9),
                'periodSeconds': self.random.choice((5, 10, 15, 30)), 'successThreshold': 1,
                'failureThreshold': self.random.randrange(2, 9)}

    def resources(self):
        cpu, memory = self.random.choice((50, 100, 250, 500, 1000)), self.random.choice((64, 128, 256, 512, 1024, 3072))
        return {'limits': {'cpu': f'{cpu * 2}m', 'memory': f'{memory * 2}Mi'}, 'requests': {'cpu': f'{cpu}m', 'memory': f'{memory}Mi'}}

    def mounts(self, *names):
        own = [{'name': name, 'mountPath': f'/etc/{self.main}/{name}'} for name in names]
        return own + [{'name': 'kube-api-access-~cccc', 'readOnly': True,
                       'mountPath': '/var/run/secrets/kubernetes.io/serviceaccount'}]

    def container(self):
        port = self.random.randrange(3000, 9999)
        return {'name': self.main, 'image': f'registry.example.com/{self.team}/{self.name}:{self.version}',
                'ports': [{'name': 'http', 'containerPort': port, 'protocol': 'TCP'},
                          {'name': 'metrics', 'containerPort': port + 1, 'protocol': 'TCP'}],
                'env': self.env(), 'resources': self.resources(), 'volumeMounts': self.mounts('config', 'tmp'),
                'livenessProbe': self.probe('http'), 'readinessProbe': self.probe('http'),
                'terminationMessagePath': '/dev/termination-log', 'terminationMessagePolicy': 'File',
                'imagePullPolicy': 'IfNotPresent',
                'securityContext': {'capabilities': {'drop': ['ALL']}, 'runAsUser': self.random.randrange(1000, 70000),
                                    'runAsNonRoot': True, 'readOnlyRootFilesystem': True, 'allowPrivilegeEscalation': False}}

    def sidecar(self, name, image, port):
        return {'name': name, 'image': f'{image}:1.{self.number % 5}.2',
                'args': [f'--service={self.name}', f'--log-level={self.random.choice(("info", "warning"))}',
                         f'--concurrency={self.random.randrange(1, 5)}'],
                'ports': [{'name': 'side', 'containerPort': port, 'protocol': 'TCP'}], 'resources': self.resources(),
                'volumeMounts': self.mounts(), 'readinessProbe': self.probe(port),
                'terminationMessagePath': '/dev/termination-log', 'terminationMessagePolicy': 'File',
                'imagePullPolicy': 'IfNotPresent'}

    def init_container(self):
        return {'name': 'migrate', 'image': f'registry.example.com/{self.team}/migrate:{self.version}',
                'command': ['/bin/migrate', '--wait', f'--timeout={self.random.randrange(10, 99)}s'], 'resources': {},
                'volumeMounts': self.mounts(), 'terminationMessagePath': '/dev/termination-log',
                'terminationMessagePolicy': 'File', 'imagePullPolicy': 'IfNotPresent'}

    def volumes(self):
        token = {'sources': [{'serviceAccountToken': {'expirationSeconds': 3607, 'path': 'token'}},
                             {'configMap': {'name': 'kube-root-ca.crt', 'items': [{'key': 'ca.crt', 'path': 'ca.crt'}]}},
                             {'downwardAPI': {'items': [{'path': 'namespace', 'fieldRef': {'apiVersion': 'v1', 'fieldPath': 'metadata.namespace'}}]}}],
                 'defaultMode': 420}
        return [{'name': 'config', 'configMap': {'name': f'{self.name}-{self.suffix(10)}', 'defaultMode': 420}},
                {'name': 'tmp', 'emptyDir': {}}, {'name': 'kube-api-access-~cccc', 'projected': token}]

    def spec(self):
        tolerations = [{'key': f'node.kubernetes.io/{why}', 'operator': 'Exists', 'effect': 'NoExecute', 'tolerationSeconds': 300}
                       for why in ('not-ready', 'unreachable')]
        spec = {'volumes': self.volumes()} | ({'initContainers': [self.init_container()]} if self.migrates else {}) | {
            'containers': self.containers, 'restartPolicy': 'Always',
            'terminationGracePeriodSeconds': self.random.choice((30, 45, 60, 120)), 'dnsPolicy': 'ClusterFirst'}
        if self.number % 3 == 0:
            spec['nodeSelector'] = {'node.example.com/pool': self.random.choice(('general', 'memory', 'gpu', 'spot'))}
        spec |= {'serviceAccountName': self.name, 'serviceAccount': self.name, 'nodeName': 'node-~kk', 'securityContext': {}}
        if self.number % 2 == 0:
            term = {'labelSelector': {'matchLabels': {'app.kubernetes.io/name': self.name}}, 'topologyKey': 'kubernetes.io/hostname'}
            spec['affinity'] = {'podAntiAffinity': {'preferredDuringSchedulingIgnoredDuringExecution': [
                {'weight': 100, 'podAffinityTerm': term}]}}
        return spec | {'schedulerName': 'default-scheduler', 'tolerations': tolerations, 'priority': 0, 'enableServiceLinks': True,
                       'preemptionPolicy': 'PreemptLowerPriority'}

    # ---- status ----

    def container_status(self, number, container):
        image = container['image']
        own = f'containerd://~{CONTAINER_IDS[number] * 63}'
        running = {'startedAt': f'2026-11-10T08:31:~{"efg"[number]}Z'}
        status = {'name': container['name'], 'state': {'running': running}, 'lastState': {}, 'ready': True, 'restartCount': 0,
                  'image': image, 'imageID': f'{image.rsplit(":", 1)[0]}@sha256:{self.hex(64)}', 'containerID': own, 'started': True}
        if number == 0:
            running['startedAt'] = '2026-11-11T03:12:~tZ'
            status['restartCount'] = RESTARTS
            if self.number % 5 == 0:
                status['lastState'] = {'terminated': {
                    'exitCode': 137, 'reason': 'OOMKilled', 'startedAt': '2026-11-10T08:31:~eZ',
                    'finishedAt': '2026-11-11T03:12:~hZ', 'containerID': f'containerd://~{"b" * 63}'}}
        return status

    def init_status(self, container):
        own = f'containerd://~{"j" * 63}'
        done = {'exitCode': 0, 'reason': 'Completed', 'startedAt': '2026-11-10T08:31:~dZ', 'finishedAt': '2026-11-10T08:31:~eZ',
                'containerID': own}
        return {'name': container['name'], 'state': {'terminated': done}, 'lastState': {}, 'ready': True, 'restartCount': 0,
                'image': container['image'], 'imageID': f'{container["image"].rsplit(":", 1)[0]}@sha256:{self.hex(64)}',
                'containerID': own, 'started': False}

    def status(self, spec):
        times = {'PodReadyToStartContainers': '~f', 'Initialized': '~e', 'Ready': '~t', 'ContainersReady': '~h', 'PodScheduled': '~d'}
        ips = '10.20.~oo.~qq', '10.132.~uu.~ww'
        status = {'phase': 'Running', 'conditions': [
            {'type': type_, 'status': 'True', 'lastProbeTime': None, 'lastTransitionTime': f'2026-11-10T08:31:{second}Z'}
            for type_, second in times.items()],
            'hostIP': ips[0], 'hostIPs': [{'ip': ips[0]}], 'podIP': ips[1], 'podIPs': [{'ip': ips[1]}],
            'startTime': '2026-11-10T08:31:~dZ'}
        if self.migrates:
            status['initContainerStatuses'] = [self.init_status(spec['initContainers'][0])]
        status['containerStatuses'] = [self.container_status(i, c) for i, c in enumerate(self.containers)]
        return status | {'qosClass': 'Burstable', 'message': 'sent ~ssssssssssssssssss'}

    # ---- metadata ----

    def metadata(self):
        owner = {'apiVersion': 'apps/v1', 'kind': 'ReplicaSet', 'name': f'{self.name}-{self.hash}', 'uid': self.uid(),
                 'controller': True, 'blockOwnerDeletion': True}
        annotations = {'checksum/config': self.hex(64), 'kubectl.kubernetes.io/restartedAt': '2026-11-01T09:12:44Z'}
        if self.number % 3:
            annotations |= {'prometheus.io/port': str(self.containers[0]['ports'][1]['containerPort']), 'prometheus.io/scrape': 'true'}
        return {'name': f'{self.name}-{self.hash}-~pppp', 'generateName': f'{self.name}-{self.hash}-', 'namespace': 'ns-~nn',
                'uid': '~xxxxxxx-~xxx-~yyy-~zzz-~yyyyyyyyyyy', 'resourceVersion': '~vvvvvvvvv', 'generation': 1,
                'creationTimestamp': '2026-11-10T08:~g:~dZ',
                'labels': {'app': f'app-{100 + self.number % 100}', 'app.kubernetes.io/instance': self.name,
                           'app.kubernetes.io/name': self.name, 'app.kubernetes.io/version': self.version,
                           'pod-template-hash': self.hash, 'team': self.team},
                'annotations': annotations, 'ownerReferences': [owner]}

    def pod(self):
        spec = self.spec()
        metadata, status = self.metadata(), self.status(spec)
        metadata['managedFields'] = [
            manages('kube-controller-manager', '2026-11-10T08:~g:~dZ', {'metadata': {k: metadata[k] for k in (
                'annotations', 'generateName', 'labels', 'ownerReferences')}, 'spec': spec}),
            manages('kubelet', '2026-11-11T03:12:~tZ', {'status': status}, subresource='status')]
        return {'metadata': metadata, 'spec': spec, 'status': status}


def manages(manager, time, fields, **more):
    return {'manager': manager, 'operation': 'Update', 'apiVersion': 'v1', 'time': time, 'fieldsType': 'FieldsV1',
            'fieldsV1': owned(fields)} | more


def owned(value):
    """The fields of a value as managedFields list them."""
    if isinstance(value, dict):
        return {f'f:{name}': owned(child) for name, child in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and 'name' in value[0]:
        return {f'k:{{"name":"{item["name"]}"}}': {'.': {}} | owned(item) for item in value}
    return {}


def template(count):
    """The templates of that many deployments, one per line."""
    lines = (json.dumps(Deployment(number).pod(), separators=COMPACT) for number in range(count))
    return ''.join(line.replace(f'"restartCount":{RESTARTS}', '"restartCount":~rr') + '\n' for line in lines)


def kept(count):
    """The mean size in bytes of a pod without managedFields, with the kind that lists omit."""
    def size(line):
        pod = json.loads(line.replace('~rr', '100'))
        del pod['metadata']['managedFields']
        return len(json.dumps({'kind': 'Pod', 'apiVersion': 'v1'} | pod, separators=COMPACT))
    return sum(size(line) for line in template(count).splitlines()) // count
