#!/usr/bin/env python3
"""test_api_crowd.py KUBESIM RECORDINGS INFORMERD: many watches of the local API, some of which are not read."""
import contextlib
import json
import selectors
import socket
import time

from service import DEADLINE, FULL, Case, run, wait_until

MIB = 1024 * 1024
WATCHES, STUCK = (500, 10) if FULL else (60, 10)
ROUNDS, CHANGES = 20, 50
STALL = 30  # seconds after which a client that reads nothing is disconnected


class Crowd(Case):
    def connect(self, version, receive=None):
        sock = self.stack.enter_context(contextlib.closing(socket.socket(socket.AF_UNIX)))
        sock.settimeout(DEADLINE)
        if receive:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        sock.connect(str(self.socket))
        sock.sendall(f'GET /api/v1/configmaps?watch=1&resourceVersion={version} HTTP/1.0\r\n\r\n'.encode())
        return sock

    def read_all(self, socks, lines):
        """Reads until each socket has got this many lines in all."""
        with selectors.DefaultSelector() as selector:
            for sock in socks:
                if self.lines[sock] < lines:
                    selector.register(sock, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(DEADLINE)
                self.assertTrue(ready, f'{len(selector.get_map())} watches wait')
                for key, _ in ready:
                    piece = key.fileobj.recv(1 << 20)
                    self.assertTrue(piece, 'a watch that reads was ended')
                    self.lines[key.fileobj] += piece.count(b'}\n')
                    if self.lines[key.fileobj] >= lines:
                        selector.unregister(key.fileobj)

    def test_stuck_watches_are_ended_and_delay_no_other(self):
        self.sim.control('fill', resource='configmaps', count=100, bytes=3000)
        daemon = self.start(self.conf(api={'history': 100}, state={'enabled': False}))
        self.wait_ready()
        version = json.loads(self.get('/api/v1/configmaps').text)['metadata']['resourceVersion']
        began = time.monotonic()
        stuck = [self.connect(version, 4096) for _ in range(STUCK)]
        socks = [self.connect(version) for _ in range(WATCHES - STUCK)]
        self.lines = dict.fromkeys(socks, 0)
        wait_until(lambda: self.metrics(), 'metrics')
        before = daemon.resident()
        for i in range(ROUNDS):
            self.sim.control('churn', resource='configmaps', count=CHANGES)
            self.read_all(socks, (i + 1) * CHANGES)
        for sock in socks:
            self.assertEqual(self.lines[sock], ROUNDS * CHANGES)
        self.assertLess(daemon.resident() - before, 64 * MIB)
        for sock in stuck:
            text = b''
            while piece := sock.recv(1 << 20):
                text += piece
            last = json.loads(text[:text.rindex(b'\n')].splitlines()[-1])
            if last['type'] != 'ERROR':
                self.assertGreater(time.monotonic() - began, STALL)  # a slow machine
            else:
                self.assertEqual(last['object']['code'], 410)


run(__name__)
