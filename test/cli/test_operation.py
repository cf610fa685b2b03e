#!/usr/bin/env python3
"""test_operation.py INFORMERD KUBESIM: what operators meet: any user, exit codes, logrotate. Prints results as TAP."""
import grp
import gzip
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from lib import DEADLINE, INFORMERD, clean_environment, run, wait_until
from service_case import Case

CONF_FILES = Path(__file__).resolve().parents[2] / 'conf'


class AnyUser(Case):
    """conf/minimal.conf without preparation, as root and as another user."""

    def setUp(self):
        super().setUp()
        self.home = self.folder / 'home'
        self.home.mkdir()
        self.user = []
        if os.getuid() == 0:
            self.user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
            self.folder.chmod(0o755)
            (self.folder / 'kubeconfig').chmod(0o644)
            for path in (self.folder, self.home):
                os.chown(path, 65534, 65534)
            if not shutil.which('setpriv') or subprocess.run([*self.user, INFORMERD, '-V'], capture_output=True).returncode:
                self.skipTest('another user cannot run the program')
        self.conf_file = self.folder / 'minimal.conf'
        shutil.copy(CONF_FILES / 'minimal.conf', self.conf_file)
        self.conf_file.chmod(0o644)
        if Path('/var/lib/informerd').exists():
            self.skipTest('this machine has /var/lib/informerd')

    def env(self, **more):
        """Without core dumps, a sanitizer can't look for leaks."""
        asan = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        return clean_environment(HOME=str(self.home), KUBECONFIG=str(self.folder / 'kubeconfig'), ASAN_OPTIONS=asan, **more)

    def run_until_synced(self, directory, **env):
        child = subprocess.Popen([*self.user, INFORMERD, '-c', self.conf_file], stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env(**env), cwd=self.folder)
        self.stack.callback(child.kill)
        types = []
        while types[-1:] not in (['SYNCED'], ['end']):
            line = child.stdout.readline()
            types.append(json.loads(line)['type'] if line else 'end')
        child.terminate()
        errors = child.communicate(timeout=DEADLINE)[1]
        self.assertEqual((child.returncode, types), (0, ['START', 'SYNCED']), errors)
        self.assertIn(f'state directory {directory} created', errors)
        self.assertEqual(directory.stat().st_mode & 0o777, 0o700)
        self.assertTrue((directory / 'key').exists())

    def printed(self, **env):
        result = subprocess.run([*self.user, INFORMERD, '-c', self.conf_file, '--print-config'], capture_output=True, text=True,
                                timeout=DEADLINE, env=self.env(**env))
        self.assertEqual(result.returncode, 0, result.stderr)
        return re.sub(' +', ' ', result.stdout)

    def test_state_below_the_home_directory(self):
        self.run_until_synced(self.home / '.local/state/informerd')
        self.assertIn(f'state_dir: {self.home}/.local/state/informerd # default, from $HOME\n', self.printed())

    def test_state_below_xdg_state_home(self):
        self.run_until_synced(self.home / 'x/informerd', XDG_STATE_HOME=str(self.home / 'x'))
        self.assertIn('/x/informerd # default, from $XDG_STATE_HOME\n', self.printed(XDG_STATE_HOME=str(self.home / 'x')))

    def test_state_and_socket_below_the_directories_of_systemd(self):
        self.run_until_synced(self.home / 'a', STATE_DIRECTORY=f'{self.home}/a:{self.home}/b')
        printed = self.printed(RUNTIME_DIRECTORY='/run/informerd')
        self.assertIn(' path: /run/informerd/informerd.sock # default, from $RUNTIME_DIRECTORY\n', printed)
        self.assertIn(' #path: # default: $RUNTIME_DIRECTORY/informerd.sock if that is set, otherwise off\n', self.printed())


class ExitCodes(Case):
    """The exit code of a mistake does not depend on whether a flag, a variable or the configuration contains it.

    Invalid usage of the command line itself is 64, an invalid value in the configuration 78.
    """

    def code(self, *arguments, conf=None, user=(), **env):
        if conf is not None:
            path = self.folder / 'x.conf'
            path.write_text(conf)
            arguments = ('-c', path, *arguments)
        asan = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        done = subprocess.run([*user, INFORMERD, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=DEADLINE, cwd=self.folder,
                              env=clean_environment(**{'HOME': str(self.folder), 'ASAN_OPTIONS': asan,
                                                       'STATE_DIRECTORY': str(self.folder / 'state')} | env))
        self.assertTrue(done.stderr, arguments)
        return done.returncode

    def test_kubeconfigs(self):
        good = json.dumps({'current-context': 'c', 'contexts': [{'name': 'c', 'context': {'cluster': 'k'}}],
                           'clusters': [{'name': 'k', 'cluster': {'server': 'https://127.0.0.1:1'}}]})
        (self.folder / 'invalid').write_text('{bad')
        (self.folder / 'server').write_text(good.replace('https', 'ftp'))
        (self.folder / 'good').write_text(good)
        for name in ('absent', 'invalid', 'server', '.'):
            with self.subTest(name):
                path = str(self.folder / name)
                conf = f'clusters: [{{kubeconfig: {path}}}]\nwatches: [{{resource: pods}}]\n'
                self.assertEqual([self.code('watch', 'pods', '--kubeconfig', path), self.code('watch', 'pods', KUBECONFIG=path),
                                  self.code(conf=conf), self.code('--check-config', conf=conf),
                                  self.code(conf='watches: [{resource: pods}]', KUBECONFIG=path)], [78] * 5)
        conf = 'clusters: [{kubeconfig: good, context: no}]\nwatches: [{resource: pods}]\n'
        self.assertEqual([self.code('watch', 'pods', '--kubeconfig', 'good', '--context', 'no'), self.code(conf=conf)], [78] * 2)

    @unittest.skipIf(Path('/etc/informerd/informerd.conf').exists(), 'this machine has a configuration')
    def test_missing_configuration(self):
        self.assertEqual([self.code('-c', 'absent'), self.code('rbac', '-c', 'absent'), self.code(), self.code('rbac')], [78] * 4)

    def test_usage_and_values(self):
        self.assertEqual([self.code('--no-such-flag'), self.code('watch', 'pods', '--no-such-flag')], [64] * 2)
        for text in ('no_such_key: 1', 'log: {level: loud}', 'watches: [{resource: pods, cluster: x}]',
                     'state_dir: ${INFORMERD_TEST_UNSET}'):
            with self.subTest(text):
                self.assertEqual([self.code(conf=text), self.code('--check-config', conf=text)], [78] * 2)

    def test_state_directories(self):
        (self.folder / 'file').write_text('')
        for name, expected in (('absent/state', 74), ('file/state', 74)):
            with self.subTest(name):
                path = str(self.folder / name)
                self.assertEqual([self.code(conf=f'state_dir: {path}'), self.code(conf='', STATE_DIRECTORY=path)], [expected] * 2)
        if os.getuid() != 0 or not shutil.which('setpriv'):
            self.skipTest('needs root and setpriv')
        user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
        self.folder.chmod(0o755)
        if subprocess.run([*user, INFORMERD, '-V'], capture_output=True).returncode:
            self.skipTest('another user cannot run the program')
        for name in ('state', 'new'):  # neither can be written by that user
            path = str(self.folder / name)
            self.assertEqual([self.code(conf=f'state_dir: {path}', user=user),
                              self.code(conf='', STATE_DIRECTORY=path, user=user)], [77] * 2)

    def test_addresses_in_use(self):
        with socket.create_server(('127.0.0.1', 0)) as other, socket.socket(socket.AF_UNIX) as local:
            local.bind(str(self.folder / 'informerd.sock'))
            local.listen()
            cluster = f'clusters: [{{kubeconfig: {self.folder}/kubeconfig}}]\n'
            port = other.getsockname()[1]
            self.assertEqual([self.code(conf=cluster + f'http: {{listen: "127.0.0.1:{port}"}}\n'),
                              self.code(conf=cluster + 'socket: {path: informerd.sock}\n'),
                              self.code(conf=cluster, RUNTIME_DIRECTORY=str(self.folder))], [74] * 3)


class Logrotate(Case):
    """The installed logrotate file with the real logrotate, in a directory of the test."""
    PROGRAM = shutil.which('logrotate', path=os.environ.get('PATH', '') + ':/usr/sbin')

    def rotate(self, daemon):
        """Runs logrotate. systemctl is a script that signals our daemon instead of a unit."""
        me = f'{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}'
        text = (CONF_FILES / 'informerd.logrotate').read_text()
        rules = self.folder / 'rules'
        rules.write_text(text.replace('/var/log/informerd', str(self.folder)).replace('su informerd informerd', f'su {me}'))
        rules.chmod(0o644)
        tools = self.folder / 'tools'
        tools.mkdir(exist_ok=True)
        (tools / 'systemctl').write_text(f"""#!/bin/sh
echo "$*" >> {self.folder}/calls
case "$*" in
kill*) kill -USR1 {daemon.child.pid} ;;
esac
""")
        (tools / 'systemctl').chmod(0o755)
        done = subprocess.run([self.PROGRAM, '--force', '-s', self.folder / 'rotated', rules], capture_output=True, text=True,
                              timeout=DEADLINE, env=os.environ | {'PATH': f'{tools}:{os.environ["PATH"]}'})
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    @unittest.skipUnless(PROGRAM, 'there is no logrotate')
    def test_no_line_is_lost(self):
        daemon = self.start()
        self.wait_for('SYNCED')
        for turn in range(3):
            for number in range(20):
                self.sim.put(f'{turn}-{number}')
            self.rotate(daemon)
            for number in range(20, 30):
                self.sim.put(f'{turn}-{number}')
            wait_until(self.log.exists, 'a new file')
            for number in range(30, 40):
                self.sim.put(f'{turn}-{number}')
            wait_until(lambda: f'"name":"{turn}-39"' in self.log.read_text(), 'the last change in the new file')
        self.end(daemon)
        self.assertEqual((self.folder / 'calls').read_text().splitlines()[:2],
                         ['--quiet is-active informerd.service', 'kill --signal=USR1 --kill-who=main informerd.service'])
        files = sorted(self.folder.glob('events.jsonl*'))
        self.assertEqual([file.name for file in files], ['events.jsonl', 'events.jsonl.1', 'events.jsonl.2.gz', 'events.jsonl.3.gz'])
        lines = [line for file in files for line in (gzip.open if file.suffix == '.gz' else open)(file, 'rt')]
        records = [json.loads(line) for line in lines if line.strip()]
        self.assertEqual(sorted(r['name'] for r in records if r['type'] == 'ADDED'),
                         sorted(f'{turn}-{number}' for turn in range(3) for number in range(40)))
        self.assertEqual(sorted(r['seq'] for r in records), list(range(1, len(records) + 1)))
        self.assertEqual(self.log.stat().st_mode & 0o777, 0o640 & ~self.umask())

    @staticmethod
    def umask():
        value = os.umask(0o022)
        os.umask(value)
        return value


run(__name__)
