"""Shared by the tests of the local API: requests on the Unix socket, and watches."""
import contextlib
import json

from service import Case, UnixHttp, config_map

TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList'


class Watch:
    """A watch in progress: its events arrive line by line."""

    def __init__(self, place, target, **headers):
        self.connection = UnixHttp(place)
        self.connection.request('GET', target, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()

    def next(self):
        """The next event; None at the end."""
        line = self.answer.readline()
        return json.loads(line) if line else None

    def take(self, count):
        return [(e['type'], e['object']['metadata'].get('name')) for e in (self.next() for _ in range(count))]

    def close(self):
        self.connection.close()


class ApiCase(Case):
    """informerd with its socket, and requests to it."""

    def connect(self):
        """A connection, which is closed at the end of the test."""
        return self.stack.enter_context(contextlib.closing(UnixHttp(self.socket)))

    def ask(self, target, method='GET', body=None, **headers):
        """(status, JSON, headers)."""
        with contextlib.closing(UnixHttp(self.socket)) as connection:
            connection.request(method, target, body=body, headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text), answer.headers

    def refused(self, code, reason, target, **more):
        status, answer, _ = self.ask(target, **more)
        self.assertEqual((status, answer['kind'], answer['code'], answer['reason']), (code, 'Status', code, reason))
        return answer['message']

    def is_live(self):
        """The socket file exists a moment before the daemon listens on it."""
        try:
            return self.get('/livez').status == 200
        except OSError:
            return False

    def watch(self, target, **headers):
        watch = Watch(self.socket, target, **headers)
        self.stack.callback(watch.close)
        return watch

    def put(self, name, namespace='default', labels=None, **data):
        one = config_map(name)
        one['metadata'] = {'name': name, 'namespace': namespace, **({'labels': labels} if labels else {})}
        one['data'] = data
        return self.sim.put('configmaps', one)

    def delete(self, name, namespace='default'):
        self.sim.control('delete', resource='configmaps', name=name, namespace=namespace)

    def begin(self, **changes):
        daemon = self.start(self.conf(**changes))
        self.wait_ready()
        return daemon

    def names(self, target, **headers):
        return [i['metadata']['name'] for i in self.ask(target, **headers)[1]['items']]

    def version_of_cache(self, target='/api/v1/configmaps'):
        return self.ask(target)[1]['metadata']['resourceVersion']
