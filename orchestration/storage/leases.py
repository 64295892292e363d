"""Who drives a run: one process at a time, known by its heartbeat."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from orchestration.storage.errors import RunIsDriven
from orchestration.storage.schema import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

HEARTBEAT_S = 5.0
LASTS_S = 30.0

_at_work: set[str] = set()
"""The holders of this process: one that is not there is of the past, whatever its number."""


class LeaseKeeper:
    """The leases of this process. For the storage thread: each method runs in a transaction."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._holder = secrets.token_hex(8)
        _at_work.add(self._holder)
        self._place = _place()
        self._held: dict[int, str] = {}
        self._renewed = 0.0

    def is_due(self) -> bool:
        """Whether the leases have to be renewed before anything else is written."""
        return bool(self._held) and self._clock() - self._renewed >= HEARTBEAT_S

    @property
    def holds_any(self) -> bool:
        """Whether there is anything to renew."""
        return bool(self._held)

    def holds(self, run: int | None) -> bool:
        """Whether this has a run's lease, as far as it knows."""
        return run in self._held

    def retire(self) -> None:
        """Drive nothing any more: what could not be given back is free all the same."""
        _at_work.discard(self._holder)

    def take(self, connection: Connection, run: int, run_id: str) -> None:
        """Take a run's lease: it is free, its holder is dead, or was not heard of for too long.

        Raises:
            RunIsDriven: another process has it.
        """
        import sqlalchemy as sa

        leases = tables().leases
        now = self._clock()
        mine = {
            "holder": self._holder,
            "place": self._place,
            "pid": os.getpid(),
            "expires": now + LASTS_S,
        }
        wanted = leases.c.run == run
        found = connection.execute(sa.select(leases).where(wanted).with_for_update()).first()
        if found is None:
            connection.execute(sa.insert(leases).values(run=run, **mine))
        elif found.holder == self._holder or not self.is_alive(
            found.holder, found.place, found.pid, found.expires
        ):
            connection.execute(sa.update(leases).where(wanted).values(**mine))
        else:
            here = found.place == self._place
            where = "on this computer" if here else f"on {found.place.partition('/')[0]}"
            raise RunIsDriven(run_id, f"process {found.pid} {where}")
        if not self._held:
            self._renewed = now
        self._held[run] = run_id

    def renew(self, connection: Connection) -> tuple[int, ...]:
        """Say that this process is alive; gives the runs that others have taken meanwhile."""
        import sqlalchemy as sa

        leases = tables().leases
        now = self._clock()
        mine = leases.c.holder == self._holder
        connection.execute(sa.update(leases).where(mine).values(expires=now + LASTS_S))
        kept = set(connection.scalars(sa.select(leases.c.run).where(mine)))
        self._renewed = now
        return tuple(run for run in self._held if run not in kept)

    def forget(self, run: int) -> str:
        """Renew this lease no more; gives the id of its run."""
        return self._held.pop(run)

    def release(self, connection: Connection, run: int) -> None:
        """Give a lease back; nothing happens if this process does not have it."""
        import sqlalchemy as sa

        leases = tables().leases
        self._held.pop(run, None)
        connection.execute(
            sa.delete(leases).where(leases.c.run == run, leases.c.holder == self._holder)
        )

    def release_all(self, connection: Connection) -> None:
        """Give all leases back, when the program ends."""
        for run in list(self._held):
            self.release(connection, run)

    def is_alive(self, holder: str, place: str, pid: int, expires: float) -> bool:
        """Whether whoever has a lease may still be at work.

        It is not if the lease has run out, or if it was a process of this computer that is gone.
        """
        if expires <= self._clock():
            return False
        if place != self._place:
            return True
        if pid == os.getpid():
            return holder in _at_work
        if sys.platform == "win32":
            return True  # it has no harmless signal
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def _place() -> str:
    """The computer, and where processes have numbers of their own, also which numbering."""
    numbering = ""
    if sys.platform == "linux":
        with suppress(OSError):
            numbering = os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()}/{numbering}"
