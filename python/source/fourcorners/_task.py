"""What one run of a sweep is, and running it: all that a worker needs."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, dataclass
from typing import Any, Sequence, Union

from ._frames import replay_row, replayed
from ._native import Drive, Error, FioJobs, Job, Record, __version__, methods, review


@dataclass(frozen=True)
class Review:
    """Methods of a review as what a sweep runs: every figure is a row."""

    methods: tuple[str, ...] = ("four-corners",)
    quick: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        # One name, or any list of names, as `review` takes them.
        names = self.methods
        names = names.split(",") if isinstance(names, str) else names
        object.__setattr__(self, "methods", tuple(name.strip() for name in names))
        for name in self.methods:
            if name != "all" and name not in methods():
                raise ValueError(f"methods: there is no method {name!r}; there are: {', '.join(methods())}")


#: What a row says beside the parameters of the grid, and what it is. Rates and depths are over `busy_s`, which rows of a job
#: file lack: fio's reads and writes each have a runtime of their own. `total_op` is of jobs, whose Drive tells the spare area.
COLUMNS = {
    "key": "text",
    "profile_hash": "text",
    "version": "text",
    "error": "text",
    "figure": "text",
    "iops": "number",
    "mb_per_s": "number",
    "ios": "count",
    "bytes": "count",
    "duration_s": "number",
    "busy_s": "number",
    "mean_queue_depth": "number",
    **{
        f"latency_{name}_us": "number"
        for name in ("min", "mean", "p50", "p90", "p99", "p999", "p9999", "max")
    },
    "write_amplification": "number",
    "effective_op": "number",
    "total_op": "number",
    "nameplate_op": "number",
    "joules": "number",
    "complete": "truth",
}
#: Columns that are there only where they were asked for.
KEPT = {"series_iops": "counts", "series_latency_mean_us": "numbers", "record": "long text"}

Task = Union[Job, FioJobs, Review, Sequence[Job]]


@dataclass(frozen=True)
class Cell:
    """One run: a new drive, what is done to it, and what the result goes by."""

    key: str
    drive: Drive
    task: Task
    seed: int | None


def kept_of(task: Task, series: bool, records: bool) -> list[str]:
    """What is kept of a run of the task beside its figures: a record is a Review's alone, and a job file has no seconds."""
    has_seconds = not isinstance(task, FioJobs)
    asked = {"series": series and has_seconds, "records": records and isinstance(task, Review)}
    return [name for name, is_kept in asked.items() if is_kept]


def describe(task: Task) -> Any:
    """A task as JSON's types: what makes two of them the same."""
    if isinstance(task, Review):
        return {"review": asdict(task)}
    if isinstance(task, FioJobs):
        # With another environment it is another one.
        return {"fio": task.text, **({"environment": task.environment} if task.environment else {})}
    if isinstance(task, Job):
        task = [task]
    return {"jobs": [json.loads(job.to_json()) for job in task]}


def key_of(profile_hash: str, spare: float, task: str, seed: int | None, kept: Sequence[str] = ()) -> str:
    """The name of a run's result: of equal names there is one result. `kept` names what is kept beside the figures, which a
    result without it lacks."""
    parts = [profile_hash, repr(float(spare)), task, repr(seed), __version__, *kept]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def job_seed(seed: int, place: int) -> int:
    """A seed for each job of a run from the run's own: two random jobs must not write the same
    places in the same order. 63 bits, as fio's."""
    digest = hashlib.sha256(f"{seed}/{place}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


@dataclass
class Outcome:
    """What came of a run: the rows of its figures, or why there are none."""

    key: str
    rows: list[dict[str, Any]]
    error: str | None
    #: Seconds it took where it was run. Not a part of the result, which is the same everywhere.
    seconds: float


def run_cells(cells: Sequence[Cell], series: bool = False, records: bool = False) -> list[Outcome]:
    """Runs them one after the other, wherever this is called. What a drive refuses is a result as
    well: it would refuse it again."""
    outcomes = []
    for cell in cells:
        began = time.perf_counter()
        try:
            rows, error = _rows(cell, series, records), None
        except (Error, ValueError) as refused:
            rows, error = [], str(refused)
        outcomes.append(Outcome(cell.key, rows, error, time.perf_counter() - began))
    return outcomes


def _rows(cell: Cell, series: bool, records: bool) -> list[dict[str, Any]]:
    task, drive = cell.task, cell.drive
    if isinstance(task, Review):
        seed = task.seed if cell.seed is None else cell.seed
        tested = review(drive, list(task.methods), quick=task.quick, seed=seed)
        return [row for record in tested for row in _record_rows(record, series, records)]
    # A drive remembers what was done to it, and a cell may be run again where a worker was lost.
    drive = drive.with_()
    if isinstance(task, FioJobs):
        return [_fio_row(job) for job in drive.run(task).jobs]
    jobs = [task] if isinstance(task, Job) else list(task)
    for place, job in enumerate(jobs):
        if cell.seed is not None:
            job = job.replace(seed=job_seed(cell.seed, place))
        run = drive.run(job)
        if place + 1 < len(jobs):
            # A job's writes are not paid for by the next.
            drive.settle()
    row = {"figure": "", **run.to_dict()}
    if series:
        row["series_iops"] = run.series.iops.tolist()
        row["series_latency_mean_us"] = run.series.latency_mean_us.tolist()
    return [row]


def _record_rows(record: Record, series: bool, records: bool) -> list[dict[str, Any]]:
    rows = []
    for name, figure in record.figures.items():
        row = {"figure": f"{record.method}/{name}", **figure.to_dict()}
        if series:
            of_it = record.series[name]
            row["series_iops"] = of_it.iops.tolist()
            row["series_latency_mean_us"] = of_it.latency_mean_us.tolist()
        rows.append(row)
    # Tasks and the storage bench replay recordings: of those there are no seconds.
    for name, figure in replayed(record):
        of_it = {key: value for key, value in replay_row(figure).items() if key in COLUMNS}
        rows.append({"figure": f"{record.method}/{name}", **of_it})
    if record.failure is not None:
        # Beside the figures that the drive came to before it failed.
        rows.append({"figure": record.method, "error": record.failure})
    # A method that came to notes alone has a row, too.
    rows = rows or [{"figure": record.method}]
    if records:
        timeless = json.loads(record.to_json())
        # The times of day are no part of the result.
        timeless["started_at"] = timeless["finished_at"] = ""
        rows[0]["record"] = json.dumps(timeless)
    return rows


def _fio_row(job: dict[str, Any]) -> dict[str, Any]:
    """A job of fio's JSON in the columns of all others; reads and writes together."""
    sides = [job[name] for name in ("read", "write", "trim") if job[name]["total_ios"] > 0]
    ios = sum(side["total_ios"] for side in sides)
    moved = sum(side["io_bytes"] for side in sides)
    seconds = max((side["runtime"] for side in sides), default=0) / 1e3 or 1e-9
    row = {
        "figure": job["jobname"],
        "iops": sum(side["iops"] for side in sides),
        "mb_per_s": moved / 1e6 / seconds,
        "ios": ios,
        "bytes": moved,
        "duration_s": seconds,
        "complete": job["error"] == 0,
    }
    if job["error"] != 0:
        row["error"] = f"the drive failed an I/O: {os.strerror(job['error'])}"
    if sides:
        row["latency_min_us"] = min(side["lat_ns"]["min"] for side in sides) / 1e3
        mean = sum(side["lat_ns"]["mean"] * side["total_ios"] for side in sides) / ios
        row["latency_mean_us"] = mean / 1e3
        row["latency_max_us"] = max(side["lat_ns"]["max"] for side in sides) / 1e3
    if len(sides) == 1:
        # Percentiles of two distributions do not add up.
        percentiles = sides[0]["clat_ns"].get("percentile", {})
        for name, key in [("p50", "50"), ("p90", "90"), ("p99", "99"), ("p999", "99.9"), ("p9999", "99.99")]:
            told = percentiles.get(f"{float(key):f}")
            if told is not None:
                row[f"latency_{name}_us"] = told / 1e3
    return row
