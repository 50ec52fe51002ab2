"""A sweep as a file of TOML: what `fourcorners sweep plan.toml` runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._native import Job
from ._sweep import SweepError
from ._task import Review, Task

_JOB_KEYS = {
    "pattern",
    "read_percent",
    "block_bytes",
    "queue_depth",
    "span_start_bytes",
    "span_bytes",
    "data",
    "seconds",
    "bytes",
    "drive_writes",
    "seed",
    "fua",
}


@dataclass
class Plan:
    """A grid, what is run on it, and where the results go."""

    grid: dict[str, Any]
    task: Task
    into: Path
    runs_per_task: int
    series: bool


def read(path: Path) -> Plan:
    """The plan in a file. Paths in it are relative to it."""
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise SweepError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SweepError(f"{path}: {error}") from None
    for key in content:
        if key not in ("into", "runs_per_task", "series", "grid", "job", "fio", "review"):
            raise SweepError(
                f"{path}: {key} is not known; a plan has into, runs_per_task, series, [grid] and one "
                "of [[job]], fio and [review]"
            )
    if "grid" not in content:
        raise SweepError(f"{path}: there is no [grid], which names the drives: begin it with drive = \"NAME\"")
    grid = _of_type(path, content, "grid", dict)
    flat: dict[str, Any] = {}
    for axis, values in grid.items():
        # `gc.policy = [...]` in TOML is a table gc; a parameter's name here is section.key.
        if isinstance(values, dict):
            flat.update({f"{axis}.{key}": value for key, value in values.items()})
        else:
            flat[axis] = values
    for axis, values in flat.items():
        _axis(path, axis, values)
    drives = flat.get("drive", [])
    drives = [drives] if isinstance(drives, str) else drives
    flat["drive"] = [_beside(path, drive) for drive in drives]
    into = path.with_suffix("") if "into" not in content else path.parent / _of_type(path, content, "into", str)
    runs_per_task = _of_type(path, content, "runs_per_task", int) if "runs_per_task" in content else 1
    series = _of_type(path, content, "series", bool) if "series" in content else False
    return Plan(flat, _task(path, content), into, runs_per_task, series)


#: What the values of an axis are, and in words; those of all others are parameters of a profile.
_AXES: dict[str, tuple[tuple[type, ...], str]] = {
    "drive": ((str,), "names of drives or paths of profiles"),
    "host": ((str,), "names of hosts"),
    "spare": ((int, float, str), "shares, as 0.25 or \"25%\""),
    "seed": ((int,), "whole numbers"),
}
_PARAMETER = ((int, float, str, bool), "numbers, texts, true or false")


def _axis(path: Path, axis: str, values: Any) -> None:
    """Looks at the values of an axis: one, or a list of them."""
    kinds, words = _AXES.get(axis, _PARAMETER)
    for value in values if isinstance(values, list) else [values]:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise SweepError(f"{path}: [grid] {axis} = {value!r}: it must be one or a list of {words}")


def _beside(path: Path, drive: str) -> str:
    return str(path.parent / drive) if drive.endswith(".toml") else drive


def _of_type(path: Path, content: dict[str, Any], key: str, kind: type) -> Any:
    value = content.get(key)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        named = {dict: "a table", str: "a text", int: "a whole number", bool: "true or false"}[kind]
        raise SweepError(f"{path}: {key} = {value!r}: it must be {named}")
    return value


def _task(path: Path, content: dict[str, Any]) -> Task:
    given = [key for key in ("job", "fio", "review") if key in content]
    if len(given) != 1:
        raise SweepError(f"{path}: give one of [[job]], fio = \"job.fio\" and [review]; there are {len(given)}")
    if given == ["fio"]:
        name = path.parent / _of_type(path, content, "fio", str)
        try:
            jobs = Job.from_fio(name.read_text(encoding="utf-8"), name=str(name))
        except OSError as error:
            raise SweepError(f"{name}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise SweepError(f"{name}: it is no text in UTF-8: {error.reason} at byte {error.start}") from None
        if content.get("series"):
            raise SweepError(f"{path}: series = true: fio's results have no seconds: leave series out")
        return jobs
    if given == ["review"]:
        review = _of_type(path, content, "review", dict)
        _known(path, "[review]", review, {"methods", "quick", "seed"})
        for key, kind in (("quick", bool), ("seed", int)):
            if key in review:
                _of_type(path, review, key, kind)
        if not 0 <= review.get("seed", 0) < 1 << 64:
            raise SweepError(f"{path}: seed = {review['seed']}: it is a whole number from 0 to 2^64 - 1")
        try:
            return Review(**review)
        except (TypeError, AttributeError):
            raise SweepError(f"{path}: [review] methods = {review['methods']!r}: it must be a list of names") from None
        except ValueError as error:
            raise SweepError(f"{path}: [review] {error}") from None
    jobs = content["job"] if isinstance(content["job"], list) else [content["job"]]
    made = []
    for number, job in enumerate(jobs, 1):
        place = f"[[job]] number {number}"
        if not isinstance(job, dict):
            raise SweepError(f"{path}: {place} must be a table")
        _known(path, place, job, _JOB_KEYS)
        try:
            made.append(Job(**job))
        except (TypeError, ValueError, OverflowError) as error:
            raise SweepError(f"{path}: {place}: {error}") from None
    return made


def _known(path: Path, place: str, table: dict[str, Any], keys: set[str]) -> None:
    for key in table:
        if key not in keys:
            raise SweepError(f"{path}: {place} has no {key}; it has {', '.join(sorted(keys))}")
