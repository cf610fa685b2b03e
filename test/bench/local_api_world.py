"""The world of local_api.py: a real kube-apiserver with pods, and an informerd that watches it.

The pods are recorded ones of 11.5 KB. They are written to etcd directly, because 10,000 requests take minutes; the API
server reads them as it reads its own. A hundredth of them has each value of the label `app`.
"""
import base64
import copy
import http.client
import json
import os
import re
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'e2e'))

import pod as recording  # noqa: E402
from lib import children  # noqa: E402
from lib.service import ByPath  # noqa: E402

RECORDINGS = HERE.parent / 'data' / 'recordings'
NAMESPACES = 20
VALUES = 100  # of the label `app`
TOGETHER = 50  # LIMIT: pods per transaction; etcd takes 1.5 MiB and 128 operations
CHANGED = 10  # pods that change, by turns
START = 120  # seconds for the first list and for the API server to read the pods


class Place:
    """A server as api_load connects to it: arguments with the address, and its process."""

    def __init__(self, pid, *arguments):
        self.pid, self.arguments = pid, arguments

    def resident(self):
        """Bytes of resident memory."""
        return int(Path(f'/proc/{self.pid}/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


# ---- kube-apiserver

def pod_texts(count):
    template = {'apiVersion': 'v1', 'kind': 'Pod'} | recording.recorded(RECORDINGS)
    for i in range(count):
        one = copy.deepcopy(template)
        meta = one['metadata']
        meta.pop('resourceVersion', None)
        meta |= {'name': f'web-frontend-66b99d9c48-{i:05}', 'namespace': f'ns-{i % NAMESPACES:02}',
                 'uid': f'fa54439d-9a3f-4bb6-8583-{i:012}'}
        meta['labels'] |= {'app': f'app-{i % VALUES:02}'}
        one['spec']['nodeName'] = f'node-{i % 70:02}'
        yield f'/registry/pods/{meta["namespace"]}/{meta["name"]}', json.dumps(one, separators=(',', ':'))


def in_base64(text):
    return base64.b64encode(text.encode()).decode()


def fill(plane, count):
    """Writes the pods, and waits until the API server serves them from its cache."""
    for i in range(NAMESPACES):  # updates need them
        plane.admin.create('/api/v1/namespaces', {'metadata': {'name': f'ns-{i:02}'}})
    puts = [{'requestPut': {'key': in_base64(key), 'value': in_base64(text)}} for key, text in pod_texts(count)]
    for i in range(0, count, TOGETHER):
        body = json.dumps({'success': puts[i:i + TOGETHER]}).encode()
        with urllib.request.urlopen(urllib.request.Request(f'{plane.etcd_url}/v3/kv/txn', body), timeout=60) as answer:
            answer.read()
    children.until(lambda: len(metadata_of_pods(plane)) == count, START, 'the pods in the cache of kube-apiserver', pause=1)


def metadata_of_pods(plane):
    return plane.admin.get('/api/v1/pods?resourceVersion=0',
                           'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')['items']


class Peer(Place):
    """kube-apiserver. Its memory is what is in use after a collection: the rest of its heap hides a growth."""

    def __init__(self, plane):
        self._api, certs = plane.admin, plane.certs
        super().__init__(plane.pids['kube-apiserver'], '-c', str(certs.crt('admin')), '-k', str(certs.key('admin')),
                         plane.url)

    def resident(self):
        self._api.get('/debug/pprof/allocs?gc=1&debug=1', '*/*')
        metrics = self._api.get('/metrics', 'text/plain')
        return sum(float(re.search(rf'^go_memstats_{name} (\S+)$', metrics, re.MULTILINE)[1])
                   for name in ('heap_alloc_bytes', 'stack_inuse_bytes'))


def change_pods(plane, count, rate):
    """Patches pods, one after the other, at a fixed rate."""
    began = time.monotonic()
    for i in range(count):
        time.sleep(max(0, began + i / rate - time.monotonic()))
        path = f'/api/v1/namespaces/ns-00/pods/web-frontend-66b99d9c48-{i % CHANGED * NAMESPACES:05}'
        plane.admin.patch(path, {'metadata': {'annotations': {'example.com/change': str(time.monotonic_ns())}}})


# ---- informerd

class Informerd:
    """An informerd on the control plane, with its local API on a socket and with TLS."""

    def __init__(self, binary, folder, kubeconfig, cache, watches):
        folder.mkdir()
        self.socket, conf, self.log = folder / 'socket', folder / 'informerd.conf', folder / 'stderr'
        conf.write_text(json.dumps({
            'socket': {'path': str(self.socket)}, 'api': {'listen': '127.0.0.1:0'}, 'state': {'enabled': False},
            'state_dir': str(folder), 'cache': cache, 'watches': [{'resource': each} for each in watches],
            'clusters': [{'name': 'real', 'kubeconfig': str(kubeconfig)}], 'event_logs': []}))
        with open(self.log, 'w') as log:
            self.child = children.start([binary, '-c', conf], stdout=log, stderr=log)
        children.until(self._is_ready, START, f'informerd with a {cache} cache')

    def _is_ready(self):
        if self.child.poll() is not None:
            raise children.Failure(f'informerd ended:\n{children.tail(self.log)}')
        try:
            return self._get('/readyz')[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def _get(self, target):
        connection = ByPath(str(self.socket))
        try:
            connection.request('GET', target, headers={'Host': 'informerd'})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def places(self):
        """{name of the way to connect: Place}"""
        access, token = (json.loads(self._get(f'/informerd/v1/{name}')[1]) for name in ('access', 'token'))
        return {'Unix': Place(self.child.pid, f'unix:{self.socket}'),
                'TLS': Place(self.child.pid, '-H', f'Authorization: Bearer {token["token"]}',
                             f'https://{access["address"]}')}

    def stop(self):
        children.stop(self.child)
