#!/usr/bin/env python3
"""test_ctl_kubectl.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: `informerctl get` prints what `kubectl get` prints.

Both read from the same informerd, kubectl through the kubeconfig that informerctl writes. It is skipped if there is no kubectl;
KUBECTL names another one than that in PATH.
"""
import os
import shlex
import shutil
import subprocess

from ctl_case import INFORMERCTL, Ctl
from service import DEADLINE, config_map, environment, run

KUBECTL = os.environ.get('KUBECTL') or shutil.which('kubectl')
USAGE = 64
LONG = 'Successfully pulled image "web:1" in 1.4s (1.4s including waiting), which is a line of more than 80 columns: '

COMMANDS = r'''
get pods -n shop
get pods -A
get pods -A -o wide
get po,cm -n shop
get cm,po -A
get all -n shop
get pods -n nothere
get pods,cm -n nothere
get pods -n nothere --no-headers
get pod web-0 -n shop
get pod/web-0 pod/web-1 -n shop
get pod/web-0 cm/b -n shop
get pods web-0 nope web-1 -n shop
get pod nope -n shop
get pod nope nope2 -n shop
get pod nope -n shop -o json
get pod nope --ignore-not-found -n shop
get pods web-0 nope -n shop -o name
get pods -n shop -o json
get pod web-0 -n shop -o json
get pod web-0 web-1 -n shop -o json
get pods,cm -n shop -o json
get pods,cm -A -o yaml
get pod web-0 -n shop -o yaml
get cm -A -o yaml
get pods,cm -A -o name
get pods -n nothere -o name
get pods -n nothere -o json
get pods -n nothere -o yaml
get pods -A -o jsonpath={.items[*].metadata.name}
get pods -A -o 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}'
get pods -A -o jsonpath={.items[*].spec.containers[0].image}
get pods -A -o 'jsonpath={.items[?(@.metadata.name=="web-1")].metadata.labels}'
get pods -A -o 'jsonpath={.items[?(@.metadata.name!="web-1")].metadata.name}'
get pods -A -o jsonpath={.items[-1].metadata.name}
get pods -A -o jsonpath={.items[0:2].metadata.name}
get pods -A -o 'jsonpath={.items[*].metadata.labels.example\.com/tier}'
get pod web-0 -n shop -o jsonpath={.metadata.labels}
get pods -n shop -o jsonpath-as-json={.items[*].metadata.name}
get pod web-0 -n shop -o jsonpath-as-json={.spec}
get pods -n shop -o custom-columns=NAME:.metadata.name,A:.metadata.namespace,I:.spec.containers[*].image,L:.metadata.labels,X:.spec.none
get pods -n shop -o custom-columns=N:.kind,Q:.apiVersion --no-headers
get pods,cm -n shop -o custom-columns=NAME:.metadata.name,KIND:.kind
get pods -n nothere -o custom-columns=NAME:.metadata.name
get pods -n shop --show-labels
get pods -n shop -L app -L example.com/tier
get pods -n shop -L app,none --show-labels -o wide
get pods -n shop --no-headers
get pods,cm -n shop --no-headers
get pods -n shop --show-kind
get pods -A --sort-by=.metadata.name
get pods -A --sort-by=.metadata.uid -o name
get cm -A --sort-by=.data.size -o custom-columns=N:.metadata.name,S:.data.size
get pods -A -l app=web
get pods -A -l app!=web
get pods -A -l 'app in (web,db)' -o name
get pods -A --field-selector metadata.name=web-1
'''.strip().splitlines()

# Templates on the pods and on one config map; DATA has one value of each type. kubectl reads its errors' details from stdout.
TEMPLATES = r'''
{{range .items}}{{.metadata.namespace}}/{{.metadata.name}}{{"\n"}}{{end}}
{{range $i, $e := .items}}{{$i}}={{$e.metadata.name}} {{end}}{{.kind}}
{{range $k, $v := (index .items 0).metadata.labels}}{{$k}}:{{$v}},{{end}}
{{(index .items 0).metadata.name}}
{{.missing}} {{.missing.deeper}} {{print .missing}}
{{len .items}} {{len .kind}} {{len (index .items 0).metadata}}
{{if .items}}yes{{else}}no{{end}}{{if .none}}yes{{else if .kind}}kind{{else}}no{{end}}
{{with .metadata}}{{.resourceVersion}}x{{else}}none{{end}}{{with .none}}a{{else with .kind}}{{.}}{{end}}
{{range .none}}x{{else}}empty{{end}}
{{range .items}}{{if eq .metadata.name "web-0"}}{{continue}}{{end}}{{.metadata.name}}{{break}}{{end}}
{{- "a" -}}   b   {{- /* comment */ -}}   c
{{define "name"}}<{{.metadata.name}}>{{end}}{{range .items}}{{template "name" .}}{{end}}
{{block "b" .kind}}[{{.}}]{{end}}{{template "b" .apiVersion}}
{{define "a"}}{{$x := 1}}{{$x}}{{end}}{{template "a"}}{{template "a" .}}
{{$x := 1}}{{range .items}}{{$x = .metadata.name}}{{end}}{{$x}}
{{$n := 0}}{{if true}}{{$n := 2}}{{$n}}{{end}}{{$n}}
{{range .items}}{{range .spec.containers}}{{.image}} {{end}}{{$.kind}};{{end}}
{{.items}}
{{.metadata}}
{{1}} {{1.5}} {{1e3}} {{1e30}} {{0x1f}} {{0b11}} {{0o17}} {{017}} {{1_000}} {{'a'}} {{'\n'}} {{-3}} {{true}} {{"s"}} {{`raw\n`}}
{{"\u00e9\x41\101\t|"}}
{{and 1 0 "x"}}{{and "a" "b"}}{{or 0 "" "c"}}{{or 0 ""}}{{not 0}}{{not "a"}}{{or .none .kind}}
{{eq 1 1}}{{eq 1 2 3 1}}{{ne "a" "b"}}{{lt 1 2}}{{le 2 2}}{{gt "b" "a"}}{{ge 1.5 2.5}}{{eq .none nil}}{{eq .kind "List"}}
{{index .items 0 "metadata" "name"}} {{index "abc" 1}} {{index .metadata "none"}}
{{slice "abcdef" 1 3}} {{slice "abc"}} {{slice "abc" 1}} {{len (slice .items 1)}} {{len (slice .items 0 2)}}
{{print 1 2 "a" "b" 3 true nil}}|{{println "a" 1}}|{{print}}
{{html "<a href='x'>&\"" 1}} {{js "<it's> \"x\" = & \n é"}} {{urlquery "a b/c?d=é&~"}} {{html .none}}
{{printf "%s|%5s|%-5s|%.2s|%q|%x|%X|% x|%v" "ab" "ab" "ab" "abc" "a\"b" "hi" "hi" "hi" "v"}}
{{printf "%d|%5d|%-5d|%05d|%+d|%x|%X|%#x|%b|%o|%c|%U|%q" 42 42 42 42 42 255 255 255 5 8 65 65 65}}
{{printf "%f|%.2f|%8.3f|%e|%g|%v|%G" 1.5 1.555 2.5 12345.678 0.0000001 1e21 1.5}}
{{printf "%t|%v|%T|%T|%T|%T|%T" true false 1 "a" 1.5 .items .metadata}}
{{printf "%d" "x"}} {{printf "%s" 5}} {{printf "%d"}} {{printf "x" 1 "b"}} {{printf "%!"}} {{printf "%z" 3}} {{printf "%"}} {{printf "100%%"}}
{{printf "%*d|%.*f" 5 42 1 2.55}} {{printf "%v %s" .none .none}} {{printf "%s" .metadata}} {{printf "%q" (slice .items 0 0)}}
{{printf "%#v %#v %#v %#v" "a" 1 true .metadata}}
{{"a" | printf "%s-%s" "b"}} {{.items | len | printf "%03d"}} {{"x" | html | js}}
{{exists .metadata "resourceVersion"}} {{exists .metadata "x" "y"}} {{exists .items 0}} {{exists .items 9}} {{exists .none}}
{{base64decode "aGVsbG8="}} {{"d29ybGQ=" | base64decode}}
{{range $i, $c := "abc"}}{{end}}
{{with $x := .kind}}{{$x}}{{end}}{{with $}}{{.kind}}{{end}}
{{(.metadata).resourceVersion}}{{(printf "%s" "a" | print "b")}}
{{/* only a comment */}}
no action at all
{{.}}{{end}}
{{.kind
{{if}}x{{end}}
{{if .kind}}x
{{nope 1}}
{{$undefined}}
{{.kind | 5}}
{{"a".b}}
{{range .items}}{{break}}{{end}}{{break}}
{{1x}}
{{'ab'}}
{{"a
{{.a!}}
{{(.kind}}
{{.kind)}}
{{template "none"}}
{{template nope}}
{{define "a"}}x{{end}}{{define "a"}}y{{end}}
{{else}}
{{$a, $b := .x}}
{{:= 1}}
{{/* a }}
{{nil}}
{{.kind.deeper}}
{{range .items}}{{.metadata.name.deeper}}{{end}}
{{with .kind}}{{.x}}{{end}}
{{.kind 1}}
{{"a" | .kind}}
{{$x := 1}}{{$x 2}}
{{index .items 99}}
{{index .items 3}}
{{index .items "a"}}
{{index .none 1}}
{{index .metadata 1}}
{{index 1 1}}
{{index .metadata "none" "x"}}
{{len 3}}
{{len .none}}
{{len}}
{{len 1 2}}
{{slice "abc" 2 1}}
{{slice "abc" 9}}
{{slice .metadata}}
{{eq .metadata .metadata}}
{{eq 1}}
{{lt true false}}
{{lt .items 1}}
{{call .kind}}
{{call .none}}
{{base64decode "%"}}
{{base64decode 5}}
{{base64decode .items}}
{{base64decode .none}}
{{printf 5}}
{{printf .none}}
{{range true}}{{end}}
{{range "abc"}}{{end}}
{{range 1.5}}{{end}}
text before {{.kind}} {{.kind.x}} and after
{{define "inner"}}
  {{.x.y}}{{end}}{{range .items}}{{template "inner" .kind}}{{end}}
'''.strip().splitlines()

DATA = {'int': 7, 'negative': -3, 'float': 1.5, 'small': 0.25,
        'text': 'a "b" <c> \\ \u00e9\n\ttab', 'yes': True, 'no': False, 'null': None,
        'list': [1, 'two', None, [3]],
        'map': {'b': 1, 'a': {'x': None}}, 'empty': {}, 'none': [], 'base64': 'aGk='}
TEMPLATES_OF_DATA = r'''
{{.data}}
{{range $k, $v := .data}}{{$k}}={{$v}};{{end}}
{{range .data.list}}[{{.}}]{{print .}}{{end}}
{{.data.null}} {{print .data.null}} {{.data.map.a.x}}
{{.data.null.deeper}}
{{range .data.list}}{{.x}}{{end}}
{{printf "%v %s %d %q %T" .data.list .data.list .data.list .data.list .data.list}}
{{printf "%v %+v %d" .data.map .data.map .data.map}}
{{printf "%d %f %v %s" .data.int .data.float .data.small .data.text}}
{{eq .data.int 7}}{{lt .data.negative 0}}{{gt .data.float 1.0}}{{eq .data.null nil}}{{eq .data.yes true}}{{if .data.empty}}x{{end}}{{if .data.none}}x{{end}}
{{len .data.null}}
{{base64decode .data.base64}}{{base64decode .data.null}}
{{index .data.list 3 0}} {{index .data "map" "a"}} {{exists .data "null"}} {{exists .data "map" "a"}}
{{js .data.text}} {{html .data.text}} {{urlquery .data.text}}
{{eq .data.map .data.list}}
'''.strip().splitlines()

# Older versions of Go have other messages, and no range over a number.
NEWER_TEMPLATES = r'''
{{range 3}}{{.}}{{end}}{{range $i := 2}}{{$i}}{{end}}
{{eq 1 "a"}}
{{eq 1 1.0}}
{{lt 1 "a"}}
'''.strip().splitlines()
NEWER_TEMPLATES_OF_DATA = r'''
{{range $i, $x := .data.int}}{{end}}
{{range .data.int}}{{.}}{{end}}
{{eq .data.float 1}}
'''.strip().splitlines()

ODD_TEXTS = {'lines': 'one\n two\n\n\tthree', 'end': 'one\n', 'control': 'a\x01\x1b\r\u2028\u00a0b', 'tab': '\tx\ty', 'yes': 'y', 'No': 'n', '1': '1', '1_0': 'x', '0x1f': 'x',
             '1e3': 'x', '2026-01-31': 'd', 'a.b/c-d': 'x', '.a': 'x', 'a b': 'x', 'é': 'é', '_': 'u', 'nan': 'x', '-1': 'x', '': 'x', '0b1': 'b', '0o7': 'o', 'T': 't'}
KYAML = ['get pods -n shop -o kyaml', 'get pod web-0 -n shop -o kyaml', 'get cm -A -o kyaml', 'get pods,cm -A -o kyaml',
         'get pods -n nothere -o kyaml']


def pod(ns, name, **labels):
    return {'metadata': {'namespace': ns, 'name': name, 'labels': {'app': name[:-2], **labels}},
            'spec': {'containers': [{'name': 'c', 'image': 'web:1'}, {'name': 'd', 'image': 'log:2'}]}, 'status': {'phase': 'Running'}}


class Kubectl(Ctl):
    def run_both(self, *arguments):
        env = environment(self.folder, KUBECONFIG=str(self.folder / 'replica'), INFORMERD_SOCKET=str(self.socket))
        for program in (KUBECTL, INFORMERCTL):
            done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=DEADLINE, env=env, cwd='/')
            yield done.returncode, done.stdout, done.stderr

    def start_with(self, *config_maps):
        if not KUBECTL:
            self.skipTest('there is no kubectl')
        self.sim.put('pods', pod('shop', 'web-0', **{'example.com/tier': 'front'}), pod('shop', 'web-1'), pod('default', 'db-0'))
        self.sim.put('configmaps', *config_maps)
        self.start(self.conf(api={'listen': '127.0.0.1:0'}, watches=[{'resource': 'configmaps'}, {'resource': 'pods'}]))
        self.wait_ready()
        (self.folder / 'replica').write_text(self.good('kubeconfig'))

    def test_the_same_output(self):
        sizes = {'a': '1Gi', 'b': '200Mi', 'c': '2Gi'}
        self.start_with(*({'metadata': {'name': name, 'namespace': 'shop'}, 'data': {'size': size, 'text': LONG + size, 'x': '1\n2\n'}}
                          for name, size in sizes.items()), config_map('default-one'))
        for line in COMMANDS:
            self.compare(*shlex.split(line))

    def compare(self, *arguments):
        with self.subTest(arguments):
            for _ in range(5):  # an age may change between the two
                theirs, ours = self.run_both(*arguments)
                if theirs == ours:
                    break
            self.assertEqual(ours, theirs)

    def compare_template(self, template, *target):
        """Messages have the name of the program in front; kubectl has no help for a wrong template."""
        with self.subTest(template):
            (code, out, err), (our_code, our_out, our_err) = self.run_both('get', *target, '-o', 'go-template=' + template)
            wrong_template = err.startswith('error: error parsing')
            self.assertEqual(our_out, out)
            self.assertEqual(our_err.removeprefix('informerctl: ').replace(" (see 'informerctl get --help')", '').rstrip('\n') if wrong_template else our_err,
                             err.removeprefix('error: ').rstrip('\n') if wrong_template else err.replace('error:', 'informerctl:', 1))
            self.assertEqual(our_code, USAGE if wrong_template else code)

    def test_templates(self):
        self.start_with({'metadata': {'name': 'types', 'namespace': 'shop'}, 'data': DATA})
        for template in TEMPLATES:
            self.compare_template(template, 'pods', '-A')
        for template in TEMPLATES_OF_DATA:
            self.compare_template(template, 'cm', 'types', '-n', 'shop')
        (self.folder / 'names').write_text(TEMPLATES[0])
        for arguments in (('--template', TEMPLATES[0]), ('-o', 'go-template', '--template', TEMPLATES[0]), ('-o', f'go-template-file={self.folder}/names'),
                          ('-o', 'templatefile', f'--template={self.folder}/names'), ('-o', 'template=' + TEMPLATES[0]),
                          ('-o', 'jsonpath', '--template', '{.items[*].metadata.name}')):
            self.compare('get', 'pods', '-A', *arguments)

    def skip_before_kyaml(self):
        if 'unable to match a printer' in list(self.run_both('get', 'pods', '-o', 'kyaml'))[0][2]:
            self.skipTest('this kubectl is older than 1.35: no kyaml, and another version of Go')

    def test_templates_of_newer_versions(self):
        self.start_with({'metadata': {'name': 'types', 'namespace': 'shop'}, 'data': DATA})
        self.skip_before_kyaml()
        for template in NEWER_TEMPLATES:
            self.compare_template(template, 'pods', '-A')
        for template in NEWER_TEMPLATES_OF_DATA:
            self.compare_template(template, 'cm', 'types', '-n', 'shop')

    def test_kyaml(self):
        self.start_with({'metadata': {'name': 'types', 'namespace': 'shop', 'annotations': ODD_TEXTS}, 'data': DATA})
        self.skip_before_kyaml()
        for line in KYAML:
            self.compare(*shlex.split(line))


run(__name__)
