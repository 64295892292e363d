"""A folder that this process cannot write to, whoever it runs as."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
"""Root may write everywhere, so that it is somebody else for that time."""


@contextmanager
def folder_for_everyone() -> Iterator[Path]:
    """A folder that every account reaches; gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="openflow-test-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """Nothing in a folder can be changed; what it takes has to be imported by then."""
    every = [folder, *folder.rglob("*")]
    is_root = os.name == "posix" and os.geteuid() == 0
    for path in every:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if is_root:
            os.seteuid(NOBODY)
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path in every:
            path.chmod(0o755 if path.is_dir() else 0o644)
