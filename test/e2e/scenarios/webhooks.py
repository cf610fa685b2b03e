"""Webhooks with real servers: VictoriaLogs takes loki, elastic-bulk and jsonl, an OpenTelemetry Collector otlp-json. The collector
is killed during load, VictoriaLogs is stopped (it keeps what it has acknowledged in memory for some seconds, so a kill would
lose that), and informerd is killed. In the end each server has every record of the event log, and no other.
"""

import json
import threading
import time

from lib import children
from lib.endpoints import Collector, VictoriaLogs
from lib.resource import CONFIGMAPS

from .churn import together
from .kafka import Writer

NAMESPACE = "webhooks"
WRITERS = 4
ACCOUNTS = {"loki": 1, "elastic-bulk": 2, "jsonl": 3}
PATHS = {"loki": "/insert/loki/api/v1/push",
         "elastic-bulk": "/insert/elasticsearch/_bulk?_msg_field=msg&_stream_fields=cluster",
         "jsonl": "/insert/jsonline?_msg_field=msg&_time_field=time&_stream_fields=cluster"}
COMMON = {"namespaces": [NAMESPACE], "initial": True, "batch": {"max": 50, "within": "200ms"}, "queue": "64M",
          "retry": {"max": 1000, "backoff": "100ms..1s"}}


def run(stage):
    stage.make_namespace(NAMESPACE)
    stage.watch("token", (CONFIGMAPS,))
    stage.catch_up()
    folder = stage.plane.folder / "webhooks"
    store, collector = VictoriaLogs(folder / "victoria-logs"), Collector(folder / "collector")
    for server in (store, collector):
        stage.at_end(server.stop)
        server.start()
    service = stage.service("token", (CONFIGMAPS,), top={"handlers": handlers(store, collector)})
    service.start()
    halt = threading.Event()
    writers = [Writer(stage, number, halt, NAMESPACE) for number in range(WRITERS)]
    worker = threading.Thread(target=together, args=(writers, halt, Writer.write))
    worker.start()
    try:
        disturb(store, collector, service)
    finally:
        halt.set()
        worker.join()
    stage.catch_up()
    children.until(lambda: newest_of(service.log) == listed(stage), stage.timeout, "the event log equal to the list")
    logged = {(r["log"], r["seq"]): r for r in records_of(service.log) if r.get("namespace") == NAMESPACE}
    repeated = {name: compare(stage, name, logged, read) for name, read in readers(store, collector).items()}
    return (f"{stage.writes} writes, {len(logged)} records in each of {len(repeated)} servers; repeated: "
            + ", ".join(f"{name} {count}" for name, count in repeated.items()))


def handlers(store, collector):
    ours = [COMMON | {"name": preset, "webhook": {"url": store.url + path, "preset": preset,
                                                  "headers": {"AccountID": str(ACCOUNTS[preset])}}}
            for preset, path in PATHS.items()]
    return [*ours, COMMON | {"name": "otlp-json", "webhook": {"url": f"{collector.url}/v1/logs", "preset": "otlp-json"}}]


def disturb(store, collector, service):
    time.sleep(4)
    collector.kill()
    time.sleep(2)
    collector.start()
    time.sleep(3)
    store.stop()
    time.sleep(2)
    store.start()
    time.sleep(3)
    service.kill()
    service.start()
    time.sleep(3)
    collector.kill()
    service.kill()
    collector.start()
    service.start()
    time.sleep(4)


def records_of(log):
    return [json.loads(line) for line in log.read_text().splitlines() if line.strip()]


def newest_of(log):
    """{name: version} after all records."""
    versions = {}
    for record in records_of(log):
        if record.get("namespace") == NAMESPACE:
            versions[record["name"]] = None if record["type"] == "DELETED" else record["rv"]
    return {name: version for name, version in versions.items() if version}


def listed(stage):
    metas = [item["metadata"] for item in stage.plane.admin.get(CONFIGMAPS.path(NAMESPACE))["items"]]
    return {meta["name"]: meta["resourceVersion"] for meta in metas}


# ---- what the servers have: {(log, seq): (type, name, message)}, and how often they got a record again

def key_of(record):
    return record["log"], int(record["seq"])


def from_loki(store):
    """The message of a stored line is the record."""
    return [json.loads(line["_msg"]) for line in store.records(ACCOUNTS["loki"])]


def from_fields(store, preset):
    """The members of the record are fields, `msg` is the message."""
    return [line | {"msg": line["_msg"]} for line in store.records(ACCOUNTS[preset])]


def from_collector(collector):
    records = []
    for resource, fields, record in collector.records():
        whole = json.loads(fields["informerd.record"])
        named = {"log": fields["informerd.log"], "seq": fields["informerd.seq"], "type": fields["informerd.type"],
                 "name": fields["k8s.object.name"], "msg": record["body"]["stringValue"]}
        if resource["k8s.cluster.name"] != whole["cluster"] or any(str(whole[key]) != value for key, value in named.items()):
            raise children.Failure(f"attributes differ from the record: {resource}, {fields}")
        records.append(named)
    return records


def readers(store, collector):
    return {"loki": lambda: from_loki(store), "elastic-bulk": lambda: from_fields(store, "elastic-bulk"),
            "jsonl": lambda: from_fields(store, "jsonl"), "otlp-json": lambda: from_collector(collector)}


def compare(stage, name, logged, read):
    """Waits until the server has all records. Complains about missing, unknown and different ones. Returns how many it has twice."""
    expected = {key: (r["type"], r["name"], r["msg"]) for key, r in logged.items()}

    def received():
        return {key_of(r): (r["type"], r["name"], r["msg"]) for r in read()}
    try:
        children.until(lambda: received().keys() >= expected.keys(), stage.timeout, f"all records in {name}", pause=1)
    except children.Failure as failure:
        missing = sorted(expected.keys() - received().keys())
        stage.complain(f"{failure}: {len(missing)} of {len(expected)} are missing, such as {missing[:3]}")
    wrong = sorted(set(received().items()) ^ set(expected.items()))
    if wrong:
        stage.complain(f"{name}: {len(wrong)} records differ, such as {wrong[:2]}")
    return len(read()) - len(received())
