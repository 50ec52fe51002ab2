"""A profile fitted to measurements: the drive's twin."""

from __future__ import annotations

import concurrent.futures as cf
import itertools
import json
import math
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Sequence, Tuple

import numpy as np

from . import _features
from ._native import Drive, Error, Record, drives
from ._parameters import DEFAULT_KEYS, Parameter, from_catalogue
from ._sweep import sweep
from ._task import Review

#: A parameter is determined when the data leave this share of what was uncertain before, or less.
DETERMINED = 0.5
#: Of one value of a parameter with choices, the probability that determines it.
SURE = 0.95
#: Combinations of choices that are climbed from, those that are looked at closely, and steps of the optimiser before and then.
#: The others follow only as long as none meets the data as well as is assumed.
FIRST, CLOSELY = 8, 3
FIRST_STEPS, LAST_STEPS = 3, 12
#: How long a first step is at most, as a logarithm, and how far bounds are from where a climb begins.
FIRST_STEP, CLEAR = 0.5, 1e-3
#: After how many steps slopes are measured anew; between, each step corrects them by what it met
#: (Broyden 1965), which costs no review.
MEASURED_ANEW = 3
#: A climb ends when a step gains less than this share of the cost.
GAIN = 0.01
#: Relative steps of each parameter to either side of what was found: buffers and blocks come in whole
#: rows, and a slope over less than one leads nowhere.
NEAR = (-0.15, -0.05, 0.05, 0.15)
#: The same to see what is as good as what was found.
BESIDE = (-0.3, -0.15, -0.05, 0.05, 0.15, 0.3)
#: Values of each parameter, over all of its range, from which another climb may begin, where the
#: cost is not too far from what was found, and how often that is done while it gets this much better.
LOOKS, MOST_LOOKS = 7, 6
BEGIN, BETTER = 2.5, 0.95
#: A choice whose climb ends this many times worse than the best is not looked at more closely.
HOPELESS = 10.0
#: Root mean square of what it is off, in standard deviations, with which a search ends.
MET = 0.25
#: Standard deviations from where on a residual counts less than its square.
LOSS = 3.0
#: Relative step of a parameter to see what depends on it: over the noise of whole blocks and rows.
STEP = 0.03
#: What a candidate is worth that makes no drive, or has no such figure: three times wrong.
NO_DRIVE = math.log(3.0)


#: The cost of the best values that were found, and their logarithms.
Found = Tuple[float, np.ndarray]


class TwinError(Error):
    """Records that no profile can be fitted to."""


@dataclass(frozen=True)
class Fitted:
    """A parameter that was looked for."""

    key: str
    value: float
    #: About two in three of what it may be lie between these.
    low: float
    high: float
    #: Whether the data say what it is; if not, the value is hardly more than what was assumed.
    determined: bool
    #: What is left of what was uncertain before, 0 to 1.
    left: float


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
    _toml: str = field(repr=False, default="")

    @property
    def undetermined(self) -> list[str]:
        """The parameters that the data cannot determine."""
        return [key for key, fitted in self.parameters.items() if not fitted.determined]

    def to_toml(self) -> str:
        """The profile as a file; what was determined stands as `fitted`."""
        return self._toml

    def to_pandas(self):
        """The parameters as a pandas DataFrame."""
        import pandas

        rows = [vars(fitted) for fitted in self.parameters.values()]
        return pandas.DataFrame(rows).set_index("key")


def twin(
    records: Sequence[Record],
    base: Drive | str | None = None,
    *,
    parameters: Sequence[str | Parameter] | None = None,
    executor: Any = None,
    into: str | os.PathLike[str] | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Twin:
    """Fits a profile to the records of one drive, real or virtual.

    `base` is the profile that is varied; what is not a parameter of the fit is as it says. Without
    it, it is the catalogue's drive of the records' name. `parameters` are keys, with bounds and
    priors from the catalogue, or `Parameter`s. Every candidate is put through the methods of the
    records by `sweep`, on `executor`, by default threads of this process; with `into`, what was
    evaluated before is not again. `progress` is called with the reviews that were run.

    How sure a choice (a page size, a number of dies) is comes from how well the other values could be
    met with it; those that began far off are not looked at closely. Only what a real drive tells as
    well is compared. `Twin.undetermined` says which parameters
    the data leave open, `Twin.confounded` which they tell together only.
    """
    records = [records] if isinstance(records, Record) else list(records)
    base = _base(records, base)
    chosen = [key if isinstance(key, Parameter) else from_catalogue(key, base) for key in parameters or DEFAULT_KEYS]
    if not chosen:
        raise TwinError("parameters is empty: there is nothing to find")
    own = None
    if executor is None:
        executor = own = cf.ThreadPoolExecutor(len(os.sched_getaffinity(0)))
    try:
        return _Search(records, base, chosen, executor, into, progress).run()
    finally:
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)


def _base(records: list[Record], base: Drive | str | None) -> Drive:
    if not records:
        raise TwinError("there are no records to fit a profile to")
    targets = {record.target.name for record in records}
    if len(targets) > 1:
        raise TwinError(f"the records are of several drives: {', '.join(sorted(targets))}")
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
        raise TwinError(f"{base.name} is a hard disk: twins are of solid-state drives")
    return base.with_(set={"capacity.sectors": target.capacity_bytes // 512})


class _Search:
    def __init__(
        self,
        records: list[Record],
        base: Drive,
        parameters: list[Parameter],
        executor: Any,
        into: Any,
        progress: Callable[[int], Any] | None,
    ) -> None:
        self.base, self.executor, self.into, self.progress = base, executor, into, progress
        self.task = Review(tuple(record.method for record in records), records[0].quick, records[0].seed)
        self.names = _features.names_of(records)
        if not self.names:
            raise TwinError("the records have no figure that was measured to its end")
        measured = _features.features(records, self.names)
        self.told = np.isfinite(measured)
        self.measured = measured[self.told]
        self.sigma = _features.errors(self.names)[self.told]
        self.discrete = [one for one in parameters if one.choices]
        self.free = [one for one in parameters if not one.choices]
        self.parameters = parameters
        self.known: dict[str, np.ndarray] = {}

    # What a candidate is

    def settings(self, choice: Sequence[int], logs: Sequence[float] | np.ndarray) -> dict[str, Any]:
        """The candidate as values of the profile."""
        values: dict[str, Any] = {one.key: value for one, value in zip(self.discrete, choice)}
        for one, log in zip(self.free, logs):
            value = math.exp(log)
            values[one.key] = max(1, round(value)) if one.whole else float(f"{value:.6g}")
        spare = values.pop("over_provisioning", None)
        if spare is not None:
            values["nand.blocks_per_plane"] = self.blocks(values, spare)
        return values

    def blocks(self, values: Mapping[str, Any], spare: float) -> int:
        """Blocks a plane that make this nameplate over-provisioning, to the nearest that fits."""
        of = lambda key: values.get(key, self.base[key])  # noqa: E731
        row = of("nand.dies") * of("nand.planes") * of("nand.pages_per_block") * of("nand.page_bytes")
        return max(8, round(self.base.capacity_bytes * (1.0 + spare) / row))

    def evaluate(self, candidates: list[dict[str, Any]]) -> list[np.ndarray]:
        """What reviews of these candidates say, in standard deviations from what was measured."""
        keys = [json.dumps(candidate, sort_keys=True) for candidate in candidates]
        new: dict[str, dict[str, Any]] = {}
        for key, candidate in zip(keys, candidates):
            if key not in self.known and key not in new:
                try:
                    self.base.with_(set=candidate)
                except Error:
                    self.known[key] = self.off(None)
                    continue
                new[key] = candidate
        if new:
            # They differ in their keys, so each is a cell of its own.
            cells = [{"drive": self.base, **candidate} for candidate in new.values()]
            swept = sweep(cells, self.task, self.executor, into=self.into, records=True)
            by_key: dict[str, list[Record]] = {}
            for row in swept.to_pylist():
                if row.get("record"):
                    by_key.setdefault(row["key"], []).append(Record.from_json(row["record"]))
            for (key, _), (cell_key, _) in zip(new.items(), swept._cells):
                self.known[key] = self.off(by_key.get(cell_key))
            if self.progress is not None:
                self.progress(len(self.known))
        return [self.known[key] for key in keys]

    def off(self, records: list[Record] | None) -> np.ndarray:
        if records is None:
            return np.full(len(self.measured), NO_DRIVE) / self.sigma
        off = _features.features(records, self.names)[self.told] - self.measured
        # Beyond a factor of three, how much more says nothing about where to go.
        return np.clip(np.where(np.isfinite(off), off, NO_DRIVE), -NO_DRIVE, NO_DRIVE) / self.sigma

    # The search

    def prior(self, logs: np.ndarray) -> np.ndarray:
        return np.array([(log - math.log(one.median)) / one.spread for one, log in zip(self.free, logs)])

    def start(self, choice: Sequence[int]) -> np.ndarray:
        """Where the search of the others begins: the priors' medians, with what is programmed a
        second as it was measured, whatever the pages and dies."""
        values = {one.key: one.median for one in self.free}
        written = [n for n in self.names if "sequential_write" in n]
        rate = self.rate_of(written[0]) if written else None
        if rate is not None and "nand.program_us" in values:
            shape = dict(zip((one.key for one in self.discrete), choice))
            of = lambda key: shape.get(key, self.base[key])  # noqa: E731
            row = of("nand.dies") * of("nand.planes") * of("nand.page_bytes")
            values["nand.program_us"] = row / (math.exp(self.measured[rate]) * 131072) * 1e6
        logs = []
        for one in self.free:
            logs.append(math.log(min(max(values[one.key], one.low * 1.01), one.high * 0.99)))
        return np.array(logs)

    def rate_of(self, name: str) -> int | None:
        """Where a figure's rate stands among what was measured."""
        place = self.names.index(name) * _features._count()
        return int(self.told[:place].sum()) if self.told[place] else None

    def climb(self, choice: Sequence[int], logs: np.ndarray, steps: int) -> Found:
        """The best values of the others for a choice, by SciPy's trust region."""
        from scipy.optimize import least_squares

        low, high = self.bounds()
        begin = np.clip(logs, low, high)
        met: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

        # From nought, since SciPy's first step is at most as long as what it begins with is large, and one
        # otherwise.
        def residuals(step: np.ndarray) -> np.ndarray:
            (off,) = self.evaluate([self.settings(choice, begin + step)])
            return np.concatenate([off, self.prior(begin + step)])

        def slopes(step: np.ndarray) -> np.ndarray:
            here = residuals(step)
            if len(met) % MEASURED_ANEW == 0:
                there = self.slopes(choice, begin + step)
            else:
                before, then, known = met[-1]
                by = step - before
                there = known + np.outer(here - then - known @ by, by) / (by @ by)
            met.append((step.copy(), here, there))
            return there

        found = least_squares(
            residuals, np.zeros(len(begin)), slopes, bounds=(low - begin - CLEAR, high - begin + CLEAR), loss="soft_l1",
            x_scale=FIRST_STEP, max_nfev=steps, f_scale=LOSS, ftol=GAIN,
        )
        return float(found.cost), np.clip(begin + found.x, low, high)

    def settle(self, choice: Sequence[int], found: Found) -> Found:
        """The best values of the others for a choice, looked for beside what a climb found and then from
        afar: a climb ends in the nearest valley, and a command's cost has one for every figure it may
        limit."""
        for _ in range(MOST_LOOKS):
            if self.is_met(found[0]):
                break
            begin = self.best_of(choice, self.near(choice, found[1]))
            if begin[0] > BETTER * found[0]:
                begin = self.best_of(choice, self.afar(found[1]))
                if begin[0] > BEGIN * found[0]:
                    break
            climbed = self.climb(choice, begin[1], LAST_STEPS)
            is_better = climbed[0] <= BETTER * found[0]
            found = min(found, climbed, key=lambda it: it[0])
            if not is_better:
                break
        return found

    def near(self, choice: Sequence[int], at: np.ndarray) -> list[np.ndarray]:
        """One of the others moved by each of some small steps, and the rest with it by what the slopes
        say: what one parameter takes away, others may give back."""
        low, high = self.bounds()
        slopes = self.slopes(choice, at)
        (off,) = self.evaluate([self.settings(choice, at)])
        here = np.concatenate([off, self.prior(at)])
        there = []
        for place in range(len(self.free)):
            rest = np.delete(np.arange(len(self.free)), place)
            # What nothing depends on need not be moved.
            for step in NEAR if np.any(slopes[: len(off), place]) else ():
                moved = here + slopes[:, place] * step
                with_it = np.linalg.lstsq(slopes[:, rest], -moved, rcond=None)[0]
                to = at.copy()
                to[place] += step
                to[rest] += np.clip(with_it, NEAR[0], NEAR[-1])
                there.append(np.clip(to, low, high))
        return there

    def afar(self, at: np.ndarray) -> list[np.ndarray]:
        """One of the others moved to each of some values over all of its range."""
        there = []
        for place, one in enumerate(self.free):
            for log in np.linspace(math.log(one.low), math.log(one.high), LOOKS):
                there.append(at.copy())
                there[-1][place] = log
        return there

    def best_of(self, choice: Sequence[int], there: list[np.ndarray]) -> Found:
        """The one of the least cost."""
        costs = self.costs(choice, there)
        best = min(range(len(there)), key=costs.__getitem__)
        return costs[best], there[best]

    def costs(self, choice: Sequence[int], there: list[np.ndarray]) -> list[float]:
        offs = self.evaluate([self.settings(choice, at) for at in there])
        return [self.cost(off, at) for off, at in zip(offs, there)]

    def is_met(self, cost: float, within: float = MET) -> bool:
        """Whether the data are met so well, in standard deviations, that there is nothing better to look for."""
        return cost <= 0.5 * len(self.measured) * within**2

    def cost(self, off: np.ndarray, at: np.ndarray) -> float:
        """What SciPy's `soft_l1` makes small."""
        squares = (np.concatenate([off, self.prior(at)]) / LOSS) ** 2
        return float(LOSS**2 * np.sum(np.sqrt(1.0 + squares) - 1.0))

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.array([math.log(one.low) for one in self.free])
        return low, np.array([math.log(one.high) for one in self.free])

    def slopes(self, choice: Sequence[int], at: np.ndarray) -> np.ndarray:
        """How all residuals depend on the others: every one is moved by a step at once."""
        _, high = self.bounds()
        steps = []
        for place, one in enumerate(self.free):
            step = max(STEP, 1.01 / math.exp(at[place]) if one.whole else 0.0)
            if one.key == "over_provisioning":
                # At least a block, and both sides of it.
                shape = dict(zip((d.key for d in self.discrete), choice))
                step = max(step, 1.01 / self.blocks(shape, 0.0) / math.exp(at[place]))
            steps.append(-step if at[place] + step > high[place] else step)
        moved = []
        for place, step in enumerate(steps):
            there = at.copy()
            there[place] += step
            moved.append(self.settings(choice, there))
        here, *others = self.evaluate([self.settings(choice, at), *moved])
        columns = [(off - here) / step for off, step in zip(others, steps)]
        priors = np.diag([1.0 / one.spread for one in self.free])
        return np.vstack([np.array(columns).T.reshape(len(here), len(steps)), priors])

    def run(self) -> Twin:
        choices = list(itertools.product(*(one.choices for one in self.discrete)))
        starts = [self.start(choice) for choice in choices]
        offs = self.evaluate([self.settings(choice, at) for choice, at in zip(choices, starts)])
        costs = {c: self.cost(off, at) for c, off, at in zip(choices, offs, starts)}
        begin = sorted(zip(choices, starts), key=lambda pair: costs[pair[0]])[:FIRST]
        # All at once: each waits for its own reviews, and the executor has them all.
        first = self.each(begin, lambda pair: self.climb(pair[0], pair[1], FIRST_STEPS))
        costs.update({choice: cost for (cost, _), (choice, _) in zip(first, begin)})
        pairs = zip(first, (choice for choice, _ in begin))
        ranked = sorted(pairs, key=lambda pair: pair[0][0])
        best, best_choice = ranked[0]
        for place, ((_, at), choice) in enumerate(ranked):
            found = self.climb(choice, at, LAST_STEPS)
            if place == 0 or found[0] <= HOPELESS * best[0]:
                found = self.settle(choice, found)
            costs[choice] = min(costs[choice], found[0])
            if place == 0 or found[0] < best[0]:
                best, best_choice = found, choice
            if self.is_met(best[0]) or place + 1 >= CLOSELY and self.is_met(best[0], 1.0):
                break
        return self.told_of(best_choice, best, costs)

    def each(self, of: list[Any], work: Callable[[Any], Any]) -> list[Any]:
        with cf.ThreadPoolExecutor(len(of)) as threads:
            return list(threads.map(work, of))

    # What came of it

    def told_of(self, choice: tuple[int, ...], found: Found, costs: Mapping[tuple[int, ...], float]) -> Twin:
        _, logs = found
        slopes = self.slopes(choice, logs)
        settings = self.settings(choice, logs)
        (off,) = self.evaluate([settings])
        misfit = math.sqrt(float(np.mean(off**2)))
        # What a figure says is off together: its parts count as one. And where the model does not meet the
        # data, it says less than it seems to.
        together = len(off) / len(self.names) * max(1.0, misfit) ** 2
        weighted = slopes.copy()
        weighted[: len(off)] /= math.sqrt(together)
        covariance = np.linalg.inv(weighted.T @ weighted)
        # No finer than it was looked at.
        deviations = np.maximum(np.sqrt(np.diag(covariance)), NEAR[-2])
        lows, highs = self.as_good(choice, logs, 0.5 * together)
        fitted: dict[str, Fitted] = {}
        weights = {one: math.exp(-(cost - min(costs.values())) / together) for one, cost in costs.items()}
        for place, one in enumerate(self.discrete):
            share: dict[int, float] = {}
            for other, weight in weights.items():
                share[other[place]] = share.get(other[place], 0.0) + weight / sum(weights.values())
            likely = [value for value, part in share.items() if part > 0.16]
            sure = share[choice[place]]
            fitted[one.key] = Fitted(one.key, choice[place], min(likely), max(likely), sure >= SURE, 1.0 - sure)
        for place, one in enumerate(self.free):
            low = min(logs[place] - deviations[place], lows[place])
            high = max(logs[place] + deviations[place], highs[place])
            left = min(1.0, float(high - low) / 2.0 / one.spread)
            value = float(math.exp(logs[place]))
            fitted[one.key] = Fitted(one.key, value, math.exp(low), math.exp(high), left <= DETERMINED, left)
        drive, toml = self.profile(settings, fitted)
        errors = {}
        for name in self.names:
            rate = self.rate_of(name)
            if rate is not None:
                errors[name] = math.exp(off[rate] * self.sigma[rate]) - 1.0
        ordered = {one.key: fitted[one.key] for one in self.parameters}
        return Twin(drive, ordered, self.confounded(covariance), errors, len(self.known), misfit, toml)

    def as_good(self, choice: Sequence[int], logs: np.ndarray, worse: float) -> tuple[np.ndarray, np.ndarray]:
        """How far each of the others may be moved, alone or the rest with it, before the cost is so much
        worse: where it goes in whole rows or blocks, farther than the slopes at one place tell."""
        low, high = self.bounds()
        alone = np.eye(len(self.free))[:, None, :] * np.array(BESIDE)[None, :, None]
        moved = np.clip(logs + alone.reshape(-1, len(self.free)), low, high)
        there = [*moved, *self.near(choice, logs)]
        here, *costs = self.costs(choice, [logs, *there])
        lows, highs = logs.copy(), logs.copy()
        for at, cost in zip(there, costs):
            if cost - here <= worse:
                lows, highs = np.minimum(lows, at), np.maximum(highs, at)
        return lows, highs

    def confounded(self, covariance: np.ndarray) -> list[tuple[str, ...]]:
        """Parameters whose errors go together: fixing one would more than halve another's."""
        groups: list[set[str]] = []
        own = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(own, own)
        for a, b in itertools.combinations(range(len(self.free)), 2):
            if abs(correlation[a, b]) > 0.87:
                pair = {self.free[a].key, self.free[b].key}
                joined = [group for group in groups if group & pair]
                for group in joined:
                    groups.remove(group)
                    pair |= group
                groups.append(pair)
        return [tuple(sorted(group)) for group in groups]

    def profile(self, settings: dict[str, Any], fitted: Mapping[str, Fitted]) -> tuple[Drive, str]:
        """The profile as a file, in which what was looked for stands as `fitted`."""
        text = self.base.with_(set=settings).to_toml()
        source = "twin"
        lines, section = [], ""
        for line in text.splitlines():
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
                lines.append(f'{source} = "fourcorners twin, fitted to {len(self.names)} figures of {", ".join(self.task.methods)}"')
        toml = "\n".join(lines) + "\n"
        return Drive.from_toml(toml, name="the twin"), toml


def _toml(value: Any) -> str:
    return repr(float(value)) if isinstance(value, float) else str(value)
