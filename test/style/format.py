#!/usr/bin/env python3
"""format.py ROOT: clang-format decides, and it is version 14: others lay the same file out differently."""
import re
import shutil
import subprocess
import sys

from style import SKIP, Rule, files


def clang_format_14():
    for name in ('clang-format-14', 'clang-format'):
        tool = shutil.which(name)
        if tool and ' version 14.' in subprocess.run([tool, '--version'], capture_output=True, text=True).stdout:
            return tool
    return None


tool = clang_format_14()
if not tool:
    print('no clang-format 14 on this machine')
    sys.exit(SKIP)
rule = Rule(sys.argv[1], 'C files look as .clang-format says.', 'make format')
sources = files(rule.root, 'src/**/*.[ch]', 'include/**/*.h', 'test/**/*.[ch]')
if sources:
    said = subprocess.run([tool, '--dry-run', '--style=file', *sources], capture_output=True, text=True).stderr
    first = {}  # one complaint a file is enough: the remedy mends them all
    for path, line in re.findall(r'^(.+?):(\d+):\d+: (?:warning|error):', said, re.MULTILINE):
        first.setdefault(path, line)
    for path, line in first.items():
        rule.broken(path, line, 'is laid out differently from here on')
rule.verdict()
