#!/usr/bin/env python3
"""test_ctl.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the commands of informerctl except `get`."""
import base64
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading

from ctl_case import INFORMERCTL, Ctl
from service import DEADLINE, config_map, environment, run, wait_until
from terminal import TMUX, Terminal


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

    def test_status_of_a_server_that_fails(self):
        self.sim.control('fault', do='status', code=500, times=0)
        self.start()
        wait_until(lambda: 'failing' in self.ctl('status').stdout, lambda: f'the problem: {self.ctl("status").stdout}')
        self.assertRegex(self.ctl('status').stdout,
                         r'\nwatch configmaps: failing: .*\n  check the server and the network; informerd retries by itself\n')

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
        wait_until(lambda: '1 record is parked' in self.ctl('status').stdout, lambda: f'the problem: {self.ctl("status").stdout}')
        text = self.good('status')
        self.assertRegex(text, r"\nhandler broken: \w+, 1 record is parked.*\n  'informerctl handler parked broken' lists them, ")
        self.assertRegex(text, r'\n\nHANDLER +STATE +WAITING +PARKED\nbroken ')

    def test_status_of_an_event_log_that_cannot_be_written(self):
        self.sim.put('configmaps', *(config_map(f'map-{i}') for i in range(20)))
        self.start(self.conf(event_logs=[{'path': str(self.folder / 'missing' / 'events.jsonl')}]))
        wait_until(lambda: re.search(r'/events.jsonl +failing +\d+(\.\d)?K\n', self.ctl('status').stdout),
                   lambda: f'the unwritten size: {self.ctl("status").stdout}')
        self.assertRegex(self.ctl('status').stdout, r'\nevent log \S+: failing: .*\n  make room, fix its permissions, or ')

    def test_status_of_a_handler_whose_records_wait(self):
        handlers = [{'name': 'kafka', 'client': True},
                    {'name': 'hook', 'webhook': {'url': 'http://127.0.0.1:1/'}, 'retry': {'backoff': '1h..1h'}}]
        self.start(self.conf(handlers=handlers))
        self.wait_ready()
        self.sim.put('configmaps', config_map('a'))
        wait_until(lambda: self.ctl('status').stdout.count('failing: ') == 2, lambda: f'the problems: {self.ctl("status").stdout}')
        text = self.good('status')
        self.assertRegex(text, r'\nhandler kafka: failing: no client .*\n  start the program that takes its records, such as informerd-kafka; ')
        self.assertRegex(text, r'\nhandler hook: failing: .*\n  correct this and, if it is in the configuration, run ')

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
        done = self.ctl('tail', '--watch-name', 'nothings')
        self.assertEqual((done.returncode, done.stderr), (1, "Error from server (BadRequest): unknown watch 'nothings'; see "
                                                             "`watches` in the configuration\n"))

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

    def test_completion_of_namespaces_that_are_not_watched(self):
        for name, namespace in (('a', 'shop'), ('b', 'shop'), ('c', 'billing')):
            self.sim.put('configmaps', config_map(name, namespace=namespace))
        self.start(self.conf(watches=[{'resource': 'configmaps'}]))
        self.wait_ready()
        for words, namespaces in ((['get', 'cm', '-n', ''], ['billing', 'shop']), (['show', 'cm/a', '-n', 's'], ['shop']),
                                  (['tail', '-n', ''], [])):  # pods are not watched
            done = self.ctl('__complete', '--', *words, plain=True, INFORMERD_SOCKET=str(self.socket))
            self.assertEqual(done.stdout.splitlines(), [*namespaces, ':4'], words)

    def test_without_a_daemon(self):
        done = self.ctl('status')
        self.assertEqual(done.returncode, 69)
        self.assertIn('No such file or directory; is informerd running, with `socket.path` in its configuration?', done.stderr)

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

    def test_top_reports_a_refusal_as_other_commands_do(self):
        body = b'{"kind":"Status","reason":"Forbidden","message":"the user is not a reader","code":403}'
        refusal = b'HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body)
        self.answer(refusal)
        done = self.ctl('top')
        self.assertEqual((done.returncode, done.stderr), (77, 'Error from server (Forbidden): the user is not a reader\n'))

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
                                   (['get', 'pods', '-o', 'xml'], "unknown output format 'xml'; use wide, json, yaml, kyaml, name, "
                                    'go-template=TEMPLATE, go-template-file=FILE, jsonpath=TEMPLATE, jsonpath-file=FILE, jsonpath-as-json=TEMPLATE, custom-columns=SPEC or '
                                    'custom-columns-file=FILE'),
                                   (['get', 'pods', '-o', 'go-template={{.x'],
                                    "error parsing template {{.x, template: output:1: unclosed action"),
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


run(__name__)
