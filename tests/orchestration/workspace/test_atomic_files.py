from __future__ import annotations

import os
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", b"new", keep_backup=True)
    assert (tmp_path / "a.json").read_bytes() == b"new"
    assert names(tmp_path) == ["a.json"]


def test_the_version_before_is_kept_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in (b"1", b"2", b"3"):
        write_atomically(path, text, keep_backup=True)
    assert path.read_bytes() == b"3"
    assert backup_path(path).read_bytes() == b"2"
    assert names(tmp_path) == ["a.json", "a.json.bak"]


def test_permissions_stay_and_can_be_demanded(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"")
    path.chmod(0o640)
    write_atomically(path, b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    write_atomically(path, b"y", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["n" * 255, "\u6f22" * 85])
def test_the_longest_name_can_be_written(tmp_path: Path, name: str) -> None:
    write_atomically(tmp_path / name, b"1")
    write_atomically(tmp_path / name, b"2")
    assert (tmp_path / name).read_bytes() == b"2"
    assert names(tmp_path) == [name]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_failure_leaves_the_old_version_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new", keep_backup=True)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_damaged_file_gets_a_name_with_the_time_and_never_another_ones(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
    for expected in (
        "w.damaged-20261130T120000Z.workflow.json",
        "w.damaged-20261130T120000Z-2.workflow.json",
    ):
        path = tmp_path / "w.workflow.json"
        path.write_bytes(b"\0")
        assert set_aside(path, now).name == expected
        assert not path.exists()
