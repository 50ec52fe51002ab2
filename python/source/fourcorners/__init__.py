"""The drive lab: reviewers' tests on models of named SSDs and hard disks, in virtual time.

A `Drive` runs `Job`s and replays `Trace`s, `review` tests drives by the reviewers' methods, `choose` ranks them by a work,
`diagnose` finds what is inside one, `serve` has real programs use one, `Results` is the database of what was measured,
`sweep` maps jobs over many drives on any executor, and `twin` fits a drive to what was measured.

pandas, pyarrow, Dask and SciPy are imported when something needs them and not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._native import (
    CatalogueError,
    Choice,
    Curve,
    Diagnosis,
    Drive,
    DriveFault,
    Error,
    Figure,
    Finding,
    FioJobs,
    FioResult,
    Histogram,
    Job,
    JobError,
    JobFileError,
    Latency,
    Record,
    RecordError,
    Replay,
    Results,
    ResultsError,
    Run,
    Series,
    Server,
    StateError,
    Summary,
    Target,
    Trace,
    TraceError,
    TraceWarning,
    Verdict,
    Note,
    __version__,
    choose,
    detectors,
    diagnose,
    drives,
    from_json,
    hosts,
    methods,
    replay,
    review,
    serve,
    to_html,
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
    "Choice",
    "Curve",
    "Diagnosis",
    "Drive",
    "DriveFault",
    "Error",
    "Figure",
    "Finding",
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
    "Replay",
    "Results",
    "ResultsError",
    "Review",
    "Run",
    "Series",
    "Server",
    "StateError",
    "Summary",
    "Sweep",
    "SweepError",
    "Target",
    "Trace",
    "TraceError",
    "TraceWarning",
    "Twin",
    "TwinError",
    "Note",
    "Verdict",
    "__version__",
    "choose",
    "detectors",
    "diagnose",
    "drives",
    "from_json",
    "hosts",
    "load",
    "methods",
    "replay",
    "review",
    "serve",
    "sweep",
    "to_arrow",
    "to_html",
    "to_json",
    "to_pandas",
    "twin",
]
