#!/usr/bin/env python3
"""test_levels.py KUBESIM RECORDINGS INFORMERD: the level of records, from built-in rules and from the configuration."""
import signal

from service import Case, Log, run


def pod(state, restarts=0):
    return {'kind': 'Pod', 'apiVersion': 'v1', 'metadata': {'name': 'web-0', 'namespace': 'default'},
            'status': {'containerStatuses': [{'name': 'web', 'restartCount': restarts, 'state': state}]}}


RUNNING = {'running': {'startedAt': '2026-01-01T00:00:00Z'}}
CRASHING = {'waiting': {'reason': 'CrashLoopBackOff'}}
OOM = {'terminated': {'exitCode': 137, 'reason': 'OOMKilled'}}


class Levels(Case):

    def put(self, count, *states):
        """Puts the pod in each state. Returns level and rule of all its records, when there are `count`."""
        for state in states:
            self.sim.put('pods', pod(state))

        def of_pod(records):
            return [(r['type'], r['level'], r.get('rule')) for r in records if r.get('name') == 'web-0']
        self.log.wait_for(lambda records: len(of_pod(records)) >= count, f'{count} records')
        return of_pod(self.log.records)

    def test_changes_have_the_level_of_what_they_did(self):
        self.start(self.conf(watches=[{'resource': 'pods'}]))
        self.wait_ready()
        self.assertEqual(self.put(5, RUNNING, OOM, CRASHING, {**CRASHING, 'x': 1}, RUNNING), [
            ('ADDED', 'info', None),
            ('MODIFIED', 'error', 'oom-killed'),
            ('MODIFIED', 'error', 'crash-loop'),
            ('MODIFIED', 'info', None),
            ('MODIFIED', 'info', None)])

    def test_the_objects_at_the_start_have_the_level_of_their_state(self):
        self.sim.put('pods', pod(CRASHING))
        self.start(self.conf(watches=[{'resource': 'pods'}]))
        self.assertEqual(self.put(1), [('ADDED', 'error', 'crash-loop')])

    def test_the_configuration_adds_and_changes_rules(self):
        conf = self.conf(watches=[{'resource': 'pods'}],
                         levels=[{'name': 'crash-loop', 'level': 'warn'},
                                 {'kind': 'Pod', 'when': 'status.containerStatuses[*].state.running.startedAt!=0',
                                  'name': 'runs', 'level': 'error'}])
        daemon = self.start(conf)
        self.wait_ready()
        self.assertEqual(self.put(2, RUNNING, CRASHING), [('ADDED', 'error', 'runs'), ('MODIFIED', 'warn', 'crash-loop')])
        conf['levels'] = [{'name': 'crash-loop', 'level': 'info'}]
        self.write_conf(conf)
        daemon.send_signal(signal.SIGHUP)
        self.log.wait_for(lambda records: [r for r in records if r['type'] == 'CONFIG'], 'reloaded')
        message = [r['msg'] for r in self.log.records if r['type'] == 'CONFIG'][0]
        self.assertEqual(message, 'configuration reloaded: 1 watch unchanged, levels changed')
        self.assertEqual(self.put(4, RUNNING, CRASHING)[2:], [('MODIFIED', 'info', None), ('MODIFIED', 'info', None)])

    def test_an_event_log_has_a_minimum_level(self):
        self.sim.put('pods', pod(RUNNING))
        conf = self.conf(watches=[{'resource': 'pods'}], levels=[{'name': 'crash-loop', 'level': 'warn'}])
        conf['event_logs'].append({'path': str(self.folder / 'errors.jsonl'), 'level': 'error'})
        self.start(conf)
        self.wait_ready()
        self.assertEqual(len(self.put(4, CRASHING, RUNNING, OOM)), 4)
        errors = Log(self.folder / 'errors.jsonl')
        errors.wait_for(lambda records: errors.types()['MODIFIED'], 'the error')
        self.assertEqual([(r['type'], r['rule']) for r in errors.records if 'name' in r], [('MODIFIED', 'oom-killed')])


run(__name__)
