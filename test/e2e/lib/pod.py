"""Runs the pods of the API server, as a kubelet does: with runc, from a root file system, in namespaces of their own.

    node = stage.enter(Node(stage, folder, rootfs))
    pod = node.run(namespace, name)     # a pod that the server has, with its init containers
    pod.get("/readyz")                  # from the kubelet's side
    pod.stop()                          # SIGTERM; returns the exit code

Of the spec all that informerd's manifests use is obeyed: user, groups, capabilities, read-only root, seccomp (io_uring is refused, as by the
default profiles of runtimes), volumes, environment. A volume claim keeps its directory between pods, a hostPath is below the
folder of the node. In the pod the API server has the address of its Service. What is unknown is a Failure.
"""

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import children, netns
from .children import Failure
from .proxy import Proxy

SERVICE = ("10.96.0.1", 443)
ADDRESS = "10.244.0.7"  # of each pod, in its own namespace
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TOOLS = {"runc": "runc"}
SECONDS = 60
PROBE = 5
PID = Path("/proc/self")
ENTRYPOINT = ["/usr/bin/informerd"]
NAMESPACES = ("ipc", "uts", "mount")
REFUSED = ["io_uring_setup", "io_uring_enter", "io_uring_register", "ptrace", "mount", "setns", "unshare"]
SPEC_KEYS = {  # known ones; others that the server adds do not matter here
    "serviceAccountName", "serviceAccount", "automountServiceAccountToken", "enableServiceLinks", "terminationGracePeriodSeconds",
    "securityContext", "containers", "initContainers", "volumes", "affinity", "tolerations", "restartPolicy", "dnsPolicy",
    "schedulerName", "nodeName", "priority", "preemptionPolicy", "hostname", "subdomain"}


def check_tools():
    if os.geteuid() != 0:
        raise Failure("pods are run with runc, as root: run this scenario as root")
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise Failure(f"the command {tool} is missing: install {package}")


class Node:
    def __init__(self, stage, folder, rootfs):
        check_tools()
        self.stage, self.folder, self.rootfs = stage, folder, rootfs
        self._pods = []
        folder.mkdir(parents=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pod in self._pods:
            pod.close()

    def run(self, namespace, name):
        """Starts a pod that the server has."""
        path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        pod = Pod(self, self.stage.plane.admin.get(path))
        self._pods.append(pod)
        pod.start()
        return pod

    def host_path(self, path):
        """The place of a directory of the node; kubelet creates it for root."""
        place = self.folder / "host" / path.lstrip("/")
        if not place.exists():
            place.mkdir(parents=True, mode=0o755)
        return place


class Pod:
    def __init__(self, node, pod):
        self._node, self.meta, self.spec = node, pod["metadata"], pod["spec"]
        self.plane = node.stage.plane
        self.folder = node.folder / f"{self.meta['namespace']}-{self.meta['name']}-{self.meta['uid'][:8]}-{time.monotonic_ns()}"
        self.folder.mkdir()
        unknown = set(self.spec) - SPEC_KEYS
        if unknown:
            raise Failure(f"pod {self.meta['name']}: the simulated kubelet does not know {sorted(unknown)}")
        self.proxy = self._child = self._token = None
        self._security = self.spec.get("securityContext", {})

    # -- life

    def start(self):
        """The pod's namespaces, its init containers, and its first container."""
        self._holder = children.start(["unshare", "--net", "--pid", "--fork", "--kill-child", "sleep", "infinity"])
        children.until(self._has_namespaces, SECONDS, "the namespaces of a pod")
        netns.inside(self._pid, lambda: netns.start_loopback(SERVICE[0], ADDRESS))
        self.proxy = netns.inside(self._pid, lambda: Proxy(self.plane.port, *SERVICE))
        self.proxy.__enter__()
        for container in self.spec.get("initContainers", []):
            if self._run(container).wait(SECONDS) != 0:
                raise Failure(f"init container {container['name']} failed: {children.tail(self.folder / 'log')}")
        self._child = self._run(self.spec["containers"][0])

    def _has_namespaces(self):
        """unshare's child is process 1 of the pod."""
        listed = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().split()
        if listed:
            self._pid = int(listed[0])
        return bool(listed) and os.readlink(f"/proc/{self._pid}/ns/net") != os.readlink(PID / "ns/net")

    @property
    def ended(self):
        return self._child.poll() is not None

    def stop(self):
        """As kubelet: SIGTERM, and after the grace period SIGKILL. Returns the exit code."""
        self._child.send_signal(signal.SIGTERM)
        return self._child.wait(self.spec["terminationGracePeriodSeconds"])

    def wait(self):
        """Of a pod that ends by itself: (exit code, output)."""
        code = self._child.wait(SECONDS)
        return code, (self.folder / "stdout").read_text() + self.log

    def close(self):
        self._holder.kill()  # and with it all processes of the pod
        self._holder.wait()
        if self._child:
            self._child.wait(SECONDS)
        if self.proxy:
            with contextlib.suppress(OSError):
                self.proxy.__exit__()

    # -- the kubelet's side

    def get(self, path):
        """(status, body) of a request to the pod's address; status 0: no connection."""
        connection = http.client.HTTPConnection(ADDRESS, 9470, timeout=PROBE)
        try:
            netns.inside(self._pid, connection.connect)
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError as error:
            return 0, str(error)
        finally:
            connection.close()

    def wait_until_ready(self):
        def ready():
            if self.ended:
                raise Failure(f"it ended with {self._child.returncode}")
            return self.get("/readyz")[0] == 200
        try:
            children.until(ready, SECONDS, "ready", pause=0.2)
        except Failure as failure:
            raise Failure(f"pod {self.meta['name']}: {failure}; {self.get('/readyz?verbose')[1]}\n"
                          f"{children.tail(self.folder / 'log')}") from None

    @property
    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    @property
    def records(self):
        """The event log on stdout."""
        lines = (self.folder / "stdout").read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def execute(self, *command):
        """Runs a program in the container, as `kubectl exec`. Returns (exit code, output)."""
        done = self._runc("exec", self._child.name, *command)
        return done.returncode, done.stdout

    def renew_token(self, **spec):
        """Writes another token, as kubelet does: in a new directory, to which a link is changed. Returns it."""
        admin, meta = self.plane.admin, self.meta
        path = f"/api/v1/namespaces/{meta['namespace']}/serviceaccounts/{self.spec['serviceAccountName']}/token"
        token = admin.create(path, {"spec": {"expirationSeconds": 3600} | spec})["status"]["token"]
        place = self.folder / "account"
        publish(place, {"token": token, "ca.crt": self.plane.certs.crt("ca").read_text(), "namespace": meta["namespace"]})
        group = self._security.get("fsGroup", 0)
        for path in (place / "..data").resolve().iterdir():
            os.chown(path, 0, group)
            path.chmod(0o640 if path.name == "token" else 0o644)
        return token

    # -- containers

    def _run(self, container):
        name = f"{self.folder.name}-{container['name']}"
        bundle = self.folder / container["name"]
        bundle.mkdir()
        (bundle / "config.json").write_text(json.dumps(self._config(container), indent=1))
        with open(self.folder / "stdout", "a") as stdout, open(self.folder / "log", "a") as log:
            child = children.start(["runc", "--root", self._runc_root, "run", "--bundle", bundle, name], stdout=stdout, stderr=log)
        child.name = name
        return child

    @property
    def _runc_root(self):
        return self._node.folder / "runc"

    def _runc(self, *arguments):
        return subprocess.run(["runc", "--root", self._runc_root, *arguments], capture_output=True, text=True, timeout=SECONDS)

    def _config(self, container):
        security = self._security | container.get("securityContext", {})
        uid, gid = security.get("runAsUser", 0), security.get("runAsGroup", 0)
        if security.get("runAsNonRoot") and uid == 0:
            raise Failure(f"container {container['name']} must not run as root")
        groups = [*self._security.get("supplementalGroups", []), *([security["fsGroup"]] if "fsGroup" in security else [])]
        capabilities = [f"CAP_{name}" for name in security.get("capabilities", {}).get("add", [])]
        if "ALL" not in security.get("capabilities", {}).get("drop", []):
            raise Failure(f"container {container['name']} keeps capabilities")
        sets = {kind: capabilities if uid == 0 else [] for kind in ("bounding", "effective", "permitted")}
        config = {
            "ociVersion": "1.0.2", "hostname": self.meta["name"],
            "root": {"path": str(self._node.rootfs), "readonly": bool(security.get("readOnlyRootFilesystem"))},
            "process": {
                "cwd": "/", "user": {"uid": uid, "gid": gid, "additionalGids": sorted(set(groups))},
                "args": [*container.get("command", ENTRYPOINT), *container.get("args", [])],
                "env": [f"{name}={value}" for name, value in self._environment(container).items()],
                "capabilities": sets, "noNewPrivileges": not security.get("allowPrivilegeEscalation", True)},
            "mounts": [*system_mounts(), *self._mounts(container)],
            "linux": {
                "namespaces": [{"type": kind} for kind in NAMESPACES] + [
                    {"type": "network", "path": f"/proc/{self._pid}/ns/net"}, {"type": "pid", "path": f"/proc/{self._pid}/ns/pid"}],
                "maskedPaths": ["/proc/kcore", "/proc/keys", "/sys/firmware"], "readonlyPaths": ["/proc/sys", "/proc/bus"]}}
        if security.get("seccompProfile", {}).get("type") == "RuntimeDefault":
            config["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
                {"names": REFUSED, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
        return config

    def _environment(self, container):
        found = {"PATH": "/usr/bin", "HOSTNAME": self.meta["name"],
                 "KUBERNETES_SERVICE_HOST": SERVICE[0], "KUBERNETES_SERVICE_PORT": str(SERVICE[1])}
        fields = {"metadata.name": self.meta["name"], "metadata.namespace": self.meta["namespace"],
                  "spec.nodeName": self.spec.get("nodeName", "")}
        for variable in container.get("env", []):
            field = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            found[variable["name"]] = fields[field] if field else variable["value"]
        return found

    def _mounts(self, container):
        volumes = {volume["name"]: volume for volume in self.spec.get("volumes", [])}
        mounts = [bind(self._place(volumes[mount["name"]]), mount["mountPath"], mount.get("readOnly"))
                  for mount in container.get("volumeMounts", [])]
        if self.spec.get("automountServiceAccountToken"):
            if not (self.folder / "account").exists():
                self.renew_token()
            mounts.append(bind(self.folder / "account", ACCOUNT, True))
        return mounts

    def _place(self, volume):
        """The directory of a volume, with the contents, owners and permissions that kubelet gives it."""
        group = self._security.get("fsGroup", 0)
        if "hostPath" in volume:
            return self._node.host_path(volume["hostPath"]["path"])
        if "configMap" in volume:
            path = f"/api/v1/namespaces/{self.meta['namespace']}/configmaps/{volume['configMap']['name']}"
            place = self.folder / f"volume-{volume['name']}"
            return publish(place, self.plane.admin.get(path)["data"])
        if "persistentVolumeClaim" in volume:
            return directory(self._node.folder / "claims" / self.meta["namespace"] / volume["persistentVolumeClaim"]["claimName"], group, 0o2775)
        if "emptyDir" in volume:
            return directory(self.folder / f"volume-{volume['name']}", group, 0o2777)
        raise Failure(f"the simulated kubelet does not know the volume {volume}")


def system_mounts():
    return [{"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=64k"]}]


def bind(place, path, read_only=False):
    return {"destination": path, "type": "bind", "source": str(place), "options": ["rbind", "ro" if read_only else "rw"]}


def directory(place, group, mode):
    if not place.exists():
        place.mkdir(parents=True)
        os.chown(place, 0, group)
        place.chmod(mode)
    return place


def publish(place, files):
    """Files in a directory of their own, to which the link ..data points; the names are links into that."""
    place.mkdir(exist_ok=True)
    fresh = place / f"..{time.monotonic_ns()}"
    fresh.mkdir()
    for name, text in files.items():
        (fresh / name).write_text(text)
        if not (place / name).is_symlink():
            (place / name).symlink_to(f"..data/{name}")
    link = place / "..data_tmp"
    link.symlink_to(fresh.name)
    link.rename(place / "..data")
    return place
