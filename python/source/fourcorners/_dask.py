"""A Dask cluster, over a connection that is the sweep's own."""

from __future__ import annotations

import concurrent.futures as cf
import contextlib
from collections.abc import Mapping
from typing import Any

from ._engine import Engine, SweepError, why
from ._task import Cell, run_cells

#: Seconds that a scheduler has to answer at first, and a client to say farewell.
HELLO, FAREWELL = 10, 2


class Dask(Engine):
    """A client of its own, and a new one whenever its connection is lost.

    A client of Dask cancels all that it waited for when its connection is lost, and comes back only
    sometimes: one that connects again before its scheduler has noticed that it was gone fails at that and
    waits for ever (seen with 2026.8). So a connection that was broken once is given up, whether it came
    back or not, and what it was to bring is given to the next.
    """

    def __init__(self, address: str, security: Any = None, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(None)
        try:
            from distributed import Client
        except ImportError:
            raise SweepError(f"{address}: Dask is not installed: pip install 'fourcorners[dask]'") from None
        self._client_of, self._address, self._security = Client, address, security
        self._options = dict(options or {})
        self._client: Any = None
        self._connection: Any = None
        try:
            self._connect(HELLO)
        except (OSError, ValueError, TimeoutError) as error:
            raise SweepError(f"{address}: no Dask scheduler answers there: {error}") from None

    @staticmethod
    def of(client: Any, options: Mapping[str, Any]) -> Dask:
        """The cluster that a client is connected to; the client itself is left alone."""
        scheduler = getattr(client, "scheduler", None)
        if scheduler is None or client.status in ("closing", "closed"):
            raise SweepError(f"{client!r} is not connected to a scheduler: connect it, or give its address")
        return Dask(scheduler.address, client.security, options)

    def submit(self, batch: list[Cell], options: dict[str, bool]) -> cf.Future:
        client = self._client
        future = client.submit(run_cells, batch, **self._options, **options)
        brought: cf.Future = cf.Future()

        # Not the client's own executor: that brings nothing, not even an error, when a result is cancelled
        # while it is fetched.
        async def bring() -> None:
            try:
                brought.set_result(await client.gather(future, asynchronous=True))
            except BaseException as error:  # noqa: BLE001 - whoever waits for it is to have it
                brought.set_exception(error)

        client.loop.add_callback(bring)
        return brought

    def is_gone(self) -> bool:
        client = self._client
        return client is None or client.status != "running" or client.scheduler_comm is not self._connection

    def mend(self, error: BaseException) -> None:
        self.close()
        try:
            self._connect(None)
        except (OSError, ValueError, TimeoutError) as again:
            raise SweepError(
                f"the scheduler at {self._address} was lost ({why(error)}) and does not come back "
                f"({why(again)}); results that arrived are kept: call again when it is there"
            ) from again

    def close(self) -> None:
        client, self._client, self._connection = self._client, None, None
        if client is not None:
            # What lost its scheduler may fail at saying farewell, too.
            with contextlib.suppress(Exception):
                client.close(timeout=FAREWELL)

    def _connect(self, timeout: float | None) -> None:
        """`None` waits as long as Dask is configured to."""
        how = {} if timeout is None else {"timeout": timeout}
        self._client = self._client_of(self._address, security=self._security, set_as_default=False, **how)
        self._connection = self._client.scheduler_comm
