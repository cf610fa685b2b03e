#!/usr/bin/env python3
"""run.py BUILDDIR SECONDS [TARGET...]: run the coverage-guided fuzzers one after the other, SECONDS each.

`make fuzz` calls it. Without a TARGET every target runs. A target starts from its corpus in test/fuzz/corpus and from
what earlier runs kept in BUILDDIR/fuzz/TARGET; nothing is written to the source tree. One line per target reports the
result, and the fuzzer's full output is in BUILDDIR/fuzz/TARGET.log. An input that breaks a target is saved as
BUILDDIR/fuzz/TARGET-crash-HASH (or -leak-, -oom-, -timeout-): minimise it, give it a descriptive name and add it to the
corpus. The remaining targets still run; the exit status is then 1.
"""
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUT_SECONDS = 10  # an input that takes longer is a finding
MEMORY_MB = 2048    # as is one that takes more memory
GRACE = 60          # for start and end, beyond the time given


def all_targets():
    return sorted(file.stem.removeprefix('fuzz_') for file in HERE.glob('fuzz_*.c'))


def build(directory, targets):
    programs = [f'test/fuzz/libfuzzer_{name}' for name in targets]
    return subprocess.run(['ninja', '-C', directory, *programs], stdout=sys.stderr).returncode


def run(directory, name, seconds):
    """Runs one target. Returns its output and exit status; None if it had to be killed."""
    kept = directory / 'fuzz' / name
    kept.mkdir(parents=True, exist_ok=True)
    command = [directory / 'test' / 'fuzz' / f'libfuzzer_{name}', f'-max_total_time={seconds}', '-print_final_stats=1',
               f'-timeout={INPUT_SECONDS}', f'-rss_limit_mb={MEMORY_MB}', f'-artifact_prefix={kept}-',
               kept, HERE / 'corpus' / name]
    log = Path(f'{kept}.log')
    with log.open('wb') as output:
        try:
            status = subprocess.run(command, stdout=output, stderr=output, timeout=seconds + GRACE).returncode
        except subprocess.TimeoutExpired:
            status = None
    return log.read_text(errors='replace'), status


def number(text, pattern):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def verdict(text, status):
    if status is None:
        return 'did not end in time'
    if status == 0:
        return 'clean'
    saved = re.findall(r'Test unit written to (\S+)', text)
    return f'FAILED with status {status}' + (f', input saved as {saved[-1]}' if saved else '')


def main():
    directory, seconds, *targets = sys.argv[1:]
    directory, seconds, targets = Path(directory), int(seconds), targets or all_targets()
    failed = 0
    unknown = set(targets) - set(all_targets())
    if unknown:
        sys.exit(f'run.py: unknown target {", ".join(sorted(unknown))}; there are {", ".join(all_targets())}')
    if build(directory, targets):
        return 1
    for name in targets:
        text, status = run(directory, name, seconds)
        failed += status != 0
        print(f'{name}: {verdict(text, status)}; {number(text, r"executed_units: ([0-9]+)"):,} executions, '
              f'{number(text, r" cov: ([0-9]+)")} edges, corpus {number(text, r" corp: ([0-9]+)")}', flush=True)
    print(f'{len(targets) - failed} of {len(targets)} targets clean')
    return 1 if failed else 0


sys.exit(main())
