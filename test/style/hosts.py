#!/usr/bin/env python3
"""hosts.py ROOT: the repository works on anybody's machine: no mirror, registry or proxy is named in it, and no path
of the machine it was written on. Which mirror to use is the machine's business (.ci/setup asks it)."""
import re
import sys

from style import Rule, tracked

# Hosts that may stand in a URL: examples, names that resolve nowhere, and what documents must cite.
CITED = ('example.com', 'example.org', 'example.net', 'apache.org', 'kubernetes.io', 'k8s.io', 'w3.org')
NOWHERE = ('example', 'test', 'invalid', 'local', 'svc', 'localhost')

URL = re.compile(r'\b(?:https?|ftp|git|ssh)://([^\s/"\'<>()\[\]`,;:?#\\]+|\[[0-9a-f:]+\])')
REGISTRY = re.compile(r'\b(?:(?:proxy|sum|deb|security|archive|mirrors?|registry|packages|pypi|index|ghcr)'
                      r'\.[a-z0-9-]+\.(?:org|io|com|net|dev)|(?:pypi|npmjs|gcr|quay|ghcr|docker)\.(?:org|com|io))\b')
PATH = re.compile(r'(?<![\w.*}/])/(?:work|root|home/[a-z]\w*)/')


def may_stand(host):
    """An address, a single word or a placeholder names no host; the rest must be on the lists."""
    if re.fullmatch(r'[\d.]+|\[.*\]|[\w-]+', host) or re.search(r'[$%{*]', host):
        return True
    return host.rsplit('.')[-1] in NOWHERE or any(host == c or host.endswith('.' + c) for c in CITED)


rule = Rule(sys.argv[1], 'no host and no path of somebody\'s machine is written into the repository.',
            'take it from the environment or the machine, or write example.com; what must be cited is listed in '
            'test/style/hosts.py.')
for file in tracked(rule.root):
    for number, line in enumerate(file.read_text(errors='replace').splitlines(), 1):
        for host in {*URL.findall(line), *REGISTRY.findall(line)}:
            if not may_stand(host):
                rule.broken(file, number, f'names the host {host}')
        for path in set(PATH.findall(line)):
            rule.broken(file, number, f'names the path {path}')
rule.verdict()
