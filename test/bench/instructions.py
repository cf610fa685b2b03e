#!/usr/bin/env python3
"""instructions.py BUILD [--renew]: counts the instructions per change and per restored object, by stage, and compares them with
instructions.json.

Seconds depend on the machine and its load. The number of instructions for a fixed input is the same everywhere, for one
compiler, on a CPU with AVX2, and if the C library does not select functions by CPU. So a change that costs 5 % more is detected on any
machine. bench_event provides the input; it parses, stores, compares and writes, without TLS, so OpenSSL is not counted.
bench_state starts with saved objects.
Skipped, with the reason, without valgrind or with another compiler.

If a change is meant to cost more, or costs less, record the new numbers: make instructions ARGS=--renew
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBERS = Path(__file__).with_name('instructions.json')
COMPILER = 'gcc 12'
EVENTS, ROUNDS = 200, 2
EVENT_STAGES = ('cut', 'make_objects', 'put_objects', 'diff_objects', 'write_lines', 'level_added', 'level_changed',
                'pack_objects', 'unpack_objects')  # functions of bench_event.c
SAVED = 5000
START_STAGES = ('piece_verify', 'segment_decode_next')  # per object: on the pool, and on the loop with the store's part
STAGES = EVENT_STAGES + START_STAGES
TOLERANCE = 0.05
PLAIN_LIBC = 'glibc.cpu.hwcaps=' + ','.join(f'-{name}' for name in (
    'AVX512F', 'AVX512VL', 'AVX2', 'AVX_Fast_Unaligned_Load', 'ERMS', 'FSRM', 'SSSE3', 'SSE4_2', 'Fast_Unaligned_Copy'))


def compiler(program):
    """Name and version from the binary."""
    made = program.read_bytes()
    clang, gcc = (re.search(mark, made) for mark in (rb'clang version (\d+)', rb'GCC: \(.*?\) (\d+)'))
    return f'clang {clang[1].decode()}' if clang else f'gcc {gcc[1].decode()}' if gcc else 'an unknown compiler'


def count(program, stages, divisor, *arguments):
    """{stage: instructions per event or object}."""
    with tempfile.NamedTemporaryFile(prefix='callgrind-') as out:
        callgrind = ['valgrind', '-q', '--tool=callgrind', f'--callgrind-out-file={out.name}']
        subprocess.run([*callgrind, program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {'GLIBC_TUNABLES': PLAIN_LIBC})
        output = subprocess.run(['callgrind_annotate', '--inclusive=yes', '--threshold=100', out.name],
                              check=True, capture_output=True, text=True).stdout
    found = {}
    for instructions, function in re.findall(r'^\s*([\d,]+) .*?:(\w+)(?:\'\d+)?(?: \[.*\])?$', output, re.MULTILINE):
        if function in stages:
            found.setdefault(function, round(int(instructions.replace(',', '')) / divisor))
    return {stage: found[stage] for stage in stages}


def count_start(program):
    with tempfile.TemporaryDirectory(prefix='saved-') as folder:
        subprocess.run([program, 'save', folder, str(SAVED)], check=True, stdout=subprocess.DEVNULL)
        return count(program, START_STAGES, SAVED, 'start', folder)


def compare(found, known):
    worse = [stage for stage in STAGES if found[stage] > known[stage] * (1 + TOLERANCE)]
    better = [stage for stage in STAGES if found[stage] < known[stage] * (1 - TOLERANCE)]
    for stage in STAGES:
        change, word = found[stage] / known[stage] - 1, '  TOO MANY' if stage in worse else ''
        print(f'  {stage:20}{found[stage]:>10,} per item, {change:+.1%} of {known[stage]:,}{word}')
    if better:
        print(f'fewer than recorded: {", ".join(better)}. Record it: make instructions ARGS=--renew')
    return not worse


def main():
    program = Path(sys.argv[1]) / 'test' / 'bench' / 'bench_event'
    why = None
    if not shutil.which('valgrind'):
        why = 'valgrind is not installed'
    elif compiler(program) != COMPILER:
        why = f'built with {compiler(program)}, but the numbers were recorded with {COMPILER}'
    elif 'avx2' not in Path('/proc/cpuinfo').read_text():
        why = 'this CPU lacks AVX2, for which base/json has functions of its own'
    if why:
        print(f'instructions: skipped: {why}')
        return 0
    found = count(program, EVENT_STAGES, EVENTS * (ROUNDS + 1), EVENTS, ROUNDS)
    found |= count_start(program.with_name('bench_state'))
    if '--renew' in sys.argv:
        NUMBERS.write_text(json.dumps(found, indent=1) + '\n')
    return 0 if compare(found, json.loads(NUMBERS.read_text())) else 1


sys.exit(main())
