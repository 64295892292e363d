"""The settings while the program runs: changed one at a time, kept at once, told to who listens."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from orchestration.settings.checking import checked
from orchestration.settings.model import Settings
from orchestration.settings.store import SettingsStore

Edit = Callable[[dict[str, Any]], None]
Stamp = tuple[int, int, int] | None


class LiveSettings:
    """What counts now. Belongs to the thread of one event loop; `current` may be read anywhere.

    Args:
        store: where they are kept; without one they are kept in memory only.
        settings: what counts at first.
    """

    def __init__(
        self, store: SettingsStore | None = None, settings: Settings | None = None
    ) -> None:
        self._store = store
        self._current = settings or Settings()
        self._stamp = self._stamp_now()
        self._told: Stamp = None
        self._watchers: list[Callable[[], None]] = []
        self._lock = asyncio.Lock()

    @property
    def current(self) -> Settings:
        """The settings as they are now."""
        return self._current

    def watch(self, notice: Callable[[], None]) -> Callable[[], None]:
        """Call `notice` after every change; gives what ends it."""
        self._watchers.append(notice)
        return lambda: self._watchers.remove(notice) if notice in self._watchers else None

    async def change(self, edit: Edit) -> tuple[str, ...]:
        """Change the settings and keep them; what was changed in the file meanwhile stays.

        Args:
            edit: changes them in the form that they have in the file, defaults left out. It runs
                in a worker thread.

        Returns:
            Sentences that a person should see, such as that a damaged file was set aside.

        Raises:
            BadSetting: a value is wrong; nothing was changed.
            UserError: they could not be written; nothing was changed.
        """
        async with self._lock:
            settings, notices = await asyncio.to_thread(self._changed, edit)
            self._take(settings)
        return notices

    async def reload(self) -> tuple[str, ...]:
        """Take over what the file says by now, if somebody else has written it.

        Returns:
            Sentences that a person should see: a file that cannot be used changes nothing.

        Raises:
            UserError: the system does not let the file be read.
        """
        async with self._lock:
            found = await asyncio.to_thread(self._written_elsewhere)
            if isinstance(found, Settings):
                self._take(found)
                return ()
        return () if found is None else (found,)

    def _take(self, settings: Settings) -> None:
        if settings == self._current:
            return
        self._current = settings
        for notice in tuple(self._watchers):
            notice()

    def _changed(self, edit: Edit) -> tuple[Settings, tuple[str, ...]]:
        base = self._current
        notices: tuple[str, ...] = ()
        if self._store is not None and self._stamp_now() != self._stamp:
            loaded = self._store.load()
            if loaded.notice is None:
                base = loaded.settings
            else:
                notices = (loaded.notice.replace("defaults are used", "yours go on"),)
        data = base.model_dump(mode="json", exclude_defaults=True)
        edit(data)
        settings = checked(data)
        if self._store is not None:
            self._store.save(settings)
            self._stamp = self._stamp_now()
        return settings, notices

    def _written_elsewhere(self) -> Settings | str | None:
        """The settings that somebody else has written, or why they cannot be used."""
        if self._store is None or self._stamp_now() == self._stamp:
            return None
        stamp = self._stamp_now()
        found = self._store.read()
        if isinstance(found, str):
            if stamp != self._told:
                self._told = stamp
                return (
                    f"the settings file {self._store.path} was changed and cannot be used "
                    f"({found}): the settings from before go on"
                )
            return None
        self._stamp = stamp
        return found

    def _stamp_now(self) -> Stamp:
        if self._store is None:
            return None
        try:
            status = os.stat(self._store.path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
