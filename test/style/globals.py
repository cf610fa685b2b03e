#!/usr/bin/env python3
"""globals.py ROOT BUILDDIR: there are no mutable globals, so that several loops in one process are independent.

Checks the compiled objects, not the text: a static local, a table that lacks a const and a tentative definition are
all in a writable section. Constants that need relocation (.data.rel.ro) are written only by the loader.
"""
import json
import re
import subprocess
import sys
from pathlib import Path

from style import Rule

root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
WRITABLE = re.compile(r'\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\.lbss|\.ldata|\*COM\*')


def objects():
    """(source, object) of each compiled file below src/, from compile_commands.json."""
    for command in json.loads((build / 'compile_commands.json').read_text()):
        source = Path(command['directory'], command['file']).resolve()
        variant = command['output'].startswith('test/')  # the same sources built for a test, possibly not built yet
        if source.is_relative_to(root / 'src') and not variant:
            yield source, Path(command['directory'], command['output'])


def variables(objs):
    """(object, name) in writable sections; names that begin with two underscores belong to sanitizers and coverage."""
    table = subprocess.run(['nm', '--format=sysv', *objs], capture_output=True, text=True, check=True).stdout
    for row in table.splitlines():
        if match := re.match(r'Symbols from (.*):$', row):
            obj = match[1]
        cells = [cell.strip() for cell in row.split('|')]
        if len(cells) == 7 and WRITABLE.match(cells[6]) and cells[3] in ('OBJECT', 'TLS') and cells[0][:2] != '__':
            yield obj, re.sub(r'(\.\d+)+$', '', cells[0]).split('.')[-1]  # a static local n of f: n.0 (gcc), f.n (clang)


def line_of(name, source):
    lines = source.read_text().splitlines()
    return next((n for n, line in enumerate(lines, 1) if re.search(rf'\b{re.escape(name)}\b', line)), 1)


rule = Rule(root, 'there are no mutable globals and no static locals: several loops in one process are independent.',
            'make it const (a table of strings: `static const char *const names[]`), or a member of the struct '
            'with the same lifetime.')
sources = {str(obj): source for source, obj in objects()}
if not sources:
    sys.exit(f'no object of src/ found in {build}: nothing was checked')
for obj, name in variables(sorted(sources)):
    rule.broken(sources[obj], line_of(name, sources[obj]), f'`{name}` is writable')
rule.verdict()
