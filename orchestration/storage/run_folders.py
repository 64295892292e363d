"""The folders of stored runs: artifacts, handoff documents, attachments, copies of edited files."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from uuid import uuid4

from orchestration.storage.errors import StorageUnavailable

logger = logging.getLogger(__name__)

QUARANTINE = ".delete-"


def run_folder(runs_folder: Path, run_id: str) -> Path:
    """The folder of a run.

    Raises:
        ValueError: the id is no single name of a folder.
    """
    if run_id in ("", ".", "..") or "/" in run_id or "\\" in run_id or "\0" in run_id:
        raise ValueError(f"'{run_id}' is no id of a run")
    return runs_folder / run_id


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder; 0 if there is none."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError as error:  # removed meanwhile
                logger.debug("%s has no size: %s", name, error)
    return total


def put_aside(folder: Path) -> Path | None:
    """Rename a run's folder, so that nobody sees half of one being deleted; gives the new place.

    What stays there because `remove` failed goes with `delete_left_overs`.

    Raises:
        StorageUnavailable: it cannot be renamed.
    """
    aside = folder.with_name(f"{QUARANTINE}{uuid4().hex}")
    try:
        os.rename(folder, aside)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageUnavailable(
            f"{folder} cannot be deleted ({error.strerror or error})"
        ) from error
    return aside


def delete_left_overs(runs_folder: Path) -> int:
    """Delete what earlier deletions could not; gives how many folders are left."""
    return sum(not remove(folder) for folder in runs_folder.glob(f"{QUARANTINE}*"))


def remove(folder: Path) -> bool:
    """Delete a folder, if it is there; whether it is gone. What is left is logged."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        logger.warning("the folder of a deleted run stays for now: %s", error)
        return False
    return True
