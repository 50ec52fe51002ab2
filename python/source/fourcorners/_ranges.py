"""What the data say of each parameter of a twin: its range, and whether they determine it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Mapping

import numpy as np

from ._objective import Choice, Found, Objective
from ._search import moved, rows_beside

#: A parameter is determined when the data leave this share of what was uncertain before, or less.
DETERMINED = 0.5
#: Of one value of a parameter with choices, the probability that determines it.
SURE = 0.95
#: Relative steps of each parameter to either side, to see what is as good as what was found.
BESIDE = (0.05, 0.1, 0.2, 0.3)


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
    together = count / len(objective.names) * max(1.0, objective.misfit(found)) ** 2 + 2.0 * _chance(objective, found)
    slopes = objective.slopes(found.choice, found.logs)
    slopes[:count] /= math.sqrt(together)
    covariance = np.linalg.inv(slopes.T @ slopes)
    fitted = {**_choices(objective, found, costs, together), **_others(objective, found, covariance, together)}
    ordered = {one.key: fitted[one.key] for one in objective.parameters}
    return Ranges(ordered, _confounded(objective, covariance))


def _chance(objective: Objective, found: Found) -> float:
    """What the cost is more with a row of the buffer more or less. Whether a figure ends before an erase or after it depends
    on that, and no range should."""
    there = [(found.choice, logs) for logs in rows_beside(objective, found.choice, found.logs)]
    return max(0.0, float(np.median([it.cost - found.cost for it in objective.found(there)]))) if there else 0.0


def _choices(
    objective: Objective, found: Found, costs: Mapping[Choice, float], together: float
) -> dict[str, Fitted]:
    fitted = {}
    weights = {one: math.exp(-(cost - min(costs.values())) / together) for one, cost in costs.items()}
    for place, one in enumerate(objective.discrete):
        share: dict[float, float] = {}
        for other, weight in weights.items():
            share[other[place]] = share.get(other[place], 0.0) + weight / sum(weights.values())
        likely = _likely(share)
        value, sure = found.choice[place], share[found.choice[place]]
        low, high, left, is_determined = min(*likely, value), max(*likely, value), 1.0 - sure, sure >= SURE
        if one.found:
            # In whole steps, and those beside it were not all looked at closely.
            at = one.choices.index(low), one.choices.index(high)
            low = one.choices[at[0] - 1] if at[0] > 0 else one.found[0]
            high = one.choices[at[1] + 1] if at[1] + 1 < len(one.choices) else one.found[1]
            left = min(1.0, math.log(high / low) / 2.0 / (one.before or one.spread))
            is_determined = left <= DETERMINED
        fitted[one.key] = Fitted(one.key, value, low, high, is_determined, left)
    return fitted


def _likely(share: Mapping[float, float]) -> list[float]:
    """The values that have more than a tail of a normal distribution, and those, the likeliest first, that together make two
    thirds: of many alike none has as much."""
    likely, together = [], 0.0
    for value, part in sorted(share.items(), key=lambda it: -it[1]):
        if part > 0.16 or together < 2.0 / 3.0:
            likely.append(value)
        together += part
    return likely


def _others(objective: Objective, found: Found, covariance: np.ndarray, together: float) -> dict[str, Fitted]:
    fitted = {}
    # No finer than it was looked at.
    deviations = np.maximum(np.sqrt(np.diag(covariance)), BESIDE[0])
    lows, highs = _as_good(objective, found, 0.5 * together)
    lows = np.minimum(found.logs - deviations, lows)
    highs = np.maximum(found.logs + deviations, highs)
    for one, log, low, high in zip(objective.free, found.logs, lows, highs):
        left = min(1.0, float(high - low) / 2.0 / (one.before or one.spread))
        of = math.exp(log), math.exp(low), math.exp(high)
        fitted[one.key] = Fitted(one.key, *of, left <= DETERMINED, left)
    return fitted


def _as_good(objective: Objective, found: Found, worse: float) -> tuple[np.ndarray, np.ndarray]:
    """Where each of the others is moved to, alone, when the cost is first so much worse, on either side; and
    how far it may be, the rest with it. Where it goes in whole rows or blocks, that is farther than the
    slopes at one place tell."""
    count, (low, high) = len(objective.free), objective.bounds()
    alone = [
        [np.clip(found.logs + step * np.eye(count)[place], low, high) for step in side]
        for place in range(count)
        for side in (BESIDE, [-step for step in BESIDE])
    ]
    ways = alone + list(moved(objective, found))
    as_good = _outward(objective, found, ways, worse)
    held = [logs for way, good in zip(ways, as_good) for logs in way[:good]]
    lows, highs = np.min([found.logs, *held], axis=0), np.max([found.logs, *held], axis=0)
    for number, (way, good) in enumerate(zip(alone, as_good)):
        # What lies before the first step that is worse was not excluded.
        place, to = number // 2, way[min(good, len(way) - 1)]
        lows[place], highs[place] = min(lows[place], to[place]), max(highs[place], to[place])
    return lows, highs


def _outward(objective: Objective, found: Found, ways: list[list[np.ndarray]], worse: float) -> list[int]:
    """How many of the steps of each way cost at most so much more, from the first one on."""
    (here,) = objective.found([(found.choice, found.logs)])
    good, on = [0] * len(ways), [number for number, way in enumerate(ways) if way]
    while on:
        there = objective.found([(found.choice, ways[number][good[number]]) for number in on])
        on = [number for number, it in zip(on, there) if it.cost - here.cost <= worse]
        for number in on:
            good[number] += 1
        on = [number for number in on if good[number] < len(ways[number])]
    return good


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
