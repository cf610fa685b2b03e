"""Checks the event log of a service that was killed repeatedly. Pure functions; see test_journal.py.

Lines are complete, sequence numbers increase, and START begins a run. Each run reports first all
existing objects, then every change.
"""

import json

from . import compare
from .compare import CHANGES, shortened


def records_of(text):
    """The records and the faults of its lines. The next run blanks a line that a kill cut off."""
    records, faults = [], []
    for number, line in enumerate(text.split(b"\n")[:-1], 1):
        if not line.strip(b" "):
            continue
        try:
            records.append(json.loads(line))
        except ValueError:
            faults.append(f"line {number} is not JSON: {line[:200]!r}")
    if not text.endswith(b"\n"):
        faults.append(f"the last line is incomplete: {text[-200:]!r}")
    return records, shortened(faults)


def runs_of(records):
    """The records of each run."""
    runs = []
    for record in records:
        if record["type"] == "START" or not runs:
            runs.append([])
        runs[-1].append(record)
    return runs


def faults_of(records):
    """Faults of the log as a whole."""
    numbers, names = [record["seq"] for record in records], {record["log"] for record in records}
    faults = [f"seq {after} follows seq {before}"
              for before, after in zip(numbers, numbers[1:]) if after <= before]
    if len(names) > 1:
        faults.append(f"several values of `log`: {names}")
    for number, run in enumerate(runs_of(records), 1):
        types = [record["type"] for record in run]
        if types[0] != "START":
            faults.append(f"run {number} begins with {types[0]}")
        elif number > 1 and run[0].get("reason") != "seq-skipped":
            faults.append(f"run {number} does not report that the previous one was killed")
    return shortened(faults)


def different_runs(runs, happened):
    """Differences between the runs of one watch and the history.

    Between its first and its last live event a run reports all events. No other run reports the same
    live event.
    """
    faults, reported_before = [], set()
    for number, run in enumerate(runs, 1):
        events = list(compare.from_informerd(run))
        faults += [f"run {number}: {fault}" for fault in
                   (*compare.faults_of(events), *compare.late_initials(run))]
        live = [event for event in events if event.live]
        reported = {event.identity() for event in live}
        faults += [f"run {number}: {again} was reported live by an earlier run"
                   for again in sorted(reported & reported_before)]
        reported_before |= reported
        faults += [f"run {number}: {event.key} {event} is missing"
                   for event in happened if live and live[0].rv <= event.rv <= live[-1].rv
                   and event.identity() not in reported]
        faults += [f"run {number}: {event.key} {event} never happened"
                   for event in compare.unreal(live, happened)]
    return shortened(faults)


def state_after(run):
    """The state after all events of a run."""
    replica = compare.Replica()
    for event in compare.from_informerd(run):
        replica.apply(event)
    return replica.state


def of_watch(run, watch):
    """Changes and SYNCED of one watch."""
    return [record for record in run
            if record["type"] in (*CHANGES, "SYNCED") and record["watch"] == watch]
