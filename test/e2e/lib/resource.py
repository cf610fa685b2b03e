"""Kinds of objects: their names in the API, in informerd and in etcd; and selections of objects."""

from typing import NamedTuple
from urllib.parse import urlencode


class Resource(NamedTuple):
    name: str  # plural
    group: str = ""
    version: str = "v1"
    kind: str = ""  # custom: stored in etcd below its group, as JSON

    def __str__(self):
        """The resource name for informerd."""
        return f"{self.name}.{self.group}/{self.version}" if self.group else self.name

    @property
    def type(self):
        """Fields that custom objects must contain."""
        version = f"{self.group}/{self.version}"
        return {"apiVersion": version, "kind": self.kind} if self.kind else {}

    def path(self, namespace=None, name=None):
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{within}/{self.name}" + (f"/{name}" if name else "")

    @property
    def prefix(self):
        """The prefix of its keys in etcd. Some names differ for historical reasons."""
        if self.kind:
            return f"/registry/{self.group}/{self.name}/"
        return f"/registry/{ {'services': 'services/specs'}.get(self.name, self.name) }/"


class Selection(NamedTuple):
    """A selection of objects of a kind, and of their fields."""

    namespace: str = ""  # empty: all
    labels: str = ""  # a selector
    fields: str = ""
    metadata: bool = False  # only metadata
    optional: bool = False  # the server may not have the kind
    service: bool = False  # informerd runs as a service, which also retries before the first sync
    resource_name: str = ""  # resource name for informerd instead of the full one, which the oracle uses

    @property
    def selects(self):
        return bool(self.labels or self.fields)

    @property
    def query(self):
        chosen = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return urlencode({name: value for name, value in chosen.items() if value})


ALL = Selection()
PODS = Resource("pods")
CONFIGMAPS = Resource("configmaps")
SECRETS = Resource("secrets")
SERVICES = Resource("services")
DEPLOYMENTS = Resource("deployments", "apps")
REPLICASETS = Resource("replicasets", "apps")
ENDPOINTSLICES = Resource("endpointslices", "discovery.k8s.io")
WIDGETS = Resource("widgets", "example.com", kind="Widget")
