#!/usr/bin/env python3
"""test_watch.py KUBESIM RECORDINGS INFORMERD: `informerd watch` against a simulated API server: arguments, errors
before and after the first sync, and its exit codes. Prints results as TAP.
"""
import json
import os
import pty
import re
import socket
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'kubesim'))
from lib import DEADLINE, Case, config_map, run
from harness import clean_environment, wait_until

INFORMERD = Path(sys.argv[3]).resolve()


class Terminal:
    """informerd with stdout and stderr on a terminal."""

    def __init__(self, *arguments, **env):
        self.master, slave = pty.openpty()
        self.text = b''
        self.child = subprocess.Popen([INFORMERD, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=slave,
                                      stderr=slave, env=clean_environment(TERM='dumb', NO_COLOR='1', **env))
        os.close(slave)
        os.set_blocking(self.master, False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        os.close(self.master)

    def shows(self, pattern):
        try:
            while piece := os.read(self.master, 65536):
                self.text += piece
        except OSError:  # nothing to read now, or it has ended
            pass
        return re.search(pattern, self.text.decode(), re.MULTILINE)


class Watch(Case):
    arguments = ('--self-signed', 'FOLDER')

    def kubeconfig(self, name='kubeconfig', **change):
        """The kubeconfig of kubesim with other values. JSON is YAML."""
        cluster = {'server': self.sim.ready['url'], 'certificate-authority': 'ca.crt', **change.pop('cluster', {})}
        path = self.folder / name
        path.write_text(json.dumps({
            'current-context': 'x', 'contexts': [{'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'clusters': [{'name': 'c', 'cluster': {k: v for k, v in cluster.items() if v}}],
            'users': [{'name': 'u', 'user': change.get('user', {})}]}))
        return path

    def watch(self, *arguments, config=None, **more):
        return subprocess.run([INFORMERD, 'watch', *arguments, '--kubeconfig', config or self.kubeconfig()],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE,
                              env=clean_environment(HOME=str(self.folder)), **more)

    def start(self, *arguments, config=None):
        child = subprocess.Popen([INFORMERD, 'watch', *arguments, '--kubeconfig', config or self.kubeconfig()],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=clean_environment(HOME=str(self.folder)))
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child


class Pipe(Watch):
    def test_nothing_on_stderr_when_all_is_well(self):
        """Not even while a list takes so long that a terminal would show its progress."""
        self.sim.control('fill', resource='pods', count=1000, bytes=1000)
        for verb in 'watchlist', 'list':
            self.sim.fault('stall', verb=verb, path='pods', bytes=500000, ms=1500)
        child = self.start('pods', '-A', '-o', 'name')
        names = [child.stdout.readline() for _ in range(1000)]
        self.assertEqual(len(set(names)), 1000)
        child.terminate()
        self.assertEqual(child.communicate(timeout=DEADLINE), (b'', b''))
        self.assertEqual(child.returncode, 0)


class Errors(Watch):
    """Before the first sync: one line, which names the place and the remedy, and the exit code."""

    def assert_ends(self, status, pattern, *arguments, config=None):
        for verbosity in ([], ['-o', 'short']):
            result = self.watch(*arguments, *verbosity, config=config)
            self.assertEqual((result.returncode, result.stdout), (status, ''), result.stderr)
            self.assertRegex(result.stderr, r'\Ainformerd: [^\n]*' + pattern + r'[^\n]*\n\Z')
            self.assertNotRegex(result.stderr, 'retrying|giving up')

    def test_unknown_resource(self):
        self.assert_ends(64, "podz: .*'podz' is not known to the server; did you mean 'pods'", 'podz')

    def test_field_selector_that_the_server_does_not_support(self):
        self.assert_ends(64, 'field label not supported: status.x .*; check --selector and --field-selector', 'pods',
                         '--field-selector', 'status.x=y')

    def test_rejected_credentials(self):
        self.sim.control('tokens', set='good')
        self.assert_ends(77, 'pods: .*401 Unauthorized', 'pods', config=self.kubeconfig('bad', user={'token': 'bad'}))

    def test_missing_permissions(self):
        self.sim.control('tokens', set='good')
        self.sim.control('allow', set='configmaps')
        self.assert_ends(77, 'pods: .*403 Forbidden.*to allow it: kubectl .* --verb=list,watch --resource=pods', 'pods',
                         config=self.kubeconfig('jane', user={'token': 'good'}))

    def test_unreachable_server(self):
        with socket.socket() as unused:
            unused.bind(('127.0.0.1', 0))  # bound, so that no other process listens there
            port = unused.getsockname()[1]
            config = self.kubeconfig('refused', cluster={'server': f'https://127.0.0.1:{port}'})
            self.assert_ends(69, rf"127.0.0.1:{port}: can't connect: connection refused; check the address of the "
                                 'server in the kubeconfig, and the network', 'pods', config=config)

    def test_unknown_host_name(self):
        config = self.kubeconfig('dns', cluster={'server': 'https://kubesim.invalid:6443'})
        self.assert_ends(69, "kubesim.invalid:6443: can't resolve the name: .*; check the address", 'pods',
                         config=config)

    def test_certificate_of_another_authority(self):
        config = self.kubeconfig('ca', cluster={'certificate-authority': None})
        self.assert_ends(69, 'signed by unknown authority .*; set certificate-authority', 'pods', config=config)

    def test_server_that_does_not_use_tls(self):
        config = self.kubeconfig('http', cluster={'server': self.sim.ready['url'].replace('https', 'http')})
        self.assert_ends(69, 'check the address of the server', 'pods', config=config)

    def test_an_error_that_ends_within_three_seconds_is_not_reported(self):
        self.sim.put('configmaps', config_map('one'))
        self.sim.fault('reset', at='request', times=1, path='configmaps')
        child = self.start('configmaps')
        self.assertEqual(json.loads(child.stdout.readline())['name'], 'one')
        child.terminate()
        self.assertEqual(child.wait(DEADLINE), 0)

    def test_nothing_on_stderr_when_all_is_well(self):
        self.sim.put('configmaps', config_map('one'))
        child = self.start('configmaps')
        while json.loads(child.stdout.readline())['type'] != 'SYNCED':
            pass
        child.terminate()
        self.assertEqual(child.communicate(timeout=DEADLINE)[1], b'')
        self.assertEqual(child.returncode, 0)


class Waiting(Watch):
    """Nothing is printed: a terminal shows that the command is waiting."""

    def assert_waits(self, line, *arguments):
        with Terminal('watch', *arguments, '--kubeconfig', self.kubeconfig()) as terminal:
            wait_until(lambda: terminal.shows('WAITING.*\n'), 'the line')
            self.assertTrue(terminal.shows(rf'^\d\d:\d\d:\d\d WAITING  {line}; waiting for changes\r?$'), terminal.text)

    def test_no_objects(self):
        self.assert_waits("no pods in namespace 'default'", 'pods')
        self.assert_waits("no pods in namespace 'a', 'b'", 'pods', '-n', 'a,b')
        self.assert_waits('no pods', 'pods', '-A')
        self.assert_waits('no objects', 'pods,configmaps')

    def test_no_object_is_selected(self):
        self.sim.put('configmaps', config_map('one'))
        self.assert_waits("none of the 1 configmaps in namespace 'default' is printed", 'configmaps', '--name', 'two')
        self.assert_waits('none of the 1 configmaps is printed', 'configmaps', '-A', '--level', 'warn')

    def test_objects_are_printed(self):
        self.sim.put('configmaps', config_map('one'))
        with Terminal('watch', 'configmaps', '--kubeconfig', self.kubeconfig()) as terminal:
            wait_until(lambda: terminal.shows('SYNCED'), 'first sync')
            self.sim.put('configmaps', config_map('two'))
            wait_until(lambda: terminal.shows('ADDED +.*two'), 'the change')
            self.assertNotIn(b'WAITING', terminal.text)


class Reconnect(Watch):
    """After the first sync: a lost connection is retried for ever."""

    def setUp(self):
        super().setUp()
        self.sim.put('configmaps', config_map('one'))

    def test_a_terminal_shows_the_lost_connection_in_the_style_of_records(self):
        with Terminal('watch', 'configmaps,pods', '--kubeconfig', self.kubeconfig()) as terminal:
            wait_until(lambda: terminal.shows('SYNCED +pods') and terminal.shows('SYNCED +configmaps'), 'first sync')
            self.sim.control('close', how='cut')
            self.sim.fault('refuse', ms=2500)
            wait_until(lambda: terminal.shows('ONLINE'), 'connected again')
            port = self.sim.port
            self.assertTrue(terminal.shows(rf'^\d\d:\d\d:\d\d OFFLINE  reconnecting to 127.0.0.1:{port}: \S.*$'),
                            terminal.text)
            self.assertTrue(terminal.shows(r'^\d\d:\d\d:\d\d ONLINE   connected again\r?$'), terminal.text)
            self.assertEqual(terminal.text.count(b'OFFLINE'), 1, terminal.text)
            self.assertNotIn(b'retrying', terminal.text)
            self.assertNotIn(b'level=', terminal.text)

    def test_a_pipe_gets_log_lines(self):
        child = self.start('configmaps')
        while json.loads(child.stdout.readline())['type'] != 'SYNCED':
            pass
        self.sim.control('close', how='cut')
        self.assertRegex(child.stderr.readline().decode(), r'\Atime=\S+ level=warn msg="configmaps .*; retrying in ')


class Names(Watch):
    """Objects by name."""

    def records(self, *arguments):
        """The lines until all watches are synced."""
        child = self.start(*arguments, '-o', 'jsonl')
        found, synced = [], 0
        watches = len(arguments[0].split(',')) if len(arguments) == 1 else max(1, len(arguments) - 1)
        while synced < watches:
            record = json.loads(child.stdout.readline())
            synced += record['type'] == 'SYNCED'
            found.append((record['type'], record['watch'], record.get('name')))
        child.terminate()
        child.wait(DEADLINE)
        return sorted(found, key=str)

    def test_only_named_objects_are_requested(self):
        self.sim.put('configmaps', *map(config_map, ('one', 'two', 'three')))
        self.sim.control('forget')
        self.assertEqual(self.records('configmaps', 'one', 'two'), [
            ('ADDED', 'configmaps/one', 'one'), ('ADDED', 'configmaps/two', 'two'),
            ('SYNCED', 'configmaps/one', None), ('SYNCED', 'configmaps/two', None)])
        requests = [r for r in json.dumps(self.sim.control('requests')).split('"') if 'configmaps' in r]
        self.assertTrue(requests)
        self.assertTrue(all('fieldSelector=metadata.name' in r for r in requests), requests)

    def test_a_regular_expression_selects_names(self):
        self.sim.put('configmaps', *map(config_map, ('web-0', 'web-10', 'api-0')))
        child = self.start('configmaps', '--name', '^web-[0-9]$', '--name', '^api')
        names = []
        while (record := json.loads(child.stdout.readline()))['type'] != 'SYNCED':
            names.append(record['name'])
        self.assertEqual(sorted(names), ['api-0', 'web-0'])


class Expansion(Watch):
    """Categories, all resources, and cluster-scoped resources with several namespaces."""
    ALL = ['cronjobs.batch/v1', 'daemonsets.apps/v1', 'deployments.apps/v1', 'jobs.batch/v1', 'pods',
           'replicasets.apps/v1', 'services', 'statefulsets.apps/v1']

    def watches(self, *arguments):
        """The watches that were synced within the timeout, and stderr."""
        result = self.watch(*arguments, '-o', 'jsonl', '--timeout', '3s')
        self.assertEqual(result.returncode, 0, result.stderr)
        records = [json.loads(line) for line in result.stdout.splitlines()]
        return sorted(r['watch'] for r in records if r['type'] == 'SYNCED'), result.stderr

    def test_category(self):
        self.assertEqual(self.watches('all'), (self.ALL, ''))

    def test_resources_beside_the_category_are_watched_once(self):
        names = ['deployment', 'configmaps'] + [name for name in self.ALL if not name.startswith(('po', 'deploy'))]
        self.assertEqual(self.watches('all,po,configmaps,Deployment'), (sorted(names + ['po']), ''))

    def test_all_resources(self):
        self.sim.control('resource', spec='gadgets.example.com/v1=Gadget')
        names, stderr = self.watches('--all-resources')
        self.assertEqual(stderr, '')
        self.assertLessEqual({*self.ALL, 'nodes', 'secrets', 'leases.coordination.k8s.io/v1',
                              'gadgets.example.com/v1'}, set(names))

    def test_resources_that_are_not_allowed_are_left_out(self):
        self.sim.control('tokens', set='good')
        self.sim.control('allow', set='pods,services')
        config = self.kubeconfig('jane', user={'token': 'good'})
        result = self.watch('all', '--timeout', '3s', config=config)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r'\Ainformerd: left out, because you may not list and watch them: '
                                        r'daemonsets\.apps/v1, [^\n]*jobs\.batch/v1\n\Z')
        synced = [r['watch'] for r in map(json.loads, result.stdout.splitlines()) if r['type'] == 'SYNCED']
        self.assertEqual(sorted(synced), ['pods', 'services'])

    def test_unreachable_server(self):
        config = self.kubeconfig('refused', cluster={'server': 'https://127.0.0.1:1'})
        result = self.watch('all', config=config)
        self.assertEqual((result.returncode, result.stdout), (69, ''))
        self.assertRegex(result.stderr, r"\Ainformerd: .*can't connect.*; check the address of the server[^\n]*\n\Z")

    def test_a_group_that_does_not_respond_is_left_out(self):
        self.sim.fault('status', code=503, times=0, verb='other', path='/apis/apps/v1')
        names, stderr = self.watches('all')
        self.assertEqual(names, [name for name in self.ALL if '.apps/' not in name])
        self.assertRegex(stderr, r'\Ainformerd: [^\n]*apps/v1 does not respond [^\n]*503[^\n]*\n\Z')

    def test_cluster_scoped_resources_ignore_several_namespaces(self):
        self.sim.control('put', {'metadata': {'name': 'n1'}}, resource='nodes')
        self.sim.control('resource', spec='racks.example.com/v1=Rack,cluster')
        self.sim.control('put', {'metadata': {'name': 'n1'}}, resource='racks.example.com')
        for resource in ('nodes', 'no', 'racks', 'racks.example.com/v1'):
            result = self.watch(resource, '-n', 'a,b', '-n', 'c', '--timeout', '3s')
            self.assertEqual((result.returncode, result.stderr), (0, ''))
            records = [json.loads(line) for line in result.stdout.splitlines()]
            self.assertEqual([r['name'] for r in records if r['type'] == 'ADDED'], ['n1'])


class Credentials(Watch):
    """Flags instead of a kubeconfig."""

    def setUp(self):
        super().setUp()
        self.sim.put('configmaps', config_map('one'))
        self.sim.control('tokens', set='s3cr3t')
        (self.folder / 'token').write_text('s3cr3t')
        (self.folder / 'wrong').write_text('wr0ng')

    def direct(self, *arguments):
        return subprocess.run([INFORMERD, 'watch', 'configmaps', '--until', 'create', *map(str, arguments)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DEADLINE,
                              env=clean_environment(HOME=str(self.folder)))

    def test_server_authority_and_token(self):
        server = ['--server', self.sim.ready['url'], '--certificate-authority', self.folder / 'ca.crt']
        for token in (['--token', 's3cr3t'], ['--token-file', self.folder / 'token']):
            result = self.direct(*server, *token)
            self.assertEqual((result.returncode, result.stderr), (0, ''))
        for token in (['--token', 'wr0ng'], ['--token-file', self.folder / 'wrong'], []):
            result = self.direct(*server, *token)
            self.assertEqual(result.returncode, 77, result.stderr)
            self.assertNotIn('wr0ng', result.stderr)

    def test_a_token_replaces_the_credentials_of_the_kubeconfig(self):
        config = ['--kubeconfig', self.kubeconfig(user={'token': 'old'})]
        self.assertEqual(self.direct(*config).returncode, 77)
        self.assertEqual(self.direct(*config, '--token', 's3cr3t').returncode, 0)

    def test_a_token_appears_in_no_message(self):
        for token in ('s3cr3t value', 's3cr3t\n', 's3cr3t'):
            for arguments in (['--server', 'http://127.0.0.1:1'], ['--server', self.sim.ready['url'], '-v'],
                              ['--server', 'nonsense'], ['--kubeconfig', '/nowhere']):
                result = self.direct(*arguments, '--token', token)
                self.assertIn(result.returncode, (64, 69, 78), result.stderr)
                self.assertNotIn('s3cr3t', result.stderr)

    def test_impersonation_of_groups(self):
        result = self.watch('configmaps', '--token', 's3cr3t', '--as', 'jane', '--as-group', 'a,b', '--until', 'create')
        self.assertEqual((result.returncode, result.stderr), (0, ''))


class Until(Watch):
    """--until and --timeout."""

    def pod(self, name, phase, ready='False'):
        return {'metadata': {'name': name, 'namespace': 'default'},
                'status': {'phase': phase, 'conditions': [{'type': 'Ready', 'status': ready}]}}

    def assert_waits(self, arguments, change):
        """It prints the initial objects, waits, and ends with 0 after the change."""
        child = self.start('pods', *arguments)
        while json.loads(child.stdout.readline())['type'] != 'SYNCED':
            pass
        self.assertIsNone(child.poll())
        change()
        out, err = child.communicate(timeout=DEADLINE)
        self.assertEqual((child.returncode, err), (0, b''))
        return [json.loads(line) for line in out.splitlines()]

    def test_a_condition_that_begins(self):
        self.sim.put('pods', self.pod('a', 'Pending'))
        for condition in ('status.phase=Running', 'jsonpath={.status.phase}=Running', 'condition=Ready'):
            with self.subTest(condition):
                self.sim.put('pods', self.pod('a', 'Pending'))
                lines = self.assert_waits(['--until', condition],
                                          lambda: self.sim.put('pods', self.pod('a', 'Running', 'True')))
                self.assertEqual(lines[-1]['type'], 'MODIFIED')  # the record is printed before the end

    def test_a_condition_that_holds_at_the_start(self):
        self.sim.put('pods', self.pod('a', 'Running'))
        self.assertEqual(self.watch('pods', '--until', 'status.phase=Running').returncode, 0)

    def test_all_objects(self):
        self.sim.put('pods', self.pod('a', 'Running'), self.pod('b', 'Pending'))
        self.assert_waits(['--until', 'status.phase=Running', '--until-all'],
                          lambda: self.sim.put('pods', self.pod('b', 'Running')))
        self.sim.put('pods', self.pod('b', 'Pending'))  # not selected by its name
        result = self.watch('pods', '--until', 'status.phase=Running', '--until-all', '--name', '^a$')
        self.assertEqual(result.returncode, 0)

    def test_create_and_delete(self):
        self.assert_waits(['--until', 'create'], lambda: self.sim.put('pods', self.pod('a', 'Pending')))
        self.assertEqual(self.watch('pods', 'a', '--until', 'create').returncode, 0)
        self.assert_waits(['--until', 'delete'], lambda: self.sim.control('delete', resource='pods',
                                                                          namespace='default', name='a'))
        self.assertEqual(self.watch('pods', 'a', '--until', 'delete').returncode, 0)

    def test_timeout(self):
        self.sim.put('pods', self.pod('a', 'Pending'))
        result = self.watch('pods', '--timeout', '1s')
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        result = self.watch('pods', '--timeout', '1s', '--until', 'status.phase=Running')
        self.assertEqual((result.returncode, result.stderr),
                         (75, "informerd: timed out: 'status.phase=Running' did not hold within 1.0s\n"))


if __name__ == '__main__':
    run(__name__)
