"""Who runs a sweep's runs: any executor, and what is done when it loses some."""

from __future__ import annotations

import asyncio
import concurrent.futures as cf
import itertools
import multiprocessing
import os
import queue
import signal
import sys
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


#: What a worker exits with that has come to the sweep itself while it read the script, which has no guard.
UNGUARDED = 79


class SweepError(Error):
    """A sweep that cannot be run, or cannot go on. What arrived before is kept."""


class Engine:
    """An executor, and what is done when it loses a run."""

    def __init__(self, executor: Any, window: int = WINDOW) -> None:
        self.executor, self.window, self.lost = executor, window, 0
        self._course: _Course | None = None

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

    def run(self, cells: list[Cell], runs_per_task: int, options: dict[str, bool]) -> Iterator[Outcome | None]:
        """All outcomes as they arrive, and nothing now and then while none does."""
        course = self._course = _Course(cells, runs_per_task)
        while course.waiting or course.flying:
            outcomes: list[Outcome] = []
            broken = self._give_out(course, options)
            if broken is None:
                outcomes, broken = self._next(course)
            yield from outcomes or [None]
            if broken is not None:
                self._begin_again(course, broken)

    def _give_out(self, course: _Course, options: dict[str, bool]) -> BaseException | None:
        """Gives out as much as the executor is to have. Returns why it broke down, if it did."""
        while course.waiting and len(course.flying) < self.window and time.monotonic() >= course.not_before:
            try:
                future = self.submit(course.waiting[-1], options)
            except Exception as error:  # noqa: BLE001 - told apart below
                if not self.is_gone() and not _is_loss(error):
                    raise
                return error if not course.flying or self.is_gone() else None
            course.given(future)
        return None

    def _next(self, course: _Course) -> tuple[list[Outcome], BaseException | None]:
        """What arrives next, if anything does soon, and why the executor broke down, if it did."""
        try:
            ticket, future = course.arrived.get(timeout=0.5)
        except queue.Empty:
            # It is not waited for any longer: Ctrl-C is to have a chance.
            if course.flying and self.is_gone():
                return [], ConnectionError("what was given to it does not come back")
            return [], None
        given = course.flying.pop(ticket, None)
        if given is None:
            return [], None
        batch, _ = given
        try:
            outcomes = future.result()
        except BaseException as error:  # noqa: BLE001 - told apart there
            return [], self._failed(course, batch, error)
        course.mended = 0
        return outcomes, None

    def _failed(self, course: _Course, batch: list[Cell], error: BaseException) -> BaseException | None:
        """What was lost is given out again. Returns the error if the executor broke down with it, and raises
        what is no loss."""
        is_loss = _is_loss(error)
        if not is_loss and not isinstance(error, Exception):
            raise error
        course.waiting.append(batch)
        self.lost += len(batch)
        if self.is_gone():
            return error
        if not is_loss:
            raise SweepError(why(error)) from error
        course.count_loss(batch, error)
        if isinstance(error, cf.BrokenExecutor):
            # The others it had come back the same way.
            return None if course.flying else error
        course.not_before = time.monotonic() + BEFORE_AGAIN
        return None

    def _begin_again(self, course: _Course, broken: BaseException) -> None:
        """Mends an executor that broke down, which has lost all that was in its hands."""
        course.mended += 1
        if course.mended > RETRIES:
            raise _broke_down(broken) from broken
        lost = [batch for batch, _ in course.flying.values()]
        self.lost += sum(map(len, lost))
        course.waiting.extend(lost)
        course.flying.clear()
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
        """Takes back what was given out and is not begun; what is being run cannot be stopped in another's executor."""
        course, self._course = self._course, None
        for _, future in list(course.flying.values()) if course is not None else ():
            future.cancel()


class Processes(Engine):
    """Processes of this machine, a new pool whenever one of them died."""

    def __init__(self, workers: int | None) -> None:
        if workers is not None and workers < 1:
            raise SweepError(f"workers={workers}: it is 1 or more")
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            # This is a worker, which reads the script from its beginning, and the script sweeps: the parent says so once, in
            # `mend`. A worker of a worker could not be started here anyway (multiprocessing/spawn.py).
            raise SystemExit(UNGUARDED)
        script = getattr(sys.modules["__main__"], "__file__", None)
        if script == "<stdin>":
            raise SweepError(
                "worker processes read the script from its beginning, and cannot when it comes from standard input: save it in a "
                "file, or give an executor (concurrent.futures.ThreadPoolExecutor())"
            )
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
        processes = list((getattr(self.executor, "_processes", None) or {}).values())
        # Only then: a process closes its files, by which its end is noticed, before it has an exit code.
        self.close()
        # Those that were not the first are told to end and have another code.
        if any(_exit_code(process) == UNGUARDED for process in processes):
            raise SweepError(
                "this script runs the sweep again in each of its worker processes, which read it from the beginning: put what is to "
                'run once below `if __name__ == "__main__":`'
            ) from None

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


class _Course:
    """How far an engine is with the runs it was asked for."""

    def __init__(self, cells: list[Cell], runs_per_task: int) -> None:
        #: Batches that are to be given out, the next one last.
        self.waiting = [cells[at : at + runs_per_task] for at in range(0, len(cells), runs_per_task)]
        self.waiting.reverse()
        #: What is in the executor's hands. What comes from one that was replaced finds no ticket.
        self.flying: dict[int, tuple[list[Cell], cf.Future]] = {}
        self.arrived: queue.SimpleQueue[tuple[int, cf.Future]] = queue.SimpleQueue()
        #: When more may be given out, by the monotonic clock.
        self.not_before = 0.0
        #: How often in a row the executor was mended without bringing anything.
        self.mended = 0
        self._tickets = itertools.count()
        self._losses: dict[str, int] = {}

    def given(self, future: cf.Future) -> None:
        """The next batch was given out."""
        ticket = next(self._tickets)
        self.flying[ticket] = self.waiting.pop(), future
        future.add_done_callback(lambda done: self.arrived.put((ticket, done)))

    def count_loss(self, batch: list[Cell], error: BaseException) -> None:
        """Counts that a batch was lost; the engine is not asked for ever."""
        key = batch[0].key
        losses = self._losses[key] = self._losses.get(key, 0) + 1
        if losses > RETRIES:
            raise SweepError(
                f"{batch[0].drive!r} was lost {losses} times ({why(error)}); results that "
                "arrived are kept: a worker may have too little memory for it"
            ) from error


def _begin() -> None:
    """Ctrl-C goes to all processes of a terminal; the sweep itself ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _exit_code(process: multiprocessing.process.BaseProcess) -> int | None:
    """What a process that was joined exited with. The pool's thread joins it, too, and whoever of the two is told by the system
    has not noted it yet when the other is told that there is no such process."""
    for _ in range(100):
        if process.exitcode is not None:
            break
        time.sleep(0.01)
    return process.exitcode


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
