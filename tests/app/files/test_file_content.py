from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.files.file_content import (
    LONGEST_LINE,
    MOST_BYTES,
    MOST_LINES,
    FileContent,
    read_content,
    size_text,
)
from app.files.folder_listing import MOST_ENTRIES, Entry, list_folder, marks_of
from app.files.highlighting import highlighted
from orchestration.workspace.paths import Workspace


def read(folder: Path, name: str) -> FileContent:
    return read_content(Workspace(folder), name)


def test_a_text_is_read_with_its_ends_of_lines_made_equal(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")

    content = read(tmp_path, "a.txt")

    assert (content.kind, content.text, content.notices) == ("text", "one\ntwo\nthree\n", ())


def test_a_file_of_any_size_is_read_in_part(tmp_path: Path) -> None:
    with (tmp_path / "huge.log").open("wb") as file:
        file.write(b"line\n" * 1000)
        file.truncate(1 << 30)
    with (tmp_path / "large.log").open("wb") as file:
        file.write(b"a line of some length\n" * 200_000)

    assert read(tmp_path, "huge.log").notices == (
        "This is a binary file (1.1 GB), so there is nothing to read.",
    )
    large = read(tmp_path, "large.log")
    assert len(large.text) <= MOST_BYTES
    assert large.text.count("\n") < MOST_LINES + 1
    assert large.notices[0] == "Only the first 1.0 MB of 4.4 MB are shown."


def test_very_long_lines_are_cut_and_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "min.js").write_text("x" * 100_000 + "\nshort")

    content = read(tmp_path, "min.js")

    assert len(content.text.split("\n")[0]) == LONGEST_LINE + 2
    assert content.notices == ("One line is cut after 4,000 characters.",)


@pytest.mark.parametrize("data", [b"\x7fELF\0\1", bytes(range(1, 256)) * 40])
def test_what_is_no_text_says_so(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "blob").write_bytes(data)

    assert "binary file" in read(tmp_path, "blob").notices[0]


def test_a_character_that_is_cut_in_two_makes_no_text_binary(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("ü" * (MOST_BYTES // 2 + 10) + "x")
    (tmp_path / "b.txt").write_text("x" + "ü\n" * (MOST_BYTES // 2))

    assert {read(tmp_path, name).kind for name in ("a.txt", "b.txt")} == {"text"}


def test_the_jail_is_respected(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (inside / "link").symlink_to(tmp_path / "secret")

    for name in ("link", "../secret", str(tmp_path / "secret"), "a\0b", " "):
        content = read(inside, name)
        assert (content.kind, content.text) == ("nothing", "")
        assert content.notices[0]


def test_pipes_folders_and_missing_files_do_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert "no ordinary file" in read(tmp_path, "pipe").notices[0]
    assert "cannot be read" in read(tmp_path, "gone").notices[0]
    assert read(tmp_path, ".").kind == "nothing"


def test_folders_are_listed_first_and_ignored_names_are_marked(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".gitignore").write_text("!kept.log\nlocal\n")
    for name in ("build", ".git"):
        (tmp_path / name).mkdir()
    for name in ("b.py", "A.log", "sub/kept.log", "sub/local"):
        (tmp_path / name).touch()

    names = {entry.name: entry for entry in list_folder(tmp_path, ()).entries}

    assert list(names) == [".git", "build", "sub", ".gitignore", "A.log", "b.py"]
    assert {name for name, entry in names.items() if entry.is_ignored} == {".git", "build", "A.log"}
    inner = {entry.name: entry.is_ignored for entry in list_folder(tmp_path, ("sub",)).entries}
    assert inner == {".gitignore": False, "kept.log": True, "local": True}


def test_a_folder_of_any_size_gives_a_bounded_list(tmp_path: Path) -> None:
    for number in range(MOST_ENTRIES + 20):
        (tmp_path / f"{number:06}").touch()

    listing = list_folder(tmp_path, ())

    assert (len(listing.entries), listing.more) == (MOST_ENTRIES, 20)
    assert listing.entries[0] == Entry("000000", False)


def test_a_folder_that_is_gone_says_why(tmp_path: Path) -> None:
    assert list_folder(tmp_path, ("gone",)).problem == "No such file or directory"


def test_changes_mark_the_folders_above_them() -> None:
    assert marks_of([("a/b/c.py", "M"), ("./d.py", "A")]) == {
        ("a", "b", "c.py"): "M",
        ("a",): "",
        ("a", "b"): "",
        ("d.py",): "A",
    }


def test_colours_are_found_line_by_line() -> None:
    lines = highlighted("a.py", 'def go():\n    return """x\ny"""\n')

    assert [part.role for part in lines[0]] == ["keyword", "name"]
    assert (lines[2][0].start, {part.role for part in lines[2]}) == (0, {"string"})
    assert highlighted("notes.unknown-kind", "text") == []


def test_sizes_are_readable() -> None:
    assert [size_text(n) for n in (1, 812, 4200, 10**9)] == [
        "1 byte",
        "812 bytes",
        "4.2 KB",
        "1.0 GB",
    ]
