"""The states of a pod as users know them."""

import itertools


def lives(events, contents):
    """The sequence of reported states of each pod.

    `contents` are the objects by uid and version, because events do not contain them.
    """
    reported = {}
    for event in events:
        reported.setdefault(event.key, []).append(
            "Gone" if event.type == "DELETED" else state(contents[event.uid, event.rv]))
    return {key: [word for word, _ in itertools.groupby(words)] for key, words in reported.items()}


def state(pod):
    status = pod["status"]
    container = next(iter(status.get("containerStatuses", [])), None)
    if "deletionTimestamp" in pod["metadata"]:
        return "Terminated" if container and "terminated" in container["state"] else "Terminating"
    if not container:
        return "Scheduled" if "nodeName" in pod["spec"] else "Pending"
    if "waiting" in container["state"]:
        return container["state"]["waiting"]["reason"]
    return status["phase"] if container["ready"] else "NotReady"
