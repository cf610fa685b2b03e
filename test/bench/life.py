"""One run of one client: it connects to its own server, executes the steps of a case, and ends.

Each step adds its measurements, by name, to `figures`: seconds or bytes, total or per operation.
"""
import contextlib
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from actors import CLIENT_CORE, Actor, Client, Informerd, Server

FIRST_NAMESPACE = 100
VARIANTS = {'informerd': '', 'informerd plain': 'cache: plain\n', 'informerd latency 0': 'latency: 0s\n',
            'informerd without state': 'state: {enabled: false}\n',
            'informerd plain, no state': 'cache: plain\nstate: {enabled: false}\n'}  # conf; the default cache is compact
RATES = {10: 50, 100: 300, 300: 900, 1000: 3000, 5000: 15000}  # changes per second, and how many of them
BATCHES_SECONDS, BATCHES_FLAT_OUT, BATCHES_PACED = 4, 9, 3
NAMESPACES = 20  # namespaces of the pods, if there is one watch for all of them
KUBECONFIG = '''apiVersion: v1
kind: Config
clusters: [{{name: bench, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: {folder}/ca.crt}}}}]
users: [{{name: bench, user: {{}}}}]
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
current-context: bench
'''


@dataclass(frozen=True)
class Case:
    """A list of steps. `clients` None: all clients."""
    title: str
    pods: int
    steps: tuple
    rounds: int = 1
    clients: tuple = None
    size: int = 11700  # approximate size of a pod in bytes
    deployments: int = 0  # the pods of that many different ones, of about 12 KB; 0: all pods are alike
    watches: int = 1  # one for all namespaces, or one per namespace
    events: int = 5000
    paced: int = 2000


class Life:
    def __init__(self, stage, name, case):
        self.case, self.figures = case, {}
        self.folder = Path(tempfile.mkdtemp(prefix='life-', dir=stage.folder))
        namespaces = case.watches if case.watches > 1 else NAMESPACES
        self.server = Server(stage.tools, stage.pki, stage.template(case), case.pods, namespaces)
        (self.folder / 'kubeconfig').write_text(KUBECONFIG.format(port=self.server.port, folder=stage.pki))
        self.began = time.monotonic()
        self.client = self.start(stage, name)
        self.reports_relists = name not in ('kube-rs', 'floor')  # which do not report what a new list changed
        self.can_read = name in ('library', 'library compact', 'client-go typed')

    def start(self, stage, name):
        kubeconfig, watches = self.folder / 'kubeconfig', self.case.watches
        if name.startswith('informerd'):
            spaces = [f'ns-{FIRST_NAMESPACE + i}' for i in range(watches)] if watches > 1 else []
            return Informerd(stage.informerd, stage.tools, self.folder, spaces, VARIANTS[name])
        indexed = 'reads' in self.case.steps
        program, *kind = {
            'floor': (stage.tools / 'floor',),
            'library': (stage.tools / 'library', 'plain-indexed' if indexed else 'plain'),
            'library compact': (stage.tools / 'library', 'compact-indexed' if indexed else 'compact'),
            'client-go typed': (stage.peers.get('client-go'), 'indexed' if indexed else 'typed'),
            'client-go dynamic': (stage.peers.get('client-go'), 'dynamic'),
            'kube-rs': (stage.peers.get('kube-rs'),),
        }[name]
        stderr = open(self.folder / 'stderr', 'w')
        return Client(Actor(CLIENT_CORE, program, *kind, kubeconfig, watches, stderr=stderr))

    @contextlib.contextmanager
    def measured(self, name, count):
        """CPU and wall time per item of `count` for the body; peak memory and worst tick."""
        self.client.forget_peak()
        cpu, wall = self.client.cpu(), time.monotonic()
        yield
        self.figures[f'{name}_cpu'] = (self.client.cpu() - cpu) / count
        self.figures[f'{name}_wall'] = (time.monotonic() - wall) / count
        self.look(name)

    def look(self, name):
        self.figures[f'{name}_peak'] = self.client.memory()[1]
        tick = self.client.worst_tick()
        if tick is not None:
            self.figures['tick'] = max(self.figures.get('tick', 0), tick)

    # ---- the steps ----

    def sync(self):
        """From its start until all objects are cached and delivered."""
        self.client.wait_until_synced()
        self.figures['sync_cpu'] = self.client.cpu() / self.case.pods
        self.figures['sync_wall'] = time.monotonic() - self.began
        self.look('sync')
        time.sleep(1)  # remaining work must not count for the next step

    def flat_out(self):
        """Changes at full speed; fast clients do more of them."""
        self.in_batches(BATCHES_FLAT_OUT, lambda: self.change_all('event', self.case.events))

    def paced(self):
        """1,000 changes per second."""
        self.in_batches(BATCHES_PACED, lambda: self.change_all('paced', self.case.paced, 1000))

    def rates(self):
        """Changes at a steady pace: CPU and context switches per change, and latency."""
        for rate, count in RATES.items():
            switches = self.client.switches()
            figures = self.change_all(f'rate{rate}', count, rate)
            self.figures |= {f'rate{rate}_{name}': figures[name] for name in ('p50', 'p99', 'p999') if name in figures}
            self.figures[f'rate{rate}_switches'] = (self.client.switches() - switches) / count

    def steady(self):
        time.sleep(1 + self.case.pods / 8000)  # a compact cache may still repack, and a heap is trimmed 10 s after changes
        self.figures['steady'] = self.client.memory()[0]
        self.figures['per_pod'] = self.figures['steady'] / self.case.pods

    def relist(self):
        """A relist after the version expired; nothing has changed."""
        self.come_back('relist', 0)

    def churn(self):
        """The same; a tenth has changed."""
        self.come_back('churn', self.case.pods // 10)

    def storm(self):
        """All connections are cut, and cut again when all have reconnected."""
        cuts = 4
        with self.measured('storm', cuts * self.case.watches):
            for _ in range(cuts):
                before = self.server.send_command('cut')['connections']
                self.server.wait_for_watches(self.case.watches, before + self.case.watches)

    def idle(self):
        """A minute in which each watch receives one bookmark, as from a real server."""
        switches = self.client.switches()
        with self.measured('idle', 60):
            time.sleep(30)
            self.server.send_command('bookmark')
            time.sleep(30)
        self.figures['idle_switches'] = (self.client.switches() - switches) / 60

    def scrape(self):
        """Requests for metrics, as Prometheus sends them."""
        scrapes = 20
        if self.client.worst_tick() is None:
            return
        with self.measured('scrape', scrapes):
            for _ in range(scrapes):
                self.client.worst_tick()

    def reads(self):
        """The duration of reads of the cache, by kind, in seconds."""
        if not self.can_read:
            return
        self.client.reporter.send('reads')
        self.figures |= {f'read_{name}': ns / 1e9 for name, ns in self.client.delivered().items()}

    # ---- helpers ----

    def in_batches(self, most, batch):
        """The median of several batches, because the speed of a machine varies from second to second."""
        batches, until = [], time.monotonic() + BATCHES_SECONDS
        while not batches or (time.monotonic() < until and len(batches) < most):
            batches.append(batch())
        self.figures |= {name: statistics.median(figures[name] for figures in batches) for name in batches[0]}

    def change_all(self, name, count, *pace):
        """The figures of one batch."""
        with self.measured(name, count):
            late = self.change(count, *pace)
        found = {figure: self.figures[figure] for figure in (f'{name}_cpu', f'{name}_wall', f'{name}_peak')}
        return found | ({figure: late[figure] / 1e9 for figure in ('p50', 'p99', 'p999', 'max')
                         if figure in late} if pace else {})

    def change(self, count, *pace):
        self.client.expect(count)
        self.server.send_command('change', count, *pace)
        return self.client.delivered()

    def come_back(self, name, changed):
        self.server.send_command('secretly', changed)
        self.server.send_command('forget')
        with self.measured(name, self.case.pods):
            before = self.server.send_command('cut')['connections']
            self.server.wait_for_watches(self.case.watches, before + self.case.watches)
            self.client.expected += changed if self.reports_relists else 0
            self.change(1)  # delivered after everything that the new list changed
        time.sleep(1)

    def end(self):
        self.client.end()
        self.server.end()
        shutil.rmtree(self.folder)


def live(stage, name, case):
    """The figures of a whole run."""
    life = Life(stage, name, case)
    try:
        for step in case.steps:
            getattr(life, step)()
        return life.figures
    finally:
        life.end()

