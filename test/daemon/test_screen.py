#!/usr/bin/env python3
"""test_screen.py KUBESIM RECORDINGS INFORMERD: the output on a terminal, captured by tmux, with the times masked.

The golden screens are in test/data/screens; GOLDEN=write writes them again; review them before a commit.
"""
import os
import re
import shlex

from service import INFORMERD, Case, config_map, run, wait_until
from terminal import SCREENS, TMUX, Terminal, mask



def pod(name, **status):
    return {'metadata': {'name': name, 'namespace': 'shop', 'labels': {'app': 'web'}},
            'spec': {'nodeName': 'node-1', 'containers': [{'name': 'main', 'image': 'web:1'}]},
            'status': {'phase': 'Pending', **status}}


class Screen(Case):
    size = 110, 16

    def setUp(self):
        super().setUp()
        if not TMUX:
            self.skipTest('there is no tmux')

    def watch(self, *arguments, stderr=False, **env):
        command = [INFORMERD, 'watch', *arguments, '--kubeconfig', self.folder / 'kubeconfig']
        self.terminal = Terminal(self.folder, self.size, command, stderr, **env)
        self.stack.callback(self.terminal.end)

    def wait_for(self, text):
        wait_until(lambda: text in self.terminal.screen(), lambda: f'{text} on\n{self.terminal.screen()}')

    def assert_golden(self, name, text):
        path = SCREENS / name
        if os.environ.get('GOLDEN') == 'write':
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def play(self):
        """All kinds of lines: initial objects, additions, changes, deletions, and an interruption."""
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-1'))
        self.wait_for('shop/web-1')
        self.sim.put('pods', pod('web-0', phase='Running', podIP='10.0.0.7'))
        self.wait_for('Running')
        self.sim.put('pods', pod('web-with-a-name-that-is-much-longer-than-its-column', reason='Evicted'))
        self.wait_for('much-longer')
        self.sim.control('delete', resource='pods', namespace='shop', name='web-1')
        self.wait_for('DELETED')
        self.sim.fault('status', code=410, verb='watch')
        self.sim.control('close', how='end')
        self.wait_for('RELIST')


CONTAINER = {'name': 'web', 'image': 'registry.example.com/shop/web:1.2.3', 'restartCount': 0, 'ready': True}

RUNNING = {'phase': 'Running', 'podIP': '10.0.0.7', 'hostIP': '10.9.8.7', 'qosClass': 'Burstable'}


class Widths(Screen):
    """The same changes on terminals of several widths: names and values stay visible, columns are aligned."""

    def play_rollout(self):
        name = 'checkout-service-7d9f8b6c5-x2x4q'
        self.sim.put('pods', pod('web-0'))
        self.sim.put('pods', pod(name, phase='Running', containerStatuses=[CONTAINER]))
        self.watch('pods', '-A', NO_COLOR='1')
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-0', **RUNNING))
        self.wait_for('Running')
        self.sim.put('pods', pod(name, phase='Running', containerStatuses=[{**CONTAINER, 'restartCount': 1}]))
        self.wait_for('restartCount')
        self.sim.put('pods', pod(name, phase='Running', containerStatuses=[
            {**CONTAINER, 'restartCount': 1, 'image': 'registry.example.com/shop/web:1.2.4'}]))
        self.wait_for('1.2.4')
        self.sim.put('pods', pod('web-0', **RUNNING, message='\u4e2d\u6587\u5b57\u7b26 e\u0301 \U0001f600 ' * 4))
        self.wait_for('\u4e2d')
        self.sim.control('delete', resource='pods', namespace='shop', name='web-0')
        self.wait_for('DELETED')

    def test_80_columns(self):
        self.size = 80, 16
        self.play_rollout()
        self.assert_golden('short-80.txt', self.terminal.screen())

    def test_120_columns(self):
        self.size = 120, 16
        self.play_rollout()
        self.assert_golden('short-120.txt', self.terminal.screen())

    def test_200_columns(self):
        self.size = 200, 16
        self.play_rollout()
        self.assert_golden('short-200.txt', self.terminal.screen())

    def resize(self, columns, shown):
        """The signal and the next change are independent: changes a pod until its line has the new width."""
        self.terminal.tmux('resize-window', '-x', str(columns), '-y', '200')
        for _ in range(100):
            self.probes += 1
            self.sim.put('pods', pod('probe', containerStatuses=[{**CONTAINER, 'restartCount': self.probes}]))
            self.wait_for(f' \u2192 {self.probes}\n')
            if shown in self.terminal.screen().splitlines()[-1]:
                return
        self.fail(self.terminal.screen())

    def test_lines_follow_the_width_after_a_resize(self):
        self.size, self.probes = (80, 200), 10
        self.sim.put('pods', pod('probe', containerStatuses=[{**CONTAINER, 'restartCount': self.probes}]))
        self.play_rollout()
        for columns, shown in (120, ' status.containerStatuses[name=web].restartCount'), (80, '\u2026[web].restartCount'):
            self.resize(columns, shown)
            for image in '1.3.0', '1.4.0':
                self.sim.put('pods', pod('web-1', phase='Running', containerStatuses=[
                    {**CONTAINER, 'image': f'registry.example.com/shop/web:{image}-{columns}'}]))
                self.wait_for('web-1' if image == '1.3.0' and columns == 120 else f'{image}-{columns}')
        # with the history: tmux moves lines there when a narrower window wraps others
        lines = self.terminal.screen('-J', '-S', '-').splitlines()
        shown = [line.rstrip() + '\n' for line in lines if 'probe' not in line]
        self.assert_golden('short-resized.txt', ''.join(shown))

    def test_lines_are_not_cut_on_request(self):
        self.size = 40, 16
        self.sim.put('pods', pod('web-with-a-name-that-is-much-longer-than-its-column'))
        self.watch('pods', '-A', '--no-trunc')
        self.wait_for('SYNCED')
        self.assert_golden('short-no-trunc.txt', self.terminal.screen('-J'))

    def test_a_locale_without_utf_8_gets_ascii(self):
        self.size = 80, 16
        self.sim.put('pods', pod('web-0'))
        self.watch('pods', '-A', LC_ALL='C')
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-0', phase='\u00fc', podIP='x' * 60))
        self.wait_for('MODIFIED')
        self.assert_golden('short-ascii.txt', self.terminal.screen())


FILE = ''.join(f'{key} = {key * 20}\n' for key in 'abcdefgh')


class Golden(Screen):
    def test_wide_format(self):
        self.size = 180, 16
        owner = {'apiVersion': 'apps/v1', 'kind': 'StatefulSet', 'name': 'web', 'uid': 'u', 'controller': True}
        owned = pod('web-0')
        owned['metadata']['ownerReferences'] = [owner]
        self.sim.put('pods', owned)
        self.watch('pods', '-A', '-o', 'wide', NO_COLOR='1')
        self.wait_for('SYNCED')
        self.sim.put('pods', {**owned, 'status': {'phase': 'Running', 'podIP': '10.0.0.7'}})
        self.wait_for('Running')
        self.sim.control('delete', resource='pods', namespace='shop', name='web-0')
        self.wait_for('DELETED')
        self.assert_golden('wide.txt', self.terminal.screen())

    def test_diff_format(self):
        self.size = 80, 40
        self.sim.put('configmaps', {**config_map('web'), 'data': {'web.conf': FILE, 'mode': 'slow', 'old': 'x'}})
        self.watch('configmaps', '-A', '-o', 'diff')
        self.wait_for('SYNCED')
        changed = FILE.replace('b = ', 'bb = ').replace('g = ', 'g = 1 ' + 'and ' * 20)
        self.sim.put('configmaps', {**config_map('web'), 'data': {'web.conf': changed, 'mode': 'fast', 'new': '1\n2\n'}})
        self.wait_for('new')
        self.sim.control('delete', resource='configmaps', namespace='default', name='web')
        self.wait_for('DELETED')
        wait_until(lambda: 'uid:' in self.terminal.screen(), 'the end of the object')
        self.assert_golden('diff.txt', self.terminal.screen())
        for line in '{31}    -b = bbb', '{32}    +bb = bbb', '{36}    @@ -2,1 +2,1 @@':
            self.assertIn(line, self.terminal.colours())

    def test_levels_have_colours(self):
        self.sim.put('pods', pod('web-0', phase='Running', containerStatuses=[CONTAINER]))
        self.watch('pods', '-A')
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-0', phase='Running', containerStatuses=[{**CONTAINER, 'restartCount': 1}]))
        self.wait_for('restartCount')
        self.sim.put('pods', pod('web-0', phase='Running', containerStatuses=[
            {**CONTAINER, 'restartCount': 1, 'state': {'waiting': {'reason': 'CrashLoopBackOff'}}}]))
        self.wait_for('CrashLoop')
        self.assert_golden('levels.txt', self.terminal.colours())

    def test_short_format(self):
        self.sim.put('pods', pod('web-0'))
        self.watch('pods', '-A')
        self.play()
        self.assert_golden('short.txt', self.terminal.screen())
        self.assert_golden('short-colours.txt', self.terminal.colours())

    def test_short_format_without_colours(self):
        self.sim.put('pods', pod('web-0'))
        self.watch('pods', '-A', NO_COLOR='1')
        self.play()
        self.assert_golden('short.txt', self.terminal.screen('-e'))


PROGRESS = re.compile(r'^pods: ([\d,]+) objects, [\d,]+/s, \d\.\d MB$', re.M)


class Progress(Screen):
    """A list of 3,000 pods that stops in the middle until the test ends it; the second attempt succeeds."""

    def watch_slow_list(self, *arguments):
        self.sim.control('fill', resource='pods', count=3000, bytes=1000)
        for verb in 'watchlist', 'list':
            self.sim.fault('stall', verb=verb, path='pods', bytes=2000000, ms=20000)
        self.watch(*arguments, '-A', '--verb', 'MODIFIED', stderr=True)
        wait_until(lambda: PROGRESS.search(self.terminal.screen()), lambda: self.terminal.screen())

    def test_progress_is_shown_and_erased(self):
        self.watch_slow_list('pods')
        count = int(PROGRESS.search(self.terminal.screen())[1].replace(',', ''))
        self.assertIn(count, range(500, 3000))
        self.sim.control('close', how='end')
        self.wait_for('WAITING')
        self.wait_for('SYNCED')  # on stdout, which the thread pool writes: its order with stderr is not determined
        lines = sorted(self.terminal.screen().splitlines())
        self.assert_golden('progress-erased.txt', '\n'.join(lines) + '\n')

    def test_lines_on_stdout_erase_it_first(self):
        self.sim.put('configmaps', config_map('other'))
        self.watch_slow_list('configmaps,pods')
        self.sim.put('configmaps', config_map('other', annotations={'a': 'b'}))
        self.wait_for('default/other')
        wait_until(lambda: PROGRESS.search(self.terminal.screen().splitlines()[-1]), lambda: self.terminal.screen())
        self.assert_golden('progress.txt', PROGRESS.sub('pods: N objects', self.terminal.screen()))


class Narrow(Screen):
    size = 40, 16

    def test_no_line_is_longer_than_the_terminal(self):
        self.sim.put('pods', pod('web-0'))
        self.watch('pods', '-A')
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-0', phase='Running', podIP='10.0.0.7'))
        self.wait_for('MODIFIED')
        self.sim.put('pods', pod('web-with-a-name-that-is-much-longer-than-its-column'))
        self.wait_for('its-column')
        self.assert_golden('short-narrow.txt', self.terminal.screen())


# Sequences that would move the cursor, change colours or the title, ring the bell, or change the writing direction.
NASTY = {'escape': '\x1b[2J\x1b[31mred', 'title': '\x1b]0;owned\x07', 'c1': '\x9b2J\x85', 'bidi': '\u202eevil\u2066',
         'bell': '\x07\x08\x08', 'lines': 'a\r\nb\tc', 'delete': '\x7f', 'blank': '\u200b\ufeff'}


class Characters(Screen):
    size = 400, 40

    def test_control_sequences_are_not_printed(self):
        self.sim.put('configmaps', config_map('plain', annotations=dict.fromkeys(NASTY, 'nice')))
        self.watch('configmaps,events', '-A')
        self.terminal.tmux('pipe-pane', '-o', f'cat > {shlex.quote(str(self.folder / "raw"))}')
        self.wait_for('SYNCED')
        for name, text in NASTY.items():
            self.sim.put('configmaps', config_map('plain', annotations={**dict.fromkeys(NASTY, 'nice'), name: f'<{text}>'}))
            self.sim.put('events', {'metadata': {'name': f'e-{name}', 'namespace': 'default'}, 'type': 'Warning',
                                    'reason': 'Nasty', 'message': f'({text})', 'count': 1,
                                    'involvedObject': {'kind': 'Pod', 'namespace': 'default', 'name': 'p'}})
        self.sim.put('configmaps', config_map('the-last'))
        self.wait_for('the-last')
        path = self.folder / 'raw'  # written asynchronously, later than the screen
        wait_until(lambda: path.exists() and b'the-last' in path.read_bytes(), 'the raw bytes')
        raw = path.read_bytes().decode()
        ours = re.sub(r'\x1b\[([0-7]|3\d)m|\r\n', '', raw)
        bad = {c for c in ours if ord(c) < 32 or 127 <= ord(c) < 160 or c in '\u202e\u2066\u200b\ufeff'}
        self.assertEqual(bad, set(), raw)
        self.assertEqual(len(re.findall(r'nice \u2192 ', raw)), len(NASTY), raw)
        self.assertNotIn('owned', self.terminal.tmux('display-message', '-p', '#{pane_title}'))


run(__name__)
