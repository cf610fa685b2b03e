#!/usr/bin/env python3
"""test_install.py KUBESIM RECORDINGS EXAMPLE BUILD SANITIZE CC...: the files of `meson install` are sufficient to
build programs with compiler and pkg-config, shared and static, in C and C++."""
import contextlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
EXAMPLE, BUILD, SANITIZE, *CC = sys.argv[3:]
from stage import DEADLINE, clean_environment, run

# A library built with sanitizers needs their runtime in the program.
FLAGS = [] if SANITIZE == 'none' else [f'-fsanitize={SANITIZE}']
STRICT = ['-Wall', '-Wextra', '-pedantic', '-Werror']
CXX = shutil.which('clang++' if 'clang' in Path(CC[-1]).name else 'g++')


def call(*arguments, **env):
    done = subprocess.run([str(w) for w in arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=DEADLINE, env=clean_environment(**env))
    return done.returncode, done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='install.')))
        status, output = call('meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', cls.folder / 'root')
        assert status == 0, output
        (cls.pc,) = (cls.folder / 'root').rglob('informer.pc')
        (cls.headers,) = (cls.folder / 'root').rglob('include/informer')

    def flags(self, *arguments):
        """The output of pkg-config for the installation in a temporary root."""
        status, output = call('pkg-config', f'--define-variable=prefix={self.headers.parents[1]}', *arguments,
                              'informer', PKG_CONFIG_PATH=str(self.pc.parent))
        self.assertEqual(status, 0, output)
        return output.split()

    def build(self, compiler, source, name, *arguments):
        status, output = call(*compiler, source, '-o', self.folder / name, *FLAGS, *arguments)
        self.assertEqual(status, 0, output)
        return self.folder / name

    def assert_runs(self, program):
        """The program finds its library, and reports the missing kubeconfig."""
        status, output = call(program, LD_LIBRARY_PATH=str(self.pc.parents[1]), KUBECONFIG='/nonexistent')
        self.assertIn('/nonexistent', output)
        return status

    def test_installed_files(self):
        names = {p.relative_to(self.headers.parents[1]).as_posix() for p in self.headers.parents[1].rglob('*')}
        source = Path(__file__).parents[2] / 'include/informer'
        self.assertLessEqual({f'include/informer/{h.name}' for h in source.iterdir()}, names)
        for name in ('bin/informerd', 'share/man/man8/informerd.8', 'share/man/man5/informerd.conf.5',
                     'share/man/man5/informerd-events.5', 'share/man/man3/libinformer.3',
                     'share/doc/informerd/libinformer.html', 'share/informerd/integrations/informerd.lnav.json'):
            self.assertTrue(name in names or f'{name}.gz' in names, name)

    def test_shared(self):
        program = self.build([*CC, '-std=gnu11'], EXAMPLE, 'shared', *self.flags('--cflags', '--libs'))
        self.assertEqual(self.assert_runs(program), 1)

    def test_static(self):
        lone = self.folder / 'lone'
        lone.mkdir()
        shutil.copy(self.pc.parents[1] / 'libinformer.a', lone)
        libs = [w for w in self.flags('--static', '--libs') if w != f'-L{self.pc.parents[1]}']
        program = self.build([*CC, '-std=gnu11'], EXAMPLE, 'static', f'-L{lone}', *self.flags('--cflags'), *libs)
        self.assertNotIn('libinformer', call('ldd', program)[1])
        self.assertEqual(self.assert_runs(program), 1)

    def test_each_header_stands_alone(self):
        for header in sorted(self.headers.iterdir()):
            with self.subTest(header.name):
                source = self.folder / 'alone.c'
                source.write_text(f'#include <informer/{header.name}>\n')
                status, output = call(*CC, '-std=c11', *STRICT, '-fsyntax-only', source, *self.flags('--cflags'))
                self.assertEqual((status, output), (0, ''))

    def test_examples_compile_in_each_dialect(self):
        dialects = [[*CC, '-std=gnu11', *STRICT], [*CC, '-std=c11', '-D_GNU_SOURCE', *STRICT]]  # <uv.h> needs the latter
        if CXX:  # designated initializers are an extension of C++17, and leave out fields in every dialect
            dialects += [[CXX, '-x', 'c++', '-std=c++17', '-Wall', '-Wextra', '-Wno-missing-field-initializers',
                          '-Wno-c++20-designator', '-Wno-c99-extensions', '-Werror']]
        for example in sorted(Path(EXAMPLE).parent.glob('*.c')):
            for dialect in dialects:
                with self.subTest(f'{example.name}: {" ".join(dialect)}'):
                    status, output = call(*dialect, '-fsyntax-only', example, *self.flags('--cflags'))
                    self.assertEqual((status, output), (0, ''))

    @unittest.skipUnless(CXX, 'no C++ compiler')
    def test_cxx(self):
        source = self.folder / 'all.cpp'
        source.write_text(''.join(f'#include <informer/{h.name}>\n' for h in sorted(self.headers.iterdir()))
                          + Path(__file__).with_name('headers.cpp').read_text())
        for standard in ('c++11', 'c++17'):
            with self.subTest(standard):
                program = self.build([CXX, f'-std={standard}', *STRICT], source, standard,
                                     *self.flags('--cflags', '--libs'))
                self.assertEqual(self.assert_runs(program), 0)


run(__name__)
