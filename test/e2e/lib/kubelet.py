"""A simulated kubelet that only writes: a ready node, and the status of its pods.

Each pod goes through the usual states, one write each: containers being created, running and not
ready, ready; after a deletion request: containers terminated, deleted.
"""

import threading
import traceback

from .api import ApiError
from .resource import PODS, Resource

NODES = Resource("nodes")
PAUSE = 0.1  # seconds between two polls
SIZE = {"cpu": "16", "memory": "64Gi", "pods": "500"}
STARTED = "2026-01-01T00:00:00Z"


class Kubelet:
    def __init__(self, api, node="node-1"):
        self._api = api
        self._node = node
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._address = 0

    def __enter__(self):
        self._register()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def _register(self):
        self._api.create(NODES.path(), {"metadata": {"name": self._node}})
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady",
                 "lastHeartbeatTime": STARTED, "lastTransitionTime": STARTED}
        self._api.patch(f"{NODES.path(name=self._node)}/status", {
            "status": {"capacity": SIZE, "allocatable": SIZE, "conditions": [ready]}})
        # A new node is not ready, and no node controller runs that would change that.
        self._api.patch(NODES.path(name=self._node), {"spec": {"taints": None}})

    def _work(self):
        while not self._over.wait(PAUSE):
            try:
                mine = f"{PODS.path()}?fieldSelector=spec.nodeName={self._node}"
                for pod in self._api.get(mine)["items"]:
                    self._advance(pod)
            except (OSError, ApiError):  # retried; a pod that never gets ready fails the scenario
                traceback.print_exc()

    def _advance(self, pod):
        """The next step of one pod, if there is one."""
        meta, status = pod["metadata"], pod["status"]
        path = PODS.path(meta["namespace"], meta["name"])
        container = next(iter(status.get("containerStatuses", [])), {})
        if "deletionTimestamp" in meta:
            if "terminated" not in container.get("state", {}):
                ended = {"terminated": {"exitCode": 0, "reason": "Completed"}}
                return self._report(path, pod, "Running", ended, address=status.get("podIP"))
            return self._api.delete(path, 0)
        if not container:
            return self._report(path, pod, "Pending", {"waiting": {"reason": "ContainerCreating"}})
        running = {"running": {"startedAt": STARTED}}
        if status["phase"] == "Pending":
            self._address += 1
            return self._report(path, pod, "Running", running, address=f"10.0.0.{self._address}")
        if not container["ready"]:
            return self._report(path, pod, "Running", running, True, status["podIP"])
        return None

    def _report(self, path, pod, phase, state, ready=False, address=None):
        name, image = (pod["spec"]["containers"][0][key] for key in ("name", "image"))
        conditions = {condition["type"]: condition for condition in pod["status"]["conditions"]}
        for kind in ("Initialized", "ContainersReady", "Ready"):
            good = ready or kind == "Initialized"
            conditions[kind] = {"type": kind, "status": str(good), "lastTransitionTime": STARTED}
        container = {"name": name, "image": image, "imageID": "", "ready": ready,
                     "restartCount": 0, "state": state}
        self._api.patch(f"{path}/status?fieldManager=kubelet", {"status": {
            "phase": phase, "podIP": address, "podIPs": [{"ip": address}] if address else None,
            "conditions": list(conditions.values()), "containerStatuses": [container]}})
