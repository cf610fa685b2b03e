"""Manifests for the API server: rendered by kustomize or helm, applied as a cluster operator does it, and compared.

    rendered = manifests.kustomize(stage, folder)
    manifests.apply(stage, rendered)          # dry run, real, and again without effect
"""

import json
import subprocess

from . import parts
from .api import ApiError
from .children import Failure

CONF = parts.HERE.parents[1] / "conf"
BASE, CHART = CONF / "kubernetes" / "base", CONF / "helm" / "informerd"
SERVER_SIDE = ("apply", "--server-side", "--validate=strict", "-f", "-")
SECONDS = 120
SETS = {"env": "name", "volumes": "name", "containers": "name", "initContainers": "name", "ports": "name"}  # lists by key
QUANTITIES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "m": 0.001}


def kustomize(stage, folder):
    return stage.plane.kubectl("kustomize", str(folder))


def helm(stage, *arguments, status=0):
    """Runs helm with its data below the plane's folder. Returns its output, or that of the expected failure."""
    folder = stage.plane.folder / "helm"
    environment = {"HOME": str(folder), "HELM_DRIVER": "secret", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([parts.programs("clients/helm")["helm"], *map(str, arguments)], env=environment, text=True,
                          capture_output=True, timeout=SECONDS)
    if (done.returncode != 0) != (status != 0):
        raise Failure(f"helm {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stderr if status else done.stdout


def template(stage, namespace, values, release="informerd", status=0):
    """The manifests of the chart with these values."""
    path = stage.plane.folder / f"values-{namespace}.json"
    path.write_text(json.dumps(values))  # JSON is YAML
    return helm(stage, "template", release, CHART, "--namespace", namespace, "--values", path,
                "--kube-version", parts.release(parts.NEW), status=status)


def objects(stage, text):
    """The objects of manifests in YAML, read by kubectl."""
    printed = run(stage, text, "create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-")
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(printed):  # kubectl prints one after the other, or a list
        value, at = decoder.raw_decode(printed, at)
        at += len(printed[at:]) - len(printed[at:].lstrip())
        found += value["items"] if value["kind"] == "List" else [value]
    for item in found:
        if item["metadata"].get("namespace") == "default":  # added by kubectl; no manifest has it
            del item["metadata"]["namespace"]
    return found


def apply(stage, text, what):
    """Applies manifests; checks that the server keeps each field, and that a second time changes nothing."""
    wanted = objects(stage, text)
    for item in wanted:
        if item["kind"] == "Namespace":  # a dry run needs it
            run(stage, json.dumps(item), *SERVER_SIDE)
    if run(stage, text, *SERVER_SIDE, "--dry-run=server").count("\n") != len(wanted):
        stage.complain(f"{what}: the dry run does not report {len(wanted)} objects")
    run(stage, text, *SERVER_SIDE)
    before = {}
    for item in wanted:
        live = get(stage, item)
        before[address(item)] = version(live)
        for path in missing(item, live):
            stage.complain(f"{what}: {address(item)}: the server does not keep {path}")
    run(stage, text, *SERVER_SIDE)
    for item in wanted:
        if version(get(stage, item)) != before[address(item)]:
            stage.complain(f"{what}: {address(item)}: applying it again changes it")
    return wanted


def version(item):
    """What a change of the specification changes; controllers write to the status at any time."""
    meta = item["metadata"]
    managed = [entry for entry in meta.get("managedFields", []) if entry.get("operation") == "Apply"]
    return meta.get("generation"), json.dumps(managed, sort_keys=True), json.dumps(item.get("data", item.get("rules")))


def address(item):
    return "/".join((item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]))


def get(stage, item):
    group = item["apiVersion"].rpartition("/")[0]
    name = ".".join(filter(None, (item["kind"].lower() + ("ies" if item["kind"].endswith("y") else "s"), group)))
    within = ["--namespace", item["metadata"]["namespace"]] if "namespace" in item["metadata"] else []
    return json.loads(stage.plane.kubectl("get", name, item["metadata"]["name"], *within, "-o", "json", "--show-managed-fields"))


def run(stage, text, *arguments):
    done = subprocess.run(stage.plane.kubectl_command(stage.plane.kubeconfig("admin"), *arguments), input=text, text=True,
                          capture_output=True, timeout=SECONDS)
    if done.returncode != 0:
        raise Failure(f"kubectl {' '.join(arguments)}: {done.stderr.strip()[:3000]}")
    if "Warning:" in done.stderr:
        stage.complain(f"kubectl {' '.join(arguments)} warns: {done.stderr.strip()[:1000]}")
    return done.stdout


def missing(wanted, live, path=""):
    """The paths of values that the server has dropped or changed. It may add values."""
    if isinstance(wanted, dict):
        if not isinstance(live, dict):
            return [path]
        return [found for key, value in wanted.items() for found in missing(value, live.get(key), f"{path}.{key}")]
    if isinstance(wanted, list):
        if not isinstance(live, list) or len(live) < len(wanted):
            return [path]
        by = SETS.get(path.rpartition(".")[2])
        pairs = (((each, next((other for other in live if other.get(by) == each.get(by)), None)) for each in wanted)
                 if by else zip(wanted, live))
        return [found for number, (each, other) in enumerate(pairs) for found in missing(each, other, f"{path}[{number}]")]
    empty = wanted in (None, "", False) and not live
    return [] if wanted == live or empty or str(wanted) == str(live) else [f"{path}: {wanted!r} is {live!r}"]


def pod_of(stage, namespace, name):
    """Waits until a controller has created that pod."""
    from . import children
    path = f"/api/v1/namespaces/{namespace}/pods/{name}"

    def exists():
        try:
            return stage.plane.admin.get(path)
        except ApiError:
            return False
    children.until(exists, SECONDS, f"pod {namespace}/{name}", pause=0.2)
    return name
