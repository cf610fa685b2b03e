"""The service is killed repeatedly during churn: while it starts, lists, reports the first objects,
watches. Each run continues from the saved state: all runs together have every event once, and end with the
server's list.
"""

import time
from random import Random

from lib import children, journal
from lib.service import Service

from . import churn
from .churn import KINDS, meanwhile

KILLS = 8
LIVES = (0, 0.1, 0.3, 1, 2)  # seconds after the first line of a run
RATE = 200  # writes per second
LAST = 2  # seconds of churn for the run that is not killed


def run(stage):
    writers, halt = churn.begin(stage)
    service = stage.service("token", KINDS)
    random, before = Random(stage.load.seed), stage.writes
    with meanwhile(writers, halt, RATE):
        for kill in range(KILLS):
            start_and_kill(service, LIVES[kill] if kill < len(LIVES) else random.choice(LIVES))
        service.start()
        time.sleep(LAST)
    stage.catch_up()
    wait_until_equal(stage, service)
    if service.stop() != 0:
        stage.complain("the service failed")
    return check(stage, service) + f", {stage.writes - before} writes, seed {stage.load.seed}"


def start_and_kill(service, seconds):
    logged = service.logged
    service.start()
    children.until(lambda: service.logged > logged, 30, "a new line in the log", pause=0.005)
    time.sleep(seconds)
    service.kill()


def of_kind(service, kind):
    records, _ = journal.records_of(service.log.read_bytes())
    return journal.of_watch(records, str(kind))


def wait_until_equal(stage, service):
    """Waits until the log results in the server's list; otherwise check() reports the differences."""
    def is_equal():
        return all(journal.state_after(of_kind(service, kind)) == stage.objects(kind).list()
                   for kind in KINDS)
    try:
        children.until(is_equal, stage.timeout, "the service's log equal to the list", pause=1)
    except children.Failure as failure:
        stage.complain(str(failure))


def check(stage, service):
    records, faults = journal.records_of(service.log.read_bytes())
    faults += journal.faults_of(records)
    for kind in KINDS:
        records_of_kind = of_kind(service, kind)
        faults += journal.different_runs([records_of_kind], stage.oracle_events(kind.name))
        faults += stage.different_from_list(f"the service ({kind.name})",
                                            journal.state_after(records_of_kind), kind)
    for fault in faults:
        stage.complain(f"the service's log: {fault}")
    return f"{KILLS} kills, {len(records)} lines"
