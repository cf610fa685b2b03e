"""5,000 objects of four kinds in 20 namespaces with random creates, updates and deletes, some hundred
per second.
"""

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

from lib.objects import POD
from lib.resource import CONFIGMAPS, DEPLOYMENTS, PODS, SECRETS

NAMESPACES = 20
OBJECTS = {PODS: 100, CONFIGMAPS: 75, DEPLOYMENTS: 50, SECRETS: 25}  # in each; names are reused
KINDS = tuple(OBJECTS)
UPDATES = {"status": 40, "labels": 20, "annotations": 20, "delete": 20}  # in percent
HOURS = 24 * 3600  # longer than any scenario
STATUS = {PODS: lambda n: {"phase": "Running", "message": str(n)},
          DEPLOYMENTS: lambda n: {"observedGeneration": n}}  # the others have data instead


def run(stage):
    load = stage.load
    writers, halt = begin(stage)
    before, began = stage.writes, time.monotonic()
    together(writers, halt, lambda writer: writer.churn(load.rate / NAMESPACES, load.seconds))
    writes, seconds = stage.writes - before, time.monotonic() - began
    return (f"{writes} writes in {seconds:.1f} s, {writes / seconds:.0f}/s of {load.rate}/s requested,"
            f" seed {load.seed}")


def begin(stage, namespaces=NAMESPACES, kind_of_writer=None, **watching):
    """Fills the namespaces. Returns their writers and the event that stops them."""
    halt = threading.Event()
    make = kind_of_writer or Writer
    writers = [make(stage, f"churn-{number}", Random(f"{stage.load.seed}/{number}"), halt)
               for number in range(namespaces)]
    for writer in writers:
        stage.make_namespace(writer.namespace)
    together(writers, halt, lambda writer: writer.fill(even=True))
    stage.watch("token", KINDS, **watching)
    # The other half during the first list of the watchers: one lists an object, the other sees it live.
    together(writers, halt, lambda writer: writer.fill(even=False))
    stage.catch_up()  # before any update, so that the first reported state of an object is the same for both
    return writers, halt


def together(writers, halt, work):
    """Runs every writer in a thread. A failure or Ctrl-C stops all."""
    with ThreadPoolExecutor(len(writers)) as pool:
        jobs = [pool.submit(work, writer) for writer in writers]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            halt.set()
            raise


@contextlib.contextmanager
def meanwhile(writers, halt, rate):
    """All writers write at that rate inside the block."""
    with ThreadPoolExecutor(len(writers)) as pool:
        jobs = [pool.submit(writer.churn, rate / len(writers), HOURS) for writer in writers]
        try:
            yield
        finally:
            halt.set()
        for job in jobs:
            job.result()
    halt.clear()


class Writer:
    """The only writer of the objects of one namespace, so writes do not conflict."""

    def __init__(self, stage, namespace, random, halt):
        self.namespace = namespace
        self._objects = {kind: stage.objects(kind) for kind in KINDS}
        self._random = random
        self._halt = halt
        self._all = [(kind, f"{kind.name}-{number}")
                     for kind, count in OBJECTS.items() for number in range(count)]
        self._alive = set()
        self._chosen = None
        self._writes = 0

    def fill(self, even):
        for kind, name in self._all[0 if even else 1::2]:
            if self._halt.is_set():
                return
            self._create(kind, name)

    def churn(self, rate, seconds):
        """Writes at an even rate, or as fast as the server answers if that is slower."""
        began = time.monotonic()
        for write in range(int(rate * seconds)):
            elapsed = time.monotonic() - began
            if elapsed > seconds or self._halt.wait(max(0, write / rate - elapsed)):
                return
            self._write_one()

    def replace(self, count):
        """Deletes objects and creates others with the same names."""
        for kind, name in sorted(self._alive)[::len(self._alive) // count]:
            self._objects[kind].delete(self.namespace, name)
            self._create(kind, name)

    def _write_one(self):
        kind, name = chosen = self._chosen = self._random.choice(self._all)
        if chosen not in self._alive:
            return self._create(kind, name)
        self._writes += 1
        change = self._random.choices(list(UPDATES), UPDATES.values())[0]
        objects = self._objects[kind]
        if change == "delete":
            self._alive.remove(chosen)
            objects.delete(self.namespace, name)
        elif change != "status":
            meta = {change: {"write": str(self._writes)}}
            objects.patch(self.namespace, name, {"metadata": meta})
        elif kind in STATUS:
            objects.patch_status(self.namespace, name, STATUS[kind](self._writes))
        else:
            objects.patch(self.namespace, name, {"data": {"write": f"{self._writes:04}"}})

    def _create(self, kind, name):
        self._alive.add((kind, name))
        labels = {"app": "churn", "write": str(self._writes)}
        self._objects[kind].create(self.namespace, name, body(kind), labels=labels)


def body(kind):
    if kind == DEPLOYMENTS:
        labels = {"app": "churn"}
        template = {"metadata": {"labels": labels}, "spec": POD}
        return {"spec": {"selector": {"matchLabels": labels}, "template": template}}
    return None  # only names are needed, or known to the writer
