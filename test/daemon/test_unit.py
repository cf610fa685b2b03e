#!/usr/bin/env python3
"""test_unit.py CONF INFORMERD: systemd-analyze checks the systemd unit in conf/, without a running systemd."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNIT, INFORMERD = Path(sys.argv[1]) / 'informerd.service', Path(sys.argv[2]).resolve()
ANALYZE = shutil.which('systemd-analyze')
MOST = 2.0  # of 10: maximum exposure


def analyze(*arguments):
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, timeout=60)


def check_security():
    run = analyze('security', '--offline=true', '--no-pager', str(UNIT))
    found = re.search(r'Overall exposure level for \S+: ([\d.]+)', run.stdout)
    if not found:
        return 'SKIP ' + (run.stderr.strip().splitlines() or ['this systemd-analyze can not'])[-1]
    return None if float(found[1]) < MOST else f'exposes {found[1]}, not below {MOST}'


def check_syntax():
    """Uses our program instead of the installed one. Errors about missing parts of the system are ignored."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, 'informerd.service')
        copy.write_text(re.sub(r'^ExecStart=\S+', f'ExecStart={INFORMERD}', UNIT.read_text(), flags=re.MULTILINE))
        run = analyze('verify', '--man=no', str(copy))
    ours = [line for line in run.stderr.splitlines() if 'informerd.service' in line]
    return '; '.join(ours) or None


CHECKS = {'the exposure is low': check_security, 'every directive is known': check_syntax}
print(f'1..{len(CHECKS)}')
failed = False
for number, (name, check) in enumerate(CHECKS.items(), 1):
    problem = check() if ANALYZE else 'SKIP there is no systemd-analyze'
    if problem and not problem.startswith('SKIP'):
        print(f'# {problem}')
        failed = True
        print(f'not ok {number} - {name}')
    else:
        print(f'ok {number} - {name}{" # " + problem if problem else ""}')
sys.exit(failed)
