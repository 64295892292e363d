"""What is committed names no machine that it was made on and no registry that it came from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.source_tree import CHECKOUT, committed_files

# Put together here, so that this file does not hold what it looks for.
REGISTRY_HOSTS = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
)
# Folders that work on this project was done in, and those of whoever runs the tests.
MACHINE_FOLDERS = ("/" + "work", "/" + "root", "/" + "farm", str(Path.home()), str(CHECKOUT))
MACHINE_PATHS = re.compile(
    r"(?<![\w.~}])(?:" + "|".join(re.escape(folder) for folder in MACHINE_FOLDERS) + r")(?![\w-])"
)
NOTES_TO_SELF = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in committed_files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(CHECKOUT)}:{number}: {line.strip()[:100]}")
    return found


def test_no_registry_is_named() -> None:
    found = lines_with(re.compile("|".join(map(re.escape, REGISTRY_HOSTS))))

    assert not found, "\n".join(found)


def test_no_path_of_a_machine_is_named() -> None:
    found = lines_with(MACHINE_PATHS)

    assert not found, "\n".join(found)


def test_no_note_to_self_is_left() -> None:
    found = lines_with(NOTES_TO_SELF)

    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("line", "is_path"),
    [
        ("open('/ro" + "ot/x')", True),
        ("/wo" + "rk/main", True),
        (f"see {Path.home() / 'notes'}", True),
        ("/ho" + "me/somebody/x", False),
        ("https://example.com/work/main", False),
        ("a framework/root/x", False),
        ("$HOME/work/x", False),
    ],
)
def test_a_path_is_told_from_what_looks_like_one(line: str, is_path: bool) -> None:
    assert bool(MACHINE_PATHS.search(line)) is is_path
