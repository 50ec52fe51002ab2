"""Progress as notebooks and terminals show it."""

from __future__ import annotations

from typing import Any

from ._extras import needs


class Bar:
    """A bar for `progress` of a review, a run, a fill or a sweep, drawn by tqdm: a widget in a notebook, a line on a terminal.

    `fc.review(drives, progress=fc.Bar("reviews"))`. Options are tqdm's. A bar is for one call.
    """

    def __init__(self, text: str = "", **options: Any) -> None:
        self._tqdm = needs("tqdm.auto", "notebook", "a progress bar").tqdm
        self._options = {"desc": text or None, **options}
        self._bar: Any = None

    def __call__(self, done: float, total: float = 1.0) -> None:
        if self._bar is None:
            # A share has no unit, and a count of runs has.
            form = {"bar_format": "{l_bar}{bar}| {elapsed}<{remaining}"} if total == 1.0 else {"unit": "run"}
            self._bar = self._tqdm(total=total, **{**form, **self._options})
        self._bar.update(done - self._bar.n)
        if done >= total:
            self._bar.close()
