"""The Helm chart and the kustomize base on a real API server: each mode, with few and with many values, is linted, rendered, applied
and compared; the server keeps every field, applying it again changes nothing, and the roles are those of `informerd rbac`.

The controllers make the pods, in namespaces where Pod Security is enforced. A simulated kubelet runs them: with exactly the service
account of the chart informerd becomes ready. Pods of the same node read the copy of a DaemonSet through a directory of the
node; other users are refused. Finally helm installs, upgrades and uninstalls a release.
"""

import json
import subprocess
import sys

from lib import children, manifests, pod
from lib.children import Failure
from lib.resource import PODS, Resource

from . import custom

NODES = Resource("nodes")
RELEASE = "informerd"
GID, READER, OTHER = 70001, 1000, 2000  # the group of the socket; users
READERS = [{"name": "agents", "uid": READER}, {"name": "by-number", "group": "70002"}]
MONITORING = {kind: {"enabled": True, "labels": {"team": "x"}} for kind in ("podMonitor", "rules", "dashboard")}
BUILT_IN = [
    *(f"{name}" for name in ("configmaps", "endpoints", "namespaces", "persistentvolumeclaims", "pods", "secrets", "serviceaccounts")),
    "deployments.apps", "replicasets.apps/v1", "controllerrevisions.apps/v1", "horizontalpodautoscalers.autoscaling/v2",
    "leases.coordination.k8s.io/v1", "endpointslices.discovery.k8s.io/v1", "events.events.k8s.io/v1", "ingresses.networking.k8s.io/v1",
    "poddisruptionbudgets.policy/v1", "clusterroles.rbac.authorization.k8s.io/v1", "storageclasses.storage.k8s.io/v1",
    "customresourcedefinitions.apiextensions.k8s.io/v1"]
MANY = {  # most values
    "image": {"repository": "registry.example.com/informerd", "digest": "sha256:" + "0" * 64, "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "pull"}], "fullnameOverride": "changes", "clusterName": "prod", "persistence": {"enabled": False},
    "config": {"watches": [
        {"resource": "pods", "namespaces": ["shop", "billing"]}, {"resource": "services", "namespaces": ["shop"]},
        {"name": "all-services", "resource": "services"}, {"resource": "widgets.example.com/v1", "namespaces": ["shop"]},
        {"resource": "gadgets.example.com/v1", "optional": True}, {"resource": "jobs.batch/v1", "exclude_namespaces": ["kube-*"]},
        {"resource": "secrets", "namespace_selector": "team=shop"}]},
    "rbac": {"extraRules": [{"apiGroups": ["example.com"], "resources": ["parts"], "verbs": ["get"]}]},
    "serviceAccount": {"name": "watcher", "annotations": {"example.com/role": "reader"}}, "metrics": MONITORING,
    "http": {"address": "[::]", "port": 9999}, "priorityClassName": "", "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "infra", "operator": "Exists"}], "podAnnotations": {"a": "b"}, "podLabels": {"c": "d"},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                                   "labelSelector": {"matchLabels": {"c": "d"}}}],
    "extraEnv": [{"name": "TEAM", "value": "shop"}], "extraEnvFrom": [{"secretRef": {"name": "sink", "optional": True}}],
    "extraVolumes": [{"name": "sink", "secret": {"secretName": "sink"}}],
    "extraVolumeMounts": [{"name": "sink", "mountPath": "/etc/sink"}]}
CASES = {  # by namespace
    "single": {},
    "many": MANY,
    "built-in": {"config": {"watches": [{"name": f"w{i}", "resource": each} for i, each in enumerate(BUILT_IN)]}},
    "replicas": {"mode": "replicas", "replicas": {"count": 2, "group": "leader"}},
    "daemonset": {"mode": "daemonset", "daemonset": {"gid": GID}, "config": {"api": {"readers": READERS}}, "metrics": MONITORING},
}
WRONG = (  # values, and what the error contains
    ({"mode": "cluster"}, "one of 'single', 'replicas', 'daemonset'"),
    ({"replicas": {"cuont": 3}}, "'cuont' not allowed"),
    ({"config": {"watches": []}}, "/config/watches"),
    ({"config": {"state_dir": "/data"}}, "config.state_dir is set by the chart"),
    ({"config": {"watches": [{"resource": "deploy"}]}}, "write the plural name with its group"),
    ({"config": {"watches": [{"resource": "deployments.v1.apps"}]}}, "write name.group/version"),
    ({"http": {"port": 80}}, "/http/port"))
RESTRICTED, PRIVILEGED = "restricted", "privileged"  # Pod Security
TEXT, MAP = {"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}


def run(stage):
    pod.check_tools()
    stage.plane.start_controllers()
    stage.plane.admin.create(NODES.path(), {"metadata": {"name": "node-1"}})
    custom.define(stage)
    define_monitoring(stage)
    for name in ("shop", "billing"):
        stage.make_namespace(name)
    folder = stage.plane.folder / "chart"
    folder.mkdir()
    check_refusals(stage)
    applied = manifests.apply(stage, manifests.kustomize(stage, manifests.BASE), "informerd")
    check_roles(stage, applied, "informerd")
    for namespace, values in CASES.items():
        make_namespace(stage, namespace, PRIVILEGED if values.get("mode") == "daemonset" else RESTRICTED)
        manifests.helm(stage, "lint", "--strict", manifests.CHART, "--set-json", f"config={json.dumps(values.get('config', {}))}")
        rendered = manifests.template(stage, namespace, values)
        applied = manifests.apply(stage, rendered, namespace)
        check_roles(stage, applied, namespace)
    check_security(stage)
    with pod.Node(stage, folder / "node", root_of(stage, folder)) as node:
        for namespace, name in (("informerd", "informerd-0"), ("single", "informerd-0")):
            check_ready(node, namespace, manifests.pod_of(stage, namespace, name))
        check_replicas(stage, node)
        check_daemonset(stage, node)
    check_release(stage)
    return f"{len(CASES) + 1} sets of manifests"


def root_of(stage, folder):
    """A root file system as that of the image, of the programs under test."""
    script = manifests.CONF / "image" / "rootfs.py"
    build = stage.subject.binary.parent
    subprocess.run([sys.executable, script, folder / "rootfs", "test", build / "informerd", build / "informerctl"], check=True)
    return folder / "rootfs"


def make_namespace(stage, name, level):
    stage.plane.admin.create("/api/v1/namespaces", {
        "metadata": {"name": name, "labels": {"pod-security.kubernetes.io/enforce": level}}})


def check_refusals(stage):
    for values, words in WRONG:
        error = manifests.template(stage, "wrong", values, status=1)
        if words not in error:
            stage.complain(f"values {values}: '{words}' is not in the error:\n{error[-500:]}")


def define_monitoring(stage):
    """The fields of the Prometheus operator's resources that the chart uses. Others are refused by strict validation."""
    endpoint = {"port": TEXT, "path": TEXT, "interval": TEXT, "relabelings": array({"targetLabel": TEXT, "replacement": TEXT})}
    rule = {"alert": TEXT, "expr": TEXT, "for": TEXT, "labels": MAP, "annotations": MAP}
    specs = {"PodMonitor": {"selector": structure({"matchLabels": MAP}), "podMetricsEndpoints": array(endpoint)},
             "PrometheusRule": {"groups": array({"name": TEXT, "rules": array(rule)})}}
    for kind, spec in specs.items():
        plural, group = kind.lower() + "s", "monitoring.coreos.com"
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": structure({"spec": structure(spec)})}}
        stage.plane.admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": [version]}})
        path = f"/apis/{group}/v1/{plural}"
        children.until(lambda p=path: succeeds(lambda: stage.plane.admin.get(p)), 30, f"the resource {plural}", pause=0.2)


def structure(properties):
    return {"type": "object", "properties": properties}


def array(properties):
    return {"type": "array", "items": structure(properties)}


def succeeds(call):
    try:
        call()
    except Exception:  # noqa: BLE001 (it does not exist yet)
        return False
    return True


# -- roles

def check_roles(stage, applied, namespace):
    """Those of the manifests are those that informerd prints for the configuration, plus the extra rule of one case."""
    conf = next(item for item in applied if item["kind"] == "ConfigMap" and "informerd.conf" in item["data"])
    path = stage.plane.folder / f"{namespace}.conf"
    path.write_text(conf["data"]["informerd.conf"])
    account = next(item["metadata"]["name"] for item in applied if item["kind"] == "ServiceAccount")
    done = subprocess.run([stage.subject.binary, "rbac", "-c", path, "--serviceaccount", f"{namespace}:{account}"], text=True,
                          capture_output=True, timeout=60)
    if done.returncode != 0:
        return stage.complain(f"{namespace}: informerd rbac: {done.stderr}")
    ours, printed = (granted(items, namespace) for items in (applied, manifests.objects(stage, done.stdout)))
    ours -= {grant for grant in ours if grant[3] == "parts"}
    if ours != printed:
        stage.complain(f"{namespace}: permissions differ from informerd rbac: {sorted(map(str, ours ^ printed))}")
    return None


def granted(items, namespace):
    """{(subject, namespace, group, resource, verb, name)} of roles that are bound."""
    roles = {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]): item["rules"]
             for item in items if item["kind"] in ("Role", "ClusterRole")}
    found = set()
    for item in items:
        if not item["kind"].endswith("RoleBinding"):
            continue
        scope = item["metadata"].get("namespace", "")
        for subject in item["subjects"]:
            for rule in roles[item["roleRef"]["kind"], scope, item["roleRef"]["name"]]:
                found |= {((subject["namespace"], subject["name"]), scope or ("" if "Cluster" in item["kind"] else namespace),
                           group, resource, verb, name)
                          for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]
                          for name in rule.get("resourceNames", [""])}
    return found


# -- pods

def check_security(stage):
    """Pod Security refuses the DaemonSet in a restricted namespace; that the others are admitted shows when they run."""
    template = stage.plane.admin.get(f"/apis/apps/v1/namespaces/daemonset/daemonsets/{RELEASE}")["spec"]["template"]
    text = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": template["spec"]})
    try:
        manifests.run(stage, text, "create", "--dry-run=server", "--namespace", "single", "-f", "-")
    except Failure as failure:
        if 'violates PodSecurity "restricted' in str(failure):
            return
        raise
    stage.complain("Pod Security does not refuse a hostPath volume: it is not enforced")


def check_ready(node, namespace, name):
    running = node.run(namespace, name)
    running.wait_until_ready()
    return running


def check_replicas(stage, node):
    """Both are ready, and one of them holds the Lease."""
    running = [check_ready(node, "replicas", manifests.pod_of(stage, "replicas", f"informerd-{number}")) for number in range(2)]
    path = "/apis/coordination.k8s.io/v1/namespaces/replicas/leases/leader"
    children.until(lambda: succeeds(lambda: stage.plane.admin.get(path)["spec"]["holderIdentity"]), 60, "a holder of the Lease")
    codes = [each.stop() for each in running]
    if codes != [0, 0]:
        stage.complain(f"the replicas ended with {codes}")


def check_daemonset(stage, node):
    found = children_of(stage, "daemonset")
    children.until(lambda: children_of(stage, "daemonset"), 60, "the pod of the DaemonSet", pause=0.2)
    found = children_of(stage, "daemonset")
    check_ready(node, "daemonset", found[0])
    known = {item["metadata"]["name"] for item in stage.plane.admin.get(PODS.path("daemonset"))["items"]}
    listed = read(stage, node, "member", READER, GID)
    if listed[0] != 0 or not all(name in listed[1] for name in known):
        stage.complain(f"a reader of the node gets {listed}")
    for name, user, group, words in (("unlisted", OTHER, GID, "orbidden"), ("stranger", OTHER, None, "ermission denied"),
                                     ("no-group", READER, None, "ermission denied")):
        code, text = read(stage, node, name, user, group)
        if code == 0 or words not in text:
            stage.complain(f"{name} (user {user}, group {group}) is not refused: {code} {text}")


def children_of(stage, namespace):
    items = stage.plane.admin.get(PODS.path(namespace))["items"]
    return [item["metadata"]["name"] for item in items if item["metadata"].get("ownerReferences")]


def read(stage, node, name, user, group):
    """A pod of another team on that node lists pods through the socket. Returns (exit code, output)."""
    security = {"runAsUser": user, "runAsGroup": user} | ({"supplementalGroups": [group]} if group else {})
    stage.plane.admin.create(PODS.path("daemonset"), {"metadata": {"name": name}, "spec": {
        "automountServiceAccountToken": False, "nodeName": "node-1", "securityContext": security,
        "volumes": [{"name": "informerd", "hostPath": {"path": "/run/informerd", "type": "Directory"}}],
        "containers": [{
            "name": "client", "image": "informerd", "command": ["/usr/bin/informerctl", "get", "pods", "-n", "daemonset"],
            "securityContext": {"capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False},
            "volumeMounts": [{"name": "informerd", "mountPath": "/run/informerd", "readOnly": True}]}]}})
    return node.run("daemonset", name).wait()


# -- helm on the server

def check_release(stage):
    """Installed, upgraded and removed; nothing of it is left but the volume claims, which hold data."""
    make_namespace(stage, "release", RESTRICTED)
    common = ("--namespace", "release", "--kubeconfig", stage.plane.kubeconfig("admin"))
    notes = manifests.helm(stage, "install", RELEASE, manifests.CHART, *common)
    if "informerctl status" not in notes or "kubectl -n release logs" not in notes:
        stage.complain(f"the notes of the chart: {notes}")
    manifests.helm(stage, "upgrade", RELEASE, manifests.CHART, *common, "--set", "mode=replicas")
    scaled = stage.plane.admin.get(f"/apis/apps/v1/namespaces/release/statefulsets/{RELEASE}")["spec"]["replicas"]
    if scaled != 2:
        stage.complain(f"after the upgrade the StatefulSet has {scaled} replicas")
    manifests.helm(stage, "uninstall", RELEASE, *common, "--wait")
    kinds = "configmaps,services,serviceaccounts,statefulsets,roles,rolebindings,poddisruptionbudgets"
    left = stage.plane.kubectl("get", kinds, "-n", "release", "-l", "app.kubernetes.io/instance=informerd", "-o", "name")
    roles = stage.plane.kubectl("get", "clusterroles,clusterrolebindings", "-l", "app.kubernetes.io/name=informerd", "-o", "name")
    left += "".join(line for line in roles.splitlines() if line.endswith("/release-informerd"))
    if left or "/single-informerd" not in roles:
        stage.complain(f"after helm uninstall: {left}; of other releases: {roles}")
