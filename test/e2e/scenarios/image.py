"""The container image, built here from Debian packages, runs in a pod as a cluster would run it: with the manifests of
conf/kubernetes on the real API server, as a user without rights, on a read-only root, in its own network namespace.

It becomes ready and logs changes; a renewed token of the service account is used while the old one becomes invalid; SIGTERM
ends it with status 0, and the next pod logs what has changed meanwhile, each change once.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

from lib import children, manifests, parts, pod
from lib.api import ApiError
from lib.children import Failure
from lib.compare import CHANGES
from lib.resource import Resource

NAMESPACE, POD = "informerd", "informerd-0"
SERVICES = Resource("services")
TOOLS = {"buildah": "buildah", "mmdebstrap": "mmdebstrap"}
BUILD = manifests.CONF / "image" / "build.sh"
IMAGE = "localhost/informerd-e2e"
BUILD_SECONDS = 1500
LARGEST = 40 << 20  # LIMIT: bytes of the image, without what the file system adds
SHELLS = {"sh", "bash", "dash", "busybox", "perl", "python3", "apt-get", "dpkg"}
TROUBLE = ("(401 ", "(403 ")


def run(stage):
    check_tools()
    folder = stage.plane.folder / "image"
    folder.mkdir()
    rootfs = build(stage, folder)
    size = check_contents(stage, rootfs, json.loads((folder / "sbom.json").read_text()))
    before = listing(rootfs)
    stage.plane.start_controllers()
    manifests.apply(stage, manifests.kustomize(stage, manifests.BASE), NAMESPACE)
    manifests.pod_of(stage, NAMESPACE, POD)
    with pod.Node(stage, folder / "node", rootfs) as node:
        first = node.run(NAMESPACE, POD)
        first.wait_until_ready()
        check_running(stage, first)
        check_rotation(stage, first)
        stop(stage, first)
        check_restart(stage, node, first)
    if listing(rootfs) != before:
        stage.complain("the root file system has changed")
    return f"{size / (1 << 20):.1f} MiB"


def check_tools():
    pod.check_tools()
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise Failure(f"the command {tool} is missing: install {package}")


def build(stage, folder):
    """Builds the image in a store of its own, which keeps the base and the layers. Returns its root file system."""
    root = parts.cache_folder() / "images"
    root.mkdir(exist_ok=True)
    store = ["--root", str(root / "store"), "--runroot", str(folder / "run")]
    environment = os.environ | {"IMAGE": IMAGE, "SBOM": str(folder / "sbom.json")}
    with parts.alone(root):
        print("image: building; the first time takes some minutes", flush=True)
        with open(folder / "build.log", "w") as log:
            child = children.start([BUILD, *store], env=environment, stdout=log, stderr=log)
        try:
            status = child.wait(BUILD_SECONDS)
        finally:
            children.stop(child)
    if status != 0:
        raise Failure(f"the build of the image failed:\n{children.tail(folder / 'build.log')}")
    container = output("buildah", *store, "from", IMAGE)
    stage.at_end(lambda: output("buildah", *store, "rm", container))
    config = json.loads(output("buildah", *store, "inspect", "--type", "image", IMAGE))["OCIv1"]["config"]
    expected = {"User": "65532:65532", "Entrypoint": pod.ENTRYPOINT, "Cmd": ["-c", "/etc/informerd/informerd.conf"]}
    for key, value in expected.items():
        if config.get(key) != value:
            stage.complain(f"{key} of the image is {config.get(key)}, not {value}")
    return Path(output("buildah", *store, "mount", container))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def listing(rootfs):
    """The files; runc makes directories for its mounts."""
    return {path: path.lstat().st_mtime_ns for path in rootfs.rglob("*") if path.is_file()}


def check_contents(stage, rootfs, sbom):
    """Nothing but the programs and their libraries, each in the SBOM. Returns the size."""
    files = [path for path in rootfs.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in files:
        if path.name in SHELLS or path.stat().st_mode & 0o6000:
            stage.complain(f"the image contains {path.relative_to(rootfs)}")
    recorded = {path.name for path in (rootfs / "var/lib/dpkg/status.d").iterdir()}
    listed = {package["name"] for package in sbom["packages"]}
    if listed != recorded | {"informerd"} or not {"libc6", "libuv1t64", "ca-certificates"} <= recorded:
        stage.complain(f"the SBOM lists {sorted(listed)}, the image has {sorted(recorded)}")
    size = sum(path.stat().st_size for path in files)
    if size > LARGEST:
        stage.complain(f"the image has {size} bytes, more than {LARGEST}")
    return size


def check_running(stage, first):
    put_service(stage, "one", 80)
    wait_for_record(first, "ADDED", "one")
    for path in ("/livez", "/readyz"):
        if first.get(path)[0] != 200:
            stage.complain(f"{path}: {first.get(path)}")
    if 'informerd_watch_synced{' not in first.get("/metrics")[1]:
        stage.complain("/metrics has no watches")
    code, text = first.execute("/usr/bin/informerctl", "status")
    if code != 0 or "services" not in text:
        stage.complain(f"informerctl status ends with {code}: {text}")
    code, text = first.execute("/usr/bin/informerctl", "get", "services", "-n", NAMESPACE)
    if code != 0 or "one" not in text:
        stage.complain(f"informerctl get services ends with {code}: {text}")


def check_rotation(stage, first):
    """The pod's token is bound to a Secret, whose deletion makes it invalid."""
    secrets = f"/api/v1/namespaces/{NAMESPACE}/secrets"
    secret = stage.plane.admin.create(secrets, {"metadata": {"name": "bound"}})
    bound = {"kind": "Secret", "apiVersion": "v1", "name": "bound", "uid": secret["metadata"]["uid"]}
    old = first.renew_token(boundObjectRef=bound)
    first.proxy.cut()  # the next connection uses the bound token
    put_service(stage, "two", 80)
    wait_for_record(first, "ADDED", "two")
    first.renew_token()
    stage.plane.admin.delete(f"{secrets}/bound", 0)
    client = stage.plane.client(token=old)
    children.until(lambda: status_of(client) == 401, 60, "the old token invalid", pause=0.2)
    first.proxy.cut()
    put_service(stage, "three", 80)
    wait_for_record(first, "ADDED", "three")
    for words in TROUBLE:
        if words in first.log:
            stage.complain(f"the log has '{words}' after the token was renewed:\n{children.indented_end(first.log, 10)}")


def status_of(client):
    try:
        client.get("/api/v1/services?limit=1")
    except ApiError as error:
        return error.status
    return 200


def stop(stage, running):
    code = running.stop()
    if code != 0 or running.records[-1]["type"] != "STOP":
        stage.complain(f"after SIGTERM it ended with {code}; last record {running.records[-1]}")


def check_restart(stage, node, first):
    put_service(stage, "two", 81)  # while no pod runs
    stage.plane.admin.delete(f"{SERVICES.path(NAMESPACE)}/one", 0)
    second = node.run(NAMESPACE, POD)
    second.wait_until_ready()
    put_service(stage, "four", 80)
    wait_for_record(second, "ADDED", "four")
    seen = [(r["type"], r["name"]) for r in second.records if r["type"] in CHANGES and r["resource"] == "services"]
    if sorted(seen) != [("ADDED", "four"), ("DELETED", "one"), ("MODIFIED", "two")]:
        stage.complain(f"after the restart the log has {seen}")
    if second.records[0]["log"] != first.records[0]["log"]:
        stage.complain("the state was not kept")
    stop(stage, second)


def put_service(stage, name, port):
    admin, path = stage.plane.admin, SERVICES.path(NAMESPACE)
    spec = {"clusterIP": "None", "ports": [{"port": port}]}
    try:
        admin.create(path, {"metadata": {"name": name}, "spec": spec})
    except ApiError as error:
        if error.status != 409:
            raise
        admin.patch(f"{path}/{name}", {"spec": {"ports": spec["ports"]}})


def wait_for_record(running, kind, name):
    children.until(lambda: any(r["type"] == kind and r.get("name") == name for r in running.records), 60,
                   f"record {kind} {name}; the log ends:\n{children.indented_end(running.log, 10)}")
