#!/usr/bin/env python3
"""test_ctl.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the commands of informerctl.

`get` is tested with kubesim as the server, behind a Unix socket that forwards every byte.
"""
import base64
import contextlib
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import urllib.parse
from pathlib import Path

from service import DEADLINE, Case, config_map, environment, run, wait_until
from terminal import TMUX, Terminal

INFORMERCTL = Path(sys.argv[4]).resolve()
PLUGIN_COMPLETION = Path(__file__).resolve().parent.parent.parent / 'src/ctl/kubectl_complete-informer'
SCREENS = Path(__file__).resolve().parent.parent / 'data' / 'screens'


def resource(name, kind, *short_names):
    return {'resource': name, 'responseKind': {'kind': kind}, 'scope': 'Namespaced', 'singularResource': kind.lower(),
            'shortNames': short_names, 'categories': ['all'] if name in ('pods', 'deployments') else []}


DISCOVERY = {
    '/api': [{'metadata': {}, 'versions': [{'version': 'v1', 'resources': [
        resource('pods', 'Pod', 'po'), resource('configmaps', 'ConfigMap', 'cm')]}]}],
    '/apis': [{'metadata': {'name': 'apps'}, 'versions': [{'version': 'v1', 'resources': [
        resource('deployments', 'Deployment', 'deploy')]}]}],
}


class Ctl(Case):
    def ctl(self, *arguments, socket=None, program=INFORMERCTL, plain=False, **env):
        """@plain: without the socket."""
        return subprocess.run([program, *arguments, *([] if plain else ['-s', socket or self.socket])], capture_output=True, text=True,
                              timeout=DEADLINE, env=environment(self.folder, **env), stdin=subprocess.DEVNULL)

    def good(self, *arguments, **more):
        done = self.ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return done.stdout

    def assert_screen(self, name, text):
        """Compares with a file; SCREENS=write writes it instead."""
        path = SCREENS / f'informerctl-{name}.txt'
        if os.environ.get('SCREENS') == 'write':
            path.write_text(text)
        self.assertEqual(text, path.read_text())


class Daemon(Ctl):
    def test_status_shows_watches_and_event_logs(self):
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        self.start(self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'pods', 'name': 'workloads'}]))
        self.wait_ready()
        wait_until(lambda: not json.loads(self.good('dump'))['unwritten_bytes'], 'the event log')
        text = self.good('status')
        text = re.sub(r'informerd \S+, up \d+s, next sequence number \d+', 'informerd 1.0.0, up 5s, next sequence number 7', text)
        text = re.sub(r'(?m)^(configmaps .*|workloads .*) \d+s$', r'\1 3s', text).replace(str(self.folder), '/var/log/informerd')
        text = re.sub(r'(?m)^(EVENT LOG|/var/log\S*) +', lambda m: f'{m[1]:34}', text)
        self.assert_screen('status', text)

    def test_status_of_a_watch_that_fails(self):
        self.start(self.conf(watches=[{'resource': 'nothings.example.com/v1'}]))
        wait_until(lambda: 'nothings' in self.ctl('status').stdout, 'the watch')
        done = self.ctl('status')
        self.assertEqual((done.returncode, done.stderr), (1, ''))
        self.assertNotIn(' live ', done.stdout)
        problem = re.search(r'^informerd .*\n\nwatch nothings.example.com/v1: .*\n  \S.*\n\nWATCH ', done.stdout)
        self.assertTrue(problem, done.stdout)  # first, with a remedy
        self.assertEqual(self.ctl('status', '-o', 'json').returncode, 1)

    def test_status_as_json(self):
        self.start()
        self.wait_ready()
        self.assertEqual(json.loads(self.good('status', '-o', 'json'))['watches'][0]['state'], 'live')
        done = self.ctl('status', '-o', 'xml')
        self.assertEqual((done.returncode, done.stderr),
                         (64, "informerctl: unknown output format 'xml'; use json (see 'informerctl status --help')\n"))

    def test_status_of_outputs_that_fail(self):
        handlers = [{'name': 'broken', 'exec': ['/bin/false'], 'retry': {'max': 0}}]
        self.start(self.conf(handlers=handlers))
        self.wait_ready()
        self.sim.put('configmaps', config_map('a'))
        wait_until(lambda: 'handler broken: ' in self.ctl('status').stdout, lambda: f'the problem: {self.ctl("status").stdout}')
        text = self.good('status')
        self.assertIn("\n  see 'informerctl handler ls' and 'informerctl handler parked NAME'\n", text)
        self.assertRegex(text, r'\n\nHANDLER +STATE +WAITING +PARKED\nbroken ')

    def test_status_on_a_terminal_has_colours(self):
        if not TMUX:
            self.skipTest('there is no tmux')
        self.start(self.conf(watches=[{'resource': 'nothings.example.com/v1'}]))
        wait_until(lambda: 'nothings' in self.ctl('status').stdout, 'the watch')
        terminal = Terminal(self.folder, (200, 24), ['bash', '-c', f'{INFORMERCTL} status -s {self.socket}; sleep 1000'])
        self.stack.callback(terminal.end)
        wait_until(lambda: 'OBJECTS' in terminal.screen(), 'the status')
        self.assertRegex(terminal.colours(), r'\{31\}watch nothings.example.com/v1: .*\s*\{\}')

    def test_dump_is_json(self):
        self.start()
        self.wait_ready()
        dump = json.loads(self.good('dump'))
        self.assertEqual(dump['watches'][0]['watch'], 'configmaps')

    def test_reload_reports_what_changed(self):
        self.start()
        self.wait_ready()
        self.write_conf(self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'pods'}]))
        self.assertEqual(self.good('reload'), 'configuration reloaded: 1 watch unchanged, 1 watch started\n')
        self.write_conf(self.conf(watches=5))
        done = self.ctl('reload')
        self.assertEqual(done.returncode, 1)
        self.assertIn('configuration not reloaded, the previous one stays in use: ', done.stdout)
        self.write_conf(self.conf(api={'readers': [{'name': 'other', 'uid': 4711}]}))
        self.assertIn('configuration reloaded', self.good('reload'))
        self.assertIn('configuration reloaded', self.good('reload'))  # the own user stays a reader

    def test_reload_names_handlers_readers_and_event_logs(self):
        handler, reader = {'name': 'page', 'exec': ['/bin/true']}, {'name': 'ci', 'uid': 4711}
        log = {'path': str(self.path)}
        def reload(**more):
            self.write_conf(self.conf(**more))
            return self.good('reload').strip().removeprefix('configuration reloaded: 1 watch unchanged')
        self.start(self.conf(event_logs=[log]))
        self.wait_ready()
        self.assertEqual(reload(event_logs=[log], handlers=[handler], api={'readers': [reader]}),
                         ', handler page added, reader ci added')
        self.assertEqual(reload(event_logs=[log], handlers=[handler], api={'readers': [reader]}), '')
        handler |= {'exec': ['/bin/false'], 'retry': {'max': 1}}
        reader |= {'namespaces': ['ci']}
        self.assertEqual(reload(event_logs=[log | {'context': []}], handlers=[handler], api={'readers': [reader]}),
                         f', event log {self.path} changed (context), handler page changed (exec, retry), reader ci changed (namespaces)')
        self.assertEqual(reload(event_logs=[log | {'context': []}]), ', handler page removed, reader ci removed')

    def test_reopen_follows_a_renamed_log(self):
        self.start()
        self.wait_ready()
        self.path.rename(self.folder / 'old')
        self.assertEqual(self.good('reopen'), 'the event logs are reopened\n')
        wait_until(self.path.exists, 'the new file')

    def follow(self, *arguments):
        """A running `tail`; returns its stdout when the stream is open."""
        before = self.daemon_streams()
        child = self.stack.enter_context(subprocess.Popen(
            [INFORMERCTL, 'tail', *arguments, '-s', self.socket], stdout=subprocess.PIPE, text=True, env=environment(self.folder)))
        self.stack.callback(child.kill)
        wait_until(lambda: self.daemon_streams() > before, 'the stream of events')
        return child

    def daemon_streams(self):
        return json.loads(self.get('/informerd/v1/status').text)['event_streams']

    def test_tail_prints_changes_as_they_happen(self):
        self.sim.put('configmaps', config_map('before'))
        daemon = self.start()
        self.wait_ready()
        all_changes, one, jsonl = self.follow(), self.follow('--name', 'b', '-o', 'name'), self.follow('-o', 'jsonl')
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        self.assertRegex(all_changes.stdout.readline(), r'ADDED +configmap default/a')
        self.assertRegex(all_changes.stdout.readline(), r'ADDED +configmap default/b')
        self.assertEqual(one.stdout.readline(), 'configmap/b\n')
        records = [json.loads(jsonl.stdout.readline()) for _ in range(2)]
        self.log.wait_for(lambda all: any(r.get('name') == 'b' for r in all), 'the log')
        logged = {r['seq']: r for r in self.log.read() if r.get('name') in ('a', 'b')}
        self.assertEqual({r['seq']: r for r in records}, logged)
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(all_changes.wait(DEADLINE), 69)

    def test_tail_refuses_wrong_parameters(self):
        self.start()
        self.wait_ready()
        done = self.ctl('tail', '--level', 'loud')
        self.assertEqual((done.returncode, done.stderr),
                         (1, "Error from server (BadRequest): unknown level 'loud'; use info, warn or error\n"))
        self.assertEqual(self.ctl('tail', '-o', 'xml').returncode, 1)

    def test_events_as_server_sent_events(self):
        self.start()
        self.wait_ready()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(DEADLINE)
            client.connect(str(self.socket))
            client.sendall(b'HEAD /informerd/v1/events HTTP/1.1\r\nHost: x\r\n\r\n')
            self.assertTrue(client.recv(4096).endswith(b'\r\nContent-Length: 0\r\n\r\n'))
            client.sendall(b'GET /informerd/v1/events?format=name HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n')
            with client.makefile('rb') as stream:
                head = list(iter(stream.readline, b'\r\n'))
                self.assertIn(b'Content-Type: text/event-stream\r\n', head)
                self.sim.put('configmaps', config_map('a'))
                stream.readline()
                self.assertRegex(stream.readline(), rb'id: \d+\n')
                self.assertEqual(stream.readline(), b'data: configmap/a\n')

    def test_kubeconfig_and_token(self):
        self.start(self.conf(api={'listen': '127.0.0.1:0'}))
        self.wait_ready()
        text = self.good('kubeconfig')
        server = re.search(r'server: "https://(127\.0\.0\.1):(\d+)"', text)
        ca = base64.b64decode(re.search(r'certificate-authority-data: (\S+)', text)[1]).decode()
        plugin = [json.loads(re.search(r'command: (.*)', text)[1])]
        plugin += [a.strip('"') for a in re.findall(r'(?m)^      - (.*)$', text)]
        self.assertEqual(plugin, [str(INFORMERCTL), 'token', '-s', str(self.socket.resolve())])
        done = subprocess.run(plugin, capture_output=True, text=True, timeout=DEADLINE, env=environment(self.folder))
        credential = json.loads(done.stdout)
        self.assertEqual((credential['kind'], credential['apiVersion']),
                         ('ExecCredential', 'client.authentication.k8s.io/v1'))
        self.assertRegex(credential['status']['expirationTimestamp'], r'^\d{4}-\d\d-\d\dT')
        context = ssl.create_default_context(cadata=ca)
        with socket.create_connection((server[1], int(server[2])), DEADLINE) as plain:
            with context.wrap_socket(plain, server_hostname='127.0.0.1') as tls:
                tls.sendall(f'GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer '
                            f'{credential["status"]["token"]}\r\n\r\n'.encode())
                self.assertTrue(tls.recv(100).startswith(b'HTTP/1.1 200 '))
        self.assertNotIn(credential['status']['token'], (self.folder / 'stderr').read_text())

    def test_kubeconfig_without_listener(self):
        self.start()
        self.wait_ready()
        done = self.ctl('kubeconfig')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, 'Error from server (NotFound): api.listen is not set in the configuration of informerd\n')

    def test_without_a_daemon(self):
        done = self.ctl('status')
        self.assertEqual(done.returncode, 69)
        self.assertIn('No such file or directory; is informerd running?', done.stderr)

    def test_every_command_has_help(self):
        commands = re.findall(r'(?m)^  informerctl ([a-z]+)', self.good('--help', plain=True))
        self.assertGreater(len(commands), 10)
        for command in commands:
            text = self.good(command, '--help', plain=True)
            self.assertIn(f'\nUsage:\n  informerctl {command}', text)
            self.assertIn('--help', text)

    def answer(self, response):
        """A server that gives this answer to the first request."""
        listener = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(self.socket))
        listener.listen()
        def serve():
            client = listener.accept()[0]
            with client:
                client.recv(65536)
                client.sendall(response)
        thread = threading.Thread(target=serve)
        thread.start()
        self.stack.callback(thread.join)

    def test_an_old_daemon(self):
        """One without a local API has only health and metrics."""
        self.answer(b'HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nnot found\n')
        done = self.ctl('status')
        self.assertEqual((done.returncode, done.stderr),
                         (1, 'informerctl: informerd answered with status 404: it is too old for this informerctl, or this is another '
                             'program; compare \'informerctl version\' with \'informerd --version\'\n'))

    def test_no_permission(self):
        if os.getuid() == 0:
            user = ['setpriv', '--reuid=65534', '--clear-groups']
            if not shutil.which('setpriv'):
                self.skipTest('root may open every socket')
        else:
            user = []
        self.start()
        self.wait_ready()
        self.folder.chmod(0o755)
        self.socket.chmod(0)
        done = subprocess.run([*user, INFORMERCTL, 'status', '-s', self.socket], capture_output=True, text=True, timeout=DEADLINE,
                              env=environment(self.folder))
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn('Permission denied; become a member of the group of the socket, or use sudo', done.stderr)

    def test_the_socket_comes_from_the_environment(self):
        self.start()
        self.wait_ready()
        done = subprocess.run([INFORMERCTL, 'status'], capture_output=True, text=True, timeout=DEADLINE,
                              env=environment(self.folder, INFORMERD_SOCKET=str(self.socket)))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_and_usage(self):
        self.assert_screen('help', self.good('--help'))
        plugin = self.folder / 'kubectl-informer'
        shutil.copy(INFORMERCTL, plugin)
        self.assertIn('  kubectl informer get RESOURCE', self.good('--help', program=plugin))
        for arguments, message in ((['gt'], "unknown command 'gt'; did you mean 'get'?"), ([], 'missing command'),
                                   (['get'], "missing resource; for example 'get pods'"),
                                   (['get', 'pods', '-o', 'xml'], "unknown output format 'xml'; use wide, json, yaml, name, "
                                    'jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE, custom-columns=SPEC or '
                                    'custom-columns-file=FILE'),
                                   (['get', 'pods', '-o', 'go-template={{.x}}'],
                                    "output format 'go-template' is not supported; use jsonpath= or custom-columns="),
                                   (['get', 'pods', '-o', 'jsonpath='], "output format 'jsonpath' needs an argument: jsonpath=TEMPLATE"),
                                   (['get', 'pods', '-o', 'yaml=x'], "output format 'yaml' takes no argument"),
                                   (['get', 'pods', '-o', 'jsonpath={.a'], "JSONPath template '{.a': column 4: '}' is missing"),
                                   (['get', 'pods', '-o', 'jsonpath-file=/nowhere/x'],
                                    "file '/nowhere/x': No such file or directory"),
                                   (['get', 'pods', '-o', 'custom-columns=A'],
                                    "column 'A' has no header; write it like NAME:.metadata.name"),
                                   (['get', 'pods', '--sort-by', '.a['], "--sort-by: JSONPath '.a[': column 4: ']' is missing"),
                                   (['get', 'pods', '-o', 'json', '--show-labels'], '--show-labels cannot be used with -o json'),
                                   (['get', 'pods', 'x', '-A'], 'a resource cannot be retrieved by name across all namespaces'),
                                   (['get', 'pods', 'x', '-l', 'a=b'], 'name cannot be provided when a selector is specified'),
                                   (['get', 'pods/'], "the name after 'pods/' is missing"),
                                   (['get', 'pods', 'svc/x'], 'write either RESOURCE NAME ... or RESOURCE/NAME ...'),
                                   (['get', 'pods', '--output-watch-events'], '--output-watch-events needs --watch or --watch-only'),
                                   (['get', 'pods,svc', '-w'], '-w watches only one resource or object'),
                                   (['status', 'x'], "unexpected argument 'x'")):
            done = self.ctl(*arguments)
            self.assertEqual(done.returncode, 64)
            self.assertIn(f'informerctl: {message} (see ', done.stderr)


class Get(Ctl):
    """A forwarder from a Unix socket to kubesim."""

    def setUp(self):
        super().setUp()
        url = urllib.parse.urlsplit(self.sim.ready['url'])
        self.server = url.hostname, url.port
        listener = self.stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(self.socket))
        listener.listen()
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        self.sim.put('pods', *(self.pod(ns, name) for ns, name in (('shop', 'web-0'), ('shop', 'web-1'), ('default', 'db-0'))))

    def pod(self, namespace, name, **labels):
        return {'metadata': {'namespace': namespace, 'name': name, 'labels': {'app': name[:-2], **labels}},
                'spec': {'containers': [{'name': 'c', 'image': 'i'}]}, 'status': {'phase': 'Running'}}

    def accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self.forward, args=(client,), daemon=True).start()

    def forward(self, client):
        """Every request, except that /api and /apis get documents which kubesim does not have."""
        with client, socket.create_connection(self.server) as server, contextlib.suppress(OSError):
            threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
            head = b''
            while piece := client.recv(65536):
                head += piece
                if b'\r\n\r\n' not in head:
                    continue
                target = head.split()[1].decode()
                if target in DISCOVERY:
                    body = json.dumps({'items': DISCOVERY[target]})
                    client.sendall(f'HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}'.encode())
                else:
                    server.sendall(head)
                head = b''

    def pump(self, a, b):
        with contextlib.suppress(OSError):
            while piece := a.recv(65536):
                b.sendall(piece)

    def names(self, text):
        return [line.split()[0] for line in text.splitlines()]

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
                         (1, 'informerctl: informerd does not watch "nothings"; see \'informerctl status\' and `watches` in its configuration\n'))

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
