"""A pod from creation through the writes of scheduler and kubelet to deletion."""

NAMESPACE, POD = "life", "web-0"


def run(stage):
    pods = stage.pods
    stage.make_namespace(NAMESPACE)
    pods.create(NAMESPACE, "already-there")  # a watcher that reports it has completed its list
    stage.watch("certificate-data")
    stage.catch_up()
    for part in LIFE:
        part(pods, POD)
    return f"{len(pods.written)} writes"


def begin(pods, name):
    pods.create(NAMESPACE, name, labels={"app": "web"})
    pods.bind(NAMESPACE, name, "node-1")
    pods.patch_status(NAMESPACE, name, status("Pending", waiting="ContainerCreating"))
    pods.patch_status(NAMESPACE, name, status("Running", ready=True, address="10.0.0.7"))


def go_on(pods, name):
    note = 'a "quote", 日本\n\U0001f680'
    pods.patch(NAMESPACE, name, {"metadata": {"labels": {"release": "2"}}})
    pods.patch(NAMESPACE, name, {"metadata": {"annotations": {"note": note}}})
    pods.patch_status(NAMESPACE, name, status("Running", restarts=1, address="10.0.0.7"))


def recover(pods, name):
    running = status("Running", ready=True, restarts=1, address="10.0.0.7")
    pods.patch_status(NAMESPACE, name, running)
    pods.patch(NAMESPACE, name, {"metadata": {"labels": {"release": None}}})


def end(pods, name):
    pods.delete_gracefully(NAMESPACE, name)
    pods.patch_status(NAMESPACE, name, status("Succeeded", restarts=1))
    pods.delete(NAMESPACE, name)


LIFE = (begin, go_on, recover, end)


def status(phase, ready=False, waiting=None, restarts=0, address=None):
    running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    container = {
        "name": "main", "image": "none.invalid/main:1", "imageID": "", "ready": ready,
        "restartCount": restarts, "state": {"waiting": {"reason": waiting}} if waiting else running,
    }
    return {
        "phase": phase,
        "podIP": address,
        "podIPs": [{"ip": address}] if address else None,
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [container],
    }
