#!/usr/bin/env python3
"""test_api_access.py KUBESIM RECORDINGS INFORMERD: who may use the local API, on the Unix socket and at api.listen."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess

from service import INFORMERD, Case, UnixHttp, run, wait_until

OTHER_UID = 4711
TOKEN = 'a-token-of-the-test-0123456789'


class Access(Case):
    def conf(self, **changes):
        return super().conf(**{'watches': [], 'event_logs': [{'path': str(self.path)}], **changes})

    def serve(self, **api):
        """A daemon with api.listen, and its address."""
        self.daemon = self.start(self.conf(api={'listen': '127.0.0.1:0', **api}))
        wait_until(lambda: self.address(), lambda: f'api.listen; {self.daemon.stderr_text()}')
        return self.daemon

    def address(self):
        found = re.findall(r'api: listening on (\S+:\d+)"', self.daemon.stderr_text())
        return found[-1] if found else None

    def ca(self):
        return json.loads(self.get('/informerd/v1/access').text)['certificate_authority']

    def token(self):
        return json.loads(self.get('/informerd/v1/token').text)['token']

    def tls(self, ca=None):
        context = ssl.create_default_context(cadata=ca or self.ca())
        context.set_alpn_protocols(['h2', 'http/1.1'])
        host, port = self.address().rsplit(':', 1)
        return http.client.HTTPSConnection(host, int(port), context=context, timeout=60)

    def ask(self, target='/version', **headers):
        """(status, object) of a request at api.listen."""
        with contextlib.closing(self.tls()) as connection:
            connection.request('GET', target, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def ask_token(self, token, target='/version', **headers):
        return self.ask(target, Authorization=f'Bearer {token}', **headers)

    def as_uid(self, uid, target='/version', groups=()):
        """(status, text) of a request over the socket by a child process with another uid."""
        self.folder.chmod(0o755)
        self.socket.chmod(0o666)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                os.setgroups(list(groups))
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                answer = self.get(target)
                os.write(writer, f'{answer.status} {answer.text}'.encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as f:
            status, _, text = f.read().partition(' ')
        os.waitpid(child, 0)
        return int(status), text

    def started(self, **changes):
        self.daemon = self.start(self.conf(**changes))
        self.wait_ready()
        return self.daemon

    def test_check_config_reports_readers_that_cannot_be_used(self):
        for reader, why in (({'token_file': '/nonexistent/token'}, "file '/nonexistent/token': No such file or directory"),
                            ({'group': 'no-such-group'}, "group 'no-such-group': no such group")):
            path = self.write_conf(self.conf(api={'readers': [{'name': 'ops', **reader}]}))
            done = subprocess.run([INFORMERD, '--check-config', '-c', path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"warning: api.readers: 'ops': {why}\n", done.stdout)

    # ---- the Unix socket ----

    def test_the_own_user_and_root_are_readers_by_default(self):
        self.started()
        answer = self.get('/version')
        self.assertEqual(answer.status, 200)
        self.assertIn('gitVersion', answer.text)
        status = json.loads(self.get('/informerd/v1/status').text)
        self.assertEqual(status['watches'], [])

    def test_other_users_are_refused_and_logged(self):
        if os.geteuid():
            self.skipTest('needs root')
        self.started()
        status, text = self.as_uid(OTHER_UID)
        self.assertEqual((status, json.loads(text)['reason']), (403, 'Forbidden'))
        self.assertEqual(self.as_uid(OTHER_UID, '/informerd/v1/status')[0], 403)
        self.assertEqual(self.as_uid(OTHER_UID, '/informerd/v1/token')[0], 403)
        self.assertEqual(self.as_uid(OTHER_UID, '/livez'), (200, 'ok\n'))
        self.assertRegex(self.daemon.stderr_text(), rf'api: denied GET /version from uid {OTHER_UID} \(pid \d+\): ')

    def test_readers_by_uid_and_group(self):
        if os.geteuid():
            self.skipTest('needs root')
        self.started(api={'readers': [{'name': 'one', 'uid': OTHER_UID}, {'name': 'many', 'group': 'daemon'}]})
        self.assertEqual(self.as_uid(OTHER_UID)[0], 200)
        self.assertEqual(self.as_uid(OTHER_UID + 1)[0], 403)
        self.assertEqual(self.as_uid(OTHER_UID + 1, groups=[1])[0], 200)
        self.assertEqual(self.as_uid(65534, groups=[1])[0], 403)
        self.assertEqual(self.get('/version').status, 200)  # the own user stays a reader

    def test_denied_requests_are_logged_at_a_limited_rate(self):
        self.started(watches=[{'resource': 'configmaps'}],
                     api={'readers': [{'name': 'own', 'uid': os.geteuid(), 'watches': ['configmaps'],
                                       'namespaces': ['shop']}]})
        for _ in range(50):
            self.assertEqual(self.get('/api/v1/configmaps').status, 403)
        self.assertLessEqual(self.daemon.stderr_text().count('api: denied'), 40)

    def test_a_reload_of_readers_disconnects(self):
        daemon = self.started()
        with contextlib.closing(UnixHttp(self.socket)) as client:
            client.request('GET', '/version')
            self.assertEqual(client.getresponse().read()[:1], b'{')
            self.write_conf(self.conf(api={'readers': [{'name': 'one', 'uid': OTHER_UID}]}))
            daemon.send_signal(signal.SIGHUP)
            self.assertEqual(client.sock.recv(1), b'')

    def test_impersonation_is_refused(self):
        self.started()
        with contextlib.closing(UnixHttp(self.socket)) as client:
            client.request('GET', '/version', headers={'Impersonate-User': 'root'})
            answer = client.getresponse()
            self.assertEqual((answer.status, json.loads(answer.read())['message']),
                             (403, 'impersonation is not supported'))

    def test_a_socket_of_the_service_manager_is_used_and_kept(self):
        with socket.socket(socket.AF_UNIX) as given:
            given.bind(str(self.socket))
            given.listen()
            given.setblocking(False)
            inode = self.socket.stat().st_ino
            wrap = ['sh', '-c', f'exec 3<&{given.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', 'sh']
            daemon = self.daemon = self.start(self.conf(), wrap=wrap, pass_fds=[given.fileno()])
            self.wait_ready()
            self.assertEqual(self.get('/version').status, 200)
            self.assertEqual(daemon.end(), 0)
            self.assertEqual(self.socket.stat().st_ino, inode)

    # ---- api.listen ----

    def test_requests_over_tls_need_a_token(self):
        (self.folder / 'token').write_text(TOKEN + '\n')
        self.serve(readers=[{'name': 'own', 'uid': os.geteuid()}, {'name': 'ci', 'token_file': str(self.folder / 'token')}])
        self.assertEqual(self.ask()[1]['message'], 'a bearer token is required')
        self.assertEqual(self.ask()[0], 401)
        self.assertEqual(self.ask_token('wrong')[0], 401)
        self.assertEqual(self.ask(Authorization='Basic YTpi')[0], 401)
        self.assertEqual(self.ask_token(TOKEN)[0], 200)
        self.assertEqual(self.ask_token(TOKEN, '/informerd/v1/token')[0], 403)
        self.assertEqual(self.ask_token(self.token())[0], 200)
        self.assertEqual(self.ask_token(TOKEN, **{'Impersonate-Group': 'system:masters'})[0], 403)
        self.assertEqual(self.ask('/livez')[0], 401)
        self.assertNotIn(TOKEN, self.daemon.stderr_text())

    def test_host_names_must_be_allowed(self):
        self.serve()
        token = self.token()
        for host, status in (('evil.example.com', 421), ('localhost:1', 200), ('127.0.0.1', 200)):
            with contextlib.closing(self.tls()) as connection:
                connection.request('GET', '/version', headers={'Host': host, 'Authorization': f'Bearer {token}'})
                self.assertEqual(connection.getresponse().status, status, host)

    def test_a_token_ends_with_its_reader(self):
        self.serve()
        token = self.token()
        self.assertEqual(self.ask_token(token)[0], 200)
        ca = self.ca()
        for reloads, (uid, status) in enumerate(((OTHER_UID, 200), (os.geteuid(), 401)), 1):
            self.write_conf(self.conf(api={'listen': '127.0.0.1:0', 'readers': [{'name': 'a', 'uid': uid}]}))
            self.daemon.send_signal(signal.SIGHUP)
            wait_until(lambda: self.daemon.stderr_text().count('configuration reloaded') == reloads, 'the new readers')
            with contextlib.closing(self.tls(ca)) as connection:
                connection.request('GET', '/version', headers={'Authorization': f'Bearer {token}'})
                self.assertEqual(connection.getresponse().status, status)

    def test_plain_http_is_refused(self):
        self.serve()
        host, port = self.address().rsplit(':', 1)
        with contextlib.closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
            with self.assertRaises((OSError, http.client.HTTPException)):
                connection.request('GET', '/version')
                connection.getresponse()
        self.assertEqual(self.ask_token(self.token())[0], 200)

    def test_the_authority_and_tokens_survive_a_restart(self):
        self.serve()
        ca, tokens = self.ca(), [self.token()]
        for name in ('api-ca.key', 'api-ca.crt'):
            self.assertEqual(stat.S_IMODE((self.folder / 'state' / name).stat().st_mode), 0o600)
        self.assertEqual(self.daemon.end(), 0)
        (self.folder / 'stderr').unlink()
        self.serve()
        self.assertEqual(self.ca(), ca)
        for token in (*tokens, self.token()):
            with contextlib.closing(self.tls(ca)) as connection:
                connection.request('GET', '/version', headers={'Authorization': f'Bearer {token}'})
                self.assertEqual(connection.getresponse().status, 200)

    def test_many_requests_on_one_connection(self):
        self.serve()
        headers = {'Authorization': f'Bearer {self.token()}'}
        with contextlib.closing(self.tls()) as connection:
            for _ in range(200):
                connection.request('GET', '/version', headers=headers)
                self.assertEqual(connection.getresponse().read()[:1], b'{')
            self.assertIsInstance(connection.sock, ssl.SSLSocket)
            self.assertEqual(connection.sock.selected_alpn_protocol(), 'http/1.1')

    def test_an_address_in_use_is_an_error(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            daemon = self.start(self.conf(api={'listen': f'127.0.0.1:{taken.getsockname()[1]}'}))
            self.assertNotEqual(daemon.status(), 0)
        self.assertIn('api: listen address', daemon.stderr_text())


run(__name__)
