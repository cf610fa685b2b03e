"""Builds the peers (client-go, kube-rs) from peers/ into a cache directory, once.

A build is named by a hash of its sources and of the version of the toolchain. A peer that can't be built is reported as
missing, with the reason.
"""
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / 'peers'
COMMANDS = {  # command for the version, build command for a copy of the sources, path of the program
    'client-go': (['go', 'version'],
                  ['go', 'build', '-trimpath', '-buildvcs=false', '-o', 'client-go', '.'],
                  'client-go'),
    'kube-rs': (['cargo', '--version'],
                ['cargo', 'build', '--release', '--target-dir', 'target'],
                'target/release/kube-rs'),
}


class Missing(Exception):
    """A peer is not available; the text is the reason."""


@functools.cache
def build(name):
    """The path of the program. Raises Missing."""
    version, command, made = COMMANDS[name]
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'informerd-bench'
    program = cache / f'{name}-{fingerprint(name, run(version, SOURCES / name))}'
    if program.exists():
        return program
    cache.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    print(f'{name}: building; the first time takes some minutes', flush=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix='building-') as work:
        shutil.copytree(SOURCES / name, work, dirs_exist_ok=True)
        run(command, work)
        (Path(work) / made).rename(program)
    print(f'{name}: built in {time.monotonic() - began:.0f} s', flush=True)
    return program


def run(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, env=os.environ | {'CGO_ENABLED': '0'},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Missing(f'{command[0]} is not installed') from None
    if done.returncode != 0:
        raise Missing(f'`{" ".join(command)}` failed: {done.stdout.strip().splitlines()[-1:]}')
    return done.stdout


def fingerprint(name, version):
    digest = hashlib.sha256(version.encode())
    for source in sorted(path for path in (SOURCES / name).rglob('*') if path.is_file()):
        digest.update(f'\n{source.relative_to(SOURCES)}\n'.encode() + source.read_bytes())
    return digest.hexdigest()[:16]
