"""machine.py: Debian 13 booted with its own systemd, in namespaces of this process, to test what is installed in it.

The files are a view of an image (conf/packages/trixie.py). systemd is process 1 of a pid namespace, with an empty control group
of its own; /proc/sys and /sys are read-only, and it lacks the capabilities with which it could change this machine. The network is
that of the test, which has only a loopback interface. When the process that started it ends, the kernel ends all of its processes.
"""
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[i] / folder) for i, folder in ((2, 'conf/packages'), (1, 'lib'))]
import deb  # noqa: E402
import trixie  # noqa: E402
from harness import DEADLINE, wait_until  # noqa: E402

TOOLS = ('systemd', 'systemd-sysv', 'dbus', 'logrotate', 'procps')
COMPILER = ('gcc', 'libc6-dev', 'pkgconf')
FORBIDDEN = '-sys_time,-sys_module,-sys_rawio,-sys_boot,-syslog,-mac_admin,-mac_override,-wake_alarm,-bpf,-perfmon'
BOOT = f'''set -e
mount --make-rprivate /
cd "$1"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mkdir .old
pivot_root . .old
umount -l /.old
rmdir /.old
hostname machine
exec env -i container=test PATH=/usr/sbin:/usr/bin setpriv --bounding-set={FORBIDDEN} /sbin/init
'''


def image():
    """Without informerd. What its packages need can be installed without network."""
    libraries = [name for name in deb.build_dependencies() if name.endswith('-dev') and name not in ('systemd-dev', 'libcmocka-dev')]
    return trixie.Image('machine', 'minbase', TOOLS, [*libraries, *COMPILER])


def control_groups():
    """The mount point of this machine's version 2 hierarchy."""
    for line in Path('/proc/self/mounts').read_text().splitlines():
        _, place, kind, *_ = line.split()
        if kind == 'cgroup2':
            return Path(place)
    raise trixie.Failure('this machine has no control groups of version 2, which systemd needs')


class Machine:
    """with Machine('name') as machine: machine.run('systemctl', 'start', 'informerd')"""

    def __init__(self, name):
        self.root = trixie.Root(image(), name)
        self.root.make_devices()
        self.path = self.root.path
        self.group = control_groups() / f'informerd-test-{os.getpid()}-{name}'
        self.group.mkdir()
        self.init = None
        alone = ['unshare', '--mount', '--uts', '--ipc', '--pid', '--cgroup', '--fork', '--kill-child']
        self.parent = subprocess.Popen(
            ['setpriv', '--pdeathsig=KILL', *alone, 'sh', '-c', BOOT, 'boot', self.path],
            preexec_fn=lambda: (self.group / 'cgroup.procs').write_text('0'), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        try:
            wait_until(self.has_booted, 'systemd has started')
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def has_booted(self):
        assert self.parent.poll() is None, self.parent.stderr.read()
        children = Path(f'/proc/{self.parent.pid}/task/{self.parent.pid}/children').read_text().split()
        if not children:
            return False
        self.init = children[0]
        if Path(f'/proc/{self.init}/comm').read_text() not in ('systemd\n', 'init\n'):
            return False  # it is still the script
        state = self.run('systemctl', 'is-system-running', check=False).stdout.strip()
        assert state != 'degraded', self.run('systemctl', '--failed').stdout
        return state == 'running'

    def stop(self):
        self.parent.send_signal(signal.SIGKILL)
        self.parent.wait()
        self.parent.stderr.close()
        wait_until(self.remove_group, f'the end of all processes in {self.group}')

    def remove_group(self):
        with contextlib.suppress(OSError):  # busy: a process has not ended yet
            for folder, _, _ in os.walk(self.group, topdown=False):
                os.rmdir(folder)
            return True

    def run(self, *command, user='root', check=True, **options):
        """A finished command; its stdout and stderr are one text."""
        inside = ['nsenter', '-t', self.init, '-m', '-u', '-i', '-p', '-C', '--wdns=/', 'env', '-i',
                  *(f'{k}={v}' for k, v in trixie.ENVIRONMENT.items())]
        change = [] if user == 'root' else ['setpriv', f'--reuid={user}', f'--regid={user}', '--init-groups']
        done = subprocess.run([*inside, *change, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=5 * DEADLINE, **options)
        assert done.returncode == 0 or not check, f'{command} ended with {done.returncode}:\n{done.stdout}'
        return done

    def status(self, *command, **options):
        return self.run(*command, check=False, **options).returncode

    def file(self, path):
        """Where this process sees a file of the machine; not below /run, /tmp and other mounts of it."""
        return self.path / path.lstrip('/')

    def apt(self, action, *packages):
        """Without network; changed configuration files are kept."""
        return self.run('apt-get', '-y', '-q', '--no-install-recommends', '-o', 'Dpkg::Options::=--force-confdef', '-o',
                        'Dpkg::Options::=--force-confold', action, *packages)

    def install(self, folder, *names):
        """The packages with these names in `folder`, and what they need."""
        target = self.file('/srv') / folder.name
        target.mkdir(exist_ok=True)
        found = [next(folder.glob(f'{name}_*.deb')) for name in names]
        for package in found:
            (target / package.name).write_bytes(package.read_bytes())
        return self.apt('install', *(f'/srv/{folder.name}/{package.name}' for package in found))

    def journal(self, unit):
        return self.run('journalctl', '--no-pager', '-u', unit).stdout

    def active(self, unit='informerd'):
        return self.run('systemctl', 'is-active', unit, check=False).stdout.strip()

    def wait_active(self, state, unit='informerd'):
        wait_until(lambda: self.active(unit) == state, lambda: f'{unit} is {state}:\n{self.journal(unit)}')
