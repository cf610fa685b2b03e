"""Processes and a folder that never outlive the runner, however it ends.

Every child asks the kernel to be killed when the runner dies. The folder is removed by a shell that
waits for the runner's end of a pipe to close, which the kernel does even after a kill -9.
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
    """Something other than the comparison went wrong; the text is for the reader of the report."""


def start(command, **popen):
    """Start a child in its own process group: Ctrl-C is for the runner, who stops all in order.

    Only from the main thread: the kernel ties the death signal to the thread that starts the child.
    """
    assert threading.current_thread() is threading.main_thread()
    popen.setdefault("stdin", subprocess.DEVNULL)
    guarded = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]
    return subprocess.Popen(guarded, process_group=0, **popen)


def stop(child, seconds=10):
    """Ask a child to end, then insist. Returns its status: negative is the signal that ended it."""
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
    """Poll until happened(): for servers that start and can't tell us. Feeds can, see Feed.wait."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {seconds} s")
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
