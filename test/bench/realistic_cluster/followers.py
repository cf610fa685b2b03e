"""Other programs that follow the same cluster as informerd: client-go in three forms, and kubectl for one resource.

client-go fills its caches and does nothing else (peers/client-go/follow.go); `kubectl get -w` prints the pods and their changes.
"""
import os
import shutil
import subprocess
from pathlib import Path

import peers
from lib import children
from lib.children import Failure

CLIENT_GO = {'client-go typed, protobuf': 'protobuf', 'client-go typed, JSON': 'json', 'client-go dynamic': 'dynamic'}


class Follower:
    """A program that prints a line when it has its first list."""

    def __init__(self, folder, command):
        self.folder, self.command = folder, command
        folder.mkdir()

    def start(self):
        with open(self.folder / 'stdout', 'w') as out, open(self.folder / 'stderr', 'w') as err:
            self.child = children.start(self.command, stdin=subprocess.PIPE, stdout=out, stderr=err)

    def synced(self):
        if self.child.poll() is not None:
            raise Failure(f'{self.command[0]} ended:\n{children.tail(self.folder / "stderr")}')
        return (self.folder / 'stdout').stat().st_size > 0

    def cpu_seconds(self):
        return cpu_seconds(self.child.pid)

    def has(self, version):
        """The cache cannot be read from here: the cluster has been at rest for some seconds."""
        return True

    def stop(self):
        self.child.kill()
        self.child.wait()


def cpu_seconds(pid):
    """User and system time of all threads so far."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(') ', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def memory(pid):
    """Resident bytes."""
    return int(Path(f'/proc/{pid}/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def path_of(resource):
    """'deployments.apps' -> 'apps/v1/deployments': all that are watched here have a version v1."""
    name, _, group = resource.partition('.')
    return f'{group}/v1/{name}' if group else f'v1/{name}'


def make(folder, kubeconfig, resources):
    """({name: Follower}, {name: why it is missing})"""
    made, missing = {}, {}
    try:
        program = peers.build('client-go')
        for name, kind in CLIENT_GO.items():
            made[name] = Follower(folder / kind, [program, 'follow', kind, kubeconfig, *map(path_of, resources)])
    except peers.Missing as why:
        missing['client-go'] = str(why)
    if shutil.which('kubectl'):
        made['kubectl get pods -A -w'] = Follower(
            folder / 'kubectl', ['kubectl', '--kubeconfig', kubeconfig, 'get', 'pods', '-A', '-w'])
    else:
        missing['kubectl'] = 'it is not installed'
    return made, missing
