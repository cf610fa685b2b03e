"""Servers that take records of webhooks: VictoriaLogs, and an OpenTelemetry Collector that writes what it receives to a file.

Both are built from ../endpoints. Each can be stopped and started again on the same port, with what it has stored.
"""

import http.client
import json
import urllib.parse

from . import children, parts
from .plane import ReservedPort

START = 30  # seconds
COLLECTOR = """receivers:
  otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}
exporters:
  lines: {{path: "{lines}"}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    logs: {{receivers: [otlp], exporters: [lines]}}
"""


class Endpoint:
    """A server with its folder and port."""

    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.folder, self._child = folder, None
        self._reserved = ReservedPort()
        self.port = self._reserved.number
        self.url = f"http://127.0.0.1:{self.port}"

    def command(self):
        raise NotImplementedError

    def start(self):
        self._reserved.release()
        with open(self.folder / "log", "a") as log:
            self._child = children.start(self.command(), stdout=log, stderr=log)
        children.until(self._answers, START, f"{type(self).__name__} at {self.url}")

    def _answers(self):
        if self._child.poll() is not None:
            raise children.Failure(f"{type(self).__name__} ended:\n{children.tail(self.folder / 'log')}")
        try:
            self.request("GET", "/")
        except OSError:
            return False
        return True

    def request(self, method, path, body=None, headers=None):
        """The text of the answer, with any status."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=START)
        try:
            connection.request(method, path, body, headers or {})
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def kill(self):
        self._child.kill()
        self._child.wait()

    def stop(self):
        """As a service manager does it: the server may finish."""
        return children.stop(self._child) if self._child else None


class VictoriaLogs(Endpoint):
    """Each handler has an account of its own, by the header AccountID."""

    def command(self):
        return [parts.programs("endpoints")["victoria-logs"], f"-storageDataPath={self.folder / 'data'}",
                f"-httpListenAddr=127.0.0.1:{self.port}", "-loggerLevel=WARN"]

    def records(self, account):
        """The stored lines of an account: {field: value}."""
        body = urllib.parse.urlencode({"query": "*", "start": "0"})
        text = self.request("POST", "/select/logsql/query", body,
                            {"AccountID": str(account), "Content-Type": "application/x-www-form-urlencoded"})
        return [json.loads(line) for line in text.splitlines()]


class Collector(Endpoint):
    def command(self):
        conf = self.folder / "collector.yaml"
        conf.write_text(COLLECTOR.format(port=self.port, lines=self.folder / "lines"))
        return [parts.programs("endpoints")["collector"], f"--config={conf}"]

    def records(self):
        """The log records that were received: (attributes of the resource, of the record, the record)."""
        path = self.folder / "lines"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [(attributes(resource["resource"]), attributes(record), record) for line in lines
                for resource in json.loads(line)["resourceLogs"] for scope in resource["scopeLogs"] for record in scope["logRecords"]]


def attributes(holder):
    return {each["key"]: next(iter(each["value"].values())) for each in holder.get("attributes", [])}
