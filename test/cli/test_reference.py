#!/usr/bin/env python3
"""test_reference.py HEADERS MAN HTML: the generated API reference is complete, and `man` can format it.

The declarations are read from the headers here, not by reference.py: what that script loses is noticed.
"""
import re
import shutil
import subprocess
import sys
import unittest
from html import unescape
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))
HEADERS, MAN, HTML = [Path(argument).resolve() for argument in sys.argv[1:4]]
from harness import DEADLINE, run

DECLARATION = re.compile(r'^INF_API [^;]*?\b(inf_\w+)\([^;]*\);\n', re.MULTILINE)


def functions():
    """(header, name, contract) of every public function; declarations without a blank line between them share one."""
    for header in sorted(HEADERS.glob('*.h')):
        text = header.read_text()
        previous, contract = None, None
        for match in DECLARATION.finditer(text):
            if match.start() != previous:
                above = text[:match.start()]
                contract = above[above.rfind('/*'):] if above.endswith('*/\n') else ''
            previous = match.end()
            yield header.name, match[1], contract


def words(text):
    return ' '.join(re.findall(r'\w+', text))


class Reference(unittest.TestCase):
    def setUp(self):
        self.man = MAN.read_text().replace('\\-', '-')
        self.html = HTML.read_text()

    def formatted(self):
        """What `man` prints, and its warnings."""
        done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', str(MAN)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=DEADLINE,
                              env={'PATH': '/usr/bin:/bin', 'MANWIDTH': '80', 'LC_ALL': 'C.UTF-8'})
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub('.\b|\x1b\\[[0-9;]*m', '', done.stdout), done.stderr

    def test_finds_the_functions(self):
        self.assertGreater(len(list(functions())), 90)

    def test_every_function_has_a_contract_comment(self):
        for header, name, contract in functions():
            self.assertTrue(contract.startswith('/**') and len(contract.split()) > 3, f'{header}: {name}')

    def test_every_function_is_in_both_references(self):
        for header, name, contract in functions():
            with self.subTest(name):
                self.assertRegex(self.man, rf'(?m)^\\fB.*\b{name}\(')
                self.assertIn(f'<a id="{name}"></a>', self.html)

    def test_every_contract_is_in_both_references(self):
        man = words(re.sub(r'\\f.|\\&', '', self.man.replace('\\(aq', "'")))
        html = words(unescape(re.sub('<.*?>', '', self.html)))
        for header, name, contract in functions():
            begins = ' '.join(words(contract).split()[:6])
            self.assertTrue(begins in man and begins in html, f'{name}: {begins}')

    def test_every_struct_and_enum_is_in_both_references(self):
        for header in HEADERS.glob('*.h'):
            for kind, name in re.findall(r'^(struct|enum) (inf_\w+) \{', header.read_text(), re.MULTILINE):
                with self.subTest(name):
                    self.assertRegex(self.man, rf'(?m)^\\fB{kind} {name}\\fP$')
                    self.assertIn(f'<a id="{kind}.{name}"></a>', self.html)

    def test_html_links_lead_somewhere(self):
        anchors = re.findall(r'id="([^"]+)"', self.html)
        self.assertEqual(len(anchors), len(set(anchors)))
        self.assertLessEqual(set(re.findall(r'href="#([^"]+)"', self.html)), set(anchors))

    @unittest.skipUnless(shutil.which('man'), 'man is not installed')
    def test_man_formats_it_without_warnings(self):
        text, warnings = self.formatted()
        self.assertEqual(warnings, '')
        if len(text) < 1000: # systems without manual pages replace man by a notice
            self.skipTest('man does not format pages here')
        for header, name, contract in functions():
            self.assertIn(f'{name}(', text)


run(__name__)
