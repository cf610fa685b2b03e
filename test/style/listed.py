#!/usr/bin/env python3
"""listed.py ROOT: every C file is listed in a meson.build. A test that is not listed would never run."""
import re
import sys

from style import Rule, files

rule = Rule(sys.argv[1], 'every C file of src/, test/lib, test/unit and test/story is listed in a meson.build.',
            'add its line to src/meson.build or test/meson.build.')


def names(path):
    """The quoted words of a meson.build, except in comments."""
    text = re.sub(r'#.*', '', (rule.root / path).read_text())
    return set(re.findall(r"'([^']+)'", text))


src, test = names('src/meson.build'), names('test/meson.build')
for file in files(rule.root, 'src/**/*.c'):
    if file.relative_to(rule.root / 'src').as_posix() not in src:
        rule.broken(file, 1, 'is not in src/meson.build')
for file in files(rule.root, 'test/lib/*.c', 'test/unit/**/*.c', 'test/story/*.c'):
    # helpers are listed by path (lib/sim.c), tests by name: unit/core/dispatch/test_fifo.c is 'fifo'
    helper = file.parent == rule.root / 'test/lib'
    name = f'lib/{file.name}' if helper else re.sub(r'^(test|story)_', '', file.stem)
    if name not in test:
        rule.broken(file, 1, f"is not in test/meson.build, as '{name}'")
rule.verdict()
