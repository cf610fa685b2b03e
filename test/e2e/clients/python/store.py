#!/usr/bin/env python3
"""store.py KUBECONFIG: a cache of pods with the Python client (PyPI kubernetes), for the scenario local-api-clients.

As its documentation shows: a list, then watch.Watch from the version of the list; after 410 Expired or a lost connection
both again. Prints SYNCED after the first list, and for each line "store" on stdin one STORE line.
"""
import json
import sys
import threading
import time

import urllib3
from kubernetes import client, config, watch

RETRY = 0.5  # seconds after a failure
FAILURES = (client.exceptions.ApiException, urllib3.exceptions.HTTPError, config.ConfigException)


def key_of(pod):
    return pod.metadata.namespace, pod.metadata.name


class Store:
    def __init__(self, kubeconfig):
        self._kubeconfig = kubeconfig
        self._pods = {}
        self._lock = threading.Lock()  # the lines of stdin are answered by the main thread

    def contents(self):
        with self._lock:
            return [{'namespace': namespace, 'name': name, 'uid': pod.metadata.uid, 'rv': pod.metadata.resource_version}
                    for (namespace, name), pod in self._pods.items()]

    def follow(self, synced):
        """Lists and watches for ever."""
        while True:
            try:
                api = client.CoreV1Api(config.new_client_from_config(self._kubeconfig))
                version = self._list(api)
                synced.set()
                self._watch(api, version)
            except FAILURES as error:
                print(error, file=sys.stderr, flush=True)
                time.sleep(RETRY)

    def _list(self, api):
        listed = api.list_pod_for_all_namespaces()
        with self._lock:
            self._pods = {key_of(pod): pod for pod in listed.items}
        return listed.metadata.resource_version

    def _watch(self, api, version):
        """Ends after an error; watch.Watch itself reconnects when a watch ends normally."""
        for event in watch.Watch().stream(api.list_pod_for_all_namespaces, resource_version=version,
                                          allow_watch_bookmarks=True):
            pod = event['object']
            if event['type'] == 'BOOKMARK':
                continue
            with self._lock:
                if event['type'] == 'DELETED':
                    self._pods.pop(key_of(pod), None)
                else:
                    self._pods[key_of(pod)] = pod


def main():
    store, synced = Store(sys.argv[1]), threading.Event()
    threading.Thread(target=store.follow, args=(synced,), daemon=True).start()
    synced.wait()
    print(json.dumps({'type': 'SYNCED'}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({'type': 'STORE', 'items': store.contents()}), flush=True)


main()
