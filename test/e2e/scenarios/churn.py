"""2,000 pods in 10 namespaces under random creates, updates and deletes, some hundred a second."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

NAMESPACES = 10
PODS = 200  # in each; a deleted pod's name is used again, so uids change under names
UPDATES = {"status": 40, "labels": 20, "annotations": 20, "delete": 20}  # of a pod, in percent


def run(stage):
    load = stage.load
    writers, halt = begin(stage, stage.watch)
    before, began = len(stage.pods.written), time.monotonic()
    together(writers, halt, lambda writer: writer.churn(load.rate / NAMESPACES, load.seconds))
    writes, seconds = len(stage.pods.written) - before, time.monotonic() - began
    return (f"{writes} writes in {seconds:.1f} s, {writes / seconds:.0f}/s of {load.rate}/s wanted,"
            f" seed {load.seed}")


def begin(stage, watch):
    """Fill the namespaces. Returns their writers, and what halts them."""
    halt = threading.Event()
    writers = [Writer(stage.pods, f"churn-{number}", Random(f"{stage.load.seed}/{number}"), halt)
               for number in range(NAMESPACES)]
    for writer in writers:
        stage.pods.make_namespace(writer.namespace)
    together(writers, halt, lambda writer: writer.fill(range(0, PODS // 2)))
    watch("token")
    # The other half while the watchers make their first list: what one listed, the other sees live.
    together(writers, halt, lambda writer: writer.fill(range(PODS // 2, PODS)))
    stage.catch_up()  # before any update, so that a pod's first told state is the same for both
    return writers, halt


def together(writers, halt, work):
    """Let every writer work in a thread of its own. A failure, or Ctrl-C, halts them all."""
    with ThreadPoolExecutor(len(writers)) as pool:
        jobs = [pool.submit(work, writer) for writer in writers]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            halt.set()
            raise


class Writer:
    """Owns the pods of one namespace: nobody else writes them, so no write can conflict."""

    def __init__(self, pods, namespace, random, halt):
        self.namespace = namespace
        self._pods = pods
        self._random = random
        self._halt = halt
        self._alive = set()
        self._writes = 0

    def fill(self, numbers):
        for number in numbers:
            if self._halt.is_set():
                return
            self._create(f"pod-{number}")

    def churn(self, rate, seconds):
        """Write at an even pace; when behind it, as fast as the server answers."""
        began = time.monotonic()
        for write in range(int(rate * seconds)):
            elapsed = time.monotonic() - began
            if elapsed > seconds or self._halt.wait(max(0, write / rate - elapsed)):
                return
            self._write_one()

    def replace(self, count):
        """End pods and create others under their names, at once."""
        for name in sorted(self._alive)[:count]:
            self._pods.delete(self.namespace, name)
            self._create(name)

    def _write_one(self):
        name = f"pod-{self._random.randrange(PODS)}"
        if name not in self._alive:
            return self._create(name)
        self._writes += 1
        change = self._random.choices(list(UPDATES), UPDATES.values())[0]
        if change == "delete":
            self._alive.remove(name)
            self._pods.delete(self.namespace, name)
        elif change == "status":
            status = {"phase": "Running", "message": str(self._writes)}
            self._pods.patch_status(self.namespace, name, status)
        else:
            meta = {change: {"write": str(self._writes)}}
            self._pods.patch(self.namespace, name, {"metadata": meta})

    def _create(self, name):
        self._alive.add(name)
        labels = {"app": "churn", "write": str(self._writes)}
        self._pods.create(self.namespace, name, labels=labels)
