"""Two replicas with one Lease deliver to a web server that records everything. During churn the leader is killed or terminated 50
times, and stopped (SIGSTOP) until the other one leads. Each event is delivered, in the order of each object; what comes again was
delivered shortly before a crash; nothing arrives from a replica that does not lead; and all records together result in the
server's list.
"""

import contextlib
import http.server
import json
import os
import signal
import subprocess
import threading
import time

from lib import children, journal
from lib.plane import READERS
from lib.service import readiness

from . import churn
from .churn import KINDS, meanwhile

KILLS = 50  # every third one is a TERM
STOPS = 2
NAMESPACES = 2
RATE = 60  # writes per second
LEASE, DEADLINE, RETRY = 3, 2, 0.5  # seconds
TAKEOVER = LEASE + 3 * RETRY  # LIMIT: from a crash to a delivery of the other replica
SLACK = 4  # seconds: other scenarios use the same processors
PUBLISHED = 1  # seconds between two writes of a position
LIVES = (0, 0.3, 1, 2)  # seconds that a leader lives after its first delivery
REPLICA = {"group": "e2e", "namespace": "informerd", "lease_duration": f"{LEASE}s", "renew_deadline": f"{DEADLINE}s",
           "retry_period": f"{int(RETRY * 1000)}ms"}


class Receiver:
    """A web server: what arrived, from which replica and when."""

    def __init__(self):
        self.arrived = []  # (time, replica, record)
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                now, replica = time.monotonic(), int(self.path[1:])
                receiver.arrived += [(now, replica, json.loads(line)) for line in body.splitlines()]  # one step
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # a replica was killed
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def of(self, replica, since=0.0):
        return [entry for entry in list(self.arrived) if entry[1] == replica and entry[0] >= since]


def run(stage):
    stage.make_namespace(REPLICA["namespace"])
    writers, halt = churn.begin(stage, namespaces=NAMESPACES)
    receiver = Receiver()
    stage.at_end(receiver.close)
    services = [service_of(stage, receiver, number) for number in range(2)]
    before = stage.writes
    check_rights(stage, services[0])
    services[0].start()
    wait_for_leader(services[0])
    services[1].start()
    with meanwhile(writers, halt, RATE):
        children.until(lambda: is_ready(services[1]), 60, "the second replica ready", pause=0.1)
        time.sleep(2 * PUBLISHED + RETRY)  # until the first one has delivered what the second one has listed
        delays, crashes = alternate(stage, receiver, services)
        overlaps = stop_leaders(stage, receiver, services, crashes)
    stage.catch_up()
    wait_until_equal(stage, receiver)
    for service in services:
        if service.stop() != 0:
            stage.complain("a service failed")
        for line in (service.folder / "informerd.log").read_text().splitlines():
            if "GAP" in line:
                stage.complain(f"{service.folder.name}: {line}")
    again = check(stage, receiver, crashes)
    return (f"{KILLS} kills, {STOPS} stops, {stage.writes - before} writes, {len(receiver.arrived)} records delivered, {again} of "
            f"them again; takeover after {sorted(delays)[len(delays) // 2]:.1f} s, at most {max(delays):.1f} s; {overlaps} records "
            "of a replica that did not lead")


def service_of(stage, receiver, number):
    handler = {"name": "all", "webhook": {"url": f"http://127.0.0.1:{receiver.port}/{number}"}, "initial": True, "batch": {"max": 200,
               "within": "20ms"}, "retry": {"backoff": "10ms..200ms"}, "queue": "64M"}
    return stage.service("token", KINDS, name=f"replica-{number}", top={"handlers": [handler], "replica": REPLICA})


def check_rights(stage, service):
    """The role that `informerd rbac` prints is what --check-config --online reports as missing."""
    def informerd(*arguments):
        return subprocess.run([stage.subject.binary, "-c", service.folder / "informerd.conf", *arguments], text=True, timeout=60,
                              env=os.environ | stage.subject.environment, stdin=subprocess.DEVNULL, capture_output=True)
    before = informerd("--check-config", "--online")
    if before.returncode == 0 or "Lease informerd/e2e  cannot create, update" not in before.stdout:
        stage.complain(f"the missing rights for the Lease are not reported: {before.stdout}{before.stderr}")
    roles = stage.plane.folder / "replica-roles.yaml"
    roles.write_text(subprocess.run([stage.subject.binary, "rbac", "-c", service.folder / "informerd.conf", "--group", READERS],
                                    env=os.environ | stage.subject.environment, text=True, timeout=60, capture_output=True).stdout)
    stage.plane.kubectl("apply", "-f", str(roles))
    children.until(lambda: informerd("--check-config", "--online").returncode == 0, 30, "the roles in force", pause=0.5)


def leads(service):
    with contextlib.suppress(OSError, Exception):
        return ": leader, Lease renewed" in readiness(service.folder)[1]
    return False


def wait_for_leader(service):
    children.until(lambda: leads(service), LEASE + 30, f"{service.folder.name} leading", pause=0.05)


def alternate(stage, receiver, services):
    """Kills the leader, waits for a delivery of the other one, and starts it again. Returns how long that took, and when there were
    crashes."""
    delays, crashes = [], []
    for kill in range(KILLS):
        leader, other = services[kill % 2], 1 - kill % 2
        time.sleep(LIVES[kill % len(LIVES)])
        terminated = kill % 3 == 2
        began = time.monotonic()
        if terminated:
            leader.stop()
        else:
            leader.kill()
            crashes.append(began)
        children.until(lambda other=other, began=began: receiver.of(other, began), TAKEOVER + 30, "a takeover", pause=0.05)
        delays.append(receiver.of(other, began)[0][0] - began)
        if delays[-1] > TAKEOVER + SLACK:
            stage.complain(f"kill {kill}: the takeover lasted {delays[-1]:.1f} s")
        leader.start()
        wait_for_leader(services[other])
        children.until(lambda leader=leader: is_ready(leader), 60, "the replica ready", pause=0.1)
    return delays, crashes


def is_ready(service):
    with contextlib.suppress(OSError):
        return readiness(service.folder)[0]
    return False


def stop_leaders(stage, receiver, services, crashes):
    """A process that is stopped, and continues when another one leads, delivers nothing."""
    overlaps = 0
    for _ in range(STOPS):
        number = next(n for n in range(2) if leads(services[n]))
        stopped, other = services[number], 1 - number
        stopped.signal(signal.SIGSTOP)
        began = time.monotonic()
        crashes.append(began)
        children.until(lambda other=other, began=began: receiver.of(other, began), TAKEOVER + 30, "a takeover", pause=0.05)
        continued = time.monotonic()
        stopped.signal(signal.SIGCONT)
        time.sleep(2 * LEASE)
        late = receiver.of(number, continued)
        overlaps += len(late)
        if late:
            stage.complain(f"{len(late)} records of a replica that was stopped and did not lead, such as {late[0]}")
        wait_for_leader(services[other])
    return overlaps


# -- what was delivered

def key_of(record):
    """Identifies a change; a deletion found by a list has another version."""
    return record["uid"], record["type"], record["rv"] if record["type"] == "MODIFIED" else ""


def first_ones(receiver):
    """Each change when it came for the first time, and how often and when others came again."""
    seen, first, again = set(), [], []
    for at, _, record in list(receiver.arrived):
        if key_of(record) in seen:
            again.append((at, record))
            continue
        seen.add(key_of(record))
        first.append(record)
    return first, again


def wait_until_equal(stage, receiver):
    def is_equal():
        records, _ = first_ones(receiver)
        return all(journal.state_after(journal.of_watch(records, str(kind))) == stage.objects(kind).list() for kind in KINDS)
    try:
        children.until(is_equal, stage.timeout, "what was delivered equal to the list", pause=1)
    except children.Failure as failure:
        stage.complain(str(failure))


def disordered(records):
    """The changes of each object must be in their order."""
    faults, versions = [], {}
    for record in records:
        key, version = record["uid"], int(record["rv"])
        if version <= versions.get(key, 0) or (record["type"] == "ADDED") != (key not in versions):
            faults.append(f"{record['type']} {record['namespace']}/{record['name']}@{version} after @{versions.get(key)}")
        versions[key] = version
    return faults


def check(stage, receiver, crashes):
    records, again = first_ones(receiver)
    faults = []
    for kind in KINDS:
        of_kind = journal.of_watch(records, str(kind))
        faults += disordered(of_kind)
        of_kind.sort(key=lambda record: int(record["rv"]))  # the order of different objects is not kept
        faults += journal.different_runs([of_kind], stage.oracle_events(kind.name))
        faults += stage.different_from_list(f"what was delivered ({kind.name})", journal.state_after(of_kind), kind)
    delivered = {key_of(record): at for at, _, record in reversed(receiver.arrived)}
    for at, record in again:
        first = delivered[key_of(record)]
        if not any(first - 0.1 <= crash <= min(at, first + PUBLISHED + 1) for crash in crashes):
            faults.append(f"{record['type']} {record['name']} came again {at - first:.1f} s later, and no replica crashed soon after the "
                          "first time")
    for fault in faults[:20]:
        stage.complain(f"delivered by the replicas: {fault}")
    return len(again)
