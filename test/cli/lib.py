"""lib.py: shared by the tests of the command line: informerd as a child process."""
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))
from harness import DEADLINE, clean_environment, run, wait_until  # noqa: F401 (imported from here by the tests)

INFORMERD = Path(sys.argv[1]).resolve()


class Daemon:
    """A running informerd. Its stderr goes to a file, its stdout to a pipe that the test may read."""

    def __init__(self, folder, *arguments, stdout=subprocess.PIPE):
        self.log = folder / 'stderr'
        with open(self.log, 'wb') as log:
            self.child = subprocess.Popen([INFORMERD, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=log,
                                          env=environment(folder))
        self.stdout = self.child.stdout

    def log_text(self):
        return self.log.read_text()

    def signal(self, number=signal.SIGTERM):
        self.child.send_signal(number)

    def status(self):
        """Its exit status, after it has ended by itself."""
        return self.child.wait(DEADLINE)

    def alive(self):
        return self.child.poll() is None

    def resident(self):
        """Its resident memory in bytes."""
        with open(f'/proc/{self.child.pid}/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    def stop(self):
        if self.alive():
            self.child.kill()
        self.child.wait()
        if self.stdout:
            self.stdout.close()


def environment(folder):
    """For informerd: sanitizers keep no freed memory, so that growth is growth."""
    options = os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=4'
    return clean_environment(HOME=str(folder), ASAN_OPTIONS=options)
