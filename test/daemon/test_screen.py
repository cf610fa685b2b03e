#!/usr/bin/env python3
"""test_screen.py KUBESIM RECORDINGS INFORMERD: the output on a terminal, captured by tmux, with the times masked.

The golden screens are in test/data/screens; GOLDEN=write writes them again; review them before a commit.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from service import DEADLINE, INFORMERD, Case, config_map, environment, run, wait_until

SCREENS = Path(__file__).resolve().parent.parent / 'data/screens'
TMUX = shutil.which('tmux')


def pod(name, **status):
    return {'metadata': {'name': name, 'namespace': 'shop', 'labels': {'app': 'web'}},
            'spec': {'nodeName': 'node-1', 'containers': [{'name': 'main', 'image': 'web:1'}]},
            'status': {'phase': 'Pending', **status}}


class Terminal:
    """A separate tmux server with one pane."""

    def __init__(self, folder, size, command, **env):
        self.base = [TMUX, '-f', '/dev/null', '-S', str(folder / 'tmux')]
        self.env = environment(folder, LANG='C.UTF-8', LC_ALL='C.UTF-8', **env)
        self.env['NO_COLOR'] = env.get('NO_COLOR', '')
        line = f'exec {shlex.join(map(str, command))} 2>>{shlex.quote(str(folder / "stderr"))}'
        self.tmux('new-session', '-d', '-x', str(size[0]), '-y', str(size[1]), line)

    def tmux(self, *arguments):
        return subprocess.run([*self.base, *arguments], env=self.env, check=True, capture_output=True, text=True,
                              timeout=DEADLINE).stdout

    def screen(self, *how):
        """The current content; `-e` keeps the colours."""
        return mask(self.tmux('capture-pane', '-p', *how))

    def colours(self):
        """The same with colours as '{32}' and '{}' where they end, independent of the version of tmux."""
        ends = re.sub(r'(\x1b\[(0|39|49)?m)+', '{}', self.screen('-e'))
        return re.sub(r'\x1b\[([\d;]+)m', r'{\1}', ends)

    def end(self):
        subprocess.run([*self.base, 'kill-server'], env=self.env, capture_output=True)


def mask(text):
    """Replaces times and ports, which differ in each run."""
    text = re.sub(r'\d\d:\d\d:\d\d', 'HH:MM:SS', text)
    return re.sub(r'127\.0\.0\.1:\d{5}', '127.0.0.1:PORT_', text).rstrip('\n') + '\n'


class Screen(Case):
    size = 110, 16

    def setUp(self):
        super().setUp()
        if not TMUX:
            self.skipTest('there is no tmux')

    def watch(self, *arguments, **env):
        command = [INFORMERD, 'watch', *arguments, '--kubeconfig', self.folder / 'kubeconfig']
        self.terminal = Terminal(self.folder, self.size, command, **env)
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


class Golden(Screen):
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


class Narrow(Screen):
    size = 40, 16

    def test_no_line_is_longer_than_the_terminal(self):
        self.sim.put('pods', pod('web-0'))
        self.watch('pods', '-A')
        self.wait_for('SYNCED')
        self.sim.put('pods', pod('web-0', phase='Running', podIP='10.0.0.7'))
        self.wait_for('MODIFIED')
        self.sim.put('pods', pod('web-with-a-name-that-is-much-longer-than-its-column'))
        self.wait_for('web-with')
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
        self.assertEqual(len(re.findall(r'nice -> ', raw)), len(NASTY), raw)
        self.assertNotIn('owned', self.terminal.tmux('display-message', '-p', '#{pane_title}'))


run(__name__)
