#!/usr/bin/env python3
"""docs.py INFORMERD FILE...: every configuration that a README or a manual page shows loads (the kubeconfigs it names
need not exist), and informerd.8 has every flag that --help has.

A configuration is in Markdown every block marked yaml, in a manual page every example (.EX to .EE) that begins with a
key.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def plain(manual):
    """The text of a manual page without the escapes of man."""
    return manual.replace('\\-', '-').replace('\\&', '').replace('\\e', '\\')


def blocks(path):
    """(line, text) of each configuration that the file shows."""
    text = path.read_text()
    manual = path.suffix != '.md'
    pattern = r'^\.EX\n(.*?)^\.EE$' if manual else r'^```yaml\n(.*?)^```$'
    for match in re.finditer(pattern, text, re.DOTALL | re.MULTILINE):
        block = plain(match[1]) if manual else match[1]
        if not manual or re.match(r'\w+:', block):
            yield text.count('\n', 0, match.start(1)) + 1, block


informerd, files = Path(sys.argv[1]).resolve(), [Path(name) for name in sys.argv[2:]]
problems, shown = [], {}
with tempfile.TemporaryDirectory(prefix='docs.') as folder:
    conf = Path(folder, 'x.conf')
    for path in files:
        for line, block in blocks(path):
            shown[path] = shown.get(path, 0) + 1
            conf.write_text(block)
            result = subprocess.run([informerd, '--print-config', '-c', conf], capture_output=True, text=True,
                                    timeout=60)
            if result.returncode:
                problems.append(f'{path}:{line}: this configuration does not load:\n{result.stderr}')
problems += [f'{path}: shows no configuration; was its markup changed?' for path in files
             if path.suffix != '.md' and path not in shown]
help_text = ''.join(subprocess.run([informerd, *command, '--help'], capture_output=True, text=True, timeout=60).stdout
                    for command in ([], ['watch'], ['rbac'], ['state']))
options = sorted(set(re.findall(r'--[a-z-]+', help_text)))
for path in files:
    if path.name == 'informerd.8':
        page = plain(path.read_text())
        problems += [f'{path}: lacks the flag {option}' for option in options if option not in page]
print(*problems, sep='\n')
sys.exit(bool(problems))
