"""Child processes and a temporary folder that are removed when the runner ends, also after kill -9.

Every child is killed by the kernel when the runner dies. The folder is removed by a shell that waits
until the runner's end of a pipe is closed.
"""

import contextlib
import subprocess
import tempfile
import threading
import time
from pathlib import Path

# Twice, because servers that are being killed may still write.
JANITOR = 'cat >/dev/null; rm -rf -- "$0" || { sleep 1; rm -rf -- "$0"; }'


class Failure(Exception):
    """A failure other than a difference; the text is part of the report."""


def start(command, **popen):
    """Starts a child in its own process group, because the runner handles Ctrl-C.

    Only from the main thread: the death signal depends on the thread that starts the child.
    """
    assert threading.current_thread() is threading.main_thread()
    popen.setdefault("stdin", subprocess.DEVNULL)
    guarded = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]
    return subprocess.Popen(guarded, process_group=0, **popen)


def stop(child, seconds=10):
    """Sends SIGTERM, then SIGKILL. Returns the status: negative is the signal that ended it."""
    if child.poll() is None:
        child.terminate()
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def tail(log, lines=25):
    """The end of a log, indented, for a failure report."""
    try:
        text = Path(log).read_text(errors="replace")
    except FileNotFoundError:
        text = "(no log)"
    return indented_end(text, lines)


def indented_end(text, lines):
    return "\n".join(f"      {line[:300]}" for line in text.splitlines()[-lines:])


def until(happened, seconds, what, pause=0.05):
    """Polls until happened(), for servers that start. For feeds, see Feed.wait."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise Failure(f"{what}: timed out after {seconds} s")
        time.sleep(pause)


@contextlib.contextmanager
def temporary_folder(keep):
    folder = Path(tempfile.mkdtemp(prefix="informerd-e2e-"))
    if keep:
        print(f"keeping {folder}", flush=True)
        yield folder
        return
    janitor = subprocess.Popen(["sh", "-c", JANITOR, folder], stdin=subprocess.PIPE,
                               process_group=0)
    try:
        yield folder
    finally:
        janitor.stdin.close()
        janitor.wait()
