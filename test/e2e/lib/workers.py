"""Runs pieces of work at the same time, each in its own process.

Processes, not threads, because a scenario starts children from its main thread and is interrupted
there. A worker that gets a signal, or whose runner has ended, ends its own children first. All workers
end with the block that started them.
"""

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import signal

FORK = multiprocessing.get_context("fork")
PR_SET_PDEATHSIG = 1
GOODBYE = 30  # seconds for a worker to end its children


class Lost(Exception):
    """A worker ended without a result."""


def side_by_side(pieces, jobs, work, begun):
    """Yields (index, work(piece)) for each piece when it is done, or a Lost if its worker failed.

    A piece counts for `weight` jobs. Heavy pieces start first; one heavier than the number of jobs
    runs alone. Calls begun(piece) when one starts.
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
    theirs.close()  # the pipe ends with the worker
    return ours, worker


def serve(work, piece, pipe, runner):
    """Runs in a worker. A signal unwinds everything that work() had open."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        if os.getppid() == runner:  # the runner may have died already
            pipe.send(work(piece))
    except KeyboardInterrupt:
        pass  # the runner reports it


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
