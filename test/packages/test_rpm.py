#!/usr/bin/env python3
"""test_rpm.py: rpmbuild makes source and binary packages of the tarball of `make dist`, in the chroot of `make deb`.

fedora.macros stands for what Fedora defines. Prints results as TAP.
"""
import subprocess
import sys
import unittest

from machine import deb, trixie

sys.path.insert(0, str(deb.SOURCE / 'test/lib'))
from harness import run  # noqa: E402

EXPECTED = {  # package: a file of it
    'informerd': '/usr/bin/kubectl-informer', 'informerd-kafka': '/usr/bin/informerd-kafka', 'libinformer': '/usr/lib64/libinformer.so.1',
    'libinformer-devel': '/usr/include/informer/informer.h', 'libinformer-static': '/usr/lib64/libinformer.a',
}


class Rpm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = trixie.Root(deb.build_image(), 'rpm')
        cls.root.mount_kernel()
        cls.root.bind(trixie.CACHE / 'ccache', '/ccache')
        build = cls.root.path / 'build'
        build.mkdir()
        packed = subprocess.run([deb.SOURCE / 'conf/dist.sh', build], check=True, capture_output=True, text=True).stdout
        (cls.root.path / 'root/.rpmmacros').write_text((deb.SOURCE / 'test/packages/fedora.macros').read_text())
        (build / 'rpmlintrc').write_text((deb.SOURCE / 'conf/rpm/informerd.rpmlintrc').read_text())
        cls.built = cls.run_inside('rpmbuild', '-ta', '--nodeps', '--nocheck', f'/build/{packed.strip().rsplit("/", 1)[1]}')

    @classmethod
    def run_inside(cls, *command):
        environment = {'PATH': '/usr/lib/ccache:' + trixie.ENVIRONMENT['PATH'], 'CCACHE_DIR': '/ccache'}
        return cls.root.run(*command, check=False, environment=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def packages(self, kind):
        return [path for path in (self.root.path / 'root/rpmbuild' / kind).rglob('*.rpm') if 'debug' not in path.name]

    def query(self, package, *what):
        return self.run_inside('rpm', '-qp', *what, f'/{package.relative_to(self.root.path)}').stdout

    def test_the_packages_are_built(self):
        self.assertEqual(self.built.returncode, 0, self.built.stdout[-3000:])
        found = {self.query(p, '--qf', '%{NAME}').strip(): self.query(p, '-l').splitlines() for p in self.packages('RPMS')}
        self.assertEqual(set(found), set(EXPECTED))
        for name, file in EXPECTED.items():
            self.assertIn(file, found[name])
        files = [file for listing in found.values() for file in listing if 'licenses' not in file and '.build-id' not in file]
        self.assertEqual(len(files), len(set(files)))

    def test_an_edited_configuration_is_kept(self):
        package = next(p for p in self.packages('RPMS') if p.name.startswith('informerd-1'))
        lines = self.query(package, '--qf', '[%{FILENAMES} %{FILEFLAGS:fflags}\n]').splitlines()
        flags = dict(line.split() for line in lines if ' c' in line)
        self.assertEqual(flags, {'/etc/informerd/informerd.conf': 'cn', '/etc/logrotate.d/informerd': 'cn'})

    def test_rpmlint_accepts_the_source(self):
        source, = self.packages('SRPMS')
        lint = self.run_inside('rpmlint', '-r', '/build/rpmlintrc', f'/{source.relative_to(self.root.path)}')
        self.assertRegex(lint.stdout, r'\b0 errors, 0 warnings\b')


try:
    trixie.enter_namespaces()
    deb.build_image().make()
except trixie.Failure as failure:
    sys.exit(f'test_rpm.py: {failure}')
run(__name__)
