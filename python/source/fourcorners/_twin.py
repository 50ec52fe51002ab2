"""A profile fitted to measurements: the drive's twin."""

from __future__ import annotations

import concurrent.futures as cf
import contextlib
import math
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence

from . import _features
from ._extras import needs
from ._findings import differing, told
from ._native import Diagnosis, Drive, Finding, Record, detectors, diagnose, drives, methods
from ._objective import Objective, TwinError
from ._parameters import DEFAULT_KEYS, Parameter, from_catalogue
from ._ranges import Fitted, ranges
from ._search import AS_ASSUMED, Outcome, Search

#: Reviews after which a search gives up, unless it is told.
MOST_REVIEWS = 2000


@dataclass
class Twin:
    """A profile fitted to measurements."""

    drive: Drive
    parameters: dict[str, Fitted]
    #: Sets of parameters of which the data tell a combination better than each.
    confounded: list[tuple[str, ...]]
    #: Relative error of each figure's rate with the profile.
    errors: dict[str, float]
    #: Reviews that were run for it.
    evaluations: int
    #: Standard deviations that the features are off, root mean square: about 1 is as good as assumed.
    misfit: float
    #: Whether the data are met as well as is assumed. If not, the search had nowhere to look any more, or
    #: gave up after `most_reviews`: there may be a better profile, or the model lacks what the drive has.
    converged: bool
    _toml: str = field(repr=False, default="")
    #: What the detectors of the `findings` it was given say of the twin; `None` without any.
    diagnosis: Diagnosis | None = None
    #: Findings that its own do not agree with, each with what was found of the twin.
    differing: list[tuple[Finding, Finding]] = field(default_factory=list)

    @property
    def undetermined(self) -> list[str]:
        """The parameters that the data cannot determine."""
        return [key for key, fitted in self.parameters.items() if not fitted.determined]

    def to_toml(self) -> str:
        """The profile as a file; what was determined stands as `fitted`."""
        return self._toml

    def to_pandas(self):
        """The parameters as a pandas DataFrame."""
        pandas = needs("pandas", "frames", "to_pandas")

        rows = [vars(fitted) for fitted in self.parameters.values()]
        return pandas.DataFrame(rows).set_index("key")


def twin(
    records: Sequence[Record],
    base: Drive | str | None = None,
    *,
    findings: Diagnosis | None = None,
    parameters: Sequence[str | Parameter] | None = None,
    executor: Any = None,
    into: str | os.PathLike[str] | None = None,
    progress: Callable[[int], Any] | None = None,
    most_reviews: int = MOST_REVIEWS,
) -> Twin:
    """Fits a profile to the records of one drive, real or virtual.

    `base` is the profile that is varied; what is not a parameter of the fit is as it says. Without
    it, it is the catalogue's drive of the records' name. `parameters` are keys, with bounds and
    priors from the catalogue, or `Parameter`s. Every candidate is put through the methods of the
    records by `sweep`, on `executor`, by default threads of this process; with `into`, what was
    evaluated before is not again. `progress` is called with the reviews that were run. No new climb
    begins after `most_reviews`; the one at work and the ranges take a few hundred more at most.

    `findings` are what `diagnose` says of the same drive: what is determined is fixed or narrows its range, a bound cuts
    it, and what is undetermined is looked for as without them. The twin is then diagnosed in turn, and
    `Twin.differing` has the findings that its own do not agree with.

    How sure a choice (a page size, a number of dies) is comes from how well the other values could be
    met with it; those that began far off are not looked at closely. Only what a real drive tells as
    well is compared. `Twin.undetermined` says which parameters the data leave open, `Twin.confounded`
    which they tell together only, and `Twin.converged` whether the data are met.
    """
    records = [records] if isinstance(records, Record) else list(records)
    base = base_of(records, base)
    chosen = [key if isinstance(key, Parameter) else from_catalogue(key, base) for key in (DEFAULT_KEYS if parameters is None else parameters)]
    if not chosen:
        raise TwinError("parameters is empty: there is nothing to find")
    if most_reviews < 1:
        raise TwinError(f"most_reviews is {most_reviews}: a search takes at least one")
    if findings is not None:
        if not isinstance(findings, Diagnosis):
            raise TypeError(f"findings is a {type(findings).__name__}: give a Diagnosis, as diagnose or Diagnosis.from_json make it")
        if any(finding.value == "disk" for finding in findings.findings):
            raise TwinError(f"the findings are of {findings.target}, a hard disk: twins are of solid-state drives")
        same_drive(records, findings.target)
        # Those of another version may be of detectors that this one has not.
        looked_for = [name for name in detectors() if any(finding.detector == name for finding in findings.findings)]
        if not looked_for:
            raise TwinError(f"the diagnosis of {findings.target} has no finding of a detector: {', '.join(detectors())}")
        chosen = told(chosen, base, findings)
    own = None
    if executor is None:
        executor = own = cf.ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        with contextlib.closing(Objective(records, base, chosen, executor, into, progress)) as objective:
            found = _told_of(objective, Search(objective, most_reviews).run())
    finally:
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)
    if findings is not None:
        found.diagnosis = diagnose(found.drive, only=looked_for, seed=findings.seed)
        found.differing = list(differing(findings, found.diagnosis))
    return found


def base_of(records: list[Record], base: Drive | str | None) -> Drive:
    """The drive that is varied.

    Raises `TwinError` where no twin can be looked for, with the reason.
    """
    if not records:
        raise TwinError("there are no records to fit a profile to")
    targets = {record.target.name for record in records}
    if len(targets) > 1:
        raise TwinError(f"the records are of several drives: {', '.join(sorted(targets))}")
    for record in records:
        if record.method not in methods():
            raise TwinError(f"the records are of {record.method}, which Python cannot run on a candidate: give those of {', '.join(methods())}")
    if not _features.names_of(records):
        raise TwinError("the records have no figure that was measured to its end")
    settings = {(record.quick, record.seed) for record in records}
    if len(settings) > 1:
        raise TwinError("the records are of reviews that differ in seed or length: give those of one")
    target = records[0].target
    if base is None:
        if target.name not in drives():
            raise TwinError(f"{target.name} is not in the catalogue: give a base, the drive most like it")
        base = target.name
    if not isinstance(base, Drive):
        base = Drive(base)
    if base.kind != "ssd":
        what = "a hard disk" if base.kind == "hdd" else "several drives"
        raise TwinError(f"{base.name} is {what}: twins are of single solid-state drives")
    return base.with_(set={"capacity.sectors": target.capacity_bytes // 512})


def same_drive(records: Sequence[Record], diagnosed: str) -> None:
    """Raises `TwinError` where a diagnosis is plainly of another drive than the records: both are in the catalogue, and differ."""
    known, target = drives(), records[0].target
    if diagnosed != target.name and diagnosed in known and target.name in known:
        raise TwinError(f"the records are of {target.name}, and the diagnosis is of {diagnosed}: give those of one drive")


def _told_of(objective: Objective, outcome: Outcome) -> Twin:
    found = outcome.found
    settings = objective.settings(found.choice, found.logs)
    (off,) = objective.evaluate([settings])
    misfit = objective.misfit(found)
    told = ranges(objective, found, outcome.costs)
    drive, toml = _profile(objective, settings, told.fitted)
    errors = {}
    for name in objective.names:
        rate = objective.rate_of(name)
        if rate is not None:
            errors[name] = math.exp(off[rate] * objective.sigma[rate]) - 1.0
    return Twin(drive, told.fitted, told.confounded, errors, objective.reviews, misfit, misfit <= AS_ASSUMED, toml)


def _profile(objective: Objective, settings: dict[str, Any], fitted: Mapping[str, Fitted]) -> tuple[Drive, str]:
    """The profile as a file, in which what was looked for stands as `fitted`."""
    text = objective.base.with_(set=settings).to_toml()
    # A twin may be the base of another one.
    names = ["twin", *(f"twin{number}" for number in range(2, 1000))]
    source = next(name for name in names if f"\n{name} = " not in text)
    lines, section = [], ""
    for line in text.splitlines():
        # It is another drive than the one that was varied, and than its other twins: its results are its own.
        if not section and line.startswith("name = "):
            line = f'name = "{TWIN_OF}{objective.base.name.removeprefix(TWIN_OF)}-{objective.measured_as}"'
        if not section and line.startswith('title = "'):
            title = line.removeprefix('title = "').removeprefix("Twin of ")
            line = f'title = "Twin of {title}'
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        key = f"{section}.{line.split(' = ', 1)[0]}"
        if key in settings:
            of = fitted.get(key) or fitted["over_provisioning"]
            note = (
                f"found by its twin between {of.low:.4g} and {of.high:.4g}"
                if of.determined
                else "the measurements do not determine it: little more than what was assumed"
            )
            if key not in fitted:
                note += " as nameplate over-provisioning"
            value = settings[key]
            standing = "fitted" if of.determined else "inferred"
            line = (
                f"{line.split(' = ', 1)[0]} = {{ value = {_toml(value)}, standing = \"{standing}\", "
                f"source = \"{source}\", note = \"{note}\" }}"
            )
        elif 'standing = "set"' in line:
            line = line.replace('standing = "set"', 'standing = "inferred"')
            line = line.replace('source = "--set on the command line"', f'source = "{source}"')
        lines.append(line)
        if line == "[sources]":
            lines.append(f'{source} = "fourcorners twin, fitted to {len(objective.names)} figures of {", ".join(objective.task.methods)}"')
    toml = "\n".join(lines) + "\n"
    return Drive.from_toml(toml, name="the twin"), toml


#: How the name of a twin begins.
TWIN_OF = "twin-of-"


def _toml(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
