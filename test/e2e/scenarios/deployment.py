"""A Deployment and its Service from `kubectl apply` through a new release to `kubectl delete`, with the
real controllers and scheduler, and a simulated kubelet.

The controllers decide what is written: each informerd must report the same as its oracle, and pods
must go through the usual states.
"""

import json

from lib import children, states
from lib.kubelet import Kubelet
from lib.resource import DEPLOYMENTS, ENDPOINTSLICES, PODS, REPLICASETS, SERVICES

KINDS = (PODS, DEPLOYMENTS, REPLICASETS, SERVICES, ENDPOINTSLICES)
NAMESPACE, NAME = "shop", "web"
REPLICAS = 3
LIFE = ["Pending", "Scheduled", "ContainerCreating", "NotReady", "Running", "Terminating",
        "Terminated", "Gone"]


def run(stage):
    plane = stage.plane
    plane.start_controllers()
    with Kubelet(plane.admin):
        stage.make_namespace(NAMESPACE)
        stage.watch("certificate-data", KINDS, contents=True)
        stage.catch_up()
        apply(stage, release=1)
        apply(stage, release=2)
        plane.kubectl("delete", "--wait=false", "-n", NAMESPACE,
                      f"deployment/{NAME}", f"service/{NAME}")
        children.until(lambda: is_gone(stage), 60, "the Deployment and its objects are deleted")
    stage.catch_up()
    return check_lives(stage)


def apply(stage, release):
    manifest = stage.plane.folder / f"release-{release}.json"
    manifest.write_text(json.dumps(objects(release)))
    stage.plane.kubectl("apply", "-f", str(manifest))
    stage.plane.kubectl("rollout", "status", "-n", NAMESPACE, f"deployment/{NAME}", "--timeout=50s")


def objects(release):
    meta, labels = {"name": NAME, "namespace": NAMESPACE}, {"app": NAME}
    image = f"none.invalid/web:{release}"
    pod = {"metadata": {"labels": labels},
           "spec": {"containers": [{"name": "main", "image": image}]}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
                  "spec": {"replicas": REPLICAS, "selector": {"matchLabels": labels},
                           "template": pod}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": meta,
               "spec": {"selector": labels, "ports": [{"port": 80}]}}
    return {"apiVersion": "v1", "kind": "List", "items": [deployment, service]}


def is_gone(stage):
    return not any(key.startswith(f"{NAMESPACE}/") for kind in KINDS
                   for key in stage.objects(kind).list())


def check_lives(stage):
    lives = states.lives(stage.events("pods"), stage.contents("pods"))
    odd = {name: life for name, life in lives.items() if life != LIFE}
    if odd or len(lives) < 2 * REPLICAS:
        stage.complain(f"{len(lives)} pods; unexpected states: {odd}")
    return f"{len(lives)} pods: {', '.join(LIFE)}"
