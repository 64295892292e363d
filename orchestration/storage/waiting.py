"""How the storage thread answers those who wait in an event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orchestration.storage.errors import StorageError

if TYPE_CHECKING:
    from sqlalchemy import Connection

logger = logging.getLogger(__name__)

Trouble = Callable[[StorageError], None]


class Waiter:
    """A future that the storage thread ends. `power`: only when a power failure takes nothing.

    `run` is the number of the run that it is asked for, if it is one.
    """

    __slots__ = ("_loop", "future", "power", "run")

    def __init__(self, run: int | None, *, power: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()
        self.power = power
        self.run = run

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """End the future in its own thread."""
        try:
            self._loop.call_soon_threadsafe(_end, self.future, value, error)
        except RuntimeError:  # the event loop is closed
            logger.debug("nobody waits any more for what was written")


class Job:
    """A function that gets the connection, in a transaction of its own."""

    __slots__ = ("function", "waiter")

    def __init__(self, function: Callable[[Connection], Any], waiter: Waiter) -> None:
        self.function, self.waiter = function, waiter


class Listeners:
    """Who wants to hear, each in its own event loop, that nothing can be written any more."""

    def __init__(self) -> None:
        self._entries: list[tuple[asyncio.AbstractEventLoop, Trouble, int | None]] = []

    def add(self, listener: Trouble, run: int | None) -> Callable[[], None]:
        """Add a listener, for one run or for the database alone; gives what removes it."""
        entry = (asyncio.get_running_loop(), listener, run)
        self._entries.append(entry)

        def end() -> None:
            if entry in self._entries:
                self._entries.remove(entry)

        return end

    def tell(self, error: StorageError, run: int | None = None) -> None:
        """Tell everyone, or those who follow this run."""
        for loop, listener, wanted in list(self._entries):
            if run is None or run == wanted:
                try:
                    loop.call_soon_threadsafe(listener, error)
                except RuntimeError:  # that event loop is closed
                    logger.debug("nobody hears of: %s", error)


def _end(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():  # whoever waited was cancelled
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)
