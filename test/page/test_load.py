#!/usr/bin/env python3
"""test_load.py KUBESIM RECORDINGS INFORMERD INFORMERCTL: the page at 1,000 changes a second: memory, elements, frames.

`make test-full` takes 10 minutes, as many as MINUTES says otherwise. The memory of the page, after a garbage collection, must not
grow once its buffer is full.
"""
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from browser import PagesInBrowser
from service import FULL, run

MINUTES = float(os.environ.get('MINUTES', 10 if FULL else 1))
RATE = 1000
ROWS_MAX, ELEMENTS_MAX = 60, 800
FRAMES = '''new Promise(resolve => {
  let frames = 0, longest = 0, last = performance.now();
  const end = last + 3000;
  const frame = now => {
    longest = Math.max(longest, now - last);
    last = now;
    frames++;
    now < end ? requestAnimationFrame(frame) : resolve([frames / 3, longest]);
  };
  requestAnimationFrame(frame);
})'''


class Load(PagesInBrowser):
    def heap(self, tab):
        """Megabytes of live JavaScript objects."""
        tab.call('HeapProfiler.collectGarbage')
        return tab.metrics()['JSHeapUsedSize'] / 1e6

    def test_memory_is_flat_and_the_page_stays_smooth(self):
        self.sim.control('fill', resource='configmaps', count=2000, bytes=500)
        self.serve()
        tab = self.open('changes')
        tab.wait_text('0/s')
        paint = tab.run('performance.getEntriesByName("first-contentful-paint")[0]?.startTime')
        print(f"# first paint after {paint:.0f} ms; make bench-page measures it", flush=True)
        self.sim.control('churn', resource='configmaps', count=int(RATE * 60 * (MINUTES + 2)), rate=RATE)
        buffered = 'Number(/of ([\\d,]+) change/.exec(document.body.innerText)?.[1].replace(",", ""))'
        tab.wait(f'{buffered} >= 20000', 'a full buffer')
        heaps, end = [self.heap(tab)], time.monotonic() + MINUTES * 60
        while time.monotonic() < end:
            frames, longest = tab.run(FRAMES)
            heaps.append(self.heap(tab))
            rows, elements = (tab.run(f'document.querySelectorAll("{s}").length') for s in ('.change', '*'))
            status = tab.run('document.querySelector(".tools [role=status]").innerText')
            print(f'# heap {heaps[-1]:.1f} MB, {rows} rows, {elements} elements, {frames:.0f} frames/s, longest {longest:.0f} ms, '
                  f'{status}', flush=True)
            self.assertLess(rows, ROWS_MAX)
            self.assertLess(elements, ELEMENTS_MAX)
            self.browser.receive(2)
        half = len(heaps) // 2
        self.assertLess(max(heaps[half:]), 1.25 * max(heaps[:half]) + 5, heaps)
        self.assertEqual(tab.problems, [])
        self.sim.control('calm')


run(__name__)
