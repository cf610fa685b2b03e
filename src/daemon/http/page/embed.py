#!/usr/bin/env python3
"""embed.py OUTPUT FILE...: writes the files of the page as C arrays (struct page_file of page.h)."""
import hashlib
import sys
from pathlib import Path

TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8',
         '.js': 'text/javascript; charset=utf-8', '.svg': 'image/svg+xml'}

output, *names = sys.argv[1:]
arrays, rows = [], []
for number, name in enumerate(names):
    path = Path(name)
    data = path.read_bytes()
    lines = (', '.join(map(str, data[at:at + 24])) for at in range(0, len(data), 24))
    arrays.append(f'static const unsigned char file_{number}[] = {{\n    ' + ',\n    '.join(lines) + '};\n')
    url = '/' if path.name == 'index.html' else f'/page/{path.name}'
    rows.append(f'    {{"{url}", "{TYPES[path.suffix]}", "\\"{hashlib.sha256(data).hexdigest()[:16]}\\"", '
                f'file_{number}, sizeof(file_{number})}},\n')
Path(output).write_text('/* Made by embed.py. */\n#include "daemon/http/page.h"\n\n' + '\n'.join(arrays) +
                        '\nconst struct page_file page_files[] = {\n' + ''.join(rows) + '    {0},\n};\n')
