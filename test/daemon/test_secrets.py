#!/usr/bin/env python3
"""test_secrets.py KUBESIM RECORDINGS INFORMERD: secret values are in no output and nowhere in memory.

Values of Secrets are hashed when the object is made. The tests search for them, and for informerd's own credentials,
in everything that informerd writes and answers. With `reveal` the values are present, which shows that the search works.
"""
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import stat
from pathlib import Path

from service import Case, config_map, run, wait_until

# A string that is nowhere else in memory, encoded as the server sends it and in plain text.
VALUE = 'hunter2-' + 'k9Qz7xWv' * 6
OTHER = 'tr0ub4dor-' + 'mP3sLd8f' * 6
TOKEN = 'bearer-' + 'Zt5Yw2Rq' * 5


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def secret(name, value, **more):
    """As written by kubectl apply: the values are also in an annotation."""
    applied = json.dumps({'kind': 'Secret', 'data': {'password': encoded(value)}, 'stringData': {'plain': value}})
    return {'metadata': {'name': name, 'namespace': 'default',
                         'annotations': {'kubectl.kubernetes.io/last-applied-configuration': applied}},
            'type': 'Opaque', 'data': {'password': encoded(value), 'empty': ''}, 'stringData': {'plain': value}, **more}


def traces_of(text):
    """All spellings of the value; also parts of it, because lines may be truncated."""
    return [text[8:40].encode(), encoded(text)[12:52].encode()]


class Secrets(Case):
    arguments = ('--self-signed', 'FOLDER', '--token', TOKEN)
    watches = [{'resource': 'secrets'}]

    def outputs(self):
        return [{'path': str(self.path), 'object': 'full', 'max_line': '1M'},
                {'path': str(self.folder / 'diff.jsonl')},
                {'path': str(self.folder / 'short.log'), 'format': 'short'}]

    def conf(self, **changes):
        return super().conf(**{'watches': self.watches, 'event_logs': self.outputs(), 'log': {'level': 'debug'}, **changes})

    def live(self):
        """A Secret that is created and changed in several ways, and another that is deleted."""
        self.sim.put('secrets', secret('first', VALUE))
        daemon = self.start()
        self.wait_ready()
        self.sim.put('secrets', secret('second', OTHER), secret('first', OTHER), secret('first', VALUE, data={}))
        self.sim.control('delete', resource='secrets', namespace='default', name='second')
        self.log.wait_for(lambda _: self.log.types()['DELETED'] == 1, 'all changes')
        daemon.send_signal(signal.SIGUSR2)
        wait_until((self.folder / 'state/dump.json').exists, 'the dump')
        for target in ('/metrics', '/readyz?verbose', '/livez'):
            (self.folder / f'answer-{target[1:7]}').write_text(self.get(target).text)
        return daemon

    def written(self):
        """Everything that informerd wrote or answered: {name: bytes}."""
        mine = {'informerd.conf', 'kubeconfig', 'ca.crt', 'server.crt', 'server.key'}
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob('*')
                if path.is_file() and path.name not in mine}

    def found(self, *texts):
        return {(name, text) for name, content in self.written().items() for text in texts
                for trace in traces_of(text) if trace in content}


class Hidden(Secrets):
    def test_secret_values_are_in_no_output(self):
        daemon = self.live()
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertGreaterEqual(set(self.written()), {'stderr', 'events.jsonl', 'diff.jsonl', 'short.log',
                                                      'state/dump.json', 'answer-metric'})
        self.assertEqual(self.found(VALUE, OTHER, TOKEN), set())
        changes = [r for r in self.log.read() if r['type'] == 'MODIFIED']
        self.assertIn('data.password', changes[0]['changed'])  # the change itself is reported
        self.assertIn('password', changes[0]['object']['data'])

    def test_reveal_shows_secret_values(self):
        self.watches = [{'resource': 'secrets', 'reveal': True}]
        self.live()
        found = self.found(VALUE, OTHER, TOKEN)
        self.assertEqual({text for _, text in found}, {VALUE, OTHER})
        self.assertEqual({name for name, _ in found} - {'short.log', 'state/cache/00000001.seg'},
                         {'events.jsonl', 'diff.jsonl'})

    def test_other_fields_can_be_redacted(self):
        self.sim.put('configmaps', dict(config_map('a'), data={'k': VALUE, 'l': 'seen'}))
        self.watches = [{'resource': 'configmaps', 'redact': ['data.k']}]
        daemon = self.start()
        self.wait_ready()
        self.sim.put('configmaps', dict(config_map('a'), data={'k': OTHER, 'l': 'seen'}))
        self.log.wait_for(lambda _: self.log.types()['MODIFIED'] == 1, 'the change')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        self.assertEqual(self.found(VALUE, OTHER), set())
        change = self.log.read()[-2]
        self.assertEqual((change['changed'], change['object']['data']['l']), (['data.k'], 'seen'))

    def test_error_about_invalid_json_shows_no_secret(self):
        self.sim.put('secrets', secret('first', VALUE))
        self.sim.fault('garbage', text='json', events=1, path='secrets')
        self.start()
        self.wait_ready()
        self.assertEqual(self.found(VALUE, TOKEN), set())

    def test_process_is_not_dumpable(self):
        daemon = self.live()
        limits = Path(f'/proc/{daemon.pid}/limits').read_text()
        self.assertRegex(limits, r'Max core file size +0 +0 ')
        self.assertEqual(os.stat(f'/proc/{daemon.pid}/mem').st_uid, 0)  # not dumpable: its /proc entries belong to root
        daemon.end(signal.SIGABRT)
        self.assertEqual([path for path in self.written() if 'core' in path], [])


class Key(Secrets):
    def hashes(self):
        return [r['object']['data'] for r in self.log.read() if r['type'] == 'ADDED']

    def run_once(self):
        before = self.log.types()['SYNCED']
        daemon = self.start()
        self.log.wait_for(lambda _: self.log.types()['SYNCED'] > before, 'another run')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_hashes_are_stable_per_installation(self):
        self.sim.put('secrets', secret('first', VALUE), secret('second', VALUE), secret('third', OTHER))
        self.run_once()
        shutil.rmtree(self.folder / 'state/cache')  # without saved objects all are reported again
        self.run_once()
        first, again = self.hashes()[:3], self.hashes()[3:]
        self.assertEqual(first, again)
        self.assertNotEqual(first[0], first[2])
        key = self.folder / 'state/key'
        self.assertEqual((stat.S_IMODE(key.stat().st_mode), key.stat().st_size), (0o600, 32))
        self.assertNotIn(key.read_bytes(), b''.join(self.written()[n] for n in ('events.jsonl', 'diff.jsonl', 'stderr')))
        key.unlink()  # a new installation
        self.run_once()
        self.assertEqual(len(self.hashes()), 9)  # what was saved with the other key is discarded
        self.assertFalse(set(map(str, self.hashes()[6:])) & set(map(str, first)))

    def test_key_readable_by_others_is_refused(self):
        self.run_once()
        for mode in (0o640, 0o604):
            (self.folder / 'state/key').chmod(mode)
            daemon = self.start()
            self.assertEqual(daemon.status(), 74)
            self.assertRegex(daemon.stderr_text(), r'state/key.*chmod 600')
        (self.folder / 'state/key').chmod(0o600)
        (self.folder / 'state/key').write_bytes(b'short')
        self.assertEqual(self.start().status(), 74)


class Memory(Secrets):
    """After hashing, values are nowhere in the memory of the process: neither in use nor freed."""

    def conf(self, **changes):
        return super().conf(**{'core_dumps': True, **changes})  # otherwise only root may read it

    def where(self, daemon, *texts):
        """Where the parts of it are: [(mapping, text, the bytes before it)]."""
        found = []
        if not os.access(f'/proc/{daemon.pid}/mem', os.R_OK):
            self.skipTest('no right to read the memory of a child')
        with open(f'/proc/{daemon.pid}/maps') as maps, open(f'/proc/{daemon.pid}/mem', 'rb', 0) as memory:
            for line in maps:
                span, rights, _, _, _, *name = line.split(maxsplit=5)
                begin, end = (int(part, 16) for part in span.split('-'))
                if 'rw' not in rights or '[v' in line or end - begin > 2**32:  # the shadow memory of a sanitizer has terabytes
                    continue
                with contextlib.suppress(OSError):
                    memory.seek(begin)
                    content = memory.read(end - begin)
                    found += [(f'{span} {"".join(name).strip()}', text, content[max(0, at - 80):at + 40])
                              for text in texts for trace in traces_of(text)
                              for at in (m.start() for m in re.finditer(re.escape(trace), content))]
        return found

    def assert_forgotten(self, daemon):
        """Waits, because buffers in use are overwritten only by the next event."""
        self.sim.put('secrets', secret('harmless', 'harmless'))
        self.log.wait_for(lambda all: any(r.get('name') == 'harmless' for r in all), 'something else')
        self.assertEqual(self.where(daemon, VALUE, OTHER), [])

    def test_values_of_a_watch_are_erased_from_memory(self):
        self.sim.put('secrets', *(secret(f'large-{i}', VALUE * 300) for i in range(20)))  # over many records and reads
        self.assert_forgotten(self.live())

    def test_values_of_a_list_are_erased_from_memory(self):
        """In pages, and with gzip."""
        self.sim.control('set', watch_list=0)
        self.sim.put('secrets', *(secret(f'large-{i}', VALUE * 300) for i in range(20)))
        self.assert_forgotten(self.live())

    def test_values_of_an_incomplete_list_are_erased_from_memory(self):
        self.sim.put('secrets', *(secret(f'large-{i}', VALUE * 300) for i in range(5)))
        self.sim.fault('cut', path='secrets', bytes=40000)
        self.assert_forgotten(self.live())

    def test_memory_search_finds_revealed_values(self):
        self.watches = [{'resource': 'secrets', 'reveal': True}]
        self.assertTrue(self.where(self.live(), VALUE))


run(__name__)
