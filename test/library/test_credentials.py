#!/usr/bin/env python3
"""test_credentials.py KUBESIM RECORDINGS EVENT_PRINTER: certificates and tokens. A server without a valid certificate gets
no request. A token that is rejected is tried again, and no object is reported as deleted meanwhile."""
import sys

sys.dont_write_bytecode = True
from stage import Sim, Story, run

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "{url}", certificate-authority: "{ca}"}}}}]
users: [{{name: u, user: {{token: "{token}"}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""


class Credentials(Story):
    arguments = '--self-signed', 'FOLDER/pki', '--token', 'sesame', '--anonymous', 'allow'
    token = 'sesame'

    def follow_by(self, ca='pki/ca.crt'):
        """Follows with a token, and trusts that certificate authority."""
        config = self.folder / 'kubeconfig'
        config.write_text(CONFIG.format(url=self.sim.ready['url'], ca=self.folder / ca, token=self.token))
        return self.follow(kubeconfig=config)

    def assert_refuses(self, why, **more):
        """The connection fails for that reason; the server gets no request and no token."""
        follower = self.follow_by(**more)
        state = follower.wait_for(error='INF_ETLS')
        self.assertIn(why, state['text'])
        self.assertEqual((state['status'], state['objects'], follower.kinds.count('synced')), ('failing', [], 0))
        self.assertEqual(self.sim.control('requests'), [])
        self.assertEqual(follower.close(), 0)


class Trusted(Credentials):
    def test_refuses_a_certificate_of_another_authority(self):
        with Sim('--self-signed', self.folder / 'other'):
            self.assert_refuses('certificate', ca='other/ca.crt')

    def test_tls_sessions_are_resumed_by_the_library(self):
        self.put('a')
        self.follow_by().until('synced')
        for n in range(3):
            with self.follower_stopped():
                self.put(f'b{n}')
            self.follower.until('ADDED')
        tls = self.sim.control('stats')['tls']
        self.assertGreaterEqual(tls['resumed'], 3)
        self.settle()

    def test_connections_reset_at_accept_are_retried(self):
        self.put('a')
        self.sim.fault('reset', at='accept', times=2)
        self.follow_by().until('synced')
        self.settle()


class OtherHost(Credentials):
    arguments = *Credentials.arguments, '--names', 'DNS:example.com,IP:127.0.0.2'

    def test_refuses_a_certificate_for_another_host(self):
        self.sim.checked = False
        self.assert_refuses('127.0.0.1')


class Expired(Credentials):
    arguments = *Credentials.arguments, '--expired'

    def test_refuses_an_expired_certificate(self):
        self.sim.checked = False
        self.assert_refuses('expired')


class Tokens(Credentials):
    arguments = '--self-signed', 'FOLDER/pki', '--token', 'sesame'

    def listed(self):
        self.sim.control('tokens', set='')
        return super().listed()

    def test_rejected_token_is_tried_again(self):
        self.put('a')
        self.sim.control('tokens', set='another')
        follower = self.follow_by()
        self.assertEqual(follower.wait_for(error='INF_EUNAUTHORIZED')['status'], 'unauthorized')
        self.assertNotIn('sesame', str(follower.lines))
        self.sim.control('tokens', set='sesame')
        follower.until('synced')
        self.sim.control('tokens', set='another')
        with self.follower_stopped():
            self.put('b')
        follower.wait_for(status='unauthorized')
        self.sim.control('tokens', set='sesame')
        self.assertEqual(follower.until('ADDED')['origin'], 'live')
        self.settle()
        self.assertEqual((follower.of('DELETED'), follower.of('gap')), ([], []))


run(__name__)
