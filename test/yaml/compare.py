#!/usr/bin/env python3
"""compare.py READ_KUBECONFIG [COUNT [SEED]]: kubeconfigs read by informerd and by PyYAML, on COUNT generated files.

Two thirds of the files are valid: a random kubeconfig, written in random styles of YAML (block and flow, every kind of
scalar, comments, other indentation, line ends and encodings). Both readers must find the values that were written, at the
same lines and columns, and informerd must resolve them to the right server and credentials. One third is such a file with
some characters changed: both must accept it and find the same, or both refuse it, except for KNOWN differences.

PyYAML's own parser is used, not its binding to libyaml, which is what informerd uses. Exits with 77 (skipped) without PyYAML.
"""
import base64
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import yaml
except ImportError:
    print('skipped: PyYAML is not installed (Debian: python3-yaml)')
    sys.exit(77)

COUNT, SEED = 1000 if os.environ.get('TEST_TIER') == 'full' else 300, 14
NULLS = ('', '~', 'null', 'Null', 'NULL')
WORDS = {'true': True, 'yes': True, 'on': True, 'false': False, 'no': False, 'off': False}
API = 'client.authentication.k8s.io/'
TEXTS = ['x', 'hunter2', 'p4ss: word', 'a #b', '# no comment', '- dash', '&anchor', '*alias', '!tag', '%percent', '@at',
         '`tick', "it's", 'say "hi"', '{brace', '[bracket]', 'a, b', '?query', 'back\\slash', ' lead', 'trail ',
         'two\nlines', 'end\n', '\n', 'tab\tin', 'ünï', '日本', '😀', 'true', 'no', 'null', '~', '1.50', '0x1F', '1e3',
         '<<', '=', '---', '...', '|', '>', ':', 'a:', ':a', 'a: ', '2026-11-17', 'very ' * 30, '-', '--- x', "''", '""']


# Where the readers may differ on a changed file, by the error of the one that refuses it. YAML 1.2 has tabs between tokens, and
# '?' inside a word in {} or []: libyaml reads both, PyYAML neither. PyYAML alone reads unknown directives, tabs before a
# block scalar, and [a:b] and [?] as pairs.
KNOWN = re.compile(r"character '\\t' that cannot start any token|but got '\?'|unknown directive name|found unexpected ':'|"
                   r"a tab character where an indentation space is expected|did not find expected ',' or")


# ---- what is written ----

class Writer:
    """Writes a value as YAML, each part in a style of its own."""

    def __init__(self, rng):
        self.rng = rng

    def plain_fits(self, text, flow):
        """Whether it may be written without quotes. In doubt it is quoted."""
        return bool(re.fullmatch(r'[A-Za-z0-9_./@+=][A-Za-z0-9_./@+= -]*', text)) and text == text.strip() and not (
            text.startswith('@') or text in ('...', '=', '<<') or (flow and text.endswith('?')))

    def double(self, text):
        named = {'\n': 'n', '\t': 't', '"': '"', '\\': '\\', ' ': ' ', '/': '/'}
        out = []
        for c in text:
            if c in '"\\\n\t' or (c in ' /' and self.rng.random() < 0.05):
                out.append('\\' + named[c])
            elif self.rng.random() < 0.1:
                code = ord(c)
                out.append(f'\\x{code:02x}' if code < 256 else f'\\u{code:04x}' if code < 65536 else f'\\U{code:08x}')
            else:
                out.append(c)
        return '"' + ''.join(out) + '"'

    def scalar(self, value, flow, indent, block_allowed=True):
        if value is None:
            return self.rng.choice(['null', '~', 'Null'] if flow else NULLS)
        if isinstance(value, bool):
            return self.rng.choice([w for w, v in WORDS.items() if v == value])
        forms = [self.double]
        if self.plain_fits(value, flow) and value not in NULLS and value.lower() not in WORDS:
            forms += [str, str, str]
        if '\n' not in value and '\t' not in value:
            forms.append(lambda text: "'" + text.replace("'", "''") + "'")
        if block_allowed and not flow and value.strip() and not value.startswith((' ', '\n')) and '\t' not in value:
            forms.append(lambda text: self.literal(text, indent))
        return self.rng.choice(forms)(value)

    def literal(self, text, indent):
        """A block scalar: |, with what it does to the end."""
        body = text.rstrip('\n')
        ends = len(text) - len(body)
        chomp = '-' if ends == 0 else '' if ends == 1 else '+'
        pad = ' ' * (indent + self.rng.randint(1, 4))
        lines = [pad + line if line else '' for line in body.split('\n')]
        return f'|{chomp}\n' + '\n'.join(lines) + '\n' * max(0, ends - 1)

    def blank(self):
        return self.rng.choice(['', '', '', '  # a comment', ' #', '\n', '\n# own line'])

    def flow(self, value):
        gap = self.rng.choice(['', ' ', '  ', '\n    '])
        if isinstance(value, dict):
            items = [f'{self.scalar(k, True, 0)}: {self.flow(v)}' for k, v in value.items()]
            return '{' + gap + f',{gap or " "}'.join(items) + gap + '}'
        if isinstance(value, list):
            return '[' + gap + f',{gap or " "}'.join(map(self.flow, value)) + gap + ']'
        return self.scalar(value, True, 0)

    def value(self, value, indent):
        """What stands behind 'key:' or '-', with what separates it."""
        if not isinstance(value, (dict, list)) or not value or self.rng.random() < 0.2:
            nested = isinstance(value, (dict, list))
            text = self.flow(value).replace('\n', '\n' + ' ' * indent) if nested else self.scalar(value, False, indent)
            return (' ' * self.rng.randint(1, 3) + text if text else '') + (self.blank() if '|' not in text else '') + '\n'
        deeper = indent + self.rng.randint(1, 4) if isinstance(value, dict) or self.rng.random() < 0.5 else indent
        return self.blank() + '\n' + self.block(value, deeper)

    def block(self, value, indent):
        pad, out = ' ' * indent, []
        items = value.items() if isinstance(value, dict) else [(None, v) for v in value]
        for key, item in items:
            if key is None:
                out.append(f'{pad}-{self.item(item, indent)}')
            elif self.rng.random() < 0.05:
                out.append(f'{pad}? {self.scalar(key, False, indent, False)}\n{pad}:{self.value(item, indent + 1)}')
            else:
                out.append(f'{pad}{self.scalar(key, False, indent, False)}:{self.value(item, indent)}')
        return ''.join(out)

    def item(self, item, indent):
        """An entry of a list; a mapping may begin on the line of its dash."""
        if isinstance(item, dict) and item and self.rng.random() < 0.7:
            step = self.rng.randint(1, 3)
            return ' ' * step + self.block(item, indent + 1 + step).lstrip(' ')
        deeper = indent + self.rng.randint(1, 3)
        if isinstance(item, (dict, list)) and item:
            return self.blank() + '\n' + self.block(item, deeper)
        return self.value(item, indent)

    def document(self, value):
        head = self.rng.choice(['', '', '# kubeconfig\n', '---\n', '%YAML 1.1\n---\n', '\n\n'])
        text = head + (self.block(value, 0) if self.rng.random() < 0.9 else self.flow(value) + '\n')
        return text + self.rng.choice(['', '', '', '...\n', '# end\n'])


# ---- kubeconfigs ----

def some_text(rng):
    return rng.choice(TEXTS)


def some_user(rng):
    user = {}
    way = rng.choice(['token', 'basic', 'cert', 'exec', 'file', 'none'])
    if way == 'token':
        user['token'] = rng.choice(['abc.def', 'x', '1.50', 'true', 'no', '123', '-', 'a:b', 'a#b', '&a', '*a', '!a', '%a', '{a}'])
    elif way == 'basic':
        user |= {'username': rng.choice(['me', 'true', '007']), 'password': some_text(rng)}
    elif way == 'cert':
        user |= {'client-certificate-data': base64.b64encode(b'the cert').decode(),
                 'client-key-data': base64.b64encode(b'the key').decode()}
    elif way == 'file':
        user['tokenFile'] = '/var/run/token'
    elif way == 'exec':
        user['exec'] = {'apiVersion': API + 'v1beta1', 'command': 'get-token', 'args': [some_text(rng) for _ in range(3)],
                        'env': [{'name': 'A', 'value': some_text(rng)}], 'provideClusterInfo': rng.random() < 0.5}
    if rng.random() < 0.3:
        user |= {'as': 'jane', 'as-groups': ['dev', 'ops team'], 'as-user-extra': {'scope': ['a', 'b']}}
    if rng.random() < 0.3:
        user['unknown'] = {'deep': [some_text(rng), {some_text(rng).strip() or 'k': [None, True, []]}]}
    return user


def some_kubeconfig(rng):
    names = rng.sample(['a', 'prod', 'true', '1', 'arn:aws:eks:eu:1:cluster/x', 'me@x', 'ä'], 3)
    cluster = {'server': rng.choice(['https://h', 'https://10.0.0.1:6443', 'https://[::1]:6443/k8s'])}
    if rng.random() < 0.5:
        cluster['certificate-authority-data'] = base64.b64encode(b'the ca\n').decode()
    elif rng.random() < 0.5:
        cluster['insecure-skip-tls-verify'] = rng.random() < 0.5
    if rng.random() < 0.3:
        cluster |= {'tls-server-name': 'kubernetes', 'disable-compression': True, 'proxy-url': 'http://me:pw@p:3128'}
    if rng.random() < 0.3:
        cluster['extensions'] = [{'name': 'x', 'extension': {some_text(rng): some_text(rng)}}]
    whole = {'apiVersion': 'v1', 'kind': 'Config', 'preferences': {}, 'current-context': names[0],
             'contexts': [{'name': names[0], 'context': {'cluster': names[1], 'user': names[2]}}],
             'clusters': [{'name': names[1], 'cluster': cluster}, {'name': 'other', 'cluster': None}],
             'users': [{'name': 'other'}, {'name': names[2], 'user': some_user(rng)}]}
    if rng.random() < 0.5:
        whole['contexts'][0]['context']['namespace'] = rng.choice(['shop', 'no', '1'])
    items = list(whole.items())
    rng.shuffle(items)
    return dict(items)


def resolved(whole):
    """What informerd must make of it."""
    def entry(where, name):
        key = where[:-1]
        return next(e.get(key) for e in whole[where] if e['name'] == name) or {}
    context = entry('contexts', whole['current-context'])
    cluster, user = entry('clusters', context['cluster']), entry('users', context['user'])
    data = {name: base64.b64decode(value).decode() for name, value in (cluster | user).items() if name.endswith('-data')}
    login = 'username' in user and f'{user["username"]}:{user["password"]}'
    exec_ = user.get('exec', {})
    found = {
        'context': whole['current-context'], 'cluster': context['cluster'], 'user': context['user'],
        'server': cluster['server'], 'namespace': context.get('namespace', 'default'),
        'tls_server_name': cluster.get('tls-server-name'), 'ca': data.get('certificate-authority-data'),
        'cert': data.get('client-certificate-data'), 'key': data.get('client-key-data'), 'token': user.get('token'),
        'token_file': user.get('tokenFile'), 'basic': base64.b64encode(login.encode()).decode() if login else None,
        'proxy': cluster.get('proxy-url'), 'insecure': bool(cluster.get('insecure-skip-tls-verify')),
        'no_compression': bool(cluster.get('disable-compression')), 'exec_version': exec_.get('apiVersion'),
        'impersonate': [['Impersonate-User', 'jane'], ['Impersonate-Group', 'dev'], ['Impersonate-Group', 'ops team'],
                        ['Impersonate-Extra-scope', 'a'], ['Impersonate-Extra-scope', 'b']] if 'as' in user else [],
        'argv': [exec_['command'], *exec_['args']] if exec_ else None,
        'env': [f'{e["name"]}={e["value"]}' for e in exec_['env']] if exec_ else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def mutate(text, rng):
    signs = list('{}[]",\':#&*!|>%@`?-\\ \n\t<=~') + ['\n  ', ': ', ' #', '- ', '\x00', '\x7f', '\r\n', '<<: ', '---\n', 'ä']
    for _ in range(rng.randint(1, 3)):
        at, length = rng.randrange(len(text)), rng.randint(0, 3)
        text = text[:at] + rng.choice(signs + ['']) + text[at + length:]
    return text


def encode(text, rng):
    text = text.replace('\n', '\r\n') if rng.random() < 0.1 else text
    way = rng.random()
    if way < 0.05:
        return b'\xff\xfe' + text.encode('utf-16-le')
    if way < 0.1:
        return b'\xfe\xff' + text.encode('utf-16-be')
    return (b'\xef\xbb\xbf' if way < 0.15 else b'') + text.encode()


# ---- what is read ----

class Unsupported(Exception):
    """Good YAML that informerd refuses by design."""


def scalar_tree(at, plain, text):
    """Where nothing is written, places are not compared: they are somewhere before what comes next."""
    return {'plain': plain, 'text': text} | ({'at': at} if text or not plain else {})


def tree_of(node):
    """As read_kubeconfig prints it."""
    at = [node.start_mark.line + 1, node.start_mark.column + 1]
    if isinstance(node, yaml.ScalarNode):
        return scalar_tree(at, node.style is None, node.value)
    if isinstance(node, yaml.SequenceNode):
        return {'at': at, 'list': [tree_of(n) for n in node.value]}
    keys = [k.value if isinstance(k, yaml.ScalarNode) else None for k, _ in node.value]
    if None in keys or len(set(keys)) != len(keys):
        raise Unsupported
    if any(k.value == '<<' and k.style is None for k, _ in node.value):
        raise Unsupported
    return {'at': at, 'map': [[tree_of(k), tree_of(v)] for k, v in node.value]}


def check_events(data):
    """Anchors, aliases, tags and NULs are refused."""
    for event in yaml.parse(data, Loader=yaml.SafeLoader):
        if getattr(event, 'anchor', None) or getattr(event, 'tag', None):
            raise Unsupported
        if isinstance(event, yaml.ScalarEvent) and '\0' in event.value:
            raise Unsupported


def peer_reads(data):
    """(tree, '') as PyYAML finds it; or (None, why) if it refuses the file, or informerd should."""
    try:
        check_events(data)
        node = yaml.compose(data, Loader=yaml.SafeLoader)
        return (tree_of(node) if node else scalar_tree([1, 1], True, '')), ''
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        return None, str(error)
    except Unsupported:
        return None, 'informerd does not support it'


def values_of(tree):
    if 'text' in tree:
        text = tree['text']
        if tree['plain'] and text in NULLS:
            return None
        return WORDS.get(text.lower(), text) if tree['plain'] else text
    if 'list' in tree:
        return [values_of(t) for t in tree['list']]
    return {k['text']: values_of(v) for k, v in tree['map']}


def our_tree(tree):
    if tree is None or 'text' in tree:
        return tree and scalar_tree(tree['at'], tree['plain'], tree['text'])
    if 'list' in tree:
        return tree | {'list': [our_tree(t) for t in tree['list']]}
    return tree | {'map': [[our_tree(k), our_tree(v)] for k, v in tree['map']]}


def judge(data, whole, ours):
    """What is wrong with how a file was read; None if nothing is."""
    (theirs, why), tree, error = peer_reads(data), our_tree(ours.get('tree')), ours.get('error', '')
    if (theirs is None) != (tree is None) and not (whole is None and KNOWN.search(why + error)):
        return f'PyYAML: {why or "accepts it"}\ninformerd: {error or "accepts it"}'
    if whole and tree is None:
        return f'both refuse a good file: {error}'
    if theirs and tree and theirs != tree:
        return f'PyYAML finds {theirs}\ninformerd finds {tree}'
    if whole is None:
        return None
    if values_of(tree) != whole:
        return f'written was {whole}\nread was {values_of(tree)}'
    config = dict(ours.get('config', {}))
    config.pop('extension', None)
    if config != resolved(whole):
        return f'{ours.get("refused", "")}\nexpected {resolved(whole)}\nresolved {config}'
    return None


def main():
    reader, count, seed = sys.argv[1], int((sys.argv[2:] or [COUNT])[0]), int((sys.argv[3:] or [SEED])[0])
    rng, wrong, files = random.Random(seed), 0, []
    with tempfile.TemporaryDirectory(prefix='compare.') as folder:
        for i in range(count):
            whole = some_kubeconfig(rng)
            text = Writer(rng).document(whole)
            if i % 3 == 2:
                whole, text = None, mutate(text, rng)
            path = Path(folder, f'{i}')
            path.write_bytes(encode(text, rng))
            files.append((path, whole))
        output = subprocess.run([reader, *(path for path, _ in files)], check=True, capture_output=True, text=True).stdout
        lines = output.splitlines()
        if len(lines) != count:
            sys.exit(f'{reader} printed {len(lines)} lines for {count} files')
        for (path, whole), line in zip(files, lines):
            problem = judge(path.read_bytes(), whole, json.loads(line))
            if problem:
                wrong += 1
                print(f'--- file {path.name} of seed {seed}:\n{path.read_bytes()!r}\n{problem}')
    print(f'{count} files, {wrong} read differently')
    return 1 if wrong else 0


sys.exit(main())
