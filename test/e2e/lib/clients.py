"""Programs with other client libraries: each keeps a cache of pods and prints its contents on request.

Those in Go are modules like ../parts; the others are built here, by the tools of their languages, into the same cache
folder, once. What can't be built is a Failure: the scenario fails.
"""

import os
import shutil
import subprocess

from . import children, compare, parts
from .children import Failure
from .feed import Holder

SOURCES = parts.HERE / "clients"
PYTHON_CLIENT = "kubernetes==37.0.2"
KUBECTLS = ("1.33", "1.28")  # beside that of the control plane
COMPLETE = "complete"  # a file in the folder of a build that has ended
BUILDS = {  # commands in a copy of the sources, and what they make
    "kube-rs": ([["cargo", "build", "--target-dir", "target"]], "target/debug/kube-rs"),
    "python": ([["python3", "-m", "venv", "venv"],
                ["venv/bin/pip", "install", "--quiet", PYTHON_CLIENT]], "venv"),
}


def kubectls(programs):
    """{version: program} of kubectl."""
    own = {".".join(parts.release(parts.NEW).lstrip("v").split(".")[:2]): programs["kubectl"]}
    return own | {version: parts.programs(f"clients/kubectl-{version}")["kubectl"] for version in KUBECTLS}


def caches(programs):
    """{name: command} of caches of pods; the kubeconfig is appended."""
    store, kube_rs, python = parts.programs("clients/go")["store"], built("kube-rs"), built("python")
    return {
        "client-go typed": [store, "--cache", "typed", "--kubeconfig"],
        "client-go dynamic": [programs["oracle"], "--kubeconfig"],
        "client-go metadata": [programs["oracle"], "--metadata", "--kubeconfig"],
        "controller-runtime": [store, "--cache", "controller-runtime", "--kubeconfig"],
        "kube-rs list": [kube_rs, "list"],
        "kube-rs watch-list": [kube_rs, "watch-list"],
        "Python": [python / "bin" / "python3", SOURCES / "python" / "store.py"],
    }


def built(name):
    """The path of what a client's build makes."""
    commands, made = BUILDS[name]
    root = parts.cache_folder()
    folder = root / f"clients-{name}-{parts.fingerprint(SOURCES / name, f'{tool_version(commands[0])} {BUILDS[name]}')}"
    if not (folder / COMPLETE).exists():
        with parts.alone(root):
            if not (folder / COMPLETE).exists():
                build(name, folder)
            parts.prune(root, f"clients-{name}")
    os.utime(folder)
    return folder / made


def tool_version(command):
    return output([command[0], "--version"], SOURCES)


def build(name, folder):
    """In its final place, because a virtual environment can't be moved."""
    print(f"{name}: building; the first time takes some minutes", flush=True)
    shutil.rmtree(folder, ignore_errors=True)  # left by a build that failed
    shutil.copytree(SOURCES / name, folder)
    for command in BUILDS[name][0]:
        output(command, folder)
    (folder / COMPLETE).touch()


def output(command, folder):
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Failure(f"{command[0]} is not installed: the client can't be built") from None
    if done.returncode != 0:
        raise Failure(f"`{' '.join(command)}` failed:\n{children.indented_end(done.stdout, 25)}")
    return done.stdout


class Cache(Holder):
    """A running client. Only the contents of its cache matter, not its events."""

    def __init__(self, name, command, log):
        super().__init__(name, command, log, no_events)

    def wait_until_synced(self, seconds):
        if not self.wait(lambda: any(record["type"] == "SYNCED" for record in self.records), seconds):
            raise Failure(f"{self.name} is not synced after {seconds} s; its log ends:\n{children.tail(self._log)}")

    def store(self):
        return compare.from_store(self.send_command("store"))

    def _received(self, record):
        super()._received(record)
        with self._news:
            self._news.notify_all()


def no_events(records):
    for _ in records:
        yield from ()
