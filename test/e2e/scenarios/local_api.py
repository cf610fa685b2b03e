"""Clients read the replica instead of the API server: kubectl prints the same from both, and client-go's
informer on the replica ends with the objects of the server, also over a kill -9 of informerd. Requests of
local_api_requests.py have the same answers.

kubectl and the informer are unmodified; informerctl writes their kubeconfig. Only ages may differ.
"""

import re
import socket
import subprocess
import time

from lib import children
from lib.kubelet import Kubelet
from lib.resource import (ALL, CONFIGMAPS, DEPLOYMENTS, ENDPOINTSLICES, PODS, REPLICASETS, SERVICES, Resource,
                          Selection)
from lib.service import readiness

from . import deployment, local_api_requests

KINDS = (PODS, DEPLOYMENTS, REPLICASETS, SERVICES, ENDPOINTSLICES, CONFIGMAPS, Resource("nodes"), Resource("events"),
         Resource("namespaces"))
NAMESPACE = deployment.NAMESPACE
AGES = re.compile(r"\b(\d+[smhdy])+\b")
SAME = (  # commands that print the same, apart from ages
    "get pods -A -o wide", "get pods -n shop -l app=web", "get deployments,replicasets,services -n shop -o wide",
    "get pods -n shop -o json", "get deployment/web -n shop -o yaml", "get nodes -o wide", "get namespaces",
    "get pods -A --field-selector status.phase=Running -o name", "get events -n shop --sort-by=.metadata.name",
    "get pods -n shop --sort-by=.metadata.name", "get endpointslices -A", "describe deployment web -n shop",
    "describe pods -n shop", "wait --for=condition=Available deployment/web -n shop", "get pod none -n shop",
    "get pods -n shop -o custom-columns=N:.metadata.name,P:.status.phase", "explain pods.spec.containers",
    "explain deployment --recursive", "version")


def run(stage):
    plane = stage.plane
    plane.start_controllers()
    with Kubelet(plane.admin):
        stage.make_namespace(NAMESPACE)
        deployment.apply(stage, release=1)
        service = stage.service("token", KINDS, top={"api": {"listen": f"127.0.0.1:{free_port()}"}})
        service.start()
        replica = connect(stage, service)
        for command in SAME:
            compare(stage, replica, command.split())
        requests = local_api_requests.compare_all(stage, service.folder)
        refused(stage, replica)
        informers = [stage.informer(replica, PODS, name, selection)
                     for name, selection in (("whole", ALL), ("metadata", Selection(metadata=True)))]
        watch(stage, replica)
        wait_for_informers(stage, informers)
        service.kill()
        deployment.apply(stage, release=3)
        service.start()
        compare(stage, connect(stage, service), SAME[0].split())
        wait_for_informers(stage, informers)
    return f"{len(SAME)} commands of kubectl, {requests} requests"


def free_port():
    """The replica is expected at the same port after a kill."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def wait_for_informers(stage, informers):
    """Until their events and their caches are the objects of the server, which does not change any more."""
    listed = stage.objects(PODS).list()
    for informer in informers:
        informer.wait_for_state(listed, stage.timeout)
        if informer.state != listed or informer.store() != listed:
            stage.complain(f"{informer.name} on the replica: {informer.store()}, the server has {listed}")


def connect(stage, service, name="replica"):
    """Waits until the service is ready. Returns the kubeconfig that informerctl prints."""
    children.until(lambda: is_ready(service.folder), stage.timeout, "the service is ready")
    return kubeconfig_of(stage, service, name)


def kubeconfig_of(stage, service, name):
    kubeconfig = stage.plane.folder / f"{name}.kubeconfig"
    command = [stage.subject.binary.with_name("informerctl"), "-s", service.folder / "informerd.sock", "kubeconfig"]
    kubeconfig.write_bytes(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    return kubeconfig


def is_ready(folder):
    try:
        return readiness(folder)[0]
    except OSError:
        return False


def kubectl(stage, kubeconfig, arguments):
    """(status, stdout, stderr) without ages."""
    done = subprocess.run(stage.plane.kubectl_command(kubeconfig, *arguments), capture_output=True, text=True,
                          timeout=60)
    return done.returncode, AGES.sub("AGE", done.stdout), AGES.sub("AGE", done.stderr)


def compare(stage, replica, arguments):
    compare_with(stage, lambda kubeconfig: kubectl(stage, kubeconfig, arguments), replica, f"kubectl {' '.join(arguments)}")


def compare_with(stage, run, replica, title):
    """The replica prints the same as the server, as soon as the last changes have arrived."""
    deadline = time.monotonic() + stage.timeout
    while True:
        theirs, ours = run(stage.plane.kubeconfig("admin")), run(replica)
        if normal(theirs) == normal(ours):
            return
        if time.monotonic() > deadline:
            stage.complain(f"{title}: from the server\n{theirs}\nfrom the replica\n{ours}")
            return


def normal(output):
    """Columns are as wide as their longest age."""
    status, stdout, stderr = output
    return status, [line.split() for line in stdout.splitlines()], stderr


def refused(stage, replica):
    for arguments, word in ((["delete", "node", "none"], "MethodNotAllowed"),
                            (["get", "secrets", "-A"], "resource type"),
                            (["get", "pods", "-A", "--as", "admin"], "impersonation")):
        status, _, stderr = kubectl(stage, replica, arguments)
        if status == 0 or word not in stderr:
            stage.complain(f"kubectl {' '.join(arguments)} on the replica: status {status}, {stderr}")


def watch(stage, replica):
    """kubectl get -w shows the pods of another release."""
    command = stage.plane.kubectl_command(replica, "get", "pods", "-n", NAMESPACE, "-w", "-o", "name")
    log = stage.plane.folder / "watch.log"
    with open(log, "w") as out:
        child = children.start(command, stdout=out, stderr=out)
        try:
            children.until(lambda: log.read_text(), stage.timeout, "the first pods of a watch")
            deployment.apply(stage, release=2)
            expected = set(stage.plane.kubectl("get", "pods", "-n", NAMESPACE, "-o", "name").split())
            children.until(lambda: expected <= set(log.read_text().split()), stage.timeout, "the new pods in a watch")
        finally:
            children.stop(child)
