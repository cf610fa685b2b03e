#!/usr/bin/env python3
"""Build the Debian packages of the last commit, in Debian 13.

The source is what `make dist` packs, with conf/debian copied to its top. It is compiled in a chroot that is made
once from the machine's own Debian mirror and kept in ~/.cache/informerd-trixie, with a compiler cache beside it.
lintian checks the result; a warning fails the build. Needs root, and network only the first time.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import trixie

SOURCE = Path(__file__).resolve().parents[2]
TOOLS = ('ccache', 'lintian', 'rpm', 'rpmlint')  # the last two for test/packages


def build_dependencies():
    """The names in Build-Depends, without versions."""
    field = re.search(r'^Build-Depends:\n((?: .*\n)+)', (SOURCE / 'conf/debian/control').read_text(), re.M)[1]
    names = re.findall(r'^ ([\w.+-]+)', field, re.M)
    return ['debhelper' if re.match('debhelper-compat|dh-sequence-', name) else name for name in names]


def build_image():
    return trixie.Image('build', 'buildd', {*build_dependencies(), *TOOLS})


def build(out, version=None, tests=False, lintian=True, edit=None, log=None):
    """Writes the packages to `out`. `version` replaces that of meson.build; `edit` may change the unpacked source.

    `log` gets what dpkg-buildpackage prints.
    """
    root = trixie.Root(build_image(), f'build-{version or "current"}')
    root.mount_kernel()
    cache = trixie.CACHE / 'ccache'
    cache.mkdir(exist_ok=True)
    root.bind(cache, '/ccache')
    tree = unpack(root.path / 'build', version, edit)
    options = f'parallel={os.cpu_count()}' + ('' if tests else ' nocheck')
    environment = {'PATH': '/usr/lib/ccache:' + trixie.ENVIRONMENT['PATH'], 'CCACHE_DIR': '/ccache', 'DEB_BUILD_OPTIONS': options}
    root.run('dpkg-buildpackage', '-us', '-uc', environment=environment, cwd=f'/build/{tree.name}', stdout=log, stderr=log)
    changes = next(tree.parent.glob('*_*.changes'))
    if lintian:
        root.run('lintian', '--allow-root', '--info', '--display-info', '--fail-on', 'error,warning,info', f'/build/{changes.name}')
    shutil.rmtree(tree)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob('*.deb'):  # of another version
        old.unlink()
    for file in tree.parent.iterdir():
        shutil.copy(file, out)


def unpack(folder, version, edit):
    """The source with its packaging, below `folder`, beside the tarball under the name that dpkg-source expects."""
    folder.mkdir()
    packed = subprocess.run([SOURCE / 'conf/dist.sh', folder], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(['tar', '-xf', packed, '-C', folder, '--no-same-owner'], check=True)
    tree = next(path for path in folder.iterdir() if path.is_dir())
    if version or edit:
        tree = changed(tree, version, edit)
        Path(packed).unlink()
        packed = f'{tree}.tar.gz'
        subprocess.run(['tar', '-czf', packed, '-C', folder, tree.name], check=True)
    name, number = tree.name.rsplit('-', 1)
    Path(packed).rename(folder / f'{name}_{number}.orig.tar.gz')
    shutil.copytree(tree / 'conf/debian', tree / 'debian')
    return tree


def changed(tree, version, edit):
    """The source with another version."""
    for name, pattern in {'meson.build': r"(?<=\n  version: ')[^']*", 'conf/debian/changelog': r'(?<=\()[^-]*'}.items():
        file = tree / name
        file.write_text(re.sub(pattern, version, file.read_text(), count=1))
    if edit:
        edit(tree)
    return tree.rename(tree.with_name(f'informerd-{version}'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', type=Path, metavar='FOLDER', help='directory for the packages')
    parser.add_argument('--tests', action='store_true', help='also run the tests of debian/rules, which takes some minutes')
    args = parser.parse_args()
    try:
        trixie.enter_namespaces()
        build(args.out.absolute(), tests=args.tests)
    except trixie.Failure as failure:
        sys.exit(f'deb.py: {failure}')
    except subprocess.CalledProcessError as failed:
        sys.exit(f'deb.py: {failed}')


if __name__ == '__main__':
    main()
