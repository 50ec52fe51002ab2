"""What a twin's search makes small: how far the reviews of a candidate are from what was measured."""

from __future__ import annotations

import json
import math
from typing import Any, Callable, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from . import _features
from ._native import Drive, Error, Record
from ._parameters import Parameter
from ._reviewed import Reviews
from ._task import Review

#: Standard deviations from where on a residual counts less than its square.
LOSS = 3.0
#: Relative step of a parameter to see what depends on it: over the noise of whole blocks and rows.
STEP = 0.03
#: What a candidate is worth that makes no drive, or has no such figure: three times wrong.
NO_DRIVE = math.log(3.0)


class TwinError(Error):
    """Records that no profile can be fitted to."""


#: A value of each parameter that has only some.
Choice = Tuple[float, ...]


class Found(NamedTuple):
    """Values that were found, and what they cost."""

    cost: float
    choice: Choice
    #: The natural logarithms of the others.
    logs: np.ndarray


class Objective:
    """The records, the profile that is varied and its parameters; every candidate is a review, run once."""

    def __init__(
        self,
        records: list[Record],
        base: Drive,
        parameters: list[Parameter],
        executor: Any,
        into: Any,
        progress: Callable[[int], Any] | None,
    ) -> None:
        #: So much of the id of its first record tells a drive that was measured from others.
        self.measured_as = records[0].id[:7]
        self.base, self.progress = base, progress
        self.task = Review(tuple(record.method for record in records), records[0].quick, records[0].seed)
        self.names = _features.names_of(records)
        measured = _features.features(records, self.names)
        self.told = np.isfinite(measured)
        self.measured = measured[self.told]
        self.is_diagnosed = any(one.found for one in parameters)
        self.sigma = _features.errors(records, self.names)[self.told]
        self.discrete = [one for one in parameters if one.choices]
        self.free = [one for one in parameters if not one.choices]
        self.parameters = parameters
        self.known: dict[str, np.ndarray] = {}
        self._put_through: set[str] = set()
        #: Why the latest candidate was not that could not be.
        self.refusal: str | None = None
        axes = ["drive", *self.settings(tuple(one.choices[0] for one in self.discrete), self.bounds()[0])]
        self._reviews = Reviews(self.task, executor, into, axes)

    @property
    def reviews(self) -> int:
        """Candidates that were put through the methods."""
        return len(self._put_through)

    def close(self) -> None:
        self._reviews.close()

    def shape(self, choice: Choice) -> Callable[[str], Any]:
        """What a value of the profile is with this choice."""
        chosen = {one.key: value for one, value in zip(self.discrete, choice)}
        return lambda key: chosen[key] if key in chosen else self.base[key]

    def place(self, key: str) -> int | None:
        """Where a parameter stands among those without choices."""
        return next((place for place, one in enumerate(self.free) if one.key == key), None)

    def rate_of(self, name: str) -> int | None:
        """Where a figure's rate stands among what was measured."""
        place = self.names.index(name) * _features.PER_FIGURE
        return int(self.told[:place].sum()) if self.told[place] else None

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low = np.array([math.log(one.low) for one in self.free])
        return low, np.array([math.log(one.high) for one in self.free])

    # What a candidate is

    def settings(self, choice: Choice, logs: Sequence[float] | np.ndarray) -> dict[str, Any]:
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
        of = lambda key: values[key] if key in values else self.base[key]  # noqa: E731
        row = of("nand.dies") * of("nand.planes") * of("nand.pages_per_block") * of("nand.page_bytes")
        return max(8, round(self.base.capacity_bytes * (1.0 + spare) / row))

    # What its reviews say

    def evaluate(self, candidates: list[dict[str, Any]]) -> list[np.ndarray]:
        """What reviews of these candidates say, in standard deviations from what was measured."""
        keys = [json.dumps(candidate, sort_keys=True) for candidate in candidates]
        new: dict[str, dict[str, Any]] = {}
        for key, candidate in zip(keys, candidates):
            if key not in self.known and key not in new:
                try:
                    self.base.with_(set=candidate)
                except Error as error:
                    self.known[key] = self.off(None)
                    self.refusal = str(error)
                    continue
                new[key] = candidate
        if new:
            # They differ in their keys, so each is a cell of its own.
            reviewed = self._reviews.of([{"drive": self.base, **candidate} for candidate in new.values()])
            for key, it in zip(new, reviewed):
                if it.records:
                    self._put_through.add(key)
                else:
                    self.refusal = it.error
                self.known[key] = self.off(it.records or None)
            if self.progress is not None:
                self.progress(self.reviews)
        return [self.known[key] for key in keys]

    def off(self, records: list[Record] | None) -> np.ndarray:
        if records is None:
            return np.full(len(self.measured), NO_DRIVE) / self.sigma
        off = _features.features(records, self.names)[self.told] - self.measured
        # Beyond a factor of three, how much more says nothing about where to go.
        return np.clip(np.where(np.isfinite(off), off, NO_DRIVE), -NO_DRIVE, NO_DRIVE) / self.sigma

    def residuals(self, choice: Choice, logs: np.ndarray) -> np.ndarray:
        """What a candidate is off, and below it how far it is from what was assumed."""
        (off,) = self.evaluate([self.settings(choice, logs)])
        return np.concatenate([off, self.prior(logs)])

    def prior(self, logs: np.ndarray) -> np.ndarray:
        return np.array([(log - math.log(one.median)) / one.spread for one, log in zip(self.free, logs)])

    def found(self, at: Sequence[tuple[Choice, np.ndarray]]) -> list[Found]:
        """These values with their costs, all evaluated at once."""
        offs = self.evaluate([self.settings(choice, logs) for choice, logs in at])
        return [Found(self.cost(off, logs), choice, logs) for off, (choice, logs) in zip(offs, at)]

    def cost(self, off: np.ndarray, logs: np.ndarray) -> float:
        """What SciPy's `soft_l1` makes small."""
        squares = (np.concatenate([off, self.prior(logs)]) / LOSS) ** 2
        return float(LOSS**2 * np.sum(np.sqrt(1.0 + squares) - 1.0))

    def misfit(self, found: Found) -> float:
        """Standard deviations that the features are off, root mean square."""
        (off,) = self.evaluate([self.settings(found.choice, found.logs)])
        return math.sqrt(float(np.mean(off**2)))

    def slopes(self, choice: Choice, at: np.ndarray) -> np.ndarray:
        """How all residuals depend on the parameters without choices: every one is moved by a step at once."""
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
