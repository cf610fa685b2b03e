"""Priority and fairness rejects informerd with 429, first at its start and later when it reconnects: it
waits as requested, sends few requests, and misses nothing.

All readers share a priority level with a single seat, which an unfinished request of another client
occupies.
"""

import contextlib
import socket
import ssl
import time

from lib.plane import RBAC, STRANGER
from lib.proxy import Proxy

NAMESPACE, NAME = "busy", "no-room"
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
THROTTLED = "HTTP 429"  # text in informerd's log
SECONDS = 8  # duration
BACK = 40  # seconds until the next attempt: its back-off has grown
REQUESTS = 2 * (2 + SECONDS)  # in two periods: about one per second


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
        stage.complain(f"{requests} requests were rejected; the limit is {REQUESTS}")
    return f"{stage.writes} writes, {requests} requests rejected"


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
    """Inside the block a POST request lacks its body. (It would time out after a minute.)"""
    tls = ssl.create_default_context(cafile=plane.certs.crt("ca"))
    with tls.wrap_socket(socket.create_connection(("127.0.0.1", plane.port)),
                         server_hostname="127.0.0.1") as occupant:
        occupant.sendall(f"POST /api/v1/namespaces/{NAMESPACE}/configmaps HTTP/1.1\r\n"
                         f"Host: 127.0.0.1\r\nAuthorization: Bearer {STRANGER}\r\n"
                         "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n".encode())
        plane.until_reader_gets(429, "readers are rejected")
        yield
    plane.until_reader_gets(200, "readers are admitted")
