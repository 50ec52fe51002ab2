"""A folder of Parquet files to which rows are added as they arrive.

A Parquet file cannot be added to, so rows that arrived together become a file of their own: whole
and synced under a temporary name, then renamed. Whatever is there is whole.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Any, Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from ._files import whole
from ._task import COLUMNS, KEPT

#: Rows arrive in files of this many, or of what came in this time.
ROWS_A_FILE = 1000
SECONDS_A_FILE = 5.0

_TEMPORARY = ".fourcorners-part.tmp"

_TYPES = {
    "text": pa.string(),
    "number": pa.float64(),
    "count": pa.uint64(),
    "truth": pa.bool_(),
    "counts": pa.list_(pa.uint64()),
    "numbers": pa.list_(pa.float64()),
    "long text": pa.large_string(),
}
#: What was measured, by column. Parameters of the grid come before these.
MEASURED = pa.schema([(name, _TYPES[kind]) for name, kind in {**COLUMNS, **KEPT}.items()])


def table_of(rows: list[dict[str, Any]], axes: list[str]) -> pa.Table:
    """Rows as a table; a parameter whose values are of several types becomes text."""
    columns = {}
    for axis in axes:
        values = [row.get(axis) for row in rows]
        try:
            # Seeds have 64 bits, of which Arrow would take 63.
            columns[axis] = pa.array(values, pa.uint64() if axis == "seed" else None)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            try:
                columns[axis] = pa.array([None if v is None else float(v) for v in values])
            except (TypeError, ValueError):
                columns[axis] = pa.array([None if v is None else str(v) for v in values])
    for field in MEASURED:
        if field.name in KEPT and not any(field.name in row for row in rows):
            continue
        columns[field.name] = pa.array([row.get(field.name) for row in rows], field.type)
    return pa.table(columns)


class Folder:
    """The folder of a sweep, while it is written."""

    def __init__(self, path: Path, axes: list[str]) -> None:
        self.path, self.axes = path, axes
        #: Several threads may add to it.
        self._adding = threading.Lock()
        self._rows: list[dict[str, Any]] = []
        #: When the first of them arrived.
        self._since = 0.0
        path.mkdir(parents=True, exist_ok=True)
        self._lock = open(path / ".lock", "w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise BlockingIOError(
                f"{path}: another sweep writes here; wait for it, or give another folder"
            ) from None
        # Left by a process that was killed; no other writes here.
        (path / _TEMPORARY).unlink(missing_ok=True)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Adds rows, which may be none: what arrived before is put into a file when it is late."""
        with self._adding:
            if not self._rows:
                self._since = time.monotonic()
            self._rows.extend(rows)
            late = time.monotonic() - self._since > SECONDS_A_FILE
            if len(self._rows) >= ROWS_A_FILE or late:
                self._flush()

    def flush(self) -> None:
        """Puts what arrived since into a file."""
        with self._adding:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        part = self.path / f"part-{time.time_ns():020}-{os.getpid()}.parquet"
        with whole(part, self.path / _TEMPORARY) as file:
            pq.write_table(table_of(self._rows, self.axes), file, compression="zstd")
        self._rows = []

    def close(self) -> None:
        self._lock.close()


def parts(path: Path) -> list[Path]:
    return sorted(path.glob("part-*.parquet"))


def places(path: Path) -> dict[str, Path]:
    """The keys of all runs whose results are there, and where each is."""
    found: dict[str, Path] = {}
    for part in parts(path):
        try:
            found.update(dict.fromkeys(pq.read_table(part, columns=["key"])["key"].to_pylist(), part))
        except (pa.ArrowException, KeyError) as error:
            raise ValueError(
                f"{part} is no part of a sweep: {error}; move it away, and its runs are run again"
            ) from None
    return found


def keys(path: Path) -> set[str]:
    """The keys of all runs whose results are there."""
    return set(places(path))


def rows_of(part: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a file, by key."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in pq.read_table(part).to_pylist():
        found.setdefault(row["key"], []).append(row)
    return found


def read(path: Path) -> pa.Table | None:
    """All rows that are there; `None` of an empty folder."""
    tables = [pq.read_table(part) for part in parts(path)]
    if not tables:
        return None
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException:
        # A parameter that was a number in one sweep and a word in another is text in both.
        names = {name for table in tables for name in table.column_names}
        axes = [name for name in names if name not in MEASURED.names]
        rows = [row for table in tables for row in table.to_pylist()]
        return table_of(rows, sorted(axes))
