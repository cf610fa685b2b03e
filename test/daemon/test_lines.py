#!/usr/bin/env python3
"""test_lines.py KUBESIM RECORDINGS INFORMERD: changed lines of a file in a ConfigMap."""
import difflib

from service import Case, config_map, run


class Lines(Case):

    def test_the_record_has_the_changed_lines_of_a_file(self):
        before = [f'server_{n} "a\\b" {"x" * 20};\n' for n in range(200)]
        after = before[:40] + ['# new\n', '# lines\n'] + before[40:100] + ['changed\n'] + before[102:]
        self.sim.put('configmaps', {**config_map('nginx'), 'data': {'nginx.conf': ''.join(before), 'k': 'a'}})
        self.start()
        self.wait_ready()
        self.sim.put('configmaps', {**config_map('nginx'), 'data': {'nginx.conf': ''.join(after), 'k': 'b'}})
        changed = [r for r in self.log.wait_for(lambda records: [r for r in records if r['type'] == 'MODIFIED'], 'change')
                   if r['type'] == 'MODIFIED']
        entries = {c['path']: c for c in changed[0]['diff']}
        self.assertEqual((entries['data.k']['old'], entries['data.k']['new']), ('a', 'b'))
        entry = entries['data["nginx.conf"]']
        self.assertNotIn('old', entry)
        self.assertNotIn('hunks_omitted', entry)
        self.assertGreater(entry['old_size'], len(''.join(before)))
        wanted = ''.join(list(difflib.unified_diff(before, after, n=0))[2:])
        self.assertEqual('\n'.join(entry['hunks']) + '\n', wanted)
        self.assertIn('data["nginx.conf"] changed, lines 41-42, 103', changed[0]['msg'])


run(__name__)
