"""informerd-kafka with a real Kafka, which is killed, restarted and stopped for a time during load; so are informerd-kafka and
informerd. Two handlers: all changes over a plain listener, to a topic that takes small batches only, and the newest objects over TLS
and SASL, to a compacted topic. Each topic ends with the server's list, also after compaction, and the changes of each object are in
order.
"""

import json
import signal
import threading
import time
from random import Random

from lib import children
from lib.certs import Certificates
from lib.kafka import PASSWORD, USER, Consumer, Kafka, Sink
from lib.resource import CONFIGMAPS
from lib.service import SOCKET

from .churn import together

NAMESPACE = "kafka"
WRITERS, OBJECTS = 4, 10  # objects of each
RATE = 20  # writes a second of each
PARTITIONS = 4
CHANGES, NEWEST = "k8s.e2e.configmaps", "newest.configmaps"
SMALL = {"max_message_bytes": 4000}
COMPACTED = {"cleanup_policy": "compact", "segment_ms": 2000, "min_cleanable_dirty_ratio": 0.01, "delete_retention_ms": 1000}
HANDLERS = [{"name": "changes", "client": True, "initial": True, "namespaces": [NAMESPACE], "queue": "64M"},
            {"name": "newest", "client": True, "initial": True, "namespaces": [NAMESPACE], "queue": "64M", "object": "full"},
            {"name": "refused", "client": True, "initial": True, "namespaces": [NAMESPACE], "queue": "64M"}]
LISTENER = """security.protocol=SASL_SSL
sasl.mechanism=PLAIN
sasl.username={user}
sasl.password={password}
ssl.ca.location={ca}
"""


def run(stage):
    stage.make_namespace(NAMESPACE)
    stage.watch("token", (CONFIGMAPS,))
    stage.catch_up()
    folder = stage.plane.folder / "kafka"
    certificates = Certificates(folder / "certificates")
    certificates.server("kafka")
    broker = Kafka(folder / "broker", certificates, PARTITIONS)
    stage.at_end(broker.kill)
    broker.start()
    service = stage.service("token", (CONFIGMAPS,), top={"handlers": HANDLERS})
    service.start()
    program = stage.subject.binary.parent / "test" / "kafka" / "mock_kafka"
    consumers = [Consumer(program, CHANGES, PARTITIONS, broker.plain, **SMALL),
                 Consumer(program, NEWEST, PARTITIONS, broker.plain, **COMPACTED)]
    for consumer in consumers:
        stage.at_end(consumer.close)
    broker.wait_topics(CHANGES, NEWEST)
    sinks = start_sinks(stage, folder, service, broker, certificates)
    halt = threading.Event()
    writers = [Writer(stage, number, halt) for number in range(WRITERS)]
    worker = threading.Thread(target=together, args=(writers, halt, Writer.write))
    worker.start()
    try:
        disturb(broker, service, sinks)
    finally:
        halt.set()
        worker.join()
    stage.catch_up()
    check_end(stage, consumers)
    check_order(stage, consumers[0].messages)
    if "sent again, in smaller batches" not in sinks[0].text():
        stage.complain(f"no batch was refused:\n{sinks[0].text()[-1000:]}")
    if any("truncated" in m["headers"] for m in consumers[0].messages):
        stage.complain("a small record was shortened")
    compacted = check_compacted(stage, program, broker, consumers[1])
    wrong = check_refusals(stage, folder, service, broker, certificates)
    for sink in sinks:
        if sink.stop() != 0:
            stage.complain(f"informerd-kafka failed:\n{sink.text()[-1000:]}")
    texts = [(stage.plane.folder / "service" / "informerd.log").read_text(), wrong, *(sink.text() for sink in sinks)]
    if any(PASSWORD in text for text in texts):
        stage.complain("a log has the password")
    messages = consumers[0].messages
    repeated = len(messages) - len({m["headers"]["seq"] for m in messages})
    return (f"{stage.writes} writes, {len(messages)} changes in Kafka, {repeated} of them repeated; {len(consumers[1].messages)} newest "
            f"objects, {compacted} after compaction")


def start_sinks(stage, folder, service, broker, certificates):
    program = stage.subject.binary.parent / "informerd-kafka"
    properties = folder / "properties"
    properties.write_text(LISTENER.format(user=USER, password=PASSWORD, ca=certificates.crt("ca")))
    sinks = []
    for name, arguments in (("changes", ("--topic", "k8s.{cluster}.{resource}", "--brokers", broker.plain,
                                         "--property", "compression.codec=none")),
                            ("newest", ("--compact", "--topic", "newest.{resource}", "--brokers", broker.secure,
                                        "--properties-file", properties))):
        place = folder / name
        place.mkdir()
        sinks.append(Sink(program, place, service.folder / SOCKET, "--handler", name, *arguments))
        stage.at_end(sinks[-1].stop)
        sinks[-1].start()
    return sinks


def disturb(broker, service, sinks):
    """Each part is killed while the others work; last, a broker that does not answer for a time."""
    time.sleep(5)
    broker.kill()
    time.sleep(2)
    broker.start()
    time.sleep(8)
    for sink in sinks:
        sink.kill()
        sink.start()
    time.sleep(3)
    service.kill()
    service.start()
    time.sleep(3)
    broker.kill()
    sinks[0].kill()
    broker.start()
    sinks[0].start()
    time.sleep(8)
    broker.pause(signal.SIGSTOP)
    time.sleep(5)
    broker.pause(signal.SIGCONT)
    time.sleep(2)


def newest_of(messages, version_of):
    """{(namespace, name): version} after all messages, in the order of each partition."""
    state = {}
    for message in sorted(messages, key=lambda m: (m["partition"], m["offset"])):
        state[message["key"]] = version_of(message)
    return {version[:2]: version[2:] for version in state.values() if version}


def version_of_record(message):
    record = json.loads(message["value"])
    return None if record["type"] == "DELETED" else (record["namespace"], record["name"], record["uid"], record["rv"])


def version_of_object(message):
    if message["value"] is None:
        return None
    meta = json.loads(message["value"])["metadata"]
    return meta["namespace"], meta["name"], meta["uid"], meta["resourceVersion"]


def listed(stage):
    metas = [item["metadata"] for item in stage.plane.admin.get(CONFIGMAPS.path(NAMESPACE))["items"]]
    return {(m["namespace"], m["name"]): (m["uid"], m["resourceVersion"]) for m in metas if m["name"].startswith("object-")}


def held(consumer, version_of):
    state = newest_of(list(consumer.messages), version_of)
    return {key: version for key, version in state.items() if key[1].startswith("object-")}


def check_compacted(stage, program, broker, consumer):
    """Who reads the topic from its start after compaction gets fewer messages, and the same objects. Returns their number."""
    deadline = time.monotonic() + stage.timeout
    while True:
        late = Consumer(program, NEWEST, PARTITIONS, broker.plain)
        try:
            children.until(lambda: held(late, version_of_object) == listed(stage), stage.timeout, "the compacted topic equal to the list")
        finally:
            late.close()
        if len(late.messages) < len(consumer.messages) * 0.8:  # the last segments are not compacted
            return len(late.messages)
        if time.monotonic() > deadline:
            stage.complain(f"Kafka has not compacted the topic: {len(late.messages)} of {len(consumer.messages)} messages")
            return len(late.messages)
        time.sleep(1)


def check_end(stage, consumers):
    for consumer, version_of, topic in zip(consumers, (version_of_record, version_of_object), (CHANGES, NEWEST)):
        try:
            children.until(lambda c=consumer, v=version_of: held(c, v) == listed(stage), stage.timeout, f"topic {topic} equal to the list")
        except children.Failure as failure:
            differing = set(held(consumer, version_of).items()) ^ set(listed(stage).items())
            stage.complain(f"{failure}; {len(consumer.messages)} messages, {len(differing)} differ, such as {sorted(differing)[:2]}")


def check_order(stage, messages):
    """In a partition the first occurrences of an object's records are in order."""
    last = {}
    seen = set()
    for m in sorted(messages, key=lambda m: (m["partition"], m["offset"])):
        seq, uid = int(m["headers"]["seq"]), m["key"]
        if (uid, seq) in seen:
            continue
        seen.add((uid, seq))
        if seq < last.get(uid, (0, 0))[0] or m["partition"] != last.get(uid, (0, m["partition"]))[1]:
            stage.complain(f"object {uid}: record {seq} after {last[uid]}")
        last[uid] = seq, m["partition"]


def check_refusals(stage, folder, service, broker, certificates):
    """A wrong password is reported with its remedy, and repeated. Returns the log."""
    properties, place = folder / "wrong", folder / "refused"
    properties.write_text(LISTENER.format(user=USER, password="wrong-" + PASSWORD[::-1], ca=certificates.crt("ca")))
    place.mkdir()
    sink = Sink(stage.subject.binary.parent / "informerd-kafka", place, service.folder / SOCKET, "--handler", "refused",
                "--topic", "x", "--brokers", broker.secure, "--properties-file", properties)
    sink.start()
    children.until(lambda: "check security.protocol, sasl.mechanism, sasl.username and sasl.password" in sink.text(), 30,
                   "the wrong password reported")
    if sink.stop() != 0:
        stage.complain(f"informerd-kafka failed with a wrong password:\n{sink.text()[-1000:]}")
    return sink.text()


class Writer:
    """The only writer of some objects."""

    def __init__(self, stage, number, halt, namespace=NAMESPACE):
        self._objects = stage.objects(CONFIGMAPS)
        self._namespace = namespace
        self._names = [f"object-{number}-{n}" for n in range(OBJECTS)]
        self._random = Random(f"{stage.load.seed}/{number}")
        self._halt = halt
        self._existing = set()

    def write(self):
        while not self._halt.wait(1 / RATE):
            name = self._random.choice(self._names)
            if name not in self._existing:
                self._objects.create(self._namespace, name)
                self._existing.add(name)
            elif self._random.random() < 0.1:
                self._objects.delete(self._namespace, name)
                self._existing.discard(name)
            else:
                self._objects.patch(self._namespace, name, {"data": {"n": str(self._random.random())}})
