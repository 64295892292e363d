"""Names of files in what was said, and what is offered while a message is written."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.chat.completion import fitting_files, reference
from app.chat.edit_card import changed_lines
from app.chat.file_links import address_of, file_links, reference_in
from app.chat.output_tree import branches, is_tree, tree_lines
from app.chat.rows import ToolLine
from app.chat.tool_words import stack_words
from orchestration.library.folder_files import folder_files


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see app/rows.py:12.", [("app/rows.py", 12)]),
        ("in src/a.ts, then", [("src/a.ts", 0)]),
        ("README.md#L4 and README.md", [("README.md", 4)]),
        ('File "/srv/a b.py", line 3, in f', [("/srv/a b.py", 3)]),
        ("C:\\work\\a.py:7", [("C:\\work\\a.py", 7)]),
        ("at https://example.org/a/b.html:3 and e.g. 3.14", []),
        ("foo.bar() and me@example.org", []),
    ],
)
def test_references_are_found(text: str, found: list[tuple[str, int]]) -> None:
    assert [(link.path, link.line) for link in file_links(text)] == found


def test_a_reference_survives_its_address() -> None:
    assert reference_in(address_of("a b/ü#1.py", 7)) == ("a b/ü#1.py", 7)
    assert reference_in("https://example.org/#3") is None


def test_files_are_ranked() -> None:
    names = ("docs/guide.md", "app/chat/rows.py", "app/rows/model.py", "app/narrows.py", "x/r-o.py")
    assert fitting_files(names, "rows") == [
        "app/chat/rows.py",
        "app/narrows.py",
        "app/rows/model.py",
    ]
    assert fitting_files(names, "dgm") == ["docs/guide.md"]
    assert reference("@a b.py") == '@"a b.py"'


def test_files_of_a_folder_are_listed_without_what_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/a.py", "b.log", ".gitignore"):
        (tmp_path / name).write_text("*.log\n")
    assert asyncio.run(folder_files(tmp_path)) == ("src/a.py",)
    assert asyncio.run(folder_files(tmp_path / "gone")) == ()


def test_outputs_are_trees_that_fold() -> None:
    output = {"name": "x", "parts": [{"deep": {"er": [1]}}, None], "many": list(range(40))}
    lines = tree_lines(output, set())
    assert [(line.depth, line.key, line.value, line.is_open) for line in lines] == [
        (0, "name", "x", False),
        (0, "parts", "2 items", True),
        (1, "1", "1 field", True),
        (2, "deep", "1 field", False),
        (1, "2", "nothing", False),
        (0, "many", "40 items", False),
    ]
    assert branches(output) == ["/parts", "/parts/1", "/parts/1/deep", "/parts/1/deep/er", "/many"]
    assert len(tree_lines(output, {"/many", "/parts"})) == 3 + 40
    assert is_tree(output)
    assert not is_tree({"markdown": "# x"})
    assert not is_tree("text")


def test_a_stack_says_what_was_called_and_what_stands_out() -> None:
    lines = []
    for name, status in (("read", "completed"), ("read", "failed"), ("bash", "completed")):
        line = ToolLine(name, "x", "")
        line.name, line.status, line.seconds = name, status, 1.0
        lines.append(line)
    assert stack_words(lines) == ("Read 2 files, ran 1 command", "1 failed · 3 s", "failed")
    lines[-1].status = "running"
    assert stack_words(lines)[1:] == ("now bash x", "running")


def test_a_diff_is_counted() -> None:
    assert changed_lines("Changed a.py\n 1|x\n-2|y\n+2|z\n+3|w\n 4|...") == (2, 1)
