"""An ssh connection to this machine, without a port, a service or an account of its own: sshd talks to ssh through pipes."""
import os
import pwd
import shlex
import shutil
import subprocess
from pathlib import Path

TOOLS = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'informerd-tools'  # see .ci/setup
SSHD = shutil.which('sshd', path=f'{TOOLS}:{os.environ.get("PATH", "")}:/usr/sbin')
SSH = shutil.which('ssh')
CONF = """HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
AcceptEnv LANG LC_* NO_COLOR
"""
# Started by root, sshd needs its account and directory; both exist only for this process.
AS_ROOT = """set -e
mount -t tmpfs none /run
mkdir -m 0755 /run/sshd
grep -q ^sshd: /etc/passwd || mount --bind {folder}/passwd /etc/passwd
exec {sshd} -i -f {folder}/sshd_config
"""


def can_load():
    return subprocess.run([SSHD, '-?'], capture_output=True).returncode != 127  # 127: a library is missing


def can_mount():
    return subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode == 0


def missing():
    """Why there is no ssh; empty if there is."""
    if not SSHD or not SSH:
        return f'there is no {"ssh" if SSHD else "sshd"}'
    if not can_load():
        return 'a library of sshd is missing'
    if Path(pwd.getpwuid(os.getuid()).pw_shell).name in ('nologin', 'false'):
        return 'this user may not log in'
    return '' if os.getuid() or can_mount() else 'root may not mount here'


def command(folder, arguments):
    """The command line of ssh that runs `arguments` on a terminal at the other end."""
    folder.mkdir()
    for name in ('host', 'user'):
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', folder / name], check=True)
    (folder / 'sshd_config').write_text(CONF.format(folder=folder))
    (folder / 'passwd').write_text(Path('/etc/passwd').read_text() + 'sshd:x:999:65534::/run/sshd:/usr/sbin/nologin\n')
    (folder / 'start').write_text(AS_ROOT.format(folder=folder, sshd=SSHD))
    start = f'{SSHD} -i -f {folder}/sshd_config' if os.getuid() else f'unshare -m sh {folder}/start'
    options = {'ProxyCommand': start, 'IdentityFile': folder / 'user', 'IdentitiesOnly': 'yes', 'UserKnownHostsFile': '/dev/null',
               'StrictHostKeyChecking': 'no', 'SendEnv': 'LANG LC_* NO_COLOR', 'LogLevel': 'ERROR'}
    return [SSH, '-tt', '-F', 'none', *(each for name, value in options.items() for each in ('-o', f'{name}={value}')),
            f'{pwd.getpwuid(os.getuid()).pw_name}@here', shlex.join(map(str, arguments))]
