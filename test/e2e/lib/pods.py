"""Writes pods, and keeps the ledger: what the server answered, watchers must have been told.

Safe to use from several threads as long as no two write the same pod.
"""

from . import compare
from .compare import Event

SPEC = {"containers": [{"name": "main", "image": "none.invalid/main:1"}]}


class Pods:
    def __init__(self, api):
        self._api = api
        self.written = []

    def make_namespace(self, name):
        self._api.create("/api/v1/namespaces", {"metadata": {"name": name}})

    def list(self):
        return compare.from_list(self._api.get("/api/v1/pods")["items"])

    def create(self, namespace, name, **meta):
        pod = self._api.create(path(namespace), {"metadata": {"name": name} | meta, "spec": SPEC})
        return self._note("ADDED", pod)

    def patch(self, namespace, name, change):
        return self._note("MODIFIED", self._api.patch(path(namespace, name), change))

    def patch_status(self, namespace, name, status):
        """As a kubelet does."""
        resource = f"{path(namespace, name)}/status?fieldManager=kubelet"
        return self._note("MODIFIED", self._api.patch(resource, {"status": status}))

    def bind(self, namespace, name, node):
        """As the scheduler does. The answer has no version, so the pod is read for it."""
        binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self._api.create(f"{path(namespace, name)}/binding", binding)
        return self._note("MODIFIED", self._api.get(path(namespace, name)))

    def delete_gracefully(self, namespace, name):
        """Of a pod that has a node: it stays, marked, until its kubelet deletes it."""
        return self._note("MODIFIED", self._api.delete(path(namespace, name), 30))

    def delete(self, namespace, name):
        """At once: the server marks it, an update its answer does not mention, then removes it."""
        return self._note("DELETED", self._api.delete(path(namespace, name), 0))

    def _note(self, kind, pod):
        meta = pod["metadata"]
        version = int(meta["resourceVersion"])
        self.written.append(Event(kind, compare.key_of(meta), meta["uid"], version))
        return pod


def path(namespace, name=None):
    pods = f"/api/v1/namespaces/{namespace}/pods"
    return f"{pods}/{name}" if name else pods
