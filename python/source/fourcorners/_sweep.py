"""Jobs over many drives, on any executor."""

from __future__ import annotations

import itertools
import json
import operator
import os
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Union

from ._engine import Engine, SweepError
from ._extras import needs
from ._native import CatalogueError, Drive, FioJobs, Job, Trace, __version__
from ._task import COLUMNS, Cell, Outcome, Review, Task, describe, kept_of, key_of

if TYPE_CHECKING:
    from ._parquet import Folder

Grid = Union[Mapping[str, Any], Iterable[Mapping[str, Any]]]

_RUNS = "a sweep runs a Job, a list of Jobs, the text of a job file or a Review"

#: Axes of a grid that are no parameters of a profile.
_OWN_AXES = ("drive", "spare", "host", "seed")


@dataclass
class Sweep:
    """What came of a sweep."""

    #: The folder of its results; `None` if it was not given one.
    path: Path | None
    #: Runs of this grid, equal ones counted as often as they are named.
    total: int
    #: Runs that were run now.
    ran: int
    #: Runs whose results were there.
    known: int
    #: Seconds of all runs where they were run, together.
    run_s: float
    #: Seconds from the first run to the last.
    elapsed_s: float
    #: Runs that were given to the engine again because it had lost them.
    lost: int
    _cells: list[tuple[str, dict[str, Any]]] = field(repr=False, default_factory=list)
    _rows: dict[str, list[dict[str, Any]]] = field(repr=False, default_factory=dict)

    def to_pylist(self) -> list[dict[str, Any]]:
        """A row for each figure of each run, in the order of the grid: its parameters, then what was
        measured."""
        by_key = self._rows
        if self.path is not None:
            from . import _parquet

            by_key = {}
            table = _parquet.read(self.path)
            for row in [] if table is None else table.to_pylist():
                measured = {k: v for k, v in row.items() if k in _parquet.MEASURED.names}
                by_key.setdefault(row["key"], []).append(measured)
        return [{**axes, **row} for key, axes in self._cells for row in by_key.get(key, [])]

    def to_arrow(self):
        """The same as a table of Arrow."""
        needs("pyarrow", "sweep", "to_arrow")
        from . import _parquet

        axes = list(dict.fromkeys(name for _, axes in self._cells for name in axes))
        return _parquet.table_of(self.to_pylist(), axes)

    def to_pandas(self):
        """The same as a pandas DataFrame."""
        needs("pandas", "frames", "to_pandas")
        return self.to_arrow().to_pandas()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_pylist`, one after the other."""
        return iter(self.to_pylist())

    def _repr_html_(self) -> str:
        from . import _html

        return _html.sweep(self)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Rows of the runs that a drive refused or failed, with the reason in `error`."""
        return [row for row in self.to_pylist() if row["error"] is not None]


def cells_of(grid: Grid) -> Iterator[dict[str, Any]]:
    """The grid's cells: every combination of a mapping's values, or a list's own."""
    if isinstance(grid, Mapping):
        axes = {axis: _values(values) for axis, values in grid.items()}
        for axis, values in axes.items():
            if not values:
                raise SweepError(f"the grid's {axis} has no values: give one, or leave it out")
        for combination in itertools.product(*axes.values()):
            yield dict(zip(axes, combination))
    else:
        yield from (dict(cell) for cell in grid)


def _values(values: Any) -> list[Any]:
    single = isinstance(values, (str, bytes, os.PathLike, Drive)) or not isinstance(values, Iterable)
    return [values] if single else list(values)


class Planner:
    """From cells to runs. Profiles are read once for all cells that share one."""

    def __init__(self, task: Task, series: bool, records: bool) -> None:
        if isinstance(task, str):
            task = Job.from_fio(task)
        if isinstance(task, Trace):
            raise TypeError(f"job={task!r}: a sweep runs no Trace; fc.replay(trace, drives) replays it on several drives")
        if not isinstance(task, (Job, FioJobs, Review)):
            if not isinstance(task, Iterable):
                raise TypeError(f"job={task!r}: {_RUNS}")
            task = list(task)
            if not task or not all(isinstance(job, Job) for job in task):
                raise SweepError(_RUNS)
        if records and not isinstance(task, Review):
            raise SweepError("records=True: a record is of a Review, and this sweep runs jobs: leave records out")
        if series and isinstance(task, FioJobs):
            raise SweepError("series=True: fio's results have no seconds, and this sweep runs a job file: leave series out")
        self._task, self._described = task, json.dumps(describe(task), sort_keys=True)
        kept, most = kept_of(task, series, records), kept_of(task, True, True)
        self._kept = kept
        # A result that has more beside it is as good.
        some = (combination for count in range(len(most) + 1) for combination in itertools.combinations(most, count))
        self._fuller = [more for more in some if set(more) > set(kept)]
        self._drives: dict[Any, tuple[Drive, str]] = {}

    def cell(self, axes: dict[str, Any]) -> Cell:
        if "drive" not in axes:
            raise SweepError("a grid needs the axis \"drive\": names, profiles or Drives")
        drive, _ = self._drive(axes)
        seed = _seed_of(axes)
        if seed is not None and isinstance(self._task, FioJobs):
            raise SweepError(f"seed={seed}: the jobs of a job file have their own, randseed: leave the axis \"seed\" out")
        return Cell(self._key(axes, self._kept), drive, self._task, seed)

    def fuller(self, axes: dict[str, Any]) -> Iterator[str]:
        """The names that the cell's result has where more is kept of it."""
        return (self._key(axes, more) for more in self._fuller)

    def _key(self, axes: dict[str, Any], kept: Iterable[str]) -> str:
        drive, profile_hash = self._drive(axes)
        return key_of(profile_hash, drive.spare, self._described, _seed_of(axes), tuple(kept))

    def _drive(self, axes: dict[str, Any]) -> tuple[Drive, str]:
        named = {axis: value for axis, value in axes.items() if axis != "seed"}
        place = tuple((a, v if isinstance(v, Drive) else (type(v), str(v))) for a, v in named.items())
        known = self._drives.get(place)
        if known is None:
            known = self._drives[place] = _drive_of(named)
            if len(self._drives) > 10_000:
                # Seeds vary fastest or not at all; either way the latest are those that come again.
                self._drives.pop(next(iter(self._drives)))
        return known


def _seed_of(axes: Mapping[str, Any]) -> int | None:
    """A cell's seed as an int, whatever kind of whole number it is: the name of a result has its digits."""
    given = axes.get("seed")
    if given is None:
        return None
    wrong = SweepError(f"seed={given!r}: it is a whole number from 0 to 2^64 - 1")
    if isinstance(given, bool):
        raise wrong
    try:
        seed = operator.index(given)
    except TypeError:
        raise wrong from None
    if not 0 <= seed < 1 << 64:
        raise wrong
    return seed


def _drive_of(axes: dict[str, Any]) -> tuple[Drive, str]:
    drive, spare, host = axes["drive"], axes.get("spare"), axes.get("host")
    settings = {axis: value for axis, value in axes.items() if axis not in _OWN_AXES}
    if isinstance(drive, Drive) and host is not None:
        raise SweepError("a Drive has its host already: leave the axis \"host\" out")
    try:
        if isinstance(drive, Drive):
            made = drive.with_(spare=spare, set=settings)
        else:
            made = Drive(drive, spare=0.0 if spare is None else spare, set=settings, host=host)
    except CatalogueError as error:
        # Here the settings are axes.
        raise CatalogueError(str(error).replace("set={", "grid={")) from None
    return made, made.profile_hash


def sweep(
    grid: Grid,
    job: Task | str,
    executor: Any = None,
    *,
    into: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    runs_per_task: int = 1,
    series: bool = False,
    records: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> Sweep:
    """Runs a job, several one after the other, those of a fio job file (its text) or a `Review` on every drive of a grid.

    `grid` maps axes to values: `drive` (names, profiles, Drives), `spare`, `host`, `seed` and any
    parameter of a profile (`"gc.policy"`); every combination is run on a new drive. A list of
    mappings gives the combinations themselves. Of a list of jobs the last one is measured; the
    others bring the drive into a state. `seed` gives each job a seed of its own from the run's; those of a job file have theirs.

    `executor` is any `concurrent.futures.Executor`, a Dask `Client`, or the address of a Dask
    scheduler (`tcp://...`). Without one, `workers` processes of this machine are used, by default
    one a CPU; a script then needs the usual `if __name__ == "__main__":`.

    Results go into the folder `into` as Parquet as they arrive, each under the hash of profile, job,
    seed, version and what is kept of it. A run whose result is there is not run, so a sweep that was
    stopped goes on, and one that was extended runs what is new. A result of which more was kept than
    is asked for will do; one of which less was kept is run again. Results are the same whatever the
    number of workers.

    `series` keeps the I/Os of each second as well, which a job file has not, `records` the whole records of a Review, and of nothing else.
    `progress` is called with the runs done and all there are; what it raises stops the sweep.
    """
    if runs_per_task < 1:
        raise SweepError(f"runs_per_task={runs_per_task}: it is 1 or more")
    planner = Planner(job, series, records)
    planned = [(planner.cell(axes), axes) for axes in cells_of(grid)]
    if not planned:
        raise SweepError("the grid has no cells: nothing to run")
    path = None if into is None else folder_of(into)
    axes = list(dict.fromkeys(name for _, axes in planned for name in axes))
    shown = {id(axes): _shown(axes) for _, axes in planned}
    result = Sweep(path, len(planned), 0, 0, 0.0, 0.0, 0)
    # Before the folder: a worker that reads a script without a guard ends here, and not at its lock.
    engine = Engine.of(executor, workers)
    folder = None
    known: Container[str] = ()
    if path is not None:
        try:
            folder, known = open_folder(path, axes)
        except BaseException:
            engine.close()
            raise
    missing: dict[str, tuple[Cell, dict[str, Any]]] = {}
    for cell, axes_of_it in planned:
        there = cell.key if cell.key in known else None
        if there is None and known:
            there = next((key for key in planner.fuller(axes_of_it) if key in known), None)
        if there is not None:
            result.known += 1
        else:
            missing.setdefault(cell.key, (cell, shown[id(axes_of_it)]))
        result._cells.append((there or cell.key, shown[id(axes_of_it)]))
    options = {"series": series, "records": records}
    began = time.monotonic()
    try:
        done = result.known
        if progress is not None:
            progress(done, result.total)
        for outcome in engine.run([cell for cell, _ in missing.values()], runs_per_task, options):
            if outcome is None:
                # Nothing arrives: what did is not to wait for it.
                if folder is not None:
                    folder.add(())
                continue
            cell, axes_of_it = missing[outcome.key]
            rows = _rows_of(outcome, cell)
            if folder is None:
                result._rows[outcome.key] = rows
            else:
                folder.add({**axes_of_it, **row} for row in rows)
            result.ran += 1
            result.run_s += outcome.seconds
            if progress is not None:
                progress(done + result.ran, result.total)
    finally:
        result.lost = engine.lost
        # Whatever ends it, what arrived is kept.
        try:
            engine.close()
        finally:
            if folder is not None:
                try:
                    folder.flush()
                finally:
                    folder.close()
    result.elapsed_s = time.monotonic() - began
    return result


def folder_of(into: str | os.PathLike[str]) -> Path:
    """The path of a folder for results, which is there or may be made."""
    path = Path(into)
    if path.exists() and not path.is_dir():
        raise SweepError(f"into={path}: it is a file, and results go into a folder: name another one")
    return path


def open_folder(path: Path, axes: list[str]) -> tuple[Folder, dict[str, Path]]:
    """A folder for results, which is closed by who asked, and the keys of those that are in it, each with its file."""
    needs("pyarrow", "sweep", "into")
    from . import _parquet

    folder = None
    try:
        folder = _parquet.Folder(path, axes)
        return folder, _parquet.places(path)
    except (OSError, ValueError) as error:
        if folder is not None:
            folder.close()
        # What the system says has a number and no argument in front of it.
        told = getattr(error, "strerror", None)
        raise SweepError(f"into={path}: {told}" if told else str(error)) from None


def _shown(axes: Mapping[str, Any]) -> dict[str, Any]:
    """A cell's parameters as a table has them."""
    shown = {}
    for axis, value in axes.items():
        if isinstance(value, Drive):
            value = value.name
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        elif hasattr(value, "item"):
            value = value.item()  # a NumPy scalar
        shown[axis] = value
    return shown


def _rows_of(outcome: Outcome, cell: Cell) -> list[dict[str, Any]]:
    same = {
        **dict.fromkeys(COLUMNS),
        "key": outcome.key,
        "profile_hash": cell.drive.profile_hash,
        "version": __version__,
        "error": outcome.error,
    }
    return [{**same, **row} for row in outcome.rows or [{"figure": ""}]]
