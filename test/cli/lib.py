"""What the tests of informerd share: the daemon as a child, waiting, and TAP."""
import os
import signal
import subprocess
import sys
import time
import traceback
import unittest
from pathlib import Path

INFORMERD = Path(sys.argv[1]).resolve()
DEADLINE = 60  # seconds; for a machine that does ten other things, under a sanitizer


def wait_until(true, what):
    end = time.monotonic() + DEADLINE
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f'waited {DEADLINE} s for nothing: {what}')
        time.sleep(0.02)


class Daemon:
    """A running informerd; its stderr goes to a file, its stdout to a pipe that the test reads if it likes."""

    def __init__(self, folder, *arguments, stdout=subprocess.PIPE):
        self.log = folder / 'stderr'
        with open(self.log, 'wb') as log:
            self.child = subprocess.Popen([INFORMERD, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=log,
                                          env=environment(folder))
        self.stdout = self.child.stdout

    def said(self):
        return self.log.read_text()

    def signal(self, number=signal.SIGTERM):
        self.child.send_signal(number)

    def status(self):
        """Its exit status, once it has ended by itself."""
        return self.child.wait(DEADLINE)

    def alive(self):
        return self.child.poll() is None

    def resident(self):
        """Bytes of memory it holds now."""
        with open(f'/proc/{self.child.pid}/statm') as f:
            return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    def stop(self):
        if self.alive():
            self.child.kill()
        self.child.wait()
        if self.stdout:
            self.stdout.close()


def environment(folder):
    """Nothing of the caller's own cluster; sanitizers that don't keep freed memory, so that growth is growth."""
    env = {k: v for k, v in os.environ.items() if not k.startswith('KUBE')}
    env['HOME'] = str(folder)
    env['ASAN_OPTIONS'] = env.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=4'
    return env


class Tap(unittest.TestResult):
    """One line a case, as .ci/test counts them; what went wrong stands below it."""

    def startTest(self, test):
        super().startTest(test)
        self.problems = []

    def addError(self, test, err):
        super().addError(test, err)
        self.problems += traceback.format_exception(*err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.problems += traceback.format_exception(*err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.problems += [str(subtest), *traceback.format_exception(*err)]

    def stopTest(self, test):
        super().stopTest(test)
        print(f'{"not ok" if self.problems else "ok"} {self.testsRun} - {test.id().split(".", 1)[1]}')
        for line in ''.join(self.problems).splitlines():
            print(f'# {line}')
        sys.stdout.flush()


def run(module):
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    print(f'1..{suite.countTestCases()}', flush=True)
    result = Tap()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
