#!/usr/bin/env python3
"""End-to-end tests of informerd on a real control plane, with client-go's informer as the oracle.

Each scenario runs on its own control plane, several at the same time. informerd must report the same
events as the oracle, its cache must equal the server's list, and it must report what it missed. Some
scenarios run again with an older API server, or one without features that informerd uses. After that
come mutants: builds with a named fault, each of which a scenario must detect. Where informerd or the
oracle may miss events, they are compared with etcd's history, and only a relist excuses a missing
event.

The control plane is built once, from test/e2e/parts and parts-old, into ~/.cache/informerd-e2e, which
takes some minutes. Everything else is on loopback and in a temporary folder, which is removed when
the test ends.
"""

import argparse
import random
import shutil
import signal
import sys
import time
import traceback
import unittest
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree

import trials
from lib import children, kafka, parts, proxies, test_compare, test_journal, test_pair, test_workers, workers
from lib.children import Failure
from lib.plane import Plane
from lib.stage import Caught, Outcome, Stage

BUILD = Path(__file__).resolve().parents[2] / "build"
JOBS = 3  # scenarios mostly wait
COLUMNS = "{:44}{:8}{:>18}{:>6}{:>7}{:>10}{:>12}{:>13}"


class Interrupted(KeyboardInterrupt):
    """A signal ended the test. A KeyboardInterrupt, because unittest catches other exceptions."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@dataclass
class Row:
    """A line of the report."""

    title: str
    failure: str = ""  # empty: passed
    notes: str = ""
    outcome: Outcome | None = None
    seconds: float = 0  # duration

    @property
    def result(self):
        return "FAILED" if self.failure else "passed"


def main():
    args = arguments()
    catch_signals()
    try:
        check_tools()
        with children.temporary_folder(args.keep) as folder:
            return serve(folder) if args.serve else test(args, folder)
    except Failure as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        return 1
    except Interrupted as interrupted:
        print(f"run.py: {interrupted}: stopped", file=sys.stderr)
        return interrupted.status


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--build", type=Path, default=BUILD, metavar="FOLDER",
           help="build directory with informerd and test/e2e/follower (default: build)")
    option("--mutant", type=Path, metavar="FOLDER",
           help="build directory with mutants; without it that part fails")
    option("--only", choices=trials.SCENARIOS, action="append",
           help="run only this scenario; may be repeated")
    option("--no-mutants", action="store_true", help="skip the mutants")
    option("--no-others", action="store_true", help="only with the newest API server and its defaults")
    option("--jobs", type=int, default=JOBS, metavar="N",
           help=f"scenarios that run at the same time (default: {JOBS})")
    option("--seed", type=int, default=random.randrange(1 << 32),
           help="seed of the random load (default: random)")
    option("--rate", type=int, default=300, help="writes per second in churn (default: 300)")
    option("--seconds", type=int, default=60, help="duration of churn (default: 60)")
    option("--keep", action="store_true", help="keep the temporary folder with the logs")
    option("--serve", action="store_true",
           help="run no test: start a control plane for experiments, until Ctrl-C")
    return parser.parse_args()


def catch_signals():
    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(number, _):
        for each in handled:
            signal.signal(each, lambda *_: None)  # cleaning up must not be interrupted
        raise Interrupted(number)

    for each in handled:
        if signal.getsignal(each) != signal.SIG_IGN:  # unless ignored, as with nohup
            signal.signal(each, interrupt)


def check_tools():
    for tool, package in ({"openssl": "openssl", "setpriv": "util-linux"} | proxies.TOOLS | kafka.TOOLS).items():
        if not shutil.which(tool):
            raise Failure(f"the command {tool} is missing: install {package}")


def serve(folder):
    with Plane(folder, parts.programs(parts.NEW)) as plane:
        version = plane.admin.get("/version")["gitVersion"]
        print(f"kube-apiserver {version} at {plane.url}, etcd at {plane.etcd_url}")
        print("pids: " + ", ".join(f"{name} {pid}" for name, pid in plane.pids.items()))
        print("kubeconfigs (admin may do everything, the others may read everything):")
        for user in plane.users:
            print(f"  {user:18} {plane.kubeconfig(user)}")
        print(f"logs: {folder}/*.log")
        print("Press Ctrl-C to stop it and remove all files.", flush=True)
        while True:
            signal.pause()


def test(args, folder):
    rows, planned = [check_own_tests()], list(trials.planned(args))
    for module in {trial.server.module for trial in planned}:
        parts.programs(module)  # built once, before the workers need it
    done = workers.side_by_side(planned, args.jobs, lambda trial: attempt(trial, folder),
                                lambda trial: print(f"{trial.title} ...", flush=True))
    results = {index: printed(row_of(planned[index], result)) for index, result in done}
    return report(rows + [results[index] for index in range(len(planned))])


def row_of(trial, result):
    return Row(trial.title, str(result)) if isinstance(result, workers.Lost) else result


def check_own_tests():
    """Runs the unit tests of the comparison, and checks that every mutant of src is tried."""
    result = unittest.TestResult()
    for module in (test_compare, test_journal, test_pair, test_workers):
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    broken = "\n".join(text for _, text in result.errors + result.failures)
    if trials.untried():
        broken += f"MUTANT() in src and MUTANTS in trials.py differ in {trials.untried()}"
    return printed(Row("comparison's own tests", broken, f"{result.testsRun} tests"))


def attempt(trial, parent):
    row, folder, began = Row(trial.title), parent / trial.folder, time.monotonic()
    try:
        check_binary(trial.subject.binary)
        check_binary(trial.subject.follower)
        perform(trial, row, folder)
        row.failure = trial.failure_of(row.outcome)
    except Failure as failure:
        row.failure = str(failure)
    except Exception:  # the other scenarios still run
        log = children.tail(folder / "kube-apiserver.log")
        row.failure = f"{traceback.format_exc()}kube-apiserver's log ends:\n{log}"
    row.seconds = time.monotonic() - began
    return row


def check_binary(path):
    if path is None:
        raise Failure("missing: the mutants need a build of their own (--mutant FOLDER)")
    if not path.is_file():
        raise Failure(f"missing: {path}")


def perform(trial, row, folder):
    folder.mkdir()
    programs = parts.programs(parts.NEW) | parts.programs(trial.server.module)
    with (Plane(folder, programs, trial.server.flags) as plane,
          Stage(plane, programs, trial.subject, trial.load) as stage):
        try:
            row.notes = trials.SCENARIOS[trial.scenario].run(stage)
            check_server(trial, plane, stage)
            row.outcome = stage.account()
        except Caught:
            row.notes = "detected before its end"
            row.outcome = stage.account(caught=True)


def check_server(trial, plane, stage):
    """Checks that informerd sent requests that show the server's restriction."""
    if not any(map(trial.server.sign, plane.requests("informerd/"))):
        stage.complain(f"no request of informerd is {trial.server.sign.__name__}:"
                       f" the scenario does not test the server '{trial.server.title}'")


def printed(row):
    took = f" in {row.seconds:.0f} s" if row.seconds else ""
    print(f"{row.title}: {row.result}{took}" + (f" ({row.notes})" if row.notes else ""))
    if row.failure:
        print(row.failure)
    sys.stdout.flush()
    return row


def report(rows):
    print()
    print(COLUMNS.format("scenario", "result", "informerd/oracle", "lost", "extra", "repeated",
                         "disordered", "equal after"))
    for row in rows:
        print(COLUMNS.format(row.title, row.result, *figures(row.outcome)).rstrip())
    failed = sum(bool(row.failure) for row in rows)
    print(f"\n{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


def figures(outcome):
    if outcome is None:
        return [""] * 6
    verdict = outcome.verdict
    after = "never" if outcome.equal_after is None else f"{outcome.equal_after:.3f} s"
    return (f"{outcome.ours}/{outcome.theirs}", verdict.lost, verdict.extra, verdict.repeated,
            verdict.disordered, after)


if __name__ == "__main__":
    sys.exit(main())
