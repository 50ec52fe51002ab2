"""`python -m fourcorners sweep PLAN`, and the command `fourcorners-sweep`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Sequence

from ._native import Error, __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0: done; 1: a run failed, or it was stopped; 2: not begun."""
    parser = argparse.ArgumentParser(prog="fourcorners", description=__doc__)
    parser.add_argument("--version", action="version", version=f"fourcorners {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    sweep = commands.add_parser("sweep", help="run a plan of jobs over many drives")
    sweep.add_argument("plan", metavar="PLAN.toml", type=Path, help="the grid, and what is run on it")
    sweep.add_argument("--scheduler", metavar="ADDR", help="a Dask scheduler, tcp://HOST:PORT [default: processes of this machine]")
    sweep.add_argument("--workers", metavar="N", type=int, help="processes of this machine [default: one a CPU]")
    sweep.add_argument(
        "-o", "--output", "--into", dest="into", metavar="DIR", type=Path, help="folder of the results [default: the plan's]"
    )
    sweep.add_argument("--json", action="store_true", help="print one JSON document instead of a sentence")
    return _sweep(parser.parse_args(arguments))


def sweep_main() -> int:
    """The command `fourcorners-sweep`."""
    return main(["sweep", *sys.argv[1:]])


def _sweep(arguments: argparse.Namespace) -> int:
    from . import _plan
    from ._sweep import sweep

    begun = False
    said = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal begun, said
        begun = True
        now = time.monotonic()
        if sys.stderr.isatty() and (now - said > 0.2 or done == total):
            said = now
            print(f"\r{done:,} of {total:,} runs ", end="", file=sys.stderr, flush=True)

    into = None
    try:
        plan = _plan.read(arguments.plan)
        into = arguments.into or plan.into
        result = sweep(
            plan.grid,
            plan.task,
            arguments.scheduler,
            into=into,
            workers=arguments.workers,
            runs_per_task=plan.runs_per_task,
            series=plan.series,
            progress=progress,
        )
    except KeyboardInterrupt:
        print(f"\nfourcorners: stopped; what arrived is in {into}: the same command goes on", file=sys.stderr)
        return 1
    except (Error, OSError, ValueError, OverflowError) as error:
        print(f"fourcorners: {error}", file=sys.stderr)
        return 1 if begun else 2
    if sys.stderr.isatty():
        print(file=sys.stderr)
    failed = result.failed
    if arguments.json:
        refused = [{key: row[key] for key in ("drive", "error")} for row in failed]
        document = {"ran": result.ran, "known": result.known, "refused": refused, "folder": str(into)}
        print(json.dumps({"schema": "fourcorners.swept/1", **document}))
    else:
        print(f"{result.ran:,} runs, {result.known:,} known before, {len(failed):,} refused; in {into}")
    for row in failed[:10]:
        print(f"fourcorners: {row['drive']}: {row['error']}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
