"""A pod's life in the words its users have for it."""

import itertools


def lives(events, contents):
    """By pod, the states that were told one after the other.

    Contents are the objects by uid and version: an event need not carry its object.
    """
    told = {}
    for event in events:
        told.setdefault(event.key, []).append(
            "Gone" if event.type == "DELETED" else state(contents[event.uid, event.rv]))
    return {key: [word for word, _ in itertools.groupby(words)] for key, words in told.items()}


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
