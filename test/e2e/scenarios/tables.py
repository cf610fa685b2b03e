"""The server prints objects of every kind as a Table. Our printers print the same columns and cells for the
same objects; ages may differ by the duration of the request. Descriptions are not compared.
"""

import json
import random
import subprocess
import time

from lib import children
from lib.api import ApiError
from lib.resource import CONFIGMAPS, WIDGETS, Resource
from lib.varied import Case, cases

from .custom import DEFINITIONS, NAME, is_served

NAMESPACE = "tables"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
COMPARED = ("name", "type", "format", "priority")  # of columns
FINALIZER = "example.com/stays"
GENERATION = "deprecated.daemonset.template.generation"  # an annotation
NEW_EVENTS = Resource("events", "events.k8s.io")
DEFINED = Resource("customresourcedefinitions", "apiextensions.k8s.io")
COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "format": "int32"},
    {"name": "Ratio", "type": "number", "jsonPath": ".spec.ratio", "priority": 1, "description": "a ratio"},
    {"name": "Text", "type": "string", "jsonPath": ".spec.ratio"},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
    {"name": "Ready", "type": "string", "jsonPath": ".spec.conditions[?(@.type==\"Ready\")].status"},
    {"name": "All", "type": "string", "jsonPath": ".spec.conditions"},
    {"name": "First", "type": "string", "jsonPath": ".spec.conditions[*].type"},
    {"name": "Label", "type": "string", "jsonPath": ".metadata.annotations.example\\.com/note"},
    {"name": "Since", "type": "date", "jsonPath": ".spec.since"},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]


def run(stage):
    stage.watch("token", (CONFIGMAPS,))
    stage.make_namespace(NAMESPACE)
    made = cases(random.Random(stage.load.seed))
    for resource, objects in made.items():
        for number, case in enumerate(objects):
            create(stage, resource, f"x-{number:03}", case)
    rows = custom(stage, WIDGETS, COLUMNS)
    rows += sum(compare(stage, resource) for resource in (*made, NEW_EVENTS, DEFINED))
    stage.catch_up()
    return f"{rows} rows of {len(made) + 3} resources"


def create(stage, resource, name, case):
    admin, namespace = stage.plane.admin, "" if case.cluster else NAMESPACE
    metadata = case.body.get("metadata", {}) | {"name": name, "namespace": namespace}
    if case.delete:
        metadata["finalizers"] = [FINALIZER]
    path = resource.path(namespace, name)
    try:
        admin.create(resource.path(namespace), case.body | resource.type | {"metadata": metadata})
        if case.status is not None:
            admin.patch(f"{path}/status", {"status": case.status})
        if case.delete:
            admin.delete(path, 1)
    except ApiError as error:
        stage.complain(f"{resource} {name}: {error}")


def custom(stage, resource, columns):
    """Rows of a custom resource with these printer columns."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": resource.version, "served": True, "storage": True, "additionalPrinterColumns": columns,
               "schema": {"openAPIV3Schema": anything}}
    stage.plane.admin.create(DEFINITIONS, {
        "metadata": {"name": NAME},
        "spec": {"group": resource.group, "scope": "Namespaced", "versions": [version],
                 "names": {"plural": resource.name, "singular": "widget", "kind": resource.kind}}})
    children.until(lambda: is_served(stage), 30, "the resource is served")
    conditions = [{"type": "A", "status": "x"}, {"type": "Ready", "status": "a <b>"}]
    note = {"metadata": {"annotations": {"example.com/note": "n"}}}
    for number, spec in enumerate((
            {}, {"size": 3, "ratio": 1.5, "on": True, "conditions": conditions, "since": "2020-01-01T00:00:00Z"},
            {"size": 2.75, "ratio": 1234567.5, "on": "yes", "conditions": [], "since": "soon"},
            {"size": "3", "ratio": 7, "on": False, "conditions": {"b": 1, "a": [None]}, "since": ""},
            {"size": None, "ratio": 0.00001, "conditions": "text", "since": None},
            {"ratio": 100000.25, "conditions": None}, {"ratio": 3e21})):
        create(stage, resource, f"w-{number}", Case(note | {"spec": spec}))
    return compare(stage, resource, columns)


# -- the comparison

def compare(stage, resource, columns=None):
    """Returns the number of rows."""
    admin = stage.plane.admin
    listed = admin.get(resource.path())
    kind, version = listed["kind"].removesuffix("List"), listed["apiVersion"]
    objects = [{"kind": kind, "apiVersion": version} | item for item in listed["items"]]
    began = time.time()
    theirs = admin.get(resource.path(), accept=TABLE)
    ended = time.time()
    theirs["rows"] = theirs["rows"] or []  # null for an empty list without a printer of its own
    ours = [printed(stage, resource, objects, moment, columns) for moment in moments(began, ended)]
    if chosen(theirs) != chosen(ours[0]):
        stage.complain(f"{resource}: columns {chosen(theirs)}, ours {chosen(ours[0])}")
    if len(theirs["rows"]) != len(objects):
        stage.complain(f"{resource}: {len(theirs['rows'])} rows for {len(objects)} objects")
    for index, row in enumerate(theirs["rows"]):
        compare_row(stage, resource, row, [each["rows"][index] for each in ours], objects[index])
    return len(objects)


def moments(began, ended):
    """Times at which the server may have printed, with every change of a second between them."""
    steps = int((ended - began) / 0.5) + 1
    return [began + (ended - began) * step / steps for step in range(steps + 1)]


def printed(stage, resource, objects, moment, columns):
    program = stage.subject.follower.with_name("print_table")
    command = [program, resource.group, resource.name, str(int(moment * 1e6)), json.dumps(columns) if columns else ""]
    lines = "".join(json.dumps(each) + "\n" for each in objects)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def chosen(table):
    return [tuple(column[field] for field in COMPARED) for column in table["columnDefinitions"]]


def compare_row(stage, resource, theirs, ours, source):
    """Each cell equals one of ours."""
    for index, cell in enumerate(theirs["cells"]):
        candidates = [row["cells"][index:index + 1] for row in ours]
        if [cell] not in candidates:
            stage.complain(f"{resource}: cell {index} is {cell!r}, ours {candidates[0]} for {json.dumps(source)}")
    if len(theirs["cells"]) != len(ours[0]["cells"]):
        stage.complain(f"{resource}: {len(theirs['cells'])} cells, ours {len(ours[0]['cells'])}")
    reasons = [[each["reason"] for each in row.get("conditions", [])] for row in (theirs, ours[0])]
    if reasons[0] != reasons[1]:
        stage.complain(f"{resource}: conditions {reasons[0]}, ours {reasons[1]}")
    if metadata_of(theirs) != metadata_of(ours[0]):
        stage.complain(f"{resource}: object {theirs['object']}, ours {ours[0]['object']}")


def metadata_of(row):
    """The object of a row, without what the server adds only to whole objects, or informerd does not keep."""
    metadata = {name: value for name, value in row["object"]["metadata"].items() if name != "managedFields"}
    annotations = {name: value for name, value in metadata.pop("annotations", {}).items() if name != GENERATION}
    return row["object"] | {"metadata": metadata}, annotations
