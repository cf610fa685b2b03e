#!/usr/bin/env python3
"""test_demo.py RUN_SH INFORMERD KUBESIM CONF: the demo on a terminal and in a pipe, however it ends, and its build."""
import contextlib
import json
import os
import pty
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'kubesim'))
COMMAND = [str(Path(argument).resolve()) for argument in sys.argv[1:5]]
BUILD = Path(COMMAND[0]).with_name('build.sh')
from lib import DEADLINE, run

COLOUR = re.compile(r'\x1b\[[0-9;]*m')


def wait_until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, 'timed out'
        time.sleep(0.05)


def mentions(folder):
    """Processes whose command line or environment names the folder."""
    found = []
    for process in Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            if str(folder).encode() in (process / 'cmdline').read_bytes() + (process / 'environ').read_bytes():
                found.append(int(process.name))
    return found


def runs(pid, program):
    """Whether the process exists and runs the program."""
    with contextlib.suppress(OSError):
        return Path(f'/proc/{pid}/exe').resolve(strict=True) == Path(program)
    return False


class Demo:
    """A running demo; its output is read from a terminal or a pipe."""

    def __init__(self, folder, terminal=True):
        self.folder, self.text = Path(folder), ''
        env = {**os.environ, 'TMPDIR': str(folder), 'TERM': 'xterm', 'NO_COLOR': ''}
        command = [*COMMAND, '--seed', '1', '--pace', '20']
        if terminal:
            self.pid, self.output_fd = pty.fork()
            if self.pid == 0:
                os.execve(command[0], command, env)
        else:
            self.output_fd, writer = os.pipe()
            self.pid = os.posix_spawn(command[0], command, env, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
            os.close(writer)

    def read(self):
        try:
            piece = os.read(self.output_fd, 65536)
        except OSError:  # a terminal without a process on the other side
            piece = b''
        self.text += piece.decode(errors='replace')
        return bool(piece)

    def until(self, *words):
        """Reads until the output contains all words."""
        while not all(word in self.text for word in words):
            assert self.read(), f'not all of {words} in:\n{self.text}'

    def press(self, key):
        os.write(self.output_fd, key)

    def kill(self, number):
        os.kill(self.pid, number)

    def hang_up(self):
        """Closes the reading end of the pipe, or the terminal."""
        os.close(self.output_fd)
        self.output_fd = None

    def end(self):
        """Waits for the end. Returns the exit status."""
        if self.output_fd is not None:
            while self.read():
                pass
            os.close(self.output_fd)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


class Build(unittest.TestCase):
    """test/demo/build.sh, with programs in place of meson and ninja."""

    NINJA = 'for i in 1 2 3; do echo "[$i/3] Compiling C object $i"; done\n'

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='demo.')
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def build(self, ninja, meson='mkdir -p "$2"; : >"$2/build.ninja"; echo configured\n', terminal=False):
        """(exit status, all output)"""
        for name, text in (('ninja', ninja), ('meson', meson), ('cc', 'exit 1\n')):
            (self.folder / name).write_text('#!/bin/sh\n' + text)
            (self.folder / name).chmod(0o755)
        path = f'{self.folder}:{os.environ["PATH"]}'
        env = {**os.environ, 'PATH': path, 'TMPDIR': str(self.folder), 'CC': 'cc'}
        reader, writer = pty.openpty() if terminal else os.pipe()
        child = subprocess.Popen([BUILD, self.folder / 'build', 'informerd'], env=env, stdin=subprocess.DEVNULL,
                                 stdout=writer, stderr=writer)
        os.close(writer)
        text = b''
        with contextlib.suppress(OSError):  # a terminal without a process on the other side
            while piece := os.read(reader, 65536):
                text += piece
        os.close(reader)
        status = child.wait()
        self.assertEqual(list(self.folder.glob('informerd-build.*')), [])
        return status, text.decode()

    def test_prints_one_line_in_a_pipe(self):
        self.assertEqual(self.build(self.NINJA), (0, 'building informerd\n'))

    def test_prints_nothing_if_all_is_up_to_date(self):
        self.build(self.NINJA)
        self.assertEqual(self.build('echo "ninja: no work to do."\n'), (0, ''))

    def test_shows_progress_on_a_terminal_and_erases_it(self):
        status, text = self.build(self.NINJA, terminal=True)
        self.assertEqual(status, 0)
        self.assertNotIn('\n', text)
        self.assertEqual(re.findall(r'\rbuilding informerd: (\S+)\x1b\[K', text), ['configuring', '1/3', '2/3', '3/3'])
        self.assertTrue(text.endswith('\r\x1b[K'))

    def test_prints_everything_if_the_build_fails(self):
        for terminal in (False, True):
            status, text = self.build(self.NINJA + 'echo "x.c:1: error: y"\nexit 1\n', terminal=terminal)
            self.assertEqual(status, 1)
            for line in ('[3/3] Compiling C object 3', 'x.c:1: error: y', 'the build failed'):
                self.assertIn(line, text)

    def test_prints_everything_if_the_configuration_fails(self):
        status, text = self.build(self.NINJA, meson='echo "Dependency libuv not found"; exit 1\n')
        self.assertEqual(status, 1)
        self.assertIn('Dependency libuv not found', text)


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='demo.')
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assert_nothing_left(self):
        wait_until(lambda: not list(self.folder.iterdir()) and not mentions(self.folder))

    def get_pods(self, kubeconfig, token):
        """The status of a request as kubectl sends it."""
        context = ssl.create_default_context(cafile=re.search(r'certificate-authority: (\S+)', kubeconfig)[1])
        url = re.search(r'server: (\S+)', kubeconfig)[1]
        request = urllib.request.Request(f'{url}/api/v1/pods', headers={'Authorization': f'Bearer {token}'})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def test_shows_changes_and_stops_on_ctrl_c(self):
        demo = Demo(self.folder)
        demo.until('Press Ctrl-C to stop', 'ADDED', 'MODIFIED', 'DELETED', 'pod shop/', 'deployment ', 'node node-',
                   'secret ', 'Scheduled')
        self.assertIn('\x1b[', demo.text)
        demo.press(b'\x03')
        self.assertEqual(demo.end(), 0)
        self.assertIn('STOP', COLOUR.sub('', demo.text).splitlines()[-1])
        self.assert_nothing_left()

    def test_files_and_addresses_of_the_banner_exist(self):
        demo = Demo(self.folder, terminal=False)
        demo.until('Press Ctrl-C to stop', 'SYNCED')
        self.assertNotIn('\x1b', demo.text)
        log = Path(re.search(r'tail -f (\S+)', demo.text)[1])
        wait_until(lambda: log.exists() and b'"SYNCED"' in log.read_bytes())
        self.assertEqual(json.loads(log.read_text().splitlines()[0])['type'], 'START')
        with urllib.request.urlopen(re.search(r'curl (http\S+)', demo.text)[1], timeout=DEADLINE) as answer:
            self.assertIn(b'# TYPE informerd_', answer.read())
        self.assertTrue(Path(re.search(r'--unix-socket (\S+)', demo.text)[1]).is_socket())
        kubeconfig = Path(re.search(r'--kubeconfig (\S+)', demo.text)[1]).read_text()
        self.assertEqual(self.get_pods(kubeconfig, re.search(r'token: "(.+)"', kubeconfig)[1]), 200)
        self.assertEqual(self.get_pods(kubeconfig, 'wrong'), 401)
        demo.until('web page: https://')
        self.assertRegex(demo.text, r'web page: https://[\d.]+:6444/#code=\S+=\n')
        self.assertTrue(Path(re.search(r'web page +(\S+) page -s ', demo.text)[1]).exists())
        demo.kill(signal.SIGTERM)
        self.assertEqual(demo.end(), 0)
        self.assert_nothing_left()

    def test_two_demos_run_at_the_same_time(self):
        demos = [Demo(self.folder), Demo(self.folder, terminal=False)]
        for demo in demos:
            demo.until('MODIFIED')
        for demo in demos:
            demo.kill(signal.SIGINT)
        self.assertEqual([demo.end() for demo in demos], [0, 0])
        self.assert_nothing_left()

    def test_everything_is_removed_when_informerd_is_killed(self):
        demo = Demo(self.folder)
        demo.until('ADDED')
        demo.kill(signal.SIGKILL)
        self.assertEqual(demo.end(), -signal.SIGKILL)
        self.assert_nothing_left()

    def test_informerd_ends_when_the_cluster_is_killed(self):
        demo = Demo(self.folder)
        demo.until('ADDED')
        cluster, = (pid for pid in mentions(self.folder) if runs(pid, COMMAND[2]))
        os.kill(cluster, signal.SIGKILL)
        self.assertEqual(demo.end(), 0)
        self.assert_nothing_left()

    def test_everything_is_removed_when_the_reader_is_gone(self):
        for terminal in (True, False):
            with self.subTest(terminal=terminal):
                demo = Demo(self.folder, terminal)
                demo.until('ADDED')
                demo.hang_up()
                demo.end()
                self.assert_nothing_left()


run(__name__)
