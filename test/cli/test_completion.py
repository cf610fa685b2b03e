#!/usr/bin/env python3
"""test_completion.py INFORMERD: the completion scripts in real shells. Prints results as TAP.

bash completes; zsh and fish check the syntax, where they are installed.
"""
import shutil
import subprocess
import sys
import unittest

from lib import DEADLINE, INFORMERD, run


def script(shell):
    return subprocess.run([INFORMERD, 'completion', shell], check=True, capture_output=True, text=True,
                          timeout=DEADLINE).stdout


class Bash(unittest.TestCase):

    def complete(self, *words):
        """What bash offers for the last of the words."""
        code = script('bash') + ('\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _informerd; '
                                 'printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(['bash', '--norc', '-c', code, 'bash', 'informerd', *words], check=True,
                                capture_output=True, text=True, timeout=DEADLINE, cwd='/')
        self.assertEqual(result.stderr, '')
        return result.stdout.split()

    def test_commands(self):
        self.assertEqual(self.complete(''), ['watch', 'rbac', 'state', 'completion', 'help', 'version'])
        self.assertEqual(self.complete('w'), ['watch'])
        self.assertEqual(self.complete('help', 'r'), ['rbac'])
        self.assertEqual(self.complete('completion', ''), ['bash', 'zsh', 'fish'])

    def test_flags_of_the_command(self):
        self.assertEqual(self.complete('watch', 'pods', '--field'), ['--field-selector'])
        self.assertEqual(self.complete('--check'), ['--check-config'])
        self.assertEqual(self.complete('rbac', '--ser'), ['--serviceaccount'])
        self.assertEqual(self.complete('rbac', '--field'), [])
        self.assertIn('-n', self.complete('watch', '-'))

    def test_values(self):
        self.assertEqual(self.complete('watch', 'pods', '-o', 'jsonl'), ['jsonl'])
        self.assertEqual(self.complete('watch', 'pods', '--output', '=', 'jsonl'), ['jsonl'])
        self.assertEqual(self.complete('watch', '--verb', ''), ['ADDED', 'MODIFIED', 'DELETED'])
        self.assertEqual(self.complete('watch', '--verb', 'ADDED,M'), ['ADDED,MODIFIED'])
        self.assertEqual(self.complete('watch', '--ignore', 'unchanged,st'), ['unchanged,status-timestamps'])
        self.assertEqual(self.complete('watch', '--kubeconfig', 'et'), ['etc'])
        self.assertEqual(self.complete('watch', '-n', ''), [])

    def test_resources(self):
        self.assertEqual(self.complete('watch', 'deplo'), ['deployments'])
        self.assertEqual(self.complete('watch', 'al'), ['all'])
        self.assertEqual(self.complete('watch', 'pods,deplo'), ['pods,deployments'])

    def test_every_flag_of_the_help(self):
        for command in ([], ['watch'], ['rbac']):
            text = subprocess.run([INFORMERD, *command, '--help'], check=True, capture_output=True, text=True,
                                  timeout=DEADLINE).stdout
            flags = [line.split('--')[1].split()[0] for line in text.splitlines()
                     if line.startswith(('  -', '      --'))]
            self.assertEqual(sorted(f for f in self.complete(*command, '--') if f.startswith('--')),
                             sorted(f'--{flag}' for flag in flags))


class Syntax(unittest.TestCase):

    def check(self, shell, *options):
        program = shutil.which(shell)
        if not program:
            self.skipTest(f'{shell} is not installed')
        result = subprocess.run([program, *options], input=script(shell), capture_output=True, text=True,
                                timeout=DEADLINE)
        self.assertEqual((result.returncode, result.stderr), (0, ''))

    def test_bash(self):
        self.check('bash', '-n')

    def test_zsh(self):
        self.check('zsh', '-n')

    def test_fish(self):
        self.check('fish', '--no-execute')


if __name__ == '__main__':
    run(__name__)
