"""Only metadata is requested: every version is reported, and no other field is received.

The same after a restart of the server without its history.
"""

from lib.resource import CONFIGMAPS, DEPLOYMENTS, PODS, Selection

from .churn import body
from .lifecycle import status

NAMESPACE = "meta"
KINDS = (PODS, CONFIGMAPS, DEPLOYMENTS)


def run(stage):
    stage.make_namespace(NAMESPACE)
    for kind in KINDS:
        create(stage, kind, "kept")
        create(stage, kind, "ended")
    stage.watch("certificate-files", KINDS, Selection(metadata=True), interrupted=True)
    stage.catch_up()
    change(stage)
    stage.interrupt_unseen(stage.plane.kill_apiserver, lambda: disturb(stage))
    stage.catch_up()
    change(stage)
    stage.catch_up()
    for kind in KINDS:
        check_paths(stage, kind.name)
    return f"{stage.writes} writes"


def create(stage, kind, name):
    stage.objects(kind).create(NAMESPACE, name, body(kind), labels={"app": "web"})


def change(stage):
    """Writes inside and outside the metadata."""
    for kind in KINDS:
        annotation = {"metadata": {"annotations": {"note": f"{stage.writes}"}}}
        stage.objects(kind).patch(NAMESPACE, "kept", annotation)
    stage.pods.patch_status(NAMESPACE, "kept", status("Running", restarts=stage.writes))
    stage.objects(CONFIGMAPS).patch(NAMESPACE, "kept", {"data": {"writes": f"{stage.writes}"}})


def disturb(stage):
    for kind in KINDS:
        stage.objects(kind).delete(NAMESPACE, "ended")
        create(stage, kind, "ended")
    change(stage)


def check_paths(stage, watch):
    for record in stage.records(watch):
        others = [path for path in record.get("changed", []) if not path.startswith("metadata.")]
        if others:
            stage.complain(f"{watch}: {record['name']} was reported with changes in {others}")
