#!/usr/bin/env python3
"""test_access.py KUBESIM RECORDINGS INFORMERD: the daemon's ways in, against a server that lets not everybody in.

Every case watches config maps by TLS, changes who may come in while it runs, and wants to see the next change. What is
secret has "s3cr3t" in it, and no log may.
"""
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
import lib

INFORMERD = Path(sys.argv[3]).resolve()
V1 = 'client.authentication.k8s.io/v1'


class Access(lib.Case):
    arguments = ('--self-signed', 'FOLDER', '--kubeconfig', 'FOLDER/theirs', '--token', 's3cr3t-1')

    def setUp(self):
        super().setUp()
        self.lines, self.seen = [], threading.Condition()
        self.log = self.folder / 'stderr'
        self.addCleanup(self.assert_discreet)

    def assert_discreet(self):
        if self.log.exists():
            self.assertNotIn('s3cr3t', self.log.read_text())

    def kubeconfig(self, user):
        path = self.folder / 'ours'
        path.write_text(json.dumps({
            'current-context': 'x',
            'contexts': [{'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'clusters': [{'name': 'c', 'cluster': {'server': self.sim.ready['url'], 'certificate-authority': 'ca.crt'}}],
            'users': [{'name': 'u', 'user': user}]}))
        return path

    def environment(self):
        return {k: v for k, v in os.environ.items() if not k.startswith('KUBE')} | {'HOME': str(self.folder)}

    def start(self, *arguments):
        with open(self.log, 'wb') as log:
            child = subprocess.Popen([INFORMERD, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=log, env=self.environment(), text=True)
        reader = threading.Thread(target=self.read, args=(child.stdout,))
        reader.start()
        self.addCleanup(self.stop, child, reader)

    def read(self, stdout):
        for line in stdout:
            with self.seen:
                self.lines.append(line)
                self.seen.notify_all()

    def stop(self, child, reader):
        child.terminate()
        status = child.wait(lib.DEADLINE)
        reader.join()
        child.stdout.close()
        self.assertEqual(status, 0, self.log.read_text())

    def watch(self, user, *arguments):
        self.start('watch', 'configmaps', '-o', 'jsonl', '--kubeconfig', self.kubeconfig(user), *arguments)

    def expect(self, name):
        """An object of that name, now put there, comes out."""
        self.sim.put('configmaps', lib.config_map(name))
        with self.seen:
            there = self.seen.wait_for(lambda: any(f'"name":"{name}"' in line for line in self.lines), lib.DEADLINE)
        self.assertTrue(there, self.log.read_text())

    def let_in(self, token):
        """Only that one from now on; whoever is in has to come again."""
        self.sim.control('tokens', set=token)
        self.sim.control('close', how='end')

    def plugin(self, text, **more):
        """A user whose credentials that script says."""
        path = self.folder / 'plugin'
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {'exec': {'apiVersion': V1, 'command': './plugin', 'interactiveMode': 'Never'} | more}

    def says(self, status):
        return f"""echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{status}}}'"""

    def wait_for_log(self, pattern):
        end = time.monotonic() + lib.DEADLINE
        while not re.search(pattern, self.log.read_text()):
            self.assertLess(time.monotonic(), end, self.log.read_text())
            time.sleep(0.02)

    def test_a_token(self):
        self.watch({'token': 's3cr3t-1'})
        self.expect('one')

    def test_a_token_file_that_is_renewed(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1\n')
        self.watch({'tokenFile': 'token'})
        self.expect('one')
        token.write_text('s3cr3t-2\n')
        self.let_in('s3cr3t-2')
        self.expect('two')
        self.assertNotIn('nauthorized', self.log.read_text())  # the second try was ours alone

    def test_another_user_by_the_command_line(self):
        path = self.kubeconfig({'token': 'nobody'})
        said = json.loads(path.read_text())
        said['users'].append({'name': 'v', 'user': {'token': 's3cr3t-1', 'as': 'jane'}})
        path.write_text(json.dumps(said))
        self.start('watch', 'configmaps', '-o', 'jsonl', '--kubeconfig', path, '--user', 'v',
                   '--cluster', 'c', '--as', 'joe')
        self.expect('one')

    def test_a_plugin_and_its_environment(self):
        says = self.says('{"token":"s3cr3t-1"}')
        self.watch(self.plugin(f'echo "$REGION $1 $KUBERNETES_EXEC_INFO" > {self.folder}/info; {says}',
                               args=['--now'], env=[{'name': 'REGION', 'value': 'eu'}], provideClusterInfo=True))
        self.expect('one')
        region, word, info = (self.folder / 'info').read_text().split(' ', 2)
        info = json.loads(info)
        self.assertEqual((region, word, info['kind'], info['apiVersion']), ('eu', '--now', 'ExecCredential', V1))
        self.assertFalse(info['spec']['interactive'])
        self.assertEqual(info['spec']['cluster']['server'], self.sim.ready['url'])

    def test_a_plugin_is_run_again_for_another_token(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1')
        says = self.says(f'''{{"token":"'$(cat {token})'"}}''')
        self.watch(self.plugin(f'echo run >> {self.folder}/runs; {says}'))
        self.expect('one')
        token.write_text('s3cr3t-2')
        self.let_in('s3cr3t-2')
        self.expect('two')
        self.assertEqual((self.folder / 'runs').read_text(), 'run\nrun\n')

    def test_a_plugin_that_fails_is_named_and_not_repeated(self):
        self.watch(self.plugin('echo s3cr3t; echo s3cr3t >&2; exit 3'))
        self.wait_for_log(r"exec plugin '[^']*/plugin': exit code 3; what it says is not repeated here")

    def test_a_plugin_that_is_not_there_comes_with_its_hint(self):
        user = self.plugin('', command='informerd-no-such-plugin', installHint='brew install it')
        self.watch(user)
        self.wait_for_log(r"informerd-no-such-plugin' is not there; its install hint: brew install it")

    def conf(self, cluster):
        path = self.folder / 'x.conf'
        (self.folder / 'state').mkdir(exist_ok=True)
        path.write_text(json.dumps({
            'state_dir': str(self.folder / 'state'), 'clusters': [{'name': 'default', **cluster}],
            'watches': [{'resource': 'configmaps'}], 'event_logs': [{'path': 'stdout'}]}))
        return path

    def test_a_server_given_directly(self):
        (self.folder / 'token').write_text('s3cr3t-1')
        self.start('-c', self.conf({'server': self.sim.ready['url'], 'ca': str(self.folder / 'ca.crt'),
                                    'token_file': str(self.folder / 'token')}))
        self.expect('one')

    def test_only_plugins_that_are_allowed(self):
        user = self.plugin(self.says('{"token":"s3cr3t-1"}'))
        conf = self.conf({'kubeconfig': str(self.kubeconfig(user)), 'exec_allow': ['aws']})
        done = subprocess.run([INFORMERD, '-c', conf], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=lib.DEADLINE)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('is not among the plugins that may be run (exec_allow)', done.stderr)
        self.start('-c', self.conf({'kubeconfig': str(self.kubeconfig(user)),
                                    'exec_allow': [str(self.folder / 'plugin')]}))
        self.expect('one')


if __name__ == '__main__':
    lib.run(__name__)
