"""What the data say of each parameter of a twin: its range, and whether they determine it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Iterable, Mapping

import numpy as np

from ._objective import Choice, Found, Objective
from ._search import moved

#: A parameter is determined when the data leave this share of what was uncertain before, or less.
DETERMINED = 0.5
#: Of one value of a parameter with choices, the probability that determines it.
SURE = 0.95
#: Relative steps of each parameter to either side, to see what is as good as what was found.
BESIDE = (-0.3, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.3)


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


@dataclass(frozen=True)
class Ranges:
    """What the data say of all parameters."""

    #: In the order in which they were given.
    fitted: dict[str, Fitted]
    #: Sets of those of which the data tell a combination better than each.
    confounded: list[tuple[str, ...]]


def ranges(objective: Objective, found: Found, costs: Mapping[Choice, float]) -> Ranges:
    """What the data say, where the best is `found` and each choice costs so much."""
    count = len(objective.measured)
    # What a figure says is off together: its parts count as one. And where the model does not meet the
    # data, it says less than it seems to.
    together = count / len(objective.names) * max(1.0, objective.misfit(found)) ** 2
    slopes = objective.slopes(found.choice, found.logs)
    slopes[:count] /= math.sqrt(together)
    covariance = np.linalg.inv(slopes.T @ slopes)
    fitted = {**_choices(objective, found, costs, together), **_others(objective, found, covariance, together)}
    ordered = {one.key: fitted[one.key] for one in objective.parameters}
    return Ranges(ordered, _confounded(objective, covariance))


def _choices(
    objective: Objective, found: Found, costs: Mapping[Choice, float], together: float
) -> dict[str, Fitted]:
    fitted = {}
    weights = {one: math.exp(-(cost - min(costs.values())) / together) for one, cost in costs.items()}
    for place, one in enumerate(objective.discrete):
        share: dict[int, float] = {}
        for other, weight in weights.items():
            share[other[place]] = share.get(other[place], 0.0) + weight / sum(weights.values())
        likely = [value for value, part in share.items() if part > 0.16]
        value, sure = found.choice[place], share[found.choice[place]]
        fitted[one.key] = Fitted(one.key, value, min(likely), max(likely), sure >= SURE, 1.0 - sure)
    return fitted


def _others(objective: Objective, found: Found, covariance: np.ndarray, together: float) -> dict[str, Fitted]:
    fitted = {}
    # No finer than it was looked at.
    deviations = np.maximum(np.sqrt(np.diag(covariance)), BESIDE[len(BESIDE) // 2])
    lows, highs = _as_good(objective, found, 0.5 * together)
    lows = np.minimum(found.logs - deviations, lows)
    highs = np.maximum(found.logs + deviations, highs)
    for one, log, low, high in zip(objective.free, found.logs, lows, highs):
        left = min(1.0, float(high - low) / 2.0 / one.spread)
        of = math.exp(log), math.exp(low), math.exp(high)
        fitted[one.key] = Fitted(one.key, *of, left <= DETERMINED, left)
    return fitted


def _as_good(objective: Objective, found: Found, worse: float) -> tuple[np.ndarray, np.ndarray]:
    """Where each of the others is moved to, alone, when the cost is first so much worse, on either side; and
    how far it may be, the rest with it. Where it goes in whole rows or blocks, that is farther than the
    slopes at one place tell."""
    count, low, high = len(objective.free), *objective.bounds()
    alone = np.eye(count)[:, None, :] * np.array(BESIDE)[None, :, None]
    beside = np.clip(found.logs + alone.reshape(count * len(BESIDE), count), low, high)
    there = [found.logs, *beside, *moved(objective, found)]
    here, *others = objective.found([(found.choice, logs) for logs in there])
    as_good = [other.cost - here.cost <= worse for other in others]
    with_rest = [found.logs] + [it.logs for it, good in zip(others[len(beside) :], as_good[len(beside) :]) if good]
    lows, highs = np.min(with_rest, axis=0), np.max(with_rest, axis=0)
    for place, good in enumerate(np.reshape(as_good[: len(beside)], (count, len(BESIDE)))):
        to, half = beside[place * len(BESIDE) :, place], len(BESIDE) // 2
        lows[place] = min(lows[place], to[_first_worse(good[half - 1 :: -1], range(half - 1, -1, -1))])
        highs[place] = max(highs[place], to[_first_worse(good[half:], range(half, len(BESIDE)))])
    return lows, highs


def _first_worse(good: Iterable[bool], steps: range) -> int:
    """The first of these steps that is not as good, or the last: what lies before it was not excluded."""
    return next((step for step, is_good in zip(steps, good) if not is_good), steps[-1])


def _confounded(objective: Objective, covariance: np.ndarray) -> list[tuple[str, ...]]:
    """Parameters whose errors go together: fixing one would more than halve another's."""
    groups: list[set[str]] = []
    own = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(own, own)
    for a, b in itertools.combinations(range(len(own)), 2):
        if abs(correlation[a, b]) > 0.87:
            pair = {objective.free[a].key, objective.free[b].key}
            joined = [group for group in groups if group & pair]
            for group in joined:
                groups.remove(group)
                pair |= group
            groups.append(pair)
    return [tuple(sorted(group)) for group in groups]
