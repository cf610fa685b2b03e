"""The same HTTP requests to the API server and to informerd: status and body must be equal.

Not compared: fields that informerd drops (managedFields), versions of lists and bookmarks (the replica's own), ages, and
the text of refusals, whose code, reason and kind are equal. Requests that informerd answers differently by design are
not here: see LOCAL API in informerd(8).
"""

import http.client
import json
import ssl
import time
from urllib.parse import quote

from lib.service import SOCKET, ByPath

NAMESPACE, POD = "shop", "{pod}"  # {pod}: the name of a pod
JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PROTOBUF_OR_JSON = "application/vnd.kubernetes.protobuf;q=0,application/json"
PODS, SHOP_PODS = "/api/v1/pods", f"/api/v1/namespaces/{NAMESPACE}/pods"
DEPLOYMENTS = "/apis/apps/v1/deployments"
NOT_FOUND = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"}
ENDS_LIST = "k8s.io/initial-events-end"
WATCH_LIST = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
REQUESTS = (
    # lists
    (PODS, JSON), (SHOP_PODS, JSON), (DEPLOYMENTS, JSON), ("/api/v1/nodes", JSON), ("/api/v1/namespaces", JSON),
    ("/apis/discovery.k8s.io/v1/endpointslices", JSON), ("/api/v1/namespaces/none/pods", JSON),
    (f"{PODS}?resourceVersion=0", JSON), (f"{PODS}?resourceVersion=0&limit=1", JSON),
    (f"{PODS}?resourceVersion=1&resourceVersionMatch=NotOlderThan", JSON), (f"{PODS}?pretty=false", JSON),
    # selectors
    *((f"{PODS}?labelSelector={quote(selector)}", JSON) for selector in (
        "app=web", "app==web", "app!=web", "app in (web,none)", "app notin (web)", "app", "!app",
        "app=web,pod-template-hash", "app=none")),
    *((f"{PODS}?fieldSelector={quote(selector)}", JSON) for selector in (
        "status.phase=Running", "status.phase!=Running", "spec.nodeName=node-1", "metadata.namespace=shop",
        "metadata.name=none", "status.phase=Running,metadata.namespace=shop")),
    (f"{SHOP_PODS}?fieldSelector={quote('metadata.name=')}{POD}", JSON),
    (f"{PODS}?labelSelector=app%3Dweb&fieldSelector=status.phase%3DRunning", JSON),
    ("/api/v1/events?fieldSelector=involvedObject.kind%3DDeployment", JSON),
    # single objects
    (f"{SHOP_PODS}/{POD}", JSON), (f"{SHOP_PODS}/{POD}?resourceVersion=0", JSON), ("/api/v1/nodes/node-1", JSON),
    (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/web", JSON), (f"/api/v1/namespaces/{NAMESPACE}", JSON),
    (f"{SHOP_PODS}/{POD}", PROTOBUF_OR_JSON),
    # tables
    *((f"{path}?includeObject={included}", TABLE) for path in (PODS, DEPLOYMENTS, f"{SHOP_PODS}/{POD}")
      for included in ("None", "Metadata", "Object")),
    ("/api/v1/nodes", TABLE), ("/api/v1/namespaces/none/pods", TABLE), (f"{PODS}?labelSelector=app%3Dweb", TABLE),
    # metadata
    (PODS, METADATA_LIST), (f"{PODS}?labelSelector=app%3Dweb", METADATA_LIST), (f"{SHOP_PODS}/{POD}", METADATA),
    # watches
    (f"{PODS}?{WATCH_LIST}", JSON), (f"{SHOP_PODS}?{WATCH_LIST}", TABLE), (f"{PODS}?{WATCH_LIST}", METADATA),
    (f"{PODS}?{WATCH_LIST}&labelSelector=app%3Dnone", JSON),
    (f"{PODS}?watch=1&resourceVersion=0&timeoutSeconds=1", JSON),
    # documents
    ("/version", JSON), ("/openapi/v3/apis/apps/v1", JSON),
    # errors
    (f"{SHOP_PODS}/none", JSON), (f"{SHOP_PODS}/none", TABLE), ("/apis/apps/v1/namespaces/shop/deployments/none", JSON),
    (f"{PODS}?labelSelector={quote('a===b')}", JSON), (f"{PODS}?labelSelector={quote('app in web')}", JSON),
    (f"{PODS}?fieldSelector={quote('status.phase')}", JSON), (f"{PODS}?resourceVersion=abc", JSON),
    (f"{PODS}?resourceVersionMatch=Exact", JSON), (f"{PODS}?resourceVersion=0&resourceVersionMatch=Exact", JSON),
    (f"{PODS}?resourceVersion=1&resourceVersionMatch=Sometimes", JSON),
    (f"{PODS}?resourceVersion=99999999999&resourceVersionMatch=NotOlderThan", JSON),
    (f"{PODS}?watch=1&sendInitialEvents=true", JSON), (f"{PODS}?watch=1&resourceVersionMatch=NotOlderThan", JSON),
    (PODS, "application/xml"), ("/apis/none.example.com/v1/things", JSON), ("/api/v7/pods", JSON),
)


def compare_all(stage, folder):
    """Compares every request; a difference that does not end is reported. Returns their number."""
    plane = stage.plane
    tls = ssl.create_default_context(cafile=plane.certs.crt("ca"))
    tls.load_cert_chain(plane.certs.crt("admin"), plane.certs.key("admin"))
    pod = plane.admin.get(SHOP_PODS)["items"][0]["metadata"]["name"]

    def ask_server(path, accept):
        return answer(http.client.HTTPSConnection("127.0.0.1", plane.port, context=tls, timeout=30), path, accept)

    def ask_replica(path, accept):
        return answer(ByPath(str(folder / SOCKET), timeout=30), path, accept)

    for path, accept in REQUESTS:
        compare_one(stage, path.replace(POD, pod), accept, ask_server, ask_replica)
    return len(REQUESTS)


def compare_one(stage, path, accept, ask_server, ask_replica):
    """The replica answers the same as soon as the last changes have arrived."""
    deadline = time.monotonic() + stage.timeout / 4
    while True:
        theirs, ours = ask_server(path, accept), ask_replica(path, accept)
        if theirs == ours:
            return
        if time.monotonic() > deadline:
            stage.complain(f"GET {path} (Accept: {accept}):\n" + first_difference(theirs, ours))
            return


def answer(connection, path, accept):
    """(status, body) in a form that can be compared."""
    try:
        connection.request("GET", path, headers={"Accept": accept, "Host": "127.0.0.1", "User-Agent": "informerd-e2e"})
        response = connection.getresponse()
        text = response.read().decode()
    finally:
        connection.close()
    if response.status == 200 and "watch=1" in path:
        return response.status, normal_lines(text)
    return response.status, normal(decoded(text))


def decoded(text):
    try:
        return json.loads(text)
    except ValueError:
        if text != "404 page not found\n":
            raise
        return NOT_FOUND  # of a group that does not exist: the server answers with plain text


def normal_lines(text):
    """The events of a watch. The order of the first objects is not defined; further bookmarks may come at any time."""
    events = [normal(event) for event in map(json.loads, text.splitlines())
              if event["type"] != "BOOKMARK" or ENDS_LIST in json.dumps(event)]
    columns = [bool(event["object"].get("columnDefinitions")) for event in events]
    for event in events:
        event["object"].pop("columnDefinitions", None)
    return [columns, *sorted(events, key=lambda event: json.dumps(event, sort_keys=True))]


def normal(thing):
    """Without what may differ."""
    if not isinstance(thing, dict):
        return thing
    kind = thing.get("kind", "")
    if "object" in thing and "type" in thing:
        return thing | {"object": bookmark(thing["object"]) if thing["type"] == "BOOKMARK" else normal(thing["object"])}
    if kind == "Status":
        return {name: thing.get(name) for name in ("kind", "apiVersion", "status", "code", "reason")}
    if kind == "Table":
        return normal_table(thing)
    if kind.endswith("List"):
        return thing | {"metadata": {}, "items": [without_dropped(item) for item in thing["items"]]}
    return without_dropped(thing) if "metadata" in thing else thing


def bookmark(thing):
    """Its version is the server's own. That of a Table is about an object in its only row."""
    return {"kind": thing["kind"]}


def normal_table(table):
    columns = [(column["name"], column["type"], column["format"], column["priority"])
               for column in table["columnDefinitions"] or ()]
    ages = {index for index, column in enumerate(columns) if column[0] in ("Age", "Last Seen", "First Seen")}
    rows = [{"object": without_dropped(row["object"]) if row.get("object") else None,
             "cells": [None if index in ages or not columns else cell for index, cell in enumerate(row["cells"])]}
            for row in table["rows"]]
    return {"kind": "Table", "columnDefinitions": columns, "rows": rows}


def without_dropped(thing):
    meta = {name: value for name, value in thing["metadata"].items() if name != "managedFields"}
    return thing | {"metadata": meta}


def first_difference(theirs, ours, place="answer"):
    """Where two values differ first."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name) != ours.get(name):
                return first_difference(theirs.get(name), ours.get(name), f"{place}.{name}")
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)) and len(theirs) == len(ours):
        for index, (mine, other) in enumerate(zip(theirs, ours)):
            if mine != other:
                return first_difference(mine, other, f"{place}[{index}]")
    return f"{place}: the server has {str(theirs)[:600]}\n{place}: informerd has {str(ours)[:600]}"
