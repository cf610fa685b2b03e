"""A start of the library with saved objects: how long until reads are served, with a warm and a cold page cache.

bench_state saves the objects in one process and loads and restores them in another one. Dropping the files from the page
cache needs no privileges: posix_fadvise(2).
"""
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

PODS, CHANGES, ROUNDS = 100_000, 5000, 5


def run(program, *arguments):
    return json.loads(subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout)


def forget_pages(folder):
    for path in folder.iterdir():
        with open(path, 'rb') as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(tools, pods=PODS, rounds=ROUNDS):
    """The figures, in seconds and bytes."""
    with tempfile.TemporaryDirectory(prefix='informerd-start-') as name:
        folder = Path(name) / 'state'
        saved = run(tools / 'bench_state', 'save', folder, pods, CHANGES)
        warm = [run(tools / 'bench_state', 'start', folder) for _ in range(rounds)]
        cold = []
        for _ in range(rounds):
            forget_pages(folder)
            cold.append(run(tools / 'bench_state', 'start', folder))

    def middle(starts, figure, one=1):
        return statistics.median(start[figure] for start in starts) * one
    return {'start_warm': middle(warm, 'served_ms', 1e-3), 'start_cold': middle(cold, 'served_ms', 1e-3),
            'start_loaded': middle(warm, 'loaded_ms', 1e-3), 'start_cpu': middle(warm, 'served_cpu_ms', 1e-3) / pods,
            'start_peak': middle(warm, 'peak'), 'start_rss': middle(warm, 'rss'),
            'tick': max(start['worst_tick_ms'] for start in warm + cold) * 1e-3, 'written': saved['written_per_change']}
