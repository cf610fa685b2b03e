#!/usr/bin/env python3
"""length.py ROOT: a file is one idea, typically 150 to 400 lines, at most 600."""
import sys

from style import Rule, files

LIMIT = 600

rule = Rule(sys.argv[1], f'a file is one idea and has at most {LIMIT} lines.',
            'split it by responsibility.')
kinds = [f'{top}/**/*.{kind}' for top in ('src', 'include', 'test') for kind in ('[ch]', 'py', 'sh')]
for file in files(rule.root, *kinds):
    lines = len(file.read_text().splitlines())
    if lines > LIMIT:
        rule.broken(file, LIMIT + 1, f'has {lines} lines')
rule.verdict()
