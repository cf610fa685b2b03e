#!/usr/bin/env python3
"""hosts.py ROOT: no file names a mirror, a registry, a proxy or a path of one machine, so that the repository works on
every machine. Which mirror to use is configured on the machine; .ci/setup reads it there."""
import re
import sys

from style import Rule, tracked

# Hosts that are allowed in a URL: examples, names that do not resolve, and citations.
CITED = ('example.com', 'example.org', 'example.net', 'apache.org', 'kubernetes.io', 'k8s.io', 'w3.org', 'json-schema.org',
         'www.debian.org')
UNRESOLVABLE = ('example', 'test', 'invalid', 'local', 'svc', 'localhost')

URL = re.compile(r'\b(?:https?|ftp|git|ssh)://([^\s/"\'<>()\[\]`,;:?#\\]+|\[[0-9a-f:]+\])')
REGISTRY = re.compile(r'\b(?:(?:proxy|sum|deb|security|archive|mirrors?|registry|packages|pypi|index|ghcr)'
                      r'\.[a-z0-9-]+\.(?:org|io|com|net|dev)|(?:pypi|npmjs|gcr|quay|ghcr|docker)\.(?:org|com|io))\b')
PATH = re.compile(r'(?<![\w.*}/])/(?:work|root|home/[a-z]\w*)/')


def is_allowed(host):
    """Addresses, single words and placeholders are not host names; others must be listed."""
    if re.fullmatch(r'[\d.]+|\[.*\]|[\w-]+', host) or re.search(r'[$%{*]', host):
        return True
    return host.rsplit('.')[-1] in UNRESOLVABLE or any(host == c or host.endswith('.' + c) for c in CITED)


rule = Rule(sys.argv[1], 'no file names a host or a path of one machine.',
            'take it from the environment or use example.com; test/style/hosts.py lists the hosts that may be cited.')
for file in tracked(rule.root):
    for number, line in enumerate(file.read_text(errors='replace').splitlines(), 1):
        for host in {*URL.findall(line), *REGISTRY.findall(line)}:
            if not is_allowed(host):
                rule.broken(file, number, f'names the host {host}')
        for path in set(PATH.findall(line)):
            rule.broken(file, number, f'names the path {path}')
rule.verdict()
