"""A long list that the server compresses on request; one follower does not request it. All caches are
equal.
"""

import json

from lib import compare
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS

NAMESPACE = "long"
OBJECTS = 300
TEXT = "the quick brown fox jumps over the lazy dog. " * 100
LESS = 4  # minimum ratio: the contents are repeated English text


def run(stage):
    objects = stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    for number in range(OBJECTS):
        objects.create(NAMESPACE, f"page-{number}", {"data": {"text": TEXT}})
    compressed, plain = (stage.enter(Proxy(stage.plane.port)) for _ in range(2))
    stage.watch("token", (CONFIGMAPS,), through=compressed.port)
    whole = stage.plane.kubeconfig("token", plain.port, **{"disable-compression": True})
    follower = stage.follow(whole, CONFIGMAPS, "uncompressed")
    stage.catch_up()
    wait_until_equal(stage, follower, objects)
    check_sizes(stage, compressed.delivered // 2, plain.delivered, objects)  # for two watchers
    objects.patch(NAMESPACE, "page-0", {"data": {"text": TEXT.upper()}})
    objects.delete(NAMESPACE, "page-1")
    objects.create(NAMESPACE, "page-1")
    stage.catch_up()
    wait_until_equal(stage, follower, objects)
    return (f"{OBJECTS} objects, {compressed.delivered >> 11} KiB compressed,"
            f" {plain.delivered >> 10} KiB not")


def wait_until_equal(stage, follower, objects):
    follower.wait_for_state(objects.list(), 30)
    for finding in compare.different_states("the follower", follower.state, objects.list()):
        stage.complain(finding)


def check_sizes(stage, compressed, plain, objects):
    length = len(json.dumps(objects.items()))
    if compressed * LESS > length:
        stage.complain(f"{compressed} bytes received for a list of {length}: it was not compressed")
    if plain < length:
        stage.complain(f"{plain} bytes received uncompressed, for a list of {length}: too few")
