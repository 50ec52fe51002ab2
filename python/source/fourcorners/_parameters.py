"""What a twin may be given: the parameters of a profile, with bounds and priors from the catalogue."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from ._native import Drive, drives


@dataclass(frozen=True)
class Parameter:
    """A parameter of a profile that is to be found, and what is known of it before.

    `choices` are its only values; without them it is any number from `low` to `high`. Before anything
    is measured its logarithm is taken as normal, of this `median` and `spread` (the deviation of
    the natural logarithm). `found` is the interval that a diagnosis gives it, and
    `before` the spread without that.
    """

    key: str
    low: float
    high: float
    median: float
    spread: float
    choices: tuple[float, ...] = ()
    whole: bool = False
    found: tuple[float, float] | None = None
    before: float | None = None

    def __post_init__(self) -> None:
        if not (0 < self.low <= self.median <= self.high and self.spread > 0):
            raise ValueError(
                f"{self.key}: low={self.low}, median={self.median}, high={self.high}, "
                f"spread={self.spread}: they must be more than 0 and in this order"
            )


#: What a twin looks for unless it is told: what reviewers' tests can tell, and what they cannot but
#: a reader may hope for.
DEFAULT_KEYS = (
    "nand.page_bytes",
    "nand.dies",
    "nand.blocks_per_plane",
    "nand.program_us",
    "nand.read_us",
    "nand.erase_us",
    "controller.write_command_us",
    "controller.read_command_us",
    "buffer.write_kib",
)
_CHOICES = {
    "nand.page_bytes": (4096, 8192, 16384),
    "nand.dies": (4, 8, 16, 32, 64),
}
#: The catalogue has few drives, and the next one may lie outside what it has.
_WIDER = 1.5


@lru_cache(maxsize=1)
def _catalogue() -> dict[str, list[float]]:
    """The values of all solid-state drives of the catalogue, by parameter."""
    values: dict[str, list[float]] = {}
    for name in drives():
        drive = Drive(name)
        if drive.kind != "ssd":
            continue
        for value in drive.values:
            number = value["value"]
            if isinstance(number, (int, float)) and not isinstance(number, bool) and number > 0:
                values.setdefault(value["key"], []).append(float(number))
    return values


def from_catalogue(key: str, base: Drive) -> Parameter:
    """A parameter with the bounds and the prior that the catalogue gives it."""
    try:
        whole = isinstance(base[key], int)
    except KeyError:
        raise ValueError(f"{base.name} has no parameter {key}: give a base that has it") from None
    if key == "nand.blocks_per_plane":
        return _blocks(base)
    known = _catalogue().get(key, [])
    if len(known) < 3:
        raise ValueError(f"the catalogue has {len(known)} values of {key}: give a Parameter with bounds")
    logs = [math.log(value) for value in known]
    mean = sum(logs) / len(logs)
    spread = max(math.sqrt(sum((log - mean) ** 2 for log in logs) / (len(logs) - 1)), 0.2)
    low, high = min(known) / _WIDER, max(known) * _WIDER
    choices = _CHOICES.get(key, ())
    if choices:
        low, high = min(choices), max(choices)
    median = min(max(math.exp(mean), low), high)
    return Parameter(key, low, high, median, spread, choices, whole)


def _blocks(base: Drive) -> Parameter:
    """Spare area in blocks. It is found as nameplate over-provisioning, since dies and pages, which
    it is a product with, are not known; `nand.blocks_per_plane` then follows."""
    return Parameter("over_provisioning", 0.03, 0.6, 0.12, 0.7)
