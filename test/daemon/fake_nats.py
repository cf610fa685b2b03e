"""A NATS server with one JetStream stream, as far as a sink of informerd needs it, that fails as a test wants.

    with FakeNats(user='u', password='p') as server:
        server.full = True            # from now on nothing is stored
        server.messages               # what was stored: Message(subject, headers, payload)
"""
import base64
import collections
import contextlib
import json
import threading

from service import LoopbackServer

Message = collections.namedtuple('Message', 'subject headers payload')
STREAM = 'K8S'


def parse_headers(block):
    """{name: value} of a block that begins with NATS/1.0 and ends with an empty line."""
    first, *lines = block.decode().split('\r\n')
    assert first == 'NATS/1.0' and lines[-2:] == ['', ''], block
    pairs = [line.split(': ', 1) for line in lines[:-2]]
    assert len({name for name, _ in pairs}) == len(pairs), block
    return dict(pairs)


class FakeNats(LoopbackServer):
    """`expected` are members that CONNECT must have; others are refused. Attributes that a test sets at any time:

    missing, full, enabled  whether the stream exists, has room, and JetStream is enabled
    answers                 whether requests are answered
    denied                  a subject that may not be published to
    cut_at                  publications after which the connection is closed, before the acknowledgement
    stale                   the ids of all changes were used for older messages
    flood                   bytes that are sent all the time after the greeting; then nothing is read
    dedup                   whether message ids are remembered; without it, only the expected sequence protects
    """

    def __init__(self, tls=None, tls_first=False, max_payload=1 << 20, direct=True, expected=(), nonce='', **more):
        self.tls, self.tls_first, self.max_payload, self.direct = tls, tls_first, max_payload, direct
        self.expected, self.nonce, self.config = dict(expected), nonce, {}
        self.missing = self.full = self.stale = False
        self.enabled = self.answers = self.dedup = True
        self.denied, self.cut_at, self.flood = None, None, None
        self.lock, self.messages, self.ids, self.connects, self.requests = threading.Lock(), [], {}, [], []
        self.publications, self.sockets, self.banner = 0, [], None
        self.__dict__.update(more)
        super().__init__()

    @property
    def url(self):
        return f'{"tls" if self.tls else "nats"}://localhost:{self.port}'

    def cut(self):
        """Closes all connections."""
        for sock in self.sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(2)

    def send(self, text):
        """Sends on all connections."""
        for sock in self.sockets:
            with contextlib.suppress(OSError):
                sock.sendall(text)

    def close(self):
        """Refuses connections from now on."""
        self.listener.shutdown(2)
        self.cut()

    def subjects(self):
        return [message.subject for message in self.messages]

    def records(self):
        with self.lock:
            return [json.loads(message.payload) for message in self.messages]

    # ---- the protocol ----

    def info(self):
        info = {'server_id': 'X', 'server_name': 'fake', 'version': '2.12.0', 'proto': 1, 'headers': True,
                'max_payload': self.max_payload, 'jetstream': True, 'tls_required': bool(self.tls)}
        if self.nonce:
            info |= {'nonce': self.nonce, 'auth_required': True}
        return b'INFO ' + json.dumps(info).encode() + b' \r\n'

    def serve(self, sock):
        with contextlib.suppress(OSError, ValueError):
            if self.tls and self.tls_first:
                sock = self.tls.wrap_socket(sock, server_side=True)
            self.sockets.append(sock)
            sock.sendall(self.banner or self.info())
            if self.tls and not self.tls_first:
                sock = self.tls.wrap_socket(sock, server_side=True)
                self.sockets.append(sock)
            with sock, sock.makefile('rb') as file:
                self.talk(sock, file)

    def talk(self, sock, file):
        while (line := file.readline()):
            verb, *words = line.decode().split(' ', 1)
            rest = words[0].strip() if words else ''
            if verb == 'CONNECT':
                connect = json.loads(rest)
                self.connects.append(connect)
                if any(connect.get(k) != v for k, v in self.expected.items()):
                    sock.sendall(b"-ERR 'Authorization Violation'\r\n")
                    return
            elif verb.strip() == 'PING':
                sock.sendall(b'PONG\r\n')
                while self.flood:
                    sock.sendall(self.flood)
            elif verb in ('PUB', 'HPUB'):
                fields = rest.split(' ')
                total, head = int(fields[-1]), int(fields[-2]) if verb == 'HPUB' else 0
                body = file.read(total + 2)
                if total > self.max_payload:
                    sock.sendall(b"-ERR 'Maximum Payload Violation'\r\n")
                    return
                if not self.published(sock, fields[0], fields[1], body[:head], body[head:-2]):
                    return

    def published(self, sock, subject, reply, head, payload):
        """Whether the connection continues."""
        if self.denied and subject == self.denied:
            sock.sendall(f"-ERR 'Permissions Violation for Publish to \"{subject}\"'\r\n".encode())
            return True
        if not self.answers:
            return True
        if subject.startswith('$JS.API.'):
            self.requests.append(subject)
            self.answer(sock, reply, *self.request(subject.removeprefix('$JS.API.'), payload))
            return True
        with self.lock:
            self.publications += 1
            answer = self.store(subject, parse_headers(head), payload)
        if self.cut_at == self.publications:
            return False
        self.answer(sock, reply, *answer)
        return True

    def answer(self, sock, subject, payload, head=b''):
        payload = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if head:
            sock.sendall(f'HMSG {subject} 1 {len(head)} {len(head) + len(payload)}\r\n'.encode() + head + payload + b'\r\n')
        else:
            sock.sendall(f'MSG {subject} 1 {len(payload)}\r\n'.encode() + payload + b'\r\n')

    # ---- JetStream ----

    def last(self, subject):
        """The sequence number of the last message of the subject, from 1 on."""
        found = [n for n, message in enumerate(self.messages, 1) if message.subject == subject]
        return found[-1] if found else 0

    def store(self, subject, headers, payload):
        if not self.enabled or self.missing or not subject.startswith('k8s.'):
            return b'', b'NATS/1.0 503\r\n\r\n'
        last = self.last(subject)
        if headers['Nats-Expected-Stream'] != STREAM:
            return {'error': {'code': 400, 'err_code': 10060, 'description': 'expected stream does not match'}},
        if self.full:
            return {'error': {'code': 503, 'err_code': 10077, 'description': 'maximum bytes exceeded'}},
        if self.stale and last and headers['Nats-Msg-Id'].count('/') == 3:
            return {'stream': STREAM, 'seq': last, 'duplicate': True},
        if self.dedup and headers['Nats-Msg-Id'] in self.ids:
            return {'stream': STREAM, 'seq': self.ids[headers['Nats-Msg-Id']], 'duplicate': True},
        if int(headers['Nats-Expected-Last-Subject-Sequence']) != last:
            return {'error': {'code': 400, 'err_code': 10071, 'description': f'wrong last sequence: {last}'}},
        self.messages.append(Message(subject, headers, payload))
        self.ids[headers['Nats-Msg-Id']] = len(self.messages)
        return {'stream': STREAM, 'seq': len(self.messages)},

    def request(self, subject, payload):
        if not self.enabled:
            return b'', b'NATS/1.0 503\r\n\r\n'
        if self.missing:
            return {'error': {'code': 404, 'err_code': 10059, 'description': 'stream not found'}},
        if subject == f'STREAM.INFO.{STREAM}':
            return {'config': {'name': STREAM, 'subjects': ['k8s.>'], 'max_msg_size': -1, 'allow_direct': self.direct,
                               **self.config}, 'state': {}},
        with self.lock:
            if subject == f'STREAM.MSG.GET.{STREAM}':
                seq = self.last(json.loads(payload)['last_by_subj'])
                if not seq:
                    return {'error': {'code': 404, 'err_code': 10037, 'description': 'no message found'}},
                message = self.messages[seq - 1]
                return {'message': {'subject': message.subject, 'seq': seq, 'data': base64.b64encode(message.payload).decode(),
                                    'hdrs': base64.b64encode(self.head_of(message)).decode()}},
            if not self.direct:
                return b'', b'NATS/1.0 503\r\n\r\n'
            seq = self.last(subject.removeprefix(f'DIRECT.GET.{STREAM}.'))
            if not seq:
                return b'', b'NATS/1.0 404 Message Not Found\r\n\r\n'
            message = self.messages[seq - 1]
            return message.payload, self.head_of(message, f'Nats-Sequence: {seq}\r\n')

    @staticmethod
    def head_of(message, more=''):
        lines = ''.join(f'{k}: {v}\r\n' for k, v in message.headers.items())
        return f'NATS/1.0\r\n{lines}{more}\r\n'.encode()
