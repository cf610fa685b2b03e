"""Every version of all objects of a kind, read from etcd, also while the API server is down.

Watchers that lost the server may miss different versions, and the writer does not know the versions
that the server creates itself. etcd has all of them.
"""

import base64
import http.client
import json
import re
import threading
import urllib.request

from . import compare
from .children import Failure
from .compare import Event

# The first match is the uid of the object. In protobuf: field 5, 36 bytes; custom objects are JSON.
UID = re.compile(rb'(?:\*\$|"uid":")([0-9a-f-]{36})')


class History:
    """Records from the first revision of etcd on; it must catch up before a compaction."""

    def __init__(self, etcd_url, resource, namespace):
        self.events = []
        self._prefix = resource.prefix
        self._namespace = f"{namespace}/" if namespace else ""
        self._url = etcd_url
        self._replica = compare.Replica()
        self._news = threading.Condition()
        self._broken = None
        self._seen = -1  # the last recorded revision; 0: started
        threading.Thread(target=self._record, daemon=True).start()

    def wait_for_state(self, state, seconds):
        """Waits until the recorded events result in this state."""
        with self._news:
            self._news.wait_for(lambda: self._broken or self._replica.state == state, seconds)
            if self._replica.state != state:
                raise Failure(f"etcd's history is incomplete: {self._broken or 'timed out'}")

    def catch_up(self, seconds):
        """Waits until all current revisions are recorded, before a compaction would end the watch."""
        newest = self._newest()
        with self._news:
            if not self._news.wait_for(lambda: self._broken or self._seen >= newest, seconds):
                raise Failure("etcd's history: timed out")

    def _newest(self):
        """The revision of the last change of an existing object; 0 if there is none."""
        wanted = self._keys() | {"sort_target": "MOD", "sort_order": "DESCEND", "limit": "1"}
        request = urllib.request.Request(f"{self._url}/v3/kv/range", json.dumps(wanted).encode())
        with urllib.request.urlopen(request) as answer:
            found = json.load(answer).get("kvs", [])
        return int(found[0]["mod_revision"]) if found else 0

    def _record(self):
        """Records until etcd ends, which ends the stream and fails waiting callers."""
        try:
            for answer in self._answers():
                changes = answer.get("events", [])
                self._note(from_etcd(changes, self._prefix, self._replica.state))
                self._saw(max((int(change["kv"]["mod_revision"]) for change in changes), default=0))
                if answer.get("canceled"):
                    raise ValueError(answer)
            self._end("etcd ended the watch")
        except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
            self._end(repr(error))

    def _answers(self):
        everything = self._keys() | {"start_revision": "1"}
        body = json.dumps({"create_request": everything}).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self._url}/v3/watch", body)) as lines:
            for line in lines:
                yield json.loads(line)["result"]

    def _keys(self):
        begin = self._prefix + self._namespace
        end = begin.removesuffix("/") + "0"  # '0' follows '/'
        return {"key": in_base64(begin), "range_end": in_base64(end)}

    def _saw(self, revision):
        with self._news:
            self._seen = max(self._seen, revision)
            self._news.notify_all()

    def _note(self, events):
        for event in events:
            with self._news:
                self.events.append(event)
                self._replica.apply(event)
                self._news.notify_all()

    def _end(self, why):
        with self._news:
            self._broken = why
            self._news.notify_all()


def from_etcd(changes, prefix, held):
    """Changes of keys as events of objects. A deleted key has no value; `held` has the uid."""
    for change in changes:
        kv = change["kv"]
        key = base64.b64decode(kv["key"]).decode().removeprefix(prefix)
        revision = int(kv["mod_revision"])  # which the API server calls the resource version
        if change.get("type") == "DELETE":
            yield Event("DELETED", key, held[key].uid, revision)
        else:
            kind = "ADDED" if kv["create_revision"] == kv["mod_revision"] else "MODIFIED"
            yield Event(kind, key, uid_in(base64.b64decode(kv["value"])), revision)


def uid_in(value):
    found = UID.search(value)
    if not found:
        raise ValueError("an object without a uid")
    return found[1].decode()


def in_base64(text):
    return base64.b64encode(text.encode()).decode()
