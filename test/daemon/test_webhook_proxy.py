#!/usr/bin/env python3
"""test_webhook_proxy.py KUBESIM RECORDINGS INFORMERD: webhooks through proxies, as clusters have them."""
import ssl

from hooked import Hooked
from service import run
from small_proxies import HttpProxy, SocksProxy

NAME = 'hooks.test'  # no name server knows it; only a proxy can lead there
PASSWORD = 'a-secret/1'


class Proxied(Hooked):
    def setUp(self):
        super().setUp()
        self.server, self.ca = self.tls_hook(NAME)

    def proxy(self, kind, login=None, **more):
        proxy = self.stack.enter_context(kind(self.server.port, **more))
        proxy.login = login
        return proxy

    def start_with(self, env=None, **webhook):
        """informerd with a handler whose URL has that name, and a change."""
        url = self.server.url(host=NAME)
        handler = {'name': 'test', 'webhook': {'url': url, 'ca_file': self.ca, **webhook}, 'retry': {'max': 1000, 'backoff': '1ms..10ms'}}
        daemon = self.start(self.conf(handlers=[handler]), env={'HTTPS_PROXY': '', 'HTTP_PROXY': '', 'NO_PROXY': '', **(env or {})})
        self.wait_ready()
        self.put('web')
        return daemon

    def assert_delivered(self, daemon, proxy, request):
        """The records of two changes went over one connection through the proxy."""
        self.put('db')
        self.wait_delivered(2)
        self.assertEqual([r.records()[0]['name'] for r in self.server.requests], ['web', 'db'])
        self.assertEqual(self.server.requests[0].headers['Host'], f'{NAME}:{self.server.port}')
        self.assertEqual((self.server.connections, proxy.requests), (1, [request]))
        self.assert_ends(daemon)

    def assert_ends(self, daemon):
        pages = [self.get(path).text for path in ('/metrics', '/readyz?verbose', '/informerd/v1/handlers', '/informerd/v1/status')]
        self.assertEqual(daemon.end(), 0)
        for text in (daemon.stderr_text(), *pages):
            self.assertNotIn(PASSWORD, text)
            self.assertNotIn(PASSWORD.replace('/', '%2F'), text)

    @property
    def connect(self):
        return f'CONNECT {NAME}:{self.server.port} HTTP/1.1'

    def login(self, user='me'):
        return f'{user}:{PASSWORD}'.encode()

    def with_login(self, scheme, proxy):
        return f'{scheme}://me:{PASSWORD.replace("/", "%2F")}@127.0.0.1:{proxy.port}'

    # ---- the option

    def test_connect_with_a_login(self):
        proxy = self.proxy(HttpProxy, self.login())
        self.assert_delivered(self.start_with(proxy=self.with_login('http', proxy)), proxy, self.connect)

    def test_socks5_with_a_login(self):
        proxy = self.proxy(SocksProxy, self.login())
        self.assert_delivered(self.start_with(proxy=self.with_login('socks5', proxy)), proxy, (NAME, self.server.port))

    def test_an_https_proxy_is_verified_with_the_same_authorities(self):
        proxy = self.proxy(HttpProxy, self.login())
        cert, key = self.certificate('localhost')
        proxy.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        proxy.tls.load_cert_chain(cert, key)
        both = self.write('both.pem', ''.join(open(path).read() for path in (self.ca, cert)))
        url = self.with_login('https', proxy).replace('127.0.0.1', 'localhost')
        self.assert_delivered(self.start_with(proxy=url, ca_file=both), proxy, self.connect)

    def test_a_plain_url_is_tunnelled_too(self):
        self.server = self.hook()
        proxy = self.proxy(HttpProxy)
        self.assert_delivered(self.start_with(proxy=f'http://127.0.0.1:{proxy.port}'), proxy, self.connect)

    # ---- the environment

    def test_the_environment(self):
        proxy = self.proxy(HttpProxy, self.login())
        daemon = self.start_with({'HTTPS_PROXY': self.with_login('http', proxy), 'NO_PROXY': '127.0.0.1,example.com'})
        self.assert_delivered(daemon, proxy, self.connect)

    def test_no_proxy_connects_directly(self):
        proxy = self.proxy(HttpProxy)
        daemon = self.start_with({'HTTPS_PROXY': f'http://127.0.0.1:{proxy.port}', 'NO_PROXY': '127.0.0.1,.test'})
        self.wait_logged(daemon, "can't resolve the name")
        self.assertEqual((proxy.requests, self.server.requests), ([], []))
        self.assert_ends(daemon)

    def test_none_overrides_the_environment(self):
        proxy = self.proxy(HttpProxy)
        daemon = self.start_with({'HTTPS_PROXY': f'http://127.0.0.1:{proxy.port}', 'NO_PROXY': '127.0.0.1'}, proxy='none')
        self.wait_logged(daemon, "can't resolve the name")
        self.assertEqual(proxy.requests, [])
        self.assert_ends(daemon)

    # ---- failures: records wait until the proxy works

    def test_a_wrong_login_is_reported_and_repeated(self):
        proxy = self.proxy(HttpProxy, self.login('another'))
        daemon = self.start_with(proxy=self.with_login('http', proxy))
        self.wait_logged(daemon, '407')
        self.assertEqual((self.server.requests, self.metric('parked')), ([], 0))
        proxy.login = self.login()
        self.wait_requests(self.server, 1)
        self.wait_metric('queue_length', 0)
        self.assert_ends(daemon)

    def test_no_proxy_at_the_address(self):
        proxy = self.proxy(HttpProxy)
        daemon = self.start_with(proxy='http://127.0.0.1:1')
        self.wait_logged(daemon, "proxy: 127.0.0.1:1: can't connect")
        self.reload(daemon, {'name': 'test', 'webhook': {'url': self.server.url(host=NAME), 'ca_file': self.ca,
                                                         'proxy': f'http://127.0.0.1:{proxy.port}'}})
        self.wait_requests(self.server, 1)
        self.wait_metric('queue_length', 0)
        self.assert_ends(daemon)


run(__name__)
