#!/usr/bin/env python3
"""test_access.py KUBESIM RECORDINGS INFORMERD: the daemon's credentials, against a server that requires them.

Each case watches config maps over TLS, changes the accepted tokens while it runs, and expects the next change. All
secrets contain "s3cr3t", which must not appear in any log.
"""
import contextlib
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
        self.addCleanup(self.assert_no_secret_logged)

    def assert_no_secret_logged(self):
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

    def start(self, *arguments, status=0):
        """A status other than 0: it ends by itself, with that exit code."""
        with open(self.log, 'wb') as log:
            child = subprocess.Popen([INFORMERD, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=log, env=self.environment(), text=True)
        reader = threading.Thread(target=self.read, args=(child.stdout,))
        reader.start()
        self.addCleanup(self.stop, child, reader, status)
        return child

    def read(self, stdout):
        for line in stdout:
            with self.seen:
                self.lines.append(line)
                self.seen.notify_all()

    def stop(self, child, reader, expected):
        if expected == 0:
            child.terminate()
        status = child.wait(lib.DEADLINE)
        reader.join()
        child.stdout.close()
        self.assertEqual(status, expected, self.log.read_text())

    def watch(self, user, *arguments, status=0):
        return self.start('watch', 'configmaps', '-o', 'jsonl', '--kubeconfig', self.kubeconfig(user), *arguments,
                          status=status)

    def expect(self, name):
        """Creates an object of that name and expects its event."""
        self.sim.put('configmaps', lib.config_map(name))
        with self.seen:
            there = self.seen.wait_for(lambda: any(f'"name":"{name}"' in line for line in self.lines), lib.DEADLINE)
        self.assertTrue(there, self.log.read_text())

    def accept_only(self, token):
        """Accepts only that token from now on, and closes all watches."""
        self.sim.control('tokens', set=token)
        self.sim.control('close', how='end')

    def plugin(self, text, **more):
        """A user with an exec plugin that runs that script."""
        path = self.folder / 'plugin'
        path.write_text(f'#!/bin/sh\n{text}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {'exec': {'apiVersion': V1, 'command': './plugin', 'interactiveMode': 'Never'} | more}

    def credential_script(self, status):
        return f"""echo '{{"kind":"ExecCredential","apiVersion":"{V1}","status":{status}}}'"""

    def wait_for_log(self, pattern):
        end = time.monotonic() + lib.DEADLINE
        while not re.search(pattern, self.log.read_text()):
            self.assertLess(time.monotonic(), end, self.log.read_text())
            time.sleep(0.02)

    def memory_of(self, child, text):
        """Where the text is in the memory of the child, in use or freed: [(mapping, the bytes around it)]."""
        if not os.access(f'/proc/{child.pid}/mem', os.R_OK):
            self.skipTest('no permission to read the memory of a child')
        found = []
        with open(f'/proc/{child.pid}/maps') as maps, open(f'/proc/{child.pid}/mem', 'rb', 0) as memory:
            for line in maps:
                begin, end = (int(part, 16) for part in line.split()[0].split('-'))
                if ' rw' not in line or '[v' in line or end - begin > 2**32:  # the shadow memory of a sanitizer has terabytes
                    continue
                with contextlib.suppress(OSError):
                    memory.seek(begin)
                    content = memory.read(end - begin)
                    found += [(line.strip(), content[max(0, m.start() - 80):m.start() + 40])
                              for m in re.finditer(text.encode(), content)]
        return found

    def test_token(self):
        self.watch({'token': 's3cr3t-1'})
        self.expect('one')

    def test_token_file_is_read_again(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1\n')
        self.watch({'tokenFile': 'token'})
        self.expect('one')
        token.write_text('s3cr3t-2\n')
        self.accept_only('s3cr3t-2')
        self.expect('two')
        self.assertNotIn('nauthorized', self.log.read_text())  # the second attempt was made by this test

    def test_user_name_and_password(self):
        self.accept_only('Basic amFuZTpzM2NyM3QtMQ==')
        self.watch({'username': 'jane', 'password': 's3cr3t-1'})
        self.expect('one')

    def test_wrong_password_is_reported(self):
        self.accept_only('Basic amFuZTpzM2NyM3QtMQ==')
        self.watch({'username': 'jane', 'password': 's3cr3t-2'}, status=77)
        self.wait_for_log(r"401 Unauthorized\); the server rejected the name and password of user 'u'")

    def test_replaced_token_is_erased_from_memory(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1\n')
        child = self.watch({'tokenFile': 'token'})
        self.expect('one')
        self.assertTrue(self.memory_of(child, 's3cr3t-1'))
        token.write_text('s3cr3t-2\n')
        self.accept_only('s3cr3t-2')
        self.expect('two')
        self.assertEqual(self.memory_of(child, 's3cr3t-1'), [])

    def test_plugin_output_is_erased_from_memory(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1')
        credential = self.credential_script(f'''{{"token":"'$(cat {token})'"}}''')
        child = self.watch(self.plugin(f'cat {token} >&2; {credential}'))
        self.expect('one')
        token.write_text('s3cr3t-2')
        self.accept_only('s3cr3t-2')
        self.expect('two')
        self.assertEqual(self.memory_of(child, 's3cr3t-1'), [])

    def test_user_option_selects_another_user(self):
        path = self.kubeconfig({'token': 'rejected'})
        document = json.loads(path.read_text())
        document['users'].append({'name': 'v', 'user': {'token': 's3cr3t-1', 'as': 'jane'}})
        path.write_text(json.dumps(document))
        self.start('watch', 'configmaps', '-o', 'jsonl', '--kubeconfig', path, '--user', 'v',
                   '--cluster', 'c', '--as', 'joe')
        self.expect('one')

    def test_plugin_gets_arguments_and_environment(self):
        credential = self.credential_script('{"token":"s3cr3t-1"}')
        self.watch(self.plugin(f'echo "$REGION $1 $KUBERNETES_EXEC_INFO" > {self.folder}/info; {credential}',
                               args=['--now'], env=[{'name': 'REGION', 'value': 'eu'}], provideClusterInfo=True))
        self.expect('one')
        region, word, info = (self.folder / 'info').read_text().split(' ', 2)
        info = json.loads(info)
        self.assertEqual((region, word, info['kind'], info['apiVersion']), ('eu', '--now', 'ExecCredential', V1))
        self.assertFalse(info['spec']['interactive'])
        self.assertEqual(info['spec']['cluster']['server'], self.sim.ready['url'])

    def test_plugin_runs_again_when_the_token_is_rejected(self):
        token = self.folder / 'token'
        token.write_text('s3cr3t-1')
        credential = self.credential_script(f'''{{"token":"'$(cat {token})'"}}''')
        self.watch(self.plugin(f'echo run >> {self.folder}/runs; {credential}'))
        self.expect('one')
        token.write_text('s3cr3t-2')
        self.accept_only('s3cr3t-2')
        self.expect('two')
        self.assertEqual((self.folder / 'runs').read_text(), 'run\nrun\n')

    def test_failed_plugin_is_named_without_its_output(self):
        self.watch(self.plugin('echo s3cr3t; echo s3cr3t >&2; exit 3'), status=77)
        self.wait_for_log(r"exec plugin '[^']*/plugin': exit code 3; its stderr is logged at level debug")

    def test_plugin_stderr_is_logged_at_level_debug(self):
        self.watch(self.plugin('echo s3cr3t; echo "no login: s3cr3t-0123456789 expired" >&2; exit 3'), '-v', status=77)
        self.wait_for_log(r"level=debug msg=\"exec plugin '[^']*/plugin' stderr: no login: \[...\] expired\"")

    def test_unusable_plugins_are_reported(self):
        v1beta1 = self.credential_script('{"token":"s3cr3t"}').replace('/v1"', '/v1beta1"')
        for script, complaint in {
                'kill -SEGV $$': 'killed by SIGSEGV; it wrote nothing to stderr; run it manually to find the cause',
                'yes s3cr3t': 'more than 262144 bytes of output',
                'echo s3cr3t': "invalid ExecCredential: not a JSON object",
                v1beta1: "invalid ExecCredential: apiVersion must be '.*/v1'",
                self.credential_script('{"clientKeyData":"s3cr3t"}'): 'only one of clientCertificateData and clientKeyData',
                self.credential_script('{"token":"s3cr3t","expirationTimestamp":"soon"}'): 'expirationTimestamp must be a time',
        }.items():
            with self.subTest(script):
                child = self.watch(self.plugin(script), status=77)
                self.wait_for_log(f"exec plugin '[^']*/plugin': .*{complaint}")
                self.assert_no_secret_logged()
                child.wait(lib.DEADLINE)

    def test_slow_plugin_does_not_delay_other_clusters(self):
        """Two clusters in one process; one waits for its plugin until the test releases it."""
        gate = self.folder / 'gate'
        os.mkfifo(gate)
        slow = self.kubeconfig(self.plugin(f'cat {gate}; ' + self.credential_script('{"token":"s3cr3t-1"}'))).rename(self.folder / 'slow')
        quick = self.kubeconfig({'token': 's3cr3t-1'})
        path = self.conf({})
        document = json.loads(path.read_text())
        document['clusters'] = [{'name': 'slow', 'kubeconfig': str(slow)}, {'name': 'quick', 'kubeconfig': str(quick)}]
        document['watches'] = [{'name': name, 'resource': 'configmaps', 'cluster': name} for name in ('slow', 'quick')]
        path.write_text(json.dumps(document))
        self.start('-c', path)
        self.expect('one')
        self.assertFalse([line for line in self.lines if '"cluster":"slow"' in line and '"ADDED"' in line])
        gate.write_text('')
        with self.seen:
            self.assertTrue(self.seen.wait_for(lambda: any(
                '"cluster":"slow"' in line and '"name":"one"' in line for line in self.lines), lib.DEADLINE))

    def test_missing_plugin_is_reported_with_its_install_hint(self):
        user = self.plugin('', command='informerd-no-such-plugin', installHint='brew install it')
        self.watch(user, status=77)
        self.wait_for_log(r"informerd-no-such-plugin' not found; install hint: brew install it")

    def conf(self, cluster):
        path = self.folder / 'x.conf'
        (self.folder / 'state').mkdir(exist_ok=True)
        path.write_text(json.dumps({
            'state_dir': str(self.folder / 'state'), 'clusters': [{'name': 'default', **cluster}],
            'watches': [{'resource': 'configmaps'}], 'event_logs': [{'path': 'stdout'}]}))
        return path

    def test_server_in_the_configuration(self):
        (self.folder / 'token').write_text('s3cr3t-1')
        self.start('-c', self.conf({'server': self.sim.ready['url'], 'ca': str(self.folder / 'ca.crt'),
                                    'token_file': str(self.folder / 'token')}))
        self.expect('one')

    def test_exec_allow_restricts_plugins(self):
        user = self.plugin(self.credential_script('{"token":"s3cr3t-1"}'))
        conf = self.conf({'kubeconfig': str(self.kubeconfig(user)), 'exec_allow': ['aws']})
        done = subprocess.run([INFORMERD, '-c', conf], env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=lib.DEADLINE)
        self.assertEqual(done.returncode, 78, done.stderr)
        self.assertIn('is not allowed to run; add it to exec_allow', done.stderr)
        self.start('-c', self.conf({'kubeconfig': str(self.kubeconfig(user)),
                                    'exec_allow': [str(self.folder / 'plugin')]}))
        self.expect('one')


if __name__ == '__main__':
    lib.run(__name__)
