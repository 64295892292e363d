from __future__ import annotations

from pathlib import Path

import pytest

from orchestration.workspace.foreign_paths import localised
from orchestration.workspace.paths import PathRefused, Workspace


@pytest.mark.parametrize(
    "text", ["C:\\Windows\\x", "c:/temp/x", "\\\\server\\share\\x", "\\\\?\\C:\\x", "//./nul"]
)
def test_a_drive_or_share_of_windows_is_refused_by_name_elsewhere(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(ValueError, match="drive or a share"):
        localised(tmp_path, text, on_windows=False)


def test_backslashes_separate_folders(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert localised(tmp_path, "src\\a\\b.py", on_windows=False) == "src/a/b.py"
    assert Workspace(tmp_path).resolve("src\\a.py") == tmp_path.resolve() / "src" / "a.py"


def test_a_file_with_a_backslash_in_its_name_is_itself(tmp_path: Path) -> None:
    (tmp_path / "odd\\name").write_text("x")
    assert Workspace(tmp_path).resolve("odd\\name").read_text() == "x"


@pytest.mark.parametrize("text", ["..\\outside", "src\\..\\..\\outside", "..\\..\\etc\\passwd"])
def test_backslashes_do_not_lead_out(tmp_path: Path, text: str) -> None:
    with pytest.raises(PathRefused, match="leads out"):
        Workspace(tmp_path).resolve(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a.txt:hidden", "stream"),
        ("src/a.txt::$DATA", "stream"),
        ("NUL", "device"),
        ("src\\con.txt", "device"),
        ("Com1", "device"),
        ("a.txt.", "ends with a dot"),
        ("folder /x", "ends with a dot or a blank"),
    ],
)
def test_what_windows_takes_for_something_else_is_refused_there(
    tmp_path: Path, text: str, what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        localised(tmp_path, text, on_windows=True)


@pytest.mark.parametrize(
    "text", ["src\\a.txt", "C:\\work\\a.txt", "../x", ".", "console.txt", ".git"]
)
def test_ordinary_paths_are_left_alone_there(tmp_path: Path, text: str) -> None:
    assert localised(tmp_path, text, on_windows=True) == text
