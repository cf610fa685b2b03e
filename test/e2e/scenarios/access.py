"""Every kubeconfig feature for authentication on the real server: with a correct and a wrong value.

With the correct value informerd reports existing and new objects. With the wrong one it logs what is
wrong, where, and the remedy. test/ways-in.md lists which test covers which feature.
"""

import contextlib
import json
import os
import re
import stat
import subprocess
from dataclasses import dataclass, field

from lib import children, compare, proxies
from lib.certs import Certificates
from lib.children import Failure
from lib.feed import Feed
from lib.front import Front
from lib.plane import RBAC, READERS, STRANGER, certificate_data, in_base64
from lib.proxy import Proxy

NAMESPACE, ACCOUNT = "shop", "reader"
ACTED = "jane"  # may read, but has no credentials
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
PLUGINS = "client.authentication.k8s.io/"
SECONDS = 60  # for a message of informerd
INSIDE = "/run/secrets/kubernetes.io/serviceaccount"


@dataclass
class Attempt:
    """How informerd is started."""

    arguments: list
    environment: dict = field(default_factory=dict)
    shell: str = ""  # run before it, in its own mount namespace


class Way:
    """A feature. Everything else has its usual, correct value."""

    says = ""  # informerd's message for the wrong value

    def __init__(self, stage, folder):
        folder.mkdir()
        self.stage, self.plane, self.folder = stage, stage.plane, folder

    def right(self):
        raise NotImplementedError

    def wrong(self):
        raise NotImplementedError

    # -- building blocks

    @property
    def by_token(self):
        return {"token": self.plane.token}

    @property
    def authority(self):
        return {"certificate-authority-data": in_base64(self.plane.certs.crt("ca"))}

    @property
    def strangers(self):
        """Another certificate authority and its certificates."""
        folder = self.folder / "strangers"
        certs = Certificates(folder)
        certs.user("reader", READERS)
        return certs

    def config(self, name="config", **lists):
        """A kubeconfig with entries by name: clusters, users, contexts, and other fields."""
        entries = {kind: [{"name": key, kind.removesuffix("s"): value}
                          for key, value in lists.pop(kind, {}).items()]
                   for kind in ("clusters", "users", "contexts")}
        both = {"apiVersion": "v1", "kind": "Config"} | entries | lists
        return self.write(name, json.dumps(both))

    def attempt(self, cluster=None, user=None, context=None, arguments=("-n", NAMESPACE), **more):
        cluster = {"server": self.plane.url} | (self.authority if cluster is None else cluster)
        config = self.config(
            clusters={"c": cluster}, users={"u": self.by_token if user is None else user},
            contexts={"x": {"cluster": "c", "user": "u"} | (context or {})},
            **{"current-context": "x"})
        return self.watch("--kubeconfig", config, *arguments, **more)

    @staticmethod
    def watch(*arguments, **more):
        return Attempt(["watch", "configmaps", "-o", "jsonl", *arguments], **more)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def plugin(self, script, version="v1"):
        path = self.write("plugin", f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return {"exec": {"apiVersion": PLUGINS + version, "command": "./plugin",
                         "interactiveMode": "Never"}}

    def plugin_with(self, status, version="v1"):
        """An exec plugin with that output."""
        credential = {"kind": "ExecCredential", "apiVersion": PLUGINS + version, "status": status}
        answer = self.write("answer.json", json.dumps(credential))
        return self.plugin(f"cat {answer}", version)


# -- client credentials


class CertificateFiles(Way):
    says = r"401 Unauthorized\); the server rejected the client certificate of user 'u'"

    def right(self):
        return self.attempt(user=files_of(self.plane.certs))

    def wrong(self):
        return self.attempt(user=files_of(self.strangers))


class CertificateData(Way):
    says = r"config:1:\d+: context '\w+': user 'u': client-certificate-data: needs a client-key or client-key-data"

    def right(self):
        return self.attempt(user=data_of(self.plane.certs))

    def wrong(self):
        user = data_of(self.plane.certs)
        del user["client-key-data"]
        return self.attempt(user=user)


class Token(Way):
    says = (r"401 Unauthorized\); the server rejected the token of user 'u';"
            r" check that it is valid for this cluster")

    def right(self):
        return self.attempt(user=self.by_token)

    def wrong(self):
        return self.attempt(user={"token": "unknown-token"})


class TokenFile(Way):
    says = r"tokenFile of user 'u': No such file"

    def right(self):
        self.write("token", self.plane.token + "\n")
        return self.attempt(user={"tokenFile": "token"})

    def wrong(self):
        return self.attempt(user={"tokenFile": "no-such-token"})


class ExecToken(Way):
    says = r"exec plugin '.*/plugin': exit code 3; its stderr is logged at level debug"

    def right(self):
        return self.attempt(user=self.plugin_with(self.by_token))

    def wrong(self):
        return self.attempt(user=self.plugin("echo session expired >&2; exit 3"))


class ExecTokenBeta(Way):
    """The older API version, in which interactiveMode is not required."""

    says = r"invalid ExecCredential: apiVersion must be '.*v1beta1'"

    def right(self):
        user = self.plugin_with(self.by_token, "v1beta1")
        del user["exec"]["interactiveMode"]
        return self.attempt(user=user)

    def wrong(self):
        user = self.plugin_with(self.by_token, "v1")
        user["exec"]["apiVersion"] = PLUGINS + "v1beta1"
        return self.attempt(user=user)


class ExecCertificate(Way):
    says = r"status has only one of clientCertificateData and clientKeyData"

    def right(self):
        certs = self.plane.certs
        return self.attempt(user=self.plugin_with({
            "clientCertificateData": certs.crt("reader").read_text(),
            "clientKeyData": certs.key("reader").read_text()}))

    def wrong(self):
        crt = self.plane.certs.crt("reader")
        return self.attempt(user=self.plugin_with({"clientCertificateData": crt.read_text()}))


class Impersonation(Way):
    """An admin impersonates a user with fewer permissions."""

    says = r'User "stranger" cannot (list|watch) resource .*403 Forbidden'

    def right(self):
        return self.attempt(user=self.admin | {
            "as": "joe", "as-uid": "7", "as-groups": [READERS, "a group"],
            "as-user-extra": {"example.com/Reason": ["she", "asked"]}})

    def wrong(self):
        return self.attempt(user=self.admin | {"as": STRANGER})

    @property
    def admin(self):
        return data_of(self.plane.certs, "admin")


# -- server identity


class AuthorityFile(Way):
    says = r"certificate-authority: cannot read the file: No such file"

    def right(self):
        return self.attempt({"certificate-authority": str(self.plane.certs.crt("ca"))})

    def wrong(self):
        return self.attempt({"certificate-authority": "no-such.crt"})


class AuthorityData(Way):
    says = r"is signed by unknown authority '.*'; set certificate-authority"

    def right(self):
        return self.attempt(self.authority)

    def wrong(self):
        return self.attempt({"certificate-authority-data": in_base64(self.strangers.crt("ca"))})


class SystemAuthorities(Way):
    """The authorities of the system, set by an environment variable of OpenSSL."""

    says = r"is signed by unknown authority '.*'; set certificate-authority"

    def right(self):
        return self.attempt({}, environment={"SSL_CERT_FILE": str(self.plane.certs.crt("ca"))})

    def wrong(self):
        return self.attempt({})


class Insecure(Way):
    says = (r"cluster 'c': certificate-authority-data: cannot be combined with"
            r" insecure-skip-tls-verify; remove one of them")

    def right(self):
        return self.attempt({"insecure-skip-tls-verify": True})

    def wrong(self):
        return self.attempt(self.authority | {"insecure-skip-tls-verify": True})


class ServerName(Way):
    """An address that is not in the server's certificate, with a name that is."""

    says = r"is valid for 127\.0\.0\.1, .*, not for 127\.0\.0\.2; set tls-server-name to one of these"

    def right(self):
        return self.attempt(self.elsewhere | {"tls-server-name": "kubernetes.default.svc"})

    def wrong(self):
        return self.attempt(self.elsewhere)

    @property
    def elsewhere(self):
        proxy = self.stage.enter(Proxy(self.plane.port, "127.0.0.2"))
        return self.authority | {"server": f"https://127.0.0.2:{proxy.port}"}


class PathPrefix(Way):
    says = r"HTTP 404: .*the path of the server URL \(/k8s/clusters/c-1-not\)"

    def right(self):
        return self.attempt(self.authority | {"server": self.front.url})

    def wrong(self):
        return self.attempt(self.authority | {"server": self.front.url + "-not"})

    @property
    def front(self):
        return self.stage.enter(Front(self.plane, "/k8s/clusters/c-1"))


# -- proxies


class HttpProxy(Way):
    says = r"proxy 127\.[\d.]+:\d+ does not allow connections to 127\.0\.0\.1:\d+"

    def right(self):
        return self.by(self.plane.port)

    def wrong(self):
        return self.by(1)

    def by(self, allowed):
        proxy = self.stage.enter(proxies.HttpProxy(self.folder, "http", only=allowed))
        return self.attempt(self.authority | {"proxy-url": proxy.url})


class HttpsProxy(Way):
    """The proxy's certificate is checked like that of the server."""

    says = r"proxy: certificate of .* is signed by unknown authority"

    def right(self):
        return self.by(self.plane.certs.crt("apiserver"), self.plane.certs.key("apiserver"))

    def wrong(self):
        strangers = self.strangers
        strangers.server("proxy")
        return self.by(strangers.crt("proxy"), strangers.key("proxy"))

    def by(self, crt, key):
        behind = self.stage.enter(proxies.HttpProxy(self.folder, "behind"))
        proxy = self.stage.enter(proxies.HttpsProxy(self.folder, "https", behind, crt, key))
        return self.attempt(self.authority | {"proxy-url": proxy.url})


class SocksProxy(Way):
    says = r"proxy.*rejected the user and password"

    def right(self):
        return self.by(proxies.SocksProxy.password)

    def wrong(self):
        return self.by("please")

    def by(self, password):
        proxy = self.stage.enter(proxies.SocksProxy(self.folder, "socks5", login=True))
        return self.attempt(self.authority | {"proxy-url": proxy.url_with(password)})


# -- selection of entries


class MergedFiles(Way):
    """The first file that sets a value wins; other values come from the other files."""

    says = r"first:1:\d+: context 'x': user: no such user; available users: 'u'"

    def right(self):
        return self.merged("u")

    def wrong(self):
        return self.merged("unknown")

    def merged(self, user):
        (self.folder / "deep").mkdir(exist_ok=True)
        self.write("deep/token", self.plane.token)
        first = self.config("first", contexts={"x": {"cluster": "c", "user": user}},
                            **{"current-context": "x"})
        second = self.config("deep/second", users={"u": {"tokenFile": "token"}},
                             clusters={"c": {"server": self.plane.url} | self.authority},
                             **{"current-context": "y"})
        third = self.config("third", users={"u": {"token": "unknown-token"}})
        files = first, self.folder / "no-such-file", second, third
        return self.watch("-n", NAMESPACE,
                          environment={"KUBECONFIG": ":".join(map(str, ("", *files, first)))})


class Namespace(Way):
    says = r"contexts?.*namespace: must be a namespace"

    def right(self):
        return self.attempt(context={"namespace": NAMESPACE}, arguments=())

    def wrong(self):
        return self.attempt(context={"namespace": "No Such Name"}, arguments=())


class Overrides(Way):
    """Flags override a context in which every value is wrong."""

    says = r"user 'v' doesn't exist; available users: 'unknown', 'u'"

    def right(self):
        return self.overridden("u")

    def wrong(self):
        return self.overridden("v")

    def overridden(self, user):
        config = self.config(
            clusters={"nowhere": {"server": "https://127.0.0.1:1"},
                      "c": {"server": self.plane.url} | self.authority},
            users={"unknown": {"token": "unknown-token"},
                   "u": data_of(self.plane.certs, "admin") | {"as": STRANGER}},
            contexts={"x": {"cluster": "nowhere", "user": "unknown", "namespace": "nowhere"},
                      "y": {"cluster": "nowhere", "user": "unknown", "namespace": "nowhere"}},
            **{"current-context": "x"})
        return self.watch("--kubeconfig", config, "--context", "y", "--cluster", "c",
                          "--user", user, "--as", ACTED, "-n", NAMESPACE)


class Conf(Way):
    """The same options in a configuration file."""

    says = r"context 'z' doesn't exist; available contexts: 'x', 'y'"

    def right(self):
        return self.conf("y")

    def wrong(self):
        return self.conf("z")

    def conf(self, context):
        config = Overrides.overridden(self, "u").arguments[5]
        return daemon(self, {"kubeconfig": str(config), "context": context, "cluster": "c",
                             "user": "u", "as": ACTED})


class Directly(Way):
    """Without a kubeconfig: server, ca and token_file in the configuration."""

    says = r"token file '.*/no-such-token': No such file"

    def right(self):
        return self.direct(self.write("token", self.plane.token))

    def wrong(self):
        return self.direct(self.folder / "no-such-token")

    def direct(self, token):
        return daemon(self, {"server": self.plane.url, "ca": str(self.plane.certs.crt("ca")),
                             "token_file": str(token)})


class InCluster(Way):
    """In-cluster configuration with the files of a pod. An invalid authority is an error."""

    says = (r"in-cluster configuration: certificate-authority: no certificate in PEM format found"
            r" \(file '/.*/ca.crt'\)")

    def right(self):
        return self.inside(self.plane.certs.crt("ca").read_text())

    def wrong(self):
        return self.inside("no authority\n")

    def inside(self, authority):
        files = self.folder / "account"
        files.mkdir(exist_ok=True)
        self.write("account/token", account_token(self.plane.admin))
        self.write("account/ca.crt", authority)
        self.write("account/namespace", NAMESPACE)
        place = f"mount -t tmpfs tmpfs /run && mkdir -p {INSIDE} && mount --bind {files} {INSIDE}"
        return self.watch(shell=place, environment={
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.plane.port)})


# -- the run


def run(stage):
    stage.make_namespace(NAMESPACE)
    prepare(stage.plane.admin)
    ways = {way.__name__: way for way in Way.__subclasses__()}
    folder = stage.plane.folder
    right = {name: start(stage, way(stage, folder / name), name) for name, way in ways.items()}
    for name, feed in right.items():
        wait_until_reported(stage, name, feed, "before")
    create(stage.plane.admin, "after")
    for name, feed in right.items():
        wait_until_reported(stage, name, feed, "after")
        feed.close()
    for name, way in ways.items():
        refuse(stage, way(stage, folder / f"{name}-wrong"), name)
    return f"{len(ways)} ways in"


def prepare(admin):
    account = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    admin.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": ACCOUNT}})
    admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", {
        "metadata": {"name": "more-readers"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": READERS},
        "subjects": [account, {"apiGroup": RBAC, "kind": "User", "name": ACTED}]})
    create(admin, "before")


def create(admin, name):
    admin.create(MAPS, {"metadata": {"name": name}})


def account_token(admin):
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
    answer = admin.create(path, {"spec": {"expirationSeconds": 600}})
    return answer["status"]["token"]


def start(stage, way, name):
    command, environment = spell(stage, way, way.right())
    feed = Feed(name, command, way.folder / "informerd.log", compare.from_informerd, environment)
    stage.enter(killed(feed))
    return feed


def wait_until_reported(stage, name, feed, what):
    key = f"{NAMESPACE}/{what}"
    try:
        if not feed.wait(lambda: key in feed.state, SECONDS):
            stage.complain(f"{name}: {key} is not reported:\n{feed.last_words()}")
    except Failure as failure:
        stage.complain(f"{name}: {failure}")


def refuse(stage, way, name):
    """The wrong value: informerd logs the reason and reports nothing."""
    command, environment = spell(stage, way, way.wrong())
    log = way.folder / "informerd.log"
    with open(log, "w") as stderr:
        child = children.start(command, stdout=subprocess.DEVNULL, stderr=stderr,
                               env=os.environ | environment)
    try:
        children.until(lambda: re.search(way.says, log.read_text()), SECONDS, way.says)
    except Failure as failure:
        stage.complain(f"{name}, wrong: {failure}; its log ends:\n{children.tail(log)}")
    finally:
        children.stop(child, seconds=5)


def spell(stage, way, attempt):
    """Its command and environment, without the caller's kubeconfig."""
    command = [stage.subject.binary, *attempt.arguments]
    if attempt.shell:
        mounts = ["unshare", "--mount"] + ([] if os.getuid() == 0 else ["--map-root-user"])
        command = [*mounts, "sh", "-c", f'{attempt.shell} && exec "$@"', "sh", *command]
    without_cluster = {"HOME": str(way.folder), "KUBECONFIG": "", "KUBERNETES_SERVICE_HOST": ""}
    return command, without_cluster | stage.subject.environment | attempt.environment


def daemon(way, cluster):
    """A configuration with these cluster options."""
    state = way.folder / "state"
    state.mkdir()
    conf = {"state_dir": str(state), "clusters": [{"name": "default"} | cluster],
            "watches": [{"resource": "configmaps", "namespaces": [NAMESPACE]}],
            "event_logs": [{"path": "stdout"}]}
    return Attempt(["-c", way.write("informerd.conf", json.dumps(conf))])


@contextlib.contextmanager
def killed(feed):
    """Ends it, if it has not ended yet."""
    try:
        yield feed
    finally:
        feed.kill()


def files_of(certs, name="reader"):
    return {"client-certificate": str(certs.crt(name)), "client-key": str(certs.key(name))}


def data_of(certs, name="reader"):
    return certificate_data(certs.crt(name), certs.key(name))
