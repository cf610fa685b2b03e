"""The web page in Chromium shows what kubectl shows: the overview, changes as they happen, tables, an object with its owners
and Events, and its history, of a Deployment with the real controllers and scheduler.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

from lib.children import Failure
from lib.kubelet import Kubelet
from lib.resource import DEPLOYMENTS, PODS, REPLICASETS, SERVICES, Resource
from lib.service import ByPath, SOCKET

from . import deployment, local_api

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from chromium import CHROMIUM, Browser  # noqa: E402

EVENTS = Resource("events")
KINDS = (PODS, DEPLOYMENTS, REPLICASETS, SERVICES, EVENTS, Resource("nodes"))
NAMESPACE, NAME = deployment.NAMESPACE, deployment.NAME
ROWS = '[...document.querySelectorAll(".change:not([hidden])")].map(r => r.innerText).join("\\n")'
CELLS = '[...document.querySelectorAll(".space .object-row:not([hidden])")].map(r => [...r.children].map(c => c.innerText))'
WATCHES = '''Object.fromEntries([...document.querySelectorAll(".overview tbody tr")].map(r => [...r.cells].map(c => c.innerText))
    .map(([watch, state, objects]) => [watch, `${state} ${objects}`]))'''


def run(stage):
    if not CHROMIUM:
        raise Failure("chromium is missing: install the package of that name")
    stage.plane.start_controllers()
    with Kubelet(stage.plane.admin), Browser(stage.plane.folder) as browser:
        stage.make_namespace(NAMESPACE)
        deployment.apply(stage, release=1)
        service = stage.service("token", KINDS, top={"api": {"listen": "127.0.0.1:0"}})
        service.start()
        local_api.connect(stage, service)
        tab = browser.tab()
        tab.open(address(service))
        tab.wait('document.body.classList.contains("open")', "the session")
        tab.run('location.hash = "#/changes"')
        tab.wait('document.querySelector("#link").dataset.state === "live"', "the stream")
        deployment.apply(stage, release=2)
        began = time.monotonic()
        for view in (changes, overview, table, owners, events, history):
            view(stage, tab)
        if tab.problems:
            stage.complain(f"errors in the page: {tab.problems}")
        return f"6 views in {time.monotonic() - began:.0f} s"


def address(service):
    """The address with a code, as `informerctl page` prints it."""
    return "https://{}/#code={}".format(ask(service, "access")["address"], ask(service, "code")["code"])


def ask(service, name):
    connection = ByPath(str(service.folder / SOCKET))
    try:
        connection.request("GET", f"/informerd/v1/{name}", headers={"Host": "informerd"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def names_of(stage, kind, *more):
    output = stage.plane.kubectl("get", kind, "-n", NAMESPACE, "-o", "name", *more)
    return sorted(line.split("/")[1] for line in output.split())


def go(tab, *parts):
    tab.run(f'location.hash = {json.dumps("#/" + "/".join(parts))}')


def wait_for(stage, what, expected, shown):
    """Until the page shows what the server has, which has come to rest."""
    deadline = time.monotonic() + stage.timeout
    while (theirs := expected()) != (ours := shown()):
        if time.monotonic() > deadline:
            stage.complain(f"{what}: the server has\n{theirs}\nthe page shows\n{ours}")
            return
        time.sleep(0.1)


def changes(stage, tab):
    """Of the new release: the author and the diff of the Deployment, its replica set, pods, and Events of controllers."""
    tab.type("[data-key=path]", "image")
    tab.wait(f'{ROWS}.includes("MODIFIED") && {ROWS}.includes("Deployment")', "the change of the image")
    tab.key("Escape")
    tab.key("j")
    tab.key("Enter")
    tab.wait_text("Changed by", "kubectl", "- none.invalid/web:1", "+ none.invalid/web:2")
    tab.key("Escape")
    tab.type("[data-key=path]", "")
    for words in ("ReplicaSet", "Pod", "ScalingReplicaSet", "SuccessfulCreate", "Scheduled"):
        tab.type("[data-key=text]", words)
        tab.wait(f'{ROWS}.includes({json.dumps(words)})', f"{words} in the changes")
    tab.type("[data-key=text]", "")


def overview(stage, tab):
    """Each watch with the number of objects that the server has."""
    go(tab, "overview")
    tab.wait_text("No problems")
    wait_for(stage, "the overview", lambda: {str(kind): f"live {len(stage.objects(kind).list())}" for kind in KINDS},
             lambda: {name: text for name, text in tab.run(WATCHES).items() if not name.startswith("/")})


def table(stage, tab):
    """The columns and cells of kubectl; only ages may differ. The page may show those of -o wide after them."""
    for kind in (PODS, DEPLOYMENTS, REPLICASETS, SERVICES):
        go(tab, "objects", "e2e", str(kind).replace("/", "%2F"))
        command = stage.plane.kubectl_command(stage.plane.kubeconfig("admin"), "get", str(kind).split("/")[0], "-n",
                                              NAMESPACE)
        tab.wait(f'{CELLS}.some(cells => cells[0] === "{NAMESPACE}")', f"{kind} in a table")

        def printed():
            head, *rows = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.splitlines()
            return [head.split()] + sorted(row.split()[:-1] for row in rows)
        columns = len(printed()[0])

        def shown():
            tab.choose("[data-key=ns]", NAMESPACE)  # as soon as it is offered
            head = tab.run('[...document.querySelectorAll(".head span")].map(s => s.innerText.toUpperCase())')
            return [head[1:columns + 1]] + sorted(cells[1:columns] for cells in tab.run(CELLS))
        wait_for(stage, f"the table of {kind}", printed, shown)


def owners(stage, tab):
    """Deployment, replica set and pods, from a pod."""
    pod = names_of(stage, "pods")[0]
    go(tab, "objects", "e2e", "pods", NAMESPACE, pod)
    tab.wait_text(f"Pod {NAMESPACE}/{pod}", "image: none.invalid/web:2")
    expected = ([f"Deployment {NAME}"] + [f"ReplicaSet {name}" for name in names_of(stage, "replicasets")] +
                [f"Pod {name}" for name in names_of(stage, "pods")])
    wait_for(stage, "the owner tree", lambda: sorted(expected),
             lambda: sorted(tab.run('[...document.querySelectorAll(".tree a, .tree strong")].map(e => e.innerText)')))
    depth = tab.run('document.querySelector(".tree strong").closest("ul").parentElement.closest("ul").parentElement'
                    '.closest("ul").className')
    if depth != "tree":
        stage.complain("the pod is not below its replica set and its Deployment")


def events(stage, tab):
    """The Events of a pod and of the Deployment are those of kubectl."""
    for path, kind, name in (("pods", "Pod", names_of(stage, "pods")[0]),
                             ("deployments.apps%2Fv1", "Deployment", NAME)):
        go(tab, "objects", "e2e", path, NAMESPACE, name)

        def messages():
            output = stage.plane.kubectl("get", "events", "-n", NAMESPACE, "-o", "json", "--field-selector",
                                         f"involvedObject.kind={kind},involvedObject.name={name}")
            return sorted(item["message"] for item in json.loads(output)["items"])

        def shown():
            text = tab.run('[...document.querySelectorAll("[aria-label=Events] li")].map(e => e.innerText)')
            return sorted(message for message in messages() if sum(line.endswith(message) for line in text) == 1)
        tab.wait_text(f"{kind} {NAMESPACE}/{name}")
        if not messages():
            stage.complain(f"the server has no Events of {kind} {name}")
        wait_for(stage, f"the Events of {kind} {name}", messages, shown)


def history(stage, tab):
    """Both releases of the Deployment from the event log, and the diff of the second one."""
    go(tab, "history", "e2e", "deployments.apps%2Fv1", NAMESPACE, NAME)
    tab.wait(f'{ROWS}.includes("spec.template.spec.containers")', "the release in the history")
    index = tab.run('[...document.querySelectorAll(".change:not([hidden])")]'
                    '.findIndex(r => r.innerText.includes("containers"))')
    tab.run(f'document.querySelectorAll(".change:not([hidden])")[{index}].click()')
    tab.wait('document.querySelector(".diff")?.innerText.includes("+ none.invalid/web:2")', "the diff")
    tab.key("Escape")
    go(tab, "history", "_", "_", NAMESPACE)
    tab.wait(f'["Deployment", "ReplicaSet", "Pod"].every(kind => {ROWS}.includes(kind))', "all kinds of the namespace")
