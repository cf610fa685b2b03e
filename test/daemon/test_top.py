#!/usr/bin/env python3
"""test_top.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: `informerctl top` on terminals and without one.

The golden screens are in test/data/screens; GOLDEN=write writes them again; review them before a commit. Numbers that differ in
each run are masked.
"""
import fcntl
import json
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import ssh
from service import DEADLINE, Case, config_map, environment, run, wait_until
from terminal import SCREENS, TMUX, Terminal

INFORMERCTL = Path(sys.argv[4]).resolve()
ENTER, LEAVE = b'\x1b[?1049h', b'\x1b[?1049l'


def mask(text):
    text = re.sub(r'informerd \S+, up \d+s, memory \d+M, CPU [\d.]+%, backlog \S+ of', 'informerd 1.0.0, up 5s, memory 12M, CPU 0.1%, backlog 0 of', text)
    text = re.sub(r', [\d.]+ changes/s', ', 1.5 changes/s', text)
    text = re.sub(r'(?m)^(configmaps|workloads)( +\S+ +\d+) +\S+ +[\d.]+ +(\d+s|-)$', r'\1\2    1.2K        0.5    3s', text)
    text = re.sub(r'(?m)^(OUTPUT|\S*events.jsonl) +(TYPE|event log)', lambda m: f'{m[1][-12:]:28}{m[2]}', text)
    text = re.sub(r'(?m)^(\S*events.jsonl +event log +writable) .*$', r'\1        -       -       -', text)
    return re.sub(r'(?m)^(ConfigMap \S+|kube\S+)( +)[\d.]+( +)(\d+)$', r'\1\g<2>0.50\3\4', text).rstrip('\n') + '\n'


class Top(Case):
    def setUp(self):
        super().setUp()
        self.sim.put('configmaps', config_map('a'), config_map('b'))
        self.daemon = self.start(self.conf(watches=[{'resource': 'configmaps'}, {'resource': 'pods', 'name': 'workloads'}]))
        self.wait_ready()

    def change(self, name, times):
        for i in range(times):
            self.sim.put('configmaps', config_map(name) | {'data': {'i': str(i)}})


class Plain(Top):
    def top(self, *arguments, **more):
        return subprocess.run([INFORMERCTL, 'top', '-s', self.socket, '--interval', '100ms', *arguments], capture_output=True, text=True,
                              timeout=DEADLINE, env=environment(self.folder), stdin=subprocess.DEVNULL, **more)

    def test_one_picture_without_a_terminal(self):
        done = self.top()
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertNotIn('\x1b', done.stdout)
        self.assertIn('\n2 of 2 watches live, 2 objects, 0.0 changes/s; sorted by rate\n', done.stdout)
        self.assertRegex(done.stdout, r'(?m)^configmaps +live +2 ')
        self.assertRegex(done.stdout, r'(?m)^\S+/events.jsonl +event log +writable ')
        self.assertEqual(done.stdout.count('no changes were written to event logs so far'), 2)

    def test_a_failing_watch(self):
        self.write_conf(self.conf(watches=[{'resource': 'nothings.example.com/v1'}]))
        self.daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: 'nothings' in self.top().stdout, 'the watch')
        self.assertIn('\n0 of 1 watches live, ', self.top().stdout)

    def test_errors(self):
        self.assertEqual(self.daemon.end(), 0)
        done = self.top()
        self.assertEqual((done.returncode, done.stdout), (69, ''))
        self.assertIn('is informerd running, with `socket.path` in its configuration?', done.stderr)
        for wrong in ('0', '1ms', '2h', 'x'):
            done = self.top('--interval', wrong)
            self.assertEqual(done.returncode, 64)
            self.assertIn(f"--interval '{wrong}': write a duration from 100ms to 1h", done.stderr)


class Screen(Top):
    def show(self, size, **env):
        if not TMUX:
            self.skipTest('there is no tmux')
        self.terminal = Terminal(self.folder, size, [INFORMERCTL, 'top', '-s', self.socket, '--interval', '100ms'], **env)
        self.stack.callback(self.terminal.end)

    def wait_for(self, text):
        wait_until(lambda: text in self.terminal.screen(), lambda: f'{text} on\n{self.terminal.screen()}')

    def assert_golden(self, name):
        """The screen, when it is complete."""
        path = SCREENS / f'informerctl-top-{name}.txt'
        text = mask(self.terminal.screen())
        if os.environ.get('GOLDEN') == 'write':
            path.write_text(text)
        self.assertEqual(text, path.read_text())

    def watch_changes(self):
        """Some changes, of which `a` has more."""
        self.wait_for('2 of 2 watches live')
        wait_until(lambda: json.loads(self.get('/informerd/v1/status').text)['event_streams'] == 1, 'the event stream')
        self.change('b', 1)
        self.change('a', 3)
        wait_until(lambda: re.search(r'ConfigMap default/a .* 3\n.*ConfigMap default/b .* 1\n', self.terminal.screen()), 'the changes')

    def test_small_and_large(self):
        self.show((80, 24))
        self.watch_changes()
        self.assert_golden('80x24')
        self.terminal.tmux('resize-window', '-x', '200', '-y', '60')
        wait_until(lambda: len(self.terminal.screen().splitlines()) == 60, 'the new size')
        self.assert_golden('200x60')
        self.terminal.tmux('resize-window', '-x', '40', '-y', '12')
        wait_until(lambda: self.terminal.screen().splitlines()[-1].startswith('q quit'), 'the new size')
        self.assertEqual(len(self.terminal.screen().splitlines()), 12)

    def show_over_ssh(self):
        if not TMUX or ssh.missing():
            self.skipTest(ssh.missing() or 'there is no tmux')
        top = [INFORMERCTL, 'top', '-s', self.socket, '--interval', '100ms']
        connection = shlex.join(map(str, ssh.command(self.folder / 'ssh', top)))
        self.terminal = Terminal(self.folder, (80, 24), ['sh', '-c', f'{connection}; echo "ended with $?"; read line'], stderr=True)
        self.stack.callback(self.terminal.end)
        self.watch_changes()

    def test_over_ssh_that_breaks(self):
        """Nothing stays behind at the other end."""
        self.show_over_ssh()
        self.terminal.end()
        wait_until(lambda: json.loads(self.get('/informerd/v1/status').text)['event_streams'] == 0, 'the end of the event stream')

    def test_over_ssh(self):
        """The screens of a terminal here; another size, keys, and the end, after which the terminal is as before."""
        self.show_over_ssh()
        self.assert_golden('80x24')
        self.terminal.tmux('resize-window', '-x', '200', '-y', '60')
        wait_until(lambda: len(self.terminal.screen().splitlines()) == 60, 'the new size')
        self.assert_golden('200x60')
        self.terminal.tmux('send-keys', 'o')
        self.wait_for('sorted by objects')
        self.terminal.tmux('send-keys', 'q')
        self.wait_for('ended with 0')
        self.assertNotIn('watches live', self.terminal.screen())

    def test_keys(self):
        self.show((80, 24))
        self.watch_changes()
        for key, words in (('o', 'sorted by objects'), ('m', 'sorted by memory'), ('a', 'sorted by age'), ('n', 'sorted by name'),
                           ('c', 'sorted by configuration'), ('r', 'sorted by rate'), ('t', 'CHANGES MOST: MANAGER'),
                           ('t', 'CHANGES MOST: OBJECT'), ('?', 'refresh now'), ('h', 'CHANGES MOST: OBJECT')):
            self.terminal.tmux('send-keys', key)
            self.wait_for(words)
        self.terminal.tmux('send-keys', 'Down', 'z')  # no effect
        self.terminal.tmux('send-keys', 'n')
        self.wait_for('sorted by name')

    def test_stopped_and_continued(self):
        """By Ctrl-Z in a shell, which has the terminal as before."""
        if not TMUX:
            self.skipTest('there is no tmux')
        self.terminal = Terminal(self.folder, (80, 24), ['bash', '--norc', '--noprofile', '-i'], stderr=True, PS1='shell> ',
                                 HISTFILE='')
        self.stack.callback(self.terminal.end)
        self.terminal.tmux('send-keys', f'{INFORMERCTL} top -s {self.socket} --interval 100ms', 'Enter')
        self.wait_for('2 of 2 watches live')
        self.terminal.tmux('send-keys', 'C-z')
        self.wait_for('Stopped')
        self.assertNotIn('watches live', self.terminal.screen())
        self.terminal.tmux('send-keys', 'stty -a | tr " " "\\n" | grep -c -x -e icanon -e echo', 'Enter')
        self.wait_for('\n2\n')
        self.terminal.tmux('send-keys', 'fg', 'Enter')
        self.wait_for('2 of 2 watches live')
        self.terminal.tmux('send-keys', 'q')
        wait_until(lambda: 'watches live' not in self.terminal.screen(), 'the shell')

    def test_a_restart_of_informerd(self):
        self.show((80, 24))
        self.wait_for('2 of 2 watches live')
        self.assertEqual(self.daemon.end(), 0)
        self.wait_for('No such file or directory')
        self.start(self.conf(watches=[{'resource': 'configmaps'}]))
        self.wait_for('1 of 1 watches live')


class Restores(Top):
    """The terminal is as before, however the program ends."""

    def open(self):
        """A running top on a terminal of 80x24."""
        self.leader, follower = pty.openpty()
        self.stack.callback(os.close, self.leader)
        self.stack.callback(os.close, follower)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        self.before = termios.tcgetattr(follower)
        self.follower, self.seen = follower, b''
        self.child = self.stack.enter_context(subprocess.Popen(
            [INFORMERCTL, 'top', '-s', self.socket, '--interval', '100ms'], stdin=follower, stdout=follower, stderr=follower,
            env=environment(self.folder, TERM='xterm'), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(follower, termios.TIOCSCTTY, 0)))
        self.stack.callback(self.child.kill)
        self.read_until(b'watches live')

    def read_until(self, text):
        while text not in self.seen:
            self.assertTrue(select.select([self.leader], [], [], DEADLINE)[0], self.seen)
            self.seen += os.read(self.leader, 65536)

    def modes(self):
        return termios.tcgetattr(self.follower)

    def drain(self):
        """The rest of the output; a write of ours marks its end."""
        os.write(self.follower, b'<the end>')
        self.read_until(b'<the end>')
        return self.seen

    def test_each_way_to_end(self):
        for how in ('q', b'\x03', signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT):
            with self.subTest(how=how):
                self.open()
                self.assertNotEqual(self.modes(), self.before)
                if isinstance(how, signal.Signals):
                    self.child.send_signal(how)
                else:
                    os.write(self.leader, how if isinstance(how, bytes) else how.encode())
                self.read_until(LEAVE)
                self.assertEqual(self.child.wait(DEADLINE), -how if how is signal.SIGABRT else 0)
                out = self.drain()
                self.assertEqual((out.count(ENTER), out.count(LEAVE)), (1, 1))
                self.assertLess(out.index(ENTER), out.index(LEAVE))
                self.assertEqual(self.modes(), self.before)

    def test_a_daemon_that_does_not_answer(self):
        self.open()
        os.kill(self.daemon.child.pid, signal.SIGSTOP)
        try:
            os.write(self.leader, b'q')
            self.assertEqual(self.child.wait(DEADLINE), 0)
        finally:
            os.kill(self.daemon.child.pid, signal.SIGCONT)


run(__name__)
