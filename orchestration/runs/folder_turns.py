"""Who may write in a folder: one run at a time, and one that waits for a person may give way."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

from orchestration.errors import UserError
from orchestration.workspace.folder_lock import FolderLock

LOOK_AGAIN_S = 0.5
"""How often a run looks whether another process has left the folder."""


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
        on_waiting: Callable[[str], None],
        on_granted: Callable[[], None],
        on_lost: Callable[[], None],
    ) -> None:
        """Say who waits for what.

        Args:
            run_id: the run.
            name: what a person calls it.
            folder: where it may write.
            is_paused: whether it waits for a person.
            on_waiting: hears why it has to wait, whenever that changes.
            on_granted: called when it may write after it had to wait.
            on_lost: called when it has given way; it has to ask again before it goes on.
        """
        self.run_id, self.name, self.folder = run_id, name, folder
        self.is_paused = is_paused
        self.on_waiting, self.on_granted, self.on_lost = on_waiting, on_granted, on_lost


class _Place:
    """One folder, however it is spelled."""

    def __init__(self, lock: FolderLock) -> None:
        self.lock = lock
        self.holder: Turn | None = None
        self.queue: list[Turn] = []
        self.told: dict[str, str] = {}
        self.seeking: asyncio.Task[None] | None = None


class FolderTurns:
    """The turns of one program; other programs are kept out by locks in a folder of their own."""

    def __init__(self, locks: Path) -> None:
        self._locks = locks
        self._places: dict[str, _Place] = {}
        self._of: dict[Turn, _Place] = {}

    async def take(self, turn: Turn) -> bool:
        """Take the folder if it is free; else the run is in the queue and hears why.

        Raises:
            OSError: the lock cannot be made.
        """
        place = self._of[turn] = await self._place_of(turn)
        if place.holder is turn:
            return True
        if place.holder is None and not place.queue:
            place.holder = turn  # nobody comes between
            if await asyncio.to_thread(place.lock.try_take, turn.name):
                return True
            place.holder = None
        self._wait(place, turn)
        return False

    def ask_again(self, turn: Turn) -> None:
        """Wait for the folder once more, after having given way."""
        place = self._of.get(turn)
        if place is not None and place.holder is not turn:
            self._wait(place, turn)

    def give_way(self, run_id: str) -> None:
        """Let a waiting run have the folder of a run that waits for a person.

        Raises:
            FolderBusy: the run does not wait, or who has the folder is at work.
        """
        place = next((p for p in self._places.values() if _find(p, run_id) is not None), None)
        if place is None:
            raise FolderBusy(f"run '{run_id}' does not wait for a folder")
        holder = place.holder
        if holder is None:
            raise FolderBusy("the folder is in use by another program: close the run there")
        if not holder.is_paused():
            raise FolderBusy(f"run '{holder.name}' is at work in the folder: wait or stop it")
        turn = _find(place, run_id)
        assert turn is not None
        place.queue.remove(turn)
        place.holder = turn
        holder.on_lost()
        self._grant(place, turn)

    def leave(self, turn: Turn) -> None:
        """The run is over: whoever waits is next."""
        place = self._of.pop(turn, None)
        if place is None:
            return
        if turn in place.queue:
            place.queue.remove(turn)
        elif place.holder is turn:
            place.holder = None
            if place.queue:
                upcoming = place.holder = place.queue.pop(0)
                self._grant(place, upcoming)
            else:
                place.lock.release()

    async def aclose(self) -> None:
        """Wait for nothing any more."""
        tasks = [place.seeking for place in self._places.values() if place.seeking is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for place in self._places.values():
            place.lock.release()
        self._places.clear()
        self._of.clear()

    def _wait(self, place: _Place, turn: Turn) -> None:
        if turn in place.queue:
            return
        place.queue.append(turn)
        if place.holder is not None:
            self._tell(place, turn, _reason(place.holder))
        elif place.seeking is None or place.seeking.done():
            place.seeking = asyncio.get_running_loop().create_task(self._seek(place))

    async def _seek(self, place: _Place) -> None:
        """Look again and again whether the other program has left the folder."""
        while place.queue and place.holder is None:
            turn = place.queue[0]
            if await asyncio.to_thread(place.lock.try_take, turn.name):
                if turn in place.queue and place.holder is None:
                    place.queue.remove(turn)
                    place.holder = turn
                    self._grant(place, turn)
                else:
                    place.lock.release()
                return
            whom = await asyncio.to_thread(place.lock.holder)
            for waiting in list(place.queue):
                self._tell(place, waiting, f"waiting for {whom}, which has this folder")
            await asyncio.sleep(LOOK_AGAIN_S)

    def _grant(self, place: _Place, turn: Turn) -> None:
        place.told.pop(turn.run_id, None)
        turn.on_granted()
        for waiting in place.queue:
            self._tell(place, waiting, _reason(turn))

    def _tell(self, place: _Place, turn: Turn, reason: str) -> None:
        if place.told.get(turn.run_id) != reason:
            place.told[turn.run_id] = reason
            turn.on_waiting(reason)

    async def _place_of(self, turn: Turn) -> _Place:
        key = await asyncio.to_thread(key_of, turn.folder)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place(FolderLock(self._locks / f"{key}.lock"))
        return place


def key_of(folder: Path) -> str:
    """A name for a folder that is the same however it is spelled, and on this computer only its."""
    status = os.stat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(str(folder))
    return f"{status.st_dev:x}-{status.st_ino:x}"


def _reason(holder: Turn) -> str:
    if holder.is_paused():
        return (
            f"waiting for run '{holder.name}', which has this folder and waits for a person: "
            "answer it, stop it or let it give way"
        )
    return f"waiting for run '{holder.name}', which works in this folder"


def _find(place: _Place, run_id: str) -> Turn | None:
    return next((turn for turn in place.queue if turn.run_id == run_id), None)
