"""What is kept of several windows: sizes and tabs for each, everything else for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.kit.window_state import WindowState


def test_each_window_has_its_own_sizes_and_tabs(tmp_path: Path) -> None:
    first = WindowState(tmp_path)
    second = first.of_window(2)
    first.put("inspector", True)
    second.put("inspector", False)
    second.put("theme", "dark")
    second.keep_tabs([(tmp_path / "a.json", ""), (tmp_path / "b.json", "1.5 0 0 b")], 1)
    first.keep_windows([0, 2])
    first.save()

    again = WindowState(tmp_path)
    assert again.windows() == [0, 2]
    assert again.flag("inspector", False)
    assert not again.of_window(2).flag("inspector", True)
    assert again.text("theme") == again.of_window(2).text("theme") == "dark"
    assert again.tabs() == ([], 0)
    tabs = [(tmp_path / "a.json", ""), (tmp_path / "b.json", "1.5 0 0 b")]
    assert again.of_window(2).tabs() == (tabs, 1)


@pytest.mark.parametrize(
    "kept", ["", "{", "[]", '{"files": 3}', '{"files": [["a"]]}', '{"front": "x"}']
)
def test_tabs_that_cannot_be_understood_are_none(kept: str) -> None:
    state = WindowState(None)
    state.put("tabs", kept)
    state.put("windows", kept)
    assert state.tabs() == ([], 0)
    assert state.windows() == [0]


def test_the_tab_in_front_is_one_that_there_is() -> None:
    state = WindowState(None)
    state.keep_tabs([(Path("a"), "")], 7)
    assert state.tabs() == ([(Path("a"), "")], 0)
