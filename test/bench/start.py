"""A start with saved objects: how long until reads are served, with a warm and a cold page cache.

The library: bench_state saves the objects in one process and loads and restores them in another one. The service: kubesim
has the objects, informerd saves them and is started again; the time is from its exec to the first answers of the local API,
a GET of one object and a LIST by label. Dropping the files from the page cache needs no privileges: posix_fadvise(2).

The first start of each is not measured. The host of a virtual machine assigns memory when it is first used, and takes free
memory back after seconds (free page reporting of virtio-balloon): 100 MB in huge pages that take 5 ms at the second use take
40 to 2,000 ms at the first one. That is a property of the host, and it is over after one start.

    start.py BUILD PODS ROUNDS   prints the figures of the service as JSON
"""
import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PODS, CHANGES, ROUNDS = 100_000, 5000, 5
POD_BYTES, NAMESPACES = 7000, 100
PATIENCE = 300  # seconds for the first sync


def run(program, *arguments):
    return json.loads(subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout)


def forget_pages(folder):
    for path in folder.iterdir():
        with open(path, 'rb') as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(tools, pods=PODS, rounds=ROUNDS):
    """The figures, in seconds and bytes."""
    with tempfile.TemporaryDirectory(prefix='informerd-start-') as name:
        folder = Path(name) / 'state'
        saved = run(tools / 'bench_state', 'save', folder, pods, CHANGES)
        run(tools / 'bench_state', 'start', folder)
        warm = [run(tools / 'bench_state', 'start', folder) for _ in range(rounds)]
        cold = []
        for _ in range(rounds):
            forget_pages(folder)
            cold.append(run(tools / 'bench_state', 'start', folder))

    def middle(starts, figure, one=1):
        return statistics.median(start[figure] for start in starts) * one
    return {'start_warm': middle(warm, 'served_ms', 1e-3), 'start_cold': middle(cold, 'served_ms', 1e-3),
            'start_loaded': middle(warm, 'loaded_ms', 1e-3), 'start_cpu': middle(warm, 'served_cpu_ms', 1e-3) / pods,
            'start_peak': middle(warm, 'peak'), 'start_rss': middle(warm, 'rss'),
            'tick': max(part['worst_tick_ms'] for part in (saved, *warm, *cold)) * 1e-3, 'written': saved['written_per_change']}


# ---- the service

class UnixClient(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def answer(place, target):
    """(status, text) of a GET; status 0 before informerd listens."""
    with contextlib.closing(UnixClient(place)) as client, contextlib.suppress(OSError, http.client.HTTPException):
        client.request('GET', target)
        reply = client.getresponse()
        return reply.status, reply.read()
    return 0, b''


def wait_for(place, target):
    end = time.monotonic() + PATIENCE
    while (reply := answer(place, target))[0] != 200:
        if time.monotonic() > end:
            raise SystemExit(f'start.py: {target} is not answered: {reply}')
        time.sleep(0.0005)
    return reply[1]


def cpu_seconds(pid):
    """Of all threads, from the scheduler: /proc/PID/stat counts in steps of 10 ms."""
    threads = Path(f'/proc/{pid}/task').iterdir()
    return sum(int((thread / 'schedstat').read_text().split()[0]) for thread in threads) * 1e-9


class Service:
    """informerd with a compact cache; its state stays between two starts."""

    def __init__(self, build, folder):
        self.program, self.folder, self.socket = build / 'informerd', folder, folder / 'socket'
        (folder / 'state').mkdir(mode=0o700)
        conf = {'state_dir': str(folder / 'state'), 'socket': {'path': str(self.socket)}, 'cache': 'compact',
                'clusters': [{'name': 'sim', 'kubeconfig': str(folder / 'kubeconfig')}], 'watches': [{'resource': 'pods'}],
                'event_logs': [{'path': str(folder / 'events.jsonl'), 'object': 'none'}]}
        (folder / 'informerd.conf').write_text(json.dumps(conf))

    def start(self):
        self.socket.unlink(missing_ok=True)
        with open(self.folder / 'stderr', 'ab') as log:
            return subprocess.Popen([self.program, '-c', self.folder / 'informerd.conf'], stdin=subprocess.DEVNULL, stderr=log)

    def end(self, child):
        child.send_signal(signal.SIGTERM)
        if child.wait(PATIENCE) != 0:
            raise SystemExit((self.folder / 'stderr').read_text()[-2000:])

    def wait_for_lines(self, count):
        """Until all objects were reported: else the next start lists them again, beside the measured requests."""
        end, path = time.monotonic() + PATIENCE, self.folder / 'events.jsonl'
        while (lines := path.read_bytes().count(b'\n') if path.exists() else 0) < count:
            if time.monotonic() > end:
                raise SystemExit(f'start.py: {lines} of {count} objects were reported')
            time.sleep(0.2)

    def time_start(self, get, by_label):
        """Seconds from exec to the first answer of each, and of CPU to the first one; then it is stopped."""
        began = time.monotonic()
        child = self.start()
        wait_for(self.socket, get)
        got, cpu = time.monotonic(), cpu_seconds(child.pid)
        found = wait_for(self.socket, by_label)
        listed = time.monotonic()
        self.end(child)
        if not json.loads(found)['items']:
            raise SystemExit('start.py: no object has the label')
        return got - began, listed - began, cpu


def measure_service(build, pods=PODS, rounds=ROUNDS):
    """The figures, in seconds."""
    sys.path[:0] = [str(HERE.parent / 'kubesim'), str(HERE.parent / 'lib')]
    sys.argv[1:] = [str(build / 'test/kubesim/kubesim'), str(HERE.parent / 'data/recordings')]
    from lib import Sim
    get, by_label = '/api/v1/namespaces/ns-00/pods/filled-000000', '/api/v1/namespaces/ns-00/pods?labelSelector=app%3Dapp-0'
    with tempfile.TemporaryDirectory(prefix='informerd-start-') as name, \
            Sim('--kubeconfig', Path(name) / 'kubeconfig') as sim:
        sim.control('fill', resource='pods', count=pods, bytes=POD_BYTES, namespaces=NAMESPACES)
        service = Service(build, Path(name))
        child = service.start()
        service.wait_for_lines(pods)
        service.end(child)
        service.time_start(get, by_label)
        warm = [service.time_start(get, by_label) for _ in range(rounds)]
        cold = []
        for _ in range(rounds):
            forget_pages(Path(name) / 'state/cache')
            cold.append(service.time_start(get, by_label))

    def middle(starts, i):
        return statistics.median(start[i] for start in starts)
    return {'start_warm': middle(warm, 0), 'start_cold': middle(cold, 0), 'start_label': middle(warm, 1),
            'start_cpu': middle(warm, 2) / pods}


def service(build, pods=PODS, rounds=ROUNDS):
    """measure_service() in another process: the library of kubesim's tests and that of e2e have the same name."""
    return run(sys.executable, HERE / 'start.py', build, pods, rounds)


if __name__ == '__main__':
    print(json.dumps(measure_service(Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3]))))
