"""The drive lab: reviewers' tests on models of named SSDs and hard disks, in virtual time.

A `Drive` runs `Job`s, `review` tests drives by the reviewers' methods, `Results` is the database of
what was measured, `sweep` maps jobs over many drives on any executor, and `twin` fits a drive to what
was measured.

pandas, pyarrow, Dask and SciPy are imported when something needs them and not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._native import (
    CatalogueError,
    Curve,
    Drive,
    DriveFault,
    Error,
    Figure,
    FioJobs,
    FioResult,
    Histogram,
    Job,
    JobError,
    JobFileError,
    Latency,
    Record,
    RecordError,
    Results,
    ResultsError,
    Run,
    Series,
    StateError,
    Summary,
    Target,
    Verdict,
    Note,
    __version__,
    drives,
    from_json,
    hosts,
    methods,
    review,
    to_json,
)

# What takes longer to import, by where it is.
_LATER = {
    "Bar": "_progress",
    "MissingPackageError": "_extras",
    "Records": "_html",
    "Review": "_task",
    "Sweep": "_sweep",
    "SweepError": "_sweep",
    "sweep": "_sweep",
    "load": "_frames",
    "to_arrow": "_frames",
    "to_pandas": "_frames",
    "Parameter": "_parameters",
    "Twin": "_twin",
    "TwinError": "_twin",
    "twin": "_twin",
}

if TYPE_CHECKING:
    from ._extras import MissingPackageError
    from ._frames import load, to_arrow, to_pandas
    from ._html import Records
    from ._parameters import Parameter
    from ._progress import Bar
    from ._sweep import Sweep, SweepError, sweep
    from ._task import Review
    from ._twin import Twin, TwinError, twin


def __getattr__(name: str):
    if name not in _LATER:
        raise AttributeError(f"module 'fourcorners' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"fourcorners.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)


__all__ = [
    "Bar",
    "CatalogueError",
    "Curve",
    "Drive",
    "DriveFault",
    "Error",
    "Figure",
    "FioJobs",
    "FioResult",
    "Histogram",
    "Job",
    "JobError",
    "JobFileError",
    "Latency",
    "MissingPackageError",
    "Parameter",
    "Record",
    "RecordError",
    "Records",
    "Results",
    "ResultsError",
    "Review",
    "Run",
    "Series",
    "StateError",
    "Summary",
    "Sweep",
    "SweepError",
    "Target",
    "Twin",
    "TwinError",
    "Note",
    "Verdict",
    "__version__",
    "drives",
    "from_json",
    "hosts",
    "load",
    "methods",
    "review",
    "sweep",
    "to_arrow",
    "to_json",
    "to_pandas",
    "twin",
]
