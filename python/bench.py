#!/usr/bin/env python3
"""What going through Python costs, and what an engine costs a run. Speed is measured here and never
asserted; run it on a quiet machine.

    python python/bench.py                         # import, calls, reviews
    python python/bench.py --methods four-corners  # the same with a shorter review
    python python/bench.py --sweep 10000           # runs a second and overhead by engine
    python python/bench.py --sweep 10000 --engines dask,dask20
"""

from __future__ import annotations

import argparse
import concurrent.futures as cf
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fourcorners as fc

ROOT = Path(__file__).resolve().parents[1]
SMALL = {
    "capacity.sectors": 2 * 1024 * 1024,
    "nand.channels": 4,
    "nand.dies": 8,
    "nand.pages_per_block": 64,
    "nand.blocks_per_plane": 150,
    "gc.pacing": "paced",
}
JOBS = [fc.Job("sequential", block_bytes=131072, drive_writes=0.02), fc.Job("random", read_percent=30, bytes=1 << 20)]


def import_time() -> None:
    took = []
    for _ in range(9):
        code = "import time; t = time.perf_counter(); import fourcorners; print(time.perf_counter() - t)"
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        took.append(float(out.stdout))
    print(f"import fourcorners: {statistics.median(took) * 1e3:.0f} ms (median of 9)")


def call_time() -> None:
    """A job of one I/O from Python and from Rust, in turn."""
    drive, calls = fc.Drive("crucial-m4-256gb", set=SMALL), 2000
    job = fc.Job(read_percent=100, queue_depth=1, bytes=4096)
    from fourcorners._native import empty_run

    over, ours = [], []
    drive.run(job)
    for _ in range(15):
        rust = empty_run(drive, calls) / calls
        began = time.perf_counter()
        for _ in range(calls):
            drive.run(job)
        python = (time.perf_counter() - began) / calls
        ours.append(python)
        over.append(python - rust)
    print(
        f"a run of one I/O: {statistics.median(ours) * 1e6:.1f} us, {statistics.median(over) * 1e6:.1f} us "
        "of them Python's (medians of 15 pairs of 2,000 calls)"
    )


def review_time(binary: str, pairs: int, methods: str | None) -> None:
    """A review of a drive from Python and by the command, in turn; CPU seconds."""
    arguments = ["review", "crucial-m4-256gb", "--json", "--no-db", *(["--methods", methods] if methods else [])]
    code = (
        "import fourcorners as fc\n"
        f"print([record.id for record in fc.review('crucial-m4-256gb', {methods!r})])"
    )
    ratios, wall = [], []
    for _ in range(pairs):
        theirs, (their_cpu, their_wall) = timed([binary, *arguments])
        ours, (our_cpu, our_wall) = timed([sys.executable, "-c", code])
        ids = [record["id"] for record in json.loads(theirs)["records"]]
        assert ids == eval(ours), "the command is of another version"
        ratios.append(our_cpu / their_cpu)
        wall.append(our_wall / their_wall)
        print(f"  command {their_cpu:.1f} s CPU, {their_wall:.1f} s; Python {our_cpu:.1f} s CPU, {our_wall:.1f} s")
    print(
        f"a review ({methods or 'the default methods'}): {statistics.median(ratios):.3f} of the command's CPU time, "
        f"{statistics.median(wall):.3f} of its time (medians of {pairs} pairs)"
    )


def timed(command: list[str]) -> tuple[str, tuple[float, float]]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return out, (cpu, time.perf_counter() - began)


def sweep_time(runs: int, engines: list[str]) -> None:
    grid = {"drive": "crucial-m4-256gb", **SMALL, "spare": [0.0, 0.25], "seed": range(runs // 2)}

    def measure(name: str, executor: object, at_once: int, **options: object) -> None:
        with tempfile.TemporaryDirectory() as folder:
            before = resource.getrusage(resource.RUSAGE_SELF)
            began = time.perf_counter()
            swept = fc.sweep(grid, JOBS, executor, into=folder, **options)
            took = time.perf_counter() - began
            after = resource.getrusage(resource.RUSAGE_SELF)
            size = sum(part.stat().st_size for part in Path(folder).glob("*.parquet"))
            own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            again = time.perf_counter()
            known = fc.sweep(grid, JOBS, cf.ThreadPoolExecutor(1), into=folder).known
            again = time.perf_counter() - again
        assert swept.ran == known == runs
        print(
            f"{name}: {runs} runs in {took:.1f} s, {swept.run_s / runs * 1e3:.2f} ms a run where it ran, "
            f"overhead {(took * at_once - swept.run_s) / runs * 1e3:.2f} ms of a worker's time a run, {swept.lost} lost, "
            f"{own / runs * 1e3:.2f} ms CPU of the sweeping process a run, {size / runs:.0f} bytes a run, "
            f"finding all known {again / runs * 1e6:.0f} us a run",
            flush=True,
        )

    if "threads" in engines:
        with cf.ThreadPoolExecutor(2) as threads:
            measure("2 threads", threads, 2)
    if "processes" in engines:
        measure("2 processes", None, 2, workers=2)
    if "processes20" in engines:
        measure("2 processes, 20 runs a task", None, 2, workers=2, runs_per_task=20)
    if "dask" not in engines and "dask20" not in engines:
        return
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        if "dask" in engines:
            measure("Dask, 2 workers", cluster.scheduler_address, 2)
        if "dask20" in engines:
            measure("Dask, 2 workers, 20 runs a task", cluster.scheduler_address, 2, runs_per_task=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweep", type=int, metavar="RUNS", help="measure engines with so many small runs instead")
    parser.add_argument("--engines", default="threads,processes,processes20,dask,dask20", help="which of these, with --sweep")
    parser.add_argument("--methods", metavar="LIST", help="of the review [default: the default methods]")
    parser.add_argument("--binary", default=str(ROOT / "target/release/fourcorners"))
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    if arguments.sweep:
        return sweep_time(arguments.sweep, arguments.engines.split(","))
    import_time()
    call_time()
    if Path(arguments.binary).exists():
        review_time(arguments.binary, arguments.pairs, arguments.methods)
    else:
        print(f"{arguments.binary}: not built, so that reviews are not compared")


if __name__ == "__main__":
    main()
