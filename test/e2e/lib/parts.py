"""Builds the control plane and the oracle from ../parts and ../parts-old into a cache folder, once; and
the clients in Go from ../clients, and the servers of webhooks from ../endpoints.

A build is named by its module and a hash of its inputs (sources, flags, Go version). A change creates
another build; of each module the last used builds are kept. A build is moved into place when it is
complete.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import children
from .children import Failure

HERE = Path(__file__).resolve().parent.parent
NEW, OLD = "parts", "parts-old"  # Go modules
NAMES = {  # names under which a program is run
    "plane": ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")}
KEPT = 3  # builds per module, for several branches
FLAGS = ("-v", "-trimpath", "-buildvcs=false")
VERSION_PACKAGE = "k8s.io/component-base/version"
ENVIRONMENT = os.environ | {"CGO_ENABLED": "0"}  # reproducible, and needs no C compiler
EVERY = 20  # seconds between lines of progress in a log


@functools.cache
def programs(module):
    """The programs of a module by name, built if necessary."""
    sources = HERE / module
    go = go_version(sources)
    root, name = cache_folder(), module.replace("/", "-")
    folder = root / f"{name}-{fingerprint(sources, go)}"
    if not folder.exists():
        with alone(root):
            if not folder.exists():
                build(sources, folder)
            prune(root, name)
    os.utime(folder)
    return {path.name: path for path in (folder / "bin").iterdir()}


def cache_folder():
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "informerd-e2e"
    root.mkdir(parents=True, exist_ok=True)
    return root


def release(module):
    """The version of Kubernetes, or None: the module needs none of it. Its libraries have the same as v0."""
    required = (HERE / module / "go.mod").read_text()
    found = re.search(r"k8s.io/(?:kubernetes v1|kubectl v0|client-go v0)\.(\S+)", required)
    return f"v1.{found[1]}" if found else None


def packages_of(sources):
    """What to build: the packages of the module, and the programs of others that it names as tools."""
    return ["./...", *(["tool"] if re.search(r"^tool\b", (sources / "go.mod").read_text(), re.MULTILINE) else [])]


def go_version(sources):
    wanted = re.search(r"^go (\S+)$", (sources / "go.mod").read_text(), re.MULTILINE)[1]
    try:
        # In the module, because go may use the toolchain that it names.
        found = go_output(sources, "env", "GOVERSION")
    except (FileNotFoundError, subprocess.CalledProcessError):
        found = ""
    if numbers(found) < numbers(wanted):
        raise Failure(
            f"kube-apiserver needs Go {wanted} or newer to build, found {found or 'none working'}:"
            " install it (Debian: golang-go, maybe from backports) and put it first in PATH")
    return found


def numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def go_output(sources, *arguments):
    done = subprocess.run(["go", *arguments], cwd=sources, env=ENVIRONMENT,
                          check=True, capture_output=True, text=True)
    return done.stdout.strip()


def fingerprint(sources, go):
    digest = hashlib.sha256(f"{go} {FLAGS} {NAMES}".encode())
    for source in sorted(sources.rglob("*.*")):
        digest.update(f"\n{source.relative_to(sources)}\n".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def prune(root, module):
    """Removes the builds that were not used for longest. The caller holds the lock."""
    pattern = re.compile(rf"({module}-)?[0-9a-f]{{16}}")
    builds = [path for path in root.iterdir() if pattern.fullmatch(path.name)]
    for unused in sorted(builds, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(unused)


@contextlib.contextmanager
def alone(root):
    """One build at a time; a second runner waits and uses the result of the first."""
    with open(root / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("parts: waiting for another build to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(sources, folder):
    for leftover in folder.parent.glob("building-*"):  # left by a killed build; we hold the lock
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder.parent))
    began = time.monotonic()
    try:
        packages = len(run_go(work, sources, "list", "-deps", *packages_of(sources)).splitlines())
        (work / "bin").mkdir()
        flags = linker_flags(sources.relative_to(HERE))
        run_go(work, sources, "build", *FLAGS, "-ldflags", flags,
               "-o", f"{work / 'bin'}/", *packages_of(sources), total=packages)
        name(work / "bin")
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work)
        raise
    print(f"{sources.name}: built in {time.monotonic() - began:.0f} s: {folder}", flush=True)


def name(folder):
    for program, names in NAMES.items():
        for each in names if (folder / program).exists() else ():
            (folder / each).symlink_to(program)


def linker_flags(module):
    """Linker flags that set the version of the server; without them it is v0.0.0-master."""
    if "k8s.io/" not in (HERE / module / "go.mod").read_text():
        return "-s -w"
    version = release(module)
    if not version:
        return "-s -w"
    major, minor = version.lstrip("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    return "-s -w" + "".join(f" -X {VERSION_PACKAGE}.{key}={stamps[key]}" for key in stamps)


def run_go(work, sources, command, *arguments, total=0):
    """Runs go with progress messages. Returns its output."""
    log, output = work / f"{command}.log", work / f"{command}.out"
    with open(log, "w") as messages, open(output, "w") as printed:
        scratch = {"GOTMPDIR": str(work)}  # removed with the temporary folder
        go = children.start(["go", command, *arguments], cwd=sources, env=ENVIRONMENT | scratch,
                            stdout=printed, stderr=messages)
    progress = Progress(sources.name)
    try:
        while not ended(go):
            progress.show(*count(log), total)
    finally:
        children.stop(go)
        progress.close()
    if go.returncode != 0:
        raise Failure(f"go {command} failed:\n{children.tail(log)}")
    return output.read_text()


def ended(process):
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    return process.returncode is not None


def count(log):
    lines = log.read_text().splitlines()
    downloaded = sum(line.startswith("go: downloading") for line in lines)
    return downloaded, len(lines) - downloaded


class Progress:
    """One updated line on a terminal, a line every EVERY seconds in a log."""

    def __init__(self, module):
        self._module = module
        self._began = self._last = time.monotonic()
        self._tty = sys.stdout.isatty()

    def show(self, downloaded, compiled, total):
        now = time.monotonic()
        if not self._tty and now - self._last < EVERY:
            return
        self._last = now
        done = f"{downloaded} modules downloaded"
        if total:
            done = f"{compiled} of at most {total} packages compiled"
        line = f"{self._module}: building, {now - self._began:.0f} s, {done}"
        print(f"\r{line}\033[K" if self._tty else line, end="" if self._tty else "\n", flush=True)

    def close(self):
        if self._tty:
            print("\r\033[K", end="", flush=True)
