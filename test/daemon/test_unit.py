#!/usr/bin/env python3
"""test_unit.py CONF INFORMERD: the unit that conf/ has for systemd, as systemd itself judges it, without a system."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNIT, INFORMERD = Path(sys.argv[1]) / 'informerd.service', Path(sys.argv[2]).resolve()
ANALYZE = shutil.which('systemd-analyze')
MOST = 2.0  # of 10: how much it may expose


def analyze(*words):
    return subprocess.run([ANALYZE, *words], capture_output=True, text=True, timeout=60)


def check_security():
    run = analyze('security', '--offline=true', '--no-pager', str(UNIT))
    found = re.search(r'Overall exposure level for \S+: ([\d.]+)', run.stdout)
    if not found:
        return 'SKIP ' + (run.stderr.strip().splitlines() or ['this systemd-analyze can not'])[-1]
    return None if float(found[1]) < MOST else f'exposes {found[1]}, not below {MOST}'


def check_syntax():
    """With our own program in the place of the installed one. What the rest of a system lacks here is not our business."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, 'informerd.service')
        copy.write_text(re.sub(r'^ExecStart=\S+', f'ExecStart={INFORMERD}', UNIT.read_text(), flags=re.MULTILINE))
        run = analyze('verify', '--man=no', str(copy))
    ours = [line for line in run.stderr.splitlines() if 'informerd.service' in line]
    return '; '.join(ours) or None


CHECKS = {'it exposes little': check_security, 'every word of it is known': check_syntax}
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
