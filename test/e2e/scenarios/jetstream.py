"""Sinks and real NATS servers, three with a replicated stream, whose duplicate window is shorter than any interruption. Two informerd publish
the same changes. They are killed in turn during changes, and so are the servers. The stream has each change of each object exactly once
and in order, and ends with the server's list. Then: a server that does not answer, a stream that is full, wrong credentials.
"""

import json
import signal
import threading
import time

from lib import children
from lib.certs import Certificates
from lib.nats import ADMIN, PASSWORD, SEED, Nats
from lib.resource import CONFIGMAPS
from lib.service import SOCKET, ByPath, readiness

from .churn import together
from .kafka import Writer

NAMESPACE = "kafka"  # that of Writer
STREAM = "K8S"
WRITERS, KILLS = 4, 50
NODE_EVERY = 10  # kills of informerd between those of a server


def run(stage):
    stage.make_namespace(NAMESPACE)
    stage.watch("token", (CONFIGMAPS,))
    stage.catch_up()
    folder = stage.plane.folder / "nats"
    certificates = Certificates(folder / "certificates")
    certificates.server("nats")
    servers = Nats(folder / "servers", certificates)
    stage.at_end(servers.kill_all)
    servers.start_all()
    client = servers.client()
    client.make_stream(STREAM, subjects=["k8s.>"], num_replicas=3, storage="file", allow_direct=True, duplicate_window=200_000_000)
    services = [start_service(stage, folder, f"active-{number}", sink_of(folder, servers, certificates)) for number in (0, 1)]
    halt = threading.Event()
    writers = [Writer(stage, number, halt) for number in range(WRITERS)]
    worker = threading.Thread(target=together, args=(writers, halt, Writer.write))
    worker.start()
    try:
        disturb(servers, services)
    finally:
        halt.set()
        worker.join()
    stage.catch_up()
    for service in services:
        wait_published(stage, service)
    messages = list(servers.client().messages(STREAM).values())
    check_once_and_in_order(stage, messages)
    check_end(stage, messages)
    check_complete(stage, messages)
    check_silence(stage, servers, services[0])
    check_full(stage, folder, servers, certificates)
    check_refusal(stage, folder, servers, certificates)
    check_jwt(stage, folder, certificates)
    for service in services:
        if service.stop() != 0:
            stage.complain("informerd failed with a sink")
    check_secrets(stage)
    repeated = sum(int(headers["Nats-Msg-Id"].count("/") > 3) for headers, _ in messages)
    logs = {headers["Informerd-Log"] for headers, _ in messages}
    return f"{stage.writes} writes, {len(messages)} messages of {len(logs)} logs, {repeated} with a second id, {KILLS} kills"


def sink_of(folder, servers, certificates, name="stream", stream=STREAM, **more):
    seed = folder / "seed"
    seed.write_text(SEED)
    nats = {"url": servers.url, "stream": stream, "ca_file": str(certificates.crt("ca"))}
    keys = {} if more.get("nats", {}).keys() & {"user", "credentials"} else {"nkey_file": str(seed)}
    return {"name": name, "timeout": "2s", "namespaces": [NAMESPACE]} | more | {"nats": nats | keys | more.get("nats", {})}


def start_service(stage, folder, name, sink):
    """Also the first two, each of which publishes all changes, need no Lease."""
    service = stage.service("token", (CONFIGMAPS,), name=name, top={"sinks": [sink], "replica": {"group": "e2e", "mode": "active"}})
    service.start()
    return service


def status_of(service):
    """The state of its sink; {} while it starts."""
    connection = ByPath(str(service.folder / SOCKET))
    try:
        connection.request("GET", "/informerd/v1/handlers", headers={"Host": "informerd"})
        return json.loads(connection.getresponse().read())["handlers"][0]
    except OSError:
        return {}
    finally:
        connection.close()


def wait_published(stage, service):
    def is_empty():
        if not status_of(service) or not readiness(service.folder)[0]:
            return False
        status = status_of(service)  # all objects that existed are in its queue
        return status["records"] == status["parked"] == 0
    try:
        children.until(is_empty, stage.timeout, f"all records of {service.folder.name} published")
    except children.Failure as failure:
        stage.complain(f"{failure}: {status_of(service)}\n{children.tail(service.folder / 'informerd.log')}")


def wait_error(stage, service, text):
    try:
        children.until(lambda: text in status_of(service).get("error", ""), 30, f"the sink reports '{text}'")
    except children.Failure as failure:
        stage.complain(f"{failure}: {status_of(service)}")


def disturb(servers, services):
    """At any time one informerd and two servers run."""
    down = None
    for count in range(KILLS):
        victim = services[count % 2]
        time.sleep(0.4)
        victim.kill()
        if count % NODE_EVERY == 5:
            down = count // NODE_EVERY % servers.size
            servers.kill(down)
        time.sleep(0.2)
        victim.start()
        if count % NODE_EVERY == 9 and down is not None:
            servers.start(down)
            down = None
    if down is not None:
        servers.start(down)


def check_once_and_in_order(stage, messages):
    """For each name ADDED (MODIFIED)* DELETED of one uid after the other, with growing versions."""
    states, seen = {}, set()
    for headers, record in messages:
        subject, change = headers["Nats-Subject"], (record["uid"], record["type"], record["rv"])
        if change in seen:
            stage.complain(f"{subject}: stored twice: {change}")
        seen.add(change)
        uid, version = states.get(subject, (None, 0))
        fits = record["type"] == "ADDED" if uid is None else record["type"] != "ADDED" and record["uid"] == uid
        if not fits or int(record["rv"]) <= version:
            stage.complain(f"{subject}: {change} after {uid} at {version}")
        states[subject] = None if record["type"] == "DELETED" else record["uid"], int(record["rv"])


def check_end(stage, messages):
    state = {}
    for _, record in messages:
        state[record["name"]] = None if record["type"] == "DELETED" else (record["uid"], record["rv"])
    items = stage.plane.admin.get(CONFIGMAPS.path(NAMESPACE))["items"]
    listed = {item["metadata"]["name"]: (item["metadata"]["uid"], item["metadata"]["resourceVersion"]) for item in items}
    held = {name: version for name, version in state.items() if version}
    if held != listed:
        stage.complain(f"the stream differs from the list: {sorted(set(held.items()) ^ set(listed.items()))[:3]}")


def check_complete(stage, messages):
    """Every confirmed write is in the stream: at any time one informerd was running."""
    stored = {(record["uid"], int(record["rv"])) for _, record in messages}
    deleted = {record["uid"] for _, record in messages if record["type"] == "DELETED"}
    lost = [event for event in stage.objects(CONFIGMAPS).written
            if (event.uid not in deleted if event.type == "DELETED" else (event.uid, event.rv) not in stored)]
    if lost:
        stage.complain(f"{len(lost)} writes are not in the stream, such as {lost[:2]}")


def check_silence(stage, servers, service):
    servers.signal_all(signal.SIGSTOP)
    stage.objects(CONFIGMAPS).create(NAMESPACE, "during-silence")
    wait_error(stage, service, "no answer within")
    servers.signal_all(signal.SIGCONT)
    wait_published(stage, service)
    names = [record["name"] for _, record in servers.client().messages(STREAM).values()]
    if names.count("during-silence") != 1:
        stage.complain(f"{names.count('during-silence')} messages about an object that was made while the servers were stopped")


def check_full(stage, folder, servers, certificates):
    config = {"subjects": ["small.>"], "storage": "file", "discard": "new", "allow_direct": True}
    client = servers.client()
    client.make_stream("SMALL", max_msgs=5, **config)
    service = start_service(stage, folder, "full", sink_of(folder, servers, certificates, stream="SMALL", nats={
        "subject": "small.{cluster}.{resource}.{namespace}.{name}"}))
    wait_error(stage, service, "maximum messages exceeded")
    if client.count("SMALL") != 5:
        stage.complain(f"a stream for 5 messages has {client.count('SMALL')}")
    client.update_stream("SMALL", max_msgs=100_000, **config)
    wait_published(stage, service)
    listed = {item["metadata"]["name"] for item in stage.plane.admin.get(CONFIGMAPS.path(NAMESPACE))["items"]}
    stored = [record["name"] for _, record in servers.client().messages("SMALL").values()]
    if sorted(stored) != sorted(listed):
        stage.complain(f"the stream that was full has {len(stored)} of {len(listed)} objects")
    service.stop()


def check_refusal(stage, folder, servers, certificates):
    password = folder / "password"
    password.write_text("wrong-" + PASSWORD[::-1])
    servers.client().make_stream("MORE", subjects=["more.>"], storage="memory", allow_direct=True)
    service = start_service(stage, folder, "refused", sink_of(folder, servers, certificates, stream="MORE", nats={
        "user": ADMIN, "password_file": str(password), "subject": "more.{cluster}.{resource}.{namespace}.{name}"}))
    wait_error(stage, service, "Authorization Violation; check the credentials")
    password.write_text(PASSWORD)
    wait_published(stage, service)
    service.stop()


def check_jwt(stage, folder, certificates):
    """A user with a .creds file, and a server that expects TLS first."""
    server = Nats(folder / "with-jwt", certificates, 1, jwt=True, tls_first=True)
    stage.at_end(server.kill_all)
    server.start_all()
    client = server.client()
    client.make_stream(STREAM, subjects=["k8s.>"], storage="file", allow_direct=True)
    service = start_service(stage, folder, "jwt", sink_of(folder, server, certificates, nats={
        "credentials": str(server.creds), "tls_first": True}))
    wait_published(stage, service)
    check_end(stage, list(client.messages(STREAM).values()))
    service.stop()


def check_secrets(stage):
    for log in stage.plane.folder.glob("*/informerd.log"):
        text = log.read_text(errors="replace")
        if SEED in text or PASSWORD in text or PASSWORD[::-1] in text:
            stage.complain(f"{log.parent.name}: the log has a secret")
