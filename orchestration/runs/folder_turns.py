"""Who may write in a folder: one run at a time, and one that waits for a person may give way."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

from orchestration.errors import UserError
from orchestration.workspace.folder_lease import FolderLease, Holding

logger = logging.getLogger(__name__)

LOOK_AGAIN_S = 0.5
"""How often a program looks what has become of a folder that it has or waits for."""


class FolderBusy(UserError):
    """The run that has the folder is at work and does not give way."""


class Turn:
    """A run's place in the queue for its folder; the callbacks come on the event loop."""

    __slots__ = ("folder", "is_paused", "name", "on_granted", "on_lost", "on_waiting", "run_id")

    def __init__(
        self,
        run_id: str,
        name: str,
        folder: Path,
        *,
        is_paused: Callable[[], bool],
        on_waiting: Callable[[str, bool], None],
        on_granted: Callable[[], None],
        on_lost: Callable[[], None],
    ) -> None:
        """Say who waits for what.

        Args:
            run_id: the run.
            name: what a person calls it.
            folder: where it may write.
            is_paused: whether it waits for a person.
            on_waiting: hears why it has to wait and whether it could go first, whenever that
                changes.
            on_granted: called when it may write after it had to wait.
            on_lost: called when it has given way; it has to ask again before it goes on.
        """
        self.run_id, self.name, self.folder = run_id, name, folder
        self.is_paused = is_paused
        self.on_waiting, self.on_granted, self.on_lost = on_waiting, on_granted, on_lost


class _Place:
    """One folder, however it is spelled."""

    def __init__(self, lease: FolderLease) -> None:
        self.lease = lease
        self.holder: Turn | None = None
        self.queue: list[Turn] = []
        self.told: dict[str, tuple[str, bool]] = {}
        self.noted: Holding | None = None
        self.leasing = 0
        self.watching: asyncio.Task[None] | None = None

    @property
    def is_of_use(self) -> bool:
        """Whether a run of this program has the folder or waits for it."""
        return self.holder is not None or bool(self.queue)


class FolderTurns:
    """The turns of one program; other programs have theirs, by leases in a folder of their own."""

    def __init__(self, locks: Path) -> None:
        self._locks = locks
        self._places: dict[str, _Place] = {}
        self._of: dict[Turn, _Place] = {}

    async def take(self, turn: Turn) -> bool:
        """Take the folder if it is free; else the run is in the queue and hears why.

        Raises:
            FolderBusy: its lock cannot be made.
        """
        try:
            place = self._of[turn] = await self._place_of(turn)
            if place.holder is turn:
                return True
            if place.holder is None and not place.queue:
                place.holder = turn  # nobody comes between
                if await self._lease(place, turn):
                    self._watch(place)
                    return True
                place.holder = None
        except BaseException as error:
            self.leave(turn)
            if isinstance(error, OSError):
                raise _no_lock(turn, error) from error
            raise
        if turn in self._of:  # else the run has ended meanwhile
            self._wait(place, turn)
        return False

    def ask_again(self, turn: Turn) -> None:
        """Wait for the folder once more, after having given way."""
        place = self._of.get(turn)
        if place is not None and place.holder is not turn:
            self._wait(place, turn)

    async def give_way(self, run_id: str) -> None:
        """Let a waiting run have the folder of a run that waits for a person.

        Where that is another program's, it is asked to, and does so a moment later; should its run
        be at work by then, as soon as it waits for a person again.

        Raises:
            FolderBusy: the run does not wait, or who has the folder is at work.
        """
        place = next((p for p in self._places.values() if _find(p, run_id) is not None), None)
        turn = _find(place, run_id) if place is not None else None
        if place is None or turn is None:
            raise FolderBusy(f"run '{run_id}' does not wait for a folder")
        holder = place.holder
        if holder is None:
            await self._ask_elsewhere(place, turn)
            return
        if not holder.is_paused():
            raise FolderBusy(f"run '{holder.name}' is at work in the folder: wait or stop it")
        place.queue.remove(turn)
        place.holder = turn
        holder.on_lost()
        self._grant(place, turn)

    def leave(self, turn: Turn) -> None:
        """The run is over: whoever waits is next."""
        place = self._of.pop(turn, None)
        if place is None:
            return
        place.told.pop(turn.run_id, None)
        if turn in place.queue:
            place.queue.remove(turn)
        elif place.holder is turn:
            place.holder = None
            if place.queue and place.lease.is_held:
                upcoming = place.holder = place.queue.pop(0)
                self._grant(place, upcoming)
        if not place.is_of_use:
            self._let_go(place)

    async def aclose(self) -> None:
        """Wait for nothing any more."""
        tasks = [place.watching for place in self._places.values() if place.watching is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for place in self._places.values():
            place.lease.give_back()
            place.lease.leave_the_line()
        self._places.clear()
        self._of.clear()

    def _wait(self, place: _Place, turn: Turn) -> None:
        if turn in place.queue:
            return
        place.queue.append(turn)
        if place.holder is not None:
            self._tell(place, turn, _local(place.holder))
        self._watch(place)

    def _watch(self, place: _Place) -> None:
        if place.watching is None or place.watching.done():
            place.watching = asyncio.get_running_loop().create_task(self._follow(place))

    async def _follow(self, place: _Place) -> None:
        """Follow what other programs do about the folder for as long as it is of use here."""
        while place.is_of_use:
            try:
                if place.holder is None:
                    await self._seek(place, place.queue[0])
                else:
                    await self._look_after(place, place.holder)
            except OSError as error:
                logger.warning("the lock of a folder cannot be used: %s", error)
            await asyncio.sleep(LOOK_AGAIN_S)

    async def _seek(self, place: _Place, turn: Turn) -> None:
        """Take the folder for a run if the other program has left it; else say who has it."""
        if await self._lease(place, turn):
            if turn in place.queue and place.holder is None:
                place.queue.remove(turn)
                place.holder = turn
                self._grant(place, turn)
            elif place.holder is None:
                place.lease.give_back()
            return
        holding = await asyncio.to_thread(place.lease.holder)
        for waiting in list(place.queue):
            self._tell(place, waiting, holding)

    async def _look_after(self, place: _Place, holder: Turn) -> None:
        """Say how the run that has the folder stands, and let another program's go first."""
        holding = _local(holder)
        if holding != place.noted:
            place.noted = holding
            await asyncio.to_thread(place.lease.tell, holding)
        if holding.is_paused and await asyncio.to_thread(place.lease.is_asked_for):
            if place.holder is holder and holder.is_paused():
                place.holder = place.noted = None
                holder.on_lost()
                place.lease.give_back()
            return
        if place.holder is not None:
            for waiting in list(place.queue):
                self._tell(place, waiting, _local(place.holder))

    async def _ask_elsewhere(self, place: _Place, turn: Turn) -> None:
        holding = await asyncio.to_thread(place.lease.holder)
        if holding is not None and not holding.is_paused:
            raise FolderBusy(f"{_named(holding)} is at work in the folder: wait or stop it there")
        if not place.lease.is_next:
            raise FolderBusy("a run of another program waits for the folder too, and is next")
        if turn in place.queue:
            place.queue.remove(turn)
            place.queue.insert(0, turn)
            await asyncio.to_thread(place.lease.ask_to_go_first)

    async def _lease(self, place: _Place, turn: Turn) -> bool:
        """Take the lease in a thread; what nobody wants any more by then is given back."""
        place.leasing += 1
        taking = asyncio.ensure_future(asyncio.to_thread(place.lease.try_take, turn.name))
        try:
            await asyncio.wait([taking])
        except asyncio.CancelledError:
            await asyncio.wait([taking])  # a thread cannot be cancelled
            raise
        finally:
            place.leasing -= 1
            if not place.is_of_use:
                self._let_go(place)
        if taking.result() and place.is_of_use:
            place.noted = Holding(turn.name, os.getpid())
            return True
        return False

    def _let_go(self, place: _Place) -> None:
        if place.leasing:
            return
        place.noted = None
        place.lease.give_back()
        place.lease.leave_the_line()
        if place.watching is not None and place.watching is not asyncio.current_task():
            place.watching.cancel()

    def _grant(self, place: _Place, turn: Turn) -> None:
        place.told.pop(turn.run_id, None)
        turn.on_granted()
        for waiting in place.queue:
            self._tell(place, waiting, _local(turn))

    def _tell(self, place: _Place, turn: Turn, holding: Holding | None) -> None:
        told = _reason(holding), holding is not None and holding.is_paused
        if place.told.get(turn.run_id) != told:
            place.told[turn.run_id] = told
            turn.on_waiting(*told)

    async def _place_of(self, turn: Turn) -> _Place:
        key = await asyncio.to_thread(key_of, turn.folder)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place(FolderLease(self._locks, key))
        return place


def key_of(folder: Path) -> str:
    """A name for a folder that is the same however it is spelled, and on this computer only its."""
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(str(folder))
    return f"{status.st_dev:x}-{status.st_ino:x}"


def _no_lock(turn: Turn, error: OSError) -> FolderBusy:
    reason = error.strerror or str(error)
    return FolderBusy(f"the folder {turn.folder} cannot be locked for a run ({reason})")


def _local(turn: Turn) -> Holding:
    return Holding(turn.name, os.getpid(), turn.is_paused())


def _named(holding: Holding) -> str:
    elsewhere = "" if holding.pid == os.getpid() else f" of process {holding.pid}"
    return f"run '{holding.name}'{elsewhere}"


def _reason(holding: Holding | None) -> str:
    if holding is None:
        return "waiting for another program, which has this folder"
    if holding.is_paused:
        return (
            f"waiting for {_named(holding)}, which has this folder and waits for a person: "
            "answer it, stop it or let this run go first"
        )
    return f"waiting for {_named(holding)}, which works in this folder"


def _find(place: _Place, run_id: str) -> Turn | None:
    return next((turn for turn in place.queue if turn.run_id == run_id), None)
