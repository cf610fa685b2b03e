"""A user with no permissions, then read access to one namespace, then none, then read access again.

While access is forbidden informerd reports it, and continues by itself afterwards without missing
anything.
"""

from lib.plane import RBAC, STRANGER
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS, Selection

NAMESPACE, ELSEWHERE, ROLE = "shop", "not-shop", "reader"
FORBIDDEN = "(403 Forbidden)"  # text in informerd's log
BINDINGS = f"/apis/{RBAC}/v1/namespaces/{NAMESPACE}/rolebindings"


def run(stage):
    proxy = stage.enter(Proxy(stage.plane.port))
    objects = stage.objects(CONFIGMAPS)
    for namespace in (NAMESPACE, ELSEWHERE):
        stage.make_namespace(namespace)
    for name in ("changed", "ended", "replaced"):
        objects.create(NAMESPACE, name)
    stage.plane.admin.create(f"/api/v1/namespaces/{ELSEWHERE}/configmaps",
                             {"metadata": {"name": "never-reported"}})
    stage.watch(STRANGER, (CONFIGMAPS,), Selection(namespace=NAMESPACE, service=True), interrupted=True,
                through=proxy.port)
    stage.expect_mentioned(FORBIDDEN)
    stage.wait_until_mentioned(FORBIDDEN, 10)
    make_role(stage.plane.admin)
    grant(stage.plane.admin)
    stage.catch_up()
    objects.patch(NAMESPACE, "changed", {"data": {"seen": "yes"}})
    stage.catch_up()
    stage.plane.admin.delete(f"{BINDINGS}/{ROLE}", 0)
    stage.expect_mentioned(FORBIDDEN)
    proxy.cut()  # an open watch continues
    stage.wait_until_mentioned(FORBIDDEN, 30)
    objects.patch(NAMESPACE, "changed", {"data": {"seen": "later"}})
    objects.delete(NAMESPACE, "ended")
    objects.delete(NAMESPACE, "replaced")
    objects.create(NAMESPACE, "replaced")
    grant(stage.plane.admin)
    stage.catch_up()
    return f"{stage.writes} writes, {proxy.connections} connections"


def make_role(admin):
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}
    admin.create(f"/apis/{RBAC}/v1/namespaces/{NAMESPACE}/roles",
                 {"metadata": {"name": ROLE}, "rules": [rule]})


def grant(admin):
    admin.create(BINDINGS, {
        "metadata": {"name": ROLE},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": ROLE},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": STRANGER}]})
