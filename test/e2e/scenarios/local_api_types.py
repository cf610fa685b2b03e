"""What the replica says about types is what the server says: kubectl explain and version, the columns of custom resources
from their definition, of resources without a printer, and those of the rest.
"""

from lib.resource import CONFIGMAPS, DEPLOYMENTS, PODS, WIDGETS, Resource

from . import custom
from .local_api import compare, connect, free_port

KINDS = (PODS, DEPLOYMENTS, CONFIGMAPS, WIDGETS, Resource("roles", "rbac.authorization.k8s.io"))
COLUMNS = [{"name": name, "type": kind, "jsonPath": path, "priority": priority} for name, kind, path, priority in (
    ("Size", "integer", ".spec.size", 0), ("Ready", "boolean", ".status.ready", 0), ("Ratio", "number", ".spec.ratio", 0),
    ("Text", "string", ".status.text", 1), ("Since", "date", ".metadata.creationTimestamp", 0))]
SAME = ("version", "explain pods", "explain pods.spec.containers.ports", "explain deployments.spec.strategy --recursive",
        "explain widgets", "explain none", "get widgets -A", "get widgets -A -o wide", "get widgets -n shop first",
        "get configmaps -A", "get roles -A", "get --raw /openapi/v3", "get --raw /openapi/v3/apis/apps/v1")


def run(stage):
    stage.make_namespace(custom.NAMESPACE)
    custom.define(stage, COLUMNS)
    for name in "first", "second":
        custom.begin(stage.objects(WIDGETS), name)
    service = stage.service("token", KINDS, top={"api": {"listen": f"127.0.0.1:{free_port()}"}})
    service.start()
    replica = connect(stage, service)
    for command in SAME:
        compare(stage, replica, command.split())
    return f"{len(SAME)} commands of kubectl"
