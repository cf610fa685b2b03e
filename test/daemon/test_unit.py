#!/usr/bin/env python3
"""test_unit.py CONF UNIT INFORMERD: systemd's own programs check the service files, without a running systemd."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CONF, UNIT, INFORMERD = (Path(argument).resolve() for argument in sys.argv[1:4])
MOST = 2.0  # of 10: maximum exposure


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def analyze(*arguments):
    return run('systemd-analyze', *arguments)


def check_security():
    run = analyze('security', '--offline=true', '--no-pager', str(UNIT))
    found = re.search(r'Overall exposure level for \S+: ([\d.]+)', run.stdout)
    if not found:
        return 'SKIP ' + (run.stderr.strip().splitlines() or ['this systemd-analyze can not'])[-1]
    return None if float(found[1]) < MOST else f'exposes {found[1]}, not below {MOST}'


def check_syntax(more=''):
    """Uses our program instead of the installed one. Errors about missing parts of the system are ignored."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, 'informerd.service')
        copy.write_text(re.sub(r'^ExecStart=\S+', f'ExecStart={INFORMERD}', UNIT.read_text(), flags=re.MULTILINE) + more)
        run = analyze('verify', '--man=no', str(copy))
    ours = [line for line in run.stderr.splitlines() if 'informerd.service' in line]
    return '; '.join(ours) or None


def check_drop_in():
    """The directives are those of the unit, and the capabilities those that an error message names."""
    text = (CONF / 'informerd-handlers.conf').read_text()
    if not re.search('^AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL$', text, re.MULTILINE):
        return 'capabilities'
    return check_syntax('\n' + text)


def check_user():
    """The socket sees the uid of its clients, and a group can read the logs."""
    settings = dict(line.split('=', 1) for line in UNIT.read_text().splitlines() if '=' in line and line[0] != '#')
    expected = {'User': 'informerd', 'Group': 'informerd', 'PrivateUsers': 'no', 'LogsDirectoryMode': '0750', 'UMask': '0027'}
    wrong = [f'{name}={settings.get(name)}' for name, value in expected.items() if settings.get(name) != value]
    return '; '.join(wrong + ['DynamicUser'] * ('DynamicUser' in settings)) or None


def check_sysusers():
    """Creates the user in an empty root directory."""
    with tempfile.TemporaryDirectory() as root:
        Path(root, 'etc').mkdir()
        made = run('systemd-sysusers', f'--root={root}', str(CONF / 'informerd.sysusers'))
        passwd, group = Path(root, 'etc/passwd'), Path(root, 'etc/group')
        text = passwd.read_text() if passwd.exists() else made.stderr
        if not re.search(r'^informerd:.*:/var/lib/informerd:\S*nologin$', text, re.MULTILINE):
            return f'passwd: {text}'
        return None if re.search('^informerd:', group.read_text(), re.MULTILINE) else 'no group'


def check_tmpfiles():
    """Creates the directories, with our own user in place of informerd."""
    with tempfile.TemporaryDirectory() as root:
        text = re.sub('informerd informerd -', f'{os.getuid()} {os.getgid()} -', (CONF / 'informerd.tmpfiles').read_text())
        Path(root, 'file').write_text(text)
        made = run('systemd-tmpfiles', f'--root={root}', '--create', f'{root}/file')
        modes = {}
        for name in ('var/lib/informerd', 'var/log/informerd'):
            modes[name] = oct(Path(root, name).stat().st_mode & 0o777) if Path(root, name).exists() else made.stderr
    return None if modes == {'var/lib/informerd': '0o700', 'var/log/informerd': '0o750'} else str(modes)


def check_systemctl():
    """The commands of the logrotate file are accepted; without systemd they fail later. Debian 11 knows only --kill-who."""
    text = (CONF / 'informerd.logrotate').read_text()
    commands = re.findall(r'systemctl (.*?)(?:;|$)', text, re.MULTILINE)
    if len(commands) != 2 or any('kill-whom' in command for command in commands):
        return f'commands: {commands}'
    complaints = [run('systemctl', *command.replace('informerd.service', 'informerd-test-no-such-unit.service').split()).stderr
                  for command in [*commands, 'kill --no-such-option x']]
    unknown = ['unrecognized option' in complaint for complaint in complaints]
    return None if unknown == [False, False, True] else str(complaints)


CHECKS = {'the exposure is low': ('systemd-analyze', check_security),
          'every directive is known': ('systemd-analyze', check_syntax),
          'every directive of the drop-in for handlers is known': ('systemd-analyze', check_drop_in),
          'a static user whose group can read the logs': ('true', check_user),
          'sysusers.d creates the user': ('systemd-sysusers', check_sysusers),
          'tmpfiles.d creates the directories': ('systemd-tmpfiles', check_tmpfiles),
          'systemctl accepts the commands of the logrotate file': ('systemctl', check_systemctl)}
print(f'1..{len(CHECKS)}')
failed = False
for number, (name, (program, check)) in enumerate(CHECKS.items(), 1):
    problem = check() if shutil.which(program) else f'SKIP there is no {program}'
    if problem and not problem.startswith('SKIP'):
        print(f'# {problem}')
        failed = True
        print(f'not ok {number} - {name}')
    else:
        print(f'ok {number} - {name}{" # " + problem if problem else ""}')
sys.exit(failed)
