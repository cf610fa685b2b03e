#!/usr/bin/env python3
"""test_embed.py KUBESIM RECORDINGS CLOSING PAIR: the library embedded in a program: several clusters on one loop,
independent loops in threads, and closing at any moment."""
import subprocess
import sys

sys.dont_write_bytecode = True
from stage import FULL, MAPS, PROGRAMS, Case, Program, Sim, config_map, clean_environment, run

CLOSING, PAIR = PROGRAMS
TIME = 400  # seconds; hundreds of clients are opened and closed


class Closing(Case):
    arguments = '--self-signed', 'FOLDER/pki', '--bookmark-every', '20'

    def assert_closes(self, step=4):
        """The quick tier takes each `step`-th moment."""
        self.sim.put('configmaps', *map(config_map, 'abc'))
        result = subprocess.run([CLOSING, self.folder / 'pki/kubeconfig', str(1 if FULL else step)], stdout=subprocess.PIPE, text=True,
                              timeout=TIME, env=clean_environment())
        self.assertEqual(result.returncode, 0)
        turns = dict(line.split() for line in result.stdout.splitlines())
        self.assertEqual(list(turns), ['client', 'informer', 'handler', 'paused', 'inside'])
        self.assertGreater(min(map(int, turns.values())), 15)

    def test_close_at_any_moment_of_a_watch_list(self):
        self.assert_closes()

    def test_close_at_any_moment_of_a_list_and_a_watch(self):
        self.sim.control('set', watch_list=0)
        self.assert_closes()

    def test_close_while_data_arrives_byte_by_byte(self):
        self.sim.control('fault', do='drip', times=0)
        self.sim.put('configmaps', config_map('a'))
        self.assert_closes(step=100)


class Pairs(Case):
    arguments = '--self-signed', 'FOLDER/one', '--bookmark-every', '50'

    def listed(self, number, sim):
        items = (item['metadata'] for item in sim.request(MAPS).json()['items'])
        return [f'{number} {m["namespace"]}/{m["name"]} {m["resourceVersion"]}' for m in items]

    def assert_follows(self, how):
        """Each informer sees all changes of its own cluster, while both clusters change quickly."""
        with Sim('--self-signed', self.folder / 'two', '--bookmark-every', 50) as other:
            sims = self.sim, other
            arguments = []
            for number, sim in enumerate(sims):
                sim.control('fill', resource='configmaps', count=300, bytes=500, namespaces=3, prefix=f'of{number}')
                arguments += [sim.ready['kubeconfig'], 100 + 300 + 1500 * (number + 1)]
            pair = Program(PAIR, how, *arguments)
            self.addCleanup(pair.stop)
            for number, sim in enumerate(sims):
                sim.control('churn', resource='configmaps', count=1500 * (number + 1), rate=5000)
            lines = pair.child.stdout.read().decode().splitlines()  # printed at the end
            self.assertEqual(pair.status(), 0)
            self.assertEqual(lines, self.listed(0, self.sim) + self.listed(1, other))

    def test_two_clusters_on_one_loop(self):
        self.assert_follows('loop')

    def test_two_loops_in_two_threads(self):
        self.assert_follows('threads')


run(__name__)
