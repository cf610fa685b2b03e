"""Shared by the tests of the page: a daemon with api.listen, requests to it over TLS, and sessions."""
import collections
import contextlib
import http.client
import json
import re
import signal
import ssl
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
from service import Case, wait_until  # noqa: E402

SOURCES = Path(__file__).resolve().parents[2] / 'src/daemon/http/page'
PAGE_MAX = 150 * 1000  # bytes of all files together
Answer = collections.namedtuple('Answer', 'status headers body')


class PageCase(Case):
    ctl = Path(sys.argv[4]).resolve()

    def conf(self, **changes):
        api = {'listen': '127.0.0.1:0', **(changes.pop('api', {}) or {})} if changes.get('api', {}) is not None else None
        return super().conf(**{**changes, 'api': api})

    def serve(self, **changes):
        self.daemon = self.start(self.conf(**changes))
        self.wait_ready()

    def wait_listening(self):
        """Also if it is not ready, because a watch fails."""
        def listens():
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.get('/informerd/v1/code').status == 200
        wait_until(listens, 'the daemon')

    def reload(self, **changes):
        self.write_conf(self.conf(**changes))
        self.daemon.send_signal(signal.SIGHUP)

    def local(self, name):
        return json.loads(self.get(f'/informerd/v1/{name}').text)

    def address(self):
        return self.local('access')['address']

    def code(self):
        return self.local('code')['code']

    def token(self):
        return self.local('token')['token']

    def url(self):
        """The address of the page with a new code, as `informerctl page` prints it."""
        return f'https://{self.address()}/#code={self.code()}'

    def ask(self, target, method='GET', token=None, body=None, headers=None):
        """A request at api.listen."""
        access = self.local('access')
        host, port = access['address'].rsplit(':', 1)
        context = ssl.create_default_context(cadata=access['certificate_authority'])
        with contextlib.closing(http.client.HTTPSConnection(host, int(port), context=context, timeout=60)) as client:
            headers = {**(headers or {}), **({'Authorization': f'Bearer {token}'} if token else {})}
            client.request(method, target, body=body, headers=headers)
            answer = client.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def login(self, code):
        return self.ask('/informerd/v1/session', 'POST', body=code)

    def session(self):
        """The token of a new session."""
        return json.loads(self.login(self.code()).body)['token']
