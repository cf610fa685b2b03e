#!/usr/bin/env python3
"""words.py ROOT: comments, messages and documents use the words of the field. The list holds only the worst offenders."""
import re
import sys

from style import Rule, files, prose

WORDS = re.compile(r'(?<![-/\w])(told|said|saying|anew|nobody|somebody|anybody|everybody|whoever|whom|obeys?|in\s+vain|'
                   r'who\s+(?:asks|wants|has|types))(?!\w)', re.IGNORECASE)
EXEMPT = ('test/style/words.py', 'test/style/selftest.py')  # they contain the list

rule = Rule(sys.argv[1], 'comments, messages and documents are plain engineering English.',
            'write what happens: report, deliver, again, no caller, a caller, clients that need it.')
for file in files(rule.root, 'src/**/*.[ch1-8]', 'include/**/*.h', 'README.md', 'conf/*', '.github/*.md', '.ci/*',
                  'Makefile', 'meson.build', 'src/meson.build', 'test/**/*.[ch]', 'test/**/*.py', 'test/**/*.sh',
                  'test/**/meson.build', 'test/**/*.md'):
    if file.relative_to(rule.root).as_posix() in EXEMPT:
        continue
    for number, line in prose(file):
        for word in WORDS.finditer(line):
            rule.broken(file, number, f"'{word[0]}'")
rule.verdict()
