"""Priority and fairness turns informerd away with 429, first at its start and then when it wants to
go on: it waits as it is told, does not hammer, and misses nothing.

All readers are in a level with no room: one request at a time, others are turned away. That one is
made by somebody who never finishes it.
"""

import contextlib
import socket
import ssl
import time

from lib.plane import RBAC, STRANGER
from lib.proxy import Proxy

NAMESPACE, NAME = "busy", "no-room"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
THROTTLED = "HTTP 429"  # as informerd's log says it
SECONDS = 8  # that it lasts
BACK = 40  # seconds until it has tried again: it was turned away before, and grew patient
REQUESTS = 2 * (2 + SECONDS)  # twice: not more than about one a second


def run(stage):
    proxy, pods = stage.enter(Proxy(stage.plane.port)), stage.pods
    stage.make_namespace(NAMESPACE)
    for name in ("changed", "ended", "replaced"):
        pods.create(NAMESPACE, name)
    leave_no_room(stage.plane.admin)
    with occupied(stage.plane):
        stage.watch("token", interrupted=True, through=proxy.port)
        stage.expect_mentioned(THROTTLED)
        stage.wait_until_mentioned(THROTTLED, 10)
        time.sleep(SECONDS)
    stage.catch_up()
    with occupied(stage.plane):
        stage.expect_mentioned(THROTTLED)
        proxy.cut()
        stage.wait_until_mentioned(THROTTLED, BACK)
        pods.patch(NAMESPACE, "changed", {"metadata": {"labels": {"seen": "later"}}})
        pods.delete(NAMESPACE, "ended")
        pods.delete(NAMESPACE, "replaced")
        pods.create(NAMESPACE, "replaced")
        time.sleep(SECONDS)
    stage.catch_up()
    requests = stage.mentions(THROTTLED)
    if requests > REQUESTS:
        stage.complain(f"{requests} requests were turned away, {REQUESTS} would have been polite")
    return f"{stage.writes} writes, {requests} requests turned away"


def leave_no_room(admin):
    name = {"metadata": {"name": NAME}}
    admin.create(f"{FLOWS}/prioritylevelconfigurations", name | {
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Reject"}}}})
    subjects = [{"kind": "User", "user": {"name": user}} for user in ("reader-by-token", STRANGER)]
    anything = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"],
                "clusterScope": True}
    admin.create(f"{FLOWS}/flowschemas", name | {
        "spec": {"priorityLevelConfiguration": {"name": NAME}, "matchingPrecedence": 2,
                 "rules": [{"subjects": subjects, "resourceRules": [anything]}]}})
    admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", name | {
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": STRANGER}]})


@contextlib.contextmanager
def occupied(plane):
    """While a request to create something lacks its body. (After a minute it would time out.)"""
    tls = ssl.create_default_context(cafile=plane.certs.crt("ca"))
    with tls.wrap_socket(socket.create_connection(("127.0.0.1", plane.port)),
                         server_hostname="127.0.0.1") as occupant:
        occupant.sendall(f"POST /api/v1/namespaces/{NAMESPACE}/configmaps HTTP/1.1\r\n"
                         f"Host: 127.0.0.1\r\nAuthorization: Bearer {STRANGER}\r\n"
                         "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n".encode())
        plane.until_reader_gets(429, "readers turned away")
        yield
    plane.until_reader_gets(200, "readers let in")
