#!/usr/bin/env python3
"""test_examples.py KUBESIM RECORDINGS PODS CONTROLLER DURABLE: the example programs of the README work as described."""
import signal
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from stage import PROGRAMS, Case, Program, run

PODS, CONTROLLER, DURABLE = PROGRAMS


def pod(name, node, **labels):
    return {'metadata': {'name': name, 'namespace': 'shop', 'labels': labels}, 'spec': {'nodeName': node}}


class Examples(Case):
    arguments = '--self-signed', 'FOLDER/pki'

    def start(self, program, *arguments):
        child = Program(program, *arguments, KUBECONFIG=str(self.folder / 'pki/kubeconfig'))
        self.addCleanup(child.stop)
        return child

    def delete(self, name):
        self.sim.control('delete', resource='pods', namespace='shop', name=name)

    def assert_ends(self, child):
        """Ctrl-C ends it with status 0: no handle is left open and no memory leaked."""
        child.child.send_signal(signal.SIGINT)
        self.assertEqual(child.status(), 0)

    def test_pods(self):
        self.sim.put('pods', pod('web-0', 'n1'), pod('web-1', 'n1'))
        pods = self.start(PODS)
        self.assertEqual([pods.line() for _ in range(3)],
                         ['ADDED    shop/web-0', 'ADDED    shop/web-1',
                          'all existing pods were printed; changes follow until Ctrl-C'])
        self.sim.put('pods', pod('web-2', 'n1'), pod('web-0', 'n1', changed='yes'))
        self.delete('web-1')
        self.assertEqual([pods.line() for _ in range(3)],
                         ['ADDED    shop/web-2', 'MODIFIED shop/web-0', 'DELETED  shop/web-1'])
        self.assert_ends(pods)

    def test_controller(self):
        self.sim.put('pods', pod('a', 'n1'), pod('b', 'n1'), pod('c', 'n2'))
        controller = self.start(CONTROLLER)
        self.assertEqual(sorted(controller.line() for _ in range(2)), ['node n1: 2 pods', 'node n2: 1 pods'])
        self.sim.put('pods', pod('d', 'n2'))
        self.assertEqual(controller.line(), 'node n2: 2 pods')
        self.delete('a')
        self.assertEqual(controller.line(), 'node n1: 1 pods')
        self.assert_ends(controller)

    def test_ctrl_c_right_after_the_start(self):
        for program in PROGRAMS:
            child = self.start(program, *([str(self.folder / 'state')] if program == DURABLE else []))
            self.sim.put('pods', pod('a', 'n1'))
            child.line()
            self.assert_ends(child)

    def test_readme_shows_the_complete_first_example(self):
        root = Path(__file__).parents[2]
        program = (root / 'test/example/pods.c').read_text()
        self.assertIn(program[program.index('#include'):], (root / 'README.md').read_text())

    def test_missing_kubeconfig_fails(self):
        for program in PROGRAMS:
            child = Program(program, KUBECONFIG=str(self.folder / 'missing'))
            self.addCleanup(child.stop)
            self.assertEqual(child.status(), 1)

    def test_durable(self):
        """Each change is printed at least once over kill -9, and a record that was printed before may be repeated once."""
        folder = self.folder / 'state'
        self.sim.put('pods', pod('web-0', 'n1'), pod('web-1', 'n1'), pod('web-2', 'n1'))
        durable = self.start(DURABLE, str(folder))
        self.assertEqual(durable.line(), 'ADDED shop/web-0')
        durable.child.kill()
        durable.child.wait()
        self.sim.put('pods', pod('web-1', 'n1', changed='yes'))
        durable = self.start(DURABLE, str(folder))
        lines = [durable.line() for _ in range(4)]
        self.assertEqual(lines[0], 'again: ADDED shop/web-0')
        self.assertEqual([line.removeprefix('again: ') for line in lines],
                         ['ADDED shop/web-0', 'ADDED shop/web-1', 'ADDED shop/web-2', 'MODIFIED shop/web-1'])
        self.sim.put('pods', pod('web-3', 'n1'))
        self.assertEqual(durable.line(), 'ADDED shop/web-3')
        self.assert_ends(durable)


run(__name__)
