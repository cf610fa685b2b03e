#!/usr/bin/env python3
"""test_integrations.py KUBESIM RECORDINGS INFORMERD: the files in conf/integrations fit the log and the metrics.

A daemon follows the demo. lnav reads its log; promtool checks the alert rules, runs their unit tests and checks the
expressions of the dashboard; every metric and label that rules and dashboard use is one of the daemon. A tool that is not
installed is a skipped case. Vector and Fluent Bit have no package; their files are read here, and run by a machine that
has the programs.
"""
import collections
import csv
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
for folder in ('daemon', 'integrations'):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))
from demo_log import CONF, DemoLog
from service import DEADLINE, parse_metrics, run

try:
    import yaml
except ImportError:
    yaml = None

FILES = CONF / 'integrations'
HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'informerd-tools'  # of .ci/setup
SCRAPED = {'instance', 'job'}  # labels that Prometheus adds
OF_PROMETHEUS = {'up'}
BY_REASON = ('informerd_watch_reconnects_total', 'informerd_watch_relists_total')


def setUpModule():
    global demo
    demo = DemoLog().__enter__()
    unittest.addModuleCleanup(demo.__exit__)


def needs_tool(name):
    """The path of a program; the case is skipped without it."""
    path = shutil.which(name) or shutil.which(name, path=CACHE)
    if not path:
        raise unittest.SkipTest(f'{name} is not installed')
    return path


def call(*command, **more):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=DEADLINE, **more)


def families(text):
    """{metric: set of its labels} of a page of metrics."""
    found = {name: set() for name in re.findall(r'^# TYPE (\S+)', text, re.MULTILINE)}
    for sample in parse_metrics(text):
        found[sample.split('{')[0]] |= set(re.findall(r'[{,](\w+)=', sample))
    for name in BY_REASON:  # a sample exists only after a failure
        found[name] |= found['informerd_watch_up'] | {'reason'}
    return found


def metrics_in(expression):
    """The metrics that an expression names, with the labels it selects them by."""
    found = collections.defaultdict(set)
    bare = re.sub(r'"[^"]*"', '""', expression)
    for name, _, selectors in re.findall(r'\b((?:informerd|process)_\w+|up\b)(\{([^}]*)\})?', bare):
        found[name] |= set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)', selectors))
    return found


class Lnav(unittest.TestCase):
    def setUp(self):
        self.lnav = needs_tool('lnav')
        formats = demo.folder / 'lnav' / 'formats' / 'informerd'
        formats.mkdir(parents=True, exist_ok=True)
        shutil.copy(FILES / 'informerd.lnav.json', formats)

    def run_lnav(self, *commands):
        arguments = [a for command in commands for a in ('-c', command)]
        done = call(self.lnav, '-I', demo.folder / 'lnav', '-n', *arguments, demo.path,
                    env={**os.environ, 'HOME': str(demo.folder), 'TZ': 'UTC'})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.splitlines()

    def query(self, sql):
        return list(csv.DictReader(self.run_lnav(f';{sql}', ':write-csv-to -')))

    def test_the_format_file_is_valid(self):
        done = call(self.lnav, '-I', demo.folder / 'lnav', '-C', env={**os.environ, 'HOME': str(demo.folder)})
        self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_every_record_is_one_line_with_time_type_and_message(self):
        lines = self.run_lnav()
        self.assertEqual([line[23:] for line in lines], [f' {r["type"]:9} {r["msg"]}' for r in demo.records])
        # lnav keeps the order of the file: a time before that of an earlier line is shown as the earlier time
        times = itertools.accumulate((r['time'][:23].replace('T', ' ') for r in demo.records), max)
        self.assertEqual([line[:23] for line in lines], list(times))

    def test_levels(self):
        rows = self.query('SELECT log_level, count(*) AS n FROM informerd GROUP BY log_level')
        levels = collections.Counter(r['level'] for r in demo.records)
        names = {'warn': 'warning'}
        self.assertEqual({row['log_level']: int(row['n']) for row in rows},
                         {names.get(level, level): n for level, n in levels.items()})

    def test_fields_are_columns(self):
        rows = self.query('SELECT seq, type, kind, namespace, name, uid, json_extract(diff, \'$[0].path\') AS path'
                          ' FROM informerd WHERE type = \'MODIFIED\'')
        expected = [r for r in demo.records if r['type'] == 'MODIFIED']
        self.assertEqual([(row['seq'], row['kind'], row['namespace'], row['name'], row['uid'], row['path'])
                          for row in rows],
                         [(str(r['seq']), r['kind'], r['namespace'], r['name'], r['uid'], r['diff'][0]['path'])
                          for r in expected])

    def test_the_format_names_every_field(self):
        known = json.loads((FILES / 'informerd.lnav.json').read_text())['informerd']['value']
        fields = {field for record in demo.records for field in record}
        self.assertEqual(fields - set(known), {'group'})  # a word of SQL, which lnav does not quote


class Rules(unittest.TestCase):
    def test_rules_are_valid(self):
        done = call(needs_tool('promtool'), 'check', 'rules', FILES / 'prometheus-rules.yaml')
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn('SUCCESS', done.stdout)

    def test_rules_fire_when_they_should(self):
        done = call(needs_tool('promtool'), 'test', 'rules', HERE / 'prometheus-rules.test.yaml')
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_metrics_of_the_rules_exist(self):
        text = (FILES / 'prometheus-rules.yaml').read_text()
        expressions = re.findall(r'^ +expr: (.+)$', text, re.MULTILINE)
        self.assertGreater(len(expressions), 10)
        self.assertEqual(len(expressions), text.count('- alert:'))
        check_metrics(self, expressions)


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.board = json.loads((FILES / 'grafana-dashboard.json').read_text())
        self.panels = [p for p in self.board['panels'] if p['type'] != 'row']
        self.expressions = [t['expr'] for p in self.panels for t in p['targets']]

    def test_metrics_of_the_dashboard_exist(self):
        variables = [v['definition'] for v in self.board['templating']['list'] if v['type'] == 'query']
        self.assertGreater(len(self.expressions), 20)
        check_metrics(self, self.expressions + variables)
        for definition in variables:
            metric, label = re.fullmatch(r'label_values\((\w+).*, (\w+)\)', definition).groups()
            self.assertIn(label, families(demo.metrics)[metric] | SCRAPED)

    def test_legends_use_labels_that_the_expressions_keep(self):
        for panel in self.panels:
            for target in panel['targets']:
                legend = set(re.findall(r'{{(\w+)}}', target['legendFormat']))
                kept = re.search(r'\bby \(([^)]*)\)', target['expr'])
                labels = set(re.split(r', *', kept[1])) if kept else SCRAPED.union(
                    *(families(demo.metrics)[m] for m in metrics_in(target['expr'])))
                self.assertLessEqual(legend, labels, panel['title'])

    def test_variables_and_layout(self):
        names = {v['name'] for v in self.board['templating']['list']} | {'__rate_interval', '__range'}
        used = set(re.findall(r'\$\{?(\w+)', json.dumps(self.board['panels'])))
        self.assertLessEqual(used, names)
        self.assertEqual(len({p['id'] for p in self.board['panels']}), len(self.board['panels']))
        cells = [(x, y) for p in self.board['panels'] for g in [p['gridPos']]
                 for x in range(g['x'], g['x'] + g['w']) for y in range(g['y'], g['y'] + g['h'])]
        self.assertEqual(len(cells), len(set(cells)), 'panels overlap')
        self.assertLess(max(x for x, _ in cells), 24)

    def test_expressions_are_valid(self):
        """As recording rules, which promtool parses, with values for the variables."""
        promtool = needs_tool('promtool')
        filled = [re.sub(r'\$__\w+', '5m', e) for e in self.expressions]
        rules = [{'record': f'panel:{i}', 'expr': re.sub(r'\$\w+', '.*', e)} for i, e in enumerate(filled)]
        file = demo.folder / 'expressions.json'  # which is YAML too
        file.write_text(json.dumps({'groups': [{'name': 'dashboard', 'rules': rules}]}))
        done = call(promtool, 'check', 'rules', file)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f'{len(rules)} rules found', done.stdout)


def check_metrics(case, expressions):
    known = families(demo.metrics)
    for expression in expressions:
        named = metrics_in(expression)
        case.assertTrue(named, f'names no metric: {expression}')
        for metric, labels in named.items():
            if metric in OF_PROMETHEUS:
                continue
            case.assertIn(metric, known, expression)
            case.assertLessEqual(labels, known[metric] | SCRAPED, expression)


class Shippers(unittest.TestCase):
    def test_vector_configuration_is_yaml_and_connected(self):
        if not yaml:
            self.skipTest('python3-yaml is not installed')
        conf = yaml.safe_load((FILES / 'vector.yaml').read_text())
        named = set(conf['sources']) | set(conf['transforms'])
        for part in (*conf['transforms'].values(), *conf['sinks'].values()):
            self.assertLessEqual(set(part['inputs']), named)

    def test_vector_accepts_its_configuration(self):
        done = call(needs_tool('vector'), 'validate', '--no-environment', FILES / 'vector.yaml')
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_fluent_bit_sections_and_parser(self):
        main, parsers = (sections(FILES / name) for name in ('fluent-bit.conf', 'fluent-bit-parsers.conf'))
        self.assertEqual([name for name, _ in main], ['SERVICE', 'INPUT', 'OUTPUT'])
        (_, service), (_, source), (_, output) = main
        self.assertTrue((FILES / service['parsers_file']).is_file())
        self.assertEqual((source['parser'], source['tag']), (parsers[0][1]['name'], output['match']))

    def test_fluent_bit_accepts_its_configuration(self):
        done = call(needs_tool('fluent-bit'), '--dry-run', '-c', FILES / 'fluent-bit.conf')
        self.assertEqual(done.returncode, 0, done.stdout)


def sections(path):
    """[(name, {key: value})] of a configuration in Fluent Bit's own format."""
    found = []
    for line in path.read_text().splitlines():
        if re.fullmatch(r'\[\w+\]', line):
            found.append((line[1:-1], {}))
        elif line.strip() and not line.lstrip().startswith('#'):
            key, value = line.split(None, 1)
            found[-1][1][key.lower()] = value
    return found


run(__name__)
