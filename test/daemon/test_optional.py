#!/usr/bin/env python3
"""test_optional.py KUBESIM RECORDINGS INFORMERD: resources that the server may not have, and servers that only seem not to have them."""
import subprocess
import time

from service import Case, Daemon, run, wait_until

WIDGETS = 'widgets.example.com'
SPEC = f'{WIDGETS}/v1=Widget'
PATH = '/apis/example.com/v1/'
GROUP = '/apis/example.com'


def widget(name):
    return {'apiVersion': 'example.com/v1', 'kind': 'Widget', 'metadata': {'name': name, 'namespace': 'default'}}


def of_type(records, *types):
    return [r for r in records if r['type'] in types]


class Widgets(Case):
    """A watch of a custom resource that has two objects."""
    arguments = ('--resource', SPEC)
    watch = {'name': 'w', 'resource': WIDGETS, 'optional': True}

    def setUp(self):
        super().setUp()
        self.sim.put(WIDGETS, widget('a'), widget('b'))

    def begin(self, **cluster):
        clusters = [{'name': 'sim', 'kubeconfig': str(self.folder / 'kubeconfig'), **cluster}]
        daemon = self.start(self.conf(watches=[self.watch], clusters=clusters))
        self.log.wait_for(lambda records: of_type(records, 'SYNCED'), 'SYNCED')
        return daemon

    def reopen(self):
        self.sim.control('close', how='end', path=PATH)

    def goes_on(self, name):
        """A new object is reported; nothing was reported deleted and nothing was listed again."""
        self.sim.control('clear')
        self.sim.put(WIDGETS, widget(name))
        self.log.wait_for(lambda records: [r for r in of_type(records, 'ADDED') if r['name'] == name], f'{name} added')
        self.assertEqual(of_type(self.log.read(), 'DELETED', 'RELIST', 'GAP'), [])

    def wait_failing(self, text):
        def failing():
            said = self.get('/readyz?verbose').text
            return ': failing' in said and text in said
        wait_until(failing, f'failing because of {text}')

    def stray_404s(self):
        self.begin()
        for text in ('html', 'empty', 'json'):
            with self.subTest(text=text):
                self.sim.fault('status', code=404, text=text, path=PATH + 'widgets')
                self.reopen()
                wait_until(lambda: not self.sim.control('faults'), 'the stray answer')
                self.goes_on(f'after-{text}')


class Optional(Widgets):
    """Issue 14, 32: everything was reported deleted, and informerd stayed ready."""

    def test_a_stray_404_deletes_nothing(self):
        self.stray_404s()

    def test_a_group_that_is_down_deletes_nothing(self):
        self.begin()
        self.sim.fault('status', code=404, path=PATH + 'widgets', text='plain', times=0)
        self.sim.fault('status', code=503, path=GROUP, times=0)
        self.reopen()
        self.wait_failing("discovery can't confirm it")
        self.goes_on('after')

    def test_a_load_balancer_without_backends_deletes_nothing(self):
        self.begin()
        self.sim.fault('status', code=404, path='/api', text='html', times=0)
        self.reopen()
        self.wait_failing('HTTP 404')
        self.goes_on('after')

    def test_what_stays_broken_is_not_ready(self):
        self.begin(stale_after='5s')
        self.wait_ready()
        self.sim.fault('status', code=404, path=PATH + 'widgets', text='html', times=0)
        self.reopen()
        wait_until(lambda: self.get('/readyz').status == 503, 'not ready')
        self.assertEqual(of_type(self.log.read(), 'DELETED'), [])

    def test_what_discovery_no_longer_lists_is_deleted_and_found_again_soon(self):
        """Issue 14, 29: it took up to a minute, and the RELIST said that the resource is not known."""
        self.begin()
        self.sim.control('serve', resource=WIDGETS, on=0)
        self.reopen()
        self.log.wait_for(lambda records: len(of_type(records, 'DELETED')) == 2, 'both deleted')
        self.assertIn("'widgets.example.com' is not known to the server (HTTP 404)",
                      of_type(self.log.read(), 'RELIST')[0]['msg'])
        wait_until(lambda: ': waiting' in self.get('/readyz?verbose').text, 'waiting')
        self.sim.control('serve', resource=WIDGETS)
        began = time.monotonic()
        self.log.wait_for(lambda records: len(of_type(records, 'ADDED')) == 4, 'both added')
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(of_type(self.log.read(), 'RELIST')[-1]['msg'], 'the resource is available now')


class Mandatory(Widgets):
    watch = {'name': 'w', 'resource': WIDGETS}

    def test_a_stray_404_is_no_reason_to_list_again(self):
        self.stray_404s()


class Words(Case):
    """Resources named by a word, while groups of the server fail."""
    arguments = ('--resource', 'widgets.a.io/v1=Widget', '--resource', 'widgets.b.io/v1=Widget', '--resource', SPEC)

    def watch(self, *arguments):
        daemon = Daemon(self.folder, ['watch', *arguments, '--kubeconfig', self.folder / 'kubeconfig'],
                        stdout=subprocess.PIPE)
        self.stack.callback(daemon.discard)
        return daemon

    def test_a_group_that_is_down_is_waited_for(self):
        """Issue 14, 38: it ended with 64, saying that the resource is not known."""
        self.sim.fault('status', code=503, path='/apis/b.io/v1', times=0)
        daemon = self.watch('widgets.b.io')
        wait_until(lambda: 'b.io/v1 does not respond' in daemon.said() and 'retrying' in daemon.said(), 'retries')
        self.assertTrue(daemon.alive())
        self.sim.control('clear')
        wait_until(lambda: 'SYNCED' in daemon.said() or self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertEqual(daemon.end(), 0)

    def test_which_group_was_used_is_said_when_another_is_down(self):
        """Issue 14, 38: the other was used without a word."""
        for down in ('b.io', 'example.com'):
            self.sim.fault('status', code=503, path=f'/apis/{down}/v1', times=0)
        daemon = self.watch('widgets')
        wait_until(lambda: self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertIn("resource 'widgets': using widgets.a.io/v1, but b.io/v1 does not respond", daemon.said())
        self.assertIn('nor do 1 other group versions; specify the group to be certain', daemon.said())

    def test_a_typing_error_ends_it(self):
        daemon = self.watch('widgetz.b.io')
        self.assertEqual(daemon.status(), 64)
        self.assertIn("'widgetz.b.io' is not known to the server; did you mean 'widgets'?", daemon.said())

    def test_what_is_no_api_server_ends_it(self):
        self.sim.fault('status', code=404, path='/api', text='html', times=0)
        daemon = self.watch('pods')
        self.assertEqual(daemon.status(), 69)
        self.assertIn('HTTP 404', daemon.said())

    def test_a_group_that_hangs_is_skipped(self):
        """Issue 14, 36: it was waited for, and the server was taken for one without streaming lists."""
        self.sim.fault('blackhole', path='/apis/batch/v1', times=0)
        daemon = self.watch('deploy')
        wait_until(lambda: self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertIn("using deployments.apps/v1, but batch/v1 does not respond (no response within 5 s)", daemon.said())
        self.assertNotIn('streaming list failed', daemon.said())


if __name__ == '__main__':
    run(__name__)
