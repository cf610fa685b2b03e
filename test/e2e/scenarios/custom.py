"""Custom objects with a status; their resource is deleted with all of them and created again."""

from lib import children
from lib.api import ApiError
from lib.resource import WIDGETS

NAMESPACE = "shop"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NAME = f"{WIDGETS.name}.{WIDGETS.group}"
GONE = "HTTP 404"  # text in informerd's log


def run(stage):
    widgets, admin = stage.objects(WIDGETS), stage.plane.admin
    stage.make_namespace(NAMESPACE)
    define(stage)
    live(widgets, "before")
    widgets.create(NAMESPACE, "already-there", {"spec": {"size": 1}})
    stage.watch("token", (WIDGETS,), interrupted=True)
    stage.catch_up()
    live(widgets, "short")
    begin(widgets, "long")
    stage.catch_up()
    stage.expect_mentioned(GONE)
    admin.delete(f"{DEFINITIONS}/{NAME}", 0)
    children.until(lambda: not is_served(stage), 30, "the resource is deleted")
    stage.wait_until_mentioned(GONE, 30)
    define(stage)
    begin(widgets, "long")
    stage.catch_up()
    live(widgets, "short")
    return f"{stage.writes} writes"


def define(stage, columns=()):
    """Waits until it is served: the server reports that slightly too early. `columns`: those of tables."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": WIDGETS.version, "served": True, "storage": True,
               "subresources": {"status": {}}, "schema": {"openAPIV3Schema": anything},
               "additionalPrinterColumns": list(columns)}
    stage.plane.admin.create(DEFINITIONS, {
        "metadata": {"name": NAME},
        "spec": {"group": WIDGETS.group, "scope": "Namespaced", "versions": [version],
                 "names": {"plural": WIDGETS.name, "singular": "widget", "kind": WIDGETS.kind}}})
    children.until(lambda: is_served(stage), 30, "the resource is served")


def is_served(stage):
    try:
        stage.objects(WIDGETS).items()
        return True
    except ApiError as error:
        if error.status not in (404, 429):  # 429: being created
            raise
        return False


def begin(widgets, name):
    widgets.create(NAMESPACE, name, {"spec": {"size": 1, "ratio": 1.50, "big": 2 ** 53 + 1}})
    widgets.patch_status(NAMESPACE, name, {"ready": False})
    widgets.patch(NAMESPACE, name, {"spec": {"size": 2}})
    widgets.patch_status(NAMESPACE, name, {"ready": True, "text": 'a "quote", 日本\n\U0001f680'})


def live(widgets, name):
    begin(widgets, name)
    widgets.delete(NAMESPACE, name)
