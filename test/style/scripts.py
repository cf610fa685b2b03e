#!/usr/bin/env python3
"""scripts.py ROOT: every script passes the syntax check of its interpreter, also branches that rarely run."""
import re
import subprocess
import sys

from style import Rule, tracked

SHELL = re.compile(rb'#!.*\b(ba|da|)sh\b')
PYTHON = re.compile(rb'#!.*\bpython3?\b')


def shell_error(file, first):
    """(line, message) of the first error of `sh -n` or `bash -n`, or None."""
    shell = 'bash' if b'bash' in first else 'sh'
    run = subprocess.run([shell, '-n', file], capture_output=True, text=True)
    if run.returncode == 0:
        return None
    line = re.search(r': (?:line )?(\d+): ', run.stderr)
    return line[1] if line else 1, run.stderr.splitlines()[0]


def python_error(file):
    try:
        compile(file.read_bytes(), file, 'exec', dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1, error.msg
    return None


rule = Rule(sys.argv[1], 'every script passes the syntax check of its interpreter.', 'sh -n FILE, or bash -n FILE.')
for file in tracked(rule.root):
    with open(file, 'rb') as f:
        first = f.readline()
    if SHELL.match(first) or file.suffix in ('.sh', '.bash'):
        error = shell_error(file, first)
    elif PYTHON.match(first) or file.suffix == '.py':
        error = python_error(file)
    else:
        continue
    if error:
        rule.broken(file, *error)
rule.verdict()
