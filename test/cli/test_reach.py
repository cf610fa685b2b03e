#!/usr/bin/env python3
"""test_reach.py KUBESIM RECORDINGS INFORMERD: connections through proxies, and resource names. A simulated API
server, small real proxies in front of it, and informerd. Prints results as TAP.
"""
import contextlib
import json
import os
import ssl
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'kubesim'))
from lib import DEADLINE, Case, config_map, run
from small_proxies import HttpProxy, SocksProxy
from server import make_certificate

INFORMERD = Path(sys.argv[3]).resolve()
NAME = 'kubesim.test'  # no name server knows it; only a proxy can lead there


class Proxies(Case):
    arguments = ('--self-signed', 'FOLDER')

    def setUp(self):
        super().setUp()
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.sim.put('configmaps', config_map('one'))

    def proxy(self, kind, login=None, **more):
        proxy = self.stack.enter_context(kind(self.sim.port, **more))
        proxy.login = login
        return proxy

    def kubeconfig(self, proxy_url='', **trust):
        """For a name that only a proxy can resolve. JSON is YAML."""
        trust = trust or {'certificate-authority': 'ca.crt'}
        cluster = {'server': f'https://{NAME}:{self.sim.port}', 'tls-server-name': 'localhost', 'proxy-url': proxy_url}
        path = self.folder / 'ours'
        path.write_text(json.dumps({'current-context': 'x', 'contexts': [{'name': 'x', 'context': {'cluster': 'c'}}],
                                    'clusters': [{'name': 'c', 'cluster': {**cluster, **trust}}]}))
        return path

    def start(self, config, conf='', **env):
        """A daemon with a configuration file; its stdout is a pipe, its stderr a file."""
        path = self.folder / 'informerd.conf'
        path.write_text(f'state_dir: {self.folder}\nstate: {{enabled: false}}\n'
                        f'clusters: [{{name: c, kubeconfig: {config}{conf}}}]\n'
                        'watches: [{resource: configmaps}]\nevent_logs: [{path: stdout}]\nlog: {level: debug}\n')
        whole = {k: v for k, v in os.environ.items() if not k.lower().endswith('_proxy')}
        log = self.folder / 'stderr'
        with open(log, 'wb') as stderr:
            child = subprocess.Popen([INFORMERD, '-c', path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=stderr, env={**whole, **env})
        self.stack.callback(child.stdout.close)
        self.stack.callback(child.wait)
        self.stack.callback(child.terminate)
        return child, log

    def assert_works(self, config, *args, **env):
        child, log = self.start(config, *args, **env)
        self.assert_reports_changes(child, log)

    def assert_reports_changes(self, child, log):
        for line in child.stdout:
            record = json.loads(line)
            if record['type'] == 'ADDED' and record['name'] == 'one':
                break
        else:
            self.fail(log.read_text())
        child.terminate()
        self.assertEqual(child.wait(DEADLINE), 0, log.read_text())
        self.assertNotIn('secret', log.read_text())

    def wait_until_logged(self, text, log):
        end = time.monotonic() + DEADLINE
        while text not in log.read_text():
            self.assertLess(time.monotonic(), end, log.read_text())
            time.sleep(0.02)

    def assert_logs(self, text, config, *args, **env):
        child, log = self.start(config, *args, **env)
        self.wait_until_logged(text, log)
        child.terminate()
        self.assertEqual(child.wait(DEADLINE), 0, log.read_text())
        self.assertNotIn('secret', log.read_text())

    def test_http_proxy_from_proxy_url(self):
        proxy = self.proxy(HttpProxy)
        self.assert_works(self.kubeconfig(f'http://127.0.0.1:{proxy.port}'))
        self.assertEqual(proxy.requests[0], f'CONNECT {NAME}:{self.sim.port} HTTP/1.1')

    def test_http_proxy_with_a_login(self):
        proxy = self.proxy(HttpProxy, b'me:secret/1')
        self.assert_works(self.kubeconfig(f'http://me:secret%2F1@127.0.0.1:{proxy.port}'))

    def test_http_proxy_without_the_login_is_refused(self):
        proxy = self.proxy(HttpProxy, b'me:secret/1')
        self.assert_logs('requires a login (407 Proxy Authentication Required)',
                         self.kubeconfig(f'http://127.0.0.1:{proxy.port}'))

    def test_socks5_proxy(self):
        proxy = self.proxy(SocksProxy)
        self.assert_works(self.kubeconfig(f'socks5://127.0.0.1:{proxy.port}'))
        self.assertEqual(proxy.requests[0], (NAME, self.sim.port))

    def test_socks5_proxy_with_a_login(self):
        proxy = self.proxy(SocksProxy, b'me:secret')
        self.assert_works(self.kubeconfig(f'socks5://me:secret@127.0.0.1:{proxy.port}'))

    def test_socks5_proxy_with_a_wrong_login_is_refused(self):
        proxy = self.proxy(SocksProxy, b'me:secret')
        self.assert_logs('rejected the user and password',
                         self.kubeconfig(f'socks5://me:secret2@127.0.0.1:{proxy.port}'))

    def test_https_proxy_is_tls_within_tls(self):
        """An untrusted certificate of a proxy is refused unless the kubeconfig disables verification."""
        other = self.folder / 'proxy'
        other.mkdir()
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*make_certificate(other))
        proxy = self.proxy(HttpProxy, tls=tls)
        url = f'https://127.0.0.1:{proxy.port}'
        self.assert_logs('certificate', self.kubeconfig(url))
        self.assertEqual(proxy.requests, [])
        self.assert_works(self.kubeconfig(url, **{'insecure-skip-tls-verify': True}))

    def test_reloads_the_authorities_for_an_https_proxy(self):
        other = self.folder / 'proxy'
        other.mkdir()
        crt, key = make_certificate(other)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(crt, key)
        proxy, ca = self.proxy(HttpProxy, tls=tls), self.folder / 'trusted.crt'
        ca.write_text((self.folder / 'ca.crt').read_text())
        url = f'https://127.0.0.1:{proxy.port}'
        child, log = self.start(self.kubeconfig(url, **{'certificate-authority': str(ca)}))
        self.wait_until_logged('certificate', log)
        ca.write_text(ca.read_text() + Path(crt).read_text())
        self.assert_reports_changes(child, log)
        self.assertEqual(proxy.requests[0], f'CONNECT {NAME}:{self.sim.port} HTTP/1.1')

    def test_proxy_from_the_environment(self):
        proxy = self.proxy(HttpProxy)
        self.assert_works(self.kubeconfig(), HTTPS_PROXY=f'127.0.0.1:{proxy.port}', NO_PROXY='example.com,10.0.0.0/8')

    def test_no_proxy_connects_directly(self):
        proxy = self.proxy(HttpProxy)
        self.assert_logs("can't resolve the name", self.kubeconfig(), HTTPS_PROXY=f'127.0.0.1:{proxy.port}',
                         no_proxy='.test')
        self.assertEqual(proxy.requests, [])

    def test_the_configuration_overrides_kubeconfig_and_environment(self):
        proxy = self.proxy(HttpProxy)
        nowhere = self.kubeconfig('http://127.0.0.1:1')
        self.assert_works(nowhere, f', proxy: "http://127.0.0.1:{proxy.port}"')
        self.assert_logs("can't resolve the name", nowhere, ', proxy: none')
        self.assert_works(nowhere, ', proxy: env', https_proxy=f'http://127.0.0.1:{proxy.port}')

    def test_reports_an_unavailable_proxy(self):
        self.assert_logs("proxy: 127.0.0.1:1: can't connect", self.kubeconfig('http://127.0.0.1:1'))

    def test_prints_no_password_of_a_proxy(self):
        path = self.folder / 'informerd.conf'
        path.write_text('clusters: [{name: c, proxy: "http://me:secret@p:1"}]\n')
        result = subprocess.run([INFORMERD, '-c', path, '--print-config'], capture_output=True, text=True, timeout=DEADLINE)
        self.assertIn('http://***@p:1', result.stdout)
        self.assertNotIn('secret', result.stdout + result.stderr)
        path.write_text('clusters: [{name: c, proxy: "ftp://me:secret@p:1"}]\n')
        result = subprocess.run([INFORMERD, '-c', path, '--check-config'], capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(result.returncode, 78)
        self.assertIn('must begin with http://', result.stderr)
        self.assertNotIn('secret', result.stdout + result.stderr)


class Names(Case):
    """Resource names as kubectl accepts them."""
    arguments = ('--resource', 'widgets.example.com/v1=Widget', '--kubeconfig', 'FOLDER/kubeconfig')

    def setUp(self):
        super().setUp()
        self.sim.put('configmaps', config_map('one'))
        self.sim.control('put', {'metadata': {'name': 'w', 'namespace': 'default'}}, resource='widgets.example.com/v1',
                         namespace='default')

    def watch(self, word, form='jsonl'):
        return subprocess.Popen([INFORMERD, 'watch', word, '--kubeconfig', self.folder / 'kubeconfig', '-o', form],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_means(self, word, *expected):
        with self.subTest(word), self.watch(word) as child:
            record = json.loads(child.stdout.readline())
            child.terminate()
            result = child.communicate(timeout=DEADLINE)[1]
            self.assertEqual(child.returncode, 0, result)
            self.assertEqual((record['group'], record['version'], record['resource'], record['kind'], record['watch']),
                             (*expected, word.lower()))

    def test_all_spellings_of_a_resource(self):
        for word in ('configmaps', 'cm', 'ConfigMap', 'configmaps.v1.'):
            self.assert_means(word, '', 'v1', 'configmaps', 'ConfigMap')
        for word in ('widget', 'Widgets', 'widgets.example.com', 'widget.v1.example.com'):
            self.assert_means(word, 'example.com', 'v1', 'widgets', 'Widget')

    def test_secrets_are_hashed_under_any_spelling(self):
        self.sim.put('secrets', {'metadata': {'name': 's', 'namespace': 'default'}, 'data': {'k': 'b3Blbg=='}})
        for word in ('secrets', 'secret', 'Secret', 'secret.v1.'):
            with self.subTest(word), self.watch(word, 'full') as child:
                record = json.loads(child.stdout.readline())
                child.terminate()
                child.communicate(timeout=DEADLINE)
                self.assertEqual((record['resource'], record['name']), ('secrets', 's'))
                self.assertNotEqual(record['object']['data']['k'], 'b3Blbg==')

    def test_an_unknown_resource_is_reported_with_a_suggestion(self):
        with self.watch('widgit') as child:
            _, message = child.communicate(timeout=DEADLINE)
            self.assertEqual(message.count(b'\n'), 1, message)
            self.assertIn(b"not known to the server; did you mean 'widget'?", message)
            self.assertEqual(child.returncode, 64)


if __name__ == '__main__':
    run(__name__)
