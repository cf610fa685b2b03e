#!/usr/bin/env python3
"""test_optional.py KUBESIM RECORDINGS INFORMERD: resources that the server does not have, or seems not to have."""
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
            health = self.get('/readyz?verbose').text
            return ': failing' in health and text in health
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

    def test_persistent_404_is_not_ready(self):
        self.begin(stale_after='5s')
        self.wait_ready()
        self.sim.fault('status', code=404, path=PATH + 'widgets', text='html', times=0)
        self.reopen()
        wait_until(lambda: self.get('/readyz').status == 503, 'not ready')
        self.assertEqual(of_type(self.log.read(), 'DELETED'), [])

    def test_resource_removed_from_discovery_is_deleted_and_found_again(self):
        """Issue 14, 29: it took up to a minute, and the reason of the RELIST was that the resource is not known."""
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

    def test_stray_404_causes_no_relist(self):
        self.stray_404s()


class Words(Case):
    """Resource names that need discovery, while groups of the server fail."""
    arguments = ('--resource', 'widgets.a.io/v1=Widget', '--resource', 'widgets.b.io/v1=Widget', '--resource', SPEC)

    def watch(self, *arguments):
        daemon = Daemon(self.folder, ['watch', *arguments, '--kubeconfig', self.folder / 'kubeconfig'],
                        stdout=subprocess.PIPE)
        self.stack.callback(daemon.discard)
        return daemon

    def test_a_group_that_is_down_is_waited_for(self):
        """Issue 14, 38: it ended with 64 and the message that the resource is not known."""
        self.sim.fault('status', code=503, path='/apis/b.io/v1', times=0)
        daemon = self.watch('widgets.b.io')
        wait_until(lambda: 'b.io/v1 does not respond' in daemon.stderr_text() and 'retrying' in daemon.stderr_text(), 'retries')
        self.assertTrue(daemon.alive())
        self.sim.control('clear')
        wait_until(lambda: 'SYNCED' in daemon.stderr_text() or self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertEqual(daemon.end(), 0)

    def test_used_group_is_reported_when_another_is_down(self):
        """Issue 14, 38: the other group was used without a message."""
        for down in ('b.io', 'example.com'):
            self.sim.fault('status', code=503, path=f'/apis/{down}/v1', times=0)
        daemon = self.watch('widgets')
        wait_until(lambda: self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertIn("resource 'widgets': using widgets.a.io/v1, but b.io/v1 does not respond", daemon.stderr_text())
        self.assertIn('nor do 1 other group versions; specify the group to be certain', daemon.stderr_text())

    def test_unknown_resource_name_exits(self):
        daemon = self.watch('widgetz.b.io')
        self.assertEqual(daemon.status(), 64)
        self.assertIn("'widgetz.b.io' is not known to the server; did you mean 'widgets'?", daemon.stderr_text())

    def test_server_that_is_no_api_server_exits(self):
        self.sim.fault('status', code=404, path='/api', text='html', times=0)
        daemon = self.watch('pods')
        self.assertEqual(daemon.status(), 69)
        self.assertIn('HTTP 404', daemon.stderr_text())

    def test_group_that_does_not_respond_is_skipped(self):
        """Issue 14, 36: it was waited for, and the server was taken for one without streaming lists."""
        self.sim.fault('blackhole', path='/apis/batch/v1', times=0)
        daemon = self.watch('deploy')
        wait_until(lambda: self.sim.control('stats')['watches']['open'], 'a watch')
        self.assertIn("using deployments.apps/v1, but batch/v1 does not respond (no response within 5 s)", daemon.stderr_text())
        self.assertNotIn('streaming list failed', daemon.stderr_text())


if __name__ == '__main__':
    run(__name__)
