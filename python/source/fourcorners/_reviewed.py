"""Reviews of a twin's candidates: each is run once, and with a folder in no other search that has it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

from ._native import Record
from ._sweep import Planner, folder_of, open_folder, sweep
from ._task import Review


class Reviewed(NamedTuple):
    """What came of a candidate's review: records, or why there are none."""

    records: list[Record]
    error: str | None


class Reviews:
    """The reviews of a search, asked for by several threads at once."""

    def __init__(self, task: Review, executor: Any, into: str | os.PathLike[str] | None, axes: list[str]) -> None:
        self._task, self._executor = task, executor
        self._planner = Planner(task, series=False, records=True)
        self._lock = threading.Lock()
        # Open as long as the search goes on: its threads are not to find it locked by each other.
        self._folder, self._places = (None, {}) if into is None else open_folder(folder_of(into), axes)
        self._part: Path | None = None
        self._rows_of_part: dict[str, list[dict[str, Any]]] = {}

    def of(self, cells: list[dict[str, Any]]) -> list[Reviewed]:
        """Those of these cells, of which no two are equal."""
        with self._lock:
            found = [self._known(cell) for cell in cells]
        missing = [cell for cell, there in zip(cells, found) if there is None]
        if missing:
            swept = sweep(missing, self._task, self._executor, records=True)
            if self._folder is not None:
                self._folder.add({**axes, **row} for key, axes in dict(swept._cells).items() for row in swept._rows[key])
            new = iter([_reviewed(swept._rows[key]) for key, _ in swept._cells])
            found = [next(new) if there is None else there for there in found]
        return [it for it in found if it is not None]

    def _known(self, cell: dict[str, Any]) -> Reviewed | None:
        """What is in the folder, of which the latest file is kept: a search that is run again asks in the same order."""
        if not self._places:
            return None
        keys = (self._planner.cell(cell).key, *self._planner.fuller(cell))
        key = next((key for key in keys if key in self._places), None)
        if key is None:
            return None
        if self._part != self._places[key]:
            from ._parquet import rows_of

            self._part = self._places[key]
            self._rows_of_part = rows_of(self._part)
        return _reviewed(self._rows_of_part[key])

    def close(self) -> None:
        if self._folder is not None:
            try:
                self._folder.flush()
            finally:
                self._folder.close()


def _reviewed(rows: list[dict[str, Any]]) -> Reviewed:
    records = [Record.from_json(row["record"]) for row in rows if row.get("record")]
    return Reviewed(records, next((row["error"] for row in rows if row["error"]), None))
