"""Credentials are replaced while many writers continue: the old ones become invalid, connections are
cut, and informerd must continue with the new ones.

Pods are watched with a service account token in a file, config maps with a client certificate in
files, deployments and secrets with exec plugins that return a token and a certificate. Finally the
server gets a certificate of another authority, after both authorities were put into the CA file.
"""

import json
import ssl
import stat
import threading
import time
from random import Random

from lib import children
from lib.api import ApiError
from lib.certs import Certificates
from lib.plane import RBAC, READERS
from lib.proxy import Proxy
from lib.resource import CONFIGMAPS, DEPLOYMENTS, PODS, SECRETS

from . import churn
from .churn import meanwhile, together

NAMESPACES = 2
RATE = 40  # writes per second
HOME, ACCOUNT = "kube-system", "rotated"
OLD, NEW = "monday", "tuesday"
PLUGIN = "client.authentication.k8s.io/v1"
EXPIRES = 15  # seconds: lifetime of the plugin's certificate
TROUBLE = ("(401 ", "(403 ", "unknown authority")  # must not be in informerd's log


class Token:
    """A service account token bound to a secret: valid as long as the secret exists."""

    def __init__(self, plane, name):
        self._plane, self._name = plane, name
        admin = plane.admin
        secret = admin.create(f"/api/v1/namespaces/{HOME}/secrets", {"metadata": {"name": name}})
        bound = {"kind": "Secret", "apiVersion": "v1", "name": name,
                 "uid": secret["metadata"]["uid"]}
        answer = admin.create(f"/api/v1/namespaces/{HOME}/serviceaccounts/{ACCOUNT}/token",
                              {"spec": {"boundObjectRef": bound}})
        self.text = answer["status"]["token"]

    def revoke(self):
        """Takes effect some seconds later, because the server caches authentication."""
        self._plane.admin.delete(f"/api/v1/namespaces/{HOME}/secrets/{self._name}", 0)
        until_answered(self._plane.client(token=self.text), 401, f"{self._name} revoked")


class Identity:
    """A user with a certificate, who may read while bound to the role."""

    def __init__(self, plane, name):
        plane.certs.user(name, "rotated")
        self.crt, self.key = plane.certs.crt(name), plane.certs.key(name)
        self._admin, self._name = plane.admin, name
        self._client = plane.client(certificate=self.crt, key=self.key)
        bind(plane.admin, name, {"apiGroup": RBAC, "kind": "User", "name": name})
        until_answered(self._client, 200, f"{name} bound")

    def revoke(self):
        self._admin.delete(f"/apis/{RBAC}/v1/clusterrolebindings/{self._name}", 0)
        until_answered(self._client, 403, f"{self._name} unbound")


def run(stage):
    plane, proxy = stage.plane, stage.enter(Proxy(stage.plane.port))
    plane.admin.create(f"/api/v1/namespaces/{HOME}/serviceaccounts",
                       {"metadata": {"name": ACCOUNT}})
    bind(plane.admin, ACCOUNT, {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": HOME})
    folder = plane.folder / "rotated"
    folder.mkdir()
    authority = folder / "ca.crt"
    put(authority, plane.certs.crt("ca").read_text())
    users = {PODS: TokenFile(plane, folder), CONFIGMAPS: CertificateFiles(plane, folder),
             DEPLOYMENTS: PluginToken(plane, folder), SECRETS: PluginCertificate(plane, folder)}
    writers, halt = begin(stage, users, authority, proxy)
    before = stage.writes
    with meanwhile(writers, halt, RATE):
        for user in users.values():
            user.rotate()
            come_again(stage, proxy)
        for certificates in new_authority(plane, authority):
            put(authority, certificates)
            come_again(stage, proxy)
    stage.catch_up()
    for trouble in TROUBLE:
        if stage.mentions(trouble):
            stage.complain(f"informerd's log contains '{trouble}', although its credentials were valid")
    if stage.relists():
        stage.complain(f"{stage.relists()} relists, although the server kept its history")
    return (f"{stage.writes - before} writes, {proxy.connections} connections,"
            f" seed {stage.load.seed}")


def begin(stage, users, authority, proxy):
    """As in churn, but each kind is watched by another user."""
    halt = threading.Event()
    seed = stage.load.seed
    writers = [churn.Writer(stage, f"rotation-{number}", Random(f"{seed}/{number}"), halt)
               for number in range(NAMESPACES)]
    for writer in writers:
        stage.make_namespace(writer.namespace)
    together(writers, halt, lambda writer: writer.fill(even=True))
    for kind, user in users.items():
        stage.plane.add_user(user.name, user.user, authority)
        stage.watch(user.name, (kind,), interrupted=True, through=proxy.port, theirs="token")
    together(writers, halt, lambda writer: writer.fill(even=False))
    stage.catch_up()
    return writers, halt


def come_again(stage, proxy):
    """After the cut informerd must reconnect and report new writes."""
    proxy.cut()
    under_way = NAMESPACES  # one for each writer, which may have been reported before
    written = {kind: len(stage.objects(kind).written) + under_way for kind in churn.KINDS}
    children.until(lambda: all(len(stage.objects(kind).written) > count
                               for kind, count in written.items()), 30, "writes of each kind")
    stage.wait_until_reported()


# -- users


class TokenFile:
    name = "rotated-token-file"

    def __init__(self, plane, folder):
        self._plane, self._file = plane, folder / "token"
        self._token = Token(plane, f"token-{OLD}")
        put(self._file, self._token.text)
        self.user = {"tokenFile": str(self._file)}

    def rotate(self):
        put(self._file, Token(self._plane, f"token-{NEW}").text)
        self._token.revoke()


class CertificateFiles:
    """Two files, which do not match for a moment."""

    name = "rotated-certificate-files"

    def __init__(self, plane, folder):
        self._plane, self._crt, self._key = plane, folder / "tls.crt", folder / "tls.key"
        self._identity = self._take(OLD)
        self.user = {"client-certificate": str(self._crt), "client-key": str(self._key)}

    def rotate(self):
        self._take(NEW)
        self._identity.revoke()

    def _take(self, day):
        identity = Identity(self._plane, f"certificate-{day}")
        put(self._key, identity.key.read_text())
        put(self._crt, identity.crt.read_text())
        return identity


class PluginToken:
    name = "rotated-plugin-token"

    def __init__(self, plane, folder):
        self._plane, self._plugin = plane, Plugin(folder / "token-plugin")
        self._token = self._take(OLD)
        self.user = self._plugin.user

    def rotate(self):
        self._take(NEW)
        self._token.revoke()

    def _take(self, day):
        token = Token(self._plane, f"plugin-{day}")
        self._plugin.gives({"token": token.text})
        return token


class PluginCertificate:
    """A user without the role gets 403, for which the plugin is not run; it runs when its credential
    expires.
    """

    name = "rotated-plugin-certificate"

    def __init__(self, plane, folder):
        self._plane, self._plugin = plane, Plugin(folder / "certificate-plugin")
        self._identity = self._take(OLD)
        self.user = self._plugin.user

    def rotate(self):
        self._take(NEW)
        time.sleep(EXPIRES)  # lifetime of the old one
        self._identity.revoke()

    def _take(self, day):
        identity = Identity(self._plane, f"plugin-{day}")
        self._plugin.gives({"clientCertificateData": identity.crt.read_text(),
                            "clientKeyData": identity.key.read_text(),
                            "expirationTimestamp": "EXPIRY"})
        return identity


class Plugin:
    """An exec plugin as a shell script. Its credentials expire after some seconds."""

    def __init__(self, path):
        self._answer = path.with_suffix(".json")
        put(path, f"""#!/bin/sh
expiry=$(date -u -d '+{EXPIRES} seconds' +%Y-%m-%dT%H:%M:%SZ)
exec sed "s/EXPIRY/$expiry/" {self._answer}
""")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        self.user = {"exec": {"apiVersion": PLUGIN, "command": str(path),
                              "interactiveMode": "Never"}}

    def gives(self, status):
        put(self._answer, json.dumps({"kind": "ExecCredential", "apiVersion": PLUGIN,
                                      "status": status}))


def new_authority(plane, authority):
    """What informerd's file has to hold, step by step: both, then, when the server has changed,
    the new one.
    """
    others = Certificates(plane.folder / "pki-of-tomorrow")
    others.server("apiserver")
    both = authority.read_text() + others.crt("ca").read_text()
    yield both
    plane.admin.trust(others.crt("ca"))
    for old, new in ((plane.certs.key, others.key), (plane.certs.crt, others.crt)):
        put(old("apiserver"), new("apiserver").read_text())
    children.until(lambda: others.crt("apiserver").read_text() in shown_by(plane), 90,
                   "the API server shows its new certificate", pause=0.5)
    yield both
    yield others.crt("ca").read_text()


def shown_by(plane):
    return ssl.get_server_certificate(("127.0.0.1", plane.port))


def bind(admin, name, subject):
    admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", {
        "metadata": {"name": name}, "subjects": [subject],
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": READERS}})


def put(path, text):
    """In one step, as kubelet and cert-manager do it."""
    fresh = path.with_name(path.name + ".new")
    fresh.touch(mode=0o600)
    fresh.write_text(text)
    fresh.rename(path)


def until_answered(client, status, what):
    def answered():
        try:
            client.get("/api/v1/pods?limit=1")
            return status == 200
        except ApiError as error:
            return error.status == status
    children.until(answered, 60, what, pause=0.2)
