from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from watchfiles import _rust_notify

from orchestration.workspace.watch import STORM, FolderWatch


class Watched:
    """A watch of a folder, and how often it told of changes."""

    def __init__(self, root: Path, *more: Path, **limits: float) -> None:
        self.told = 0
        self.watch = FolderWatch((root, *more), root.parent / "own", self._note, **limits)

    def _note(self) -> None:
        self.told += 1


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "a.txt").write_text("a")
    return tmp_path / "root"


def create(root: Path) -> None:
    (root / "new.txt").write_text("")


def change(root: Path) -> None:
    (root / "a.txt").write_text("b")


def replace(root: Path) -> None:
    (root / "other").write_text("b")
    os.replace(root / "other", root / "a.txt")


def delete(root: Path) -> None:
    (root / "a.txt").unlink()


def move_away(root: Path) -> None:
    (root / "a.txt").rename(root.parent / "a.txt")


def change_below(root: Path) -> None:
    (root / "sub" / "b.txt").write_text("")


def make_folder(root: Path) -> None:
    (root / "sub" / "deeper").mkdir()


@pytest.mark.parametrize(
    "act", [create, change, replace, delete, move_away, change_below, make_folder]
)
def test_every_change_is_told_before_the_question_is_answered(
    root: Path, act: Callable[[Path], None]
) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        assert await watched.watch.caught_up()
        assert watched.told == 0
        act(root)
        assert await watched.watch.caught_up()
        assert watched.told == 1
        assert await watched.watch.caught_up()
        assert watched.told == 1
        watched.watch.close()

    asyncio.run(scenario())


def test_reading_is_no_change(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        assert (root / "a.txt").read_text() == "a"
        assert os.listdir(root / "sub") == []
        assert await watched.watch.caught_up()
        assert watched.told == 0
        watched.watch.close()

    asyncio.run(scenario())


def test_what_is_made_in_a_new_folder_is_told(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        (root / "new").mkdir()
        assert await watched.watch.caught_up()
        assert await watched.watch.caught_up()
        (root / "new" / "file").write_text("")
        told = watched.told
        assert await watched.watch.caught_up()
        assert watched.told == told + 1
        watched.watch.close()

    asyncio.run(scenario())


def test_questions_at_the_same_time_are_all_answered(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        change(root)
        assert all(await asyncio.gather(*[watched.watch.caught_up() for _ in range(20)]))
        assert watched.told == 1
        watched.watch.close()

    asyncio.run(scenario())


def test_a_question_that_is_cancelled_loses_no_change(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        change(root)
        asking = asyncio.create_task(watched.watch.caught_up())
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await watched.watch.caught_up()
        assert watched.told == 1
        watched.watch.close()

    asyncio.run(scenario())


def test_nothing_of_our_own_stays_in_the_folder_of_our_own(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        assert list((root.parent / "own").iterdir()) == []
        watched.watch.close()

    asyncio.run(scenario())


def test_a_folder_of_our_own_inside_of_what_is_watched_is_no_change(root: Path) -> None:
    async def scenario() -> None:
        told = []
        watch = FolderWatch([root], root / "own", lambda: told.append(1))
        for _ in range(3):
            assert await watch.caught_up()
        assert told == []
        watch.close()

    asyncio.run(scenario())


def test_what_cannot_be_watched_is_said_so(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root, root / "not there")
        assert not await watched.watch.caught_up()
        assert not await watched.watch.caught_up()
        watched.watch.close()

    asyncio.run(scenario())


def test_a_system_that_tells_nothing_is_found_out(root: Path) -> None:
    """No notice of the file of our own comes in the time that there is: none at all."""

    async def scenario() -> None:
        watched = Watched(root, confirm_within_s=0.0)
        assert not await watched.watch.caught_up()
        assert watched.told == 1
        assert not await watched.watch.caught_up()
        assert watched.told == 1

    asyncio.run(scenario())


def test_a_closed_watch_knows_nothing(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        watched.watch.close()
        watched.watch.close()
        assert not await watched.watch.caught_up()

    asyncio.run(scenario())


def test_it_can_be_closed_while_it_is_asked(root: Path) -> None:
    async def scenario() -> None:
        watched = Watched(root)
        asking = [asyncio.create_task(watched.watch.caught_up()) for _ in range(5)]
        await asyncio.sleep(0)
        watched.watch.close()
        await asyncio.wait_for(asyncio.gather(*asking), 20)
        assert not await watched.watch.caught_up()

    asyncio.run(scenario())


def test_after_a_storm_of_changes_everything_is_watched_anew(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def counted(*arguments: Any) -> Any:
        opened.append(arguments)
        return real(*arguments)

    real = _rust_notify.RustNotify
    monkeypatch.setattr(_rust_notify, "RustNotify", counted)

    async def scenario() -> None:
        watched = Watched(root)
        assert await watched.watch.caught_up()
        change(root)
        assert await watched.watch.caught_up()
        assert (watched.told, len(opened)) == (1, 1)
        for number in range(STORM):
            (root / "sub" / f"{number}").touch()
        assert await watched.watch.caught_up()
        assert (watched.told, len(opened)) == (2, 2)
        assert await watched.watch.caught_up()
        assert (watched.told, len(opened)) == (2, 2)
        change_below(root)
        assert await watched.watch.caught_up()
        assert (watched.told, len(opened)) == (3, 2)
        watched.watch.close()

    asyncio.run(scenario())
