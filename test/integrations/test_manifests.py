#!/usr/bin/env python3
"""test_manifests.py INFORMERD VERSION: the manifests and the chart fit the program. What needs a server is in test/e2e, scenario chart."""
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))
from harness import run

INFORMERD, VERSION = Path(sys.argv.pop(1)).resolve(), sys.argv.pop(1)
ROOT = Path(__file__).resolve().parents[2]
BASE, CHART = ROOT / 'conf/kubernetes/base', ROOT / 'conf/helm/informerd'
HINT = 'informerd rbac -c informerd.conf > rbac.yaml, in conf/kubernetes/base'


def informerd(*arguments):
    environment = {'PATH': os.environ['PATH'], 'HOME': '/nonexistent'}
    return subprocess.run([INFORMERD, *arguments], cwd=BASE, env=environment, capture_output=True, text=True)


def watches(path):
    return re.findall(r'- (\{resource: .*\})', path.read_text())


class Manifests(unittest.TestCase):
    maxDiff = None

    def test_the_roles_of_the_base_are_those_of_its_configuration(self):
        printed = informerd('rbac', '-c', 'informerd.conf')
        self.assertEqual((printed.returncode, printed.stderr), (0, ''))
        self.assertEqual((BASE / 'rbac.yaml').read_text(), printed.stdout, HINT)

    def test_versions_are_that_of_the_project(self):
        chart = (CHART / 'Chart.yaml').read_text()
        self.assertEqual(re.findall(r'^version: (\S+)', chart, re.M), [VERSION])
        self.assertEqual(re.findall(r'^appVersion: "(.*)"', chart, re.M), [VERSION])
        self.assertEqual(re.findall(r'newTag: ([^}\s]+)', (BASE / 'kustomization.yaml').read_text()), [VERSION])

    def test_base_and_chart_watch_the_same(self):
        self.assertGreater(len(watches(BASE / 'informerd.conf')), 5)
        self.assertEqual(watches(BASE / 'informerd.conf'), watches(CHART / 'values.yaml'))

    def test_the_chart_knows_the_built_in_resources(self):
        table = re.findall(r'^ *\{"(.*?)", "(.*?)", ', (ROOT / 'src/base/builtin_resource.c').read_text(), re.M)
        template = (CHART / 'templates/_rbac.tpl').read_text()
        for name, known in (('core', {n for g, n in table if not g}), ('builtin', {f'{n}.{g}' for g, n in table if g})):
            listed = re.search(rf'define "informerd.{name}" -\}}\}}\n(.*)\n', template)[1].split()
            self.assertEqual(sorted(known), sorted(listed))

    def test_the_schema_has_every_value(self):
        schema = json.loads((CHART / 'values.schema.json').read_text())
        top = set(re.findall(r'^(\w+):', (CHART / 'values.yaml').read_text(), re.M))
        self.assertEqual(top, set(schema['properties']) - {'global'})
        self.assertFalse(schema['additionalProperties'])


run(__name__)
