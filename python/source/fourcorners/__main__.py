"""`python -m fourcorners`: `sweep PLAN`, also as the command `fourcorners-sweep`, and `twin REVIEW`, as `fourcorners diagnose --twin` asks for it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, Iterator, Sequence

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
    twin = commands.add_parser("twin", help="find a profile that explains the records of a drive")
    twin.add_argument("review", metavar="REVIEW", type=Path, help="records of one drive: a folder of a review, or its review.json")
    twin.add_argument("--diagnosed", metavar="DRIVE", help="with --check: the drive that is to be diagnosed")
    twin.add_argument("--findings", metavar="FILE", type=Path, help="what `fourcorners diagnose` found in it, as JSON")
    twin.add_argument("--like", metavar="DRIVE", help="what is varied [default: the catalogue's drive of the records' name]")
    what = twin.add_mutually_exclusive_group(required=True)
    what.add_argument("-o", "--output", metavar="FILE.toml", type=Path, help="the profile; replaces an earlier file")
    what.add_argument("--check", action="store_true", help="say whether a twin can be looked for, and look for none")
    twin.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    asked = parser.parse_args(arguments)
    return _sweep(asked) if asked.command == "sweep" else _twin(asked)


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
        there = f"what arrived is in {into}: the same command goes on" if begun else "nothing was run yet"
        print(f"\nfourcorners: stopped; {there}", file=sys.stderr)
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


def _twin(arguments: argparse.Namespace) -> int:
    from . import Diagnosis, load
    from ._files import may_not_write, whole
    from ._frames import documents
    from ._twin import base_of, same_drive, twin

    said = time.monotonic()

    def progress(reviews: int) -> None:
        nonlocal said
        now = time.monotonic()
        on_terminal = sys.stderr.isatty()
        if now - said > (0.2 if on_terminal else 30):
            said = now
            line = f"fourcorners: twin: {reviews:,} reviews"
            print(f"\r{line} " if on_terminal else line, end="" if on_terminal else "\n", file=sys.stderr, flush=True)

    begun = False
    try:
        records = load(arguments.review)
        if arguments.check:
            base_of(records, arguments.like)
            if arguments.diagnosed:
                same_drive(records, arguments.diagnosed)
            return 0
        # Before the hundreds of reviews.
        inputs = [*documents(arguments.review), *filter(None, [arguments.findings, arguments.like and Path(arguments.like)])]
        why = may_not_write(arguments.output, inputs)
        if why is not None:
            raise Error(why)
        findings = arguments.findings and Diagnosis.from_json(arguments.findings.read_text(encoding="utf-8"))
        begun = True
        found = twin(records, arguments.like, findings=findings, progress=progress)
        with whole(arguments.output) as file:
            file.write(found.to_toml().encode())
    except KeyboardInterrupt:
        print("\nfourcorners: stopped; no twin was written", file=sys.stderr)
        return 1
    except (Error, OSError, ValueError, TypeError) as error:
        print(f"fourcorners: {error}", file=sys.stderr)
        return 1 if begun and isinstance(error, OSError) else 2
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if arguments.json:
        document = {
            "profile": str(arguments.output),
            "converged": found.converged,
            "misfit": found.misfit,
            "reviews": found.evaluations,
            "parameters": [vars(fitted) for fitted in found.parameters.values()],
            "differing": [{"key": one.key, "drive": _words(one), "twin": _words(two)} for one, two in found.differing],
        }
        print(json.dumps({"schema": "fourcorners.twin/1", **document}))
    else:
        print("\n".join(_lines(found, arguments.output)))
    return 0 if found.converged else 1


def _lines(found: Any, output: Path) -> Iterator[str]:
    """What a person is told of a twin."""
    met = "the records are met" if found.converged else "the records are NOT met: the model lacks something, or the base is of another kind"
    yield ""
    yield f"twin: {output}: {met} ({found.misfit:.2g} standard deviations off, after {found.evaluations:,} reviews)"
    width = max(len(key) for key in found.parameters)
    for key, fitted in found.parameters.items():
        known = f"{fitted.low:.4g} to {fitted.high:.4g}" if fitted.determined else "not determined"
        yield f"  {key:{width}}  {fitted.value:>10.5g}  {known}"
    if found.diagnosis is not None and not found.differing:
        yield "what was found in the drive is found in the twin"
    for one, two in found.differing:
        yield f"found otherwise in the twin: {one.key}: {_words(one)} of the drive, {_words(two)} of the twin"


def _words(finding: Any) -> str:
    from ._html import found

    return found(finding)


if __name__ == "__main__":
    sys.exit(main())
