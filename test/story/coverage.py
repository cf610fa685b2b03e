#!/usr/bin/env python3
"""Prints which test covers which row of the specification:  coverage.py TEST-DIRECTORY

Tests declare it in a comment before them: `covers: 1.6/gone-in-stream P3 8/20`, or, for an upstream test, by its number
and name: `101, TestBasic`. Rows are the ways in which a watch ends (1.6/...), the promises (P1 to P8), the upstream
conformance tests of the engine (8/...), and the moments of a crash (crash/...). A row that no test covers, and that is
not excused below with a reason, fails.
"""
import re
import sys
from collections import defaultdict
from pathlib import Path

ENDS = '''clean-eof empty-short-eof unexpected-eof malformed gone-in-stream throttled-in-stream internal-in-stream
    error-in-stream open-refused open-cut open-retry-after open-error resync-error stop'''.split()
PROMISES = {
    'P1': 'at rest the store equals the server; its version goes back only with a rewind gap',
    'P2': 'in order, and no callback sees a store older than itself',
    'P3': 'nothing lost; what can not be known is reported',
    'P4': 'nothing delivered twice; another uid is another object',
    'P5': 'truthful health: silence is noticed, every fault is reported',
    'P6': 'bounded: a slow consumer gets events according to its options',
    'P7': 'polite: back-off, Retry-After, no loops',
    'P8': 'discreet: secrets are hashed when the object is made',
}
CRASHES = {  # moment of the crash: (what was on disk, what the next run does)
    'batch-collected': ('nothing of the batch', 'the server sends the changes again'),
    'batch-writing': ('a part of the batch', 'it is cut off; the server sends the changes again'),
    'batch-written': ('the batch, no line of it in a log', 'the lines are written'),
    'lines-writing': ('the batch, some of its lines, perhaps half of one', 'the rest of the lines is written'),
    'lines-written': ('the batch and its lines, not confirmed', 'the lines are found in the log'),
    'confirmed': ('the confirmation was not written', 'the lines are found in the log'),
    'log-rotated': ('the lines are in the newest rotated file', 'they are found there'),
    'log-moved': ('no file has the lines', 'they are written, perhaps a second time with the same seq'),
    'other-output-later': ('one log has the lines, another one does not', 'each log has its own count'),
    'first-list': ('some of the first objects, no version', 'a list; only the differences are initial'),
    'relist': ('some of the differences of a list', 'a list; the differences are resumed'),
    'backlog': ('events wait in the backlog of the handler', 'continues after the last reported event'),
    'coalesced': ('objects of several versions', 'no version; a list'),
    'next-file': ('the next file without a batch', 'the batches of the files before it count'),
    'dictionary': ('a dictionary that no object uses, or an object whose dictionary is missing',
                   'ignored; or everything is discarded'),
    'compacting': ('records and copies of them', 'the last one of a key counts'),
    'compacted': ('the copies, but not the deletions of the removed file', 'deleted objects do not come back'),
    'restoring': ('the state of the run before', 'the same again'),
    'suspended': ('files of before the disk failed', 'changes since then may be reported again'),
    'rebuilding': ('a part of the objects of a stream', 'the stream counts as absent'),
    'expired': ('everything; the server no longer has the version', 'a list; the differences are resumed'),
    'power-lost': ('batches after the last sync are missing', 'what is left is complete up to one batch'),
    'log-ahead': ('the log has lines of batches that are missing', 'they are not written again; a later version is '
                  'written without its old state, marked'),
    'damaged': ('a wrong byte in an older file', 'everything is discarded, and START says so'),
}
UPSTREAM = [*range(1, 44), *range(57, 96), *range(101, 107), *range(122, 134)]
NOT_OURS = {
    '1.6/resync-error': 'our resync is a walk over the store; it can not fail',
    '8/27': 'Table answers are refused by the wire layer, which has its own tests',
    '8/43': 'a detector that is off in production; our random test compares always',
    '8/65': 'an object without a usable key never becomes an object here',
    '8/68': 'behaviour of the legacy DeltaFIFO that its successor dropped',
    '8/72': 'no partial transactions: one thread, one change at a time',
    '8/75': 'a tombstone carries the object itself; there is no key to extract',
    '8/85': 'a handler in C that crashes takes the process with it',
    '8/92': 'index functions can not fail',
    '8/94': 'no expiring cache is offered',
    '8/96': 'RetryWatcher is not part of an informer',
    '8/125': 'a map can not hold a key twice',
    '8/127': 'readers are callbacks of the same loop; there is no channel to be dropped',
    '8/133': 'a latch for other threads',
}


def claims(tests):
    """Row -> names of the tests that cover it."""
    found = defaultdict(list)
    for path in sorted(Path(tests).rglob('*.c')):
        text = path.read_text()
        for match in re.finditer(r'covers: ([^*]+)\*/\s*(?:STORY\(|static void )?(\w+)?', text):
            name = f'{path.stem}: {match[2]}' if match[2] else path.stem
            for row in match[1].split():
                found[row].append(name)
        for match in re.finditer(r'/\* (?:Scenario )?(\d+)[,:] [^/]*\*/\s*static void (\w+)', text):
            for number in re.findall(r'\b(\d{2,3})[,:] ', match[0]):
                found[f'8/{number}'].append(f'{path.stem}: {match[2]}')
    return found


def main():
    rows = [f'1.6/{end}' for end in ENDS] + list(PROMISES) + [f'8/{n}' for n in UPSTREAM]
    rows += [f'crash/{moment}' for moment in CRASHES]
    found = claims(sys.argv[1])
    failures = [f'{row}: unknown row, covered by {found[row][0]}'
                for row in found if row not in rows and not re.fullmatch(r'8/\d+', row)]
    for row in rows:
        covered = ', '.join(found[row])
        excuse = NOT_OURS.get(row, '')
        on_disk, then = CRASHES.get(row.removeprefix('crash/'), ('', ''))
        print(f'| {row} | {f"{on_disk} | {then} | " if on_disk else ""}{covered or "- " + excuse} |')
        if not covered and not excuse:
            failures.append(f'{row}: no test covers it; write one, or add the reason to coverage.py')
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
