"""A file that is the new one, whole, or the one before, whatever happens while it is written: `machine/src/save.rs` in Python."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from pathlib import Path
from typing import IO, Iterator, Sequence

from ._native import Error

#: How the names of files begin that are to be renamed, and how many letters follow, as in `save.rs`, which removes those that
#: nobody has locked any more.
_PREFIX, _LETTERS = ".fourcorners-", 24


@contextlib.contextmanager
def whole(path: Path, temporary: Path | None = None) -> Iterator[IO[bytes]]:
    """A file that is written whole, or that is the one before, also after a loss of power.

    A link stays one: what it points at is replaced. A pipe, a terminal and the kernel's sinks are written to, since a file would
    take their place; any other device is refused.
    """
    why = may_not_write(path)
    if why is not None:
        raise Error(why)
    there = path.stat() if path.exists() else None
    if there is not None and not stat.S_ISREG(there.st_mode):
        with _written_to(path) as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    if temporary is None:
        temporary = path.with_name(_PREFIX + secrets.token_hex(_LETTERS // 2))
    try:
        with open(temporary, "wb") as file:
            # Where files cannot be locked, nobody looks for a lock either.
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if there is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.rename(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _written_to(path: Path) -> Iterator[IO[bytes]]:
    """What is no file gets the content once it is whole: who makes it may have to know where it is, which a pipe does not say."""
    with tempfile.TemporaryFile() as content:
        yield content
        content.seek(0)
        with open(os.open(path, os.O_WRONLY | os.O_NOCTTY), "wb") as file:
            shutil.copyfileobj(content, file)


def _is_a_sink(there: os.stat_result) -> bool:
    """Whether what is written there goes to somebody who reads it, or nowhere: null, zero, full, terminals, serial lines and those
    of virtual machines (Documentation/admin-guide/devices.txt)."""
    if not stat.S_ISCHR(there.st_mode):
        return not stat.S_ISBLK(there.st_mode)
    major, minor = os.major(there.st_rdev), os.minor(there.st_rdev)
    return minor in (3, 5, 7) if major == 1 else major in (4, 5, 204, 229) or 136 <= major <= 143


def begins(path: Path, length: int) -> bytes:
    """How a file begins. What is no file is not opened: a pipe would be waited for, and what is in it is somebody else's."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with open(path, "rb") as file:
            return file.read(length)
    except FileNotFoundError:
        return b""


def may_not_write(path: Path, inputs: Sequence[Path] = ()) -> str | None:
    """Why a file cannot be written there, as far as that is known before: what is read for it stays, and no folder is made."""
    for given in inputs:
        if path.is_file() and given.exists() and path.samefile(given):
            return f"{path}: this would replace {given}, which is read for it; name another file"
    if path.is_dir():
        return f"{path}: it is a folder; name a file in it"
    if path.exists() and not path.is_file():
        return None if _is_a_sink(path.stat()) else f"{path}: it is a device; name a file"
    # A link that points nowhere is written where it points.
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        return f"{folder}: there is no such folder; make it first"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder}: no file can be made in this folder; name another one"
    return None
