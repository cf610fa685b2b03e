#!/usr/bin/env python3
"""layers.py ROOT: which layer may include which. The two tables define the architecture."""
import re
import sys
from fnmatch import fnmatch

from style import Rule, code, files

# layer: our layers that it may include besides itself. Every layer may include informer/error.h.
OURS = {
    'base': [],
    'seam': ['base'],
    'core': ['base', 'seam', 'informer'],
    'wire': ['base', 'seam'],
    'kube': ['base', 'seam', 'core', 'wire', 'informer'],
    'loop': ['base', 'seam'],
    'lib': ['base', 'seam', 'core', 'wire', 'kube', 'loop', 'informer'],
    'daemon': ['base', 'seam', 'wire', 'loop', 'informer'],  # uses only the public API of the library
    'ctl': ['base', 'wire', 'daemon', 'informer'],  # of the daemon: the command line and the formats
    'kafka': ['base', 'ctl', 'daemon', 'informer'],  # of ctl: requests to the daemon; of the daemon: the command line
}

# header of a dependency: the files that may include it.
THEIRS = {
    'uv.h': ['src/loop/*', 'src/daemon/*', 'src/ctl/*'],
    'openssl/*': ['src/wire/tls/tls*.c'],
    'llhttp.h': ['src/wire/http/http_*parser.c', 'src/wire/http/http_head_parser.h'],
    'zlib.h': ['src/wire/http/gunzip.c', 'src/wire/http/gzip.c', 'src/base/checksum.c'],
    'zstd.h': ['src/core/object/text_packer.c'],
    'zdict.h': ['src/core/object/text_packer.c'],
    'yaml.h': ['src/base/text/yaml.c'],
    'immintrin.h': ['src/base/json/json_block.h'],  # the compiler's
    'librdkafka/*': ['src/kafka/*'],
    'yyjson.h': ['src/core/object/object*.c', 'src/core/diff/diff.c', 'src/core/object/path.c', 'src/kube/*'],
}

# The C library and the kernel, without threads.
LIBC = {'sys/*', 'net/*', 'netinet/*', 'arpa/*', 'linux/*'} | {f'{name}.h' for name in '''
    assert ctype dirent endian errno fcntl float fnmatch getopt glob grp inttypes langinfo limits locale malloc math netdb
    poll pwd regex sched setjmp signal spawn stdalign stdarg stdbool stddef stdint stdio stdlib stdnoreturn string strings
    sysexits syslog termios time ucontext unistd wchar'''.split()}

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def matches(name, patterns):
    return any(fnmatch(name, pattern) for pattern in patterns)


def violation(path, bracket, header):
    """Why the file at path (relative to the root) may not include the header; None if it may."""
    public = path.startswith('include/')
    if bracket == '<':
        if matches(header, LIBC):
            return None
        if public:
            return f'<{header}>: a public header may include only libc; forward-declare the type'
        for theirs, places in THEIRS.items():
            if fnmatch(header, theirs):
                return None if matches(path, places) else f'<{header}> may be included only by {", ".join(places)}'
        return f'<{header}> is neither libc nor a dependency'
    if public:
        return None if header.startswith('informer/') else f'"{header}": a public header may use informer/ only'
    layer = path.split('/')[1]
    to, slash, _ = header.partition('/')
    if not slash or to not in [*OURS, 'informer']:
        here = path.removeprefix('src/').rpartition('/')[0]
        return f'"{header}": write it with its directory, as in "{here}/{header}"'
    if header == 'informer/error.h' or to in [layer, *OURS[layer]]:
        return None
    return f'"{header}": {layer} may include {", ".join([layer, *OURS[layer]])}, not {to}'


rule = Rule(sys.argv[1], 'a file includes its own layer and lower ones; each dependency is included only where it is listed.',
            'move the code, or use an interface in seam/; the tables are in test/style/layers.py.')
for file in files(rule.root, 'src/**/*.[ch]', 'include/**/*.h'):
    path = file.relative_to(rule.root).as_posix()
    if path.startswith('src/') and path.split('/')[1] not in OURS:
        rule.broken(file, 1, f'{path.split("/")[1]} is not a layer: {", ".join(OURS)}')
        continue
    for number, line in enumerate(code(file, strings=True), 1):
        include = INCLUDE.match(line)
        why = include and violation(path, *include.groups())
        if why:
            rule.broken(file, number, why)
rule.verdict()
