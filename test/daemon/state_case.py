"""Shared by the tests of restarts: a run that ends, and another one."""
import signal

from service import CHANGES, Case, config_map, runs_of


class Restarted(Case):
    """One run with four objects, and another one."""

    def changes(self):
        """(type, name, origin) of the changes of the last run."""
        return [(r['type'], r['name'], r['origin']) for r in runs_of(self.log.read())[-1] if r['type'] in CHANGES]

    def conf(self, **changes):
        """Every update is reported, also one that changes no kept field."""
        return super().conf(**{'watches': [{'resource': 'configmaps', 'ignore': []}], **changes})

    def first_run(self, number=signal.SIGTERM, conf=None):
        self.sim.put('configmaps', *(config_map(name) for name in ('kept', 'changed', 'deleted', 'recreated')))
        daemon = self.start(conf)
        self.wait_ready()
        self.wait_equal()
        self.wait_identified()
        status = daemon.end(number)
        self.assertEqual(status, 0 if number == signal.SIGTERM else -number, daemon.stderr_text())

    def wait_identified(self):
        pass

    def change(self):
        self.sim.put('configmaps', config_map('changed', labels={'a': 'b'}), config_map('added'))
        self.sim.control('delete', resource='configmaps', namespace='default', name='deleted')
        self.sim.control('delete', resource='configmaps', namespace='default', name='recreated')
        self.sim.put('configmaps', config_map('recreated'))

    def second_run(self, conf=None):
        runs = len(runs_of(self.log.read()))
        daemon = self.start(conf)
        self.wait_ready()
        self.log.wait_for(lambda records: len(runs_of(records)) > runs, 'START')
        self.wait_equal()
        return daemon
