#!/usr/bin/env python3
"""test_ctl_records.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the commands of informerctl that print records."""
import datetime
import fcntl
import gzip
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import unittest
from pathlib import Path

from service import DEADLINE, Case, config_map, environment, run, wait_until

INFORMERCTL = Path(sys.argv[4]).resolve()
LOGROTATE = shutil.which('logrotate', path=os.environ.get('PATH', '') + ':/usr/sbin')
SCREENS = Path(__file__).resolve().parent.parent / 'data' / 'screens'
OWNER = {'apiVersion': 'apps/v1', 'kind': 'ReplicaSet', 'name': 'web-6d4f', 'uid': 'u', 'controller': True}


def pod(phase, restarts=0, image='nginx:1.27', ready=True):
    why = {} if ready else {'reason': 'ContainersNotReady', 'message': 'containers with unready status: [web]'}
    condition = {'type': 'Ready', 'status': str(ready), 'lastTransitionTime': '2026-11-18T10:00:00Z', **why}
    container = {'name': 'web', 'ready': ready, 'restartCount': restarts, 'state': {'running': {}}, 'image': image}
    return {'metadata': {'namespace': 'shop', 'name': 'web-0', 'labels': {'app': 'web', 'tier': 'front'},
                         'annotations': {'team': 'payments'}, 'ownerReferences': [OWNER]},
            'spec': {'nodeName': 'node-3', 'containers': [{'name': 'web', 'image': image}]},
            'status': {'phase': phase, 'podIP': '10.1.2.3', 'conditions': [condition], 'containerStatuses': [container]}}


class Records(Case):
    def setUp(self):
        """A pod that was created, changed twice and has an Event; and a long text."""
        super().setUp()
        self.sim.put('pods', pod('Pending'))
        self.start(self.conf(watches=[{'resource': r} for r in ('pods', 'events', 'configmaps')]))
        self.wait_ready()
        self.put('pods', pod('Running'))
        self.put('events', {'metadata': {'namespace': 'shop', 'name': 'web-0.1'}, 'type': 'Warning', 'reason': 'BackOff', 'count': 3,
                            'message': 'Back-off restarting failed container', 'lastTimestamp': '2026-11-18T11:00:00Z',
                            'involvedObject': {'kind': 'Pod', 'namespace': 'shop', 'name': 'web-0'}})
        self.put('pods', pod('Running', 1, 'nginx:1.28', False))
        text = ''.join(f'line {i}\n' for i in range(200))
        for data in (text, text.replace('line 7\n', 'another line\n')):
            self.put('configmaps', {**config_map('conf', namespace='shop'), 'data': {'nginx.conf': data}})

    def put(self, resource, item):
        """The next change comes after its record."""
        before = len(self.log.read())
        self.sim.put(resource, item)
        self.log.wait_for(lambda all: any(r.get('name') == item['metadata']['name'] for r in all[before:]), item['metadata']['name'])

    def ctl(self, *arguments, **more):
        return subprocess.run([INFORMERCTL, *arguments, '-s', self.socket], capture_output=True, text=True, timeout=DEADLINE,
                              env=environment(self.folder, LC_ALL='C.UTF-8'), stdin=subprocess.DEVNULL, **more)

    def good(self, *arguments):
        done = self.ctl(*arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done)
        return done.stdout

    def on_terminal(self, columns, *arguments):
        """What the command prints on a terminal of that width, without colours."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        child = subprocess.Popen([INFORMERCTL, *arguments, '-s', self.socket], stdout=theirs, stdin=subprocess.DEVNULL,
                                 env=environment(self.folder, LC_ALL='C.UTF-8', TERM='xterm'))
        os.close(theirs)
        text = b''
        try:
            while piece := os.read(ours, 65536):
                text += piece
        except OSError:  # the end of a terminal
            pass
        os.close(ours)
        self.assertEqual(child.wait(DEADLINE), 0)
        self.assertIn(b'\x1b[32m', text)
        return re.sub(r'\x1b\[\d+m', '', text.decode()).replace('\r\n', '\n')

    def assert_screen(self, name, text):
        """Compares with a file; SCREENS=write writes it instead. Times and ids that differ in each run are replaced."""
        path = SCREENS / f'informerctl-{name}.txt'
        text = re.sub(r'(?m)^( *)(?!11:00:00)\d\d:\d\d:\d\d ', r'\g<1>10:02:31 ', text)
        text = re.sub(r'(?m)^ *20\d\d-\d\d-\d\d\n', '', text)  # the Event may be of another day than the test
        text = re.sub(r'20\d\d-\d\d-\d\d(?!T10:00)', '2026-11-18', text)
        text = re.sub(r'T(?!10:00:00)\d\d:\d\d:\d\dZ', 'T10:02:31Z', text)
        text = re.sub(r'[0-9a-f]{8}-[0-9a-f-]{27}', '66e11996-f0b6-4fac-86dd-c924ace5d23f', text)
        text = re.sub(r'(?m)^(Age: +)\S+$', r'\g<1>5s', text)
        if os.environ.get('SCREENS') == 'write':
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def test_tail_from_a_position(self):
        lines = self.good('tail', '--from', '0', '--no-follow').splitlines()
        self.assertRegex(lines[0], r'^\d\d:\d\d:\d\d START    informerd ')
        self.assertEqual(len(lines), len(self.log.read()))
        self.assertEqual([json.loads(line) for line in self.good('tail', '--from', '0', '--no-follow', '-o', 'jsonl').splitlines()],
                         self.log.read())
        changed = ['tail', '--from', '1h', '--no-follow', '--no-notes', '-n', 'shop', '--verb', 'modified', '--resource', 'pods']
        self.assertEqual(len(self.good(*changed).splitlines()), 2)
        self.assertEqual(len(self.good(*changed, '--changed', 'spec').splitlines()), 1)
        self.assertEqual(len(self.good(*changed, '-l', 'app=web', '--text', 'nginx').splitlines()), 1)
        self.assertEqual(self.good(*changed, '-l', 'app=db'), '')
        for word in ('po', 'Pod', 'pod'):
            self.assertEqual(self.good(*changed[:-1], word), self.good(*changed), word)
        unknown = self.ctl(*changed[:-1], 'podz')
        self.assertEqual((unknown.returncode, unknown.stdout), (1, ''))
        self.assertIn('informerd does not watch "podz", or you may not read it', unknown.stderr)
        yesterday = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
        for text in ('0', '1h', f'{yesterday:%Y-%m-%d}', f'{yesterday:%Y-%m-%d %H:%M}', f'{yesterday:%Y-%m-%dT%H:%M:%SZ}'):
            self.assertEqual(len(self.good('tail', '--from', text, '--no-follow').splitlines()), len(lines), text)

    def test_tail_fits_the_terminal(self):
        text = self.on_terminal(80, 'tail', '--from', '0', '--no-follow')
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assert_screen('tail', re.sub(r'informerd \S+ started', 'informerd 1.0.0 started', text))

    def test_tail_continues(self):
        child = self.stack.enter_context(subprocess.Popen(
            [INFORMERCTL, 'tail', '--from', '0', '--name', 'new', '--no-notes', '-s', self.socket], stdout=subprocess.PIPE,
            text=True, env=environment(self.folder)))
        self.stack.callback(child.kill)
        self.sim.put('configmaps', config_map('new'))
        self.assertRegex(child.stdout.readline(), r'ADDED +configmap default/new')

    def test_history_of_an_object(self):
        self.assert_screen('history', self.on_terminal(80, 'history', 'pod/web-0', '-n', 'shop'))
        self.assertEqual(self.good('history', 'pods', 'web-0', '-n', 'shop'), self.good('history', 'po/web-0', '-n', 'shop'))
        text = self.good('history', 'cm/conf', '-n', 'shop')
        self.assertIn('\n           @@ -8 +8 @@\n           -line 7\n           +another line\n', text)
        self.assertRegex(text, r'^20\d\d-\d\d-\d\d\n')
        newest = self.good('history', 'pod/web-0', '-n', 'shop', '--limit', '1', '-o', 'jsonl')
        self.assertEqual(json.loads(newest)['changed'][0], 'spec.containers[name=web].image')

    def test_history_of_an_object_in_files_of_logrotate(self):
        """The log is rotated with `compress` and `dateext` after each of three changes."""
        before = self.good('history', 'pod/web-0', '-n', 'shop', '-o', 'jsonl')
        for day, image in enumerate(('nginx:1.29', 'nginx:1.30', 'nginx:1.31'), 16):
            rotated = self.log.path.rename(f'{self.log.path}-202611{day}')
            self.good('reopen')
            wait_until(self.log.path.exists, 'the new file')
            Path(f'{rotated}.gz').write_bytes(gzip.compress(rotated.read_bytes()))
            rotated.unlink()
            self.sim.put('pods', pod('Running', 1, image, False))
            wait_until(lambda image=image: image in self.log.path.read_text(), image)
        after = self.good('history', 'pod/web-0', '-n', 'shop', '-o', 'jsonl')
        self.assertTrue(after.startswith(before), after)
        changes = [json.loads(line)['diff'][0]['new'] for line in after[len(before):].splitlines()]
        self.assertEqual(changes, ['nginx:1.29', 'nginx:1.30', 'nginx:1.31'])

    @unittest.skipUnless(LOGROTATE, 'there is no logrotate')
    def test_history_of_an_object_with_the_real_logrotate(self):
        """Two configurations, one after the other."""
        before, images = self.good('history', 'pod/web-0', '-n', 'shop', '-o', 'jsonl'), []
        for rules in (['compress', 'delaycompress'],) * 3 + (['compress', 'delaycompress', 'dateext', 'dateformat -%Y%m%d-%s'],) * 3:
            self.rotate(rules)
            images.append(f'nginx:2.{len(images)}')
            self.sim.put('pods', pod('Running', 1, images[-1], False))
            wait_until(lambda: images[-1] in self.log.path.read_text(), images[-1])
        after = self.good('history', 'pod/web-0', '-n', 'shop', '-o', 'jsonl')
        self.assertTrue(after.startswith(before), after)
        changes = [json.loads(line)['diff'][0]['new'] for line in after[len(before):].splitlines()]
        names = sorted(path.name for path in self.folder.glob('events.jsonl*'))
        self.assertEqual(changes, images, names)
        self.assertEqual([sum(name.startswith(start) for name in names) for start in ('events.jsonl.', 'events.jsonl-')], [3, 3])

    def rotate(self, rules):
        """A rotation with a date needs a new second."""
        conf = self.folder / 'rules'
        conf.write_text('\n'.join([f'{self.log.path} {{', 'rotate 20', 'nocreate', *rules, '}', '']))
        conf.chmod(0o644)
        wait_until(lambda: subprocess.run([LOGROTATE, '--force', '-s', self.folder / 'rotated', conf], capture_output=True).returncode == 0
                   and not self.log.path.exists(), 'a rotation')
        self.good('reopen')
        wait_until(self.log.path.exists, 'the new file')

    def test_history_of_a_namespace(self):
        text = self.good('history', '-n', 'shop', '--since', '1h')
        self.assertRegex(text, r'ADDED +configmap shop/conf created\n')
        self.assertNotIn('SYNCED', text)
        done = self.ctl('history', '-n', 'shop', '--until', '1h')
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', 'No records found.\n'))

    def test_show(self):
        self.assert_screen('show', self.on_terminal(80, 'show', 'pod/web-0', '-n', 'shop'))
        done = self.ctl('show', 'pod/web-9', '-n', 'shop')
        self.assertEqual((done.returncode, done.stderr), (1, 'Error from server (NotFound): pods "web-9" not found\n'))

    def test_without_an_event_log(self):
        self.write_conf(self.conf(watches=[{'resource': 'pods'}], event_logs=[{'path': 'stdout'}]))
        self.get('/informerd/v1/reload')
        for command in (['history', 'pod/web-0', '-n', 'shop'], ['tail', '--from', '0']):
            done = self.ctl(*command)
            self.assertEqual((done.returncode, done.stdout), (1, ''))
            self.assertIn('Error from server (NotFound): no event log has all of these records', done.stderr)
        self.assertIn('\n  not available: ', self.good('show', 'pod/web-0', '-n', 'shop'))

    def test_usage(self):
        for arguments, message in ((['history'], "missing object; for example 'history pod/web-0', or -n NS"),
                                   (['history', 'pod/a', 'b'], "unexpected argument 'b'"),
                                   (['history', 'pod/a', '--limit', 'x'], "--limit: 'x' is not a number from 1 to 10000"),
                                   (['history', 'pod/a', '--limit', '0'], "--limit: '0' is not a number from 1 to 10000"),
                                   (['history', 'pod/a', '--limit', '10001'], "--limit: '10001' is not a number from 1 to 10000"),
                                   (['history', 'pod/a', '--since', 'noon'], "--since: 'noon' is not a time"),
                                   (['history', 'pod/a', '-o', 'xml'], "unknown output format 'xml'; use timeline or jsonl"),
                                   (['show'], "missing object; for example 'show pod/web-0'"), (['show', 'pods'], 'missing object'),
                                   (['tail', '--no-follow'], '--no-follow needs --from'),
                                   (['tail', '--from', '0', '-o', 'yaml'], 'with --from, the output format is short or jsonl'),
                                   (['tail', '--from', 'noon'], "--from: 'noon' is not a time: use a sequence number, 10m")):
            done = self.ctl(*arguments)
            self.assertEqual(done.returncode, 64, done)
            self.assertIn(f'informerctl: {message}', done.stderr)


run(__name__)
