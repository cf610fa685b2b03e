"""Objects of many kinds in many states, for the scenario `tables`: each is created, and its status written.

No controller and no kubelet runs, so the states stay as they are written. Pods are random; of the other
kinds there is one object for each case that a printer distinguishes.
"""

import itertools
import time
from typing import NamedTuple

from .resource import Resource

RBAC = "rbac.authorization.k8s.io"
TEMPLATE = {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}, {"name": "b", "image": "b"}],
                     "nodeSelector": {"disk": "ssd", "zone": "z1"}}}
SELECTOR = {"matchLabels": {"app": "web"}}


class Case(NamedTuple):
    body: dict
    status: dict | None = None
    delete: bool = False  # it has a finalizer and stays
    cluster: bool = False  # not in a namespace


def ago(seconds, fraction=""):
    return time.strftime(f"%Y-%m-%dT%H:%M:%S{fraction}Z", time.gmtime(time.time() - seconds))


def cases(random):
    """For each resource its objects."""
    return {
        Resource("pods"): [pod(random) for _ in range(150)],
        Resource("replicationcontrollers"): [
            Case({"spec": {"replicas": 3, "selector": {"app": "web"}, "template": TEMPLATE}},
                 {"replicas": 2, "readyReplicas": 1})],
        Resource("deployments", "apps"): workloads(),
        Resource("replicasets", "apps"): [
            Case({"spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE}}, {"replicas": 2})],
        Resource("statefulsets", "apps"): [
            Case({"spec": {"replicas": 3, "selector": SELECTOR, "serviceName": "s", "template": TEMPLATE}},
                 {"replicas": 3, "readyReplicas": 2})],
        Resource("daemonsets", "apps"): [
            Case({"spec": {"selector": SELECTOR, "template": TEMPLATE}},
                 {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberMisscheduled": 0,
                  "numberReady": 3, "updatedNumberScheduled": 2, "numberAvailable": 1}),
            Case({"spec": {"selector": SELECTOR, "template": TEMPLATE | {"spec": {
                "containers": [{"name": "only", "image": "i"}]}}}})],
        Resource("jobs", "batch"): jobs(),
        Resource("cronjobs", "batch"): cron_jobs(),
        Resource("horizontalpodautoscalers", "autoscaling", "v2"): autoscalers(),
        Resource("poddisruptionbudgets", "policy"): [
            Case({"spec": {"minAvailable": 2, "selector": SELECTOR}},
                 {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}),
            Case({"spec": {"maxUnavailable": "30%", "selector": SELECTOR}})],
        Resource("services"): services(),
        Resource("endpoints"): endpoints(),
        Resource("endpointslices", "discovery.k8s.io"): slices(),
        Resource("ingresses", "networking.k8s.io"): ingresses(),
        Resource("networkpolicies", "networking.k8s.io"): [
            Case({"spec": {"podSelector": selector}}) for selector in selectors()],
        Resource("nodes"): nodes(),
        Resource("namespaces"): [Case({}, cluster=True)],
        Resource("configmaps"): [
            Case({}), Case({"data": {"a": "{\"x\":1}", "b": ""}, "binaryData": {"c": "AAEC"}})],
        Resource("secrets"): [
            Case({"stringData": {"a": "1", "b": ""}}),
            Case({"type": "example.com/token"})],
        Resource("serviceaccounts"): [Case({})],
        Resource("persistentvolumes"): volumes(),
        Resource("persistentvolumeclaims"): claims(),
        Resource("storageclasses", "storage.k8s.io"): storage_classes(),
        Resource("events"): events(),
        Resource("leases", "coordination.k8s.io"): [
            Case({"spec": {}}), Case({"spec": {"holderIdentity": "node <1> & \"two\"", "leaseDurationSeconds": 9}})],
        Resource("roles", RBAC): [Case({"rules": []})],
        Resource("clusterroles", RBAC): [Case({"rules": []}, cluster=True)],
        Resource("rolebindings", RBAC): bindings(cluster=False),
        Resource("clusterrolebindings", RBAC): bindings(cluster=True),
        Resource("resourcequotas"): [
            Case({"spec": {"hard": {"pods": "100000"}}},
                 {"hard": {"pods": "100000", "limits.cpu": "4", "cpu": "2", "requests.memory": "1Gi",
                           "count/jobs.batch": "7", "limits.memory": "1500Mi"},
                  "used": {"cpu": "1500m", "pods": "3"}}), Case({"spec": {}})],
        Resource("limitranges"): [Case({"spec": {"limits": []}})],  # no printer of its own
    }


# -- pods

REASONS = ("", "Error", "Completed", "OOMKilled", "ContainerCannotRun")
WAITING = ("", "PodInitializing", "ContainerCreating", "CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff")


def pod(random):
    inits = [{"name": f"i{n}", "image": "i"} | ({"restartPolicy": "Always"} if random.random() < 0.4 else {})
             for n in range(random.choice((0, 0, 0, 1, 2, 3)))]
    containers = [{"name": f"c{n}", "image": "c"} for n in range(random.choice((1, 1, 2, 3)))]
    gates = [{"conditionType": f"example.com/gate-{n}"} for n in range(random.choice((0, 0, 1, 2)))]
    spec = {"containers": containers, "initContainers": inits, "readinessGates": gates,
            "terminationGracePeriodSeconds": 1}
    if random.random() < 0.7:
        spec["nodeName"] = f"node-{random.randrange(9)}"
    elif random.random() < 0.2:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    return Case({"spec": spec}, pod_status(random, spec), delete=random.random() < 0.15)


def pod_status(random, spec):
    types = ["Ready", "Initialized", "ContainersReady", *(gate["conditionType"] for gate in spec["readinessGates"])]
    status = {
        "phase": random.choice(("Pending", "Running", "Running", "Running", "Succeeded", "Failed", "Unknown")),
        "conditions": [condition(random, name) for name in types if random.random() < 0.7],
        "containerStatuses": [container(random, each) for each in spec["containers"]],
        "initContainerStatuses": init_containers(random, spec["initContainers"])}
    if random.random() < 0.1:
        status["reason"] = random.choice(("Evicted", "NodeLost", "Shutdown"))
    if random.random() < 0.7:
        status["podIPs"] = [{"ip": f"10.1.{random.randrange(9)}.9"}, {"ip": "fd00::9"}]
    if "nodeName" not in spec and random.random() < 0.5:
        status["nominatedNodeName"] = "node-9"
    return status


def condition(random, name):
    return {"type": name, "status": random.choice(("True", "True", "False", "Unknown"))}


def init_containers(random, specs):
    """Mostly they have ended, so that later ones decide."""
    return [container(random, each, ended=random.random() < 0.6) for each in specs]


def container(random, spec, ended=False):
    state = random.choice(("waiting", "running", "running", "terminated"))
    made = {"name": spec["name"], "image": "c", "imageID": "", "ready": random.random() < 0.6,
            "started": random.random() < 0.6, "restartCount": random.choice((0, 0, 1, 17))}
    if ended:
        made["state"] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    elif state == "terminated":
        made["state"] = {state: terminated(random)}
    elif state == "waiting":
        made["state"] = {state: {"reason": random.choice(WAITING)}}
    else:
        made["state"] = {state: {"startedAt": ago(90)}}
    if made["restartCount"] and random.random() < 0.8:
        made["lastState"] = {"terminated": terminated(random)}
    return made


def terminated(random):
    return {"exitCode": random.choice((0, 1, 137)), "signal": random.choice((0, 0, 9)),
            "reason": random.choice(REASONS), "startedAt": ago(10 ** 7), "finishedAt": ago(random.choice(AGES))}


AGES = (3, 100, 130, 599, 700, 3 * 3600 + 5, 5 * 3600 + 125, 9 * 3600, 47 * 3600, 50 * 3600, 7 * 86400 + 3700,
        100 * 86400, 800 * 86400, 9 * 365 * 86400)


# -- workloads

def selectors():
    return [{}, {"matchLabels": {"b": "2", "a": "", "a-b": "1"}},
            {"matchLabels": {"c": "1"}, "matchExpressions": [
                {"key": "z", "operator": "In", "values": ["y", "x"]},
                {"key": "b", "operator": "NotIn", "values": ["1"]},
                {"key": "d", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]}]


def workloads():
    varied = {"matchLabels": {"app": "web"}, "matchExpressions": [
        {"key": "app", "operator": "In", "values": ["web", "api"]}, {"key": "old", "operator": "DoesNotExist"}]}
    counts = {"replicas": 4, "updatedReplicas": 3, "readyReplicas": 2, "availableReplicas": 1, "unavailableReplicas": 3}
    return [Case({"spec": {"replicas": 4, "selector": varied, "template": TEMPLATE}}, counts),
            Case({"spec": {"replicas": 0, "selector": SELECTOR, "template": TEMPLATE}})]


def job(status=None, delete=False, **spec):
    template = {"spec": {"restartPolicy": "Never", "containers": TEMPLATE["spec"]["containers"]}}
    return Case({"spec": {"template": template} | spec}, status, delete)


def true(*types):
    return [{"type": each, "status": "True", "lastTransitionTime": ago(5)} for each in types]


def jobs():
    started, ended = {"startTime": ago(200)}, {"startTime": ago(200), "completionTime": ago(80)}
    return [job(), job(started | {"active": 1, "ready": 0}, parallelism=3),
            job(started | {"succeeded": 2, "uncountedTerminatedPods": {}}, completions=5, parallelism=2),
            job(ended | {"succeeded": 1, "conditions": true("SuccessCriteriaMet", "Complete")}),
            job(started | {"failed": 1, "conditions": true("FailureTarget", "Failed")}),
            job(started | {"conditions": true("FailureTarget")}),
            job(started | {"succeeded": 1, "conditions": true("SuccessCriteriaMet")}),
            job({"conditions": true("Suspended")}, suspend=True), job(started, delete=True)]


def cron_jobs():
    template = {"spec": job().body["spec"]}
    active = [{"kind": "Job", "name": f"j{n}", "uid": f"{n}"} for n in range(2)]
    return [Case({"spec": {"schedule": "*/5 * * * *", "jobTemplate": template}}),
            Case({"spec": {"schedule": "@daily", "timeZone": "Europe/Berlin", "suspend": True, "jobTemplate": template}},
                 {"active": active, "lastScheduleTime": ago(7000)})]


def metric(kind, field, target, **more):
    return {"type": kind, field: {"target": target} | more}


def autoscalers():
    named = {"metric": {"name": "queries"}}
    about = named | {"describedObject": {"kind": "Ingress", "name": "main"}}
    cpu = metric("Resource", "resource", {"type": "Utilization", "averageUtilization": 80}, name="cpu")
    pairs = [
        (cpu, {"resource": {"name": "cpu", "current": {"averageUtilization": 33, "averageValue": "10m"}}}),
        (metric("Resource", "resource", {"type": "AverageValue", "averageValue": "1.5Gi"}, name="memory"),
         {"resource": {"name": "memory", "current": {"averageValue": "2000Mi"}}}),
        (metric("ContainerResource", "containerResource", {"type": "Utilization", "averageUtilization": 5},
                name="cpu", container="a"),
         {"containerResource": {"name": "cpu", "container": "a", "current": {"averageUtilization": 6}}}),
        (metric("Pods", "pods", {"type": "AverageValue", "averageValue": "0.1"}, **named),
         {"pods": named | {"current": {"averageValue": "50m"}}}),
        (metric("Object", "object", {"type": "Value", "value": "10000"}, **about),
         {"object": about | {"current": {"value": "2k"}}}),
        (metric("Object", "object", {"type": "AverageValue", "averageValue": "10"}, **about),
         {"object": about | {"current": {"value": "0"}}}),
        (metric("External", "external", {"type": "AverageValue", "averageValue": "10"}, **named),
         {"external": named | {"current": {"averageValue": "7"}}}),
        (metric("External", "external", {"type": "Value", "value": "30"}, **named),
         {"external": named | {"current": {"value": "31"}}})]
    full = [(spec, {"type": spec["type"]} | status) for spec, status in pairs]
    chosen = [[pair] for pair in full] + [full[:2], full[:3], full]
    target = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
    return [Case({"spec": {"scaleTargetRef": target, "maxReplicas": 9, "minReplicas": 2,
                           "metrics": [spec for spec, _ in pairs]}},
                 {"currentReplicas": 4, "desiredReplicas": 4,
                  "currentMetrics": [status for _, status in pairs]} if known else None)
            for pairs, known in itertools.product(chosen, (True, False))]


# -- network

def services():
    port = {"port": 80, "protocol": "TCP"}
    two = [port | {"name": "web"}, {"name": "dns", "port": 53, "protocol": "UDP"}]
    balancer = {"type": "LoadBalancer", "ports": [port]}
    addresses = [{"ip": "203.0.113.9"}, {"ip": "203.0.113.1"}, {"hostname": "a-long-name.lb.example.com"}]
    return [Case({"spec": {"ports": two, "selector": {"b": "2", "a": "1"}}}),
            Case({"spec": {"ports": [port], "clusterIP": "None"}}),
            Case({"spec": {"type": "NodePort", "ports": two}}),
            Case({"spec": {"type": "ExternalName", "externalName": "example.org"}}),
            Case({"spec": {"ports": [port], "externalIPs": ["203.0.113.7", "203.0.113.8"]}}),
            Case({"spec": balancer}), Case({"spec": balancer}, {"loadBalancer": {"ingress": addresses}}),
            Case({"spec": balancer | {"externalIPs": ["203.0.113.7"]}}, {"loadBalancer": {"ingress": addresses[:1]}}),
            Case({"spec": balancer | {"externalIPs": ["203.0.113.7"]}})]


def endpoints():
    ips = [{"ip": f"10.2.0.{n}"} for n in range(1, 6)]
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    return [Case({}), Case({"subsets": [{"addresses": ips, "ports": ports}]}),
            Case({"subsets": [{"addresses": ips[:2]}]}), Case({"subsets": [{"addresses": ips}]}),
            Case({"subsets": [{"notReadyAddresses": ips, "ports": ports}]}),
            Case({"subsets": [{"addresses": ips[:1], "ports": ports[:1]}, {"addresses": ips[1:], "ports": ports}]}),
            Case({"subsets": [{"addresses": [{"ip": "fd00::1"}], "ports": ports}]})]


def slices():
    hosts = [{"addresses": [f"10.3.0.{n}"]} for n in range(1, 6)]
    ports = [{"name": f"p{n}", "port": n} for n in range(1, 6)]
    return [Case({"addressType": "IPv4", "endpoints": hosts[:chosen], "ports": ports[:chosen]})
            for chosen in (0, 1, 3, 5)] + [
        Case({"addressType": "IPv6", "endpoints": [{"addresses": ["fd00::1"]}],
              "ports": [{"name": "open"}, {"name": ""}]})]


def ingresses():
    backend = {"service": {"name": "web", "port": {"number": 80}}}

    def rules(*hosts):
        return [{"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
                | ({"host": host} if host else {}) for host in hosts]
    made = {"loadBalancer": {"ingress": [{"ip": "203.0.113.9"}, {"hostname": "lb.example.com"}]}}
    return [Case({"spec": {"defaultBackend": backend}}), Case({"spec": {"rules": rules("")}}, made),
            Case({"spec": {"rules": rules("a.x", "", "b.x"), "ingressClassName": "nginx", "tls": [{"hosts": ["a.x"]}]}}),
            Case({"spec": {"rules": rules("a.x", "b.x", "c.x")}}),
            Case({"spec": {"rules": rules("a.x", "b.x", "c.x", "", "d.x")}}, made)]


# -- the cluster

def nodes():
    role = "node-role.kubernetes.io/"
    info = {"kubeletVersion": "v1.36.0", "osImage": "Linux <1>", "kernelVersion": "6.1", "architecture": "amd64",
            "containerRuntimeVersion": "containerd://2.0"}
    full = {name: "" for name in ("machineID", "systemUUID", "bootID", "kubeProxyVersion", "operatingSystem")}
    addresses = [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.0.0.1"},
                 {"type": "ExternalIP", "address": "203.0.113.1"}, {"type": "InternalIP", "address": "10.0.0.2"}]
    return [Case({}, cluster=True),
            Case({"metadata": {"labels": {f"{role}worker": "", f"{role}control-plane": "", "kubernetes.io/role": "db"}},
                  "spec": {"unschedulable": True}},
                 {"conditions": true("Ready"), "nodeInfo": full | info, "addresses": addresses}, cluster=True),
            Case({"metadata": {"labels": {"kubernetes.io/role": "worker", f"{role}worker": "yes"}}},
                 {"conditions": [{"type": "Ready", "status": "Unknown"}], "addresses": addresses[:1]}, cluster=True)]


def bindings(cluster):
    group = {"apiGroup": RBAC}
    role = group | {"kind": "ClusterRole", "name": "view"}
    subjects = [group | {"kind": "User", "name": "ann"}, group | {"kind": "Group", "name": "ops"},
                group | {"kind": "User", "name": "system:b\"o<b>"},
                {"kind": "ServiceAccount", "namespace": "ci", "name": "bot"}]
    return [Case({"roleRef": role, "subjects": subjects}, cluster=cluster), Case({"roleRef": role}, cluster=cluster)]


def events():
    pod_of = {"involvedObject": {"kind": "Pod", "name": "web-0", "namespace": "tables", "fieldPath": "spec.containers{a}"}}
    node_of = {"involvedObject": {"kind": "Node", "namespace": "tables"}}
    return [Case(pod_of | {"type": "Warning", "reason": "BackOff", "message": "  a <b> & \"c\"\n\n", "count": 7,
                           "source": {"component": "kubelet", "host": "n1"}, "firstTimestamp": ago(8000),
                           "lastTimestamp": ago(100)}),
            Case(node_of | {"message": "one\ntwo", "source": {"component": "x"}}),
            Case(pod_of | {"eventTime": ago(500, ".123456"), "reportingComponent": "example.com/c", "reason": "R",
                           "reportingInstance": "c-1", "action": "A", "type": "Normal",
                           "series": {"count": 4, "lastObservedTime": ago(50, ".654321")}}),
            Case(pod_of | {"eventTime": ago(600, ".000000"), "reportingComponent": "example.com/c", "reason": "R",
                           "reportingInstance": "c-1", "action": "A", "type": "Normal"})]


# -- storage

MODES = ("ReadWriteMany", "ReadOnlyMany", "ReadWriteOnce")
BETA_CLASS = {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}}


def volumes():
    spec = {"capacity": {"storage": "5120Mi"}, "accessModes": list(MODES), "hostPath": {"path": "/x"},
            "persistentVolumeReclaimPolicy": "Retain"}
    return [Case({"spec": spec}, cluster=True),
            Case({"spec": spec | {"storageClassName": "ssd", "volumeMode": "Block", "accessModes": ["ReadWriteOncePod"],
                                  "claimRef": {"namespace": "shop", "name": "data"}}},
                 {"phase": "Failed", "reason": "Broken", "message": "m"}, cluster=True),
            Case(BETA_CLASS | {"spec": spec}, cluster=True), Case({"spec": spec}, delete=True, cluster=True)]


def claims():
    spec = {"accessModes": list(MODES), "resources": {"requests": {"storage": "1Gi"}}}
    bound = {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2048Mi"}}
    return [Case({"spec": spec}), Case({"spec": spec | {"storageClassName": "ssd", "volumeMode": "Block"}}),
            Case({"spec": spec | {"volumeName": "pv-1"}}, bound),
            Case({"spec": spec | {"volumeName": "pv-2"}}, {"phase": "Lost"}),
            Case(BETA_CLASS | {"spec": spec}), Case({"spec": spec}, delete=True)]


def storage_classes():
    default = "storageclass.kubernetes.io/is-default-class"
    return [Case({"provisioner": "example.com/p"}, cluster=True),
            Case({"metadata": {"annotations": {default: "true"}}, "provisioner": "p", "reclaimPolicy": "Retain",
                  "volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True}, cluster=True),
            Case({"metadata": {"annotations": {default: "false"}}, "provisioner": "p"}, cluster=True)]
