#!/usr/bin/env python3
"""test_questions.py KUBESIM RECORDINGS INFORMERD README: the ten questions of the README have the answers it shows.

The commands run in a directory with the log of a scripted incident. Times of the log are replaced before the comparison,
as in the README.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
README = Path(sys.argv[4])
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'daemon'))
from incident import Incident
from service import DEADLINE, Case, run

WATCHES = ('nodes', 'deployments.apps', 'replicasets.apps', 'pods', 'configmaps', 'events')
SECTION = re.compile(r'^## Ten questions\n(.*?)^## ', re.DOTALL | re.MULTILINE)
CLOCK = re.compile(r'\b\d\d:\d\d:\d\d\b')


def questions():
    """[(question, command, answer)] of the README: a comment, a command with continued lines, the lines that follow."""
    section = SECTION.search(README.read_text())[1]
    block = ''.join(re.findall(r'^```\n(.*?)^```$', section, re.DOTALL | re.MULTILINE))
    found = []
    for part in re.split(r'^\$ # ', block, flags=re.MULTILINE)[1:]:
        question, rest = part.split('\n$ ', 1)
        command, _, answer = rest.partition('\n')
        while command.endswith('\\') or command.count("'") % 2:
            line, _, answer = answer.partition('\n')
            command += '\n' + line
        found.append((question, command, answer.rstrip('\n')))
    return found


class Questions(Case):
    def test_ten_questions(self):
        if not shutil.which('jq'):
            self.skipTest('jq is not installed')
        self.start(self.conf(watches=[{'resource': resource} for resource in WATCHES]))
        self.wait_ready()
        Incident(self.sim, self.log).play()
        self.compact()
        asked = questions()
        self.assertEqual(len(asked), 10)
        for question, command, answer in asked:
            with self.subTest(question):
                done = subprocess.run(['sh', '-c', command], cwd=self.folder, capture_output=True, text=True,
                                      timeout=DEADLINE)
                self.assertEqual((done.stderr, done.returncode), ('', 0))
                self.assertEqual(CLOCK.sub('12:00:00', done.stdout.rstrip('\n')), CLOCK.sub('12:00:00', answer))

    def compact(self):
        """The watch of pods is cut, and its history has expired when it resumes: a relist."""
        self.sim.control('put', {'metadata': {'name': 'later', 'namespace': 'other'}}, resource='configmaps')
        self.sim.control('compact')
        self.sim.control('close', how='cut', path='/pods')
        self.log.wait_for(lambda records: any(r['type'] == 'RELIST' for r in records), 'a relist')


run(__name__)
