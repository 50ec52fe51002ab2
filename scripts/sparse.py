"""The hash of a sparse file: of all that is in it and not zero, with its place. As fast as there is little in it."""
import hashlib
import os

PIECE = 1 << 16


def sparse_hash(path):
    total, zero = hashlib.blake2b(), bytes(PIECE)
    with open(path, "rb", buffering=0) as file:
        at, end = 0, os.fstat(file.fileno()).st_size
        while at < end:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // PIECE * PIECE
            except OSError:  # there is no more
                break
            hole = max(os.lseek(file.fileno(), at, os.SEEK_HOLE), at + 1)
            while at < hole:
                piece = os.pread(file.fileno(), PIECE, at)
                if piece != zero[:len(piece)]:
                    total.update(at.to_bytes(8, "little") + piece)
                at += PIECE
    return total.hexdigest()
