from __future__ import annotations

from typing import Any

from app.cli.call_text import call_lines
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import (
    CallPreview,
    FileChangeOp,
    FilePreview,
    ToolCall,
    ToolTier,
)


def lines(name: str, arguments: dict[str, Any], **more: Any) -> list[str]:
    tier = more.pop("tier", ToolTier.WRITE)
    call = ToolCall("c1", name, arguments)
    return list(call_lines(PendingApproval("p", "n", "Writer", call, tier, "d", **more)))


def test_a_command_is_shown_whole_with_its_folder() -> None:
    command = "cd a\n" + "x" * 5000 + "\n\ttail"
    shown = lines("bash", {"command": command, "timeout": 5}, preview=CallPreview(cwd="web"))

    assert shown == [
        "Writer wants to call bash (it can change things)",
        "  command:",
        "    cd a",
        "    " + "x" * 5000,
        "    \ttail",
        "  timeout: 5",
        "  runs in: web",
    ]


def test_a_change_is_shown_by_its_whole_diff_instead_of_the_text() -> None:
    diff = "\n".join(f"+{number}|line {number}" for number in range(1, 501))
    files = (
        FilePreview("a.py", FileChangeOp.CREATE, diff),
        FilePreview("b.py", FileChangeOp.RENAME, "", "c.py"),
    )
    shown = lines("write", {"path": "a.py", "content": "?"}, preview=CallPreview(files))

    assert shown[1:4] == ["  path: a.py", "  would create a.py:", "    +1|line 1"]
    assert shown[-2] == "  would rename b.py to c.py:"
    assert len([line for line in shown if line.startswith("    +")]) == 500


def test_without_a_diff_the_text_is_shown_and_why() -> None:
    shown = lines(
        "write", {"path": "a", "content": "new"}, preview=CallPreview(problem="it is a folder")
    )

    assert "  content: new" in shown
    assert "  what it would do could not be found out: it is a folder" in shown


def test_a_path_that_turns_or_breaks_its_line_is_spelled() -> None:
    path = "a\u202epy.\x1b[1A\nb"
    files = (FilePreview(path, FileChangeOp.RENAME, "", path),)
    shown = lines("edit", {"path": path}, preview=CallPreview(files, path))

    spelled = r"a\u202epy.\x1b[1A\nb"
    assert f"  runs in: {spelled}" in shown
    assert f"  would rename {spelled} to {spelled}:" in shown


def test_a_call_says_who_makes_it_why_it_is_asked_about_and_that_it_only_reads() -> None:
    shown = lines("read", {}, path=("n", "helper"), reason="only reads", tier=ToolTier.READ)

    assert shown == ["Writer / helper wants to call read (it only reads)", "  it only reads"]


def test_nothing_in_a_call_can_move_the_cursor_or_hide() -> None:
    shown = lines("bash", {"command": "rm a\rls \u202e\x1b[2K\u2028x"})

    assert shown[1] == r"  command: rm a\rls \u202e\x1b[2K\u2028x"
