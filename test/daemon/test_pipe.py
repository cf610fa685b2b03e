#!/usr/bin/env python3
"""test_pipe.py KUBESIM RECORDINGS INFORMERD: readers of stdout and of FIFOs that are slow or blocked."""
import json
import os
import select
import signal
import subprocess
import threading
import time

from service import CHANGES, DEADLINE, Case, fold, run, wait_until

FIRST = 101  # the version of kubesim's first object


class Pipe(Case):
    arguments = ('--history', '3000')

    def setUp(self):
        super().setUp()
        self.sim.control('fill', resource='configmaps', count=100, bytes=400)

    def conf(self, **changes):
        return super().conf(event_logs=[{'path': 'stdout', 'object': 'full'}], **changes)

    def churn(self, count):
        last = int(self.sim.control('stats')['resourceVersion']) + count
        self.sim.control('churn', resource='configmaps', count=count)
        wait_until(lambda: int(self.sim.control('stats')['resourceVersion']) == last, 'the changes')

    def asleep(self, **more):
        """An informerd whose reader is stopped while far more changes happen than can be buffered."""
        daemon = self.start(self.conf(**more), stdout=subprocess.PIPE)
        self.wait_ready()
        for _ in range(8):
            self.churn(1000)
        self.wait_held()
        return daemon

    def wake(self, daemon):
        """Reads everything until the end; returns the records so far."""
        records = []
        def read():
            for line in daemon.child.stdout:
                records.append(json.loads(line))
        reader = threading.Thread(target=read)
        reader.start()
        self.stack.callback(reader.join)
        return records, reader


class Asleep(Pipe):
    def test_blocked_reader_bounds_memory_and_holds_the_server(self):
        daemon = self.asleep()
        before = daemon.resident()
        sent = self.sim.control('stats')['sent']
        for _ in range(5):
            self.churn(3000)
        self.assertLess(daemon.resident() - before, 16 * 1024 * 1024)
        self.assertLess(self.sim.control('stats')['sent'] - sent, 8 * 1024 * 1024)  # what sockets buffer
        self.assertLess(self.metrics()['informerd_log_unwritten_bytes'], 4 * 1024 * 1024)
        self.assertIn('[-] sim/configmaps: held', self.get('/readyz').text)

    def test_late_reader_gets_everything_or_a_gap(self):
        daemon = self.asleep()
        for _ in range(12):  # so many that the server's history does not have them any more
            self.churn(3000)
        self.sim.control('close', how='reset')
        records, reader = self.wake(daemon)
        self.wait_ready()
        want = self.on_server()
        wait_until(lambda: fold(list(records)) == want, 'what the server has')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        reader.join()
        numbers = [r['seq'] for r in records]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        holes = [i for i, r in enumerate(records) if r['type'] in ('RELIST', 'GAP')]
        self.assertTrue(holes)
        before = [int(r['rv']) for r in records[:holes[0]] if r['type'] in CHANGES]
        self.assertEqual(before, list(range(FIRST, FIRST + len(before))))

    def test_reader_that_continues_in_time_misses_nothing(self):
        self.sim.control('set', history=100000)
        daemon = self.asleep()
        records, reader = self.wake(daemon)
        last = int(self.sim.control('stats')['resourceVersion'])
        wait_until(lambda: records and records[-1].get('rv') == str(last), 'the last change')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        reader.join()
        versions = [int(r['rv']) for r in records if r['type'] in CHANGES]
        self.assertEqual(versions, list(range(FIRST, last + 1)))
        self.assertEqual({r['type'] for r in records} - set(CHANGES), {'START', 'SYNCED', 'STOP'})


class Stopped(Pipe):
    def test_first_signal_waits_for_the_reader(self):
        daemon = self.asleep(drain_timeout='1h')
        daemon.send_signal(signal.SIGTERM)
        wait_until(lambda: self.sim.control('stats')['watches']['open'] == 0, 'the watches being closed')
        records, reader = self.wake(daemon)
        self.assertEqual(daemon.status(), 0, daemon.stderr_text())
        reader.join()
        self.assertEqual(records[-1]['type'], 'STOP')
        self.assertEqual([r['seq'] for r in records], list(range(1, len(records) + 1)))

    def test_second_signal_does_not_wait_for_the_reader(self):
        daemon = self.asleep(drain_timeout='1h')
        daemon.send_signal(signal.SIGTERM)
        wait_until(lambda: self.sim.control('stats')['watches']['open'] == 0, 'the first signal being handled')
        self.assertEqual(daemon.end(), 128 + signal.SIGTERM)

    def test_exits_after_drain_timeout(self):
        daemon = self.asleep(drain_timeout='1s')
        start = time.monotonic()
        self.assertEqual(daemon.end(), 74)
        self.assertGreaterEqual(time.monotonic() - start, 0.9)
        self.assertRegex(daemon.stderr_text(), r'stopping with \d+ bytes of records not written')

    def test_closed_stdout_ends_the_service_with_a_failure(self):
        daemon = self.start(self.conf(), stdout=subprocess.PIPE)
        self.wait_ready()
        daemon.child.stdout.close()
        self.churn(100)
        self.assertEqual(daemon.status(), 74)
        self.assertIn('stdout: broken pipe', daemon.stderr_text())


class Fifos(Pipe):
    """More FIFOs than libuv has threads by default, each opened by a reader that never reads."""
    COUNT = 6

    def setUp(self):
        super().setUp()
        self.fifos = [self.folder / f'fifo-{i}' for i in range(self.COUNT)]
        self.readers = []
        for fifo in self.fifos:
            os.mkfifo(fifo)
            self.readers.append(os.open(fifo, os.O_RDONLY | os.O_NONBLOCK))
            self.stack.callback(os.close, self.readers[-1])

    def conf(self, **changes):
        """Only the healthy log has the secrets."""
        watches = [{'resource': 'configmaps'}, {'resource': 'secrets'}]
        logs = [{'path': str(fifo), 'object': 'full', 'watches': ['configmaps']} for fifo in self.fifos]
        return Case.conf(self, watches=watches, event_logs=[*logs, {'path': str(self.path)}], **changes)

    def stuck(self, **more):
        """An informerd with full FIFOs and waiting lines."""
        daemon = self.start(self.conf(**more))
        wait_until(lambda: self.log.types('configmaps')['SYNCED'], 'the first list')
        self.churn(500)
        wait_until(lambda: self.unwritten() > 6 * 64 * 1024, 'full FIFOs')
        return daemon

    def unwritten(self):
        return self.metrics()['informerd_log_unwritten_bytes']

    def last_is_written(self):
        last = self.sim.control('stats')['resourceVersion']
        wait_until(lambda: any(r.get('rv') == last for r in self.log.read()), 'the last change in the healthy log')

    def test_blocked_fifos_do_not_delay_another_log(self):
        self.stuck()
        self.last_is_written()
        self.sim.control('fill', resource='secrets', count=10, bytes=100)
        self.last_is_written()

    def test_blocked_fifos_do_not_delay_the_state(self):
        """It is written by the same threads as files."""
        self.stuck()
        self.sim.control('fill', resource='secrets', count=100, bytes=10)
        wait_until(lambda: self.metrics()['informerd_state_objects'] == 200, 'the secrets in the state')
        self.assertEqual(self.metrics()['informerd_state_active'], 1)

    def test_exit_completes_other_logs_and_names_blocked_fifos(self):
        daemon = self.stuck(drain_timeout='2s')
        self.last_is_written()
        daemon.send_signal(signal.SIGTERM)
        wait_until(lambda: self.log.types()['STOP'], 'the last record of the healthy log')
        self.assertTrue(daemon.alive())
        self.assertEqual(daemon.status(), 74)
        for fifo in self.fifos:
            self.assertRegex(daemon.stderr_text(), rf'event log {fifo}: \d+ lines not written')
        self.assertNotIn(f'event log {self.path}: ', daemon.stderr_text())

    def test_fifos_are_complete_when_they_are_read(self):
        daemon = self.stuck(drain_timeout='1h')
        daemon.send_signal(signal.SIGTERM)
        texts = {reader: b'' for reader in self.readers}
        while texts.keys() & (ready := select.select(self.readers, [], [], 0)[0]) or daemon.alive():
            for reader in ready:
                texts[reader] += (piece := os.read(reader, 1 << 16))
                if not piece and not daemon.alive():
                    self.readers.remove(reader)
        self.assertEqual(daemon.status(), 0, daemon.stderr_text())
        want = [r['seq'] for r in self.log.read() if r.get('watch') != 'secrets']
        for text in texts.values():
            self.assertEqual([json.loads(line)['seq'] for line in text.splitlines()], want)


class Shared(Case):
    """Two watches of the same objects share one stream, until the log of one can't be written."""
    arguments = ('--history', '100000')

    def test_a_blocked_log_of_one_does_not_stop_the_other(self):
        fifo = self.folder / 'fifo'
        os.mkfifo(fifo)
        self.reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.stack.callback(os.close, self.reader)
        self.sim.control('fill', resource='configmaps', count=100, bytes=400)
        watches = [{'name': 'blocked', 'resource': 'configmaps'}, {'name': 'healthy', 'resource': 'configmaps'}]
        logs = [{'path': str(fifo), 'object': 'full', 'watches': ['blocked']}, {'path': str(self.path), 'watches': ['healthy']}]
        daemon = self.start(self.conf(watches=watches, event_logs=logs))
        self.wait_ready()
        self.assertEqual(self.sim.control('stats')['watches']['open'], 1)
        self.sim.control('churn', resource='configmaps', count=9000)
        self.log.wait_for(lambda all: sum(r['type'] in CHANGES for r in all) == 9100, 'the healthy watch')
        self.assertRegex(self.get('/readyz').text, r'\[-\] sim/blocked: held.*\n\[\+\] sim/healthy: live')
        self.assertEqual(daemon.stderr_text().count('now uses a separate stream'), 1)
        records = Memory.read_until(self, lambda all: sum(r['type'] in CHANGES for r in all) == 9100)
        versions = [r['rv'] for r in self.log.read() if r['type'] in CHANGES]
        self.assertEqual([r['rv'] for r in records if r['type'] in CHANGES], versions)
        self.assertEqual({r['type'] for r in records} - set(CHANGES), {'START', 'SYNCED'})
        self.wait_ready()
        self.assertEqual(self.sim.control('stats')['watches']['open'], 2)
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


class Memory(Case):
    """Many streams feed a log that is not read: together they may use memory.backlog, small ones go on."""
    arguments = ('--history', '100000')
    LIMIT = 16 * 1024 * 1024
    NAMESPACES = 8

    def setUp(self):
        super().setUp()
        fifo = self.folder / 'fifo'
        os.mkfifo(fifo)
        self.reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.stack.callback(os.close, self.reader)
        self.sim.control('fill', resource='configmaps', count=40, bytes=20000, namespaces=self.NAMESPACES)
        self.sim.control('fill', resource='secrets', count=10, bytes=100)
        namespaces = [f'ns-{i:02}' for i in range(self.NAMESPACES)]
        self.settings = {'watches': [{'resource': 'configmaps', 'namespaces': namespaces}, {'resource': 'secrets'}],
                         'event_logs': [{'path': str(fifo), 'object': 'full', 'max_line': '1M', 'watches': ['configmaps']},
                                        {'path': str(self.path), 'watches': ['secrets']}]}

    def backlog(self, name):
        return self.metrics()[f'informerd_backlog_{name}']

    def read_until(self, true):
        """The records of the FIFO, up to that one."""
        records, rest = [], b''
        def there():
            nonlocal rest
            while select.select([self.reader], [], [], 0)[0]:
                *lines, rest = (rest + os.read(self.reader, 1 << 20)).split(b'\n')
                records.extend(map(json.loads, lines))
            return true(records)
        wait_until(there, lambda: f'all records; {len(records)} came')
        return records

    def test_largest_streams_are_held_and_others_continue(self):
        daemon = self.start(self.conf(memory={'backlog': '16M'}, **self.settings))
        self.wait_ready()
        before = daemon.resident()
        self.sim.control('churn', resource='configmaps', count=6000)
        wait_until(lambda: self.backlog('held_streams') > 0, 'streams that are held')
        self.assertEqual(self.backlog('limit_bytes'), self.LIMIT)
        self.assertGreaterEqual(self.backlog('limit_reached_total'), 1)
        self.assertLess(self.backlog('bytes'), 2 * self.LIMIT)
        self.assertLess(daemon.resident() - before, 4 * self.LIMIT)
        self.assertIn('memory.backlog: ', daemon.stderr_text())
        self.sim.control('churn', resource='secrets', count=500)
        self.log.wait_for(lambda all: sum(r['type'] in CHANGES for r in all) == 10 + 500, 'the other watch')
        self.assertEqual(self.get('/readyz').status, 503)
        self.write_conf(self.conf(memory={'backlog': '1G'}, **self.settings))
        daemon.send_signal(signal.SIGHUP)
        wait_until(lambda: self.backlog('limit_bytes') == 1 << 30 and self.backlog('held_streams') == 0, 'the new limit')
        records = self.read_until(lambda all: sum(r['type'] in CHANGES for r in all) == 40 + 6000)
        self.assertEqual(len({r['rv'] for r in records if r['type'] in CHANGES}), 40 + 6000)
        wait_until(lambda: self.backlog('bytes') == 0, 'an empty backlog')
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())

    def test_a_limit_that_is_exceeded_again_and_again_is_logged_once(self):
        daemon = self.start(self.conf(memory={'backlog': '16M'}, **self.settings))
        self.wait_ready()
        for times in (1, 2):
            self.sim.control('churn', resource='configmaps', count=3000)
            wait_until(lambda: self.backlog('limit_reached_total') >= times, 'the limit')
            expected = 3000 + (40 if times == 1 else 0)
            self.read_until(lambda all: sum(r['type'] in CHANGES for r in all) >= expected)
        wait_until(lambda: self.backlog('bytes') == 0, 'an empty backlog')
        self.assertEqual(daemon.stderr_text().count('memory.backlog: '), 2, daemon.stderr_text())  # exceeded, and below it again
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())


run(__name__)
