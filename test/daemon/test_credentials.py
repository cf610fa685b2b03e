#!/usr/bin/env python3
"""test_credentials.py KUBESIM RECORDINGS INFORMERD: credentials and certificate authorities that are
replaced while informerd runs.

Watches continue: no object is reported again, and objects that were deleted meanwhile are reported as deleted.
"""
import base64
import contextlib
import shutil
import signal
import socket
import ssl
import threading

from service import Case, Sim, config_map, run, wait_until

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{url}", {ca}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""


class Credentials(Case):
    def write_kubeconfig(self, user='', url=None, ca=None):
        ca = ca or f'certificate-authority: "{self.folder}/ca.crt"'
        text = CONFIG.format(url=url or self.sim.ready['url'], ca=ca, user=user)
        (self.folder / 'kubeconfig').write_text(text)

    def make_pki(self, name):
        """A new authority with a server certificate: {ca,server}.crt, server.key."""
        with Sim('--self-signed', self.folder / name):
            return self.folder / name

    def synced(self):
        """A daemon that has reported `a` and `b`."""
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        daemon = self.start()
        self.wait_ready()
        return daemon

    def reload(self, daemon):
        before = self.log.types()['CONFIG']
        daemon.send_signal(signal.SIGHUP)
        self.log.wait_for(lambda _: self.log.types()['CONFIG'] > before, lambda: f'CONFIG; {daemon.stderr_text()[-1000:]}')

    def delete(self, name):
        self.sim.control('delete', resource='configmaps', namespace='default', name=name)

    def assert_continued(self, daemon, deleted='a', added='c', origin='live'):
        """The log has one START and one record per change, nothing else."""
        self.sim.put('configmaps', config_map(added))
        self.log.wait_for(lambda all: any(r.get('name') == added for r in all), f'{added}; {daemon.stderr_text()[-1500:]}')
        changes = [(r['type'], r['name'], r['origin']) for r in self.log.read() if 'name' in r]
        self.assertEqual(sorted(changes[:2]), [('ADDED', 'a', 'initial'), ('ADDED', 'b', 'initial')])
        self.assertEqual(changes[2:], [('DELETED', deleted, origin), ('ADDED', added, 'live')])
        self.assertEqual((self.log.types()['SYNCED'], self.log.types()['RELIST'], self.log.types()['GAP']), (1, 0, 0))
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class InlineToken(Credentials):
    arguments = ('--self-signed', 'FOLDER', '--token', 'monday-secret')

    def on_server(self, *resources):
        self.sim.control('tokens', set='')
        return super().on_server(*resources)

    def test_a_renewed_token_continues_the_watch(self):
        self.write_kubeconfig('token: monday-secret')
        daemon = self.synced()
        self.sim.control('tokens', set='tuesday-secret')
        self.sim.control('close', how='end')
        wait_until(lambda: self.get('/readyz').status != 200 or '401' in daemon.stderr_text(), 'being refused')
        self.delete('a')
        self.write_kubeconfig('token: tuesday-secret')
        self.reload(daemon)
        self.assert_continued(daemon)
        for secret in ('monday-secret', 'tuesday-secret'):
            self.assertNotIn(secret, daemon.stderr_text() + self.path.read_text())

    def test_a_token_instead_of_a_token_file_continues_the_watch(self):
        token = self.folder / 'token'
        token.write_text('monday-secret\n')
        self.write_kubeconfig(f'tokenFile: "{token}"')
        daemon = self.synced()
        self.sim.control('tokens', set='tuesday-secret')  # open watches are not affected
        self.write_kubeconfig('token: tuesday-secret')
        before = len(self.sim.control('requests'))
        self.reload(daemon)
        wait_until(lambda: len(self.sim.control('requests')) > before, 'the watch being opened again')
        self.delete('a')
        self.assert_continued(daemon)

    def test_inline_authorities_continue_the_watch(self):
        self.write_kubeconfig('token: monday-secret')
        daemon = self.synced()
        data = base64.b64encode((self.folder / 'ca.crt').read_bytes()).decode()
        self.write_kubeconfig('token: monday-secret', ca=f'certificate-authority-data: {data}')
        self.delete('a')
        self.reload(daemon)
        self.assert_continued(daemon)


class Files(Credentials):
    arguments = ('--self-signed', 'FOLDER')

    def test_a_replaced_authority_file_and_hup_continue_the_watch(self):
        self.write_kubeconfig()
        daemon = self.synced()
        other = self.make_pki('other')
        (self.folder / 'ca.crt').write_text((self.folder / 'ca.crt').read_text() + (other / 'ca.crt').read_text())
        self.delete('a')
        self.reload(daemon)
        wait_until(lambda: 'new certificate authorities' in daemon.stderr_text(), 'the file being read at once')
        self.assert_continued(daemon)

    def test_a_replaced_client_certificate_and_hup_continue_the_watch(self):
        own = self.make_pki('own')
        self.write_kubeconfig(f'client-certificate: "{own}/server.crt", client-key: "{own}/server.key"')
        daemon = self.synced()
        other = self.make_pki('other')
        for name in ('server.key', 'server.crt'):
            shutil.copy(other / name, own / name)
        self.delete('a')
        self.reload(daemon)
        wait_until(lambda: 'new client certificate' in daemon.stderr_text(), 'the files being read at once')
        self.assert_continued(daemon)


class Front:
    """TLS in front of a plain server. Its certificate can be replaced while connections are open."""

    def __init__(self, sim):
        self.sim, self.context, self.open = sim, None, []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'https://127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def show(self, folder):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / 'server.crt', folder / 'server.key')
        self.context = context

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(plain, self.context), daemon=True).start()

    def serve(self, plain, context):
        with contextlib.suppress(OSError):
            client = context.wrap_socket(plain, server_side=True)
            server = socket.create_connection(('127.0.0.1', self.sim.port))
            self.open += [client, server]
            threading.Thread(target=self.pump, args=(client, server), daemon=True).start()
            self.pump(server, client)

    def pump(self, source, sink):
        with contextlib.suppress(OSError, ValueError):
            while piece := source.recv(65536):
                sink.sendall(piece)
        self.end(source, sink)

    @staticmethod
    def end(*sockets):
        for s in sockets:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.end(*self.open)
        self.open = []

    def close(self):
        self.listener.close()
        self.cut()


class ReplacedAuthority(Credentials):
    """Replaces the server's authority, as in a rotation of the cluster's PKI."""
    arguments = ()

    def setUp(self):
        super().setUp()
        self.old, self.new = self.make_pki('old'), self.make_pki('new')
        self.front = Front(self.sim)
        self.addCleanup(self.front.close)
        self.front.show(self.old)
        self.use_authority(self.old)
        self.write_kubeconfig(url=self.front.url)

    def use_authority(self, folder):
        shutil.copy(folder / 'ca.crt', self.folder / 'ca.new')
        (self.folder / 'ca.new').rename(self.folder / 'ca.crt')

    def test_authority_file_is_replaced_before_the_server(self):
        daemon = self.synced()
        self.use_authority(self.new)
        self.reload(daemon)
        self.delete('a')  # on the old connection
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 1, 'the old connection being used')
        self.front.show(self.new)
        self.front.cut()
        self.assert_continued(daemon)

    def test_server_is_replaced_before_the_authority_file(self):
        daemon = self.synced()
        self.front.show(self.new)
        self.front.cut()
        self.delete('a')
        wait_until(lambda: 'certificate' in daemon.stderr_text(), 'the server being refused')
        self.assertEqual(self.log.types()['DELETED'], 0)
        self.use_authority(self.new)  # found without a signal
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 1, lambda: f'recovery; {daemon.stderr_text()[-1500:]}')
        self.assert_continued(daemon)

    def test_server_of_the_old_authority_is_refused(self):
        daemon = self.synced()
        self.use_authority(self.new)

        def refused():
            self.front.cut()  # again and again: a new connection reads the file only if that was a second ago
            return 'certificate' in daemon.stderr_text()
        wait_until(refused, 'the server being refused')
        before = len(self.sim.control('requests'))
        self.delete('a')
        self.front.show(self.new)
        self.assert_continued(daemon)
        self.assertGreater(len(self.sim.control('requests')), before)


run(__name__)
