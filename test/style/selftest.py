#!/usr/bin/env python3
"""selftest.py CC...: runs each rule on small valid and invalid trees, to show that it can fail. Prints TAP."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from style import SKIP

HERE = Path(__file__).resolve().parent
CC = sys.argv[1:]
PUBLIC = '__attribute__((visibility("default"))) '

# rule: (case, {file: text}, expected part of the output; None: the tree is valid)
CASES = {
    'layers': [
        ('a tidy tree', {'src/core/dispatch/fifo.c': '#include "core/dispatch/fifo.h"\n#include <errno.h>\n#include "base/list.h"\n',
                         'src/wire/tls/tls.c': '#include <openssl/ssl.h>\n#include "informer/error.h"\n',
                         'src/core/object/object_text.c': '#include <yyjson.h>\n',
                         'src/core/comment.c': '/*\n#include "loop/loop.h"\n*/\n',
                         'include/informer/store.h': '#include <stddef.h>\n#include "informer/object.h"\n'}, None),
        ('a layer that includes a higher one', {'src/core/dispatch/fifo.c': '\n#include "loop/loop.h"\n'},
         'src/core/dispatch/fifo.c:2: "loop/loop.h": core may include'),
        ('internals of the library in the daemon', {'src/daemon/cli/main.c': '#include "core/store/store.h"\n'}, 'not core'),
        ('libuv in the engine', {'src/core/dispatch/fifo.c': '#include <uv.h>\n'}, 'src/core/dispatch/fifo.c:1: <uv.h> may be included only by'),
        ('OpenSSL outside of tls*.c', {'src/wire/proxy/proxy.c': '#include <openssl/ssl.h>\n'}, '<openssl/ssl.h> may be included only'),
        ('an unknown library', {'src/wire/proxy/proxy.c': '#include <curl/curl.h>\n'}, 'nor a dependency'),
        ('an include without its layer', {'src/core/dispatch/fifo.c': '#include "fifo.h"\n'}, 'as in "core/dispatch/fifo.h"'),
        ('a public header that needs libuv', {'include/informer/a.h': '#include <uv.h>\n'}, 'forward-declare'),
        ('a public header that includes internals', {'include/informer/a.h': '#include "core/a.h"\n'},
         'informer/ only'),
        ('a directory that is not a layer', {'src/util/a.c': ''}, 'util is not a layer'),
    ],
    'ways': [
        ('a field with its tests', {'src/kube/config/kubeconfig_entry.c': '    {"token", FIELD_TEXT, AT(token)},\n',
                                     'test/a.c': 'static void goes(void **s)\n',
                                     'test/ways-in.md': '| `token` | test/a.c: goes | test/a.c: goes |\n'}, None),
        ('a field without a row', {'src/kube/config/kubeconfig_entry.c': '\n    {"token", FIELD_TEXT, AT(token)},\n',
                                   'test/ways-in.md': ''}, 'kubeconfig_entry.c:2: `token` is not in'),
        ('an empty cell', {'src/kube/config/kubeconfig_entry.c': '', 'test/ways-in.md': '| `token` | none: yet | |\n'},
         "ways-in.md:1: '`token`' has an empty cell"),
        ('a test that does not exist', {'src/kube/config/kubeconfig_entry.c': '', 'test/a.c': 'static void goes_on(void **s)\n',
                                 'test/ways-in.md': '| `token` | test/a.c: goes | none: yet |\n'},
         'test/a.c: goes does not exist'),
    ],
    'threads': [
        ('words in a comment and a string',
         {'src/a.c': '/* no pthread_create */ const char *s = "uv_mutex_t";\n'}, None),
        ('a lock', {'src/a.c': '\nstatic uv_mutex_t lock;\n'}, 'src/a.c:2: uv_mutex_t'),
        ('work on the pool', {'src/a.c': 'uv_queue_work(loop, &w, f, g);\n'}, 'uv_queue_work'),
        ('a barrier in the one file that may have it',
         {'src/loop/disk_ring.c': '__atomic_load_n(tail, __ATOMIC_ACQUIRE);\n'}, None),
        ('a barrier elsewhere', {'src/a.c': '__atomic_load_n(tail, 2);\n'}, 'src/a.c:1: __atomic_load_n'),
        ('another atomic in that file',
         {'src/loop/disk_ring.c': '__atomic_fetch_add(tail, 1, 2);\n'}, '__atomic_fetch_add'),
        ('a thread', {'src/a.c': 'pthread_create(&t, 0, f, 0);\n'}, 'pthread_create'),
        ('an atomic', {'src/a.h': '_Atomic int n;\n'}, 'src/a.h:1: _Atomic'),
    ],
    'globals': [
        ('constants', {'src/a.c': 'const int n = 1;\nconst char *const s[] = {"a"};\n'}, None),
        ('a counter', {'src/a.c': '\nstatic int count;\nint f(void) { return ++count; }\n'}, 'src/a.c:2: `count`'),
        ('a static local', {'src/a.c': 'int f(void)\n{\n    static int calls = 7;\n    return ++calls;\n}\n'},
         'src/a.c:3: `calls`'),
        ('a table whose pointers lack const', {'src/a.c': 'const char *names[] = {"a", "b"};\n'}, '`names`'),
        ('a global per thread', {'src/a.c': '_Thread_local int mine;\n'}, '`mine`'),
        ('nothing built', {'src/a.txt': ''}, 'nothing was checked'),
    ],
    'symbols': [
        ('one public function', {'src/a.c': PUBLIC + 'int inf_a(void) { return 1; }\nint helper(void) { return 2; }\n',
                                 'include/informer/a.h': 'int inf_a(void);\n'}, None),
        ('a helper that is exported', {'src/a.c': PUBLIC + 'int helper(void) { return 1; }\n'},
         'src/a.c:1: `helper` is exported'),
        ('an export that no header declares', {'src/a.c': PUBLIC + 'int inf_b(void) { return 1; }\n'},
         '`inf_b` is exported, but'),
    ],
    'format': [
        ('a tidy file', {'src/a.c': 'int f(void)\n{\n    return 1;\n}\n'}, None),
        ('a sloppy file', {'src/a.c': 'int a;\nint f( void ){ return 1 ;}\n'}, 'src/a.c:2: is not formatted'),
    ],
    'length': [
        ('600 lines', {'src/a.c': '\n' * 600}, None),
        ('601 lines', {'src/a.c': '\n' * 601}, 'src/a.c:601: has 601 lines'),
    ],
    'scripts': [
        ('fine scripts', {'a': '#!/bin/sh\ntrue\n', 'b.py': 'print(1)\n', 'c': '#!/bin/bash\na=(1 2)\n'}, None),
        ('a broken sh script', {'.ci/a': '#!/bin/sh\nif true; then\n'}, '.ci/a:'),
        ('a broken bash script', {'a': '#!/usr/bin/env bash\nfor x in 1; do\n'}, 'a:'),
        ('a broken python script', {'a.py': 'print(1)\ndef\n'}, 'a.py:2:'),
    ],
    'words': [
        ('names in code', {'src/a.c': '/* reports it */\nstatic int told(int anew) { return anew; }\n'}, None),
        ('a comment', {'src/a.c': 'int a;\n/* the user\n * is told */\n'}, "src/a.c:3: 'told'"),
        ('a message', {'src/a.c': 'const char a[] = "Nobody listens";\n'}, "src/a.c:1: 'Nobody'"),
        ('a document', {'README.md': '# a\n\nfor who asks\n'}, "README.md:3: 'who asks'"),
        ('names in the code of a test', {'test/unit/a.c': '/* reports it */\nstatic int told;\n'}, None),
        ('a comment of a test', {'test/unit/a.c': '\n/* lists anew */\n'}, "test/unit/a.c:2: 'anew'"),
        ('a name in a python test', {'test/cli/a.py': 'told = 1\n'}, "test/cli/a.py:1: 'told'"),
        ('reported speech', {'test/cli/a.py': 'def a():\n    said = 1\n'}, "test/cli/a.py:2: 'said'"),
        ('a flag that contains a word', {'test/cli/a.py': "A = '--kill-whom'\n"}, None),
        ('words on one line', {'src/a.c': '/* waits in vain */\n'}, "src/a.c:1: 'in vain'"),
        ('the list of words itself', {'test/style/words.py': '# told\n', 'test/style/selftest.py': '# anew\n'}, None),
        ('a file of the same name elsewhere', {'test/cli/words.py': '# told\n'}, "test/cli/words.py:1: 'told'"),
    ],
    'hosts': [  # the names are concatenated, or this file would break the rule itself
        ('examples and addresses',
         {'a': 'https://api.example.com:6443 http://127.0.0.1:1 https://[::1]/ http://www.apache.org/\n'
               'https://kubernetes.default.svc https://${HOST}/ https://%s/ registry.example.com/a:1 https://localhost:1\n'
               'base/work/a $HOME/work/ /var/lib\n'}, None),
        ('a mirror', {'a': '\nURIs: http:' + '//mirror.debian.' + 'org/debian\n'},
         'a:2: names the host mirror.debian.'),
        ('a proxy without scheme', {'a': 'GOPROXY=' + 'proxy.golang.' + 'org\n'}, 'a:1: names the host proxy.'),
        ('a path of one machine', {'a': 'cd /' + 'work/main\n'}, 'a:1: names the path'),
        ('a home', {'a': '"/' + 'home/me/src"\n'}, 'a:1: names the path'),
    ],
    'listed': [
        ('all listed', {'src/base/a.c': '', 'src/meson.build': "files('base/a.c')",
                       'test/unit/test_a.c': '', 'test/lib/sim.c': '',
                       'test/meson.build': "# let's\nunits = ['a']\nfiles('lib/sim.c')"}, None),
        ('a source that is not listed',
         {'src/base/a.c': '', 'src/meson.build': "# 'base/a.c'", 'test/meson.build': ''},
         'src/base/a.c:1: is not in src/meson.build'),
        ('a test that is not listed',
         {'test/story/story_gone.c': '', 'test/meson.build': "units = ['a']", 'src/meson.build': ''},
         "test/story/story_gone.c:1: is not in test/meson.build, as 'gone'"),
    ],
}


def compile_tree(root, rule):
    """Compiles the tree for the rules that check compiled code. Returns their additional arguments."""
    build = root / 'build'
    build.mkdir()
    if rule == 'globals':
        commands = []
        for source in root.glob('src/*.c'):
            subprocess.run([*CC, '-c', '-fPIC', '-o', build / 'a.o', source], check=True)
            commands.append({'directory': str(build), 'file': str(source), 'output': 'a.o'})
        (build / 'compile_commands.json').write_text(json.dumps(commands))
        return [build]
    if rule == 'symbols':
        flags = ['-fPIC', '-fvisibility=hidden']
        subprocess.run([*CC, *flags, '-shared', '-o', build / 'a.so', root / 'src/a.c'], check=True)
        subprocess.run([*CC, *flags, '-c', '-o', build / 'a.o', root / 'src/a.c'], check=True)
        subprocess.run(['ar', 'rc', build / 'a.a', build / 'a.o'], check=True)
        return [build / 'a.so', build / 'a.a']
    return []


def judge(rule, tree, expected):
    """None if the rule gives the expected result for the tree, else its output."""
    with tempfile.TemporaryDirectory() as root:
        root = Path(root).resolve()
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / '.clang-format').write_text((HERE.parent.parent / '.clang-format').read_text())
        run = subprocess.run([sys.executable, HERE / f'{rule}.py', root, *compile_tree(root, rule)],
                             capture_output=True, text=True)
    output = f'exit status {run.returncode}\n{run.stdout}{run.stderr}'
    if run.returncode == SKIP:
        return SKIP
    if expected is None:
        return None if run.returncode == 0 else output
    return None if run.returncode == 1 and expected in output else output


def main():
    cases = [(rule, *case) for rule, those in CASES.items() for case in those]
    failed = False
    print(f'1..{len(cases)}')
    for number, (rule, what, tree, expected) in enumerate(cases, 1):
        output = judge(rule, tree, expected)
        if output == SKIP:
            print(f'ok {number} - {rule}: {what} # SKIP')
        else:
            print(f'{"not ok" if output else "ok"} {number} - {rule}: {what}')
        if output and output != SKIP:
            failed = True
            print(*(f'# {line}' for line in output.splitlines()), sep='\n')
    return 1 if failed else 0


sys.exit(main())
