"""Unmodified clients of other versions and libraries read the replica as they read the server.

kubectl of three versions: the commands of local_api print the same from the server and from the replica; and each row of
the behaviour of the local API is tried: discovery, tables, waiting, refusals, restricted watches, Secrets, a stale copy.

Caches of pods: client-go's informers (typed, dynamic, metadata), controller-runtime's cache, kube-rs's reflector (list and
watch-list) and the Python client. Each runs on the server and on the replica, under churn, with informerd killed in
between. All end with the server's list.

The clients are built on first use: Go modules, a Rust crate and a package of PyPI. The scenario fails without them.
"""

import contextlib
import re
import subprocess
import threading
import time
from random import Random
from typing import NamedTuple

from lib import children, clients, compare
from lib.kubelet import Kubelet
from lib.resource import PODS, SECRETS, Resource

from . import deployment, local_api
from .churn import meanwhile
from .local_api import NAMESPACE, connect, free_port, kubeconfig_of

KINDS = (*local_api.KINDS, SECRETS, Resource("leases", "coordination.k8s.io"), Resource("endpoints"))
DEPRECATED = re.compile(r"^Warning: .* is deprecated in .*\n", re.MULTILINE)  # the server says so, with any output
STALE_AFTER = "1h"  # the server sends no bookmarks for events, and a quiet watch is not what is tested
COMMANDS = (  # more that print the same
    "get pods -n shop --chunk-size=1",
    "get deployment web -n shop -o jsonpath={.status.readyReplicas}", "events -n shop --for deployment/web",
    "get all -n shop -l app=web -o name", "rollout status deployment/web -n shop",
    "wait --for=jsonpath={.status.phase}=Running pods -l app=web -n shop", "get secrets -n shop",
    "describe node node-1", "describe service web -n shop", "describe replicasets -n shop")
WITHOUT_EXPLAIN = ("1.28",)  # its explain always reads /openapi/v2, as protobuf, which informerd does not serve
NAMESPACES = 4
RATE = 60  # writes per second
KILLS = 3
LIFE = 4  # seconds of churn before and after each kill
PODS_EACH = 30  # in each namespace


class Refusal(NamedTuple):
    """A command that the replica refuses, and a part of its message."""

    command: str
    message: str


REFUSALS = (
    Refusal("delete pods --all -n shop", "MethodNotAllowed"),
    Refusal("logs deployment/web -n shop", "is not supported"),
    Refusal("label node node-1 a=b", "MethodNotAllowed"),
    Refusal("get pods -A --as admin", "impersonation"),
    Refusal("get jobs -A", "the server doesn't have a resource type"),
    Refusal("get secret hidden -n shop -o yaml", "reveal"),
    Refusal("get --raw /api/v1/pods?resourceVersion=99999999999&resourceVersionMatch=NotOlderThan", "Too large resource version"),
    Refusal("get --raw /api/v1/pods?resourceVersion=1&resourceVersionMatch=Exact", "is too old"),
    Refusal("get --raw /api/v1/pods?watch=1&resourceVersion=1", "too old resource version"),
)
RESTRICTED = (  # of an informerd that watches less
    Refusal("get pods -A", "shop"),  # names what is watched
    Refusal("get pods -n default", "namespace"),
    Refusal("get configmaps -A", "label"),
    Refusal("get services -n shop -o yaml", "metadata"),
)
UNSYNCED = Refusal("get --raw /api/v1/pods", "not synced yet")
ALLOWED = ("get pods -n shop -o name", "get configmaps -A -l team=a -o name")
WATCHES = ({"resource": "pods", "namespaces": [NAMESPACE]}, {"resource": "configmaps", "label_selector": "team=a"},
           {"resource": "services", "keep": "metadata"})


def run(stage):
    kubectls, caches = clients.kubectls(stage.programs), clients.caches(stage.programs)
    stage.plane.start_controllers()
    with Kubelet(stage.plane.admin):
        stage.make_namespace(NAMESPACE)
        stage.objects(SECRETS).create(NAMESPACE, "hidden", {"stringData": {"password": "none"}})
        deployment.apply(stage, release=1)
        try_unsynced(stage, kubectls)
        service = stage.service("token", KINDS, top=listening(), stale_after=STALE_AFTER)
        service.start()
        replica = connect(stage, service)
        commands = sum(try_kubectl(stage, replica, Kubectl(stage, version, program))
                       for version, program in kubectls.items())
        try_restricted(stage, kubectls)
    try_caches(stage, service, replica, caches)
    try_stale(stage, replica, kubectls)
    return f"kubectl {', '.join(kubectls)}: {commands} commands; {len(caches)} caches, {KILLS} kills"


def listening():
    return {"api": {"listen": f"127.0.0.1:{free_port()}"}}


# -- kubectl

class Kubectl:
    """kubectl of one version."""

    def __init__(self, stage, version, program):
        self.version, self._program, self._folder = version, program, stage.plane.folder

    def command(self, kubeconfig, text):
        cache = self._folder / f"kubectl-{self.version}-{kubeconfig.stem}"
        return [self._program, "--kubeconfig", kubeconfig, "--cache-dir", cache, *text.split()]

    def run(self, kubeconfig, text):
        """(status, stdout, stderr) without ages and deprecations."""
        done = subprocess.run(self.command(kubeconfig, text), capture_output=True, text=True, timeout=120)
        out, err = (local_api.AGES.sub("AGE", text) for text in (done.stdout, done.stderr))
        return done.returncode, out, DEPRECATED.sub("", err)


def try_kubectl(stage, replica, kubectl):
    """Everything with one version. Returns the number of commands."""
    same = [command for command in (*local_api.SAME, *COMMANDS)
            if not (command.startswith("explain ") and kubectl.version in WITHOUT_EXPLAIN)]
    for command in same:
        local_api.compare_with(stage, lambda where: kubectl.run(where, command), replica,
                               f"kubectl {kubectl.version} {command}")
    for refusal in REFUSALS:
        expect_refusal(stage, kubectl, replica, refusal)
    try_discovery(stage, kubectl, replica)
    try_watch(stage, kubectl, replica)
    return len(same) + len(REFUSALS) + 2


def expect_refusal(stage, kubectl, kubeconfig, refusal):
    status, out, err = kubectl.run(kubeconfig, refusal.command)
    if refusal.message not in out + err:  # a watch succeeds and prints the refusal
        stage.complain(f"kubectl {kubectl.version} {refusal.command}: expected '{refusal.message}', got status"
                       f" {status}, {out[:500]} {err[:500]}")


def try_discovery(stage, kubectl, replica):
    """Only what is watched is announced."""
    _, out, err = kubectl.run(replica, "api-resources --cached=false -o name")
    expected = {f"{kind.name}.{kind.group}" if kind.group else kind.name for kind in KINDS}
    if set(out.split()) != expected:
        stage.complain(f"kubectl {kubectl.version} api-resources: {out} {err}, expected {sorted(expected)}")


def try_unsynced(stage, kubectls):
    """An informerd that has not reached the API server yet."""
    service = stage.service("token", [PODS], top=listening(), name="unsynced", through=free_port())
    service.start()
    children.until(lambda: (service.folder / "informerd.sock").exists(), stage.timeout, "the socket of informerd")
    kubeconfig = kubeconfig_of(stage, service, "unsynced")
    for version, program in kubectls.items():
        expect_refusal(stage, Kubectl(stage, version, program), kubeconfig, UNSYNCED)
    service.stop()


def try_watch(stage, kubectl, replica):
    """get -w prints the same changes of a ConfigMap from both."""
    name = f"watched-{kubectl.version}"
    logs = {where: stage.plane.folder / f"watch-{kubectl.version}-{where.stem}.log"
            for where in (stage.plane.kubeconfig("admin"), replica)}
    with contextlib.ExitStack() as stack:
        for where, log in logs.items():
            out = stack.enter_context(open(log, "w"))
            child = children.start(kubectl.command(where, f"get configmaps -n {NAMESPACE} -w --output-watch-events"
                                                          " --field-selector metadata.name!=kube-root-ca.crt"),
                                   stdout=out, stderr=out)
            stack.callback(children.stop, child)
        until_watching(stage, logs.values())
        configmaps = stage.objects(local_api.CONFIGMAPS)
        configmaps.create(NAMESPACE, name, {"data": {"a": "1"}})
        configmaps.patch(NAMESPACE, name, {"data": {"b": "2"}})
        configmaps.delete(NAMESPACE, name)
        expected = [f"{event} {name} {data} AGE" for event, data in (("ADDED", 1), ("MODIFIED", 2), ("DELETED", 2))]

        def shown():
            return [[line for line in watched(log) if name in line] for log in logs.values()]
        try:
            children.until(lambda: shown() == [expected, expected], stage.timeout / 2, "changes in kubectl get -w")
        except children.Failure:
            stage.complain(f"kubectl {kubectl.version} get -w: server and replica show {shown()}")


def watched(log):
    return [" ".join(local_api.AGES.sub("AGE", line).split()) for line in log.read_text().splitlines()]


def until_watching(stage, logs):
    """Both show an object that exists before: an unwatched change would not be shown."""
    marker = f"marker-{time.monotonic_ns()}"
    stage.objects(local_api.CONFIGMAPS).create(NAMESPACE, marker)
    children.until(lambda: all(marker in log.read_text() for log in logs), stage.timeout, "kubectl get -w shows a marker")
    stage.objects(local_api.CONFIGMAPS).delete(NAMESPACE, marker)


def try_restricted(stage, kubectls):
    """An informerd that watches less refuses what it does not have completely."""
    stage.objects(local_api.CONFIGMAPS).create(NAMESPACE, "of-team", labels={"team": "a"})
    service = stage.service("token", WATCHES, top=listening(), name="restricted")
    service.start()
    kubeconfig = connect(stage, service, "restricted")
    for version, program in kubectls.items():
        kubectl = Kubectl(stage, version, program)
        for refusal in RESTRICTED:
            expect_refusal(stage, kubectl, kubeconfig, refusal)
        for command in ALLOWED:
            local_api.compare_with(stage, lambda where: kubectl.run(where, command), kubeconfig,
                                   f"kubectl {version} {command}, restricted")
    service.stop()


def try_stale(stage, replica, kubectls):
    """Without the API server the replica still answers, and kubectl prints its warning."""
    stage.plane.kill_apiserver()
    for version, program in kubectls.items():
        kubectl = Kubectl(stage, version, program)
        children.until(lambda: "outdated" in kubectl.run(replica, "get pods -A -o name")[2], stage.timeout,
                       f"kubectl {version} warns of an outdated copy", pause=1)
        status, out, _ = kubectl.run(replica, "get pods -A -o name")
        if status != 0 or "pod/" not in out:
            stage.complain(f"kubectl {version} without the API server: status {status}, {out}")
    stage.plane.start_apiserver()


# -- caches

def try_caches(stage, service, replica, caches):
    """All caches on both servers, under churn; the service is killed and started again."""
    wheres = {"server": stage.plane.kubeconfig("admin"), "replica": replica}
    halt = threading.Event()
    writers = [PodWriter(stage, f"churn-{number}", halt) for number in range(NAMESPACES)]
    running = [start_cache(stage, f"{name} on the {where}", [*command, kubeconfig])
               for name, command in caches.items() for where, kubeconfig in wheres.items()]
    for cache in running:
        cache.wait_until_synced(stage.timeout)  # a failure ends the scenario
    with meanwhile(writers, halt, RATE):
        for _ in range(KILLS):
            time.sleep(LIFE)
            service.kill()
            time.sleep(1)  # of failed connections
            service.start()
        time.sleep(LIFE)
    for cache in running:
        try:
            wait_until_equal(stage, cache)
        except children.Failure as failure:  # it has ended
            stage.complain(str(failure))


def start_cache(stage, name, command):
    cache = clients.Cache(name, command, stage.plane.folder / f"{name.replace(' ', '-')}.log")
    stage.at_end(cache.kill)
    return cache


def wait_until_equal(stage, cache):
    """The scheduler may still write: each comparison is with a new list."""
    pods = stage.objects(PODS)
    deadline = time.monotonic() + stage.timeout
    while (held := cache.store()) != (listed := pods.list()):
        if time.monotonic() > deadline:
            for difference in compare.different_states(cache.name, held, listed):
                stage.complain(difference)
            return
        time.sleep(0.5)


class PodWriter:
    """Creates, changes and deletes the pods of a namespace at random."""

    def __init__(self, stage, namespace, halt):
        stage.make_namespace(namespace)
        self._namespace, self._halt, self._pods = namespace, halt, stage.objects(PODS)
        self._random, self._alive = Random(f"{stage.load.seed}/{namespace}"), set()

    def churn(self, rate, seconds):
        """Writes at that rate at most, until `halt`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._halt.wait(1 / rate):
            self._write(f"pod-{self._random.randrange(PODS_EACH)}")

    def _write(self, name):
        if name not in self._alive:
            self._alive.add(name)
            self._pods.create(self._namespace, name, labels={"app": "churn"})
        elif self._random.random() < 0.2:
            self._alive.remove(name)
            self._pods.delete(self._namespace, name)
        else:
            change = {"metadata": {"annotations": {"change": str(self._random.random())}}}
            self._pods.patch(self._namespace, name, change)
