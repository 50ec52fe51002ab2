"""A client of network block devices, as small as the tests need: the fixed newstyle handshake and simple replies."""

import re
import socket
import struct

OPTION, REPLY, REQUEST, SIMPLE = 0x49484156454F5054, 0x3E889045565A9, 0x25609513, 0x67446698
STARTTLS, GO, ACK, INFO, EXPORT = 5, 7, 1, 3, 0
READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6


class Client:
    """A connection to a server, by its URI; encrypted with an `ssl.SSLContext`."""

    def __init__(self, uri, context=None):
        if uri.startswith("nbd+unix"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(re.search(r"socket=(.*)", uri)[1])
        else:
            host, port = re.fullmatch(r"nbds?://(.*):(\d+)/?", uri).groups()
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(30)
        self.handle = 0
        assert self._take(8) == b"NBDMAGIC"
        self._take(10)
        # Fixed newstyle, without the padding of zeros.
        self.socket.sendall(struct.pack(">I", 3))
        if context is not None:
            self.socket.sendall(struct.pack(">QII", OPTION, STARTTLS, 0))
            assert struct.unpack(">QIII", self._take(20)) == (REPLY, STARTTLS, ACK, 0)
            self.socket = context.wrap_socket(self.socket, server_hostname="127.0.0.1")
        self.socket.sendall(struct.pack(">QIIIH", OPTION, GO, 6, 0, 0))
        self.bytes = None
        while True:
            magic, _, kind, length = struct.unpack(">QIII", self._take(20))
            assert magic == REPLY
            data = self._take(length)
            if kind == INFO and struct.unpack(">H", data[:2])[0] == EXPORT:
                self.bytes = struct.unpack(">Q", data[2:10])[0]
            if kind == ACK:
                return
            assert kind == INFO, hex(kind)

    def _take(self, length):
        data = b""
        while len(data) < length:
            part = self.socket.recv(length - len(data))
            assert part, "the server has gone"
            data += part
        return data

    def _ask(self, kind, offset, length, data=b"", fua=False):
        self.handle += 1
        self.socket.sendall(struct.pack(">IHHQQI", REQUEST, int(fua), kind, self.handle, offset, length) + data)
        magic, error, handle = struct.unpack(">IIQ", self._take(16))
        assert (magic, handle) == (SIMPLE, self.handle)
        return error

    def write(self, offset, data, fua=False):
        """The error, 0 of none."""
        return self._ask(WRITE, offset, len(data), data, fua)

    def write_zeroes(self, offset, length):
        return self._ask(ZEROES, offset, length)

    def read(self, offset, length):
        error = self._ask(READ, offset, length)
        assert error == 0, error
        return self._take(length)

    def flush(self):
        return self._ask(FLUSH, 0, 0)

    def close(self):
        self.socket.sendall(struct.pack(">IHHQQI", REQUEST, 0, DISCONNECT, 0, 0, 0))
        self.socket.close()
