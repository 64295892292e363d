"""What a message can name: the skills of this computer, and the files of the run's folder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.chat.composer import Composer
from app.inspector.offers import Skill

if TYPE_CHECKING:
    from orchestration.backend import Backend

Do = Callable[[Coroutine[Any, Any, None], str], None]


class Mentions(QObject):
    """Reads them when they are asked for, off the window's thread."""

    def __init__(
        self,
        composer: Composer,
        backend: Backend,
        do: Do,
        path: Callable[[], Path | None],
        run_id: Callable[[], str | None],
    ) -> None:
        """`do` starts work; `path` gives the file of the workflow in front, `run_id` its run."""
        super().__init__(composer)
        self._composer = composer
        self._backend = backend
        self._path = path
        self._run_id = run_id
        self._do = do
        composer.completion.files_wanted.connect(self._want_files)
        composer.completion.skills_wanted.connect(self._want_skills)

    def _want_files(self) -> None:
        self._do(self._read_files(), "list files")

    def _want_skills(self) -> None:
        self._do(self._read_skills(), "list skills")

    async def _read_files(self) -> None:
        from orchestration.library.folder_files import folder_files

        folder = await self._folder()
        self._composer.show_folder(folder)
        names = await folder_files(folder) if folder is not None else ()
        self._composer.completion.set_files(names)

    async def _folder(self) -> Path | None:
        """Where the node works that is written to; of a run that is to begin, where it will."""
        run_id, path = self._run_id(), self._path()
        if run_id is not None and self._composer.address.kind not in ("start", "none"):
            return await self._backend.execution_folder(run_id)
        if path is None:
            return None
        return await asyncio.to_thread(self._backend.library.run_folder, path)

    async def _read_skills(self) -> None:
        found = await asyncio.to_thread(self._backend.library.skills_for, self._path())
        skills = [Skill(each.id, each.description or each.name) for each in found]
        self._composer.completion.set_skills(skills)
