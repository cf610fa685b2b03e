#!/usr/bin/env python3
"""test_server.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the files of the page, its headers, and its sessions."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from world import PAGE_MAX, PageCase, SOURCES
from service import environment, run, wait_until


class Files(PageCase):
    def test_the_page_is_served_with_a_strict_policy(self):
        self.serve()
        answer = self.ask('/')
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.body, (SOURCES / 'index.html').read_bytes())
        headers = answer.headers
        self.assertEqual(headers['Content-Type'], 'text/html; charset=utf-8')
        self.assertEqual(headers['X-Content-Type-Options'], 'nosniff')
        self.assertEqual(headers['X-Frame-Options'], 'DENY')
        self.assertEqual(headers['Referrer-Policy'], 'no-referrer')
        self.assertEqual(headers['Cross-Origin-Opener-Policy'], 'same-origin')
        self.assertEqual(headers['Cache-Control'], 'no-cache')
        self.assertNotIn('Set-Cookie', headers)
        policy = dict(part.strip().split(' ', 1) for part in headers['Content-Security-Policy'].split(';'))
        self.assertEqual(policy.pop('require-trusted-types-for'), "'script'")
        for directive in ('script-src', 'style-src', 'connect-src', 'img-src'):
            self.assertEqual(policy.pop(directive), "'self'")
        self.assertEqual(set(policy.values()), {"'none'"})
        self.assertEqual(set(policy), {'default-src', 'base-uri', 'form-action', 'frame-ancestors', 'trusted-types'})

    def test_every_file_is_served_and_together_they_are_small(self):
        self.serve()
        types = {'.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.svg': 'image/svg+xml'}
        files = [f for f in SOURCES.iterdir() if f.suffix in types]
        for file in files:
            answer = self.ask('/' if file.name == 'index.html' else f'/page/{file.name}')
            self.assertEqual((answer.status, answer.body), (200, file.read_bytes()), file.name)
            self.assertEqual(answer.headers['Content-Type'].split(';')[0], types[file.suffix])
            self.assertIn('Content-Security-Policy', answer.headers)
        self.assertLessEqual(sum(f.stat().st_size for f in files), PAGE_MAX)

    def test_no_file_refers_to_another_server(self):
        for file in SOURCES.iterdir():
            for url in re.findall(r'(?:https?:)?//[a-z][\w.-]*\.[a-z]+[^\s"\']*', file.read_text()):
                self.assertTrue(url.startswith('http://www.w3.org/2000/svg'), f'{file.name}: {url}')

    def test_a_kept_file_is_not_sent_again(self):
        self.serve()
        first = self.ask('/page/style.css')
        again = self.ask('/page/style.css', headers={'If-None-Match': first.headers['ETag']})
        self.assertEqual((again.status, again.body), (304, b''))
        self.assertEqual(again.headers['ETag'], first.headers['ETag'])
        self.assertEqual(self.ask('/page/style.css', headers={'If-None-Match': '"another"'}).status, 200)
        self.assertNotEqual(first.headers['ETag'], self.ask('/').headers['ETag'])
        head = self.ask('/page/style.css', 'HEAD')
        self.assertEqual((head.status, head.body, head.headers['Content-Length']),
                         (200, b'', str(len(first.body))))

    def test_everything_else_needs_a_token(self):
        self.serve()
        for target in ('/informerd/v1/status', '/informerd/v1/events', '/api/v1/configmaps', '/page/none.js', '/page/',
                       '/page', '/index.html', '/livez', '/metrics', '/informerd/v1/session', '//', '/page/../etc/passwd'):
            self.assertEqual(self.ask(target).status, 401, target)

    def test_the_page_is_only_at_api_listen(self):
        self.serve(http={'listen': '127.0.0.1:0'})
        for target in ('/', '/page/app.js'):
            self.assertEqual(self.get(target).status, 404)
        plain = re.search(r'http: listening on (\S+:\d+)"', self.daemon.stderr_text())[1]
        self.assertEqual(self.get('/', plain).status, 404)

    def test_other_host_names_are_refused(self):
        self.serve()
        self.assertEqual(self.ask('/', headers={'Host': 'evil.example.com'}).status, 421)


class Sessions(PageCase):
    def test_a_code_opens_one_session(self):
        self.serve()
        code = self.code()
        opened = self.login(code)
        self.assertEqual(opened.status, 200)
        token = json.loads(opened.body)['token']
        self.assertEqual(self.ask('/informerd/v1/status', token=token).status, 200)
        again = self.login(code)
        self.assertEqual(again.status, 401)
        self.assertIn("run 'informerctl page' again", json.loads(again.body)['message'])

    def test_wrong_codes_are_refused_and_not_logged(self):
        self.serve()
        for code in ('', 'x', 'secret-guess' * 5, self.token()):
            self.assertEqual(self.login(code).status, 401)
        self.assertEqual(self.login('x' * 1025).status, 413)
        self.assertIn('api: denied POST /informerd/v1/session from a client of api.listen', self.daemon.stderr_text())
        self.assertNotIn('secret-guess', self.daemon.stderr_text())

    def test_a_code_is_no_token_and_a_token_no_code(self):
        self.serve()
        code, token = self.code(), self.token()
        self.assertEqual(self.ask('/version', token=code).status, 401)
        self.assertEqual(self.login(token).status, 401)
        self.assertEqual(self.login(code).status, 200)

    def test_post_is_accepted_for_the_login_only(self):
        self.serve()
        token = self.session()
        for target in ('/', '/informerd/v1/status', '/api/v1/namespaces/default/configmaps', '/informerd/v1/session/'):
            self.assertEqual(self.ask(target, 'POST', token=token, body='{}').status, 405, target)
        for method in ('PUT', 'DELETE', 'PATCH', 'OPTIONS'):
            self.assertEqual(self.ask('/informerd/v1/session', method, body='{}').status, 405, method)
        with contextlib.closing(http.client.HTTPConnection('localhost')) as client:
            client.sock = socket.socket(socket.AF_UNIX)
            client.sock.connect(str(self.socket))
            client.request('POST', '/informerd/v1/session', body=self.code())
            self.assertEqual(client.getresponse().status, 405)

    def test_a_session_is_read_only_and_not_local(self):
        self.serve()
        token = self.session()
        for target in ('reload', 'reopen', 'token', 'code'):
            self.assertEqual(self.ask(f'/informerd/v1/{target}', token=token).status, 403, target)

    def test_a_session_survives_a_restart_and_a_code_does_not(self):
        self.serve()
        token, code = self.session(), self.code()
        self.daemon.end()
        self.serve()
        self.assertEqual(self.login(code).status, 401)
        self.assertEqual(self.ask('/informerd/v1/status', token=token).status, 200)

    def test_a_session_ends_with_its_reader(self):
        own = {'name': 'own', 'uid': os.geteuid()}
        self.serve(api={'readers': [own]})
        token = self.session()

        def status():
            with contextlib.suppress(OSError, http.client.HTTPException):  # a reload disconnects all clients
                return self.ask('/informerd/v1/status', token=token).status

        self.assertEqual(status(), 200)
        self.reload(api={'readers': [{**own, 'namespaces': ['shop']}]})
        wait_until(lambda: status() == 403, 'the limits of the reader')
        self.reload(api={'readers': [{**own, 'name': 'another'}]})
        wait_until(lambda: status() == 401, 'the end of the session')

    def test_no_code_without_a_listener(self):
        self.daemon = self.start(self.conf(api=None))
        self.wait_ready()
        answer = self.get('/informerd/v1/code')
        self.assertEqual(answer.status, 404)
        self.assertIn('api.listen is not set', answer.text)

    def test_no_secret_is_logged(self):
        self.serve(log={'level': 'debug'})
        code = self.code()
        token = json.loads(self.login(code).body)['token']
        self.ask('/informerd/v1/status', token=token)
        for secret in (code, token, code[:16], token[:16]):
            self.assertNotIn(secret, self.daemon.stderr_text())


class Command(PageCase):
    def page(self, *arguments, **env):
        return subprocess.run([self.ctl, 'page', '-s', self.socket, *arguments], capture_output=True, text=True,
                              env=environment(self.folder, **{'DISPLAY': '', 'WAYLAND_DISPLAY': '', **env}), timeout=60)

    def test_it_prints_an_address_that_opens_a_session(self):
        self.serve()
        done = self.page()
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        server, code = re.fullmatch(r'https://(\S+)/#code=(\S+)\n', done.stdout).groups()
        self.assertEqual(server, self.address())
        self.assertEqual(self.login(code).status, 200)

    def test_it_opens_a_browser_if_there_is_a_display(self):
        self.serve()
        opener = self.folder / 'xdg-open'
        opener.write_text(f'#!/bin/sh\necho "$1" >{self.folder}/opened\n')
        opener.chmod(0o755)
        path = f'{self.folder}:{os.environ["PATH"]}'
        done = self.page(PATH=path, DISPLAY=':7', XDG_RUNTIME_DIR=str(self.folder))
        self.assertEqual(done.returncode, 0)
        file = Path((self.folder / 'opened').read_text().strip())  # other users can read arguments: without the code
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertIn(f'url={done.stdout.strip()}"', file.read_text())
        (self.folder / 'opened').unlink()
        self.assertEqual(self.page(PATH=path, DISPLAY=':7', XDG_RUNTIME_DIR='').returncode, 0)
        self.assertFalse((self.folder / 'opened').exists())
        self.assertEqual(self.page('--no-open', PATH=path, DISPLAY=':7').returncode, 0)
        self.assertFalse((self.folder / 'opened').exists())

    def test_without_a_browser_the_address_is_enough(self):
        self.serve()
        done = self.page(PATH='/nonexistent', WAYLAND_DISPLAY='wayland-0')
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertIn('/#code=', done.stdout)

    def test_errors_name_the_remedy(self):
        self.daemon = self.start(self.conf(api=None))
        self.wait_ready()
        done = self.page()
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn('api.listen is not set in the configuration', done.stderr)
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.status()
        self.assertEqual(self.page().returncode, 69)
        self.assertEqual(self.page('more').returncode, 64)


run(__name__)
