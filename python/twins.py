#!/usr/bin/env python3
"""Twins of twenty virtual drives drawn at random, as the table of docs/TWIN.md. Takes half an hour of CPU time.

    python python/twins.py                         # all twenty
    python python/twins.py 2 19                    # these seeds
    python python/twins.py --diagnosed             # with what `diagnose` finds of each
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests"))

import test_twin  # noqa: E402

#: Whose error is shown, and what the table calls it.
SHOWN = {
    "over_provisioning": "effective OP",
    "nand.program_us": "tPROG",
    "controller.write_command_us": "write command",
    "controller.read_command_us": "read command",
    "nand.read_us": "tR",
    "nand.erase_us": "tBERS",
    "buffer.write_kib": "buffer",
}


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    diagnosed = "--diagnosed" in sys.argv
    seeds = [int(seed) for seed in sys.argv[1:] if seed != "--diagnosed"] or test_twin.drawn(20)
    print(f"| seed | page KiB | dies | {' | '.join(SHOWN.values())} | misfit | reviews |")
    print("|---" * (len(SHOWN) + 5) + "|")
    reviews = 0
    for seed in seeds:
        twin, found = test_twin.recovered(seed, diagnosed)
        reviews += twin.evaluations
        page, dies = found["nand.page_bytes"], found["nand.dies"]
        cells = [str(seed), _choice(page.true / 1024, page.found / 1024), _choice(dies.true, dies.found)]
        for key in SHOWN:
            # What lies outside of the range that is stated is marked.
            cells.append(f"{found[key].error * 100:+.1f} %" + ("" if found[key].in_range else " !"))
        cells += [f"{twin.misfit:.2f}", str(twin.evaluations)]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"{reviews} reviews, {cpu_s():.0f} s of CPU time", file=sys.stderr)


def _choice(true: float, found: float) -> str:
    return f"{true:g}" if true == found else f"{true:g}, found {found:g}"


if __name__ == "__main__":
    main()
