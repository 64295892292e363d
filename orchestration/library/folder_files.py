"""The files of a folder by name, as a person refers to them."""

from __future__ import annotations

from pathlib import Path

from orchestration.tools.ripgrep import find_files, ignore_options
from orchestration.tools.streamed_program import Stop, stoppable
from orchestration.tools.tool import ToolFailure

MOST = 20_000


async def folder_files(folder: Path, most: int = MOST) -> tuple[str, ...]:
    """The first files in order, named from the folder on; without what `.gitignore` names.

    A folder that cannot be read has none.
    """

    def listed(stop: Stop) -> tuple[str, ...]:
        names: list[str] = []

        def take(path: bytes) -> bool:
            names.append(path.decode("utf-8", "replace").removeprefix("./"))
            return len(names) < most

        options = ignore_options(folder, hidden=False, gitignore=True)
        try:
            find_files(folder, options, ("./",), take, stop)
        except (OSError, ToolFailure):
            return ()
        return tuple(names)

    return await stoppable(listed)
