from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from orchestration.workspace import mounts
from orchestration.workspace.mounts import is_shared
from orchestration.workspace.watch import FolderWatch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a folder").mkdir()
    return (tmp_path / "a folder").resolve()


def listed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, device: str, point: str, kind: str
) -> None:
    """Let the system list these mounts, the last of them like this."""
    listing = folder.parent / "mountinfo"
    listing.write_text(
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "26 22 0:24 / /elsewhere rw - nfs4 server:/ rw\n"
        f"36 35 {device} / {point} rw,noatime master:1 - {kind} source rw,errors=continue\n"
    )
    monkeypatch.setattr(mounts, "MOUNTS", listing)


def device_of(folder: Path) -> str:
    number = folder.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


@pytest.mark.parametrize(
    ("kind", "shared"),
    [("nfs4", True), ("9p", True), ("fuse.sshfs", True), ("ext4", False), ("overlay", False)],
)
def test_a_folder_is_shared_as_the_file_system_it_is_on(
    monkeypatch: pytest.MonkeyPatch, folder: Path, kind: str, shared: bool
) -> None:
    listed(monkeypatch, folder, device_of(folder), "/", kind)
    assert is_shared(folder) is shared


@pytest.mark.parametrize(("below", "shared"), [("/in\\040it", True), ("-beside", False)])
def test_a_folder_is_shared_if_something_below_it_is(
    monkeypatch: pytest.MonkeyPatch, folder: Path, below: str, shared: bool
) -> None:
    point = str(folder).replace(" ", "\\040") + below
    listed(monkeypatch, folder, "0:0", point, "cifs")
    assert is_shared(folder) is shared


def test_where_mounts_are_not_listed_nothing_is_shared(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(mounts, "MOUNTS", folder / "missing")
    assert not is_shared(folder)


def test_a_shared_folder_is_not_watched(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The folder of our own is on a file system of this computer, which tells of everything."""

    async def is_sure() -> bool:
        watch = FolderWatch([folder], folder.parent / "own", lambda: None)
        try:
            return await watch.caught_up()
        finally:
            watch.close()

    assert asyncio.run(is_sure())
    listed(monkeypatch, folder, "0:0", str(folder / "mounted").replace(" ", "\\040"), "nfs")
    assert not asyncio.run(is_sure())
