#!/usr/bin/env python3
"""realistic.py [options] BUILD: measures the volume of event logs, and informerd's CPU time, on a realistic cluster.

The cluster is the real control plane of test/e2e (etcd, kube-apiserver, controller manager, scheduler with leader
election) with simulated nodes and changing workloads; see realistic_cluster. When its pods run, several informerd
processes with the same watches start: one that ignores nothing, one for each preset of `ignore`, one with the defaults,
one with all presets. Another one writes several event logs, one for each value of `object` and `context`.

All of them see the same changes. Records are counted whose resource version is between two writes, at the beginning and
at the end of the measurement, so that the numbers do not depend on when a process started. Counts and bytes do not depend
on the speed of the machine; the CPU times do.

With --compare, informerd with some of its settings, client-go (typed with protobuf and with JSON, dynamic) and
`kubectl get -w` follow the cluster instead, and their CPU time and memory are compared.

The control plane is built once, as for make e2e. Prints tables; writes realistic.json to BUILD.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'e2e'))

from lib import children, parts
from lib.children import Failure
from lib.plane import Plane
from realistic_cluster import followers
from realistic_cluster.nodes import Nodes
from realistic_cluster.workloads import Workloads

RESOURCES = ('pods', 'nodes', 'namespaces', 'services', 'endpointslices.discovery.k8s.io', 'deployments.apps',
             'replicasets.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch', 'cronjobs.batch', 'configmaps',
             'secrets', 'events', 'resourcequotas', 'leases.coordination.k8s.io')
PRESETS = ('unchanged', 'heartbeats', 'status-timestamps', 'observed-generation', 'resource-quota', 'leader-election',
           'managed-metadata')
LOGS = {  # event logs of one process, which ignores nothing
    'object: none, context: []': {'object': 'none', 'context': []},
    'object: none': {'object': 'none'},
    'object: diff, context: []': {'object': 'diff', 'context': []},
    'object: diff, object_verbs: []': {'object': 'diff', 'object_verbs': []},
    'object: diff (default)': {'object': 'diff'},
    'object: full': {'object': 'full', 'max_line': '1M'},
}
COMPARED = {  # settings of informerd, beside the defaults
    'informerd': {}, 'informerd, plain': {'cache': 'plain'},
    'informerd, no state on disk': {'state': {'enabled': False}},
    'informerd, plain, no state on disk': {'cache': 'plain', 'state': {'enabled': False}},
}
CONTROLLERS = {'leader-elect': 'true', 'kube-api-qps': 200, 'kube-api-burst': 400}
TOP = 25  # most frequent changes in the report
SETTLE = 5  # seconds after the last action, for the controllers to finish


class Daemon:
    """An informerd with its own configuration. Counts the records of its logs."""

    def __init__(self, build, folder, kubeconfig, ignore, logs, **settings):
        self.folder, self.logs = folder, logs
        folder.mkdir()
        watch = {} if ignore is None else {'ignore': ignore}
        conf = {**settings, 'state_dir': str(folder), 'socket': {'path': str(folder / 'sock')}, 'log': {'level': 'warn'},
                'clusters': [{'name': 'real', 'kubeconfig': str(kubeconfig)}],
                'watches': [{'resource': resource, **watch} for resource in RESOURCES],
                'event_logs': [{'path': str(self.path(i)), **log} for i, log in enumerate(logs.values())]}
        self.conf = folder / 'informerd.conf'
        self.conf.write_text(json.dumps(conf))
        self.binary = build / 'informerd'

    def path(self, index):
        return self.folder / f'events-{index}.jsonl'

    def accepts(self):
        """'' if informerd accepts the configuration, else its message: an older build lacks some options."""
        done = subprocess.run([self.binary, '--check-config', '-c', self.conf], capture_output=True, text=True)
        return done.stderr.strip().splitlines()[0] if done.returncode else ''

    def start(self):
        with open(self.folder / 'stderr', 'w') as log:
            self.child = children.start([self.binary, '-c', self.conf], stdout=log, stderr=log)

    def synced(self):
        if self.child.poll() is not None:
            raise Failure(f'informerd ended:\n{children.tail(self.folder / "stderr")}')
        path = self.path(0)
        return path.exists() and path.read_bytes().count(b'"type":"SYNCED"') == len(RESOURCES)

    def cpu_seconds(self):
        return followers.cpu_seconds(self.child.pid)

    def has(self, version):
        with open(self.path(0), 'rb') as log:
            log.seek(max(0, self.path(0).stat().st_size - (8 << 20)))
            return f'"rv":"{version}"'.encode() in log.read()

    def stop(self):
        if children.stop(self.child) != 0:
            raise Failure(f'informerd did not stop cleanly:\n{children.tail(self.folder / "stderr")}')

    def volumes(self, begin, end):
        """{title of a log: Volume} of the records with versions after `begin`, up to `end`."""
        return {title: volume(self.path(i), begin, end) for i, title in enumerate(self.logs)}


Volume = collections.namedtuple('Volume', 'records bytes by_resource by_change')


def volume(path, begin, end):
    records = size = 0
    by_resource, by_change = collections.Counter(), collections.Counter()
    with open(path, 'rb') as log:
        for line in log:
            record = json.loads(line)
            if begin < int(record.get('rv') or 0) <= end:
                records += 1
                size += len(line)
                by_resource[record['resource']] += 1
                by_change[change_of(record)] += 1
    return Volume(records, size, by_resource, dict(by_change.most_common(TOP)))


def change_of(record):
    """What a record is about: resource, and type or changed paths; without the keys of list items."""
    paths = {re.sub(r'\[[^]]*\]', '[]', path) for path in record.get('changed', ())}
    return f"{record['resource']}: {' '.join(sorted(paths)) or record['type']}"


def main():
    args = arguments()
    try:
        with children.temporary_folder(args.keep) as folder:
            programs = parts.programs(parts.NEW)
            with Plane(folder, programs) as plane:
                result = measure(args, folder, plane)
    except Failure as failure:
        print(f'realistic.py: {failure}', file=sys.stderr)
        return 1
    (report_comparison if args.compare else report)(result)
    (args.build / 'realistic.json').write_text(json.dumps(result, indent=1) + '\n')
    return 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option('build', type=Path, metavar='BUILD', help='build directory with informerd')
    option('--nodes', type=int, default=100, help='simulated nodes (default: 100)')
    option('--pods', type=int, default=1500, help='pods to aim for, without those of jobs (default: 1500)')
    option('--seconds', type=int, default=300, help='duration of the measurement (default: 300)')
    option('--seed', type=int, default=1, help='seed of the actions (default: 1)')
    option('--compare', action='store_true', help='compare CPU time and memory with client-go and kubectl')
    option('--keep', action='store_true', help='keep the temporary folder with the logs')
    return parser.parse_args()


def measure(args, folder, plane):
    plane.start_controllers(CONTROLLERS)
    with Nodes(plane.admin, args.nodes) as nodes:
        workloads = Workloads(plane.admin, nodes, args.pods, args.seed)
        workloads.set_up()
        wait_for_pods(plane, workloads, args.nodes)
        make = make_compared if args.compare else make_daemons
        daemons, refused = make(args.build, folder, plane.kubeconfig('token'))
        for daemon in daemons.values():
            daemon.start()
        for daemon in daemons.values():
            children.until(daemon.synced, 120, 'informerd synced', pause=0.5)
        cpu = {name: daemon.cpu_seconds() for name, daemon in daemons.items()}
        begin, began = mark(plane, 'begin'), time.monotonic()
        print(f'measuring for {args.seconds} s', flush=True)
        actions = workloads.activity(args.seconds)
        time.sleep(SETTLE)
        end, seconds = mark(plane, 'end'), time.monotonic() - began
        for name, daemon in daemons.items():
            children.until(lambda daemon=daemon: daemon.has(end), 60, f'the last change in the log of {name}', pause=0.5)
            cpu[name] = daemon.cpu_seconds() - cpu[name]
        memory = {name: followers.memory(daemon.child.pid) for name, daemon in daemons.items()}
        for daemon in daemons.values():
            daemon.stop()
    volumes = {name: daemon.volumes(begin, end) for name, daemon in daemons.items() if isinstance(daemon, Daemon)}
    return {'date': str(date.today()), 'kubernetes': parts.release(parts.NEW), 'nodes': args.nodes,
            'pods': workloads.pods + args.nodes, 'watches': len(RESOURCES), 'seconds': round(seconds), 'actions': actions,
            'refused': refused, 'cpu': cpu, 'memory': memory, 'changes': end - begin,
            'volumes': {name: {title: v._asdict() for title, v in logs.items()} for name, logs in volumes.items()}}


def make_daemons(build, folder, kubeconfig):
    """({name: Daemon}, {name: why informerd refuses it})"""
    one = {'log': {}}  # with the defaults of event logs
    variants = {'nothing': ([], one)}
    variants |= {preset: ([preset], one) for preset in PRESETS}
    variants |= {'(default)': (None, one), 'all presets': (list(PRESETS), one), 'logs': ([], LOGS)}
    daemons, refused = {}, {}
    for number, (name, (ignore, logs)) in enumerate(variants.items()):
        daemon = Daemon(build, folder / f'informerd-{number}', kubeconfig, ignore, logs)
        why = daemon.accepts()
        if why:
            refused[name] = why
        else:
            daemons[name] = daemon
    for name, why in refused.items():
        print(f'not measured: {name}: {why}', flush=True)
    if 'nothing' not in daemons:
        raise Failure('informerd refuses the configuration of the baseline')
    return daemons, refused


def make_compared(build, folder, kubeconfig):
    """({name: Daemon or Follower}, {name: why it is missing})"""
    daemons, missing = followers.make(folder, kubeconfig, RESOURCES)
    for number, (name, settings) in enumerate(COMPARED.items()):
        daemons[name] = Daemon(build, folder / f'informerd-{number}', kubeconfig, None, {'log': {'object': 'diff'}}, **settings)
    for name, why in missing.items():
        print(f'not measured: {name}: {why}', flush=True)
    return daemons, missing


def wait_for_pods(plane, workloads, nodes):
    wanted = workloads.pods + nodes
    print(f'waiting for {wanted} pods on {nodes} nodes', flush=True)
    last = 0

    def running():
        nonlocal last
        items = plane.admin.get('/api/v1/pods?fieldSelector=status.phase=Running')['items']
        ready = sum(any(c['type'] == 'Ready' and c['status'] == 'True' for c in pod['status'].get('conditions', []))
                    for pod in items)
        if ready >= last + 200:
            last = ready
            print(f'{ready} pods are ready', flush=True)
        return ready >= 0.97 * wanted  # some are never ready for long
    children.until(running, 1800, 'the pods are ready', pause=5)


def mark(plane, name):
    """Writes an object that every informerd reports. Returns its version."""
    made = plane.admin.create('/api/v1/namespaces/default/configmaps', {'metadata': {'name': f'measure-{name}'}})
    return int(made['metadata']['resourceVersion'])


# -- report

def report_circumstances(result):
    print(f"\nKubernetes {result['kubernetes']}, {result['nodes']} nodes, {result['pods']} pods, {result['watches']}"
          f" watches, {result['seconds']} s, {result['actions']} actions, {result['changes']} writes; {result['date']}\n")


def report_comparison(result):
    base = result['cpu']['informerd']
    report_circumstances(result)
    print('{:40}{:>10}{:>12}{:>12}'.format('', 'CPU, s', 'of ours', 'memory, MB'))
    for name, cpu in result['cpu'].items():
        print(f"{name:40}{cpu:>10.2f}{cpu / base:>11.1f}x{result['memory'][name] / 1e6:>12.1f}")


def report(result):
    baseline = result['volumes']['nothing']['log']
    report_circumstances(result)
    print('{:32}{:>10}{:>10}{:>10}{:>10}'.format('ignore', 'records', 'saved', 'MB', 'saved'))
    for name, logs in result['volumes'].items():
        if 'log' in logs:
            row(name, logs['log'], baseline)
    logs = result['volumes'].get('logs', {})
    if logs:
        print('\n{:32}{:>10}{:>10}{:>18}'.format('event log', 'records', 'MB', 'bytes per record'))
    for title, volume in logs.items():
        each = volume['bytes'] / max(1, volume['records'])
        print(f"{title:32}{volume['records']:>10}{volume['bytes'] / 1e6:>10.1f}{each:>18.0f}")
    print('\nrecords by resource, ignoring nothing, and with the defaults:')
    default = result['volumes'].get('(default)', {}).get('log', {'by_resource': {}})['by_resource']
    for resource, count in sorted(baseline['by_resource'].items(), key=lambda item: -item[1]):
        print(f'{resource:32}{count:>10}{default.get(resource, 0):>10}')
    print('\nmost frequent changes, ignoring nothing:')
    for change, count in baseline['by_change'].items():
        print(f'{count:>8}  {change[:110]}')
    print('\nCPU seconds of informerd: ' + ', '.join(f'{name} {cpu:.2f}' for name, cpu in result['cpu'].items()))


def row(name, volume, baseline):
    saved = (share(volume[key], baseline[key]) for key in ('records', 'bytes'))
    print('{:32}{:>10}{:>10}{:>10.1f}{:>10}'.format(name, volume['records'], next(saved), volume['bytes'] / 1e6,
                                                    next(saved)))


def share(part, whole):
    return f'{100 * (whole - part) / max(1, whole):.1f} %'


if __name__ == '__main__':
    sys.exit(main())
