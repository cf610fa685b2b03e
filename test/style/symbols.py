#!/usr/bin/env python3
"""symbols.py ROOT SHARED STATIC: the library exports only the `inf_*` functions that include/informer declares."""
import re
import subprocess
import sys

from style import Rule, files

root, shared, static = sys.argv[1:]


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def exported():
    """Symbols that the shared library exports. Names with two underscores belong to sanitizers."""
    names = {line.split()[-1] for line in lines('nm', '-D', '--defined-only', shared)}
    return {name for name in names if not name.startswith('__')}


def visible():
    """Global symbols with default visibility in the static library: Num Value Size Type Bind Vis Ndx Name."""
    for line in lines('readelf', '-sW', static):
        cells = line.split()
        if len(cells) == 8 and cells[4] in ('GLOBAL', 'WEAK') and cells[5] == 'DEFAULT' and cells[6] != 'UND':
            if not cells[7].startswith('__'):
                yield cells[7]


def place(name):
    """The first occurrence of the name in src/."""
    for file in files(root, 'src/**/*.[ch]'):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(rf'\b{re.escape(name)}\b', line):
                return file, number
    return files(root, 'src/**/*.c')[0], 1


rule = Rule(root, 'the library exports only inf_*, and each of them is in a public header.',
            'use INF_API only for what include/informer declares; make a helper of one file static; one of several files '
            'is hidden by default.')
api = '\n'.join(f.read_text() for f in files(root, 'include/informer/*.h'))
for name in sorted(exported() | set(visible())):
    if not name.startswith('inf_'):
        rule.broken(*place(name), f'`{name}` is exported')
    elif not re.search(rf'\b{name}\b', api):
        rule.broken(*place(name), f'`{name}` is exported, but no header in include/informer declares it')
rule.verdict()
