#!/usr/bin/env python3
"""test_packaging.py BUILD SOURCE LIBRARY: what can be checked of packages without building them. Prints results as TAP.

The tarball of conf/dist.sh is reproducible, and the files in conf/debian and conf/rpm fit this version of the source: its
numbers, the files that it installs, and the functions of the shared library. `make packages-test` builds and installs packages.
"""
import fnmatch
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))
from harness import DEADLINE, run

BUILD, SOURCE, LIBRARY = (Path(argument).resolve() for argument in sys.argv[1:4])
DEBIAN, SPEC = SOURCE / 'conf/debian', SOURCE / 'conf/rpm/informerd.spec'
MACROS = {'_bindir': 'usr/bin', '_libdir': 'usr/lib/*', '_includedir': 'usr/include', '_datadir': 'usr/share', '_docdir': 'usr/share/doc',
          '_mandir': 'usr/share/man', '_sysconfdir': 'etc', '_unitdir': 'usr/lib/systemd/system', '_sysusersdir': 'usr/lib/sysusers.d',
          '_tmpfilesdir': 'usr/lib/tmpfiles.d'}


def first(pattern, path):
    return re.search(pattern, path.read_text(), re.MULTILINE)[1]


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE, **options).stdout


VERSION = first(r"^  version: '([^']*)'", SOURCE / 'meson.build')
SOVERSION = first(r"soversion: '(\d+)'", SOURCE / 'src/meson.build')


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='test_packaging.')
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


@unittest.skipUnless(shutil.which('git') and (SOURCE / '.git').exists(), 'the source is not a clone')
class Tarball(Folder):
    def packed(self, name, mask, **environment):
        """The tarball of a fresh clone, which is made with other settings each time."""
        clone, out = self.folder / name, self.folder / f'{name}.out'
        output('git', 'clone', '-q', SOURCE, clone, umask=mask)
        shutil.copy(SOURCE / 'conf/dist.sh', clone / 'conf')  # also before it is committed
        packed = output(clone / 'conf/dist.sh', out, umask=mask, env={**os.environ, **environment}, text=True).strip()
        self.assertEqual(packed, f'{out}/informerd-{VERSION}.tar.gz')
        return Path(packed).read_bytes()

    def test_two_clones_give_the_same_bytes(self):
        settings = self.folder / 'gitconfig'
        settings.write_text('[tar]\n\tumask = 0\n[core]\n\tautocrlf = true\n')
        one = self.packed('one', 0o022, TZ='UTC')
        other = self.packed('other', 0o077, TZ='Asia/Tokyo', GZIP='-1', GIT_CONFIG_GLOBAL=str(settings), LC_ALL='C.UTF-8')
        self.assertTrue(one == other)

    def test_the_tarball_has_the_commit_and_nothing_of_this_machine(self):
        text = self.packed('clone', 0o022)
        self.assertEqual(text[3:9], b'\0' * 5 + b'\x02')  # gzip: neither name nor time
        archive = tarfile.open(fileobj=io.BytesIO(gzip.decompress(text)))
        members = [m for m in archive.getmembers() if not m.isdir()]
        tracked = output('git', '-C', self.folder / 'clone', 'ls-tree', '-r', '--name-only', '-z', 'HEAD', text=True).split('\0')[:-1]
        self.assertEqual(sorted(m.name for m in members), sorted(f'informerd-{VERSION}/{name}' for name in tracked))
        time = int(output('git', '-C', self.folder / 'clone', 'log', '-1', '--format=%ct'))
        self.assertEqual({(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members}, {(time, 0, 0, 'root', 'root')})
        self.assertLessEqual({m.mode for m in members}, {0o644, 0o755, 0o777})  # 777: symbolic links


class Numbers(unittest.TestCase):
    def test_all_have_the_version_of_meson_build(self):
        self.assertEqual(first(r'\Ainformerd \((.*)-[^-]*\)', DEBIAN / 'changelog'), VERSION)
        self.assertEqual(first(r'^Version: +(\S+)$', SPEC), VERSION)
        self.assertEqual(first(r'^\* .* - (.*)-\d+$', SPEC), VERSION)

    def test_all_have_the_soversion(self):
        package = f'libinformer{SOVERSION}'
        self.assertIn(f'Package: {package}\n', (DEBIAN / 'control').read_text())
        self.assertTrue((DEBIAN / f'{package}.install').exists())
        self.assertEqual(first(r'\A(.*)$', DEBIAN / f'{package}.symbols'), f'libinformer.so.{SOVERSION} {package} #MINVER#')
        self.assertIn(f'/libinformer.so.{SOVERSION}\n', SPEC.read_text())

    def test_the_functions_of_the_library_are_listed(self):
        """A new function is a line ` NAME@Base VERSION`, with the version that has it first. One may never disappear."""
        exported = {line.split()[-1] for line in output('nm', '-D', '--defined-only', LIBRARY, text=True).splitlines()}
        listed = set(re.findall(r'^ (\w+)@Base ', (DEBIAN / f'libinformer{SOVERSION}.symbols').read_text(), re.MULTILINE))
        self.assertEqual({name for name in exported if name.startswith('inf_')}, listed)


class Files(Folder):
    def setUp(self):
        super().setUp()
        output('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', self.folder)
        self.installed = [re.sub('^usr/local', 'usr', path.relative_to(self.folder).as_posix())
                          for path in sorted(self.folder.rglob('*')) if path.is_symlink() or not path.is_dir()]
        self.assertIn('usr/bin/informerd', self.installed)

    def check(self, patterns):
        """Each installed file is in one package, and none is missing, except without librdkafka."""
        def has(pattern, name):
            return fnmatch.fnmatch(name, pattern) or name.startswith(pattern.rstrip('/') + '/')
        for name in self.installed:
            packages = {package for package, pattern in patterns if has(pattern, name)}
            self.assertEqual(len(packages), 1, f'{name} is in {packages or "no package"}')
        for package, pattern in patterns:
            if 'usr/bin/informerd-kafka' in self.installed or 'kafka' not in package:
                self.assertTrue(any(has(pattern, name) for name in self.installed), f'{package}: {pattern} matches nothing')

    def test_each_is_in_one_package_of_debian(self):
        self.check([(path.stem, line.split()[0]) for path in DEBIAN.glob('*.install') for line in path.read_text().splitlines()])

    def test_each_is_in_one_package_of_the_rpm(self):
        patterns = []
        for package, lines in re.findall(r'^%files *(.*)\n((?:[^\n]+\n)+)', SPEC.read_text(), re.MULTILINE):
            for line in lines.splitlines():
                if not re.match('%dir|%license', line):
                    path = re.sub(r'%{(\w+)}', lambda macro: MACROS[macro[1]], line.split()[-1])
                    patterns.append((package, path))
        self.check(patterns)


@unittest.skipUnless(shutil.which('rpmbuild'), 'there is no rpmbuild')
class Spec(Folder):
    def test_rpmbuild_makes_a_source_package(self):
        (self.folder / f'informerd-{VERSION}.tar.gz').touch()
        macros = [f'--define=_topdir {self.folder}', f'--define=_sourcedir {self.folder}']
        made = subprocess.run(['rpmbuild', '-bs', '--nodeps', *macros, SPEC], capture_output=True, text=True, timeout=DEADLINE,
                              env={**os.environ, 'HOME': str(self.folder)})
        self.assertEqual((made.returncode, 'warning:' in made.stderr), (0, False), made.stderr)
        self.assertEqual([p.name for p in self.folder.glob('SRPMS/*')], [f'informerd-{VERSION}-1.src.rpm'])


run(__name__)
