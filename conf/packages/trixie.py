"""trixie.py: Debian 13 in a directory, to build the packages in and to install them into.

Image(name, packages, archives) is a file tree made once by mmdebstrap and kept in ~/.cache/informerd-trixie. The mirror is the
one that this machine's own Debian comes from, as in .ci/setup. A list of packages that changes makes a new image.

Root is a view of an image: an overlay whose changes are in memory. All mounts are in the mount namespace of this process
(enter_namespaces) and vanish with it, so that an image is never changed and nothing is left to clean up.

Failures are raised as Failure, with the remedy.
"""
import ctypes
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

SUITE = 'trixie'
CACHE = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / f'informerd-{SUITE}'
FORMAT = 1  # part of the names of images: a change makes them all again
PASSED_ON = ('Acquire::Check-Valid-Until', 'Acquire::http::Proxy', 'Acquire::https::Proxy')
ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'HOME': '/root', 'LC_ALL': 'C.UTF-8', 'DEBIAN_FRONTEND': 'noninteractive'}
SCRATCH = CACHE / 'scratch'  # in each process that has entered its namespaces an empty tmpfs of its own
DEVICES = {'null': (1, 3), 'zero': (1, 5), 'full': (1, 7), 'random': (1, 8), 'urandom': (1, 9), 'tty': (5, 0)}
CLONE_NEWNS, CLONE_NEWNET = 0x00020000, 0x40000000


class Failure(Exception):
    """A message that names the remedy."""


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


def unshare(namespace):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(namespace) != 0:
        raise Failure(f'cannot make namespaces: {os.strerror(ctypes.get_errno())}; in a container, allow CAP_SYS_ADMIN')


def enter_namespaces():
    """Gives this process mounts of its own."""
    if os.getuid() != 0:
        raise Failure('root is needed to mount and to enter a chroot: run it with sudo')
    unshare(CLONE_NEWNS)
    mount('--make-rprivate', '/')
    SCRATCH.mkdir(parents=True, exist_ok=True)
    mount('-t', 'tmpfs', '-o', 'mode=0755', 'scratch', SCRATCH)


def enter_network():
    """Leaves this process nothing but a loopback interface."""
    unshare(CLONE_NEWNET)
    subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=True)


def mount(*arguments):
    subprocess.run(['mount', *arguments], check=True)


def mirror():
    """The archive that this machine's own Debian comes from."""
    sites = output('apt-get', 'indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian', 'Label: Debian')
    if not sites:
        raise Failure('no package list of this machine comes from Debian: run apt-get update')
    return sites.split()[0]


def apt_options():
    for name in PASSED_ON:
        for line in output('apt-config', 'dump', name).splitlines():
            if '""' not in line:
                yield f'--aptopt={line}'


class Image:
    """A file tree with `packages` installed; the `archives`, with what they need, can be installed without network."""

    def __init__(self, name, variant, packages, archives=()):
        self.name, self.variant, self.packages, self.archives = name, variant, sorted(packages), sorted(archives)
        key = hashlib.sha256(repr((FORMAT, variant, self.packages, self.archives)).encode()).hexdigest()[:12]
        self.path = CACHE / f'{name}-{key}'

    def make(self):
        """Its path; made if it does not exist. Another process that makes it is waited for."""
        CACHE.mkdir(parents=True, exist_ok=True)
        with open(CACHE / f'{self.name}.lock', 'w') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.path.exists():
                print(f'{self.path.name}: made once, in a minute or two', file=sys.stderr, flush=True)
                for old in CACHE.glob(f'{self.name}-*'):  # also one that was interrupted
                    shutil.rmtree(old)
                partial = self.path.with_name(self.path.name + '.partial')
                self.bootstrap(partial)
                partial.rename(self.path)
        return self.path

    def bootstrap(self, path):
        if not shutil.which('mmdebstrap'):
            raise Failure('the command mmdebstrap is missing: install mmdebstrap')
        log = CACHE / f'{self.name}.log'
        hooks = []
        if self.archives:
            download = 'apt-get -q -y --no-install-recommends --download-only install ' + ' '.join(self.archives)
            hooks = [f'--customize-hook=chroot "$1" {download}']
        with open(log, 'w') as out:
            made = subprocess.run(['mmdebstrap', '--mode=root', f'--variant={self.variant}', '--skip=cleanup/apt',
                                   '--aptopt=APT::Install-Recommends "false"', *apt_options(), *hooks,
                                   '--include=' + ','.join(self.packages), SUITE, path, mirror()], stdout=out, stderr=out)
        if made.returncode != 0:
            raise Failure(f'mmdebstrap failed: {log} has its messages')


class Root:
    """An image with changes in memory. `run` executes a command in it."""

    def __init__(self, image, name=None):
        lower, folder = image.make(), SCRATCH / (name or image.name)
        self.path, upper, work = folder / 'root', folder / 'upper', folder / 'work'
        for directory in (self.path, upper, work):
            directory.mkdir(parents=True)
        mount('-t', 'overlay', '-o', f'lowerdir={lower},upperdir={upper},workdir={work}', 'root', self.path)

    def mount_kernel(self):
        """/proc and /dev, for programs that expect them."""
        mount('-t', 'proc', 'proc', self.path / 'proc')
        self.make_devices()

    def make_devices(self):
        """A /dev with what every program may expect. Not the one of this machine: it could be changed."""
        dev = self.path / 'dev'
        mount('-t', 'tmpfs', '-o', 'mode=0755', 'dev', dev)
        for node, (major, minor) in DEVICES.items():
            os.mknod(dev / node, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
            (dev / node).chmod(0o666)
        for name, target in {'fd': '/proc/self/fd', 'stdin': 'fd/0', 'stdout': 'fd/1', 'stderr': 'fd/2', 'ptmx': 'pts/ptmx'}.items():
            (dev / name).symlink_to(target)
        for name in ('pts', 'shm', 'mqueue'):
            (dev / name).mkdir()
        (dev / 'shm').chmod(0o1777)

    def bind(self, source, target):
        """Shows the directory `source` of this machine at `target`."""
        place = self.path / target.lstrip('/')
        place.mkdir(parents=True, exist_ok=True)
        mount('--bind', source, place)

    def run(self, *command, check=True, environment=(), cwd='/', **options):
        variables = (f'{k}={v}' for k, v in {**ENVIRONMENT, **dict(environment)}.items())
        return subprocess.run(['chroot', self.path, 'env', '-i', f'--chdir={cwd}', *variables, *command], check=check,
                              stdin=subprocess.DEVNULL, **options)
