#!/usr/bin/env python3
"""test_cli.py INFORMERD RECORDINGS: the command line of informerd. Prints results as TAP.
"""
import contextlib
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from lib import DEADLINE, INFORMERD, Daemon, environment, run, wait_until
from server import Recording, Server, make_certificate

RECORDINGS = Path(sys.argv[2])

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{server}"{more}}}}}]
users: [{{name: u, user: {{}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u, namespace: default}}}}]
current-context: x
"""


CLUSTER = 'clusters: [{name: c, server: "https://127.0.0.1:1"}]\n'  # enough for a valid configuration


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='test_cli.')))
        self.widgets = Recording(RECORDINGS / 'widgets-watchlist.http')

    def run_it(self, *arguments, **more):
        return subprocess.run([INFORMERD, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=DEADLINE, env=environment(self.folder), **more)

    def kubeconfig(self, server, more=''):
        path = self.folder / 'kubeconfig'
        path.write_text(KUBECONFIG.format(server=server, more=more))
        return f'--kubeconfig={path}'

    def start(self, *arguments, **more):
        daemon = Daemon(self.folder, *arguments, **more)
        self.stack.callback(daemon.stop)
        return daemon

    def serve(self, **more):
        return self.stack.enter_context(Server(self.widgets, **more))

    def watch(self, server, **more):
        return self.start('watch', 'widgets.example.com/v1', self.kubeconfig(server.url), **more)

    def assert_refused(self, result, status, *parts):
        """That status, nothing on stdout, and one line on stderr with the remedy."""
        self.assertEqual((result.returncode, result.stdout), (status, ''), result.stderr)
        self.assertRegex(result.stderr, r'\Ainformerd: [^\n]+\n\Z')
        for part in parts:
            self.assertIn(part, result.stderr)


class Help(Case):
    """Commands that only print."""

    COMMANDS = ('', 'watch', 'rbac', 'state', 'completion', 'help', 'version')

    def test_help_goes_to_stdout_and_fits_a_terminal(self):
        for command in self.COMMANDS:
            for arguments in ([command, '--help'], [command, '-h'], ['--help', command], ['help', command]):
                result = self.run_it(*filter(None, arguments))
                self.assertEqual((result.returncode, result.stderr), (0, ''))
                self.assertIn(f'\nUsage:\n  informerd {command}'.rstrip(), result.stdout)
                self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_help_lists_commands_and_exit_codes(self):
        text = self.run_it('--help').stdout
        self.assertTrue(text.startswith('informerd keeps a live copy of Kubernetes objects '))
        for part in (*(f'informerd {command}' for command in self.COMMANDS), '64', '69', '74', '77', '78'):
            self.assertIn(part, text)

    def test_help_names_every_flag_of_a_command(self):
        for command, flags in (
                ('', '--config --check-config --online --print-config --help --version'),
                ('watch', '--namespace --all-namespaces --selector --field-selector --name --verb --changed --ignore '
                          '--only-changes --kubeconfig --context --cluster --user --as --output --every-update '
                          '--verbose --help'),
                ('rbac', '--config --cluster --serviceaccount --user --group --help')):
            text = self.run_it(*filter(None, [command]), '--help').stdout
            for flag in flags.split():
                self.assertIn(f' {flag}', text)

    def test_version_is_one_line(self):
        for argument in ('--version', '-V', 'version'):
            result = self.run_it(argument)
            self.assertRegex(result.stdout, r'\Ainformerd \d+\.\d+\.\d+\n\Z')
            self.assertEqual((result.returncode, result.stderr), (0, ''))

    def test_help_that_cannot_be_written_is_a_failure(self):
        with open('/dev/full', 'w') as full:
            for option in ('--help', '--version'):
                result = subprocess.run([INFORMERD, option], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(result.returncode, 74)
                self.assertRegex(result.stderr, r'\Ainformerd: stdout: [^\n]+\n\Z')


class Usage(Case):
    """Wrong usage: status 64 and one line that helps."""

    def test_the_default_configuration_is_missing(self):
        self.assert_refused(self.run_it(), 78, 'informerd watch pods', '--help')

    def test_invalid_arguments(self):
        for arguments, part in [
                (['wach'], "unknown command 'wach'; did you mean 'watch'?"),
                (['get', 'pods'], "unknown command 'get' (see 'informerd --help')"),
                ([''], 'unknown command'),
                (['watch'], 'informerd watch pods'),
                (['watch', ''], 'informerd watch pods'),
                (['watch', 'pods', '-n', ''], '--namespace'),
                (['watch', 'pods', '-l', ''], '--selector'),
                (['watch', 'pods,svc', 'web'], "names need one resource: write 'pods web'"),
                (['watch', 'pods', '--all-resources'], "--all-resources cannot be combined with 'pods'"),
                (['watch', 'all', 'web'], "'all' cannot be combined with the name 'web'"),
                (['watch', 'pods', '--until', 'ready'], '--until: '),
                (['watch', 'pods', '--until-all'], '--until-all is valid only with --until'),
                (['watch', 'pods', '--timeout', '5'], "--timeout: '5' is not a duration"),
                (['watch', 'pods', '--token', 'x', '--token-file', 'y'], 'only one of'),
                (['watch', 'pods', '--as-group', 'x'], '--as-group requires --as'),
                (['watch', 'pods', '--server', 'https://x', '--context', 'y'], '--server cannot be combined'),
                (['watch', 'pods/web', '-l', 'a=b'], 'names and selectors cannot be combined'),
                (['watch', 'pods', '--ignore', 'heartbeats', '--every-update'], 'only one of'),
                (['watch', 'pods,nodes,pods'], 'once'),
                (['watch', 'pods,Pods'], 'once'),
                (['watch', 'pods,,nodes'], "empty resource name in 'pods,,nodes'"),
                (['watch', 'pods,'], "empty resource name in 'pods,'"),
                (['watch', 'pods', '--nope'], "unknown flag '--nope' (see"),
                (['watch', 'pods', '--selectr=a=b'], "unknown flag '--selectr=a=b'; did you mean '--selector'?"),
                (['--chek-config'], "unknown flag '--chek-config'; did you mean '--check-config'?"),
                (['watch', 'pods', '-x'], 'x'),
                (['watch', 'pods', '--namespace'], 'namespace'),
                (['watch', 'pods', '--kubeconfig'], 'kubeconfig'),
                (['watch', 'pods', '--verbose=5'], 'verbose'),
                (['watch', 'pods', '-o', 'xml'], 'valid formats: full, jsonl, short'),
                (['watch', 'pods', '-o', 'ful'], "unknown format 'ful'; did you mean 'full'?"),
                (['watch', 'pods', '-n', 'shop', '-A'], '--all-namespaces'),
                (['nope', '-c', 'x.conf'], 'nope'),
                (['--check-config', 'x.conf'], 'x.conf'),
                (['--print-config', '-c'], '-c'),
                (['--print-config', '--check-config'], 'only one of'),
                (['--online', '-c', 'x.conf'], '--check-config'),
                (['rbac', 'x.conf'], 'x.conf'),
                (['rbac', '--user', ''], '--user'),
                (['rbac', '--user', 'a', '--group', 'b'], 'only one of'),
                (['rbac', '--serviceaccount', 'a'], 'NAMESPACE:NAME'),
                (['help', 'nope'], "unknown command 'nope' (see 'informerd --help')"),
                (['help', 'rback'], "did you mean 'rbac'?"),
                (['help', 'watch', 'rbac'], 'rbac'),
                (['version', 'x'], 'x'),
                (['completion'], 'bash, zsh or fish'),
                (['completion', 'csh'], "unknown shell 'csh'; use bash, zsh or fish"),
                (['completion', 'bash', 'zsh'], 'zsh'),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_it(*arguments), 64, part, '--help')

    def test_a_flag_of_another_command_names_that_command(self):
        for arguments, message in [
                (['-c', 'x.conf', '-l', 'a=b'], "--selector is a flag of 'informerd watch', not of 'informerd' "
                                                "(see 'informerd --help')"),
                (['watch', 'pods', '-c', 'x.conf'], "--config is a flag of 'informerd' and 'informerd rbac' and "
                                                    "'informerd state', not of 'informerd watch' (see 'informerd watch --help')"),
                (['watch', 'pods', '--group', 'x'], "--group is a flag of 'informerd rbac', not of 'informerd watch' "
                                                    "(see 'informerd watch --help')"),
                (['rbac', '--online'], "--online is a flag of 'informerd', not of 'informerd rbac' "
                                       "(see 'informerd rbac --help')"),
                (['version', '-v'], "--verbose is a flag of 'informerd watch', not of 'informerd version' "
                                    "(see 'informerd version --help')"),
        ]:
            with self.subTest(arguments=arguments):
                result = self.run_it(*arguments)
                self.assertEqual((result.returncode, result.stdout, result.stderr), (64, '', f'informerd: {message}\n'))

    def test_invalid_values_are_reported_with_their_flag(self):
        config = self.kubeconfig('http://127.0.0.1:1')
        for arguments, part in [
                (['deployments.apps.'], 'deployments.apps/v1'),
                (['pods', '-n', 'Shop'], "--namespace: 'Shop' is not a valid namespace; use at most 63 lower case"),
                (['pods/log/x'], "'pods/log'"),
                (['pods', '-n', 'shop,'], '--namespace: has no value'),
                (['pods', '--name', 'web-['], "--name: 'web-[' is not a regular expression: "),
                (['pods', '--verb', 'changed'], "--verb: unknown value 'CHANGED'"),
                (['pods', '--level', 'fatal'], "--level: unknown value 'fatal'"),
                (['pods', '--changed', 'a..b'], '--changed: '),
                (['pods', '--ignore', 'noise'], "--ignore: unknown value 'noise'"),
                (['pods', '-l', 'a in'], "--selector: label selector 'a in'"),
                (['pods', '--field-selector', 'a'], "--field-selector: field selector 'a'"),
        ]:
            with self.subTest(arguments=arguments):
                self.assert_refused(self.run_it('watch', *arguments, config), 64, part)


class Configuration(Case):
    """A kubeconfig that cannot be used: status 78, and the name of the file."""

    def refused(self, text, *parts):
        path = self.folder / 'bad'
        path.write_text(text)
        self.assert_refused(self.run_it('watch', 'pods', '--kubeconfig', path), 78, str(path), *parts)

    def test_reports_a_missing_kubeconfig(self):
        self.assert_refused(self.run_it('watch', 'pods', '--kubeconfig', '/nowhere/config'), 78, '/nowhere/config')
        self.assert_refused(self.run_it('watch', 'pods'), 78, 'kubeconfig')

    def test_reports_an_invalid_kubeconfig(self):
        self.refused('{{{')
        self.refused('')
        self.refused('just words\n')
        self.refused(KUBECONFIG.format(server='ftp://example.com', more=''), 'https://')
        self.refused(KUBECONFIG.format(server='https://example.com', more='').replace('current-context: x', ''))
        self.refused(KUBECONFIG.format(server='https://example.com', more='').replace('cluster: c,', 'cluster: d,'))

    def test_reports_an_unknown_context(self):
        config = self.kubeconfig('https://example.com')
        for arguments in ['pods'], ['pods', '-A']:
            result = self.run_it('watch', *arguments, config, '--context', 'nope')
            self.assert_refused(result, 78, "context 'nope' doesn't exist; available contexts: ")
            self.assertNotIn('cluster', result.stderr)

    def test_reports_a_missing_certificate(self):
        config = self.kubeconfig('https://127.0.0.1:1', ', certificate-authority: missing.crt')
        self.assert_refused(self.run_it('watch', 'pods', config), 78, 'certificate-authority: cannot read the file')


class Conf(Case):
    """--check-config, --print-config, and start with a configuration file."""

    def conf(self, text, name='x.conf'):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def test_check_config_accepts_a_valid_file(self):
        path = self.conf(f'{CLUSTER}watches: [{{resource: pods}}]\nevent_logs: [{{path: stdout}}]\n')
        result = self.run_it('--check-config', '-c', path)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertEqual(result.stdout, f'{path}: ok, 1 watch, 1 event log\n')

    def test_check_config_lists_all_errors(self):
        path = self.conf('watches:\n  - resorce: pods\nlog: {level: inof}\n')
        more = self.conf('core_dumps: maybe\n', 'conf.d/more.conf')
        for option in ('--check-config', '--print-config'):
            result = self.run_it(option, f'--config={path}')
            self.assertEqual((result.returncode, result.stdout), (78, ''))
            self.assertEqual(result.stderr.splitlines(), [
                f"{path}:2:5: watches[0]: unknown key 'resorce'; did you mean 'resource'?",
                f"{path}:2:5: watches[0]: missing key 'resource'; for example 'resource: pods'",
                f"{path}:3:14: log.level: unknown value 'inof'; did you mean 'info'?",
                f"{more}:1:13: core_dumps: 'maybe' is neither true nor false"])

    def test_refuses_two_event_logs_that_are_one_file_by_a_link(self):
        (self.folder / 'a.jsonl').touch()
        (self.folder / 'b.jsonl').symlink_to('a.jsonl')
        path = self.conf('event_logs:\n  - path: a.jsonl\n  - path: b.jsonl\n')
        for command in (['--check-config'], []):
            result = self.run_it(*command, '-c', path)
            self.assertEqual((result.returncode, result.stdout), (78, ''))
            self.assertEqual(result.stderr, f'{path}:3:11: event_logs[1].path: is the same file as the event log at '
                             f'{path}:2:11; each event log needs its own file\n')

    def test_print_config_prints_a_valid_configuration(self):
        self.conf('log: {level: warn}\n', 'conf.d/more.conf')
        first = self.run_it('--print-config', '-c', self.conf('watches: [{resource: pods}]\n'))
        self.assertEqual((first.returncode, first.stderr), (0, ''))
        self.assertRegex(first.stdout, r'\n  level: warn +# conf\.d/more\.conf:1\n')
        self.assertRegex(first.stdout, r'\n  - resource: pods +# x\.conf:1\n')
        again = self.run_it('--print-config', '-c', self.conf(first.stdout, 'printed/x.conf'))
        values = [[line.split('  # ')[0] for line in text.stdout.splitlines()] for text in (first, again)]
        self.assertEqual(*values)

    def test_reports_a_missing_configuration_file(self):
        result = self.run_it('--check-config', '-c', '/nowhere/x.conf')
        self.assert_refused(result, 78, "configuration file '/nowhere/x.conf': No such file", "'informerd watch pods'")

    def test_reports_a_missing_state_directory(self):
        path = self.conf('state_dir: /nowhere/informerd\nwatches: [{resource: pods, indexes: {node: spec.nodeName}}]\n')
        self.assert_refused(self.run_it('-c', path), 74, '/nowhere/informerd', 'create it')

    def test_reports_a_full_disk_on_stdout(self):
        path = self.conf(CLUSTER)
        for option in ('--check-config', '--print-config'):
            with open('/dev/full', 'w') as full:
                result = subprocess.run([INFORMERD, option, '-c', path], stdout=full, stderr=subprocess.PIPE,
                                        text=True)
                self.assertEqual(result.returncode, 74)
                self.assertRegex(result.stderr, r'\Ainformerd: stdout: [^\n]+\n\Z')


class Watch(Case):
    """informerd watch: unavailable servers, closed pipes, and signals."""

    def test_a_signal_ends_it_while_the_server_is_unavailable(self):
        with socket.socket() as unused:
            unused.bind(('127.0.0.1', 0))  # bound, so that no other process listens there; connections are refused
            config = self.kubeconfig(f'http://127.0.0.1:{unused.getsockname()[1]}')
            for number in (signal.SIGTERM, signal.SIGINT):
                daemon = self.start('watch', 'pods', '-v', config)  # attempts are logged only with -v
                wait_until(lambda: 'retrying in' in daemon.log_text(), 'the first attempt')
                daemon.signal(number)
                self.assertEqual(daemon.status(), 0, daemon.log_text())
                self.assertEqual(daemon.stdout.read(), b'')
                self.assertIn('refused', daemon.log_text())

    def test_prints_objects_and_changes_until_a_signal(self):
        server = self.serve(changes=16)
        daemon = self.watch(server)
        lines = [json.loads(daemon.stdout.readline()) for _ in range(3 + 1 + 16)]
        self.assertEqual([l['seq'] for l in lines], list(range(1, 3 + 1 + 16 + 1)))
        self.assertEqual((lines[3]['type'], lines[3]['objects']), ('SYNCED', 3))
        del lines[3]
        self.assertEqual([(l['type'], l['name']) for l in lines[:4]],
                         [('ADDED', 'widget-1'), ('ADDED', 'widget-2'), ('ADDED', 'widget-3'),
                          ('MODIFIED', 'widget-1')])
        self.assertEqual([l['rv'] for l in lines[3:]], [str(1000 + i) for i in range(16)])
        self.assertEqual({(l['log'], l['watch'], l['resource']) for l in lines},
                         {(lines[0]['log'], 'widgets.example.com/v1', 'widgets')})
        self.assertTrue(all(l['msg'].startswith('Widget default/widget-') for l in lines))
        self.assertIn('/apis/example.com/v1/namespaces/default/widgets?', server.requests[0])
        daemon.signal()
        self.assertEqual(daemon.status(), 0, daemon.log_text())
        self.assertEqual(daemon.stdout.read(), b'')

    def test_every_update_also_prints_updates_without_a_change(self):
        for options, expected in (((), [('1000', 3)]), (('--every-update',), [(str(997 + i), None) for i in range(4)])):
            daemon = self.start('watch', 'widgets.example.com/v1', self.kubeconfig(self.serve(changes=16, touches=3).url),
                                *options)
            lines = [json.loads(daemon.stdout.readline()) for _ in range(3 + 1 + len(expected))]
            self.assertEqual([(l['rv'], l.get('ignored')) for l in lines[4:]], expected)
            daemon.signal()
            self.assertEqual(daemon.status(), 0, daemon.log_text())

    def test_a_relist_is_reported_and_repeats_no_change(self):
        server = self.serve(changes=16, expire=True)
        daemon = self.watch(server)
        lines = [json.loads(daemon.stdout.readline()) for _ in range(3 + 2 + 16)]
        self.assertEqual([l['type'] for l in lines],
                         ['ADDED'] * 3 + ['SYNCED', 'RELIST'] + ['MODIFIED'] * 16)
        self.assertIn('too old resource version', lines[4]['msg'])
        daemon.signal()
        self.assertEqual(daemon.status(), 0, daemon.log_text())

    def test_watches_over_tls(self):
        certificate = make_certificate(self.folder)
        server = self.serve(changes=16, certificate=certificate)
        config = self.kubeconfig(server.url, f', certificate-authority: {certificate[0]}')
        daemon = self.start('watch', 'widgets.example.com/v1', config, '-A')
        self.assertEqual(json.loads(daemon.stdout.readline())['name'], 'widget-1')
        self.assertIn('/apis/example.com/v1/widgets?', server.requests[0])
        daemon.signal()
        self.assertEqual(daemon.status(), 0, daemon.log_text())

    def test_sends_nothing_to_a_server_with_an_untrusted_certificate(self):
        server = self.serve(certificate=make_certificate(self.folder))
        daemon = self.watch(server)
        self.assertEqual(daemon.status(), 69)
        self.assertIn('certificate', daemon.log_text())
        self.assertEqual(server.requests, [])

    def test_ends_when_the_reader_closes_the_pipe(self):
        daemon = self.watch(self.serve(changes=None))
        daemon.stdout.readline()
        daemon.stdout.close()  # | head -1
        self.assertEqual(daemon.status(), 0, daemon.log_text())

    def test_reports_that_stdout_cannot_be_written(self):
        with open('/dev/full', 'wb') as full:
            daemon = self.watch(self.serve(changes=16), stdout=full)
            self.assertEqual(daemon.status(), 74)
        self.assertIn('stdout: no space left', daemon.log_text())


class Held(Case):
    """Endless changes, and stdout is not read."""

    def setUp(self):
        super().setUp()
        self.server = self.serve(changes=None)
        self.daemon = self.watch(self.server)
        # The server may only be slow; then the checks below are weaker, not wrong.
        wait_until(lambda: self.server.sent > 1024 * 1024 and self.server.quiet_for() > 1, 'the server to be held')

    def test_the_server_is_held_and_memory_stays_bounded(self):
        sent = self.server.sent
        end = time.monotonic() + 2
        wait_until(lambda: time.monotonic() > end, 'two seconds')
        self.assertTrue(self.daemon.alive())
        self.assertLess(self.server.sent - sent, 16 * 1024 * 1024)
        self.assertLess(self.server.sent, 64 * 1024 * 1024)
        self.assertLess(self.daemon.resident(), 128 * 1024 * 1024)

    def test_no_change_is_missing_when_reading_continues(self):
        sent = self.server.sent
        versions = []
        while self.server.sent < 2 * sent:  # far more than all buffers in between
            line = json.loads(self.daemon.stdout.readline())
            if line['type'] == 'MODIFIED':
                versions.append(int(line['rv']))
        self.assertEqual(versions, list(range(1000, 1000 + len(versions))))

    def test_one_signal_waits_for_the_reader_and_ends_with_a_whole_line(self):
        self.daemon.signal()
        wait_until(lambda: self.server.left, 'the connection to be closed')
        self.assertTrue(self.daemon.alive())
        text = self.daemon.stdout.read()
        self.assertEqual(self.daemon.status(), 0, self.daemon.log_text())
        self.assertTrue(text.endswith(b'}\n'))
        self.assertGreater(text.count(b'\n'), 100)

    def test_a_second_signal_ends_at_once(self):
        self.daemon.signal()
        wait_until(lambda: self.server.left, 'the first signal to be handled')
        self.daemon.signal()
        self.assertEqual(self.daemon.status(), 128 + signal.SIGTERM)


run(__name__)
