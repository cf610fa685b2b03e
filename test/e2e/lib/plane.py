"""A real control plane on loopback: etcd and kube-apiserver with TLS, RBAC, tokens, certificates.

    with Plane(folder, programs) as plane:
        plane.admin.get("/api/v1/pods")
        plane.kubeconfig("token")  # for the program under test: may read everything

All its files are below `folder`. Its ports stay reserved while a server is down.
"""

import base64
import json
import secrets
import shutil
import signal
import socket
import subprocess
import urllib.request
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from . import children
from .api import Api, ApiError
from .certs import Certificates
from .children import Failure

RBAC = "rbac.authorization.k8s.io"
READERS = "informerd:readers"
MASTERS = "system:masters"
STRANGER = "stranger"  # user and token
READ_ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}

AUDIT_POLICY = {  # requests of readers are logged
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "userGroups": [MASTERS]},
              {"level": "Metadata", "verbs": ["list", "watch"]}, {"level": "None"}]}


class Request(NamedTuple):
    """A request of a reader, from the audit log."""

    agent: str
    verb: str  # list or watch
    path: str
    query: dict
    status: int


class Plane:
    def __init__(self, folder, programs, flags=()):
        """`flags` are added to those of the API server, or replace them."""
        self.folder = folder
        self._programs = programs
        self._flags = dict(flags)
        self._ports = {name: ReservedPort() for name in ("api", "etcd", "peer")}
        self._etcd = self._apiserver = None
        self._controllers = []
        self.certs = make_certificates(folder / "pki")
        self.token = secrets.token_hex(16)
        self._tokens = self._write("tokens.csv", f'{self.token},reader-by-token,1,"{READERS}"\n'
                                   f"{STRANGER},{STRANGER},2\n")
        self._audit_log = folder / "audit.jsonl"
        self.admin = self.client(certificate=self.certs.crt("admin"), key=self.certs.key("admin"))
        self._users = self._make_users()
        self._authorities = {}  # of users with other authorities

    @property
    def splits(self):
        """Whether the API server selects the shards of objects."""
        return "ShardedListAndWatch=true" in self._flags.get("feature-gates", "")

    @property
    def users(self):
        """Names for kubeconfig(): admin may do everything, stranger nothing, the others may read."""
        return list(self._users)

    @property
    def port(self):
        return self._ports["api"].number

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def etcd_url(self):
        return f"http://127.0.0.1:{self._ports['etcd'].number}"

    @property
    def pids(self):
        return {"etcd": self._etcd.pid, "kube-apiserver": self._apiserver.pid}

    def __enter__(self):
        try:
            self.start_etcd()
            self.start_apiserver()
            self._let_readers_read()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in filter(None, (*self._controllers, self._apiserver, self._etcd)):
            children.stop(server, seconds=2)  # no orderly stop is needed
        for port in self._ports.values():
            port.release()

    def client(self, **credentials):
        return Api(self.port, self.certs.crt("ca"), **credentials)

    # -- the servers

    def start_etcd(self):
        peer_url = f"http://127.0.0.1:{self._ports['peer'].number}"
        self._etcd = self._launch("etcd", {
            "data-dir": self.folder / "etcd",
            "listen-client-urls": self.etcd_url,
            "advertise-client-urls": self.etcd_url,
            "listen-peer-urls": peer_url,
            "initial-advertise-peer-urls": peer_url,
            "initial-cluster": f"default={peer_url}",
            "socket-reuse-port": "true",
            "quota-backend-bytes": 4 << 30,
            "unsafe-no-fsync": "true",
        })
        self._until_ready("etcd", self._etcd, self._etcd_is_healthy)

    def start_apiserver(self):
        """Starts it, or restarts it on the same port with the same keys."""
        self._apiserver = self._launch("kube-apiserver", {
            "etcd-servers": self.etcd_url,
            "etcd-compaction-interval": "0",  # only compact() removes history
            "bind-address": "127.0.0.1",
            "advertise-address": "192.0.2.1",  # unused; without it the host needs a network
            "endpoint-reconciler-type": "none",
            "secure-port": self.port,
            "permit-port-sharing": "true",
            "tls-cert-file": self.certs.crt("apiserver"),
            "tls-private-key-file": self.certs.key("apiserver"),
            "client-ca-file": self.certs.crt("ca"),
            "token-auth-file": self._tokens,
            "audit-policy-file": self._write("audit-policy.json", json.dumps(AUDIT_POLICY)),
            "audit-log-path": self._audit_log,
            "authorization-mode": "RBAC",
            "service-account-key-file": self.certs.crt("service-accounts"),
            "service-account-signing-key-file": self.certs.key("service-accounts"),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-cluster-ip-range": "10.96.0.0/16",
            "shutdown-watch-termination-grace-period": "5s",  # without it clients wait for a timeout
            "disable-admission-plugins": "ServiceAccount",  # no controller creates accounts
        } | self._flags)
        self._until_ready("kube-apiserver", self._apiserver, self._apiserver_is_ready)

    def start_controllers(self, flags=()):
        """Controller manager and scheduler, for Deployments; kubelet.py simulates the nodes.

        `flags` are added to those of both, or replace them.
        """
        common = {"kubeconfig": self.kubeconfig("admin"), "leader-elect": "false",
                  "secure-port": 0} | dict(flags)  # no client uses their port
        self._controllers = [
            self._launch("kube-controller-manager", common | {
                "service-account-private-key-file": self.certs.key("service-accounts"),
                "root-ca-file": self.certs.crt("ca"),
                # These would take the simulated kubelet for dead.
                "controllers": "*,-node-lifecycle-controller,-taint-eviction-controller",
            }),
            self._launch("kube-scheduler", common),
        ]

    def kubectl(self, *arguments):
        """Runs kubectl as admin. Returns its output."""
        done = subprocess.run(self.kubectl_command(self.kubeconfig("admin"), *arguments),
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Failure(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def kubectl_command(self, kubeconfig, *arguments):
        cache = self.folder / f"kubectl-{Path(kubeconfig).stem}"
        return [self._programs["kubectl"], "--kubeconfig", kubeconfig, "--cache-dir", cache, *arguments]

    def stop_apiserver(self):
        """An orderly stop: watches end with a last chunk."""
        status = children.stop(self._apiserver, seconds=60)
        if status != 0:
            raise Failure(f"kube-apiserver did not stop cleanly: status {status}")

    def kill_apiserver(self):
        """A crash: connections are cut."""
        self._apiserver.send_signal(signal.SIGKILL)
        self._apiserver.wait()

    def back_up(self):
        """Saves the data of etcd, which is stopped meanwhile."""
        self._stop_etcd()
        shutil.copytree(self.folder / "etcd", self.folder / "backup")
        self.start_etcd()

    def restore(self):
        """Restores the saved data: versions also continue from there."""
        self.kill_apiserver()
        self._stop_etcd()
        shutil.rmtree(self.folder / "etcd")
        shutil.copytree(self.folder / "backup", self.folder / "etcd")
        self.start_etcd()
        self.start_apiserver()

    def _stop_etcd(self):
        status = children.stop(self._etcd)
        if status not in (0, -signal.SIGTERM):
            raise Failure(f"etcd did not stop cleanly: status {status}")

    def requests(self, agent):
        """The distinct requests of programs with that user agent, in order."""
        if not self._audit_log.exists():
            return []
        first = {}  # a watch is logged at its start and at its end
        for line in self._audit_log.read_text().splitlines():
            record = json.loads(line)
            first.setdefault(record["auditID"], record)
        return [request_of(record) for record in first.values()
                if record["userAgent"].startswith(agent)]

    def compact(self):
        """Compacts etcd up to now. Returns the current revision.

        The watch cache of the API server has its own history, which only a restart clears.
        """
        revision = self._etcd_call("/v3/maintenance/status", {})["header"]["revision"]
        self._etcd_call("/v3/kv/compaction", {"revision": revision, "physical": True})
        return int(revision)

    def _launch(self, program, flags):
        options = (f"--{name}={value}" for name, value in flags.items())
        with open(self._log(program), "a") as log:
            return children.start([self._programs[program], *options], stdout=log, stderr=log)

    def _log(self, program):
        return self.folder / f"{program}.log"

    def _until_ready(self, program, server, ready):
        def ready_or_dead():
            if server.poll() is not None:
                raise Failure(f"{program} ended with status {server.returncode} while starting")
            return ready()
        try:
            children.until(ready_or_dead, 60, f"{program} ready")
        except Failure as failure:
            log = children.tail(self._log(program))
            raise Failure(f"{failure}; its log ends:\n{log}") from None

    def _etcd_is_healthy(self):
        try:
            with urllib.request.urlopen(f"{self.etcd_url}/health", timeout=5) as answer:
                return json.load(answer)["health"] == "true"
        except OSError:
            return False

    def _apiserver_is_ready(self):
        try:
            return self.admin.get("/readyz") == "ok"
        except (OSError, ApiError):
            return False

    def _etcd_call(self, path, body):
        request = urllib.request.Request(self.etcd_url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    # -- permissions

    def _let_readers_read(self):
        name, group = {"name": READERS}, {"apiGroup": RBAC, "name": READERS}
        self.admin.create(f"/apis/{RBAC}/v1/clusterroles", {"metadata": name, "rules": [READ_ALL]})
        self.admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", {
            "metadata": name,
            "roleRef": {"kind": "ClusterRole"} | group,
            "subjects": [{"kind": "Group"} | group],
        })
        self.until_reader_gets(200, "the readers' role in force")

    def until_reader_gets(self, status, what):
        """Waits, because permissions take effect some time after they are written."""
        reader = self.client(token=self.token)
        children.until(lambda: status_of_pods(reader) == status, 30, what, pause=0.2)

    def _make_users(self):
        crt, key = self.certs.crt("reader"), self.certs.key("reader")
        return {
            "token": {"token": self.token},
            "token-file": {"tokenFile": str(self._write("reader.token", self.token + "\n"))},
            "certificate-data": certificate_data(crt, key),
            "certificate-files": {"client-certificate": str(crt), "client-key": str(key)},
            STRANGER: {"token": STRANGER},
            "admin": certificate_data(self.certs.crt("admin"), self.certs.key("admin")),
        }

    def add_user(self, name, user, authority):
        """Adds a user for kubeconfig() that trusts the authorities in that file."""
        self._users[name] = user
        self._authorities[name] = {"certificate-authority": str(authority)}

    def kubeconfig(self, user, port=None, **more):
        """Writes a kubeconfig for a user; `port` is that of a proxy, and `more` is added to its cluster.
        """
        path = self.folder / (f"{user}-by-{port}.kubeconfig" if port else f"{user}.kubeconfig")
        if not path.exists():  # it may be in use
            self._write(path.name, self._kubeconfig(user, port or self.port, more))
        return path

    def _kubeconfig(self, name, port, more):
        """Writes JSON, which is valid YAML."""
        user = self._users[name]
        usual = {"certificate-authority-data": in_base64(self.certs.crt("ca"))}
        authority = self._authorities.get(name, usual)
        cluster = {"server": f"https://127.0.0.1:{port}"} | authority | more
        return json.dumps({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": "e2e", "user": user}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
            "current-context": "e2e",
        }, indent=2) + "\n"

    def _write(self, name, text):
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        return path


class ReservedPort:
    """A reserved port: bound, not listening; SO_REUSEPORT lets the server use it."""

    def __init__(self):
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.number = self._socket.getsockname()[1]

    def release(self):
        self._socket.close()


def make_certificates(folder):
    certs = Certificates(folder)
    certs.server("apiserver")
    certs.server("service-accounts")  # only signs tokens
    certs.user("admin", MASTERS)
    certs.user("reader", READERS)
    return certs


def request_of(record):
    """From a line of the audit log."""
    url = urlsplit(record["requestURI"])
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    return Request(record["userAgent"], record["verb"], url.path, query,
                   record["responseStatus"]["code"])


def certificate_data(crt, key):
    return {"client-certificate-data": in_base64(crt), "client-key-data": in_base64(key)}


def in_base64(path):
    return base64.b64encode(path.read_bytes()).decode()


def status_of_pods(reader):
    try:
        reader.get("/api/v1/pods?limit=1")
        return 200
    except ApiError as error:
        return error.status
