#!/usr/bin/env python3
"""test_sink_nats.py KUBESIM RECORDINGS INFORMERD: sinks that publish into NATS JetStream, and all that can go wrong there."""
import json
import signal
import ssl
import subprocess

from fake_nats import STREAM, FakeNats
from handled import Handled
from service import INFORMERD, Daemon, fold, run, wait_until

SEED = 'SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY'
PUBLIC = 'UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4'


class Sunk(Handled):
    def server(self, **more):
        return self.stack.enter_context(FakeNats(**more))

    def sink(self, server, nats=None, **settings):
        return {'name': 'test', 'nats': {'url': server.url, 'stream': STREAM, **(nats or {})}, **settings}

    def run_sink(self, server, nats=None, **settings):
        daemon = self.start(self.conf(sinks=[self.sink(server, nats, **settings)]))
        self.wait_ready()
        return daemon

    def wait_stored(self, server, count):
        wait_until(lambda: len(server.messages) >= count and self.metric('queue_length') == 0,
                   lambda: f'{count} messages; {len(server.messages)}; {(self.folder / "stderr").read_text()[-2000:]}')
        return server.messages

    def status(self):
        return json.loads(self.get('/informerd/v1/handlers').text)['handlers'][0]

    def wait_state(self, text):
        wait_until(lambda: text in self.status().get('error', ''),
                   lambda: f'{text}; {self.status()}; {(self.folder / "stderr").read_text()[-2000:]}')
        self.assertEqual(self.status()['state'], 'failing')
        self.assertIn(f'[+] sink test: failing: {self.status()["error"]}', self.get('/readyz?verbose').text)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def delete(self, name):
        self.sim.control('delete', resource='configmaps', namespace='default', name=name)

    def check_stream(self, server):
        """The stream results in the objects of the server, each change once."""
        self.assertEqual(fold(server.records()), self.on_server())


class Publishing(Sunk):
    def test_a_change_is_a_message_with_its_identity(self):
        self.put('before')
        server = self.server()
        daemon = self.run_sink(server)
        self.put('a.b:c', x='y')
        self.put('a.b:c', x='z')
        self.delete('a.b:c')
        messages = self.wait_stored(server, 4)
        self.assertEqual(server.subjects(), ['k8s.sim.configmaps.default.before', *['k8s.sim.configmaps.default.a%2Eb%3Ac'] * 3])
        logged = [r for r in self.log.read() if r['type'] in ('ADDED', 'MODIFIED', 'DELETED')]
        self.assertEqual(server.records(), logged)
        for message, record in zip(messages, logged):
            self.assertEqual(message.headers['Informerd-Log'], record['log'])
            self.assertEqual(message.headers['Informerd-Seq'], str(record['seq']))
            self.assertEqual(message.headers['Informerd-Type'], record['type'])
            self.assertEqual(message.headers['Informerd-Resource'], 'configmaps')
            self.assertEqual(message.headers['Informerd-Uid'], record['uid'])
            self.assertEqual(message.headers['Informerd-Rv'], record['rv'])
            self.assertEqual(message.headers['Nats-Msg-Id'], f'sim/{record["uid"]}/{record["type"]}/{record["rv"]}')
        self.assertEqual([m.headers['Nats-Expected-Last-Subject-Sequence'] for m in messages], ['0', '0', '2', '3'])
        self.assertEqual(server.requests, [f'$JS.API.STREAM.INFO.{STREAM}'])
        connect = server.connects[0]
        self.assertEqual([connect[k] for k in ('verbose', 'headers', 'no_responders', 'name')],
                         [False, True, True, 'informerd test'])
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(len(server.messages), 4)

    def test_selection_and_full_objects(self):
        server = self.server()
        self.run_sink(server, names=['^web'], object='full', initial=False)
        self.put('db')
        self.put('web-1', a='b')
        self.wait_stored(server, 1)
        self.assertEqual(server.records()[0]['object']['metadata']['labels'], {'a': 'b'})

    def test_many_changes_of_many_objects(self):
        server = self.server()
        self.run_sink(server)
        for n in range(300):
            self.put(f'web-{n % 60}', n=str(n))
        self.wait_stored(server, 300)
        self.check_stream(server)
        self.assertEqual(len(server.connects), 1)

    def test_records_that_are_too_long_are_shortened(self):
        server = self.server(max_payload=8192)
        self.run_sink(server, object='full', max_line='1M')
        self.sim.put('configmaps', {'metadata': {'name': 'big', 'namespace': 'default', 'annotations': {'a': 'x' * 20000}}})
        self.wait_stored(server, 1)
        record = server.records()[0]
        self.assertTrue(record['truncated'])
        self.assertEqual(record['name'], 'big')
        self.assertEqual(len(server.connects), 1)

    def test_a_record_that_waits_is_shortened_when_the_limit_is_known(self):
        down, up = self.server(), self.server(max_payload=8192)
        down.close()
        daemon = self.run_sink(down, object='full', max_line='1M')
        self.sim.put('configmaps', {'metadata': {'name': 'big', 'namespace': 'default', 'annotations': {'a': 'x' * 20000}}})
        self.wait_metric('queue_length', 1)
        self.write_conf(self.conf(sinks=[self.sink(up, object='full', max_line='1M')]))
        daemon.send_signal(signal.SIGHUP)
        self.wait_stored(up, 1)
        self.assertTrue(up.records()[0]['truncated'])
        self.assertEqual(up.records()[0]['uid'], self.on_server()['configmaps', 'default', 'big'][0])


class Repetition(Sunk):
    """Without the memory of the server for message ids, so that only the expected sequence protects."""

    def test_an_acknowledgement_that_is_lost_stores_nothing_twice(self):
        for direct in (True, False):
            with self.subTest(direct=direct):
                server = self.server(dedup=False, direct=direct, cut_at=1)
                daemon = self.run_sink(server)
                name = f'web-{direct}'.lower()
                self.put(name, a='1')
                self.put(name, a='2')
                self.wait_stored(server, 2)
                self.wait_logged(daemon, 'it closed the connection; next attempt in')
                self.assertGreater(len(server.connects), 1)
                self.assertIn(f'$JS.API.DIRECT.GET.{STREAM}.k8s.sim.configmaps.default.{name}' if direct
                              else f'$JS.API.STREAM.MSG.GET.{STREAM}', server.requests)
                mine = [r for r in server.records() if r['name'] == name]
                self.assertEqual([r['type'] for r in mine], ['ADDED', 'MODIFIED'])
                self.assertEqual(daemon.end(), 0)

    def test_kill_9_and_no_state_store_nothing_twice(self):
        server = self.server(dedup=False)
        daemon = self.run_sink(server)
        for n in range(30):
            self.put(f'web-{n % 5}', n=str(n))
        self.wait_stored(server, 30)
        daemon.send_signal(signal.SIGKILL)
        daemon.status()
        subprocess.run(['rm', '-rf', self.folder / 'state'], check=True)
        (self.folder / 'state').mkdir(mode=0o700)
        self.delete('web-1')
        self.put('web-2', n='new')
        self.put('web-9')
        self.run_sink(server)
        self.wait_stored(server, 32)
        self.assertEqual(len(server.messages), 32)
        state = {}  # web-1: its deletion was not seen
        for record in server.records():
            state[record['name']] = record['rv']
        listed = {name: rv for (_, _, name), (_, rv) in self.on_server().items()}
        self.assertEqual({k: v for k, v in state.items() if k != 'web-1'}, listed)

    def test_an_id_that_an_older_message_has_drops_nothing(self):
        server = self.server(stale=True)
        self.run_sink(server)
        for n in range(5):
            self.put('web', n=str(n))
        self.wait_stored(server, 5)
        self.check_stream(server)
        self.assertEqual([m.headers['Nats-Msg-Id'].count('/') for m in server.messages], [3, 4, 4, 4, 4])

    def test_two_sinks_publish_the_same_change_under_different_subjects(self):
        server = self.server()
        nats = {'subject': 'k8s.more.{cluster}.{resource}.{namespace}.{name}'}
        self.start(self.conf(sinks=[self.sink(server), self.sink(server, nats, name='other')]))
        self.wait_ready()
        self.put('web')
        self.wait_stored(server, 2)
        self.assertEqual(sorted(server.subjects()), ['k8s.more.sim.configmaps.default.web', 'k8s.sim.configmaps.default.web'])

    def test_two_informerds_publish_the_same_changes(self):
        self.two(self.server())

    def test_two_informerds_without_the_memory_of_the_server(self):
        self.two(self.server(dedup=False))

    def two(self, server):
        first = self.run_sink(server)
        other = self.conf(sinks=[self.sink(server)], state_dir=str(self.folder / 'other'),
                          socket={'path': str(self.folder / 'other.socket')}, event_logs=[])
        (self.folder / 'other').mkdir(mode=0o700, exist_ok=True)
        path = self.write_conf(other, 'other.conf')
        second = Daemon(self.folder, ['-c', path])
        self.stack.callback(second.discard)
        self.wait_ready(self.folder / 'other.socket')
        for n in range(100):
            self.put(f'web-{n % 7}', n=f'{n}')
            if n % 10 == 9:
                self.delete(f'web-{n % 7}')
        key = 'informerd_handler_queue_length{handler="test"}'
        wait_until(lambda: self.wait_equal() is None and self.metric('queue_length') == 0 and
                   self.metrics(self.folder / 'other.socket')[key] == 0, 'both queues empty')
        self.check_stream(server)
        ids = [m.headers['Nats-Msg-Id'] for m in server.messages]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual((first.end(), second.end()), (0, 0))


class Failures(Sunk):
    def test_a_server_that_is_down_delays_nothing_else(self):
        server = self.server()
        port = server.port
        server.close()
        daemon = self.run_sink(server)
        for n in range(50):
            self.put('web', n=str(n))
        self.wait_equal()
        self.assertEqual(self.metric('queue_length'), 50)
        self.wait_state(f'localhost:{port}')
        self.assertEqual(daemon.end(), 0)

    def test_each_state_of_the_stream_is_shown_and_passes(self):
        server = self.server()
        daemon = self.run_sink(server)
        rows = [('missing', True, f'there is no stream {STREAM}; create it'),
                ('full', True, 'maximum bytes exceeded'),
                ('enabled', False, 'JetStream does not answer; is it enabled')]
        for n, (what, value, text) in enumerate(rows):
            before = len(server.messages)
            setattr(server, what, value)
            if what != 'full':
                server.cut()  # checked when it connects
            for k in range(20):
                self.put(f'web-{k}', n=str(n))
            self.wait_state(text)
            self.assertEqual(self.metric('queue_length'), 20)
            self.assertEqual(len(server.messages), before)
            setattr(server, what, not value)
            self.wait_stored(server, before + 20)
        self.check_stream(server)
        self.assertEqual(self.metric('parked_total'), 0)
        self.assertEqual(daemon.end(), 0)

    def test_a_stream_that_takes_other_subjects(self):
        server = self.server()
        self.run_sink(server, {'subject': 'x.{cluster}.{resource}.{namespace}.{name}'})
        self.put('web')
        self.wait_state(f'stream {STREAM}, subject x.sim.configmaps.default.web: no stream takes this subject')

    def test_a_broker_that_does_not_answer(self):
        server = self.server(answers=False)
        daemon = self.run_sink(server, timeout='200ms')
        self.put('web', n='1')
        self.wait_state('no answer within 0.2 s')
        self.put('web', n='2')
        server.answers = True
        self.wait_stored(server, 2)
        self.check_stream(server)
        self.assertEqual(daemon.end(), 0)

    def test_a_subject_that_is_not_permitted_does_not_stop_others(self):
        server = self.server(denied='k8s.sim.configmaps.default.secret')
        daemon = self.run_sink(server, retry={'backoff': '10ms..20ms'})
        self.put('secret')
        self.wait_logged(daemon, r'Permissions Violation for Publish to \"k8s.sim.configmaps.default.secret\"; repeated in')
        self.put('web')
        wait_until(lambda: server.subjects() == ['k8s.sim.configmaps.default.web'], lambda: server.subjects())
        server.denied = None
        self.wait_stored(server, 2)

    def test_a_subject_that_is_not_permitted_has_the_word_of_another_violation(self):
        server = self.server(denied='k8s.Subscription.sim.configmaps.default.secret')
        self.run_sink(server, nats={'subject': 'k8s.Subscription.{cluster}.{resource}.{namespace}.{name}'},
                      retry={'backoff': '10ms..20ms'})
        self.put('secret')
        self.put('web')
        wait_until(lambda: server.subjects() == ['k8s.Subscription.sim.configmaps.default.web'], lambda: server.subjects())
        self.assertEqual(len(server.connects), 1)

    def test_a_long_subject_that_is_not_permitted_does_not_stop_others(self):
        subject, name = 'k8s.' + 'x' * 400, '.'.join('a' * 120)
        server = self.server(denied=f'{subject}.sim.configmaps.default.{name.replace(".", "%2E")}')
        daemon = self.run_sink(server, nats={'subject': subject + '.{cluster}.{resource}.{namespace}.{name}'},
                               retry={'backoff': '10ms..20ms'}, timeout='1s')
        self.put(name)
        wait_until(lambda: self.metric('runs_total') >= 3, daemon.stderr_text)
        self.put('web')
        wait_until(lambda: server.subjects() == [subject + '.sim.configmaps.default.web'], lambda: server.subjects())
        self.assertNotIn('no answer', daemon.stderr_text())

    def test_no_permission_to_see_the_stream(self):
        server = self.server(denied=f'$JS.API.STREAM.INFO.{STREAM}')
        self.run_sink(server)
        self.put('web')
        self.wait_stored(server, 1)

    def test_connections_that_are_cut_at_any_time(self):
        server = self.server(dedup=False)
        self.run_sink(server)
        for n in range(200):
            self.put(f'web-{n % 20}', n=str(n))
            if n % 25 == 0:
                server.cut()
        self.wait_stored(server, 200)
        self.check_stream(server)

    def test_a_server_that_sends_ping_without_end_and_does_not_read(self):
        server = self.server(flood=b'PING\r\n' * 1000)
        daemon = self.run_sink(server)
        self.wait_state('it sends PING and does not read the answers')
        self.assertEqual(daemon.end(), 0)

    def test_a_largest_message_that_becomes_too_small_parks_nothing(self):
        server = self.server()
        self.run_sink(server)
        self.put('web')
        self.wait_stored(server, 1)
        server.max_payload = 100
        server.send(server.info())
        self.wait_state('the largest message that the server or the stream takes is too small')
        self.put('db')
        server.max_payload = 1 << 20
        server.send(server.info())
        self.wait_stored(server, 2)
        self.assertEqual(self.metric('parked'), 0)

    def test_peers_that_are_no_nats_server(self):
        for banner, text in ((b'HTTP/1.1 400 Bad Request\r\n', 'the peer is no NATS server'),
                             (b"-ERR 'maximum connections exceeded'\r\n", 'maximum connections exceeded'),
                             (b'INFO x\r\n', 'INFO without an object'),
                             (b'x' * 70000, 'a line of more than 65536 bytes'),
                             (b'INFO {"headers":false}\r\n', 'it supports no headers'),
                             (b'INFO {"headers":true,"tls_required":true}\r\n', 'write tls:// instead of nats://')):
            with self.subTest(text=text):
                server = self.server(banner=banner)
                daemon = self.run_sink(server)
                self.wait_state(text)
                self.assertEqual(daemon.end(), 0)


class Access(Sunk):
    def test_user_token_and_keys(self):
        creds = ('-----BEGIN NATS USER JWT-----\neyJ0eXAi.eyJqdGki.c2ln\n------END NATS USER JWT------\n\n'
                 f'-----BEGIN USER NKEY SEED-----\n{SEED}\n------END USER NKEY SEED------\n')
        rows = [({'user': 'me', 'password_file': self.write('p', 'secret-password\n')}, {'user': 'me', 'pass': 'secret-password'}),
                ({'token_file': self.write('t', 'secret-token\n')}, {'auth_token': 'secret-token'}),
                ({'nkey_file': self.write('n', f'{SEED}\n')}, {'nkey': PUBLIC}),
                ({'credentials': self.write('c', creds)}, {'jwt': 'eyJ0eXAi.eyJqdGki.c2ln'})]
        for nats, expected in rows:
            with self.subTest(nats=nats):
                server = self.server(expected=expected, nonce='abcdefgh')
                daemon = self.run_sink(server, nats)
                self.put('web', **{list(expected)[0]: 'x'})
                self.wait_stored(server, 1)
                self.assertEqual('sig' in server.connects[0], 'credentials' in nats or 'nkey_file' in nats)
                for secret in ('secret-', SEED, 'eyJ0'):
                    self.assertNotIn(secret, daemon.stderr_text())
                self.assertEqual(daemon.end(), 0)

    def test_credentials_that_are_refused_and_renewed(self):
        server = self.server(expected={'auth_token': 'the-right-token'})
        path = self.write('t', 'the-wrong-token')
        daemon = self.run_sink(server, {'token_file': path})
        self.put('web')
        self.wait_state('Authorization Violation; check the credentials')
        self.write('t', 'the-right-token')
        self.wait_stored(server, 1)
        self.assertNotIn('-token', daemon.stderr_text().replace(path, ''))

    def tls_files(self, name='localhost'):
        key, cert = self.folder / 'key.pem', self.folder / 'cert.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                        '-keyout', key, '-out', cert, '-subj', '/CN=test', '-addext', f'subjectAltName=DNS:{name}'],
                       check=True, capture_output=True)
        return cert, key

    def test_tls_after_and_before_info_with_a_client_certificate(self):
        cert, key = self.tls_files()
        for first in (False, True):
            with self.subTest(tls_first=first):
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(cert, key)
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(cert)
                server = self.server(tls=context, tls_first=first)
                daemon = self.run_sink(server, {'ca_file': str(cert), 'cert_file': str(cert), 'key_file': str(key),
                                                'tls_first': first})
                self.put('web', n=str(first))
                self.wait_stored(server, 1)
                self.assertEqual(daemon.end(), 0)

    def test_a_certificate_for_another_host_is_refused(self):
        cert, key = self.tls_files('other.example.com')
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server = self.server(tls=context)
        self.run_sink(server, {'ca_file': str(cert), 'token_file': self.write('t', 'x')})
        self.wait_state('certificate')
        self.assertEqual(server.connects, [])

    def test_several_servers_are_tried_in_turn(self):
        down, up = self.server(), self.server()
        down.close()
        self.run_sink(up, {'url': f'{down.url},{up.url}'})
        self.put('web')
        self.wait_stored(up, 1)


class Configuration(Sunk):
    def check(self, sinks, **more):
        path = self.write_conf(self.conf(sinks=sinks, **more))
        return subprocess.run([INFORMERD, '-c', path, '--check-config'], capture_output=True, text=True)

    def test_mistakes_are_named(self):
        token = self.write('t', 'x')
        good = {'url': 'nats://localhost', 'stream': 'S'}
        rows = [({'stream': 'S'}, 'url and stream are required'), ({'url': 'nats://localhost'}, 'url and stream are required'),
                ({**good, 'url': 'http://localhost'}, 'must start with tls:// or nats://'),
                ({**good, 'url': 'nats://me:hush@localhost'}, 'must not contain a user or a password'),
                ({**good, 'url': 'nats://example.com', 'token_file': token}, 'credentials are sent only over TLS'),
                ({**good, 'url': 'nats://a,tls://b'}, 'use tls:// for all servers or for none'),
                ({**good, 'token_file': token, 'nkey_file': token}, 'only one of'),
                ({**good, 'user': 'x'}, 'user and password_file are required together'),
                ({**good, 'ca_file': token}, 'need tls://'),
                ({**good, 'stream': 'a.b'}, 'not a valid stream name'),
                ({**good, 'subject': 'k8s.{cluster}.{resource}.{name}'}, 'has no {namespace}'),
                ({**good, 'subject': 'k8s..{cluster}.{resource}.{namespace}.{name}'}, 'has an empty part'),
                ({**good, 'subject': 'k8s.*.{cluster}.{resource}.{namespace}.{name}'}, "has '*'"),
                ({**good, 'subject': 'k8s.{x}.{cluster}.{resource}.{namespace}.{name}'}, "has '{'")]
        for nats, text in rows:
            with self.subTest(nats=nats):
                done = self.check([{'name': 'x', 'nats': nats}])
                self.assertEqual(done.returncode, 78)
                self.assertIn(text, done.stderr)
                self.assertNotIn('hush', done.stderr)
        twice = self.check([{'name': 'x', 'nats': good}], handlers=[{'name': 'x', 'exec': ['/bin/true']}])
        self.assertIn("a handler has the name 'x', too", twice.stderr)
        advice = self.check([{'name': 'x', 'nats': {**good, 'nkey_file': token}}])
        self.assertIn("sink 'x': nkey_file: file '", advice.stdout + advice.stderr)
        self.assertIn('no valid seed of an nkey', advice.stdout + advice.stderr)

    def test_a_reload_with_another_stream_continues_with_the_queue(self):
        server, other = self.server(missing=True), self.server()
        daemon = self.run_sink(server)
        self.put('web', n='1')
        self.put('web', n='2')
        self.wait_state('there is no stream')
        self.write_conf(self.conf(sinks=[self.sink(other)]))
        daemon.send_signal(signal.SIGHUP)
        self.wait_logged(daemon, 'sink test changed (nats)')
        self.wait_stored(other, 2)
        self.check_stream(other)
        self.write_conf(self.conf())
        daemon.send_signal(signal.SIGHUP)
        self.wait_logged(daemon, 'sink test removed')
        self.assertEqual(daemon.end(), 0)


if __name__ == '__main__':
    run('__main__')
