"""The database of results as tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterator

from . import _frames
from ._extras import needs
from ._native import Results, ResultsError

#: What a row says of its record, and how a table has it; before the columns that all tables of figures have.
_ABOUT = {
    "record": "string",
    "started_at": "string",
    "drive": "string",
    "title": "string",
    "kind": "string",
    "capacity_bytes": "uint64",
    "model": "string",
    "serial": "string",
    "firmware": "string",
    "profile_hash": "string",
    "set_up": "string",
    "clock": "string",
    "method": "string",
    "quick": "bool",
    "ended": "string",
    "seed": "uint64",
    "version": "string",
}
#: Records that are in memory at a time: a long series makes one of them megabytes.
_AT_A_TIME = 256


def to_pandas(results: Results, **filters: Any):
    """The figures of the records of a filter as a pandas DataFrame."""
    needs("pandas", "frames", "to_pandas")
    return to_arrow(results, **filters).to_pandas()


def to_arrow(results: Results, **filters: Any):
    """The same as a table of Arrow."""
    pyarrow = needs("pyarrow", "frames", "to_arrow")
    schema = _schema()
    tables = [pyarrow.Table.from_pylist(rows, schema) for rows in _rows(results, filters)]
    return pyarrow.concat_tables(tables) if tables else schema.empty_table()


def to_parquet(results: Results, file: str | os.PathLike[str], **filters: Any) -> int:
    """The same as a Parquet file, whole or the one before; how many rows. What is there and no Parquet file stays, and is said."""
    pyarrow = needs("pyarrow", "frames", "to_parquet")
    needs("pyarrow.parquet", "frames", "to_parquet")
    from ._files import begins, whole

    if begins(Path(file), 4) not in (b"", b"PAR1"):
        raise ResultsError(f"{os.fspath(file)} exists and is no Parquet file: name another one, or remove it")
    schema, count = _schema(), 0
    with whole(Path(file)) as out, pyarrow.parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for rows in _rows(results, filters):
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
            count += len(rows)
    return count


def _rows(results: Results, filters: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """A row for each figure of each record, some hundred records at a time."""
    listed = results.list(**filters)
    for at in range(0, len(listed), _AT_A_TIME):
        rows = []
        for summary in listed[at : at + _AT_A_TIME]:
            about = {"record": summary.id, **summary.to_dict()}
            rows += [{**about, **row} for row in _frames.rows([results.get(summary.id)])]
        yield rows


def _schema():
    """The columns, whatever is in them."""
    import pyarrow

    figures = {name: _frames.COLUMNS[name] for name in _frames.COLUMNS if name not in _ABOUT}
    types = {"string": pyarrow.string(), "uint64": pyarrow.uint64(), "bool": pyarrow.bool_(), "double": pyarrow.float64()}
    return pyarrow.schema([(name, types[kind]) for name, kind in {**_ABOUT, **figures}.items()])
