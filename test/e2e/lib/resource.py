"""Kinds of objects: what they are called by the API, by informerd and by etcd; which are asked for.
"""

from typing import NamedTuple
from urllib.parse import urlencode


class Resource(NamedTuple):
    name: str  # in the plural
    group: str = ""
    version: str = "v1"
    kind: str = ""  # of a custom one: etcd has it below its group, as JSON

    def __str__(self):
        """As informerd wants it spelled."""
        return f"{self.name}.{self.group}/{self.version}" if self.group else self.name

    @property
    def type(self):
        """What only custom objects must say of themselves."""
        version = f"{self.group}/{self.version}"
        return {"apiVersion": version, "kind": self.kind} if self.kind else {}

    def path(self, namespace=None, name=None):
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{within}/{self.name}" + (f"/{name}" if name else "")

    @property
    def prefix(self):
        """Of its keys in etcd. Some names have a history."""
        if self.kind:
            return f"/registry/{self.group}/{self.name}/"
        return f"/registry/{ {'services': 'services/specs'}.get(self.name, self.name) }/"


class Asked(NamedTuple):
    """Which objects of a kind, and how much of them."""

    namespace: str = ""  # empty: all
    labels: str = ""  # a selector
    fields: str = ""
    metadata: bool = False  # and no more
    optional: bool = False  # the server may not know the kind
    word: str = ""  # for the kind, instead of its full name; the oracle knows only that

    @property
    def selects(self):
        return bool(self.labels or self.fields)

    @property
    def query(self):
        chosen = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return urlencode({name: value for name, value in chosen.items() if value})


ALL = Asked()
PODS = Resource("pods")
CONFIGMAPS = Resource("configmaps")
SECRETS = Resource("secrets")
SERVICES = Resource("services")
DEPLOYMENTS = Resource("deployments", "apps")
REPLICASETS = Resource("replicasets", "apps")
ENDPOINTSLICES = Resource("endpointslices", "discovery.k8s.io")
WIDGETS = Resource("widgets", "example.com", kind="Widget")
