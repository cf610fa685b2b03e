#!/usr/bin/env python3
"""format.py ROOT: C files are formatted by clang-format 14; other versions format differently."""
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
    print('clang-format 14 is not installed')
    sys.exit(SKIP)
rule = Rule(sys.argv[1], 'C files are formatted by .clang-format.', 'make format')
sources = files(rule.root, 'src/**/*.[ch]', 'include/**/*.h', 'test/**/*.[ch]')
if sources:
    output = subprocess.run([tool, '--dry-run', '--style=file', *sources], capture_output=True, text=True).stderr
    first = {}  # one line per file is enough
    for path, line in re.findall(r'^(.+?):(\d+):\d+: (?:warning|error):', output, re.MULTILINE):
        first.setdefault(path, line)
    for path, line in first.items():
        rule.broken(path, line, 'is not formatted')
rule.verdict()
