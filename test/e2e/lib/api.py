"""A small JSON client of the API server: keep-alive, verified TLS, one connection per thread."""

import http.client
import json
import ssl
import threading
import time

IDLE = 20  # seconds; the server closes idle connections soon after
USER_AGENT = "informerd-e2e"  # the server pretty-prints for curl and browsers


class ApiError(Exception):
    def __init__(self, method, path, status, body):
        message = body.get("message", "") if isinstance(body, dict) else body
        super().__init__(f"{method} {path}: {status} {message}")
        self.status = status


class Api:
    def __init__(self, port, ca, certificate=None, key=None, token=None):
        self.port = port
        self._tls = ssl.create_default_context(cafile=ca)
        if certificate:
            self._tls.load_cert_chain(certificate, key)
        self._headers = {"User-Agent": USER_AGENT}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._mine = threading.local()

    def trust(self, ca):
        """Also trusts the authorities in that file."""
        self._tls.load_verify_locations(ca)

    def get(self, path, accept="application/json"):
        return self._call("GET", path, accept=accept)

    def create(self, path, body):
        return self._call("POST", path, body)

    def patch(self, path, body):
        return self._call("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path, grace):
        return self._call("DELETE", path, {"gracePeriodSeconds": grace})

    def watch(self, path):
        """The events of a watch, on a connection of its own, until the server ends it."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self._tls)
        try:
            connection.request("GET", path, headers=self._headers)
            response = connection.getresponse()
            if response.status >= 400:
                raise ApiError("GET", path, response.status, self._decode(response))
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    def _call(self, method, path, body=None, kind="application/json", accept="application/json"):
        """One request. If its connection fails, it is unknown whether a write happened."""
        headers = self._headers | {"Accept": accept}
        if body is not None:
            headers["Content-Type"] = kind
        connection = self._connection()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            answer = self._decode(response)
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        if response.status >= 400:
            raise ApiError(method, path, response.status, answer)
        return answer

    def _connection(self):
        mine, now = self._mine, time.monotonic()
        if not hasattr(mine, "connection"):
            mine.connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, context=self._tls, timeout=30)
        elif now - mine.used > IDLE:
            mine.connection.close()  # it is opened again automatically
        mine.used = now
        return mine.connection

    @staticmethod
    def _decode(response):
        text = response.read().decode()
        return json.loads(text) if "json" in response.getheader("Content-Type", "") else text
