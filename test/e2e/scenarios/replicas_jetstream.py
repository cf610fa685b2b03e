"""Two replicas with one Lease publish into NATS JetStream, three servers. The leader is killed or terminated 50 times during changes, and
now and then a NATS server with it. What a new leader publishes again is not stored again: the stream has each change once and
in order, also beyond the duplicate window, and ends with the server's list.
"""

import threading

from lib import children
from lib.certs import Certificates
from lib.nats import Nats
from lib.resource import CONFIGMAPS

from .churn import together
from .jetstream import NAMESPACE, STREAM, check_complete, check_end, check_once_and_in_order, sink_of, wait_published
from .kafka import Writer
from .replicas import LIVES, REPLICA, check_rights, is_ready, leads, wait_for_leader

KILLS = 50  # every third one is a TERM
WRITERS = 4
NODE_EVERY = 10  # kills of informerd between those of a server


def run(stage):
    for namespace in (NAMESPACE, REPLICA["namespace"]):
        stage.make_namespace(namespace)
    stage.watch("token", (CONFIGMAPS,))
    stage.catch_up()
    folder = stage.plane.folder / "nats"
    certificates = Certificates(folder / "certificates")
    certificates.server("nats")
    servers = Nats(folder / "servers", certificates)
    stage.at_end(servers.kill_all)
    servers.start_all()
    servers.client().make_stream(STREAM, subjects=["k8s.>"], num_replicas=3, storage="file", allow_direct=True,
                                 duplicate_window=200_000_000)
    services = [stage.service("token", (CONFIGMAPS,), name=f"replica-{number}",
                              top={"sinks": [sink_of(folder, servers, certificates)], "replica": REPLICA}) for number in range(2)]
    check_rights(stage, services[0])
    services[0].start()
    wait_for_leader(services[0])
    services[1].start()
    halt = threading.Event()
    writers = [Writer(stage, number, halt) for number in range(WRITERS)]
    worker = threading.Thread(target=together, args=(writers, halt, Writer.write))
    worker.start()
    try:
        alternate(servers, services, halt)
    finally:
        halt.set()
        worker.join()
    stage.catch_up()
    wait_published(stage, next(service for service in services if leads(service)))
    messages = list(servers.client().messages(STREAM).values())
    check_once_and_in_order(stage, messages)
    check_end(stage, messages)
    check_complete(stage, messages)
    for service in services:
        if service.stop() != 0:
            stage.complain("informerd failed with a sink")
        for line in (service.folder / "informerd.log").read_text().splitlines():
            if "GAP" in line:
                stage.complain(f"{service.folder.name}: {line}")
    logs = {headers["Informerd-Log"] for headers, _ in messages}
    return f"{KILLS} kills, {stage.writes} writes, {len(messages)} messages of {len(logs)} logs"


def alternate(servers, services, halt):
    """The leader is killed; when the other one leads, it is started again."""
    children.until(lambda: is_ready(services[1]), 60, "the second replica ready", pause=0.1)
    halt.wait(3)  # until the first one has delivered what the second one has listed
    for kill in range(KILLS):
        halt.wait(LIVES[kill % len(LIVES)])
        leader, other = services[kill % 2], services[1 - kill % 2]
        node = kill // NODE_EVERY % servers.size if kill % NODE_EVERY == 5 else None
        if node is not None:
            servers.kill(node)
        leader.stop() if kill % 3 == 2 else leader.kill()
        wait_for_leader(other)
        leader.start()
        if node is not None:
            servers.start(node)
        children.until(lambda leader=leader: is_ready(leader), 60, "the replica ready", pause=0.1)
