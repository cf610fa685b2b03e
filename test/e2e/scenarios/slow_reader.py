"""The output of informerd is not read until it stops reading from the server; afterwards everything is
reported, and memory has stayed within its limit.
"""

import threading
from random import Random

from lib.resource import CONFIGMAPS

from .churn import together

NAMESPACE = "slow"
WRITERS = 8
SMALL = 5000  # events: more lines than the output buffer holds
LARGE = 560  # and more objects than the backlog holds,
SIZE = 256 * 1024  # of this size
WAITING = 16 << 20  # bytes: with less, informerd did not have to wait
MEMORY = 96 << 20  # a backlog of 64 MiB, and overhead


def run(stage):
    stage.make_namespace(NAMESPACE)
    halt = threading.Event()
    writers = [Writer(stage, number, halt) for number in range(WRITERS)]
    stage.watch("token", (CONFIGMAPS,))
    stage.catch_up()
    with stage.unread():
        together(writers, halt, lambda writer: writer.write(SMALL // WRITERS, 10))
        together(writers, halt, lambda writer: writer.write(LARGE // WRITERS, SIZE))
    stage.catch_up()
    memory = stage.most_memory()
    if not WAITING < memory < MEMORY:
        stage.complain(f"informerd took {memory >> 20} MiB while its output was not read")
    return f"{stage.writes} writes unread, {memory >> 20} MiB peak, {stage.relists()} relists"


class Writer:
    """The only writer of one object."""

    def __init__(self, stage, number, halt):
        self._objects = stage.objects(CONFIGMAPS)
        self._name = f"object-{number}"
        self._random = Random(number)
        self._halt = halt
        self._objects.create(NAMESPACE, self._name)

    def write(self, times, size):
        for _ in range(times):
            if self._halt.is_set():
                return
            data = {"data": {"text": self._random.randbytes(size // 2).hex()}}
            self._objects.patch(NAMESPACE, self._name, data)
