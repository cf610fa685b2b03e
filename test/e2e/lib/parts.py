"""The real parts, built once from ../parts into a cache folder and reused by later runs.

The folder is named by what goes into the build (sources, flags, Go version): a change builds anew,
beside the old one. A build appears by one rename: a folder that is there is whole.
"""

import contextlib
import fcntl
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

SOURCES = Path(__file__).resolve().parent.parent / "parts"
FLAGS = ("-v", "-trimpath", "-buildvcs=false")
VERSION_PACKAGE = "k8s.io/component-base/version"
ENVIRONMENT = os.environ | {"CGO_ENABLED": "0"}  # the same result everywhere, and no C compiler
EVERY = 20  # seconds between lines of progress in a log


def binaries():
    """The folder with kube-apiserver, etcd and oracle, built now if it isn't there."""
    go = go_version()
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "informerd-e2e"
    folder = root / fingerprint(go)
    root.mkdir(parents=True, exist_ok=True)
    with alone(root):
        if not folder.exists():
            build(folder)
    return folder / "bin"


def go_version():
    wanted = re.search(r"^go (\S+)$", (SOURCES / "go.mod").read_text(), re.MULTILINE)[1]
    try:
        # Asked inside the module: a Go that may fetch the toolchain it wants answers with that one.
        found = go_output("env", "GOVERSION")
    except (FileNotFoundError, subprocess.CalledProcessError):
        found = ""
    if numbers(found) < numbers(wanted):
        raise Failure(
            f"kube-apiserver needs Go {wanted} or newer to build, found {found or 'none working'}:"
            " install it (Debian: golang-go, maybe from backports) and put it first in PATH")
    return found


def numbers(version):
    return [int(number) for number in re.findall(r"\d+", version)]


def go_output(*arguments):
    done = subprocess.run(["go", *arguments], cwd=SOURCES, env=ENVIRONMENT,
                          check=True, capture_output=True, text=True)
    return done.stdout.strip()


def fingerprint(go):
    digest = hashlib.sha256(f"{go} {FLAGS}".encode())
    for source in sorted(SOURCES.rglob("*.*")):
        digest.update(f"\n{source.relative_to(SOURCES)}\n".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def alone(root):
    """One build at a time; a second runner waits here and then finds the first one's result."""
    with open(root / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("parts: waiting for another build to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(folder):
    for leftover in folder.parent.glob("building-*"):  # of a killed build: we hold the lock
        shutil.rmtree(leftover)
    work = Path(tempfile.mkdtemp(prefix="building-", dir=folder.parent))
    began = time.monotonic()
    try:
        packages = len(run_go(work, "list", "-deps", "./...").splitlines())
        (work / "bin").mkdir()
        run_go(work, "build", *FLAGS, "-ldflags", linker_flags(), "-o", f"{work / 'bin'}/", "./...",
               total=packages)
        work.rename(folder)
    except BaseException:
        shutil.rmtree(work)
        raise
    print(f"parts: built in {time.monotonic() - began:.0f} s: {folder}", flush=True)


def linker_flags():
    """Stamp the release into the server, as its own build does: else it is v0.0.0-master."""
    release = go_output("list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
    major, minor = release.lstrip("v").split(".")[:2]
    stamps = {"gitVersion": release, "gitMajor": major, "gitMinor": minor}
    return "-s -w" + "".join(f" -X {VERSION_PACKAGE}.{key}={stamps[key]}" for key in stamps)


def run_go(work, command, *arguments, total=0):
    """Run go with its messages in a log, telling how far it is. Returns what it printed."""
    log, output = work / f"{command}.log", work / f"{command}.out"
    with open(log, "w") as messages, open(output, "w") as printed:
        scratch = {"GOTMPDIR": str(work)}  # what an interrupted go leaves behind goes with it
        go = children.start(["go", command, *arguments], cwd=SOURCES, env=ENVIRONMENT | scratch,
                            stdout=printed, stderr=messages)
    progress = Progress()
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
    """One updating line on a terminal, a line every EVERY seconds in a log."""

    def __init__(self):
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
        line = f"parts: building the control plane, {now - self._began:.0f} s, {done}"
        print(f"\r{line}\033[K" if self._tty else line, end="" if self._tty else "\n", flush=True)

    def close(self):
        if self._tty:
            print("\r\033[K", end="", flush=True)
