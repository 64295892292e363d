"""Files that an example workflow works on: put into its managed folder when that is made."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

_WITH_FILES = {"bug-fix": "bug_fix"}


def example_files(workflow_id: str) -> Path | None:
    """The folder of files that comes with an example, or `None`."""
    name = _WITH_FILES.get(workflow_id)
    return None if name is None else Path(str(resources.files("resources") / "examples" / name))


def put_example_files(workflow_id: str, folder: Path) -> None:
    """Copy the files of an example into its new execution folder, if it has any.

    Raises:
        OSError: they could not be copied.
    """
    source = example_files(workflow_id)
    if source is not None:
        shutil.copytree(
            source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
