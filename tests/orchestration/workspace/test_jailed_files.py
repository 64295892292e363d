from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from orchestration.workspace import jailed_files
from orchestration.workspace.file_lock import is_at
from orchestration.workspace.jailed_files import ChangedMeanwhile, NotAFile
from orchestration.workspace.paths import PathRefused, Workspace


@pytest.fixture
def jail(tmp_path: Path) -> Workspace:
    (tmp_path / "root" / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"secret")
    return Workspace(tmp_path / "root")


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_file_is_made_with_its_folders_replaced_and_removed(jail: Workspace) -> None:
    path = jail.resolve("a/b/c.txt")
    jailed_files.replace(jail, path, b"one", None)
    assert jailed_files.read(jail, path) == b"one"
    jailed_files.replace(jail, path, b"two", b"one")
    assert path.read_bytes() == b"two"
    jailed_files.remove(jail, path, b"two")
    assert jailed_files.read(jail, path) is None
    assert left_in(jail.root) == ["a", "a/b", "src"]


def test_permissions_are_kept_and_a_new_file_gets_the_usual_ones(jail: Workspace) -> None:
    path = jail.resolve("run.sh")
    path.write_bytes(b"old")
    path.chmod(0o750)
    jailed_files.replace(jail, path, b"new", b"old")
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    (jail.root / "usual").write_bytes(b"")
    jailed_files.replace(jail, jail.resolve("made"), b"", None)
    assert (jail.root / "made").stat().st_mode == (jail.root / "usual").stat().st_mode


@pytest.mark.parametrize("now", [b"other", None])
def test_a_file_that_is_not_what_was_expected_is_left_alone(
    jail: Workspace, now: bytes | None
) -> None:
    path = jail.resolve("a.txt")
    if now is not None:
        path.write_bytes(now)
    with pytest.raises(ChangedMeanwhile) as caught:
        jailed_files.replace(jail, path, b"new", b"old")
    assert caught.value.data == now
    with pytest.raises(ChangedMeanwhile) as caught:
        jailed_files.remove(jail, path, b"old")
    assert caught.value.data == now
    assert jailed_files.read(jail, path) == now


def test_a_new_file_does_not_replace_one_that_came_meanwhile(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It appears between the look and the naming, where only the system can tell."""
    path = jail.resolve("a.txt")
    flush = os.fsync

    def meanwhile(descriptor: int) -> None:
        path.write_bytes(b"theirs")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", meanwhile)
    with pytest.raises(ChangedMeanwhile) as caught:
        jailed_files.replace(jail, path, b"ours", None)
    assert caught.value.data == path.read_bytes() == b"theirs"
    assert left_in(jail.root) == ["a.txt", "src"]


Act = Callable[[Workspace, Path], object]
ACTS: list[Act] = [
    lambda jail, path: jailed_files.read(jail, path),
    lambda jail, path: jailed_files.replace(jail, path, b"new", b"secret"),
    lambda jail, path: jailed_files.replace(jail, path, b"new", None),
    lambda jail, path: jailed_files.remove(jail, path, b"secret"),
]


@pytest.mark.parametrize("act", ACTS)
def test_a_folder_that_became_a_link_after_the_check_is_not_followed(
    jail: Workspace, act: Act
) -> None:
    path = jail.resolve("src/secret")
    (jail.root / "src").rmdir()
    (jail.root / "src").symlink_to(jail.root.parent / "outside")
    with pytest.raises(PathRefused, match="become a link"):
        act(jail, path)
    outside = jail.root.parent / "outside"
    assert {p.name: p.read_bytes() for p in outside.iterdir()} == {"secret": b"secret"}


@pytest.mark.parametrize("act", ACTS)
def test_a_file_that_became_a_link_after_the_check_is_not_followed(
    jail: Workspace, act: Act
) -> None:
    path = jail.resolve("src/a")
    path.symlink_to(jail.root.parent / "outside" / "secret")
    with pytest.raises(NotAFile, match="link"):
        act(jail, path)
    assert (jail.root.parent / "outside" / "secret").read_bytes() == b"secret"


def test_a_link_that_is_put_there_at_the_last_moment_is_left_alone_and_not_followed(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jail.resolve("src/a")
    path.write_bytes(b"old")
    secret = jail.root.parent / "outside" / "secret"
    flush = os.fsync

    def swap(descriptor: int) -> None:
        path.unlink(missing_ok=True)
        path.symlink_to(secret)
        monkeypatch.setattr(os, "fsync", flush)
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", swap)
    with pytest.raises(NotAFile, match="link"):
        jailed_files.replace(jail, path, b"new", b"old")
    assert secret.read_bytes() == b"secret"
    assert path.is_symlink()
    assert left_in(jail.root) == ["src", "src/a"]


@pytest.mark.parametrize("now", [b"theirs", b"old", None])
@pytest.mark.parametrize("removes", [False, True], ids=["replaced", "removed"])
def test_what_others_write_at_the_last_moment_stays(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch, removes: bool, now: bytes | None
) -> None:
    path = jail.resolve("src/a")
    path.write_bytes(b"old")

    def meanwhile(folder: int | None, at: Path, status: os.stat_result) -> bool:
        path.unlink()
        if now is not None:
            path.write_bytes(now)
            os.utime(path, ns=(1, 1))
        return is_at(folder, at, status)

    monkeypatch.setattr(jailed_files, "is_at", meanwhile)
    change = (
        partial(jailed_files.remove, jail, path, b"old")
        if removes
        else partial(jailed_files.replace, jail, path, b"ours", b"old")
    )
    with pytest.raises(ChangedMeanwhile) as caught:
        change()
    assert caught.value.data == now
    assert left_in(jail.root) == (["src"] if now is None else ["src", "src/a"])


COUNTER = """
    import sys
    from pathlib import Path
    from orchestration.workspace import jailed_files
    from orchestration.workspace.paths import Workspace

    jail = Workspace(Path(sys.argv[1]))
    path, done = jail.resolve("count"), 0
    print("ready", flush=True)
    sys.stdin.readline()
    while done < 40:
        now = path.read_bytes()
        try:
            jailed_files.replace(jail, path, str(int(now) + 1).encode(), now)
        except jailed_files.ChangedMeanwhile:
            continue
        done += 1
"""


def test_programs_that_change_one_file_at_once_lose_no_change(jail: Workspace) -> None:
    path = jail.root / "count"
    path.write_bytes(b"0")
    with contextlib.ExitStack() as held:
        writers = [
            held.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", textwrap.dedent(COUNTER), str(jail.root)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    cwd=Path(__file__).parents[3],
                )
            )
            for _ in range(3)
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"go\n")
            writer.stdin.close()
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert path.read_bytes() == b"120"
    assert left_in(jail.root) == ["count", "src"]


def test_a_file_that_another_program_keeps_locked_is_not_changed(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = jail.resolve("a.txt")
    path.write_bytes(b"old")
    monkeypatch.setattr(time, "monotonic", itertools.count().__next__)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another program has locked it"):
            jailed_files.replace(jail, path, b"new", b"old")
        with pytest.raises(OSError, match="another program has locked it"):
            jailed_files.remove(jail, path, b"old")
    jailed_files.replace(jail, path, b"new", b"old")
    assert path.read_bytes() == b"new"


def test_where_open_folders_cannot_be_worked_in_links_are_refused_too(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jailed_files, "_WALKS", False)
    path = jail.resolve("src/new/a")
    jailed_files.replace(jail, path, b"1", None)
    jailed_files.replace(jail, path, b"2", b"1")
    assert jailed_files.read(jail, path) == b"2"
    jailed_files.remove(jail, path, b"2")
    jailed_files.remove_empty_folders(jail, [path.parent])
    assert left_in(jail.root) == ["src"]
    (jail.root / "src").rmdir()
    (jail.root / "src").symlink_to(jail.root.parent / "outside")
    with pytest.raises(PathRefused, match="become a link"):
        jailed_files.read(jail, jail.root / "src" / "secret")


def test_what_is_no_file_is_refused_and_not_waited_for(jail: Workspace) -> None:
    os.mkfifo(jail.root / "pipe")
    for name, what in (("pipe", "neither a file"), ("src", "is a folder"), (".", "is a folder")):
        with pytest.raises(NotAFile, match=what):
            jailed_files.read(jail, jail.resolve(name))


def test_a_huge_file_is_refused_unread(jail: Workspace) -> None:
    path = jail.resolve("huge")
    with path.open("wb") as file:
        file.truncate(jailed_files.MAX_BYTES + 1)
    with pytest.raises(NotAFile, match="at most"):
        jailed_files.read(jail, path)


def test_nothing_is_written_that_could_not_be_edited_again(jail: Workspace) -> None:
    path = jail.resolve("large")
    jailed_files.replace(jail, path, b"x" * jailed_files.MAX_BYTES, None)
    with pytest.raises(NotAFile, match="would have"):
        jailed_files.replace(
            jail, path, b"y" * (jailed_files.MAX_BYTES + 1), b"x" * jailed_files.MAX_BYTES
        )
    assert path.read_bytes() == b"x" * jailed_files.MAX_BYTES


def test_a_very_long_name_can_be_written(jail: Workspace) -> None:
    path = jail.resolve("n" * 255)
    jailed_files.replace(jail, path, b"1", None)
    jailed_files.replace(jail, path, b"2", b"1")
    assert path.read_bytes() == b"2"


@pytest.mark.parametrize("has_nameless_files", [True, False])
@pytest.mark.parametrize("before", [b"old", None])
def test_a_full_disk_leaves_the_old_version_and_nothing_else(
    jail: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    before: bytes | None,
    has_nameless_files: bool,
) -> None:
    if not has_nameless_files:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = jail.resolve("a")
    if before is not None:
        path.write_bytes(before)
    names = left_in(jail.root)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        jailed_files.replace(jail, path, b"new", before)
    assert jailed_files.read(jail, path) == before
    assert left_in(jail.root) == names


@pytest.mark.parametrize("before", [b"old", None])
def test_without_nameless_files_a_passing_name_does(
    jail: Workspace, monkeypatch: pytest.MonkeyPatch, before: bytes | None
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = jail.resolve("a")
    if before is not None:
        path.write_bytes(before)
    jailed_files.replace(jail, path, b"new", before)
    assert path.read_bytes() == b"new"
    assert left_in(jail.root) == ["a", "src"]


def test_only_empty_folders_are_removed(jail: Workspace) -> None:
    (jail.root / "a" / "b").mkdir(parents=True)
    (jail.root / "src" / "x").write_bytes(b"")
    folders = [jail.root / "a", jail.root / "a" / "b", jail.root / "src", jail.root / "gone"]
    jailed_files.remove_empty_folders(jail, folders)
    assert left_in(jail.root) == ["src", "src/x"]


WRITER = """
    import sys
    from pathlib import Path
    from orchestration.workspace import jailed_files
    from orchestration.workspace.paths import Workspace

    jail = Workspace(Path(sys.argv[1]))
    path = jail.resolve("a")
    versions = [bytes([65 + n]) * (1 << 20) for n in range(2)]
    now = path.read_bytes()
    print("ready", flush=True)
    while True:
        for version in versions:
            jailed_files.replace(jail, path, version, now)
            now = version
            print("done", flush=True)
"""


@pytest.mark.parametrize("written", [0, 1, 4])
def test_a_kill_while_writing_leaves_one_whole_version(jail: Workspace, written: int) -> None:
    path = jail.root / "a"
    path.write_bytes(b"A" * (1 << 20))
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(jail.root)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    ) as writer:
        assert writer.stdout is not None
        for _ in range(1 + written):
            assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    data = path.read_bytes()
    assert len(data) == 1 << 20
    assert len(set(data)) == 1
    if hasattr(os, "O_TMPFILE"):  # what had no name yet is gone, what was to be renamed is whole
        assert all(len(p.read_bytes()) == 1 << 20 for p in jail.root.glob(".openflow-*.tmp"))


def test_the_next_write_in_a_folder_removes_what_killed_ones_left(jail: Workspace) -> None:
    def put(name: str, seconds_old: float) -> None:
        path = jail.root / name
        path.write_bytes(b"x")
        then = time.time() - seconds_old
        os.utime(path, (then, then))

    stale, of_another_program = ".openflow-0123456789abcdef.tmp", ".0123456789abcdef.tmp"
    at_work, elsewhere = ".openflow-fedcba9876543210.tmp", "src/.openflow-0123456789abcdef.tmp"
    for name, seconds_old in (
        (stale, 3600),
        (of_another_program, 3600),
        (at_work, 0),
        (elsewhere, 3600),
    ):
        put(name, seconds_old)
    folder = jail.root / ".openflow-0000000000000000.tmp"
    folder.mkdir()
    os.utime(folder, (0, 0))
    jailed_files.replace(jail, jail.resolve("a"), b"new", None)
    assert left_in(jail.root) == sorted(
        [folder.name, at_work, of_another_program, "a", "src", elsewhere]
    )
