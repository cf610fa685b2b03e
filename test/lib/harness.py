"""harness.py: shared by the Python tests: waiting with a deadline, servers on loopback, and results as TAP.

Nothing waits for a fixed time: a condition is polled until it is true, or until a deadline that no machine should need.
"""
import contextlib
import os
import socket
import sys
import threading
import time
import traceback
import unittest

FULL = os.environ.get('TEST_TIER') == 'full'  # `make test` samples what would take minutes; `make test-full` tries everything
DEADLINE = 60  # seconds; for a machine that does ten other things, under a sanitizer


def wait_until(condition, what):
    """The first true result of condition(). Fails at the deadline with `what`, a text or a function that returns it."""
    end = time.monotonic() + DEADLINE
    while not (result := condition()):
        if time.monotonic() > end:
            raise AssertionError(f'not within {DEADLINE} s: {what() if callable(what) else what}')
        time.sleep(0.02)
    return result


def clean_environment(**more):
    """The environment without the caller's own cluster, and without the directories that systemd or a desktop sets."""
    ours = ('KUBE', 'STATE_DIRECTORY', 'RUNTIME_DIRECTORY', 'XDG_')
    return {**{k: v for k, v in os.environ.items() if not k.startswith(ours)}, **more}


class LoopbackServer:
    """Listens on a free port of loopback. A subclass handles each connection in serve(sock), in a thread of its own."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()


class Tap(unittest.TestResult):
    """Prints one line per test, as .ci/test counts them, followed by its errors."""

    def startTest(self, test):
        super().startTest(test)
        self.problems, self.skipped_for = [], ''

    def addError(self, test, err):
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.problems += traceback.format_exception(*err)
            return
        print(f'not ok {self.testsRun + 1} - {test.id()}')  # setUpClass: no test of the class runs
        self.print_details(traceback.format_exception(*err))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.problems += traceback.format_exception(*err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.skipped_for = f' # SKIP {reason}'

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.problems += [str(subtest), *traceback.format_exception(*err)]

    def stopTest(self, test):
        super().stopTest(test)
        print(f'{"not ok" if self.problems else "ok"} {self.testsRun} - {test.id().split(".", 1)[1]}'
              f'{self.skipped_for}')
        self.print_details(self.problems)

    @staticmethod
    def print_details(lines):
        for line in ''.join(lines).splitlines():
            print(f'# {line}')
        sys.stdout.flush()


def run(module):
    """Runs the tests of the module with this name, and exits."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    print(f'1..{suite.countTestCases()}', flush=True)
    result = Tap()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
