#!/usr/bin/env python3
"""ways.py ROOT: every kubeconfig field is in the table test/ways-in.md, and every test named there exists."""
import re
import sys

from style import Rule

TABLE, FIELDS = 'test/ways-in.md', 'src/kube/config/kubeconfig_entry.c'
SHORT = {'access': 'test/e2e/scenarios/access.py'}
rule = Rule(sys.argv[1], 'for every kubeconfig field one test shows that it works, and one the error for a wrong value.',
            f'write the test and add its name to {TABLE}.')
table = rule.root / TABLE


def exists(place):
    """`file: name`, of a test or a class in it."""
    file, _, name = place.partition(': ')
    path = rule.root / SHORT.get(file, file)
    return path.is_file() and name and re.search(rf'^ *(def|class|static void) {name}\b', path.read_text(), re.M)


named = set()
for number, line in enumerate(table.read_text().splitlines(), 1):
    cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
    if not line.startswith('| ') or cells[0] in ('feature', '---'):
        continue
    named |= set(re.findall(r'`([^`]+)`', cells[0]))
    if len(cells) != 3 or not all(cells):
        rule.broken(table, number, f"'{cells[0]}' has an empty cell")
        continue
    for place in cells[1:]:
        if not re.match(r'none: ', place) and not exists(place):
            rule.broken(table, number, f'{place} does not exist')
for number, line in enumerate((rule.root / FIELDS).read_text().splitlines(), 1):
    field = re.match(r' *\{"([^"]+)", *FIELD_', line)
    if field and field[1] not in named:
        rule.broken(rule.root / FIELDS, number, f'`{field[1]}` is not in {TABLE}')
rule.verdict()
