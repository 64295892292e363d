"""The difference of two texts as people and models are shown it: numbered lines."""

from __future__ import annotations

from orchestration.tools.file_edits.line_alignment import equal_runs
from orchestration.tools.file_edits.line_split import lines_with_ends

CONTEXT_LINES = 2
GAP = "..."
NO_NEWLINE = "\\ no newline at the end of the file"


def numbered_diff(before: str, after: str) -> str:
    """Give what changed between two texts with LF line ends; empty where nothing did.

    Removed lines are `-N|text`, added ones `+N|text`, two unchanged ones around them ` N|text`, and
    ` N|...` stands for what is left out from line N on. Added lines have their number in the new
    text, all others that in the old. Where only one of the texts ends with a newline, a line after
    the last one of the other says so.
    """
    if before == after:
        return ""
    old, new = lines_with_ends(before), lines_with_ends(after)
    shown: list[str] = []
    a = b = 0
    for i, j, length in [*equal_runs(old, new), (len(old), len(new), 0)]:
        for index in range(a, i):
            _show(shown, "-", index, old[index])
        for index in range(b, j):
            _show(shown, "+", index, new[index])
        is_first, is_last = not (i or j), i + length == len(old) and j + length == len(new)
        head = 0 if is_first else min(CONTEXT_LINES, length)
        tail = 0 if is_last else min(CONTEXT_LINES, length - head)
        if length == head + tail + 1:  # a gap would take as much room as the line
            tail += 1
        for index in range(i, i + head):
            _show(shown, " ", index, old[index])
        if length > head + tail:
            shown.append(f" {i + head + 1}|{GAP}")
        for index in range(i + length - tail, i + length):
            _show(shown, " ", index, old[index])
        a, b = i + length, j + length
    return "\n".join(shown)


def _show(shown: list[str], mark: str, index: int, line: str) -> None:
    shown.append(f"{mark}{index + 1}|{line.removesuffix(chr(10))}")
    if not line.endswith("\n") and mark != " ":
        shown.append(NO_NEWLINE)
