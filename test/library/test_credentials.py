#!/usr/bin/env python3
"""test_credentials.py KUBESIM RECORDINGS TOLD: who proves what to whom. A server that does not prove itself is asked
nothing; one that no longer knows us is asked again, without anything being told as deleted."""
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
    arguments = '--self-signed', 'FOLDER/pki'
    token = 'sesame'

    def follow_by(self, ca='pki/ca.crt'):
        """Follows with a token, trusting that authority."""
        config = self.folder / 'kubeconfig'
        config.write_text(CONFIG.format(url=self.sim.ready['url'], ca=self.folder / ca, token=self.token))
        return self.follow(kubeconfig=config)

    def assert_refuses(self, why, **more):
        """The server is not believed, for that reason; it never sees a request, nor the token in it."""
        told = self.follow_by(**more)
        said = told.wait_for(error='INF_ETLS')
        self.assertIn(why, said['text'])
        self.assertEqual((said['word'], said['objects'], told.kinds.count('synced')), ('failing', [], 0))
        self.assertEqual(self.sim.control('requests'), [])
        self.assertEqual(told.close(), 0)


class Trusted(Credentials):
    def test_another_authority(self):
        with Sim('--self-signed', self.folder / 'other'):
            self.assert_refuses('certificate', ca='other/ca.crt')

    def test_sessions_are_resumed(self):
        self.put('a')
        self.follow_by().until('synced')
        for n in range(3):
            with self.asleep():
                self.put(f'b{n}')
            self.told.until('ADDED')
        tls = self.sim.control('stats')['tls']
        self.assertGreaterEqual(tls['resumed'], 3)
        self.settle()

    def test_connections_that_are_reset_before_a_word(self):
        self.put('a')
        self.sim.fault('reset', at='accept', times=2)
        self.follow_by().until('synced')
        self.settle()


class OtherName(Credentials):
    arguments = *Credentials.arguments, '--names', 'DNS:example.com,IP:127.0.0.2'

    def test_a_certificate_for_somebody_else(self):
        self.sim.checked = False
        self.assert_refuses('127.0.0.1')


class Expired(Credentials):
    arguments = *Credentials.arguments, '--expired'

    def test_a_certificate_of_yesterday(self):
        self.sim.checked = False
        self.assert_refuses('expired')


class Tokens(Credentials):
    arguments = *Credentials.arguments, '--token', 'sesame'

    def listed(self):
        self.sim.control('tokens', set='')
        return super().listed()

    def test_a_token_that_is_refused_is_tried_again(self):
        self.put('a')
        self.sim.control('tokens', set='another')
        told = self.follow_by()
        self.assertEqual(told.wait_for(error='INF_EUNAUTHORIZED')['word'], 'unauthorized')
        self.assertNotIn('sesame', str(told.lines))
        self.sim.control('tokens', set='sesame')
        told.until('synced')
        self.sim.control('tokens', set='another')
        with self.asleep():
            self.put('b')
        told.wait_for(word='unauthorized')
        self.sim.control('tokens', set='sesame')
        self.assertEqual(told.until('ADDED')['origin'], 'live')
        self.settle()
        self.assertEqual((told.of('DELETED'), told.of('gap')), ([], []))


run(__name__)
