"""Records as tables of pandas and Arrow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Iterator

from ._extras import needs
from ._html import Records
from ._native import Choice, Diagnosis, Record, RecordError, Series, Trace, from_json


#: Documents of a folder, in the order they are read.
DOCUMENTS = ("review.json", "replay.json")


def load(path: str | os.PathLike[str]) -> list[Record]:
    """The records of a `review.json`, of what `fourcorners review --json` printed, or of a folder that a review or a replay has
    written."""
    found = Records()
    for document in documents(Path(path)):
        try:
            with open(document, encoding="utf-8") as file:
                found += from_json(file.read())
        except OSError as error:
            raise RecordError(f"{document}: cannot be read: {error.strerror}") from None
        except (RecordError, UnicodeDecodeError) as error:
            raise RecordError(f"{document}: {error}") from None
    return found


def documents(path: Path) -> list[Path]:
    """The files that `load` reads."""
    if not path.is_dir():
        return [path]
    found = [path / name for name in DOCUMENTS if (path / name).is_file()]
    if found:
        return found
    below = sorted(inner.name for inner in path.glob("*/") if any((inner / name).is_file() for name in DOCUMENTS))
    hint = f"; name one of the folders in it, for example {path / below[0]}" if below else ""
    raise RecordError(f"{path}: it has no {' or '.join(DOCUMENTS)}{hint}")


#: The columns of a table of figures, and how Arrow has them. `iops`, `mb_per_s` and `mean_queue_depth` are over `busy_s`: of a
#: replay the time with at least one I/O in the drive, of a job all of `duration_s`.
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
    "busy_s": "double",
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
        for name, figure in replayed(record):
            found.append({**about, "figure": name, "state": figure["state"], **replay_row(figure)})
    return found


def replayed(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """The figures of what was replayed, by name: of several traces with the trace's in front."""
    if record.replay is not None:
        yield from record.replay["figures"].items()
    for trace, replay in record.replays.items():
        for name, figure in replay["figures"].items():
            yield f"{trace}_{name}", figure


def replay_row(figure: dict[str, Any]) -> dict[str, Any]:
    """A replay in the columns of all other figures; its rates are over the time it was busy."""
    all_ios, busy_s = figure["all"], figure["busy_s"]
    return {
        "iops": all_ios["ios"] / busy_s if busy_s > 0 else None,
        "mb_per_s": figure["mb_per_s"],
        "ios": all_ios["ios"],
        "bytes": all_ios["bytes"],
        "duration_s": figure["elapsed_s"],
        "busy_s": busy_s,
        "mean_queue_depth": figure["mean_queue_depth"],
        **{f"latency_{name}_us": value if all_ios["ios"] > 0 else None for name, value in all_ios["latency_us"].items()},
        "write_amplification": figure.get("write_amplification"),
        "effective_op": None,
        "nameplate_op": None,
        "joules": figure.get("joules"),
        "complete": figure["complete"],
    }


def to_pandas(records: Record | Iterable[Record]):
    """The figures of records as a pandas DataFrame, a row each."""
    pandas = needs("pandas", "frames", "to_pandas")
    return pandas.DataFrame(rows(_list(records)))


def to_arrow(records: Record | Iterable[Record]):
    """The figures of records as a table of Arrow, a row each."""
    pyarrow = needs("pyarrow", "frames", "to_arrow")
    return pyarrow.Table.from_pylist(rows(_list(records)))


def series_to_pandas(series: Series):
    """A series as a pandas DataFrame, a row a second. The columns are views where pandas lets them."""
    pandas = needs("pandas", "frames", "to_pandas")
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


#: The columns of a choice, and how Arrow has them: whatever is not known of all drives is still a column.
CHOICE_COLUMNS = {
    "drive": "string",
    "title": "string",
    "capacity_gb": "double",
    "rank": "uint64",
    "tier": "uint64",
    "waited_s": "double",
    "busy_s": "double",
    "band_low_s": "double",
    "band_high_s": "double",
    "band_standing": "string",
    "rank_p99": "uint64",
    "p99_us": "double",
    "hours_a_year_vs_have": "double",
    "write_amplification": "double",
    "years": "double",
    "energy_wh": "double",
    "price": "double",
    "price_per_performance": "double",
    "rescaled": "bool",
}


def choice_to_arrow(choice: Choice):
    """The drives of a choice as a table of Arrow, a row each."""
    pyarrow = needs("pyarrow", "frames", "to_arrow")
    types = {"string": pyarrow.string(), "uint64": pyarrow.uint64(), "bool": pyarrow.bool_(), "double": pyarrow.float64()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in CHOICE_COLUMNS.items()])
    return pyarrow.Table.from_pylist(choice.to_pylist(), schema)


def choice_to_pandas(choice: Choice):
    """The same as a pandas DataFrame."""
    pandas = needs("pandas", "frames", "to_pandas")
    frame = pandas.DataFrame(choice.to_pylist(), columns=list(CHOICE_COLUMNS))
    numbers = [name for name, kind in CHOICE_COLUMNS.items() if kind == "double"]
    return frame.astype(dict.fromkeys(numbers, float))


def diagnosis_to_pandas(diagnosis: Diagnosis):
    """The findings of a diagnosis as a pandas DataFrame, a row each."""
    pandas = needs("pandas", "frames", "to_pandas")
    frame = pandas.DataFrame(diagnosis.to_pylist())
    return frame.astype({name: float for name in ("low", "high", "level") if name in frame})


#: What the numbers of `Trace.to_arrays` stand for.
OPERATIONS = ("read", "write", "trim", "flush")


def trace_to_pandas(trace: Trace):
    """The I/Os of a trace as a pandas DataFrame, a row each."""
    pandas = needs("pandas", "frames", "to_pandas")
    arrays = trace.to_arrays()
    arrays["operation"] = pandas.Categorical.from_codes(arrays["operation"].astype("int8"), categories=OPERATIONS)
    return pandas.DataFrame(arrays, copy=False)


def trace_to_arrow(trace: Trace):
    """The I/Os of a trace as a table of Arrow, a row each; the numbers are the arrays, not copies of them."""
    pyarrow = needs("pyarrow", "frames", "to_arrow")
    arrays = trace.to_arrays()
    columns = {name: pyarrow.array(values) for name, values in arrays.items()}
    codes = pyarrow.array(arrays["operation"].astype("int8"))
    columns["operation"] = pyarrow.DictionaryArray.from_arrays(codes, list(OPERATIONS))
    return pyarrow.table(columns)


def _list(records: Record | Iterable[Record]) -> Iterable[Record]:
    return [records] if isinstance(records, Record) else records
