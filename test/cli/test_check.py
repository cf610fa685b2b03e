#!/usr/bin/env python3
"""test_check.py KUBESIM RECORDINGS INFORMERD: --check-config with and without --online, and `informerd rbac`.
Prints results as TAP.
"""
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'kubesim'))
from lib import DEADLINE, Case, Sim, run

INFORMERD = Path(sys.argv[3]).resolve()
IDENTITY = 'system:serviceaccount:kubesim:client'


class Check(Case):
    arguments = ('--self-signed', 'FOLDER', '--token', 's3cr3t-1', '--resource', 'widgets.example.com/v1=Widget')

    def setUp(self):
        super().setUp()
        (self.folder / 'token').write_text('s3cr3t-1')

    def cluster(self, name, **more):
        return {'name': name, 'server': self.sim.ready['url'], 'ca': str(self.folder / 'ca.crt'),
                'token_file': str(self.folder / 'token')} | more

    def conf(self, watches, clusters=None, **more):
        path = self.folder / 'x.conf'
        path.write_text(json.dumps({'clusters': clusters or [self.cluster('prod')], 'watches': watches,
                                    'event_logs': [{'path': 'stdout'}]} | more))
        return path

    def informerd(self, *arguments):
        env = {k: v for k, v in os.environ.items() if not k.startswith('KUBE')} | {'HOME': str(self.folder)}
        return subprocess.run([INFORMERD, *map(str, arguments)], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=DEADLINE)

    def check(self, conf, expected):
        done = self.informerd('-c', conf, '--check-config', '--online')
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return done.stdout

    def lines(self, report):
        """The lines about watches, each run of blanks as one."""
        return [re.sub(' +', ' ', line.strip()) for line in report.splitlines() if re.match('  [a-z]+ ', line)]

    def test_online_reports_each_watch_that_is_allowed(self):
        report = self.check(self.conf([{'resource': 'pods'}, {'name': 'd', 'resource': 'deploy', 'namespaces': ['a', 'b']},
                                       {'resource': 'nodes'}]), 0)
        self.assertIn('x.conf: ok, 3 watches, 1 event log\n\nprod  https://127.0.0.1:', report)
        self.assertIn(f'\n  Kubernetes v1.36.0+kubesim, as {IDENTITY} (system:serviceaccounts, system:authenticated)\n',
                      report)
        self.assertEqual(self.lines(report), ['ok pods in all namespaces', 'ok d (deploy) in a deployments.apps/v1',
                                              'ok d (deploy) in b deployments.apps/v1', 'ok nodes cluster-scoped'])

    def test_online_reports_missing_permissions(self):
        self.sim.control('allow', set='pods@shop,deployments.apps')
        conf = self.conf([{'resource': 'pods', 'namespaces': ['shop', 'billing']}, {'resource': 'deployments.apps'},
                          {'resource': 'widgets.example.com/v1'}])
        report = self.check(conf, 77)
        self.assertEqual(self.lines(report), [
            'ok pods in shop', 'missing pods in billing cannot list or watch pods',
            'ok deployments.apps in all namespaces deployments.apps/v1',
            'missing widgets.example.com/v1 in all namespaces cannot list or watch widgets.example.com'])
        self.assertIn(f'\nTo print the roles that grant the missing permissions: informerd rbac -c {conf}\n', report)
        self.assertIn('User "system:serviceaccount:kubesim:client" cannot list resource "pods" in API group "" in the '
                      'namespace "billing"',
                      self.sim.request('/api/v1/namespaces/billing/pods', Authorization='Bearer s3cr3t-1').json()['message'])

    def test_online_checks_the_lease_of_replicas(self):
        report = self.check(self.conf([{'resource': 'pods'}], replica={'group': 'eyes', 'namespace': 'ops'}), 0)
        self.assertEqual(self.lines(report), ['ok pods in all namespaces', 'ok Lease ops/eyes'])

    def test_online_checks_the_namespaces_that_are_selected_now(self):
        """Not all namespaces, which the daemon does not need."""
        for name, team in (('a', 'shop'), ('b', 'shop'), ('kube-b', 'shop'), ('c', 'other')):
            self.sim.control('put', {'metadata': {'name': name, 'labels': {'team': team}}}, resource='namespaces')
        watch = {'resource': 'pods', 'namespace_selector': 'team=shop', 'exclude_namespaces': ['kube-*']}
        last = {'name': 'last', 'resource': 'nodes'}
        self.sim.control('allow', set='pods@a,pods@b,namespaces,nodes')
        self.assertEqual(self.lines(self.check(self.conf([watch, last]), 0)), [
            'ok pods (namespaces) cluster-scoped', 'ok pods in a', 'ok pods in b', 'ok last (nodes) cluster-scoped'])
        self.sim.control('allow', set='pods@a,namespaces,nodes')
        self.assertEqual(self.lines(self.check(self.conf([watch, last, watch | {'name': 'again'}]), 77)), [
            'ok pods (namespaces) cluster-scoped', 'ok pods in a', 'missing pods in b cannot list or watch pods',
            'ok last (nodes) cluster-scoped', 'ok again (namespaces) cluster-scoped', 'ok again (pods) in a',
            'missing again (pods) in b cannot list or watch pods'])
        none = watch | {'namespace_selector': 'team=none'}
        self.assertEqual(self.lines(self.check(self.conf([none]), 0)), ['ok pods (namespaces) cluster-scoped',
                                                                        'ok pods no matching namespace'])
        self.assertIn("invalid podz no matching namespace resource 'podz' is not known to the server; did you mean 'pods'?",
                      self.lines(self.check(self.conf([none | {'resource': 'podz'}]), 78)))
        self.sim.control('allow', set='pods@a')
        self.assertEqual(self.lines(self.check(self.conf([watch]), 77)), [
            'missing pods (namespaces) cluster-scoped cannot list or watch namespaces',
            'missing pods in all namespaces cannot list or watch pods'])

    def test_online_accepts_a_missing_optional_resource(self):
        report = self.check(self.conf([{'name': 'g', 'resource': 'gadgets.example.com', 'optional': True}]), 0)
        self.assertEqual(self.lines(report), ["waiting g (gadgets.example.com) in all namespaces resource "
                                              "'gadgets.example.com' is not known to the server; did you mean 'widgets'?"])

    def test_online_reports_unknown_and_ambiguous_resources(self):
        report = self.check(self.conf([{'name': 'p', 'resource': 'podz'},
                                       {'name': 'n', 'resource': 'node', 'namespaces': ['a']}]), 78)
        self.assertEqual(self.lines(report), [
            "invalid p (podz) in all namespaces resource 'podz' is not known to the server; did you mean 'pods'?",
            "invalid n (node) in a resource 'node': nodes are cluster-scoped and cannot be limited to namespaces"])

    def test_online_checks_the_other_clusters_if_one_fails(self):
        with Sim() as mute, socket.create_server(('127.0.0.1', 0)) as deaf:
            port = deaf.getsockname()[1]
            mute.fault('blackhole', path='/version')
            report = self.check(self.conf(
                [{'name': name, 'resource': 'pods', 'cluster': name} for name in ('deaf', 'mute', 'shut', 'prod')],
                [self.cluster('deaf', server=f'https://127.0.0.1:{port}'), {'name': 'mute', 'server': mute.ready['url']},
                 self.cluster('shut', server='https://127.0.0.1:1'), self.cluster('prod')]), 69)
        self.assertEqual(self.lines(report), [
            f'failed no connection to 127.0.0.1:{port} within 15s', 'skipped deaf (pods) in all namespaces',
            'failed no response within 20s', 'skipped mute (pods) in all namespaces',
            "failed 127.0.0.1:1: can't connect: connection refused", 'skipped shut (pods) in all namespaces',
            'ok prod (pods) in all namespaces'])

    def test_online_reports_rejected_credentials(self):
        (self.folder / 'token').write_text('another')
        self.assertIn('Unauthorized', self.check(self.conf([{'resource': 'pods'}]), 77))
        report = self.check(self.conf([{'resource': 'pods'}], [self.cluster('prod', ca=str(self.folder / 'no'))]), 78)
        self.assertIn("prod\n  failed   cluster 'prod': ", report)

    def test_online_accepts_a_server_without_identity_review(self):
        self.sim.control('set', reviews=0)
        report = self.check(self.conf([{'resource': 'pods'}]), 0)
        self.assertIn('  Kubernetes v1.36.0+kubesim, as unknown user (not reported by the server)\n', report)

    def test_invalid_combinations_of_flags(self):
        for arguments in (['--online'], ['watch', 'pods', '--online'], ['rbac', '--online'], ['rbac', '-n', 'x'],
                          ['rbac', 'x'], ['rbac', '--user', 'a', '--group', 'b'], ['rbac', '--serviceaccount', 'a'],
                          ['rbac', '--user', ''], ['--group', 'x'], ['watch', 'pods', '--serviceaccount', 'a:b']):
            with self.subTest(arguments):
                self.assertEqual(self.informerd(*arguments).returncode, 64)

    def kubeconfig(self, name, cluster=None, user=None, **more):
        """A valid kubeconfig, except for the given fields."""
        path = self.folder / name
        path.write_text(json.dumps({
            'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'k', 'user': 'u'}}],
            'clusters': [{'name': 'k', 'cluster': {'server': 'https://127.0.0.1:1'} | (cluster or {})}],
            'users': [{'name': 'u', 'user': user or {}}]} | more))
        return str(path)

    def broken_clusters(self):
        """(cluster of a configuration, expected error) for each way in which a kubeconfig, or a file it names, is invalid."""
        other = self.folder / 'ca.crt'
        exec_v1 = {'apiVersion': 'client.authentication.k8s.io/v1', 'command': 'get-token', 'interactiveMode': 'Never'}
        text = self.folder / 'text'
        text.write_text('current-context: c\nusers: [{name: u, user: {password: &hunter2 x}}]\n')
        (self.folder / 'no.pem').write_text('no certificate')
        kube = self.kubeconfig
        rows = {
            'missing': (str(self.folder / 'absent'), "kubeconfig file '.*/absent' doesn't exist"),
            'folder': (str(self.folder), 'is a directory'),
            'syntax': (str(text), 'text:2:[0-9]+: anchors'),
            'kind': (kube('kind', kind='Pod'), "kind must be 'Config'"),
            'current': (kube('current', **{'current-context': 'hunter2'}), 'current-context: no such context'),
            'none': (kube('none', **{'current-context': ''}), 'no current-context is set'),
            'cluster': (kube('cluster', clusters=[]), 'cluster: no such cluster'),
            'user': (kube('user', users=[]), 'user: no such user'),
            'server': (kube('server', {'server': 'hunter2'}), 'server: must begin with https://'),
            'proxy': (kube('proxy', {'proxy-url': 'ftp://me:hunter2@p'}), 'proxy-url: must begin with'),
            'ca': (kube('ca', {'certificate-authority': 'hunter2'}), 'certificate-authority: cannot read the file'),
            'ca-data': (kube('ca-data', {'certificate-authority-data': 'hunter2'}), 'must be base64'),
            'ca-text': (kube('ca-text', {'certificate-authority': 'no.pem'}), 'certificate-authority: no certificate'),
            'key': (kube('key', user={'client-certificate': str(other)}), 'needs a client-key'),
            'no-key': (kube('no-key', user={'client-certificate': str(other), 'client-key': 'no.pem'}), 'client-key: '),
            'token': (kube('token', user={'token': 'hunter2 x'}), 'token: must not contain white space'),
            'http': (kube('http', {'server': 'http://h'}, {'token': 'hunter2'}), 'credentials are sent only over https'),
            'provider': (kube('provider', user={'auth-provider': {'name': 'hunter2'}}), 'auth-provider: not supported; use exec'),
            'exec': (kube('exec', user={'exec': exec_v1 | {'interactiveMode': 'Always'}}), 'interactiveMode Always is not supported'),
        }
        conf = [({'name': name, 'kubeconfig': path}, expected) for name, (path, expected) in rows.items()]
        good = kube('good', user={'exec': exec_v1})
        conf += [({'name': 'allow', 'kubeconfig': good, 'exec_allow': []}, 'is not allowed to run'),
                 ({'name': 'context', 'kubeconfig': good, 'context': 'no'}, "context 'no' doesn't exist"),
                 ({'name': 'direct', 'server': 'https://h', 'ca': str(self.folder / 'absent')}, 'No such file'),
                 ({'name': 'token-file', 'server': 'https://h', 'token_file': str(self.folder / 'absent')}, 'No such file')]
        return conf

    def warnings(self, conf):
        done = self.informerd('-c', conf, '--check-config')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return [line.removeprefix('warning: ') for line in done.stdout.splitlines()[1:]]

    def test_warns_about_a_configuration_without_effect(self):
        self.assertEqual(self.warnings(self.conf([])), ['the configuration has no watches; there is nothing to do'])
        self.assertEqual(self.warnings(self.conf([{'resource': 'pods'}], event_logs=[])),
                         ['the configuration has no event_logs; changes are not logged'])

    def test_warns_about_directories(self):
        at = self.folder
        (at / 'file').write_text('')
        pods = [{'resource': 'pods'}]
        self.assertEqual(self.warnings(self.conf(pods, state_dir=str(at / 'new'))), [])
        self.assertEqual(self.warnings(self.conf(pods, state_dir=str(at / 'absent/state'))), [
            f"state_dir '{at}/absent/state' does not exist and cannot be created: '{at}/absent': No such file or directory"])
        self.assertEqual(self.warnings(self.conf(pods, state_dir=str(at), event_logs=[
            {'path': str(at / 'logs/a.jsonl')}, {'path': str(at / 'file/b.jsonl')}, {'path': str(at / 'c.jsonl')}])), [
                f"event log '{at}/logs/a.jsonl': directory '{at}/logs' does not exist; lines wait in memory until it is created",
                f"event log '{at}/file/b.jsonl' is not writable: Not a directory"])
        self.assertFalse((at / 'c.jsonl').exists())

    def test_files_with_which_the_daemon_refuses_to_start(self):
        state = self.folder / 'state'
        state.mkdir()
        for cluster, expected in self.broken_clusters():
            name = cluster['name']
            with self.subTest(name):
                conf = self.conf([{'resource': 'pods'}], [cluster], state_dir=str(state))
                ran, checked = self.informerd('-c', conf), self.informerd('-c', conf, '--check-config')
                self.assertEqual((checked.returncode, checked.stdout), (ran.returncode, ''), checked.stderr)
                self.assertEqual(ran.returncode, 78, ran.stderr)
                self.assertRegex(checked.stderr, rf"\A{conf}:1:[0-9]+: clusters\[0\](\.kubeconfig)?: cluster '{name}': .*{expected}[^\n]*\n\Z")
                self.assertNotIn('hunter2', checked.stderr + ran.stderr)
                self.assertEqual(self.informerd('-c', conf, '--print-config').returncode, 0)

    def test_all_clusters_are_reported(self):
        broken = self.broken_clusters()
        good = {'name': 'good', 'kubeconfig': self.kubeconfig('fine')}
        watches = [{'name': 'p', 'resource': 'pods', 'cluster': 'good'}]
        conf = self.conf(watches, [good] + [cluster for cluster, _ in broken])
        done = self.informerd('-c', conf, '--check-config')
        self.assertEqual((done.returncode, done.stdout), (78, ''))
        for i, (line, (_, expected)) in enumerate(zip(done.stderr.splitlines(), broken)):
            self.assertRegex(line, rf'clusters\[{i + 1}\][^ ]*: .*{expected}')
        conf = self.conf(watches, [good])
        done = self.informerd('-c', conf, '--check-config')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f'{conf}: ok, 1 watch, 1 event log\n', ''))

    def test_stale_after_below_the_bookmark_interval_is_warned_of(self):
        watches = [{'name': 'p', 'resource': 'pods', 'cluster': 'good'}]
        good = {'name': 'good', 'kubeconfig': self.kubeconfig('fine')}
        conf = self.conf(watches, [good | {'stale_after': '89s'}])
        done = self.informerd('-c', conf, '--check-config')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertRegex(done.stdout, r"ok, .*\nwarning: cluster 'good': stale_after is 89\.0s\..* at least 90s\n\Z")
        done = self.informerd('-c', self.conf(watches, [good | {'stale_after': '90s'}]), '--check-config')
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1))

    def test_reports_that_no_kubeconfig_was_found(self):
        conf = self.folder / 'x.conf'
        conf.write_text('watches: [{resource: pods}]\n')
        done = self.informerd('-c', conf, '--check-config')
        self.assertEqual((done.returncode, done.stdout), (78, ''))
        self.assertRegex(done.stderr, rf"\A{conf}: no kubeconfig: [^\n]*\n\Z")

    def test_checks_clusters_that_no_watch_uses(self):
        conf = self.conf([{'resource': 'pods', 'cluster': 'prod'}],
                         [self.cluster('prod'), {'name': 'b', 'kubeconfig': str(self.folder / 'absent')}])
        report = self.check(conf, 78)
        self.assertEqual(self.lines(report)[0], 'ok pods in all namespaces')
        self.assertIn("b\n  failed   cluster 'b': kubeconfig file", report)
        self.assertNotIn('x.conf: ok', report)

    def rbac(self, conf, *arguments):
        done = self.informerd('rbac', '-c', conf, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    IDENTITY = '  - apiGroups: [""]\n    resources: [namespaces]\n    resourceNames: [kube-system]\n    verbs: [get]\n'

    def test_prints_roles_without_a_server(self):
        conf = self.conf([{'resource': 'pods', 'namespaces': ['shop', 'billing']}, {'resource': 'services'},
                          {'name': 's', 'resource': 'services', 'namespaces': ['shop']}, {'resource': 'nodes'},
                          {'resource': 'deployments.apps', 'namespaces': ['shop']}, {'resource': 'widgets.example.com/v1'},
                          {'name': 'c', 'resource': 'configmaps', 'namespaces': ['shop']}],
                         [self.cluster('prod', server='https://127.0.0.1:1')])
        text, errors = self.rbac(conf, '--user', 'jane "x"')
        self.assertEqual(errors, '')
        head = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: '
        first, *parts = text.split('---\n')
        self.assertEqual(first, f"# RBAC roles for {conf}, generated by 'informerd rbac'.\n")
        subject = ('subjects:\n  - kind: User\n    apiGroup: rbac.authorization.k8s.io\n    name: "jane \\"x\\""\n')
        rules = ['rules:\n  - apiGroups: [""]\n    resources: [pods, configmaps]\n    verbs: [list, watch]\n'
                 '  - apiGroups: ["apps"]\n    resources: [deployments]\n    verbs: [list, watch]\n',
                 'rules:\n  - apiGroups: [""]\n    resources: [pods]\n    verbs: [list, watch]\n']
        expected = []
        for ns, rule in zip(('shop', 'billing'), rules):
            place = f'metadata:\n  name: informerd\n  namespace: "{ns}"\n'
            expected += [f'{head}Role\n{place}{rule}',
                         f'{head}RoleBinding\n{place}roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n'
                         f'  name: informerd\n{subject}']
        expected += [f'{head}ClusterRole\nmetadata:\n  name: informerd\nrules:\n  - apiGroups: [""]\n'
                     '    resources: [services, nodes]\n    verbs: [list, watch]\n  - apiGroups: ["example.com"]\n'
                     f'    resources: [widgets]\n    verbs: [list, watch]\n{self.IDENTITY}',
                     f'{head}ClusterRoleBinding\nmetadata:\n  name: informerd\nroleRef:\n'
                     f'  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: informerd\n{subject}']
        self.assertEqual(parts, expected)

    def test_roles_include_the_identity_of_the_cluster(self):
        for watch in ({'resource': 'pods'}, {'resource': 'pods', 'namespaces': ['shop']}):
            with self.subTest(watch):
                text = self.rbac(self.conf([watch]))[0]
                self.assertEqual(text.count(self.IDENTITY), 1)
                self.assertRegex(text, r'kind: ClusterRole\nmetadata:\n  name: informerd\nrules:\n(  .*\n)*'
                                 + re.escape(self.IDENTITY) + '---\n')
                self.assertEqual(text.count('kind: ClusterRoleBinding\n'), 1)

    def test_roles_without_the_identity_of_the_cluster(self):
        for watch, kinds in (({'resource': 'pods'}, 1), ({'resource': 'pods', 'namespaces': ['shop']}, 0)):
            with self.subTest(watch):
                text = self.rbac(self.conf([watch]), '--no-identity')[0]
                self.assertNotIn('kube-system', text)
                self.assertEqual(text.count('kind: ClusterRole\nmetadata:'), kinds)

    def test_roles_for_a_namespace_selector_include_namespaces(self):
        conf = self.conf([{'resource': 'pods', 'namespace_selector': 'team=web'}])
        self.sim.control('allow', set='pods')
        self.assertEqual(self.lines(self.check(conf, 77)), [
            'missing pods (namespaces) cluster-scoped cannot list or watch namespaces',
            'ok pods in all namespaces'])
        self.assertIn('kind: ClusterRole\nmetadata:\n  name: informerd\nrules:\n  - apiGroups: [""]\n'
                      '    resources: [namespaces, pods]\n', self.rbac(conf)[0])

    def test_roles_for_the_local_api_include_definitions_of_custom_resources(self):
        rule = ('  - apiGroups: ["apiextensions.k8s.io"]\n    resources: [customresourcedefinitions]\n'
                '    resourceNames: [widgets.example.com, gadgets.example.com]\n    verbs: [get]\n')
        watches = [{'resource': 'widgets.example.com/v1', 'namespaces': ['a', 'b']}, {'resource': 'deployments.apps'},
                   {'resource': 'gadgets.example.com/v1', 'namespaces': ['b']}]
        reader = {'name': 'r', 'uid': 1}
        for more in ({'socket': {'path': '/run/x.sock'}}, {'api': {'listen': '127.0.0.1:1'}}, {'api': {'readers': [reader]}}):
            with self.subTest(more):
                text = self.rbac(self.conf(watches, **more, state_dir=str(self.folder)))[0]
                self.assertEqual(text.count(rule), 1)
                self.assertIn('    resources: [deployments]\n    verbs: [list, watch]\n' + rule, text)
                alone = self.rbac(self.conf(watches[:1] + watches[2:], **more, state_dir=str(self.folder)))[0]
                self.assertIn('kind: ClusterRole\nmetadata:\n  name: informerd\nrules:\n' + rule + self.IDENTITY + '---\n', alone)
                self.assertEqual(alone.count('kind: ClusterRoleBinding\n'), 1)
                builtin = self.rbac(self.conf(watches[1:2], **more, state_dir=str(self.folder)))[0]
                self.assertNotIn('customresourcedefinitions', builtin)
        self.assertNotIn('customresourcedefinitions', self.rbac(self.conf(watches))[0])

    def test_roles_of_a_replica_include_its_lease(self):
        rules = ('kind: Role\nmetadata:\n  name: informerd-replica\n  namespace: "ops"\nrules:\n'
                 '  - apiGroups: ["coordination.k8s.io"]\n    resources: [leases]\n    verbs: [create]\n'
                 '  - apiGroups: ["coordination.k8s.io"]\n    resources: [leases]\n    resourceNames:\n      - "eyes"\n'
                 '    verbs: [get, update]\n---\n')
        replica = {'group': 'eyes', 'namespace': 'ops'}
        text = self.rbac(self.conf([{'resource': 'pods'}], replica=replica, state_dir=str(self.folder)), '--user', 'jane')[0]
        self.assertIn(rules, text)
        self.assertTrue(text.endswith('  name: informerd-replica\nsubjects:\n  - kind: User\n'
                                      '    apiGroup: rbac.authorization.k8s.io\n    name: "jane"\n'))
        self.assertNotIn('leases', self.rbac(self.conf([{'resource': 'pods'}], replica=replica | {'mode': 'active'},
                                                       state_dir=str(self.folder)))[0])

    def test_binds_users_groups_and_service_accounts(self):
        conf = self.conf([{'resource': 'pods'}])
        for arguments, subject in (
                ([], '- kind: ServiceAccount\n    name: "informerd"\n    namespace: "informerd"\n'),
                (['--serviceaccount', 'ops:eye'], '- kind: ServiceAccount\n    name: "eye"\n    namespace: "ops"\n'),
                (['--group', 'dev'], '- kind: Group\n    apiGroup: rbac.authorization.k8s.io\n    name: "dev"\n')):
            with self.subTest(arguments):
                self.assertTrue(self.rbac(conf, *arguments)[0].endswith(f'subjects:\n  {subject}'))

    def test_resolves_short_names_on_the_server(self):
        conf = self.conf([{'name': 'd', 'resource': 'deploy'}, {'name': 'w', 'resource': 'Widget', 'namespaces': ['a', 'b']}])
        text, errors = self.rbac(conf)
        self.assertIn('apiGroups: ["apps"]\n    resources: [deployments]', text)
        self.assertIn('apiGroups: ["example.com"]\n    resources: [widgets]', text)
        self.assertEqual(errors, 'informerd: looking up resource \'deploy\' on the server\n'
                               'informerd: looking up resource \'Widget\' on the server\n')

    def test_reports_names_that_cannot_be_resolved(self):
        for watch, code in (({'name': 'p', 'resource': 'podz'}, 78),
                            ({'name': 'g', 'resource': 'gadgets', 'optional': True}, 78)):
            done = self.informerd('rbac', '-c', self.conf([watch]))
            self.assertEqual((done.returncode, done.stdout), (code, ''))
            self.assertIn(f"resource '{watch['resource']}' is not known to the server", done.stderr)
        done = self.informerd('rbac', '-c', self.conf([{'name': 'd', 'resource': 'deploy'}],
                                                      [self.cluster('prod', server='https://127.0.0.1:1')]))
        self.assertEqual(done.returncode, 69)
        self.assertIn("can't connect", done.stderr)

    def test_requires_a_choice_of_several_clusters(self):
        conf = self.conf([{'name': n, 'resource': r, 'cluster': n} for n, r in (('a', 'pods'), ('b', 'nodes'))],
                         [self.cluster('a'), self.cluster('b')])
        self.assertEqual(self.informerd('rbac', '-c', conf).returncode, 64)
        self.assertEqual(self.informerd('rbac', '-c', conf, '--cluster', 'c').returncode, 64)
        text, _ = self.rbac(conf, '--cluster', 'b')
        self.assertIn('resources: [nodes]', text)
        self.assertNotIn('pods', text)


if __name__ == '__main__':
    run(__name__)
