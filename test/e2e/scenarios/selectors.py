"""Objects that enter and leave a selection: by labels, by a field that never changes, by one that
changes, by both.

For a watcher, entering is an addition and leaving a deletion. The field `why` of a deletion is correct
or absent.
"""

import itertools

from lib.resource import CONFIGMAPS, PODS, Selection

from .lifecycle import status

NAMESPACE = "shop"
WATCHES = {  # name: kind, selection
    "pods-of-web": (PODS, Selection(labels="app in (web, api),!canary")),
    "pods-running": (PODS, Selection(fields="status.phase=Running")),
    "pods-of-web-on-node-1": (PODS, Selection(labels="app=web", fields="spec.nodeName=node-1")),
    "configmaps-of-web": (CONFIGMAPS, Selection(NAMESPACE, labels="app=web")),
    "configmaps-by-name": (CONFIGMAPS, Selection(fields="metadata.name=settings")),
}
IN, OUT = {"app": "web"}, {"app": "other"}
LIVES = {  # expected events of each object, in order; the number of MODIFIED comes from the oracle
    "pods-of-web": {"web-0": "ADDED DELETED ADDED MODIFIED DELETED",
                    "web-1": "ADDED MODIFIED DELETED", "late": "ADDED DELETED"},
    "pods-running": {"web-1": "ADDED MODIFIED DELETED"},
    "pods-of-web-on-node-1": {"web-1": "ADDED MODIFIED DELETED"},
    "configmaps-of-web": {"settings": "ADDED MODIFIED DELETED ADDED DELETED"},
    "configmaps-by-name": {"settings": "ADDED MODIFIED DELETED"},
}
REASONS = {  # actual reason of each deletion
    "pods-of-web": {"web-0": ["left", "deleted"], "web-1": ["deleted"], "late": ["left"]},
    "pods-running": {"web-1": ["left"]},
    "pods-of-web-on-node-1": {"web-1": ["deleted"]},
    "configmaps-of-web": {"settings": ["left", "deleted"]},
    "configmaps-by-name": {"settings": ["deleted"]},
}
KNOWN = "pods-of-web"  # a deleted pod is marked first, so the reason is known


def run(stage):
    pods, maps = stage.pods, stage.objects(CONFIGMAPS)
    stage.make_namespace(NAMESPACE)
    pods.create(NAMESPACE, "web-0", labels=IN)
    pods.create(NAMESPACE, "late", labels=OUT)
    for name, (kind, selection) in WATCHES.items():
        stage.watch("token", (kind,), selection, name)
    stage.catch_up()
    change_labels(pods)
    live(pods)
    configure(maps)
    stage.catch_up()
    for name in WATCHES:
        check_lives(stage, name)
        check_why(stage, name)
    return f"{stage.writes} writes, {len(WATCHES)} selections"


def label(objects, name, labels):
    objects.patch(NAMESPACE, name, {"metadata": {"labels": labels}})


def change_labels(pods):
    label(pods, "web-0", OUT)
    label(pods, "web-0", {"app": None})  # still not selected
    label(pods, "web-0", {"app": "api"})
    label(pods, "web-0", IN)
    label(pods, "late", IN)
    label(pods, "late", IN | {"canary": "yes"})
    label(pods, "web-0", {"more": "yes"})
    pods.delete(NAMESPACE, "web-0")
    pods.delete(NAMESPACE, "late")


def live(pods):
    """Bound, running, completed, deleted."""
    pods.create(NAMESPACE, "web-1", labels=IN)
    pods.bind(NAMESPACE, "web-1", "node-1")
    pods.patch_status(NAMESPACE, "web-1", status("Pending", waiting="ContainerCreating"))
    pods.patch_status(NAMESPACE, "web-1", status("Running"))
    pods.patch_status(NAMESPACE, "web-1", status("Running", ready=True))
    pods.delete_gracefully(NAMESPACE, "web-1")
    pods.patch_status(NAMESPACE, "web-1", status("Failed"))
    pods.delete(NAMESPACE, "web-1")


def configure(maps):
    maps.create(NAMESPACE, "settings", labels=IN)
    maps.create(NAMESPACE, "other", labels=OUT)
    maps.patch(NAMESPACE, "settings", {"data": {"colour": "red"}})
    label(maps, "settings", OUT)
    label(maps, "settings", IN)
    maps.delete(NAMESPACE, "settings")
    maps.delete(NAMESPACE, "other")


def check_lives(stage, watch):
    reported = {}
    for event in stage.events(watch):
        reported.setdefault(event.key.removeprefix(f"{NAMESPACE}/"), []).append(event.type)
    lives = {name: " ".join(word for word, _ in itertools.groupby(words))
             for name, words in reported.items()}
    if lives != LIVES[watch]:
        stage.complain(f"{watch}: reported {lives}, should be {LIVES[watch]}")


def check_why(stage, watch):
    reported = {}
    for record in stage.records(watch):
        if record["type"] == "DELETED":
            reported.setdefault(record["name"], []).append(record.get("why"))
    for name, reasons in REASONS[watch].items():
        for word, why in itertools.zip_longest(reported.get(name, []), reasons):
            unknown = word is None and (watch != KNOWN or why != "deleted")
            if word != why and not unknown:
                stage.complain(f"{watch}: {name} {why}, but informerd's `why` is {word}")
