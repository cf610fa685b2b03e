#!/usr/bin/env python3
"""threads.py ROOT: one loop, one thread: no threads, locks or atomics.

Exceptions: the queues that are shared with the kernel are read and written with memory barriers; so is the word in which
the kernel reports that a new process no longer uses our memory. One file runs pure functions on private memory on libuv's
pool.
"""
import re
import sys

from style import Rule, code, files

WORDS = re.compile(r'''\b(
    pthread_\w+ | thrd_\w+ | mtx_\w+ | cnd_\w+ | tss_\w+ | call_once | sem_(init|open|wait|post)\w* |
    uv_(mutex|rwlock|sem|cond|barrier|thread|key|once|queue_work)\w* |
    _Atomic | _Thread_local | __thread | (__)?atomic_\w+ | __sync_\w+ | (stdatomic|threads|pthread|semaphore)\.h
)\b''', re.VERBOSE)

ALLOWED = {'src/loop/disk_ring.c': re.compile(r'__atomic_(load|store)_n$'),
           'src/loop/disk_read.c': re.compile(r'uv_queue_work$'),
           'src/loop/spawn.c': re.compile(r'__atomic_load_n$')}

rule = Rule(sys.argv[1], 'there is one thread: no threads, locks or atomics.',
            'do the work in budgeted slices on the loop (loop/loop.h), or in a child process.')
for file in files(rule.root, 'src/**/*.[ch]', 'include/**/*.h'):
    for number, line in enumerate(code(file), 1):
        for word in WORDS.finditer(line):
            allowed = ALLOWED.get(str(file.relative_to(rule.root)))
            if not allowed or not allowed.match(word[0]):
                rule.broken(file, number, word[0])
rule.verdict()
