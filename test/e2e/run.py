#!/usr/bin/env python3
"""End-to-end test of informerd: a real control plane, with client-go's informer beside it as the
oracle.

Each scenario runs on a control plane of its own: informerd must say what the oracle says, hold what
the server lists, and say truly what it missed. Some run again with an older API server, or one that
lacks what informerd would like to use. Then come builds that are wrong on purpose, each of which a
scenario must catch, or the check is blind. Where informerd or the oracle may miss something, etcd's
history says what happened, and only a relist excuses what was not told.

The parts are built once, from test/e2e/parts and parts-old, into ~/.cache/informerd-e2e; at first
that takes some minutes. Everything else is on loopback and in a temporary folder, and goes when the
test ends, however it ends.
"""

import argparse
import random
import re
import shutil
import signal
import sys
import traceback
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, NamedTuple

sys.dont_write_bytecode = True  # the tree stays as it is in git

from lib import children, parts, proxies, test_compare
from lib.children import Failure
from lib.plane import Plane
from lib.stage import Load, Outcome, Stage, Subject
from scenarios import (access, churn, churn_restarts, custom, deployment, forbidden, kills,
                       lifecycle, lifecycle_restarts, network, rbac, rotation, silence,
                       slow_reader, throttled)

BUILD = Path(__file__).resolve().parents[2] / "build"
SCENARIOS = {"lifecycle": lifecycle, "deployment": deployment, "churn": churn,
             "lifecycle-restarts": lifecycle_restarts, "churn-restarts": churn_restarts,
             "kills": kills, "network": network, "slow-reader": slow_reader,
             "silence": silence, "throttled": throttled, "forbidden": forbidden, "custom": custom,
             "access": access, "rotation": rotation, "rbac": rbac}


class Server(NamedTuple):
    """Which API server, and more flags for it."""

    title: str = ""
    module: str = parts.NEW
    flags: tuple = ()


NEWEST = Server()
LISTING = Server("without watch-list", flags=(("feature-gates", "WatchList=false"),))
PAGING = Server("without watch-list and cache",  # so a list comes from etcd, in pages
                flags=(*LISTING.flags, ("watch-cache", "false")))
OLDER = Server(parts.release(parts.OLD), parts.OLD)
ELSEWHERE = {LISTING: ("lifecycle-restarts", "churn-restarts"),  # where else which scenarios run
             PAGING: ("churn",),
             OLDER: ("lifecycle-restarts", "churn-restarts", "network")}
MUTANTS = {  # wrong on purpose, each to be caught by a scenario
    "drop-one-event": ("lifecycle", NEWEST),
    "drop-one-delete": ("lifecycle-restarts", NEWEST),
    "fifo-reorders": ("network", NEWEST),
    "first-page-is-all": ("churn", PAGING),
    "synced-too-early": ("lifecycle", NEWEST),
    "gap-untold": ("lifecycle-restarts", NEWEST),
    "stale-version-kept": ("lifecycle-restarts", NEWEST),
    "version-not-advanced": ("network", NEWEST),
    "relist-tells-equal": ("lifecycle-restarts", NEWEST),
    "ignore-uid": ("lifecycle-restarts", NEWEST),
    "no-tombstones": ("lifecycle-restarts", NEWEST),
    "deletes-after-adds": ("lifecycle-restarts", NEWEST),
    "overflow-ignored": ("slow-reader", NEWEST),
    "silence-ignored": ("silence", NEWEST),
}
ELSEWHERE_SECONDS = 20  # of load
MUTANT_SECONDS = 5  # of load: enough to drop an event
DROP_EFFECT = 5  # events a drop can cost: it may change how the next ones of that object are told
COLUMNS = "{:44}{:8}{:>18}{:>6}{:>7}{:>10}{:>12}{:>13}"


class Interrupted(KeyboardInterrupt):
    """A signal asked us to end. Of the one kind that nobody swallows, unittest neither."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


class Trial(NamedTuple):
    """A scenario to be run, on whom, and what is to come out of it."""

    title: str
    scenario: str
    server: Server
    subject: Subject
    load: Load
    complaint: Callable[[Outcome], str]  # empty: as it should be


@dataclass
class Row:
    """A line of the report."""

    title: str
    failure: str = ""  # empty: passed
    notes: str = ""
    outcome: Outcome | None = None

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
        print(f"run.py: {interrupted}: all stopped", file=sys.stderr)
        return interrupted.status


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    option = parser.add_argument
    option("--build", type=Path, default=BUILD, metavar="FOLDER",
           help="where informerd and test/e2e/follower were built (default: build)")
    option("--mutant", type=Path, metavar="FOLDER",
           help="a build that obeys INFORMER_MUTANT; without it that part fails")
    option("--only", choices=SCENARIOS, action="append", help="this scenario; may be repeated")
    option("--no-mutants", action="store_true", help="without the builds that are wrong on purpose")
    option("--no-others", action="store_true", help="only with the newest server, as it comes")
    option("--seed", type=int, default=random.randrange(1 << 32),
           help="of the random load (default: another each time)")
    option("--rate", type=int, default=300, help="writes a second in churn (default: 300)")
    option("--seconds", type=int, default=60, help="of writing in churn (default: 60)")
    option("--keep", action="store_true", help="keep the temporary folder with the logs")
    option("--serve", action="store_true",
           help="no test: start a control plane for experiments, until Ctrl-C")
    return parser.parse_args()


def catch_signals():
    handled = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(number, _):
        for each in handled:
            signal.signal(each, signal.SIG_IGN)  # cleaning up is not to be interrupted
        raise Interrupted(number)

    for each in handled:
        if signal.getsignal(each) != signal.SIG_IGN:  # nohup and the like have their way
            signal.signal(each, interrupt)


def check_tools():
    for tool, package in ({"openssl": "openssl", "setpriv": "util-linux"} | proxies.TOOLS).items():
        if not shutil.which(tool):
            raise Failure(f"the command {tool} is needed: install {package}")


def serve(folder):
    with Plane(folder, parts.programs(parts.NEW)) as plane:
        version = plane.admin.get("/version")["gitVersion"]
        print(f"kube-apiserver {version} at {plane.url}, etcd at {plane.etcd_url}")
        print("pids: " + ", ".join(f"{name} {pid}" for name, pid in plane.pids.items()))
        print("kubeconfigs (admin may do all, the others read all):")
        for user in plane.users:
            print(f"  {user:18} {plane.kubeconfig(user)}")
        print(f"logs: {folder}/*.log")
        print("Ctrl-C stops it and removes all of this.", flush=True)
        while True:
            signal.pause()


def test(args, folder):
    rows = [check_the_check()]
    for trial in trials(args):
        rows.append(attempt(trial, folder / re.sub(r"\W+", "-", trial.title)))
    return report(rows)


def trials(args):
    chosen = args.only or SCENARIOS
    load = Load(args.seed, args.rate, args.seconds)
    informerd = subject(args.build, {}, patience=60)
    for name in chosen:
        yield Trial(name, name, NEWEST, informerd, load, disagreement)
    for server, names in ELSEWHERE.items() if not args.no_others else ():
        for name in (name for name in names if name in chosen):
            shorter = load._replace(seconds=min(args.seconds, ELSEWHERE_SECONDS))
            yield Trial(f"{name}, {server.title}", name, server, informerd, shorter, disagreement)
    brief = load._replace(seconds=min(args.seconds, MUTANT_SECONDS))
    for mutation, (name, server) in MUTANTS.items() if not args.no_mutants else ():
        if name in chosen:
            # It may never catch up, so it has less time; but as much as a reconnect may take.
            wrong = subject(args.mutant, {"INFORMER_MUTANT": mutation},
                            patience=5 if name in ("lifecycle", "churn") else 15)
            yield Trial(f"{name}, {mutation}", name, server, wrong, brief,
                        blindness if "drop" in mutation else deafness)


def subject(build, environment, patience):
    if build is None:
        return Subject(None, None, environment, patience)
    return Subject(build / "informerd", build / "test/e2e/follower", environment, patience)


def check_the_check():
    """The comparison's own unit tests come first."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(test_compare).run(result)
    broken = "\n".join(text for _, text in result.errors + result.failures)
    return told(Row("comparison's own tests", broken, f"{result.testsRun} tests"))


def attempt(trial, folder):
    print(f"{trial.title} ...", flush=True)
    row = Row(trial.title)
    try:
        check_binary(trial.subject.binary)
        check_binary(trial.subject.follower)
        perform(trial, row, folder)
        row.failure = trial.complaint(row.outcome)
    except Failure as failure:
        row.failure = str(failure)
    except Exception:  # the other scenarios still have their say
        log = children.tail(folder / "kube-apiserver.log")
        row.failure = f"{traceback.format_exc()}kube-apiserver's log ends:\n{log}"
    return told(row)


def check_binary(path):
    if path is None:
        raise Failure("missing: without a mutant build (--mutant FOLDER) this check may be blind")
    if not path.is_file():
        raise Failure(f"missing: {path}")


def perform(trial, row, folder):
    folder.mkdir()
    programs = parts.programs(parts.NEW) | parts.programs(trial.server.module)
    with (Plane(folder, programs, trial.server.flags) as plane,
          Stage(plane, programs, trial.subject, trial.load) as stage):
        row.notes = SCENARIOS[trial.scenario].run(stage)
        row.outcome = stage.account()


def disagreement(outcome):
    """What informerd and the oracle disagree on; with informerd, there must be nothing."""
    return "\n".join(f"    - {finding}" for finding in outcome.verdict.findings)


def blindness(outcome):
    """Why a dropped event was not caught. One that tells nothing at all would prove nothing."""
    if not outcome.verdict.findings:
        return "one event was to be dropped, and the comparison has nothing to say"
    if not 1 <= outcome.verdict.lost <= DROP_EFFECT:
        return (f"one event was to be dropped, and {outcome.verdict.lost} were lost:\n"
                f"{disagreement(outcome)}")
    return ""


def deafness(outcome):
    """The same for one that is wrong otherwise."""
    if not outcome.ours:
        return "it told nothing at all: that proves nothing"
    return "" if outcome.verdict.findings else "it is wrong, and the comparison has nothing to say"


def told(row):
    print(f"{row.title}: {row.result}" + (f" ({row.notes})" if row.notes else ""))
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
