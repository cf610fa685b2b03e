"""The processes of a measurement: the server on one core, one client on another.

CPU time and memory of the client are read from the kernel, so measuring costs the client nothing.
"""
import contextlib
import json
import os
import select
import socket
import subprocess
import time

SERVER_CORE, CLIENT_CORE = (sorted(os.sched_getaffinity(0)) * 2)[:2]
TIMEOUT = 600  # seconds to wait for an answer before the measurement fails


class Actor:
    """A child process on its own core. Commands and answers are lines."""

    def __init__(self, core, *command, **popen):
        popen = {'stdin': subprocess.PIPE, 'stdout': subprocess.PIPE, 'bufsize': 0} | popen
        guard = ['setpriv', '--pdeathsig', 'KILL', 'taskset', '-c', str(core)]
        self.child = subprocess.Popen([*guard, *map(str, command)], **popen)
        self.name, self.reports_for = command[0], self
        self.rest = b''

    def send(self, *words):
        self.child.stdin.write(' '.join(map(str, words)).encode() + b'\n')

    def line(self):
        deadline = time.monotonic() + TIMEOUT
        while b'\n' not in self.rest:
            ready, _, _ = select.select([self.child.stdout], [], [], 1)
            if self.reports_for.child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f'{self.reports_for.name} ended, or does not answer')
            self.rest += os.read(self.child.stdout.fileno(), 65536) if ready else b''
        line, self.rest = self.rest.split(b'\n', 1)
        return line.decode()

    def send_command(self, *words):
        self.send(*words)
        return json.loads(self.line())

    def end(self):
        self.child.kill()
        self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe:
                pipe.close()


class Server(Actor):
    def __init__(self, tools, folder, template, pods, namespaces):
        super().__init__(SERVER_CORE, tools / 'replay', template, folder / 'server.crt', folder / 'server.key',
                         pods, namespaces)
        self.port = json.loads(self.line())['port']

    def wait_for_watches(self, count, connections):
        """Waits until `count` watches are open and that many connections were made in total."""
        deadline = time.monotonic() + TIMEOUT
        while (now := self.send_command('status'))['watches'] != count or now['connections'] < connections:
            if time.monotonic() > deadline:
                raise RuntimeError(f'of {count} watches only {now["watches"]} reconnected')
            time.sleep(0.005)


class Client:
    """One of the compared programs. `process` is the one that is measured, `reporter` the one that answers."""

    def __init__(self, process, reporter=None):
        self.process, self.reporter = process, reporter or process
        self.pid = process.child.pid
        self.expected = 0

    def wait_until_synced(self):
        while self.reporter.line() != 'synced':
            pass

    def expect(self, more):
        self.expected += more
        self.reporter.send('expect', self.expected)

    def delivered(self):
        return json.loads(self.reporter.line())

    def cpu(self):
        """CPU seconds of all its threads since its start: clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def memory(self):
        """(resident now, peak since forget_peak()), in bytes."""
        with open(f'/proc/{self.pid}/status') as status:
            fields = dict(line.split(':', 1) for line in status)
        return tuple(int(fields[name].split()[0]) * 1024 for name in ('VmRSS', 'VmHWM'))

    def switches(self):
        """How often its threads have gone to sleep since its start."""
        total = 0
        for thread in os.listdir(f'/proc/{self.pid}/task'):
            with contextlib.suppress(OSError), open(f'/proc/{self.pid}/task/{thread}/status') as status:
                total += sum(int(line.split()[1]) for line in status if line.startswith('voluntary_ctxt_switches'))
        return total

    def forget_peak(self):
        with open(f'/proc/{self.pid}/clear_refs', 'w') as refs:
            refs.write('5')

    def worst_tick(self):
        """Seconds; only informerd reports it."""

    def end(self):
        for actor in {self.process, self.reporter}:
            actor.end()


class Informerd(Client):
    CONF = '''state_dir: {folder}/state
socket: {{path: {folder}/socket}}
log: {{level: warn}}
clusters: [{{name: bench, kubeconfig: {folder}/kubeconfig}}]
watches: [{watches}]
event_logs:
  - path: {folder}/events.jsonl
    object: diff
'''

    def __init__(self, program, tools, folder, namespaces, more=''):
        (folder / 'state').mkdir()
        self.socket = folder / 'socket'
        conf = folder / 'informerd.conf'
        watches = [f'{{resource: pods, name: {ns}, namespaces: [{ns}]}}' for ns in namespaces] or ['{resource: pods}']
        conf.write_text(more + self.CONF.format(folder=folder, watches=', '.join(watches)))
        reporter = Actor(SERVER_CORE, tools / 'log_reader', folder / 'events.jsonl', len(watches))
        stderr = open(folder / 'stderr', 'w')
        super().__init__(Actor(CLIENT_CORE, program, '-c', conf, stderr=stderr), reporter)
        reporter.reports_for = self.process

    def worst_tick(self):
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as web:
            web.connect(str(self.socket))
            web.sendall(b'GET /metrics HTTP/1.1\r\nHost: informerd\r\nConnection: close\r\n\r\n')
            answer = b''.join(iter(lambda: web.recv(65536), b'')).decode()
        return next(float(line.split()[1]) for line in answer.splitlines()
                    if line.startswith('informerd_worst_tick_seconds '))
