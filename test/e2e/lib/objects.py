"""Writes objects of one kind and records the confirmed writes, which watchers must report.

May be used from several threads, as long as no two write the same object.
"""

from . import compare
from .compare import Event
from .resource import ALL, PODS

METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
POD = {"containers": [{"name": "main", "image": "none.invalid/main:1"}]}


class Objects:
    def __init__(self, api, resource):
        self.resource = resource
        self.written = []
        self._api = api
        self._path = resource.path

    def list(self, selection=ALL):
        return compare.from_list(self.items(selection))

    def items(self, selection=ALL):
        answer = self._api.get(f"{self._path(selection.namespace)}?{selection.query}",
                               METADATA if selection.metadata else "application/json")
        return answer["items"]

    def create(self, namespace, name, body=None, **meta):
        thing = self.resource.type | {"metadata": {"name": name} | meta} | (body or {})
        return self._note("ADDED", self._api.create(self._path(namespace), thing))

    def patch(self, namespace, name, change):
        return self._note("MODIFIED", self._api.patch(self._path(namespace, name), change))

    def patch_status(self, namespace, name, status):
        """As a kubelet does."""
        path = f"{self._path(namespace, name)}/status?fieldManager=kubelet"
        return self._note("MODIFIED", self._api.patch(path, {"status": status}))

    def delete(self, namespace, name):
        """Immediately. For a pod the response is its last state, for others only a status."""
        answer = self._api.delete(self._path(namespace, name), 0)
        if answer["kind"] != "Status":
            return self._note("DELETED", answer)
        uid, key = answer["details"]["uid"], f"{namespace}/{name}"
        self.written.append(Event("DELETED", key, uid, rv=0, final=False))
        return answer

    def _note(self, kind, thing):
        meta = thing["metadata"]
        version = int(meta["resourceVersion"])
        self.written.append(Event(kind, compare.key_of(meta), meta["uid"], version))
        return thing


class Pods(Objects):
    def __init__(self, api):
        super().__init__(api, PODS)

    def create(self, namespace, name, body=None, **meta):
        return super().create(namespace, name, body or {"spec": POD}, **meta)

    def bind(self, namespace, name, node):
        """As the scheduler does. The response has no version, so the pod is read again."""
        binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self._api.create(f"{self._path(namespace, name)}/binding", binding)
        return self._note("MODIFIED", self._api.get(self._path(namespace, name)))

    def delete_gracefully(self, namespace, name):
        """A pod that has a node stays, marked for deletion, until its kubelet deletes it."""
        return self._note("MODIFIED", self._api.delete(self._path(namespace, name), 30))
