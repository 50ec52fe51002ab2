"""Records as tables of pandas and Arrow."""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator

from ._native import Record, RecordError, Series, from_json


def load(path: str | os.PathLike[str]) -> list[Record]:
    """The records of a `review.json`, or of what `fourcorners review --json` printed."""
    with open(path, encoding="utf-8") as file:
        try:
            return from_json(file.read())
        except (RecordError, UnicodeDecodeError) as error:
            raise RecordError(f"{os.fspath(path)}: {error}") from None


#: The columns of a table of figures, and how Arrow has them.
COLUMNS = {
    "record": "string",
    "drive": "string",
    "method": "string",
    "figure": "string",
    "state": "string",
    "iops": "double",
    "mb_per_s": "double",
    "ios": "uint64",
    "bytes": "uint64",
    "duration_s": "double",
    "mean_queue_depth": "double",
    **{f"latency_{name}_us": "double" for name in ("min", "mean", "p50", "p90", "p99", "p999", "p9999", "max")},
    "write_amplification": "double",
    "effective_op": "double",
    "nameplate_op": "double",
    "joules": "double",
    "complete": "bool",
}


def rows(records: Iterable[Record]) -> list[dict[str, Any]]:
    """A row for each figure of each record, those of replayed traces last."""
    found = []
    for record in _list(records):
        about = {"record": record.id, "drive": record.target.name, "method": record.method}
        for name, figure in record.figures.items():
            found.append({**about, "figure": name, "state": figure.state, **figure.to_dict()})
        for name, replayed in _replayed(record):
            found.append({**about, "figure": name, "state": replayed["state"], **_replay_row(replayed)})
    return found


def _replayed(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """The figures of what was replayed, by name: of several traces with the trace's in front."""
    if record.replay is not None:
        yield from record.replay["figures"].items()
    for trace, replay in record.replays.items():
        for name, figure in replay["figures"].items():
            yield f"{trace}_{name}", figure


def _replay_row(figure: dict[str, Any]) -> dict[str, Any]:
    """A replay in the columns of all other figures; its I/Os a second are those of the time it was busy."""
    all_ios, busy_s = figure["all"], figure["busy_s"]
    return {
        "iops": all_ios["ios"] / busy_s if busy_s > 0 else None,
        "mb_per_s": figure["mb_per_s"],
        "ios": all_ios["ios"],
        "bytes": all_ios["bytes"],
        "duration_s": figure["elapsed_s"],
        "mean_queue_depth": figure["mean_queue_depth"],
        **{f"latency_{name}_us": value for name, value in all_ios["latency_us"].items()},
        "write_amplification": figure.get("write_amplification"),
        "effective_op": None,
        "nameplate_op": None,
        "joules": figure.get("joules"),
        "complete": figure["complete"],
    }


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
