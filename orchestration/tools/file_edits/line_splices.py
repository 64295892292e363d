"""Replace whole lines of a file by where they stand, not by what they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from orchestration.tools.file_edits.file_text import FileText, LineSplice, Splice


def with_line_splices(file: FileText, splices: Iterable[LineSplice]) -> FileText:
    """Give the file with some lines replaced; every other line keeps its own bytes.

    The file ends with a newline after it if it did before, or was empty.

    Args:
        file: what is changed.
        splices: in order, without overlap.

    Raises:
        ValueError: they overlap or leave the file.
    """
    lines = file.lines
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    return file.spliced([_by_character(file, starts, splice) for splice in _joined(splices)])


def _by_character(file: FileText, starts: Sequence[int], splice: LineSplice) -> Splice:
    count = len(starts) - 1
    if not 1 <= splice.first <= splice.last + 1 <= count + 1:
        raise ValueError("a splice leaves the file")
    start = starts[splice.first - 1]
    if splice.last < count or file.has_final_newline or not file.text:
        new = "".join(f"{line}\n" for line in splice.new)
        return Splice(start, min(starts[splice.last], len(file.text)), new)
    if splice.first == 1:
        return Splice(0, len(file.text), "\n".join(splice.new))
    # The last line has no end of its own, so that of the line before goes and comes with it.
    return Splice(start - 1, len(file.text), "".join(f"\n{line}" for line in splice.new))


def _joined(splices: Iterable[LineSplice]) -> list[LineSplice]:
    joined: list[LineSplice] = []
    for splice in splices:
        if joined and joined[-1].last == splice.first - 1:
            before = joined.pop()
            splice = LineSplice(before.first, splice.last, (*before.new, *splice.new))
        joined.append(splice)
    return joined
