"""resumed, with few objects: short enough for every change of the code."""

from . import resumed

OBJECTS = 300


def run(stage):
    return resumed.run_with(stage, OBJECTS)
