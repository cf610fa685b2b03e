#!/usr/bin/env python3
"""test_ctl_kubectl.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: `informerctl get` prints what `kubectl get` prints.

Both read from the same informerd, kubectl through the kubeconfig that informerctl writes. It is skipped if there is no kubectl;
KUBECTL names another one than that in PATH.
"""
import os
import shlex
import shutil
import subprocess

from ctl_case import INFORMERCTL, Ctl
from service import DEADLINE, config_map, environment, run

KUBECTL = os.environ.get('KUBECTL') or shutil.which('kubectl')
LONG = 'Successfully pulled image "web:1" in 1.4s (1.4s including waiting), which is a line of more than 80 columns: '

COMMANDS = r'''
get pods -n shop
get pods -A
get pods -A -o wide
get po,cm -n shop
get cm,po -A
get all -n shop
get pods -n nothere
get pods,cm -n nothere
get pods -n nothere --no-headers
get pod web-0 -n shop
get pod/web-0 pod/web-1 -n shop
get pod/web-0 cm/b -n shop
get pods web-0 nope web-1 -n shop
get pod nope -n shop
get pod nope nope2 -n shop
get pod nope -n shop -o json
get pod nope --ignore-not-found -n shop
get pods web-0 nope -n shop -o name
get pods -n shop -o json
get pod web-0 -n shop -o json
get pod web-0 web-1 -n shop -o json
get pods,cm -n shop -o json
get pods,cm -A -o yaml
get pod web-0 -n shop -o yaml
get cm -A -o yaml
get pods,cm -A -o name
get pods -n nothere -o name
get pods -n nothere -o json
get pods -n nothere -o yaml
get pods -A -o jsonpath={.items[*].metadata.name}
get pods -A -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}'
get pods -A -o jsonpath={.items[*].spec.containers[0].image}
get pods -A -o 'jsonpath={.items[?(@.metadata.name=="web-1")].metadata.labels}'
get pods -A -o 'jsonpath={.items[?(@.metadata.name!="web-1")].metadata.name}'
get pods -A -o jsonpath={.items[-1].metadata.name}
get pods -A -o jsonpath={.items[0:2].metadata.name}
get pods -A -o 'jsonpath={.items[*].metadata.labels.example\.com/tier}'
get pod web-0 -n shop -o jsonpath={.metadata.labels}
get pods -n shop -o jsonpath-as-json={.items[*].metadata.name}
get pod web-0 -n shop -o jsonpath-as-json={.spec}
get pods -n shop -o custom-columns=NAME:.metadata.name,A:.metadata.namespace,I:.spec.containers[*].image,L:.metadata.labels,X:.spec.none
get pods -n shop -o custom-columns=N:.kind,Q:.apiVersion --no-headers
get pods,cm -n shop -o custom-columns=NAME:.metadata.name,KIND:.kind
get pods -n nothere -o custom-columns=NAME:.metadata.name
get pods -n shop --show-labels
get pods -n shop -L app -L example.com/tier
get pods -n shop -L app,none --show-labels -o wide
get pods -n shop --no-headers
get pods,cm -n shop --no-headers
get pods -n shop --show-kind
get pods -A --sort-by=.metadata.name
get pods -A --sort-by=.metadata.uid -o name
get cm -A --sort-by=.data.size -o custom-columns=N:.metadata.name,S:.data.size
get pods -A -l app=web
get pods -A -l app!=web
get pods -A -l 'app in (web,db)' -o name
get pods -A --field-selector metadata.name=web-1
'''.strip().splitlines()


def pod(ns, name, **labels):
    return {'metadata': {'namespace': ns, 'name': name, 'labels': {'app': name[:-2], **labels}},
            'spec': {'containers': [{'name': 'c', 'image': 'web:1'}, {'name': 'd', 'image': 'log:2'}]}, 'status': {'phase': 'Running'}}


class Kubectl(Ctl):
    def run_both(self, *arguments):
        env = environment(self.folder, KUBECONFIG=str(self.folder / 'replica'), INFORMERD_SOCKET=str(self.socket))
        for program in (KUBECTL, INFORMERCTL):
            done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=DEADLINE, env=env, cwd='/')
            yield done.returncode, done.stdout, done.stderr

    def test_the_same_output(self):
        if not KUBECTL:
            self.skipTest('there is no kubectl')
        self.sim.put('pods', pod('shop', 'web-0', **{'example.com/tier': 'front'}), pod('shop', 'web-1'), pod('default', 'db-0'))
        sizes = {'a': '1Gi', 'b': '200Mi', 'c': '2Gi'}
        self.sim.put('configmaps', *({'metadata': {'name': name, 'namespace': 'shop'}, 'data': {'size': size, 'text': LONG + size, 'x': '1\n2\n'}}
                                     for name, size in sizes.items()), config_map('default-one'))
        self.start(self.conf(api={'listen': '127.0.0.1:0'}, watches=[{'resource': 'configmaps'}, {'resource': 'pods'}]))
        self.wait_ready()
        (self.folder / 'replica').write_text(self.good('kubeconfig'))
        for line in COMMANDS:
            with self.subTest(line):
                for _ in range(5):  # an age may change between the two
                    theirs, ours = self.run_both(*shlex.split(line))
                    if theirs == ours:
                        break
                self.assertEqual(ours, theirs)


run(__name__)
