"""Pieces of work side by side, each in a process of its own.

Processes and not threads: a scenario starts children from its main thread and is interrupted there.
A worker that is told to end, or whose runner is gone, ends its own children first. All of them end
with the block that asked for the work, however that ends.
"""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal

FORK = multiprocessing.get_context("fork")
PR_SET_PDEATHSIG = 1
GOODBYE = 30  # seconds that a worker may take to end its children


class Lost(Exception):
    """A worker ended without a word."""


def side_by_side(pieces, jobs, work, begun):
    """Yield (index, work(piece)) for each piece as it is done; a Lost if its worker was.

    Heavy pieces count for more than one job (their `weight`), and begin first: one that is too
    heavy to have anything beside it runs alone. Tells begun(piece) when one begins.
    """
    waiting = sorted(enumerate(pieces), key=lambda numbered: -numbered[1].weight)
    running = {}  # pipe: (index, piece, worker)
    try:
        while waiting or running:
            while (numbered := next_to_run(waiting, running, jobs)) is not None:
                index, piece = numbered
                waiting.remove(numbered)
                begun(piece)
                pipe, worker = start(work, piece)
                running[pipe] = index, piece, worker
            for pipe in multiprocessing.connection.wait(running):
                index, _, worker = running[pipe]
                result = outcome(pipe, worker)
                del running[pipe]
                yield index, result
    finally:
        for _, _, worker in running.values():
            worker.terminate()
        for _, _, worker in running.values():
            end(worker)


def next_to_run(waiting, running, jobs):
    room = jobs - sum(piece.weight for _, piece, _ in running.values())
    for numbered in waiting:
        if numbered[1].weight <= room or not running:
            return numbered
    return None


def start(work, piece):
    ours, theirs = FORK.Pipe(duplex=False)
    worker = FORK.Process(target=serve, args=(work, piece, theirs, os.getpid()))
    worker.start()
    theirs.close()  # so that the end of the worker is the end of the pipe
    return ours, worker


def serve(work, piece, pipe, runner):
    """What a worker does. A signal to end has unwound all that work() had open when we see it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        if os.getppid() == runner:  # it may have died before we asked
            pipe.send(work(piece))
    except KeyboardInterrupt:
        pass  # the runner knows


def outcome(pipe, worker):
    with pipe:
        try:
            result = pipe.recv()
        except EOFError:
            result = None
    end(worker)
    return result or Lost(f"its process ended with status {worker.exitcode}")


def end(worker):
    worker.join(GOODBYE)
    if worker.is_alive():
        worker.kill()
        worker.join()
