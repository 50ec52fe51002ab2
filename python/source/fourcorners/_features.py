"""What a record says that a drive's parameters show in, as numbers that can be compared.

Only what a real drive tells as well: rates, latencies and their course, never what a virtual one
alone knows, such as its write amplification or its spare area.
"""

from __future__ import annotations

import math
from typing import Iterable

import numpy as np

from ._native import Figure, Record

#: Parts of all I/Os, from the fastest, whose mean latency is compared: it moves smoothly with what
#: moves any of them, which a percentile between two modes does not. Beside each, the relative error
#: it is taken to have: a model's, since a virtual drive has none.
BANDS = (
    (0.0, 0.02, 0.01),
    (0.02, 0.25, 0.02),
    (0.25, 0.5, 0.02),
    (0.5, 0.75, 0.02),
    (0.75, 0.9, 0.03),
    (0.9, 0.97, 0.03),
    (0.97, 0.995, 0.05),
    (0.995, 0.9995, 0.1),
    (0.9995, 1.0, 0.3),
)
RATE_ERROR = 0.01
#: How many I/Os are fast and how many slow is known to this share of all: an erase more or less at the end of a figure would
#: otherwise be many times the error of the band between the two.
SHARE_ERROR = 0.01
#: A series is compared in this many parts: how soon a drive is in its steady state says how much
#: spare area there is to write into.
PARTS = 5
PART_ERROR = 0.02
#: Values that each figure comes to: its rate first, then the bands, then the parts of its series.
PER_FIGURE = 1 + len(BANDS) + PARTS


def names_of(records: Iterable[Record]) -> list[str]:
    """The figures that can be compared: those that were measured to their end."""
    return [
        f"{record.method}/{name}"
        for record in records
        for name, figure in record.figures.items()
        if figure.complete and figure.ios > 0
    ]


def features(records: Iterable[Record], names: list[str]) -> np.ndarray:
    """Natural logarithms of what these figures say, one after the other; NaN for what is not there."""
    by_name = {
        f"{record.method}/{name}": (record, figure)
        for record in records
        for name, figure in record.figures.items()
    }
    parts = []
    for name in names:
        found = by_name.get(name)
        parts.append(np.full(PER_FIGURE, math.nan) if found is None else _of(name, *found))
    return np.concatenate(parts)


def errors(records: Iterable[Record], names: list[str]) -> np.ndarray:
    """The relative error of each. Where latencies are of two kinds, as before and after a drive collects, a band
    between the two says how many are of either, and no better than that is known."""
    figures = {f"{record.method}/{name}": figure for record in records for name, figure in record.figures.items()}
    parts = []
    for name in names:
        bins = figures[name].latency_bins_ns.astype(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            less, more = (np.log(_bands(bins, by)) for by in (-SHARE_ERROR, SHARE_ERROR))
        of_bands = np.hypot([error for _, _, error in BANDS], (more - less) / 2.0)
        parts.append(np.concatenate([[RATE_ERROR], of_bands, [PART_ERROR] * PARTS]))
    return np.concatenate(parts)


def _of(name: str, record: Record, figure: Figure) -> np.ndarray:
    bands = _bands(figure.latency_bins_ns.astype(float))
    series = record.series.get(name.split("/", 1)[1])
    iops = np.array([]) if series is None else series.iops.astype(float)
    if len(iops) >= PARTS:
        course = [part.mean() for part in np.array_split(iops, PARTS)]
    else:
        course = [math.nan] * PARTS
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(np.array([figure.iops, *bands, *course]))
    values[~np.isfinite(values)] = math.nan
    return values


def _bands(bins: np.ndarray, by: float = 0.0) -> list[float]:
    """The mean latency of each part of all I/Os; moved by a share of them, or half of what there is beside it."""
    lows, counts = bins[:, 0], bins[:, 1]
    ends = np.concatenate([[0.0], np.cumsum(counts)])
    total = ends[-1]
    # The integral of the quantile function, linear between the ends of bins.
    integral = np.concatenate([[0.0], np.cumsum(lows * counts)])

    def mean(low: float, high: float) -> float:
        move = math.copysign(min(abs(by), low / 2.0, (1.0 - high) / 2.0), by)
        least, most = np.interp([(low + move) * total, (high + move) * total], ends, integral)
        return (most - least) / ((high - low) * total)

    return [mean(low, high) for low, high, _ in BANDS]
