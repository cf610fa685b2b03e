#!/usr/bin/env python3
"""Every engine that is wrong on purpose must be caught by the random test:  mutants.py PROGRAM SOURCE-DIRECTORY [PREFIX]

The mutants are the MUTANT("...") of the sources, so a new one is tried as soon as it is written. Those whose name starts
with a prefix of PREFIXES belong to the test with that prefix, all others to the test without one.
"""
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SEEDS = '400'
PREFIXES = ('state: ',)


def play(program, seeds, mutant):
    return subprocess.run([program, seeds], env=os.environ | {'INFORMER_MUTANT': mutant}, capture_output=True, text=True)


def main():
    program, source, *prefix = sys.argv[1:]
    texts = [path.read_text() for path in sorted(Path(source).rglob('*.[ch]'))]
    names = sorted({name for text in texts for name in re.findall(r'MUTANT\("([^"]+)"\)', text)})
    names = [name for name in names if name.startswith(tuple(prefix) or PREFIXES) == bool(prefix)]
    print(f'1..{len(names) + 1}', flush=True)
    alive = play(program, '20', '')
    print('ok' if alive.returncode == 0 else 'not ok', '- no mutant: lives', alive.stderr.strip(), flush=True)
    survivors = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda name: play(program, SEEDS, name), names)
        for name, run in zip(names, runs):
            killed = run.returncode != 0
            survivors += not killed
            last = (run.stderr.strip().splitlines() or [f'survived {SEEDS} seeds'])[0]
            print('ok' if killed else 'not ok', f'- {name}: {last}', flush=True)
    return 1 if survivors or alive.returncode else 0


sys.exit(main())
