"""A file served by a process of its own, by the kernel's FUSE protocol (linux/fuse.h): nothing has to be installed.

As root: `with Served(...) as path:`. What is read of it is random and always the same; what is written is dropped. With a
`Timed` each I/O takes the time that says, so that the file is a drive of known speed.
"""
import ctypes
import heapq
import os
import random
import select
import signal
import struct
import sys
import tempfile
import time

# `timeout` and service managers end a script by this; what is mounted is to be taken down then, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

LOOKUP, FORGET, GETATTR, OPEN, READ, WRITE, RELEASE = 1, 2, 3, 14, 15, 16, 18
FSYNC, FLUSH, INIT, OPENDIR, BATCH_FORGET = 20, 25, 26, 27, 42

# Answers to INIT: reads and direct I/O may be many at a time, writes large, and requests of so many pages.
ASYNC_READ, BIG_WRITES, ASYNC_DIO, MAX_PAGES = 1 << 0, 1 << 5, 1 << 15, 1 << 22
PAGES = 32
MOST_AT_ONCE = 256

# Answers to OPEN: past the page cache, and writes do not wait for one another.
DIRECT_IO, PARALLEL_WRITES = 1 << 0, 1 << 6


class Timed:
    """`channels` that take an I/O each, whichever is free first: `us` and an exponentially distributed time with the mean
    `more_us` for 4 KiB, `us_per_kib` for each KiB beyond. Wherever the I/Os go, so that it does not matter
    which places a program finds at random."""

    def __init__(self, channels=4, us=400, more_us=100, us_per_kib=1):
        self.free_at = [0] * channels
        self.us, self.more_us, self.us_per_kib = us, more_us, us_per_kib

    def end(self, now, size):
        """When an I/O that comes at `now` is done, ns."""
        us = self.us + random.expovariate(1 / self.more_us) + (size / 1024 - 4) * self.us_per_kib
        end = max(self.free_at[0], now) + int(us * 1000)
        heapq.heapreplace(self.free_at, end)
        return end


class Served:
    """The file `served` of `size` bytes in a folder of its own, while it is entered."""

    def __init__(self, size, timed=None):
        self.size, self.timed = size, timed

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            device = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            sys.exit(f"/dev/fuse: {error.strerror}: a file is served by FUSE, which takes root and the kernel's module")
        self.folder = tempfile.mkdtemp()
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={PAGES * 4096}"
        flags = 2 | 4  # MS_NOSUID | MS_NODEV
        if libc.mount(b"served", self.folder.encode(), b"fuse", flags, options.encode()) != 0:
            os.rmdir(self.folder)
            sys.exit(f"cannot mount a FUSE file system, which takes root: {os.strerror(ctypes.get_errno())}")
        self.process = os.fork()
        if self.process == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            try:
                self._serve(device)
            finally:
                os._exit(0)
        os.close(device)
        return os.path.join(self.folder, "served")

    def __exit__(self, *_):
        libc = ctypes.CDLL(None)
        libc.umount2(self.folder.encode(), 2)  # MNT_DETACH
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.rmdir(self.folder)

    def _attr(self, node):
        folder = node == 1
        mode = 0o40755 if folder else 0o100644
        size = 0 if folder else self.size
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512, 0, 0, 0,
                           0, 0, 0, mode, 2 if folder else 1, 0, 0, 0, 4096, 0)

    def _serve(self, device):
        os.set_blocking(device, False)
        incoming = select.poll()
        incoming.register(device, select.POLLIN)
        self.data = os.urandom(1 << 20)
        waiting = []
        while True:
            # The processor is not given up while an I/O is due soon: it would be given back late.
            while waiting and waiting[0][0] <= time.monotonic_ns():
                os.write(device, heapq.heappop(waiting)[2])
            try:
                message = os.read(device, (PAGES + 1) * 4096)
            except BlockingIOError:
                if not waiting:
                    incoming.poll()
                continue
            except OSError:
                return
            self._take(device, message, waiting)

    def _take(self, device, message, waiting):
        length, opcode, unique, node = struct.unpack_from("<IIQQ", message)
        error, answer, io = 0, b"", None
        if opcode == READ:
            _, offset, size = struct.unpack_from("<QQI", message, 40)
            answer, io = self.data[offset % len(self.data):][:size].ljust(size, b"\0"), size
        elif opcode == WRITE:
            io, = struct.unpack_from("<I", message, 56)
            answer = struct.pack("<II", io, 0)
        elif opcode == INIT:
            flags = ASYNC_READ | BIG_WRITES | ASYNC_DIO | MAX_PAGES
            answer = struct.pack("<IIIIHHIIHHI28x", 7, 31, 1 << 20, flags, MOST_AT_ONCE, MOST_AT_ONCE,
                                 PAGES * 4096, 1, PAGES, 0, 0)
        elif opcode == LOOKUP and message[40:length].rstrip(b"\0") == b"served":
            answer = struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + self._attr(2)
        elif opcode == GETATTR:
            answer = struct.pack("<QII", 3600, 0, 0) + self._attr(node)
        elif opcode in (OPEN, OPENDIR):
            answer = struct.pack("<QII", 1, DIRECT_IO | PARALLEL_WRITES, 0)
        elif opcode in (FORGET, BATCH_FORGET):
            return  # want no answer
        elif opcode not in (RELEASE, FLUSH, FSYNC):
            error = -2 if opcode == LOOKUP else -38
        answer = struct.pack("<IiQ", 16 + len(answer), error, unique) + answer
        if io and self.timed:
            heapq.heappush(waiting, (self.timed.end(time.monotonic_ns(), io), unique, answer))
        else:
            os.write(device, answer)
