#!/usr/bin/env python3
"""page.py BUILD: measures the web page, and compares the figures with the goals.

paint    first contentful paint of the page in Chromium, without its cache: the median of several loads on loopback
cost     CPU of informerd for a change at full speed, with and without api.listen, while no page is open: the least of several
         rounds

Each row is a function; its figures are lines of the table.
"""
import argparse
import contextlib
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'lib'))

from chromium import CHROMIUM, Browser
from handlers import World, print_rows

LOADS, PAINT_GOAL_MS = 15, 200
CHANGES, ROUNDS, COST_GOAL = 20_000, 8, 1.05
API = 'api: {listen: "127.0.0.1:0"}\n'


def paint(build):
    if not CHROMIUM:
        raise SystemExit('page.py: chromium is missing: install the package of that name')
    times = []
    with (contextlib.closing(World(build, [], API)) as world, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
          Browser(Path(folder)) as browser):
        for _ in range(LOADS):
            access, code = (json.loads(world.get(f'/informerd/v1/{name}').split('\r\n\r\n', 1)[1]) for name in ('access', 'code'))
            tab = browser.tab()
            tab.call('Network.setCacheDisabled', {'cacheDisabled': True})
            tab.open(f'https://{access["address"]}/#code={code["code"]}')
            tab.wait('document.body.classList.contains("open")', 'the session')
            times.append(tab.wait('performance.getEntriesByName("first-contentful-paint")[0]?.startTime'))
            tab.close()
    yield 'first paint, median, ms', statistics.median(times), '<=', PAINT_GOAL_MS
    yield 'first paint, fastest, ms', min(times), '', None


def cost(build):
    with contextlib.ExitStack() as stack:
        worlds = [stack.enter_context(contextlib.closing(World(build, [], more))) for more in ('', API)]
        rounds = [[cpu_of(world) for world in worlds] for _ in range(ROUNDS)]  # in turn: other load affects both
    without, with_api = (min(figures) for figures in zip(*rounds))
    yield 'CPU for a change, without api.listen, us', without * 1e6, '', None
    yield 'CPU for a change, with it, no page open, us', with_api * 1e6, '', None
    yield 'the second, of the first', with_api / without, '<=', COST_GOAL


def cpu_of(world):
    """Seconds for one change, on average."""
    before = world.informerd.cpu()
    world.change(CHANGES)
    return (world.informerd.cpu() - before) / CHANGES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows = {'paint': paint, 'cost': cost}
    parser.add_argument('build', type=Path)
    parser.add_argument('rows', nargs='*', help=f'of {", ".join(rows)} (default: all)')
    arguments = parser.parse_args()
    return print_rows(rows[name](arguments.build.resolve()) for name in arguments.rows or rows)


if __name__ == '__main__':
    sys.exit(main())
