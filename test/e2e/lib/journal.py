"""The event log of a service that was killed again and again: what must be true of it all the same.

Its lines are whole, its numbers grow, and it is cut into runs by START. Each run is a life of its
own: first all that is there, then every change. Pure functions; see test_journal.py.
"""

import json

from . import compare
from .compare import CHANGES, shortened


def records_of(text):
    """Its lines, and what is wrong with them. One that a kill tore is blanked by the next run."""
    records, faults = [], []
    for number, line in enumerate(text.split(b"\n")[:-1], 1):
        if not line.strip(b" "):
            continue
        try:
            records.append(json.loads(line))
        except ValueError:
            faults.append(f"line {number} is no JSON: {line[:200]!r}")
    if not text.endswith(b"\n"):
        faults.append(f"its last line is torn: {text[-200:]!r}")
    return records, shortened(faults)


def runs_of(records):
    """Cut where one begins."""
    runs = []
    for record in records:
        if record["type"] == "START" or not runs:
            runs.append([])
        runs[-1].append(record)
    return runs


def faults_of(records):
    """What is wrong with the log as a whole."""
    numbers, names = [record["seq"] for record in records], {record["log"] for record in records}
    faults = [f"{after} is told after {before}"
              for before, after in zip(numbers, numbers[1:]) if after <= before]
    if len(names) > 1:
        faults.append(f"it is several logs: {names}")
    for number, run in enumerate(runs_of(records), 1):
        said = [record["type"] for record in run]
        if said[0] != "START":
            faults.append(f"run {number} begins with {said[0]}")
        elif number > 1 and run[0].get("reason") != "seq-skipped":
            faults.append(f"run {number} does not say that the one before was killed")
    return shortened(faults)


def different_runs(runs, happened):
    """Where the runs, as far as one watch is concerned, don't tell what happened.

    Between the first and the last change that a run tells live it tells all there were. What one
    run has told live no other one does.
    """
    faults, told_before = [], set()
    for number, run in enumerate(runs, 1):
        events = list(compare.from_informerd(run))
        faults += [f"run {number}: {fault}" for fault in
                   (*compare.faults_of(events), *compare.late_initials(run))]
        live = [event for event in events if event.live]
        told = {event.identity() for event in live}
        faults += [f"run {number}: {again} was told live by an earlier one"
                   for again in sorted(told & told_before)]
        told_before |= told
        faults += [f"run {number}: {event.key} {event} is missing"
                   for event in happened if live and live[0].rv <= event.rv <= live[-1].rv
                   and event.identity() not in told]
        faults += [f"run {number}: {event.key} {event} never happened"
                   for event in compare.unreal(live, happened)]
    return shortened(faults)


def state_after(run):
    """What who believes all that a run says holds at its end."""
    replica = compare.Replica()
    for event in compare.from_informerd(run):
        replica.apply(event)
    return replica.state


def of_watch(run, watch):
    """Its changes, and when it was synced."""
    return [record for record in run
            if record["type"] in (*CHANGES, "SYNCED") and record["watch"] == watch]
