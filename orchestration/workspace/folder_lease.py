"""Which program may write in a folder, which one is next, and what they tell each other."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

import msgspec
from msgspec import Struct

from orchestration.workspace.folder_lock import FolderLock


class Holding(Struct, frozen=True):
    """The run that has a folder, in whichever program. `is_paused`: it waits for a person."""

    name: str
    pid: int
    is_paused: bool = False


class _Wish(Struct, frozen=True):
    """What the program that is next in line asks of the one that has the folder."""

    wants_first: bool = False


class FolderLease:
    """The lease of one folder among the programs of a data folder.

    Two locks, which the system takes back from a program that ends: one says who has the folder,
    the other who is next. Whoever wants the folder has to be next first, so that a program that
    gives way does so to the one that asked. Every method may touch the disk, and all may be called
    in any thread.
    """

    def __init__(self, locks: Path, key: str) -> None:
        """Take the folder of the locks and the name of the folder that is leased."""
        self._has = FolderLock(locks / f"{key}.lock")
        self._next = FolderLock(locks / f"{key}.next")
        self._guard = Lock()

    @property
    def is_held(self) -> bool:
        """Whether this program has the folder."""
        return self._has.is_held

    @property
    def is_next(self) -> bool:
        """Whether this program gets it next."""
        return self._next.is_held

    def try_take(self, name: str) -> bool:
        """Take the folder for a run of this name, or stand in line for it.

        Raises:
            OSError: the locks cannot be made.
        """
        with self._guard:
            if not self._has.is_held:
                if not (self._next.try_take() and self._has.try_take()):
                    return False
                self._next.release()
            self._note(Holding(name, os.getpid()))
            return True

    def tell(self, holding: Holding) -> None:
        """Say who has the folder now, and whether it waits for a person."""
        with self._guard:
            self._note(holding)

    def holder(self) -> Holding | None:
        """Who has the folder; `None` where nobody says so."""
        try:
            return msgspec.json.decode(self._has.note(), type=Holding)
        except msgspec.MsgspecError:
            return None  # it is being written, or was given back a moment ago

    def ask_to_go_first(self) -> None:
        """Ask whoever has the folder for it, for as long as this program is next."""
        with self._guard:
            self._next.write(msgspec.json.encode(_Wish(wants_first=True)))

    def is_asked_for(self) -> bool:
        """Whether the program that is next asks for the folder."""
        try:
            return msgspec.json.decode(self._next.note(), type=_Wish).wants_first
        except msgspec.MsgspecError:
            return False

    def give_back(self) -> None:
        """Have the folder no more."""
        with self._guard:
            self._has.release()

    def leave_the_line(self) -> None:
        """Be next no more."""
        with self._guard:
            self._next.release()

    def _note(self, holding: Holding) -> None:
        with suppress(OSError):  # a full disk: others wait all the same, and hear less of it
            self._has.write(msgspec.json.encode(holding))
