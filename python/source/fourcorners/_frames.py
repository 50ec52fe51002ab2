"""Records as tables of pandas and Arrow."""

from __future__ import annotations

import os
from typing import Any, Iterable

from ._native import Record, RecordError, Series, from_json


def load(path: str | os.PathLike[str]) -> list[Record]:
    """The records of a `review.json`, or of what `fourcorners review --json` printed."""
    with open(path, encoding="utf-8") as file:
        try:
            return from_json(file.read())
        except (RecordError, UnicodeDecodeError) as error:
            raise RecordError(f"{os.fspath(path)}: {error}") from None


def rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """A row for each figure of each record."""
    return [
        {
            "record": record.id,
            "drive": record.target.name,
            "method": record.method,
            "figure": name,
            "state": figure.state,
            **figure.to_dict(),
        }
        for record in _list(records)
        for name, figure in record.figures.items()
    ]


def to_pandas(records: Record | Iterable[Record]):
    """The figures of records as a pandas DataFrame, a row each."""
    import pandas

    return pandas.DataFrame(rows(_list(records)))


def to_arrow(records: Record | Iterable[Record]):
    """The figures of records as a table of Arrow, a row each."""
    import pyarrow

    return pyarrow.Table.from_pylist(rows(_list(records)))


def series_to_pandas(series: Series):
    """A series as a pandas DataFrame, a row a second. The columns are views where pandas lets them."""
    import pandas

    columns = {
        "iops": series.iops,
        "mb_per_s": series.mb_per_s,
        "latency_mean_us": series.latency_mean_us,
        "latency_max_us": series.latency_max_us,
    }
    if len(series.energy_j) == len(series.iops) and len(series.iops) > 0:
        columns["energy_j"] = series.energy_j
    index = pandas.RangeIndex(1, len(series.iops) + 1, name="second")
    return pandas.DataFrame(columns, index=index, copy=False)


def _list(records: Record | Iterable[Record]) -> Iterable[Record]:
    return [records] if isinstance(records, Record) else records
