#!/usr/bin/env python3
"""test_ctl_get.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: `informerctl get` and completion.

They are tested with kubesim as the server, behind a Unix socket that forwards every byte.
"""
import json
import shutil
import subprocess
from pathlib import Path

from ctl_case import INFORMERCTL, Forwarded
from service import DEADLINE, config_map, environment, run, wait_until

PLUGIN_COMPLETION = Path(__file__).resolve().parent.parent.parent / 'src/ctl/kubectl_complete-informer'


class Get(Forwarded):
    def test_tables(self):
        text = self.good('get', 'pods', '-n', 'shop')
        self.assertEqual(self.names(text), ['NAME', 'web-0', 'web-1'])
        for word in ('po', 'pod', 'Pod', 'pods.v1.'):
            self.assertEqual(self.names(self.good('get', word, '--namespace=shop')), ['NAME', 'web-0', 'web-1'])
        self.assertEqual(self.names(self.good('get', 'pods')), ['NAME', 'db-0'])
        self.assertEqual(self.names(self.good('get', 'pod', 'web-1', '-n', 'shop', '--no-headers')), ['web-1'])
        self.assertEqual(self.names(self.good('get', 'pod/web-1', '-n', 'shop')), ['NAME', 'web-1'])
        self.assertEqual([line.split()[:2] for line in self.good('get', 'pods', '-A').splitlines()],
                         [['NAMESPACE', 'NAME'], ['default', 'db-0'], ['shop', 'web-0'], ['shop', 'web-1']])
        self.assertEqual(self.names(self.good('get', 'pods', '-A', '-l', 'app=db', '--no-headers')), ['default'])
        wide, narrow = (self.good('get', 'pods', *more).splitlines()[0].split() for more in (['-o', 'wide'], []))
        self.assertEqual(wide[:len(narrow)], narrow)

    def test_several_resources(self):
        self.sim.put('configmaps', config_map('settings'))
        text = self.good('get', 'pods,configmaps')
        self.assertEqual([line.split()[0] if line else '' for line in text.splitlines()],
                         ['NAME', 'pod/db-0', '', 'NAME', 'configmap/settings'])

    def test_objects(self):
        self.assertEqual(self.good('get', 'pods', '-A', '-o', 'name'), 'pod/db-0\npod/web-0\npod/web-1\n')
        one = json.loads(self.good('get', 'pod', 'db-0', '-o', 'json'))
        self.assertEqual((one['apiVersion'], one['kind'], one['metadata']['name']), ('v1', 'Pod', 'db-0'))
        self.assertIn('\n  name: db-0\n', self.good('get', 'pod', 'db-0', '-o', 'yaml'))

    def test_several_objects_are_one_list(self):
        self.sim.put('configmaps', config_map('settings'))
        for arguments, names in ((['pods,configmaps'], ['db-0', 'settings']), (['configmaps/settings', 'pod/db-0'], ['settings', 'db-0']),
                                 (['pods', 'db-0', 'db-0'], ['db-0', 'db-0']), (['pods'], ['db-0'])):
            text = self.good('get', *arguments, '-o', 'json')
            whole = json.loads(text)  # one document
            self.assertEqual({k: v for k, v in whole.items() if k != 'items'},
                             {'apiVersion': 'v1', 'kind': 'List', 'metadata': {'resourceVersion': ''}})
            self.assertEqual([i['metadata']['name'] for i in whole['items']], names)
            self.assertEqual([(i['apiVersion'], i['kind']) for i in whole['items']],
                             [('v1', 'ConfigMap' if n == 'settings' else 'Pod') for n in names])
        text = self.good('get', 'pods,configmaps', '-o', 'yaml')
        self.assertTrue(text.startswith('apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n'), text)
        self.assertTrue(text.endswith('\nkind: List\nmetadata:\n  resourceVersion: ""\n'), text)
        empty = self.good('get', 'pods', '-n', 'empty', '-o', 'yaml')
        self.assertEqual(empty, 'apiVersion: v1\nitems: []\nkind: List\nmetadata:\n  resourceVersion: ""\n')

    def test_jsonpath(self):
        for template, text in (('{.items[*].metadata.name}', 'db-0 web-0 web-1'),
                               ('{range .items[*]}{.metadata.namespace}/{.metadata.name}{"\\n"}{end}',
                                'default/db-0\nshop/web-0\nshop/web-1\n'),
                               ('{.items[?(@.metadata.name=="web-1")].metadata.labels}', '{"app":"web"}'),
                               ('{.items[*].gone}', '')):
            self.assertEqual(self.good('get', 'pods', '-A', '-o', f'jsonpath={template}'), text)
            (self.folder / 'template').write_text(template)
            self.assertEqual(self.good('get', 'pods', '-A', '-o', f'jsonpath-file={self.folder}/template'), text)
        self.assertEqual(self.good('get', 'pod', 'db-0', '-o', 'jsonpath={.metadata.name}'), 'db-0')
        self.assertEqual(json.loads(self.good('get', 'pods', '-A', '-o', 'jsonpath-as-json={.items[*].metadata.name}')),
                         ['db-0', 'web-0', 'web-1'])
        done = self.ctl('get', 'pods', '-o', 'jsonpath={.items[7]}')
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, '', 'informerctl: error executing jsonpath: array index out of bounds: index 7, length 1\n'))

    def test_custom_columns(self):
        spec = 'NAME:.metadata.name,L:.metadata.labels,IMAGES:{.spec.containers[*].image},X:.spec.gone'
        expected = ('NAME    L              IMAGES   X\n'
                    'web-0   map[app:web]   i        <none>\n'
                    'web-1   map[app:web]   i        <none>\n')
        self.assertEqual(self.good('get', 'pods', '-n', 'shop', '-o', f'custom-columns={spec}'), expected)
        self.assertEqual(self.good('get', 'pods', '-n', 'shop', '--no-headers', '-o', 'custom-columns=A:.kind,B:.apiVersion'),
                         'Pod   v1\nPod   v1\n')
        (self.folder / 'columns').write_text('NAME L IMAGES X\n.metadata.name .metadata.labels .spec.containers[*].image spec.gone\n')
        self.assertEqual(self.good('get', 'pods', '-n', 'shop', '-o', f'custom-columns-file={self.folder}/columns'), expected)
        for text, message in (('A B\n.a\n', 'custom columns: there are more headers than paths'),
                              ('A\n', 'custom columns: there are more headers than paths'),
                              ('A', 'custom columns need two lines: the headers, and below them the paths'),
                              ('\n\n', 'custom columns: the first line has no headers')):
            (self.folder / 'columns').write_text(text)
            done = self.ctl('get', 'pods', '-o', f'custom-columns-file={self.folder}/columns')
            self.assertEqual(done.returncode, 64)
            self.assertIn(message, done.stderr)

    def test_labels_and_kinds_in_tables(self):
        self.sim.put('pods', self.pod('labels', 'x-0', **{'example.com/tier': 'front'}), self.pod('labels', 'y-0'))
        rows = [line.split() for line in self.good('get', 'pods', '-n', 'labels', '--show-labels').splitlines()]
        self.assertEqual([row[-1] for row in rows], ['LABELS', 'app=x,example.com/tier=front', 'app=y'])
        rows = self.good('get', 'pods', '-n', 'labels', '-L', 'app', '-L', 'example.com/tier,none').splitlines()
        self.assertEqual(rows[0].split()[-3:], ['APP', 'TIER', 'NONE'])
        self.assertEqual(rows[1].split()[-2:], ['x', 'front'])
        self.assertEqual(self.names(self.good('get', 'pods', '-n', 'labels', '--show-kind')), ['NAME', 'pod/x-0', 'pod/y-0'])

    def test_sorted(self):
        sizes = {'a': '1Gi', 'b': '200Mi', 'c': None, 'd': '2Gi'}
        self.sim.put('configmaps', *(config_map(name) | {'data': {'size': size} if size else {}} for name, size in sizes.items()))
        for form in (['--no-headers'], ['-o', 'custom-columns=N:.metadata.name', '--no-headers']):
            self.assertEqual(self.names(self.good('get', 'cm', '--sort-by', '.data.size', *form)), ['c', 'b', 'a', 'd'])
        self.assertEqual(self.good('get', 'cm', '--sort-by={.data.size}', '-o', 'name').split()[0], 'configmap/c')
        done = self.ctl('get', 'cm', '--sort-by', '.data.gone')
        self.assertEqual((done.returncode, done.stderr),
                         (1, "informerctl: --sort-by: couldn't find any field with this path in the list of objects\n"))

    def test_categories(self):
        self.assertEqual(self.names(self.good('get', 'all', '--no-headers')), ['pod/db-0'])

    def test_nothing_found(self):
        done = self.ctl('get', 'pods', '-n', 'empty')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', 'No resources found in empty namespace.\n'))
        done = self.ctl('get', 'configmaps', '-A')
        self.assertEqual((done.returncode, done.stderr), (0, 'No resources found\n'))
        done = self.ctl('get', 'pod', 'web-9', '-n', 'shop')
        self.assertEqual((done.returncode, done.stderr), (1, 'Error from server (NotFound): pods "web-9" not found\n'))
        done = self.ctl('get', 'pods', 'web-0', 'web-9', 'web-1', '-n', 'shop')  # the others are printed, in one table
        self.assertEqual((done.returncode, done.stderr), (1, 'Error from server (NotFound): pods "web-9" not found\n'))
        self.assertEqual(self.names(done.stdout), ['NAME', 'web-0', 'web-1'])
        self.assertEqual(self.good('get', 'pod', 'web-9', '--ignore-not-found'), '')
        done = self.ctl('get', 'pod', 'web-9', '-o', 'json')
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertEqual(self.good('get', 'pods', '-n', 'empty', '-o', 'name'), '')
        done = self.ctl('get', 'nothings')
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'informerctl: informerd does not watch "nothings", or you may not read it; see '
                          '\'informerctl status\', and `watches` and `api.readers` in its configuration\n'))

    def complete(self, *words):
        """The values, and the number at the end."""
        *values, directive = self.good('__complete', '--', '-s', str(self.socket), *words, plain=True).splitlines()
        return [value.split('\t')[0] for value in values], int(directive[1:])

    def test_completion(self):
        for words, values in ((['get', 'p'], ['pods']), (['get', 'pods,d'], ['pods,deployments.apps']),
                              (['get', 'pods', '-n', 'shop', 'web-'], ['web-0', 'web-1']),
                              (['get', '--namespace=shop', 'pod/w'], ['pod/web-0', 'pod/web-1']),
                              (['get', '--namespace', '=', 'shop', 'po', 'web-1'], ['web-1']),
                              (['get', 'pods', '-A', ''], ['db-0', 'web-0', 'web-1']), (['get', 'pods', ''], ['db-0']),
                              (['get', 'pods', '--sort'], ['--sort-by']), (['get', 'pods', '-o', 'ya'], ['yaml']),
                              (['get', 'pods', '--output', '=', 'ya'], ['yaml']), (['get', '--output=ya'], ['--output=yaml']),
                              (['help', 'relo'], ['reload']), (['completion', 'z'], ['zsh']), (['sta'], ['status']),
                              (['get', 'nothings', ''], []), (['status', ''], []), (['__'], [])):
            self.assertEqual(self.complete(*words), (values, 4), words)
        self.assertEqual(self.complete('get', 'pods', '-o', 'jsonpath-f'), (['jsonpath-file='], 6))
        self.assertEqual(self.complete('show', 'po'), (['pods/'], 6))
        self.assertEqual(self.complete('history', '-n', 'shop', 'pods/web-1'), (['pods/web-1'], 4))
        self.assertEqual(self.complete('get', 'pods', '--socket', ''), ([], 0))  # files
        self.assertIn('-n', self.complete('get', '-')[0])
        self.socket.unlink()
        self.assertEqual(self.complete('get', 'p'), ([], 4))

    def test_completion_in_bash(self):
        script = self.good('completion', 'bash', plain=True)
        code = script + '\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _informerctl; printf "%s\\n" "${COMPREPLY[@]}"'
        def complete(*words):
            done = subprocess.run(['bash', '--norc', '-c', code, 'bash', INFORMERCTL, *words], capture_output=True, text=True,
                                  timeout=DEADLINE, cwd='/', env=environment(self.folder, INFORMERD_SOCKET=str(self.socket)))
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            return done.stdout.split()
        self.assertEqual(complete('get', 'pods', '-n', 'shop', ''), ['web-0', 'web-1'])
        self.assertEqual(complete('sta'), ['status'])
        self.assertEqual(complete('get', '-s', 'et'), ['etc'])

    def test_completion_in_other_shells(self):
        for shell, option in (('zsh', '-n'), ('fish', '--no-execute')):
            if not shutil.which(shell):
                continue
            done = subprocess.run([shell, option], input=self.good('completion', shell, plain=True), capture_output=True, text=True,
                                  timeout=DEADLINE)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
        if shutil.which('fish'):
            (self.folder / 'bin').mkdir()
            (self.folder / 'bin' / 'informerctl').symlink_to(INFORMERCTL)
            done = subprocess.run(['fish', '--no-config', '-c', 'source (informerctl completion fish | psub); complete -C "informerctl get pods -n shop web-"'],
                                  capture_output=True, text=True, timeout=DEADLINE,
                                  env=environment(self.folder, INFORMERD_SOCKET=str(self.socket), PATH=f'{self.folder}/bin:/usr/bin:/bin'))
            self.assertEqual(done.stdout.split(), ['web-0', 'web-1'], done.stderr)

    def test_plugin_of_kubectl(self):
        kubectl = shutil.which('kubectl')
        if not kubectl:
            self.skipTest('there is no kubectl')
        (self.folder / 'bin').mkdir()
        (self.folder / 'bin' / 'kubectl-informer').symlink_to(INFORMERCTL)
        shutil.copy(PLUGIN_COMPLETION, self.folder / 'bin')
        def run_kubectl(*arguments):
            return subprocess.run([kubectl, *arguments], capture_output=True, text=True, timeout=DEADLINE, cwd='/',
                                  env=environment(self.folder, INFORMERD_SOCKET=str(self.socket),
                                                  PATH=f'{self.folder}/bin:/usr/bin:/bin'))
        done = run_kubectl('informer', 'get', 'pods', '-n', 'shop', '-o', 'name')
        self.assertEqual((done.returncode, done.stdout), (0, 'pod/web-0\npod/web-1\n'), done.stderr)
        self.assertIn("kubectl informer: unknown command 'gt'; did you mean 'get'?", run_kubectl('informer', 'gt').stderr)
        done = run_kubectl('__complete', 'informer', 'get', 'pods', '-n', 'shop', 'web-')
        self.assertEqual(done.stdout.split(), ['web-0', 'web-1', ':4'], done.stderr)

    def watch(self, *arguments):
        child = self.stack.enter_context(subprocess.Popen(
            [INFORMERCTL, 'get', '-s', self.socket, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment(self.folder)))
        self.stack.callback(child.kill)
        return child.stdout

    def test_watch(self):
        out = self.watch('pods', '-n', 'shop', '-w')
        self.assertEqual([out.readline().split()[0] for _ in range(3)], ['NAME', 'web-0', 'web-1'])
        self.sim.put('pods', self.pod('shop', 'web-2'))
        self.assertEqual(out.readline().split()[0], 'web-2')
        self.sim.put('pods', self.pod('shop', 'web-0', tier='front'))
        self.assertEqual(out.readline().split()[0], 'web-0')

    def test_watch_in_each_form(self):
        names = self.watch('pods', '-n', 'shop', '-w', '-o', 'name')
        columns = self.watch('pods', '-n', 'shop', '-w', '-o', 'custom-columns=NAME:.metadata.name,TIER:.metadata.labels.tier')
        yaml = self.watch('pods', '-n', 'shop', '-w', '-o', 'yaml')
        paths = self.watch('pods', '-n', 'shop', '-w', '-o', 'jsonpath={.metadata.name}{"\\n"}')
        events = self.watch('pods', '-n', 'shop', '-w', '--output-watch-events')
        lines = self.watch('pods', '-n', 'shop', '-w', '--output-watch-events', '-o', 'json')
        self.assertEqual([names.readline() for _ in range(2)], ['pod/web-0\n', 'pod/web-1\n'])
        self.assertEqual([columns.readline() for _ in range(3)],
                         ['NAME    TIER\n', 'web-0   <none>\n', 'web-1   <none>\n'])
        self.assertEqual([paths.readline() for _ in range(2)], ['web-0\n', 'web-1\n'])
        self.assertEqual([events.readline().split()[:2] for _ in range(3)],
                         [['EVENT', 'NAME'], ['ADDED', 'web-0'], ['ADDED', 'web-1']])
        self.assertEqual([json.loads(lines.readline())['object']['metadata']['name'] for _ in range(2)], ['web-0', 'web-1'])
        for _ in range(2):
            for line in iter(yaml.readline, '  phase: Running\n'):
                self.assertTrue(line)
        self.sim.put('pods', self.pod('shop', 'web-0', tier='front'))
        self.assertEqual(names.readline(), 'pod/web-0\n')
        self.assertEqual(columns.readline(), 'web-0   front\n')
        self.assertEqual(paths.readline(), 'web-0\n')
        self.assertEqual([yaml.readline() for _ in range(2)], ['---\n', 'apiVersion: v1\n'])
        self.assertEqual(events.readline().split()[:2], ['MODIFIED', 'web-0'])
        change = json.loads(lines.readline())
        self.assertEqual((change['type'], change['object']['kind']), ('MODIFIED', 'Pod'))

    def test_watch_of_one_object(self):
        one, only = self.watch('pod', 'web-0', '-n', 'shop', '-w', '-o', 'name'), self.watch('pods', '-A', '--watch-only')
        self.assertEqual(one.readline(), 'pod/web-0\n')
        wait_until(lambda: sum(n for path, n in self.sim.control('stats')['paths'].items() if path.startswith('watch ')) == 2,
                   'both watches')
        self.sim.put('pods', self.pod('shop', 'web-1', tier='front'), self.pod('shop', 'web-0', tier='front'))
        self.assertEqual(one.readline(), 'pod/web-0\n')
        self.assertEqual([only.readline().split()[:2] for _ in range(3)],
                         [['NAMESPACE', 'NAME'], ['shop', 'web-1'], ['shop', 'web-0']])


run(__name__)
