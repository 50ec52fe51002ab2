"""What a diagnosis says of the parameters of a twin before anything is fitted."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Iterator

from ._native import Diagnosis, Drive, Error, Finding
from ._parameters import Parameter

#: As many whole blocks as an interval holds are tried each; of more, the interval is a range.
MOST_BLOCKS = 12
#: No value is known better than to this share.
LEAST_SPREAD = 0.01


def told(parameters: list[Parameter], base: Drive, diagnosis: Diagnosis) -> list[Parameter]:
    """The parameters with what was found: a value is fixed, an interval or a bound narrows the range, and
    what is undetermined is as it was."""
    findings = {finding.key: finding for finding in diagnosis.findings if finding.standing != "undetermined"}
    by_key = {one.key: one for one in parameters}
    for key, of in ("nand.page_bytes", "page_bytes"), ("nand.dies", "dies"), ("nand.channels", "channels"):
        if key in by_key and of in findings:
            by_key[key] = _among(by_key[key], findings[of])
    shapes = list(_shapes(by_key, base))
    if "buffer.write_kib" in by_key and "write_buffer_kib" in findings:
        by_key["buffer.write_kib"] = _buffer(by_key["buffer.write_kib"], findings["write_buffer_kib"], shapes)
    # An SLC cache has blocks of its own, or takes those that are free: how much of it was in use is not told.
    if "over_provisioning" in by_key and "spare_percent" in findings and not _has(base, "slc_buffer.program_us"):
        by_key["over_provisioning"] = _spare(by_key["over_provisioning"], findings["spare_percent"], shapes)
    return [by_key[one.key] for one in parameters]


def differing(diagnosis: Diagnosis, other: Diagnosis) -> Iterator[tuple[Finding, Finding]]:
    """What is determined in one and not so in the other, or not there; both sides of it."""
    of_other = {finding.key: finding for finding in other.findings}
    for one in diagnosis.findings:
        two = of_other.get(one.key)
        if one.standing == "determined" and two is not None and not _agree(one, two):
            yield one, two


def _agree(one: Finding, two: Finding) -> bool:
    if two.standing == "undetermined":
        return False
    if isinstance(one.value, str) or isinstance(two.value, str):
        return one.value == two.value
    (low, high), (other_low, other_high) = _interval(one), _interval(two)
    return low <= other_high and other_low <= high


def _interval(finding: Finding) -> tuple[float, float]:
    """From where to where the number may be; a bound is one from below."""
    return (finding.value, math.inf) if finding.standing == "bound" else finding.interval


def _shapes(by_key: dict[str, Parameter], base: Drive) -> Iterator[Drive]:
    """The base with each combination of the choices that are left."""
    discrete = [one for one in by_key.values() if one.choices]
    for values in itertools.product(*(one.choices for one in discrete)):
        try:
            yield base.with_(set={one.key: value for one, value in zip(discrete, values)})
        except Error:
            continue


def _among(one: Parameter, finding: Finding) -> Parameter:
    """A parameter with choices, with those that the finding leaves."""
    low, high = _interval(finding)
    # What was measured need not be among what is usual.
    left = tuple(value for value in one.choices if low <= value <= high) or (round(finding.value),)
    median = min(max(one.median, min(left)), max(left))
    return dataclasses.replace(one, low=min(left), high=max(left), median=median, choices=left)


def _buffer(one: Parameter, finding: Finding, shapes: list[Drive]) -> Parameter:
    """What a drive at rest takes is the buffer's whole rows without those that are being filled: one, and one
    in an SLC cache."""
    rows = [shape["nand.planes"] * shape["nand.page_bytes"] / 1024 for shape in shapes]
    if not rows:
        return one
    being_filled = 2 if _has(shapes[0], "slc_buffer.program_us") else 1
    low, high = _interval(finding)
    low, high = low + being_filled * min(rows), high + (being_filled + 1) * max(rows)
    if finding.standing != "determined" or max(rows) > min(rows):
        return _narrowed(one, low, high)
    # Less than a row more makes no difference.
    value = math.ceil(low)
    return dataclasses.replace(one, low=low, high=high, median=value, choices=(value,), found=(low, high), before=one.spread)


def _has(drive: Drive, key: str) -> bool:
    try:
        drive[key]
    except KeyError:
        return False
    return True


def _spare(one: Parameter, finding: Finding, shapes: list[Drive]) -> Parameter:
    """What can be written at random before a drive collects is spare without the blocks that it keeps."""
    if not shapes:
        return one
    low, high = (percent / 100.0 for percent in _interval(finding))
    kept = [nameplate - effective for nameplate, effective in (shape.over_provisioning for shape in shapes)]
    if finding.standing != "determined":
        return _narrowed(one, low + min(kept), high + max(kept))
    low, middle, high = low + min(kept), finding.value / 100.0 + kept[0], high + max(kept)
    blocks = _whole_blocks(shapes[0], low, high) if len(shapes) == 1 else ()
    if not 0 < len(blocks) <= MOST_BLOCKS:
        return _narrowed(one, low, high)
    median = min(blocks, key=lambda it: abs(it - middle))
    return dataclasses.replace(
        one, low=blocks[0], high=blocks[-1], median=median, choices=blocks, found=(max(low, 0.01 * high), high), before=one.spread
    )


def _whole_blocks(drive: Drive, low: float, high: float) -> tuple[float, ...]:
    """The nameplate over-provisioning from `low` to `high` of each number of blocks."""
    block = drive["nand.dies"] * drive["nand.planes"] * drive["nand.pages_per_block"] * drive["nand.page_bytes"]
    share = block / drive.capacity_bytes
    first, last = math.ceil((1.0 + low) / share), math.floor((1.0 + high) / share)
    return tuple(spare for spare in (blocks * share - 1.0 for blocks in range(first, last + 1)) if spare > 0.0)


def _narrowed(one: Parameter, low: float, high: float) -> Parameter:
    """A parameter that a finding says to be from `low` to `high`; a bound leaves the other side as it was."""
    if math.isfinite(high):
        # Half of the interval is a deviation, and in one case in twenty it is outside.
        # A logarithm has no nought.
        found = low, high = max(low, 0.01 * high), high
        middle, half = math.sqrt(low * high), max(0.5 * math.log(high / low), LEAST_SPREAD)
        of = {"low": middle * math.exp(-2.0 * half), "high": middle * math.exp(2.0 * half), "median": middle, "spread": half}
        return dataclasses.replace(one, **of, found=found, before=one.spread)
    low = min(max(low, one.low), one.high)
    return dataclasses.replace(one, low=low, median=max(one.median, low), found=(low, one.high))
