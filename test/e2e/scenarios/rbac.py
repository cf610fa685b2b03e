"""The roles that `informerd rbac` prints are sufficient and minimal.

A service account has no permissions at first: `--check-config --online` lists what is missing, and the
service logs that access is forbidden. kubectl applies the roles, first as a dry run; then the check
passes and the running service syncs. Then resource names in various spellings, as the real server
resolves them.
"""

import json
import os
import re
import subprocess

from lib import children
from lib.children import Failure
from scenarios import custom

HOME, ACCOUNT = "ops", "informerd"
USER = f"system:serviceaccount:{HOME}:{ACCOUNT}"
WATCHES = [{"name": "pods", "resource": "pods", "namespaces": ["shop", "billing"]},
           {"name": "deploy", "resource": "deploy", "namespaces": ["shop"]},
           {"name": "maps", "resource": "cm", "namespaces": ["shop"]},
           {"name": "services", "resource": "services"},
           {"name": "here-too", "resource": "services", "namespaces": ["shop"]},
           {"name": "nodes", "resource": "Node"},
           {"name": "widgets", "resource": "widgets.example.com/v1"},
           {"name": "gadgets", "resource": "gadgets.example.com/v1", "optional": True}]
WORDS = {"po": ".pods", "pod": ".pods", "pods": ".pods", "Pod": ".pods", "deploy": "apps.deployments",
         "deployments.apps": "apps.deployments", "deployments.v1.apps": "apps.deployments",
         "widgets.example.com/v1": "example.com.widgets", "Widget": "example.com.widgets",
         "ev": ".events", "events.events.k8s.io": "events.k8s.io.events",
         "NETPOL": "networking.k8s.io.networkpolicies",
         "crd": "apiextensions.k8s.io.customresourcedefinitions"}
MAY = {"list pods -n shop": True, "watch pods -n billing": True, "list services -A": True,
       "watch widgets.example.com -A": True, "list nodes": True,
       "get namespaces/kube-system": True, "get namespaces/shop": False,
       "list pods -n default": False, "get pods -n shop": False, "list secrets -n shop": False,
       "list deployments.apps -n billing": False, "delete services -n shop": False}
OK, NOT_ALLOWED, WRONG_CONF = 0, 77, 78  # exit codes
SECONDS = 90  # until a service without access has tried again


def run(stage):
    for name in ("shop", "billing", HOME):
        stage.make_namespace(name)
    custom.define(stage)
    conf = Conf(stage)
    before = conf.check(NOT_ALLOWED)
    for words in (f"as {USER} (system:serviceaccounts", "missing  nodes (Node)", "waiting  gadgets ("):
        conf.expect(words in before, f"the check does not print '{words}':\n{before}")
    service = stage.enter(Service(conf))
    service.wait_until_logged("(403 Forbidden)")
    roles = conf.write("roles.yaml", conf.informerd("rbac", "-c", conf.path, "--serviceaccount",
                                                    f"{HOME}:{ACCOUNT}").stdout)
    stage.plane.kubectl("apply", "--dry-run=server", "-f", str(roles))
    stage.plane.kubectl("apply", "-f", str(roles))
    children.until(lambda: conf.status() == OK, 30, "the roles in force", pause=0.5)
    conf.expect("missing" not in conf.check(OK), "the check reports missing permissions although all are granted")
    service.wait_until_synced({watch["name"] for watch in WATCHES} - {"gadgets"})
    check_permissions(stage, conf)
    check_resource_names(conf)
    return f"{len(WATCHES)} watches, {len(WORDS)} words"


def check_permissions(stage, conf):
    for what, may in MAY.items():
        try:
            answer = stage.plane.kubectl("auth", "can-i", *what.split(), "--as", USER)
        except Failure:  # a denial also sets the exit status
            answer = "no"
        conf.expect(answer.strip() == ("yes" if may else "no"), f"can-i {what}: {answer}")


def check_resource_names(conf):
    for word, meaning in WORDS.items():
        done = conf.informerd("rbac", "-c", conf.of([{"name": "x", "resource": word}]))
        found = re.search(r'apiGroups: \["(.*)"\]\n +resources: \[(.*)\]', done.stdout)
        conf.expect(found and ".".join(found.groups()) == meaning,
                    f"{word} is {found and found.groups()}, not {meaning}: {done.stderr}")
    done = conf.informerd("rbac", "-c", conf.of([{"name": "x", "resource": "deploymet"}]))
    conf.expect(done.returncode == WRONG_CONF and "did you mean 'deployment'?" in done.stderr,
                f"deploymet: {done.stderr}")


class Conf:
    """A configuration for the service account, and informerd run with it."""

    def __init__(self, stage):
        self._stage, self.folder = stage, stage.plane.folder / "rbac"
        self.folder.mkdir()
        self.write("token", token(stage.plane.admin))
        (self.folder / "state").mkdir()
        self.path = self.of(WATCHES, "informerd.conf")

    def of(self, watches, name="words.conf"):
        plane = self._stage.plane
        cluster = {"name": "e2e", "server": plane.url, "ca": str(plane.certs.crt("ca")),
                   "token_file": str(self.folder / "token")}
        return self.write(name, json.dumps({
            "state_dir": str(self.folder / "state"), "clusters": [cluster], "watches": watches,
            "event_logs": [{"path": "stdout"}]}))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    @property
    def environment(self):
        return os.environ | self._stage.subject.environment | {"HOME": str(self.folder)}

    @property
    def binary(self):
        return self._stage.subject.binary

    def informerd(self, *arguments):
        return subprocess.run([self.binary, *map(str, arguments)], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def status(self):
        return self.informerd("-c", self.path, "--check-config", "--online").returncode

    def check(self, status):
        done = self.informerd("-c", self.path, "--check-config", "--online")
        self.expect(done.returncode == status,
                    f"the check ends with {done.returncode}, not {status}:\n{done.stdout}")
        return done.stdout

    def expect(self, true, failure):
        if not true:
            self._stage.complain(failure)


class Service:
    """A running informerd with that configuration."""

    def __init__(self, conf):
        self._conf, self._log, self._lines = conf, conf.folder / "log", conf.folder / "lines"

    def __enter__(self):
        with open(self._log, "w") as log, open(self._lines, "w") as lines:
            self._child = children.start([self._conf.binary, "-c", self._conf.path], stdout=lines,
                                         stderr=log, env=self._conf.environment)
        return self

    def __exit__(self, *_):
        children.stop(self._child)

    def wait_until_logged(self, words):
        children.until(lambda: words in self._log.read_text(), SECONDS, f"'{words}' in its log")

    def wait_until_synced(self, watches):
        def synced():
            lines = self._lines.read_text().splitlines(keepends=True)
            records = [json.loads(line) for line in lines if line.endswith("\n")]
            return watches <= {r["watch"] for r in records if r["type"] == "SYNCED"}
        try:
            children.until(synced, SECONDS, "all watches synced")
        except Failure as failure:
            self._conf.expect(False, f"{failure}; its log ends:\n{children.tail(self._log)}")


def token(admin):
    accounts = f"/api/v1/namespaces/{HOME}/serviceaccounts"
    admin.create(accounts, {"metadata": {"name": ACCOUNT}})
    answer = admin.create(f"{accounts}/{ACCOUNT}/token", {"spec": {"expirationSeconds": 3600}})
    return answer["status"]["token"]
