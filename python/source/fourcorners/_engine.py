"""Who runs a sweep's runs: any executor, and what is done when it loses some."""

from __future__ import annotations

import asyncio
import concurrent.futures as cf
import itertools
import multiprocessing
import os
import queue
import signal
import time
from collections.abc import Iterator
from typing import Any

from ._native import Error
from ._task import Cell, Outcome, run_cells

#: Runs in the hands of an executor whose size is not known: enough for some hundred workers, and
#: few enough that a sweep of a million is no burden to a scheduler.
WINDOW = 1000
#: How often a run that an engine lost is given to it again, and how often in a row an engine that
#: brings nothing is put back to work.
RETRIES = 3
#: Seconds until a run that was lost is given out again: what took it may still be going on.
BEFORE_AGAIN = 1.0


class SweepError(Error):
    """A sweep that cannot be run, or cannot go on. What arrived before is kept."""


class Engine:
    """An executor, and what is done when it loses a run."""

    def __init__(self, executor: Any, window: int = WINDOW) -> None:
        self.executor, self.window, self.lost = executor, window, 0

    @staticmethod
    def of(executor: Any, workers: int | None) -> Engine:
        """What a caller gave: nothing, an executor, a Dask client or a scheduler's address."""
        if executor is None:
            return Processes(workers)
        if workers is not None:
            raise SweepError("workers is the number of local processes: leave it out with an executor")
        if isinstance(executor, str):
            from ._dask import Dask

            return Dask(executor)
        # A client, or what its `get_executor` returns.
        client = executor if hasattr(executor, "get_executor") else getattr(executor, "_client", None)
        if client is not None:
            from ._dask import Dask

            return Dask.of(client, getattr(executor, "_kwargs", {}))
        if not hasattr(executor, "submit"):
            raise SweepError(f"executor={executor!r} is neither an executor nor the address of one")
        return Engine(executor)

    def run(self, cells: list[Cell], runs_per_task: int, options: dict[str, bool]) -> Iterator[Outcome]:
        """All outcomes as they arrive."""
        waiting = [cells[at : at + runs_per_task] for at in range(0, len(cells), runs_per_task)]
        waiting.reverse()
        attempts: dict[str, int] = {}
        # What is in the executor's hands. What comes from one that was replaced finds no ticket.
        flying: dict[int, list[Cell]] = {}
        tickets = itertools.count()
        arrived: queue.SimpleQueue[tuple[int, cf.Future]] = queue.SimpleQueue()
        not_before, mended = 0.0, 0
        while waiting or flying:
            broken: BaseException | None = None
            while waiting and len(flying) < self.window and time.monotonic() >= not_before:
                try:
                    future = self.submit(waiting[-1], options)
                except Exception as error:  # noqa: BLE001 - told apart below
                    if not self.is_gone() and not _is_loss(error):
                        raise
                    if not flying or self.is_gone():
                        broken = error
                    break
                ticket = next(tickets)
                flying[ticket] = waiting.pop()
                future.add_done_callback(lambda done, ticket=ticket: arrived.put((ticket, done)))
            if broken is None:
                try:
                    ticket, future = arrived.get(timeout=0.5)
                except queue.Empty:
                    if not flying or not self.is_gone():
                        continue  # a chance for Ctrl-C
                    broken = ConnectionError("what was given to it does not come back")
            if broken is None:
                batch = flying.pop(ticket, None)
                if batch is None:
                    continue
                try:
                    outcomes = future.result()
                except BaseException as error:  # noqa: BLE001 - told apart below
                    is_loss = _is_loss(error)
                    if not is_loss and not isinstance(error, Exception):
                        raise
                    waiting.append(batch)
                    self.lost += len(batch)
                    if self.is_gone():
                        broken = error
                    elif not is_loss:
                        raise SweepError(why(error)) from error
                    else:
                        _count(attempts, batch, error)
                        if not isinstance(error, cf.BrokenExecutor):
                            not_before = time.monotonic() + BEFORE_AGAIN
                        elif not flying:
                            broken = error
                else:
                    mended = 0
                    yield from outcomes
            if broken is not None:
                mended += 1
                if mended > RETRIES:
                    raise _broke_down(broken) from broken
                self.lost += sum(map(len, flying.values()))
                waiting.extend(flying.values())
                flying.clear()
                self.mend(broken)

    def submit(self, batch: list[Cell], options: dict[str, bool]) -> cf.Future:
        return self.executor.submit(run_cells, batch, **options)

    def is_gone(self) -> bool:
        """Whether the executor will bring nothing any more, although it does not say so."""
        return False

    def mend(self, error: BaseException) -> None:
        """Puts an engine that broke down back to work, if it is ours."""
        raise _broke_down(error) from error

    def close(self) -> None:
        pass


class Processes(Engine):
    """Processes of this machine, a new pool whenever one of them died."""

    def __init__(self, workers: int | None) -> None:
        if workers is not None and workers < 1:
            raise SweepError(f"workers={workers}: it is 1 or more")
        self._workers = workers or len(os.sched_getaffinity(0))
        # Two a worker, so that none waits for us.
        super().__init__(None, 2 * self._workers)

    def submit(self, batch: list[Cell], options: dict[str, bool]) -> cf.Future:
        if self.executor is None:
            # Not forked: this process has threads whose locks a fork would keep for ever.
            context = multiprocessing.get_context("spawn")
            self.executor = cf.ProcessPoolExecutor(self._workers, context, initializer=_begin)
        return super().submit(batch, options)

    def mend(self, error: BaseException) -> None:
        self.close()

    def close(self) -> None:
        executor, self.executor = self.executor, None
        if executor is not None:
            processes = list((getattr(executor, "_processes", None) or {}).values())
            executor.shutdown(wait=False, cancel_futures=True)
            # Whoever was stopped does not want to wait for what is still being run.
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()


def _begin() -> None:
    """Ctrl-C goes to all processes of a terminal; the sweep itself ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _count(attempts: dict[str, int], batch: list[Cell], error: BaseException) -> None:
    """Counts that a batch was lost; the engine is not asked for ever."""
    key = batch[0].key
    attempts[key] = attempts.get(key, 0) + 1
    if attempts[key] > RETRIES:
        raise SweepError(
            f"{batch[0].drive!r} was lost {attempts[key]} times ({why(error)}); results that "
            "arrived are kept: a worker may have too little memory for it"
        ) from error


def _is_loss(error: BaseException) -> bool:
    """Whether an engine lost a run, rather than the run itself going wrong."""
    cancelled = (cf.CancelledError, asyncio.CancelledError)
    losses = (cf.BrokenExecutor, *cancelled, ConnectionError, MemoryError, TimeoutError)
    return isinstance(error, losses) or type(error).__module__.split(".")[0] == "distributed"


def _broke_down(error: BaseException) -> SweepError:
    return SweepError(
        f"the executor broke down ({why(error)}); results that arrived are kept: call again with a new one"
    )


def why(error: BaseException) -> str:
    """An error in a few words: some have none but their name."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
