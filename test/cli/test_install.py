#!/usr/bin/env python3
"""test_install.py INFORMERD BUILD SOURCE: `meson install` of the build directory below a DESTDIR. Prints results as TAP."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from lib import DEADLINE, clean_environment, run

BUILD, SOURCE = Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
SERVICE_FILES = {  # installed file: its source
    'lib/systemd/system/informerd.service': None, 'lib/sysusers.d/informerd.conf': 'conf/informerd.sysusers',
    'lib/tmpfiles.d/informerd.conf': 'conf/informerd.tmpfiles', 'share/doc/informerd/informerd.conf': 'conf/informerd.conf',
    'share/man/man8/informerd.8': 'src/daemon/man/informerd.8',
    'share/man/man1/informerctl.1': 'src/ctl/man/informerctl.1',
    'share/man/man5/informerd-events.5': 'src/daemon/man/informerd-events.5', 'share/man/man5/informerd.conf.5': None,
    'share/bash-completion/completions/informerd': None,
    'share/zsh/site-functions/_informerd': None,
    'share/fish/vendor_completions.d/informerd.fish': None,
    'share/bash-completion/completions/informerctl': None,
    'share/zsh/site-functions/_informerctl': None,
    'share/fish/vendor_completions.d/informerctl.fish': None,
    'bin/kubectl_complete-informer': 'src/ctl/kubectl_complete-informer',
}


def introspect(build):
    return json.loads(subprocess.check_output(['meson', 'introspect', '--installed', build], timeout=DEADLINE))


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='test_install.')
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.root.chmod(0o755)

    def install(self):
        done = subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', self.root], capture_output=True,
                              text=True, timeout=DEADLINE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def informerd(self, *arguments, user=()):
        program = self.root / 'usr/local/bin/informerd'
        return subprocess.run([*user, program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=DEADLINE, cwd='/', env=clean_environment(HOME=str(self.root)))

    def test_files(self):
        self.install()
        for name, source in SERVICE_FILES.items():
            with self.subTest(name):
                text = (self.root / 'usr/local' / name).read_text()
                self.assertNotRegex(text, r'@[a-z]+@')
                if source:
                    self.assertEqual(text, (SOURCE / source).read_text())
        unit = (self.root / 'usr/local/lib/systemd/system/informerd.service').read_text()
        self.assertIn('\nExecStart=/usr/local/bin/informerd -c /etc/informerd/informerd.conf\n', unit)
        self.assertIn(' file:///usr/local/share/doc/informerd\n', unit)
        self.assertEqual((self.root / 'etc/logrotate.d/informerd').read_text(), (SOURCE / 'conf/informerd.logrotate').read_text())
        conf = self.root / 'etc/informerd/informerd.conf'
        self.assertEqual(conf.stat().st_mode & 0o777, 0o644)
        self.assertIn('\n    kubeconfig: /etc/informerd/kubeconfig ', conf.read_text())

    def test_a_changed_configuration_is_kept(self):
        conf = self.root / 'etc/informerd/informerd.conf'
        self.install()
        conf.write_text('# mine\n')
        self.install()
        self.assertEqual(conf.read_text(), '# mine\n')
        conf.unlink()
        conf.symlink_to('elsewhere')  # does not exist yet
        self.install()
        self.assertTrue(conf.is_symlink())

    def test_the_installed_program_runs_as_another_user(self):
        """The installed configuration is valid, except that its kubeconfig does not exist yet."""
        self.install()
        conf = self.root / 'etc/informerd/informerd.conf'
        user = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if os.getuid() == 0 else []
        if user and not shutil.which('setpriv'):
            self.skipTest('there is no setpriv')
        printed = self.informerd('-c', conf, '--print-config', user=user)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn('- path: /var/log/informerd/events.jsonl', printed.stdout)
        checked = self.informerd('-c', conf, '--check-config', user=user)
        self.assertEqual(checked.returncode, 78, checked.stderr)
        self.assertRegex(checked.stderr, r"\A\S+informerd.conf:\d+:\d+: clusters\[0\].kubeconfig: .*'/etc/informerd/kubeconfig' "
                                         r"doesn't exist")
        self.assertIn('(default: /etc/informerd/informerd.conf)', self.informerd('--help', user=user).stdout)

    def configured(self, prefix):
        """Another build directory, not compiled: the destinations of all files, and the unit."""
        build = self.root / 'build'
        done = subprocess.run(['meson', 'setup', build, SOURCE, f'-Dprefix={prefix}'], capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return set(introspect(build).values()), (build / 'conf/informerd.service').read_text()

    @unittest.skipUnless(os.environ.get('TEST_TIER') == 'full', 'only in the full tier: configures two build directories')
    def test_other_prefixes(self):
        installed, unit = self.configured('/opt/informerd')
        self.assertIn('\nExecStart=/opt/informerd/bin/informerd -c /opt/informerd/etc/informerd/informerd.conf\n', unit)
        self.assertLessEqual({'/opt/informerd/lib/systemd/system/informerd.service', '/opt/informerd/etc/logrotate.d/informerd'},
                             installed)
        shutil.rmtree(self.root / 'build')
        installed, unit = self.configured('/usr')
        self.assertIn('\nExecStart=/usr/bin/informerd -c /etc/informerd/informerd.conf\n', unit)
        self.assertIn('/etc/logrotate.d/informerd', installed)
        self.assertTrue(any(re.fullmatch(r'(/usr)?/lib/systemd/system/informerd.service', path) for path in installed))


run(__name__)
