#!/usr/bin/env python3
"""test_webhook.py KUBESIM RECORDINGS INFORMERD: handlers call webhooks on real servers, whatever these do."""
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

from hooked import Hooked, answer, close_early, partial
from service import INFORMERD, run, wait_until

CONF = Path(__file__).resolve().parent.parent.parent / 'conf'


class Requests(Hooked):
    def test_a_request(self):
        server = self.hook()
        key = self.write('key', 'a secret key\n')
        token = self.write('token', 'Bearer abcdefgh\n')
        daemon = self.run_hook(server, {'headers': {'X-Scope-OrgID': 'shop'}, 'header_files': {'Authorization': token},
                                        'signature_key_file': key})
        self.put('web', a='b')
        request = self.wait_requests(server, 1)[0]
        record = request.records()[0]
        logged = self.log.wait_for(lambda records: any(r.get('name') == 'web' for r in records), 'the same record')
        self.assertEqual(record, [r for r in logged if r.get('name') == 'web'][0])
        self.assertEqual(request.line, 'POST /hook HTTP/1.1')
        self.assertEqual(request.headers['Host'], f'127.0.0.1:{server.port}')
        self.assertEqual(request.headers['Content-Type'], 'application/x-ndjson')
        self.assertEqual(request.headers['X-Scope-OrgID'], 'shop')
        self.assertEqual(request.headers['Authorization'], 'Bearer abcdefgh')
        self.assertEqual(request.headers['Idempotency-Key'], f'{record["log"]}-{record["seq"]}')
        self.assertEqual(request.headers['Informerd-Signature'],
                         'sha256=' + hmac.new(b'a secret key', request.body, hashlib.sha256).hexdigest())
        self.put('db')
        self.wait_delivered(2)
        self.assertEqual(server.connections, 1)
        self.write('token', 'Bearer renewed!\n')  # used without a reload, after a second at the latest
        for n in range(1000):
            self.put('web', n=str(n))
            self.wait_delivered(3 + n)
            if server.requests[-1].headers['Authorization'] == 'Bearer renewed!':
                break
        self.assertEqual(server.requests[-1].headers['Authorization'], 'Bearer renewed!')
        self.assertEqual(daemon.end(), 0)
        for secret in ('abcdefgh', 'renewed', 'a secret key'):
            self.assertNotIn(secret, daemon.stderr_text())

    def test_batches(self):
        server = self.hook()
        self.run_hook(server, batch={'max': 50, 'within': '200ms'})
        for n in range(120):
            self.put(f'web-{n % 40}', n=str(n))
        self.wait_delivered(3)
        records = [r for request in server.requests for r in request.records()]
        self.assertEqual(sorted(r['seq'] for r in records), sorted(r['seq'] for r in self.log.read() if r['type'] in
                                                                    ('ADDED', 'MODIFIED')))
        self.assertLess(len(server.requests), 60)
        self.assertLessEqual(max(len(request.records()) for request in server.requests), 50)
        for name in {r['name'] for r in records}:
            seqs = [r['seq'] for r in records if r['name'] == name]
            self.assertEqual(seqs, sorted(seqs))
        keys = [request.headers['Idempotency-Key'] for request in server.requests]
        self.assertEqual(len(keys), len(set(keys)))

    def test_selection_by_level(self):
        server = self.hook()
        self.start(self.conf(handlers=[self.webhook(server, when='level>=warn')],
                             levels=[{'kind': 'ConfigMap', 'when': 'metadata.labels.bad=yes', 'level': 'error'}]))
        self.wait_ready()
        self.put('web', bad='no')
        self.put('db', bad='yes')
        self.put('web', bad='yes')
        self.wait_delivered(2)
        self.assertEqual([r.records()[0]['name'] for r in server.requests], ['db', 'web'])

    def test_reload_changes_the_url_and_the_kind(self):
        first, second = self.hook(), self.hook()
        daemon = self.run_hook(first)
        self.put('a')
        self.wait_delivered(1)
        self.reload(daemon, self.webhook(second))
        self.put('b')
        self.wait_requests(second, 1)
        self.reload(daemon, self.handler('cat >> $DIR/got'))
        self.put('c')
        self.assertEqual([r['name'] for r in self.wait_got(1)], ['c'])
        self.reload(daemon, self.webhook(first))
        self.put('d')
        self.wait_requests(first, 2)
        self.assertEqual(daemon.end(), 0)


class Failures(Hooked):
    def test_temporary_ones_are_repeated_until_they_work(self):
        behaviours = [answer(503), partial, close_early, answer(429), answer(502, b'x' * 100000), partial]
        server = self.hook(*behaviours)
        daemon = self.run_hook(server)
        self.put('web')
        self.wait_delivered(len(behaviours) + 1)
        self.assertEqual(self.metric('failures_total'), len(behaviours))
        self.assertEqual(self.metric('retries_total'), len(behaviours))
        self.assertEqual(self.metric('parked_total'), 0)
        self.assertEqual(self.metrics()['informerd_handler_run_duration_seconds_bucket{handler="test",le="+Inf"}'],
                         len(behaviours) + 1)
        self.assertEqual(len({r.headers['Idempotency-Key'] for r in server.requests}), 1)
        self.assertIn('HTTP 503; repeated in', daemon.stderr_text())

    def test_500_is_repeated_and_parked_at_last(self):
        server = self.hook(*[answer(500, b'no \x1b[31mway\n')] * 4)
        daemon = self.run_hook(server)
        self.put('web')
        self.wait_metric('parked', 1)
        self.assertEqual(len(server.requests), 4)
        self.assertIn('HTTP 500: no \\\\u001b[31mway; given up after 4 runs', daemon.stderr_text())
        verbose = self.get('/readyz?verbose').text
        self.assertIn('[+] handler test: failing', verbose)
        daemon.send_signal(signal.SIGHUP)  # delivers it again
        self.wait_metric('parked', 0)
        self.wait_delivered(5)

    def test_refused_and_redirected_ones_are_parked(self):
        server = self.hook(answer(403, b'no'), answer(307, headers=[('Location', '/elsewhere')]))
        daemon = self.run_hook(server)
        self.put('a')
        self.put('b')
        self.wait_metric('parked', 2)
        self.assertEqual(len(server.requests), 2)
        self.wait_logged(daemon, 'HTTP 403: no; given up after 1 run')
        self.wait_logged(daemon, 'HTTP 307: redirects are not followed; configure the final URL; given up')

    def test_retry_after_is_respected(self):
        server, other = self.hook(answer(429, headers=[('Retry-After', '250')])), self.hook()
        self.start(self.conf(handlers=[self.webhook(server), {**self.webhook(other), 'name': 'other'}]))
        self.wait_ready()
        self.put('a')
        self.wait_metric('failures_total', 1)
        self.put('b')
        self.wait_requests(other, 2)
        self.wait_metric('queue_length', 2)
        self.assertEqual(len(server.requests), 1)  # `b` waits, too

    def test_a_server_that_never_answers_delays_only_its_handler(self):
        server, other = self.hook(), self.hook()
        server.behaviours.append(server.never)
        daemon = self.start(self.conf(handlers=[self.webhook(server, timeout='30s'),
                                                {**self.webhook(other), 'name': 'other'}]))
        self.wait_ready()
        self.put('a')
        self.wait_requests(server, 1)
        self.put('b')
        self.wait_requests(other, 2)
        self.log.wait_for(lambda records: sum(r['type'] == 'ADDED' for r in records) == 2, 'the event log')
        self.assertEqual(self.metric('running'), 1)
        self.assertEqual(self.metric('queue_length'), 2)
        server.release.set()
        self.wait_metric('queue_length', 0)
        self.assertEqual(daemon.end(), 0)

    def with_a_name_server_that_hangs(self):
        """A command that has a name server that never answers, and knows only the name good.test."""
        silent = self.stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        try:
            silent.bind((f'127.53.{os.getpid() >> 8 & 0xff}.{os.getpid() & 0xff}', 53))
        except PermissionError:
            self.skipTest('only root may have port 53')
        if subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode:
            self.skipTest('root may not mount here')
        resolv = self.write('resolv.conf', f'nameserver {silent.getsockname()[0]}\noptions timeout:30 attempts:1\n')
        hosts = self.write('hosts', '127.0.0.1 localhost good.test\n')
        return ['unshare', '-m', 'sh', '-c',
                f'mount --bind {resolv} /etc/resolv.conf && mount --bind {hosts} /etc/hosts && exec "$@"', 'sh']

    def test_a_name_server_that_hangs_delays_only_the_names_that_need_it(self):
        """The lookup of the first takes longer than the test."""
        wrap, server = self.with_a_name_server_that_hangs(), self.hook()
        bad = {**self.webhook(server, {'url': 'http://bad.test/'}), 'name': 'bad'}
        good = self.webhook(server, {'url': server.url(host='good.test')})
        daemon = self.start(self.conf(handlers=[bad, good], drain_timeout='1s'), wrap=wrap)
        self.wait_ready()
        for n in range(3):
            self.put('web', n=str(n))
            self.wait_requests(server, n + 1)
        self.assertEqual((self.metric('failures_total'), self.metric('running', 'bad')), (0, 1))
        self.assertEqual(daemon.end(), 0)

    def test_a_timeout(self):
        server = self.hook()
        server.behaviours += [server.never] * 2
        daemon = self.run_hook(server, timeout='200ms')
        self.put('a')
        self.wait_delivered(3)
        self.assertIn('no complete response within 0.2 s; repeated', daemon.stderr_text())

    def test_no_server_and_a_restart(self):
        server = self.hook()
        closed = self.stack.enter_context(socket.socket())
        closed.bind(('127.0.0.1', 0))  # without listen(): connections are refused
        daemon = self.run_hook(server, {'url': f'http://127.0.0.1:{closed.getsockname()[1]}/'})
        self.put('a')
        self.put('b')
        self.wait_logged(daemon, 'repeated in')
        daemon.send_signal(signal.SIGKILL)
        daemon.status()
        self.run_hook(server)
        self.assertEqual({r.records()[0]['name'] for r in self.wait_requests(server, 2)}, {'a', 'b'})

    def test_a_secret_that_a_server_repeats_is_not_logged(self):
        server = self.hook(answer(401, b'wrong token Bearer abcdefghijkl in /hook/T000/secretpath'))
        token = self.write('token', 'Bearer abcdefghijkl')
        url = self.write('url', server.url('/hook/T000/secretpath') + '\n')
        daemon = self.start(self.conf(handlers=[{'name': 'test', 'webhook': {
            'url_file': url, 'header_files': {'Authorization': token}}}]))
        self.wait_ready()
        self.put('a')
        self.wait_metric('parked', 1)
        self.assertIn('HTTP 401: wrong token ***', daemon.stderr_text())
        for text in (daemon.stderr_text(), self.get('/readyz?verbose').text, self.get('/metrics').text):
            self.assertNotIn('abcdefghijkl', text)
            self.assertNotIn('secretpath', text)


class Tls(Hooked):
    def test_a_client_certificate(self):
        cert, key = self.certificate('client')
        server, ca = self.tls_hook('localhost', client=cert)
        self.run_hook(server, {'url': server.url(host='localhost'), 'ca_file': ca, 'cert_file': cert, 'key_file': key})
        self.put('a')
        self.put('b')
        self.wait_delivered(2)
        self.assertEqual(server.connections, 1)

    def test_a_certificate_for_another_name(self):
        server, ca = self.tls_hook('other')
        daemon = self.run_hook(server, {'url': server.url(host='localhost'), 'ca_file': ca})
        self.put('a')
        self.wait_logged(daemon, 'certificate')
        self.assertEqual(server.requests, [])
        self.assertEqual(self.metric('parked'), 0)

    def test_an_unknown_authority(self):
        server, _ = self.tls_hook('localhost')
        daemon = self.run_hook(server, {'url': server.url(host='localhost')})
        self.put('a')
        self.wait_logged(daemon, 'certificate')
        self.assertEqual(server.requests, [])


class Examples(Hooked):
    """The files in conf/examples, in conf.d, with another address."""

    def example(self, name, **replacements):
        text = (CONF / 'examples' / name).read_text()
        for before, after in replacements.values():
            self.assertIn(before, text)
            text = text.replace(before, after)
        (self.folder / 'conf.d').mkdir(exist_ok=True)
        (self.folder / 'conf.d' / name).write_text(text)
        daemon = self.start(self.conf(watches=[{'resource': 'pods'}, {'resource': 'configmaps'}]),
                            env={'NO_PROXY': '127.0.0.1'})
        self.wait_ready()
        return daemon

    def pod(self, name, reason):
        state = {'waiting': {'reason': reason}} if reason else {'running': {}}
        self.sim.put('pods', {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'namespace': 'default', 'name': name},
                              'status': {'containerStatuses': [{'name': 'web', 'restartCount': 1, 'state': state}]}})

    def test_slack(self):
        server = self.hook(answer(200, b'ok'))
        url = self.write('slack.url', server.url('/services/T0/B0/secret') + '\n')
        daemon = self.example('slack-crash-loops.conf', url=('/etc/informerd/slack.url', url))
        self.pod('calm', None)
        self.pod('web-0', None)
        self.pod('calm', 'ContainerCreating')
        self.pod('web-0', 'CrashLoopBackOff')
        request = self.wait_requests(server, 1)[0]
        self.assertEqual(request.line, 'POST /services/T0/B0/secret HTTP/1.1')
        text = json.loads(request.body)['text']
        self.assertRegex(text, r'^:\S+: \*sim\* Pod default/web-0 .*CrashLoopBackOff')
        self.assertNotIn('\n', text)
        self.assertEqual(daemon.end(), 0)

    def test_loki(self):
        server = self.hook(answer(204))
        daemon = self.example('loki.conf', url=('http://127.0.0.1:3100', server.url('')))
        for n in range(10):
            self.put(f'web-{n}')
        wait_until(lambda: sum(len(s['values']) for s in self.streams(server)) == 10, lambda: f'{self.streams(server)}')
        self.assertEqual({s['stream']['kind'] for s in self.streams(server)}, {'ConfigMap'})
        lines = [json.loads(line) for s in self.streams(server) for _, line in s['values']]
        self.assertEqual({r['name'] for r in lines}, {f'web-{n}' for n in range(10)})
        self.assertEqual({r.line for r in server.requests}, {'POST /loki/api/v1/push HTTP/1.1'})
        state = json.loads(self.get('/informerd/v1/handlers').text)['handlers'][0]
        self.assertEqual((state['kind'], state['mode']), ('webhook', 'loki'))
        self.assertEqual(daemon.end(), 0)

    @staticmethod
    def streams(server):
        return [s for r in list(server.requests) for s in json.loads(r.body)['streams']]


class Configuration(Hooked):
    def check(self, path):
        return subprocess.run([INFORMERD, '--check-config', '-c', path], capture_output=True, text=True)

    def test_errors(self):
        hook = {'url': 'http://127.0.0.1:1/'}
        for handler, error in (
                ({'webhook': {}}, 'webhook: exactly one of url and url_file is required'),
                ({'webhook': {'url': 'ftp://x/'}}, 'must begin with https:// or http://'),
                ({'webhook': {**hook, 'url_file': '/x'}}, 'exactly one of url and url_file is required'),
                ({'webhook': hook, 'exec': ['/bin/true']}, 'exactly one of the keys exec, webhook, client is required'),
                ({'webhook': {**hook, 'preset': 'splunk'}}, "'splunk' is not a preset; use one of jsonl, "),
                ({'webhook': {**hook, 'cert_file': '/x'}}, 'cert_file and key_file are required together'),
                ({'webhook': {'url': 'http://example.com/', 'header_files': {'Authorization': '/x'}}},
                 'header_files are sent only over https'),
                ({'webhook': {**hook, 'headers': {'A b': 'x'}}}, 'is not the name of a header'),
                ({'exec': ['/bin/true'], 'batch': {'max': 5}}, 'batch: cannot be used with exec'),
                ({'webhook': hook, 'mode': 'stream'}, 'mode: cannot be used with webhook'),
                ({'webhook': hook, 'user': 'root'}, 'user: cannot be used with webhook'),
                ({'webhook': hook, 'directory': '/tmp'}, 'directory: cannot be used with webhook'),
                ({'webhook': hook, 'umask': '0077'}, 'umask: cannot be used with webhook'),
                ({'webhook': hook, 'limits': {'memory': '1G'}}, 'limits: cannot be used with webhook'),
                ({'webhook': hook, 'batch': {'max': 0}}, 'out of range'),
                ({'webhook': hook, 'rate': '50'}, 'is not a rate; write it like 50/s'),
                ({'webhook': hook, 'when': 'level>=loud'}, 'when')):
            with self.subTest(error=error):
                path = self.write_conf(self.conf(handlers=[{'name': 'x', **handler}]))
                done = self.check(path)
                self.assertEqual(done.returncode, os.EX_CONFIG, done.stdout + done.stderr)
                self.assertIn(error, done.stdout + done.stderr)

    def test_check_config_reports_a_file_that_cannot_be_read(self):
        path = self.write_conf(self.conf(handlers=[{'name': 'x', 'webhook': {'url': 'https://example.com/', 'header_files': {
            'Authorization': '/nonexistent/token'}}}]))
        done = self.check(path)
        self.assertIn("handler 'x': header_files: file '/nonexistent/token'", done.stdout + done.stderr)


run(__name__)
