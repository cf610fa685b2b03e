#!/usr/bin/env python3
"""test_packages.py KUBESIM RECORDINGS INFORMERD PACKAGES MOCK-KAFKA [PART...]: the Debian packages in a Debian 13 with its own systemd.

Each test has a machine of its own (machine.py) and a simulated API server with TLS. PACKAGES has the packages of this commit;
an older version of them is built for the test of upgrades. Needs root. Prints results as TAP.
"""
import contextlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from machine import Machine, deb, image, trixie, wait_until

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
from service import Log, Sim, config_map, fold, run, runs_of  # noqa: E402

SOURCE = Path(__file__).resolve().parents[2]
PACKAGES, MOCK = (Path(a).resolve() for a in sys.argv[4:6])
OLD_VERSION, OLD_MARK = '0.9.0', '# of an older version\n'
SERVICE_CONF, EVENTS = '/etc/informerd/informerd.conf', '/var/log/informerd/events.jsonl'


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='packages.')))
        self.machine = self.stack.enter_context(Machine(self._testMethodName))
        self.log = Log(self.machine.file(EVENTS))

    def simulate(self):
        """An API server, and its kubeconfig installed as README says."""
        self.sim = self.stack.enter_context(Sim('--self-signed', self.folder))
        kubeconfig = (self.folder / 'kubeconfig').read_text().replace(str(self.folder), '/etc/informerd')
        self.machine.file('/srv/kubeconfig').write_text(kubeconfig)
        self.machine.file('/srv/ca.crt').write_text((self.folder / 'ca.crt').read_text())
        self.machine.run('install', '-m', '0644', '/srv/ca.crt', '/etc/informerd/ca.crt')
        self.machine.run('install', '-o', 'informerd', '-m', '0400', '/srv/kubeconfig', '/etc/informerd/kubeconfig')

    def edit_conf(self, more=''):
        """The edit of an administrator: another resource."""
        conf = self.machine.file(SERVICE_CONF)
        text = conf.read_text().replace('resource: pods', 'resource: configmaps')
        conf.write_text(text + more)
        return conf.read_text()

    def put(self, *names, **more):
        self.sim.put('configmaps', *(config_map(name, **more) for name in names))

    def on_server(self):
        items = self.sim.request('/api/v1/configmaps').json()['items']
        return {('configmaps', i['metadata']['namespace'], i['metadata']['name']): (i['metadata']['uid'], i['metadata']['resourceVersion'])
                for i in items}

    def wait_equal(self):
        """The log has each change once: every record fits the one before, and the sum is what the server has."""
        self.log.wait_for(lambda records: fold(records) == self.on_server(), 'the log having the objects of the server')

    def running_service(self, packages=PACKAGES, more=''):
        self.machine.install(packages, 'informerd')
        self.simulate()
        edited = self.edit_conf(more)
        self.machine.run('systemctl', 'enable', '--now', 'informerd')
        self.put('first', 'second')
        self.wait_equal()
        return edited

    def shown(self, name):
        """A property of the unit."""
        return self.machine.run('systemctl', 'show', '-P', name, 'informerd').stdout.strip()

    def main_pid(self):
        return int(self.shown('MainPID'))

    def stat(self, path):
        return self.machine.run('stat', '-c', '%U:%G %a', path).stdout.strip()


class Installation(Case):
    def test_installing_makes_user_and_directories_but_starts_nothing(self):
        self.machine.install(PACKAGES, 'informerd', 'informerd-kafka')
        self.assertRegex(self.machine.run('getent', 'passwd', 'informerd').stdout, ':/var/lib/informerd:/usr/sbin/nologin\n')
        self.assertEqual(self.stat('/var/lib/informerd'), 'informerd:informerd 700')
        self.assertEqual(self.stat('/var/log/informerd'), 'informerd:informerd 750')
        self.assertEqual(self.stat(SERVICE_CONF), 'root:root 644')
        for unit in ('informerd', 'informerd-kafka'):
            self.assertEqual(self.machine.active(unit), 'inactive')
            self.assertEqual(self.machine.run('systemctl', 'is-enabled', unit, check=False).stdout, 'disabled\n')
            verified = self.machine.run('systemd-analyze', 'verify', '--man=no', f'/usr/lib/systemd/system/{unit}.service')
            self.assertEqual(verified.stdout, '')

    def test_the_configuration_is_valid_with_a_kubeconfig(self):
        self.machine.install(PACKAGES, 'informerd')
        check = ('informerd', '--check-config')
        without = self.machine.run(*check, check=False)
        self.assertEqual(without.returncode, 78)
        self.assertIn("'/etc/informerd/kubeconfig' doesn't exist", without.stdout)
        self.simulate()
        self.machine.run(*check, '--online', user='informerd')

    def test_what_the_packages_promise_is_there(self):
        self.machine.install(PACKAGES, 'informerd', 'informerd-kafka')
        self.assertIn('informerctl', self.machine.run('kubectl-informer', '--help').stdout)
        documents = '/usr/share/doc/informerd'
        for path in (f'{documents}/informerd.conf', f'{documents}/informerd-handlers.conf', f'{documents}/examples/proxy-reload',
                     '/usr/share/man/man8/informerd.8.gz', '/usr/share/man/man5/informerd.conf.5.gz',
                     '/usr/share/man/man5/informerd-events.5.gz', '/usr/share/man/man1/informerctl.1.gz',
                     '/usr/share/man/man8/informerd-kafka.8.gz', '/usr/share/bash-completion/completions/informerctl',
                     '/etc/logrotate.d/informerd', '/usr/share/informerd/integrations/prometheus-rules.yaml'):
            self.assertTrue(self.machine.file(path).exists(), path)
        for path in re.findall(r'(/usr/share\S+\.conf)\b', self.machine.file(SERVICE_CONF).read_text()):
            self.assertTrue(self.machine.file(path).exists(), path)

    def test_programs_are_hardened(self):
        for package in PACKAGES.glob('*.deb'):
            if 'dbgsym' in package.name or 'dev' in package.name:
                continue
            folder = self.folder / package.stem
            subprocess.run(['dpkg-deb', '-x', package, folder], check=True)
            programs = [p for p in folder.rglob('*') if p.is_file() and not p.is_symlink() and p.read_bytes()[:4] == b'\x7fELF']
            for program in programs:
                text = subprocess.run(['readelf', '-hldW', '--dyn-syms', program], check=True, capture_output=True, text=True).stdout
                for what in (r'Type: +DYN', 'GNU_RELRO', r'FLAGS.*NOW', '__stack_chk_fail', '_chk@', r'GNU_STACK.* RW '):
                    self.assertTrue(re.search(what, text), f'{program}: no {what}')
            self.assertTrue(programs, package)


class Service(Case):
    def test_the_service_logs_changes_and_serves_its_socket(self):
        self.running_service()
        self.assertEqual(self.machine.active(), 'active')
        self.assertEqual(self.stat(EVENTS), 'informerd:informerd 640')
        self.assertIn('first', self.machine.run('informerctl', 'get', 'configmaps', '-n', 'default').stdout)
        self.machine.run('informerctl', 'status')
        version = re.search(r"\n  version: '([^']*)'", (SOURCE / 'meson.build').read_text())[1]
        self.assertEqual(self.log.read()[0]['informerd'], version)
        self.machine.run('systemctl', 'stop', 'informerd')
        self.assertEqual(self.log.read()[-1]['type'], 'STOP')

    def test_the_group_reads_logs_but_no_credentials(self):
        self.running_service()
        self.machine.run('useradd', '-G', 'informerd', 'shipper')
        self.machine.run('useradd', 'stranger')
        self.machine.run('cat', EVENTS, user='shipper')
        self.assertNotEqual(self.machine.status('cat', EVENTS, user='stranger'), 0)
        for user in ('shipper', 'stranger'):
            self.assertNotEqual(self.machine.status('cat', '/etc/informerd/kubeconfig', user=user), 0)
            self.assertNotEqual(self.machine.status('ls', '/var/lib/informerd', user=user), 0)

    def test_reload_applies_a_changed_configuration(self):
        self.running_service()
        before = self.main_pid()
        conf = self.machine.file(SERVICE_CONF)
        conf.write_text(conf.read_text().replace('watches:\n', 'watches:\n  - resource: secrets\n'))
        self.machine.run('systemctl', 'reload', 'informerd')
        self.log.wait_for(lambda records: any(r['type'] == 'SYNCED' and r['watch'] == 'secrets' for r in records), 'the new watch')
        self.assertEqual(self.main_pid(), before)

    def test_logrotate_loses_nothing(self):
        self.running_service()
        self.machine.run('logrotate', '--force', '/etc/logrotate.d/informerd')
        self.put('third', 'first', labels={'app': 'web'})
        rotated = Log(self.machine.file(EVENTS + '.1'))
        self.log = Log(self.machine.file(EVENTS))
        wait_until(lambda: fold(rotated.read() + self.log.read()) == self.on_server(), 'both files having all changes')
        self.assertTrue(self.log.read())

    def test_a_killed_service_is_started_again_and_continues(self):
        self.running_service()
        before = self.main_pid()
        self.machine.run('systemctl', 'kill', '--signal=KILL', 'informerd')
        self.put('second', 'third', labels={'app': 'web'})
        wait_until(lambda: self.machine.active() == 'active' and self.main_pid() not in (0, before), 'another process')
        self.wait_equal()

    def test_a_wrong_configuration_is_reported_once(self):
        self.machine.install(PACKAGES, 'informerd')
        self.assertNotEqual(self.machine.status('systemctl', 'start', 'informerd'), 0)
        self.assertEqual(self.machine.active(), 'failed')
        self.assertIn("'/etc/informerd/kubeconfig' doesn't exist", self.machine.journal('informerd'))
        self.assertEqual(self.shown('ExecMainStatus'), '78')
        self.assertEqual(self.shown('NRestarts'), '0')


class Upgrade(Case):
    def test_an_upgrade_keeps_configuration_and_state_and_each_change_once(self):
        edited = self.running_service(OLD)
        stop = threading.Event()

        def change():
            number = 0
            while not stop.wait(0.02):
                number += 1
                self.put('first', f'new-{number}', labels={'number': str(number)})
        writer = threading.Thread(target=change)
        writer.start()
        try:
            self.machine.install(PACKAGES, 'informerd')
            wait_until(lambda: self.log.types()['START'] == 2, 'the new version')
        finally:
            stop.set()
            writer.join()
        self.wait_equal()
        old, new = runs_of(self.log.read())
        self.assertEqual([old[0]['informerd'], old[-1]['type']], [OLD_VERSION, 'STOP'])
        self.assertNotEqual(new[0]['informerd'], OLD_VERSION)
        self.assertEqual(len({(r['log'], r['seq']) for r in old + new}), len(old + new))
        self.assertFalse([r for r in new if r['type'] == 'GAP'])
        conf = self.machine.file(SERVICE_CONF)
        self.assertEqual(conf.read_text(), edited)
        self.assertNotIn(OLD_MARK, Path(f'{conf}.dpkg-dist').read_text())
        self.assertEqual(self.machine.run('systemctl', 'is-enabled', 'informerd').stdout, 'enabled\n')

    def test_an_unchanged_configuration_follows_and_a_stopped_service_stays_stopped(self):
        self.machine.install(OLD, 'informerd')
        conf = self.machine.file(SERVICE_CONF)
        self.assertIn(OLD_MARK, conf.read_text())
        self.machine.install(PACKAGES, 'informerd')
        self.assertNotIn(OLD_MARK, conf.read_text())
        self.assertEqual(self.machine.active(), 'inactive')
        self.assertEqual(self.machine.run('systemctl', 'is-enabled', 'informerd', check=False).stdout, 'disabled\n')


class Removal(Case):
    def test_remove_keeps_what_the_service_needs_to_continue(self):
        edited = self.running_service()
        self.machine.apt('remove', 'informerd')
        self.assertFalse(self.machine.file('/usr/bin/informerd').exists())
        self.assertNotEqual(self.machine.active(), 'active')
        self.assertEqual(self.log.read()[-1]['type'], 'STOP')
        self.put('second', 'third', labels={'app': 'web'})
        self.machine.install(PACKAGES, 'informerd')
        self.assertEqual(self.machine.file(SERVICE_CONF).read_text(), edited)
        self.machine.run('systemctl', 'start', 'informerd')
        self.wait_equal()

    def test_purge_removes_everything_but_the_files_of_the_administrator(self):
        self.running_service()
        self.machine.apt('purge', 'informerd')
        for path in ('/var/lib/informerd', '/var/log/informerd', SERVICE_CONF, '/etc/logrotate.d/informerd', '/usr/share/doc/informerd',
                     '/etc/systemd/system/multi-user.target.wants/informerd.service'):
            found = self.machine.file(path)
            self.assertFalse(found.exists() or found.is_symlink(), path)
        self.assertEqual(sorted(p.name for p in self.machine.file('/etc/informerd').iterdir()), ['ca.crt', 'kubeconfig'])
        self.machine.run('getent', 'passwd', 'informerd')  # its files elsewhere would get another owner
        self.machine.install(PACKAGES, 'informerd')
        self.assertEqual(self.stat('/var/lib/informerd'), 'informerd:informerd 700')


class Handlers(Case):
    CONF = """
handlers:
  - {name: page, exec: [/srv/page], user: bin, timeout: 300ms, retry: {max: 0}}
"""
    PROGRAM = """#!/bin/sh
{ id -un; grep Cap /proc/self/status; } > /srv/pages/new
mv /srv/pages/new /srv/pages/$INFORMERD_NAME
exec sleep 1000
"""

    def test_a_handler_with_a_user_needs_the_drop_in(self):
        """The message names the files to copy; then the program runs as that user, without capabilities, and can be ended."""
        self.machine.install(PACKAGES, 'informerd')
        self.simulate()
        self.edit_conf(self.CONF)
        program = self.machine.file('/srv/page')
        program.write_text(self.PROGRAM)
        program.chmod(0o755)
        self.machine.run('install', '-d', '-o', 'bin', '/srv/pages')
        self.assertNotEqual(self.machine.status('systemctl', 'start', 'informerd'), 0)
        refusal = re.search(r'user and group need the capabilities .*copy (\S+) to (\S+/)', self.machine.journal('informerd'))
        self.assertTrue(refusal, self.machine.journal('informerd'))
        drop_in, place = refusal.groups()
        writable = self.machine.file(drop_in).read_text().replace('#ReadWritePaths=/etc/haproxy', 'ReadWritePaths=/srv/pages')
        self.machine.file(place).mkdir(parents=True)
        (self.machine.file(place) / Path(drop_in).name).write_text(writable)
        self.put('first')
        self.machine.run('systemctl', 'daemon-reload')
        self.machine.run('systemctl', 'start', 'informerd')
        self.wait_equal()  # synced: the handler gets only changes after this
        self.put('web')
        name, *capabilities = wait_until(lambda: self.page('web'), lambda: self.machine.journal('informerd'))
        self.assertEqual(name, 'bin')
        self.assertFalse(self.page('first'))
        values = dict(line.split() for line in capabilities)
        self.assertEqual({int(values[n], 16) for n in ('CapEff:', 'CapPrm:', 'CapAmb:')}, {0})
        wait_until(lambda: self.machine.status('pgrep', '-u', 'bin') == 1, 'the program was ended at its timeout')
        self.assertEqual(self.stat(f'/proc/{self.main_pid()}').split(':')[0], 'informerd')

    def page(self, name):
        file = self.machine.file(f'/srv/pages/{name}')
        return file.exists() and file.read_text().splitlines()


class Kafka(Case):
    TOPIC = 'k8s.default.configmaps'

    def test_the_sink_runs_beside_the_service(self):
        """informerd-kafka under its unit: the handler's changes are in Kafka, also those of the time before it was started."""
        self.machine.install(PACKAGES, 'informerd', 'informerd-kafka')
        self.simulate()
        self.edit_conf('handlers:\n  - {name: kafka, client: true, initial: true}\n')
        kafka = self.stack.enter_context(subprocess.Popen([MOCK, self.TOPIC, '1'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                          text=True))
        address = kafka.stdout.readline().strip()
        self.machine.file('/etc/informerd/informerd-kafka.env').write_text(
            f'INFORMERD_KAFKA_FLAGS=--handler kafka --topic k8s.{{cluster}}.{{resource}} --brokers {address}\n')
        self.put('first')
        self.machine.run('systemctl', 'start', 'informerd', 'informerd-kafka')
        messages = []
        reader = threading.Thread(target=lambda: [messages.append(line) for line in kafka.stdout])
        reader.start()
        self.stack.callback(reader.join)
        self.stack.callback(kafka.stdin.close)  # ends it
        self.put('second', 'third')
        wait_until(lambda: all(any(name in line for line in messages) for name in ('first', 'second', 'third')),
                   lambda: f'{messages}\n{self.machine.journal("informerd-kafka")}')
        self.assertEqual(self.machine.active('informerd-kafka'), 'active')


class Library(Case):
    def test_programs_compile_and_run_with_the_shared_and_the_static_library(self):
        self.machine.install(PACKAGES, 'informerd', 'libinformer1', 'libinformer-dev')
        self.machine.apt('install', 'gcc', 'libc6-dev', 'pkgconf')
        self.simulate()
        self.sim.put('pods', config_map('web-0'))
        self.machine.file('/srv/pods.c').write_text((SOURCE / 'test/example/pods.c').read_text())
        compile = 'cc -Wall -Werror pods.c -o pods $(pkg-config --cflags informer) '
        libraries = {'shared': '$(pkg-config --libs informer)',
                     'static': '-l:libinformer.a $(pkg-config --static --libs informer | sed s/-linformer//)'}
        for name, linked in libraries.items():
            with self.subTest(name):
                self.machine.run('sh', '-c', f'cd /srv && {compile} {linked}')
                self.assertEqual('libinformer.so.1' in self.machine.run('ldd', '/srv/pods').stdout, name == 'shared')
                self.machine.run('systemd-run', f'--unit={name}', '--setenv=KUBECONFIG=/etc/informerd/kubeconfig', '/srv/pods')
                wait_until(lambda: 'default/web-0' in self.machine.journal(name), lambda: self.machine.journal(name))
                self.machine.run('systemctl', 'stop', name)
        self.assertTrue(self.machine.file('/usr/share/man/man3/libinformer.3.gz').exists())


def build_old():
    """An older version, whose configuration file differs."""
    folder = trixie.SCRATCH / 'old'
    with open(trixie.CACHE / 'old.log', 'w') as log:
        deb.build(folder, version=OLD_VERSION, lintian=False, edit=lambda tree: mark(tree / 'conf/service.conf.in'), log=log)
    return folder


def mark(file):
    file.write_text(file.read_text() + OLD_MARK)


def load_tests(loader, tests, _):
    """The tests whose names contain one of the further arguments; without any, all."""
    chosen = [test for case in tests for test in case if any(part in test.id() for part in sys.argv[6:] or [''])]
    return unittest.TestSuite(chosen)


signal.signal(signal.SIGTERM, lambda *_: sys.exit('test_packages.py: terminated'))  # machines are stopped
try:
    trixie.enter_namespaces()
    image().make()
    OLD = build_old() if not sys.argv[6:] or 'Upgrade' in sys.argv[6:] else None
    trixie.enter_network()
except trixie.Failure as failure:
    sys.exit(f'test_packages.py: {failure}')
run(__name__)
