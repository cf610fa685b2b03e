#!/usr/bin/env python3
"""test_state_files.py KUBESIM RECORDINGS INFORMERD: files of the state that are damaged, missing, exchanged or of another run."""
import os
import shutil
import struct
import subprocess
import time
import zlib

from service import DEADLINE, INFORMERD, environment, run, runs_of, wait_until
from state_case import Restarted


def checksum(text):
    """As base/checksum.c has it on x86-64."""
    crc = 0xffffffff
    for byte in text:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


class Tampered(Restarted):
    """Files that were changed while informerd did not run. It starts in any case, START says what was discarded and why, and
    the log has what the server has."""
    HEAD = 24  # of a record, see core/state/state_record.h
    SEGMENT, BATCH_END = 1, 11

    def setUp(self):
        super().setUp()
        self.cache = self.folder / 'state/cache'

    def run_with_files(self):
        """A run that leaves several files, and a copy of all that it has written."""
        self.sim.control('set', history=10**6)
        self.sim.control('fill', resource='configmaps', count=500, bytes=2000)
        daemon = self.start(env={'INFORMERD_TEST_SEGMENT_BYTES': str(64 * 1024)})
        self.wait_ready()
        self.sim.control('churn', resource='configmaps', count=1000, rate=1000)
        wait_until(lambda: self.metrics()['informerd_state_compactions_total'] > 2, 'compactions')
        wait_until(lambda: int(self.sim.control('stats')['resourceVersion']) >= 1600, 'the changes')
        self.wait_equal()
        self.assertEqual(daemon.end(), 0)
        self.segments = sorted(self.cache.glob('*.seg'))
        self.assertGreater(len(self.segments), 2)
        shutil.copytree(self.folder / 'state', self.folder / 'state.saved')
        shutil.copy(self.path, self.folder / 'log.saved')

    def restore(self):
        shutil.rmtree(self.folder / 'state')
        shutil.copytree(self.folder / 'state.saved', self.folder / 'state')
        shutil.copy(self.folder / 'log.saved', self.path)
        self.log = type(self.log)(self.path)

    def run_again(self):
        """What START says. All objects are reported as initial, or exactly the changes."""
        daemon = self.start()
        self.wait_ready()
        start = self.log.wait_for(lambda records: len(runs_of(records)) == 2, 'START') and runs_of(self.log.read())[-1][0]
        discarded = 'state discarded: ' in start['msg'] or 'state not available: ' in start['msg']
        self.wait_equal(since=self.log.records.index(start) if discarded else 0)
        self.assertEqual({origin for _, _, origin in self.changes()}, {'initial'} if discarded else set())
        self.assertEqual(daemon.end(), 0, daemon.stderr_text())
        return start['msg']

    def verify(self):
        """The exit status of `informerd state verify`."""
        return subprocess.run([INFORMERD, 'state', 'verify', '-c', self.write_conf(self.conf())], capture_output=True,
                              timeout=DEADLINE, env=environment(self.folder)).returncode

    def flip(self, segment, at):
        text = bytearray(segment.read_bytes())
        text[at] ^= 1
        segment.write_bytes(text)

    def exchange(self, one, other):
        texts = one.read_bytes(), other.read_bytes()
        one.write_bytes(texts[1])
        other.write_bytes(texts[0])

    def test_files(self):
        self.run_with_files()
        first, middle, *_, last = self.segments
        after = self.cache / f'{int(last.stem) + 1:08}.seg'
        dictionary, = self.cache.glob('*.dict')
        damaged, number = r'state discarded: segment \d+ is damaged at byte \d+', r'at byte \d+: it has another number'
        for name, change, expected in (
                ('a bit of the first file', lambda: self.flip(first, -1000), damaged),
                ('a bit of a head', lambda: self.flip(middle, 5), damaged),
                ('a bit of a dictionary', lambda: self.flip(dictionary, 100), 'state discarded: .*a dictionary is missing'),
                ('the first file is short', lambda: os.truncate(first, 1000), damaged),
                ('the first file is empty', lambda: os.truncate(first, 0), damaged),
                ('two files are exchanged', lambda: self.exchange(first, middle), number),
                ('a file exists twice', lambda: shutil.copy(last, after), number),
                ('a file is a link', lambda: (last.rename(self.folder / 'moved'), last.symlink_to(self.folder / 'moved')),
                 'state not available: open: Too many levels'),
                ('a file is a directory', after.mkdir, 'state not available: remove: Is a directory'),
                ('the first file is missing', first.unlink, 'state discarded: .* is missing|continues from'),  # perhaps it was compacted
                ('a file is missing', middle.unlink, 'state discarded: segment .* is missing'),
                ('the last file is missing', last.unlink, 'state discarded: |continues from'),  # perhaps it is complete without it
                ('the dictionary is missing', dictionary.unlink, 'state discarded: .*a dictionary is missing'),
                ('another key', (self.folder / 'state/key').unlink, 'state discarded: .*another key of hashed values'),
                ('the last bytes are missing', lambda: os.truncate(last, last.stat().st_size - 5), 'continues from .*'
                 r'the last \d+ bytes of the state were incomplete and are discarded'),
                ('other files', lambda: (self.cache / 'README').write_text('a file'), 'continues from the state of .*500 objects'),
                ('a link to the directory', lambda: (self.cache.rename(self.folder / 'away'),
                                                     self.cache.symlink_to(self.folder / 'away')), 'continues from the state of')):
            with self.subTest(name):
                self.restore()
                change()
                verified, start = self.verify(), self.run_again()
                self.assertRegex(start, expected)
                self.assertEqual(verified, 0 if 'continues from' in start else 65, start)

    def rewrite(self, wanted, change):
        """Changes the bodies of all records of a type, with valid checksums."""
        for segment in self.cache.glob('*.seg'):
            text, at = bytearray(segment.read_bytes()), 0
            crc_of = checksum if checksum(text[8:struct.unpack_from('I', text)[0]]) == struct.unpack_from('I', text, 4)[0] else zlib.crc32
            while at < len(text):
                size, _, kind = struct.unpack_from('IIB', text, at)
                if kind == wanted:
                    change(text, at + self.HEAD)
                    struct.pack_into('I', text, at + 4, crc_of(text[at + 8:at + size]))
                at += size
            segment.write_bytes(text)

    def test_another_version(self):
        self.first_run()
        self.rewrite(self.SEGMENT, lambda text, body: struct.pack_into('I', text, body + 8, 3))
        self.assertRegex(self.run_again(), 'state discarded: segment 1 at byte 72: it has another version')

    def test_clock_that_was_set_back(self):
        self.first_run()
        future = time.time_ns() // 1000 + 3600 * 10**6
        self.rewrite(self.BATCH_END, lambda text, body: struct.pack_into('q', text, body, future))
        self.assertRegex(self.run_again(), r'continues from a state of unknown age \(the clock was set back\): 4 objects of 1 streams$')


run(__name__)
