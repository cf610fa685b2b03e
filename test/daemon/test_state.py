#!/usr/bin/env python3
"""test_state.py KUBESIM RECORDINGS INFORMERD: a restart reports exactly what has changed meanwhile.

fold() checks it: over the records of all runs together, an object that is added twice, a change that does not follow
the one before it, or a deletion of nothing is an error.
"""
import contextlib
import json
import signal
import socket
import subprocess
import time
from pathlib import Path

from service import CHANGES, DEADLINE, INFORMERD, UnixHttp, config_map, environment, fold, run, runs_of, wait_until
from state_case import Restarted


class Stopped(Restarted):
    """The objects change while informerd does not run."""

    def test_no_change(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.first_run(number)
                daemon = self.second_run()
                self.assertEqual(daemon.end(), 0)
                self.assertEqual(self.changes(), [])
        start = runs_of(self.log.read())[-1][0]
        self.assertRegex(start['msg'], r'continues from the state of \d+s ago: 4 objects of 1 streams')

    def test_changes_that_the_server_still_has(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.first_run(number)
                self.change()
                self.second_run().end()
                self.assertIn(('DELETED', 'deleted', 'live'), self.changes())
                self.assertNotIn('kept', {name for _, name, _ in self.changes()})

    def test_changes_that_the_server_no_longer_has(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.first_run(number)
                self.change()
                self.sim.put('configmaps', config_map('changed') | {'data': {'k': f'after {number}'}})
                self.sim.control('compact')
                self.second_run().end()
                changes = self.changes()
                self.assertEqual({origin for _, _, origin in changes}, {'resumed'})
                self.assertEqual(sorted(change[:2] for change in changes if change[1] != 'added'), [
                    ('ADDED', 'recreated'), ('DELETED', 'deleted'), ('DELETED', 'recreated'), ('MODIFIED', 'changed')])
                gone = [r for r in self.log.read() if r['type'] == 'DELETED' and r['name'] == 'deleted'][-1]
                self.assertFalse(gone['final'])
                self.assertEqual(gone['object']['data'], {'k': 'deleted'})
                changed = [r for r in self.log.read() if r['type'] == 'MODIFIED'][-1]
                self.assertEqual(changed['diff'], [{'op': 'replace', 'path': 'data.k', 'old': 'changed', 'new': f'after {number}'}])

    def test_other_selection(self):
        self.sim.put('configmaps', config_map('selected', labels={'app': 'web'}))
        self.first_run()
        daemon = self.start(self.conf(watches=[{'resource': 'configmaps', 'label_selector': 'app=web', 'ignore': []}]))
        self.log.wait_for(lambda records: len(fold(records)) == 1, 'one selected object')
        self.assertEqual(sorted(self.changes()), [('DELETED', name, 'resumed')
                                                  for name in ('changed', 'deleted', 'kept', 'recreated')])
        daemon.end()
        self.second_run().end()
        self.assertEqual(len(self.changes()), 4)
        self.second_run().end()
        self.assertEqual(self.changes(), [])

    def test_long_selection(self):
        """The id of a stream is limited; long lists have a digest there."""
        excluded = [f'excluded-{n}-'.ljust(62, 'x') for n in range(64)]
        conf = self.conf(watches=[{'resource': 'configmaps', 'exclude_namespaces': excluded}])
        self.first_run(conf=conf)
        self.second_run(conf).end()
        self.assertEqual(self.changes(), [])
        self.sim.put('configmaps', {'metadata': {'name': 'x', 'namespace': excluded[-1]}})
        conf['watches'][0]['exclude_namespaces'] = excluded[:-1]
        self.second_run(conf).end()
        self.assertEqual(self.changes(), [('ADDED', 'x', 'resumed')])

    def test_watch_that_is_no_longer_configured(self):
        self.first_run(conf=self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'configmaps', 'name': 'more'}],
                                      event_logs=[{'path': str(self.path), 'watches': ['configmaps']}]))
        daemon = self.second_run()
        self.assertIn('4 objects of watch more are discarded', daemon.stderr_text())
        self.assertEqual(self.changes(), [])
        self.assertRegex(runs_of(self.log.read())[-1][0]['msg'], '8 objects of 2 streams; 4 objects are discarded: watch more is '
                         'no longer configured, or watches other objects$')

    def test_state_disabled(self):
        off = self.conf(state={'enabled': False})
        self.first_run(conf=off)
        before = len(self.log.read())
        self.start(off)
        self.wait_equal(since=before)
        self.assertEqual({origin for _, _, origin in self.changes()}, {'initial'})
        self.assertFalse((self.folder / 'state/cache').exists())

    def test_other_fields(self):
        """The saved objects lack what is kept now: they are compared with a list."""
        without = self.conf(watches=[{'resource': 'configmaps', 'ignore': [], 'drop': ['data']}])
        self.first_run(conf=without)
        self.sim.control('delete', resource='configmaps', namespace='default', name='deleted')
        daemon = self.second_run()
        self.assertIn('its selection or its fields have changed since the last run', daemon.stderr_text())
        self.assertIn(('DELETED', 'deleted', 'resumed'), self.changes())
        self.assertNotIn('ADDED', {verb for verb, _, _ in self.changes()})
        self.assertEqual(daemon.end(), 0)
        self.second_run().end()
        self.assertEqual(self.changes(), [])

    def test_another_resource_under_the_same_name(self):
        self.first_run(conf=self.conf(watches=[{'resource': 'configmaps', 'name': 'objects'}]))
        daemon = self.start(self.conf(watches=[{'resource': 'secrets', 'name': 'objects'}]))
        self.log.wait_for(lambda records: len(runs_of(records)) == 2, 'START')
        self.assertIn('4 objects are discarded: watch objects is', runs_of(self.log.read())[-1][0]['msg'])
        self.wait_ready()
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.changes(), [])

    def test_another_key_of_hashed_values(self):
        self.first_run()
        (self.folder / 'state/key').write_bytes(bytes(range(32)))
        before = len(self.log.read())
        self.start()
        self.wait_equal(since=before)
        self.assertEqual({origin for _, _, origin in self.changes()}, {'initial'})
        self.assertIn('state discarded: ', runs_of(self.log.read())[-1][0]['msg'])

    def test_secrets_are_not_on_disk(self):
        self.sim.put('secrets', {'metadata': {'name': 's', 'namespace': 'default'}, 'data': {'k': 'c2VjcmV0LXZhbHVl'}})
        daemon = self.start(self.conf(watches=[{'resource': 'secrets'}]))
        self.wait_ready()
        self.log.wait_for(lambda records: fold(records), 'the secret')
        daemon.end()
        cache = self.folder / 'state/cache'
        self.assertEqual(cache.stat().st_mode & 0o777, 0o700)
        for file in cache.iterdir():
            self.assertNotIn(b'c2VjcmV0LXZhbHVl', file.read_bytes())
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.start(self.conf(watches=[{'resource': 'secrets', 'reveal': True}]))  # it would be found
        wait_until(lambda: any(b'c2VjcmV0LXZhbHVl' in file.read_bytes() for file in cache.iterdir()), 'the value')


class Readers(Restarted):
    def ask(self):
        with contextlib.closing(UnixHttp(self.socket)) as connection:
            connection.request('GET', '/api/v1/namespaces/default/configmaps')
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers

    def is_served(self, *states):
        with contextlib.suppress(OSError):
            status, _, headers = self.ask()
            return status == 200 and headers['Informerd-State'] in states
        return False

    def test_saved_objects_are_served_before_the_server_answers(self):
        self.first_run()
        self.sim.fault('status', code=503, times=0)
        self.start()
        wait_until(lambda: self.is_served('restored', 'failing'), 'the saved objects')
        _, answer, headers = self.ask()
        self.assertEqual([item['metadata']['name'] for item in answer['items']], ['changed', 'deleted', 'kept', 'recreated'])
        self.assertRegex(headers['Age'], r'^\d+$')
        self.assertRegex(headers['Warning'], r'this copy may be outdated: (restored|failing) for \d+ seconds')
        wait_until(lambda: int(self.ask()[2]['Age']) > int(headers['Age']), 'a higher age')
        self.sim.control('clear')
        wait_until(lambda: self.is_served('live'), 'the watch')
        self.assertNotIn('Warning', self.ask()[2])


class Stdout(Restarted):
    """What was written to it can't be found again: the last lines may be written twice, but they are the same."""

    def conf(self, **changes):
        return super().conf(**{'event_logs': [{'path': 'stdout'}], **changes})

    def run_until_equal(self, number):
        with open(self.path, 'ab') as stdout:
            daemon = self.start(stdout=stdout)
        self.wait_ready()
        wait_until(lambda: fold(self.once()) == self.on_server(), lambda: f'the objects; {daemon.stderr_text()[-2000:]}')
        self.assertEqual(daemon.end(number), 0 if number == signal.SIGTERM else -number, daemon.stderr_text())

    def once(self):
        """The records without repeated ones."""
        found = {}
        for record in self.log.read():
            self.assertEqual(found.setdefault(record['seq'], record), record)
        return list(found.values())

    def test_repeated_lines_have_the_same_seq(self):
        self.sim.put('configmaps', *(config_map(name) for name in ('kept', 'changed', 'deleted', 'recreated')))
        for number in (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGTERM):
            self.run_until_equal(number)
            self.sim.put('configmaps', config_map('changed', labels={'run': f'r{time.monotonic_ns()}'}))
        records = self.once()
        self.assertEqual([r['seq'] for r in records], sorted(r['seq'] for r in records))
        self.assertEqual([r['origin'] for r in records if r['type'] in CHANGES], ['initial'] * 4 + ['live'] * 3)


class PowerLoss(Restarted):
    """The log has changes that the state has lost."""

    def lose_state(self, change):
        """A run that ends with @change, of which only the event log knows afterwards."""
        self.sim.put('configmaps', *(config_map(name) for name in ('kept', 'changed', 'deleted', 'recreated')))
        daemon = self.start()
        self.wait_ready()
        self.wait_equal()
        before = {file: file.stat().st_size for file in (self.folder / 'state/cache').glob('*.seg')}
        change()
        self.wait_equal()
        daemon.end(signal.SIGKILL)
        for file, size in before.items():
            with open(file, 'r+b') as segment:
                segment.truncate(size)

    def test_changes_that_the_server_still_has(self):
        self.lose_state(self.change)
        daemon = self.second_run()
        self.assertRegex(daemon.stderr_text(), r'has changes of 4 objects that the saved state has lost')
        self.sim.put('configmaps', config_map('changed', labels={'a': 'c'}))
        self.wait_equal()
        self.assertEqual(daemon.end(), 0)
        self.assertEqual(self.changes(), [('MODIFIED', 'changed', 'live')])
        self.assertIn('diff', [r for r in self.log.read() if r['type'] == 'MODIFIED'][-1])

    def test_changes_that_the_server_no_longer_has(self):
        self.lose_state(self.change)
        self.sim.put('configmaps', config_map('changed', labels={'a': 'c'}))
        self.sim.control('compact')
        self.assertEqual(self.second_run().end(), 0)
        self.assertEqual(self.changes(), [('MODIFIED', 'changed', 'resumed')])
        record = [r for r in self.log.read() if r['type'] == 'MODIFIED'][-1]
        self.assertTrue(record['old_unknown'])
        self.assertEqual(record['object']['metadata']['labels'], {'a': 'c'})
        self.assertNotIn('diff', record)


class Limited(Restarted):
    """The state can't be saved: watching and logging continue. More of this: test_state_disk.py."""

    def daemon_text(self):
        return (self.folder / 'stderr').read_text()

    def test_directory_that_cannot_be_used(self):
        (self.folder / 'state').mkdir(exist_ok=True)
        (self.folder / 'state/cache').write_text('a file')
        self.sim.put('configmaps', config_map('a'))
        daemon = self.start()
        self.wait_ready()
        self.wait_equal()
        self.assertRegex(self.get('/readyz?verbose').text, r'\[\+\] state: not saved: ')
        self.assertEqual(self.metrics()['informerd_state_active'], 0)
        self.assertIn('state not available: ', runs_of(self.log.read())[-1][0]['msg'])
        (self.folder / 'state/cache').unlink()
        wait_until(lambda: 'is saved again' in self.daemon_text(), 'the directory')
        wait_until(lambda: self.metrics()['informerd_state_active'] == 1, 'the state')
        self.assertEqual(daemon.end(), 0)
        self.second_run().end()
        self.assertEqual(self.changes(), [])


class Reported(Restarted):
    def test_sizes_and_ages(self):
        self.first_run()
        self.second_run()
        files = list((self.folder / 'state/cache').iterdir())
        wait_until(lambda: self.metrics()['informerd_state_disk_bytes'] == sum(file.stat().st_size for file in files), 'the size')
        metrics = self.metrics()
        self.assertEqual((metrics['informerd_state_active'], metrics['informerd_state_objects']), (1, 4))
        self.assertIn(metrics['informerd_state_live_bytes'], range(1, int(metrics['informerd_state_disk_bytes'])))
        self.assertLess(metrics['informerd_state_written_bytes_total'], metrics['informerd_state_disk_bytes'])
        self.assertAlmostEqual(metrics['informerd_state_last_write_timestamp_seconds'], time.time(), delta=DEADLINE)
        self.assertRegex(self.get('/readyz?verbose').text, r'(?m)^\[\+\] state: 4 objects, 0\.0 MB on disk, saved \d+s ago$')

    def test_watch_saves_nothing(self):
        service = Path('/var/lib/informerd')
        before = service.exists()
        self.sim.put('configmaps', config_map('a'))
        watch = subprocess.Popen([INFORMERD, 'watch', 'configmaps', '-A', '--kubeconfig', self.folder / 'kubeconfig'],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(self.folder))
        self.stack.callback(watch.kill)
        self.assertIn(b'a', watch.stdout.readline())
        watch.terminate()
        watch.communicate(timeout=DEADLINE)
        self.assertEqual(service.exists(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ['kubeconfig', 'state'])
        self.assertEqual(list((self.folder / 'state').iterdir()), [])


class Identity(Restarted):
    """The cluster of the last run is recognised by the uid of kube-system, or else by URL and authorities."""

    def setUp(self):
        super().setUp()
        self.put_identity(self.sim)

    def uids(self):
        """What informerd can read and has to save."""
        answer = self.sim.request('/api/v1/namespaces/kube-system')
        return [answer.json()['metadata']['uid'].encode()] if answer.code == 200 else []

    def put_identity(self, sim):
        sim.control('put', {'metadata': {'name': 'kube-system'}}, resource='namespaces')

    def wait_identified(self):
        def saved(uid):
            return any(uid in file.read_bytes() for file in (self.folder / 'state/cache').glob('*.seg'))
        wait_until(lambda: all(map(saved, self.uids())), 'the uid on disk')

    def change_identity(self):
        self.sim.control('delete', resource='namespaces', name='kube-system')
        self.put_identity(self.sim)

    def at(self, host='127.0.0.1', port=None, name='sim', **more):
        scheme = 'https' if 'ca' in more else 'http'
        url = f'{scheme}://{host}:{port or self.sim.port}'
        return self.conf(clusters=[{'name': name, 'server': url, **more}])

    def second_run_with(self, conf):
        """Returns its records when it has reported the objects of the server."""
        before = len(runs_of(self.log.read()))
        daemon = self.start(conf)
        self.log.wait_for(lambda records: len(runs_of(records)) > before and any(
            r['type'] == 'SYNCED' for r in runs_of(records)[-1]), lambda: f'SYNCED; {daemon.stderr_text()[-3000:]}')
        self.wait_ready()
        self.wait_identified()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        return runs_of(self.log.read())[-1]

    def assert_continued(self, records):
        self.assertEqual([r for r in records if r['type'] in CHANGES or r['type'] == 'GAP'], [])

    def assert_restarted(self, records, names):
        self.assertEqual([r['reason'] for r in records if r['type'] == 'GAP'], ['restarted'])
        self.assertEqual(sorted((r['type'], r['name'], r['origin']) for r in records if r['type'] in CHANGES),
                         [('ADDED', name, 'initial') for name in names])

    def test_renamed_entry(self):
        self.first_run(conf=self.at())
        self.assert_continued(self.second_run_with(self.at(name='prod')))

    def test_another_url_of_the_same_server(self):
        self.first_run(signal.SIGKILL, conf=self.at())
        self.assert_continued(self.second_run_with(self.at('localhost')))
        self.assertIn(f'http://localhost:{self.sim.port} is the same cluster as http://127.0.0.1:{self.sim.port} '
                      'of the last run', (self.folder / 'stderr').read_text())
        self.sim.control('delete', resource='configmaps', namespace='default', name='deleted')
        records = self.second_run_with(self.at('localhost'))
        self.assertEqual([(r['type'], r['name']) for r in records if r['type'] in CHANGES], [('DELETED', 'deleted')])

    def test_another_url_that_does_not_respond(self):
        self.first_run(conf=self.at())
        with socket.socket() as unused:
            unused.bind(('127.0.0.1', 0))
            daemon = self.start(self.at(port=unused.getsockname()[1]))
            wait_until(lambda: 'cannot read its identity' in daemon.stderr_text(), daemon.stderr_text)
            wait_until(lambda: 'refused' in self.get('/readyz').text, lambda: self.get('/readyz?verbose').text)
            self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assert_continued(self.second_run_with(self.at('localhost')))

    def test_another_server_of_the_same_name(self):
        self.first_run(conf=self.at())
        other = self.simulate('other')
        self.put_identity(other)
        other.put('configmaps', config_map('kept'), config_map('theirs'))
        self.assert_restarted(self.second_run_with(self.at(port=other.port)), ['kept', 'theirs'])
        self.assert_continued(self.second_run_with(self.at('localhost', other.port)))

    def test_another_cluster_at_the_same_url(self):
        self.first_run(conf=self.at())
        self.change_identity()
        daemon = self.start(self.at())
        names = ['changed', 'deleted', 'kept', 'recreated']
        self.log.wait_for(lambda records: len(runs_of(records)) == 2 and sorted(
            r['name'] for r in runs_of(records)[-1] if r['type'] == 'ADDED') == names, 'all objects')
        self.assertIn('is another cluster than in the last run', daemon.stderr_text())
        daemon.end()
        self.assert_restarted(runs_of(self.log.read())[-1], names)
        self.assert_continued(self.second_run_with(self.at()))

    def test_identity_that_may_not_be_read(self):
        self.sim.fault('status', code=403, times=0, path='/namespaces/kube-system')
        self.first_run(conf=self.at())
        self.assert_continued(self.second_run_with(self.at()))
        self.assert_restarted(self.second_run_with(self.at('localhost')), ['changed', 'deleted', 'kept', 'recreated'])
        self.sim.control('clear')
        self.assert_continued(self.second_run_with(self.at('localhost')))  # by its URL; the uid is saved now
        self.assert_continued(self.second_run_with(self.at()))

    def test_other_authorities(self):
        sim = self.sim = self.simulate('tls-kubeconfig', '--self-signed', self.folder)
        ca = self.folder / 'ca.crt'
        conf = self.at(port=sim.port, ca=str(ca))
        self.first_run(conf=conf)  # without kube-system: no uid
        ca.write_text('# another text\n' + ca.read_text())
        self.assert_restarted(self.second_run_with(conf), ['changed', 'deleted', 'kept', 'recreated'])
        self.put_identity(sim)
        self.assert_continued(self.second_run_with(conf))
        ca.write_text('# and another one\n' + ca.read_text())
        self.assert_continued(self.second_run_with(conf))

    def test_identity_and_name_are_saved_by_a_reload(self):
        self.first_run(conf=self.at())
        daemon = self.start(self.at())
        self.wait_ready()
        conf = self.at('localhost')
        conf['watches'][0]['name'] = 'maps'
        self.write_conf(conf)
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: 'is the same cluster as' in daemon.stderr_text(), daemon.stderr_text)
        self.wait_ready()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assert_continued(self.second_run_with(conf))


class Namespaces(Restarted):
    """A watch that selects namespaces by label: they may be others after a restart."""

    def conf(self, **changes):
        watch = {'resource': 'configmaps', 'ignore': [], 'namespace_selector': 'team=shop'}
        return super().conf(**{'watches': [watch], **changes})

    def namespace(self, name, team='shop'):
        self.sim.control('put', {'metadata': {'name': name, 'labels': {'team': team}}}, resource='namespaces')

    def objects(self, *names):
        for name in names:
            ns, name = name.split('/')
            self.sim.put('configmaps', {'metadata': {'name': name, 'namespace': ns}, 'data': {'a': 'b'}})

    def selected(self, *namespaces):
        return {key: value for key, value in self.on_server().items() if key[1] in namespaces}

    def run_until(self, *namespaces, number=signal.SIGKILL):
        """A run that ends when the log has the objects of these namespaces. Returns the changes: {(type, key): record}."""
        runs = len(runs_of(self.log.read()))
        daemon = self.start()
        self.wait_ready()
        self.log.wait_for(lambda records: len(runs_of(records)) > runs and fold(records) == self.selected(*namespaces),
                          lambda: f'the objects of {namespaces}; {daemon.stderr_text()[-3000:]}')
        self.assertEqual(daemon.end(number), 0 if number == signal.SIGTERM else -number, daemon.stderr_text())
        records = [r for r in runs_of(self.log.read())[-1] if r['type'] in CHANGES]
        return {(r['type'], f'{r["namespace"]}/{r["name"]}'): r for r in records}

    def setUp(self):
        super().setUp()
        for ns in 'abcd':
            self.namespace(ns, 'shop' if ns != 'd' else 'other')
            self.objects(f'{ns}/x', f'{ns}/y')

    def test_continues(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number=number):
                self.run_until('a', 'b', 'c', number=number)
                self.assertEqual(self.run_until('a', 'b', 'c'), {})
                self.objects(f'a/new-{number}')
                self.assertEqual(list(self.run_until('a', 'b', 'c')), [('ADDED', f'a/new-{number}')])

    def test_namespaces_that_left_were_deleted_or_came(self):
        self.run_until('a', 'b', 'c')
        self.namespace('a', 'other')
        for name in 'xy':
            self.sim.control('delete', resource='configmaps', namespace='b', name=name)
        self.sim.control('delete', resource='namespaces', name='b')
        self.namespace('d', 'shop')
        changes = self.run_until('c', 'd')
        self.assertEqual(sorted(changes), [('ADDED', 'd/x'), ('ADDED', 'd/y'), ('DELETED', 'a/x'), ('DELETED', 'a/y'),
                                           ('DELETED', 'b/x'), ('DELETED', 'b/y')])
        for (verb, _), record in changes.items():
            if verb == 'DELETED':
                self.assertEqual((record['origin'], record['final'], record.get('why')), ('resumed', False, None), record)
        self.assertEqual(self.run_until('c', 'd'), {})
        self.namespace('a')
        self.assertEqual(sorted(self.run_until('a', 'c', 'd')), [('ADDED', 'a/x'), ('ADDED', 'a/y')])

    def test_leaving_is_not_repeated_by_the_next_run(self):
        self.run_until('a', 'b', 'c')
        daemon = self.start()
        self.wait_ready()
        self.namespace('b', 'other')
        self.log.wait_for(lambda records: fold(records) == self.selected('a', 'c'), 'b gone')
        daemon.end(signal.SIGKILL)
        self.assertEqual(self.run_until('a', 'c'), {})


class Command(Restarted):
    """informerd state ls, verify and drop."""

    def command(self, action):
        done = subprocess.run([INFORMERD, 'state', action, '-c', self.folder / 'informerd.conf'], capture_output=True,
                              text=True, timeout=DEADLINE, env=environment(self.folder))
        return done.returncode, done.stdout + done.stderr

    def test_lists_verifies_and_removes(self):
        self.first_run()
        status, text = self.command('ls')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r'(?m)^configmaps +configmaps +\* +4 +\d+ +20\d\d-\S+Z +http')
        self.assertRegex(text, r'(?m)^\S+/state/cache: 4 objects of 1 stream, \S+ KB in 1 file, last saved 20')
        self.assertEqual(self.command('verify')[0], 0)
        self.assertRegex(self.command('drop')[1], r'cache: \d+ files? removed; the next start reports all objects as initial')
        self.assertIn('there is no state', self.command('ls')[1])

    def test_drop_keeps_other_files(self):
        self.first_run()
        away = self.folder / 'away'
        (self.folder / 'state/cache').rename(away)
        (self.folder / 'state/cache').symlink_to(away)
        for name in ('README', '00000001.seg.old', 'notes.dict'):
            (away / name).write_text('a file')
        (self.folder / 'state/key').chmod(0o644)  # not read
        status, text = self.command('drop')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r'cache: \d+ files? removed; the next start reports all objects as initial')
        self.assertEqual(sorted(file.name for file in away.iterdir()), ['00000001.seg.old', 'README', 'notes.dict'])

    def test_no_key_is_created(self):
        """It would belong to the user of the command."""
        self.first_run()
        (self.folder / 'state/key').unlink()
        for action in ('ls', 'verify'):
            status, text = self.command(action)
            self.assertEqual(status, 65, text)
            self.assertIn('the next start would discard this state: ', text)
            self.assertIn('state/key', text)
        self.assertFalse((self.folder / 'state/key').exists())
        self.assertEqual(self.command('drop')[0], 0)

    def test_a_running_daemon_is_not_disturbed(self):
        self.first_run()
        self.second_run()
        for action in ('verify', 'drop'):
            status, text = self.command(action)
            self.assertEqual(status, 75, text)
            self.assertIn('stop it, or set another state_dir', text)

    def test_lists_while_the_daemon_runs(self):
        """Files are compacted and removed meanwhile."""
        self.sim.control('fill', resource='configmaps', count=200, bytes=400)
        self.start(env={'INFORMERD_TEST_SEGMENT_BYTES': str(64 * 1024)})
        self.wait_ready()
        self.sim.control('churn', resource='configmaps', count=10**6, rate=500)
        wait_until(lambda: self.metrics()['informerd_state_compactions_total'] > 2, 'compactions')
        for _ in range(10):
            status, text = self.command('ls')
            self.assertIn(status, (0, 75), text)
            self.assertRegex(text, r'cache: 20\d objects of 1 stream|the files changed while they were read')
        self.sim.control('calm')
        self.wait_equal()
        status, text = self.command('ls')
        self.assertEqual(status, 0, text)
        self.assertRegex(text, rf'(?m)^configmaps +configmaps +\* +{len(self.on_server())} ')


run(__name__)
