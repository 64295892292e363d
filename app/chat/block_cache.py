"""The rows that are laid out at present: those in view and the last few besides."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from app.chat.folded_block import FoldedBlock
from app.chat.result_block import ResultBlock
from app.chat.row_blocks import MessageBlock, RowBlock, VerdictBlock
from app.chat.rows import OUTPUT, QUESTION, TASKS, THINKING, USER, Row
from app.chat.todo_block import TodoBlock
from app.chat.transcript_model import ShownRow
from app.theme.theme import Theme

_KEPT = 48


class BlockCache:
    """Blocks by row id, those used last at the end. Rows that still grow are never put away."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._blocks: OrderedDict[int, RowBlock] = OrderedDict()

    def __len__(self) -> int:
        return len(self._blocks)

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._blocks

    def block(self, item: ShownRow) -> RowBlock:
        """The block of a row; made if it is not there."""
        block = self._blocks.get(item.row.id)
        if block is None:
            block = _block_for(item.row, item.has_header, self._theme)
            self._blocks[item.row.id] = block
        self._blocks.move_to_end(item.row.id)
        return block

    def refresh(self, row_id: int) -> None:
        """The row shows something else now."""
        block = self._blocks.get(row_id)
        if block is not None:
            block.refresh()

    def forget(self, row_id: int) -> None:
        """Make the block anew when it is next asked for."""
        self._blocks.pop(row_id, None)

    def clear(self) -> None:
        """Make all anew."""
        self._blocks.clear()

    def renew(self, before: Iterable[int], shown: Iterable[ShownRow]) -> None:
        """Put away those of `before` that are not shown now, or shown with another header."""
        headers = {item.row.id: item.has_header for item in shown}
        for row_id in before:
            block = self._blocks.get(row_id)
            if block is not None and headers.get(row_id) is not block.has_header:
                del self._blocks[row_id]

    def trim(self, in_view: set[int]) -> None:
        """Put away what has not been used for longest."""
        for row_id in list(self._blocks):
            if len(self._blocks) <= _KEPT + len(in_view):
                return
            if row_id not in in_view and not self._blocks[row_id].row.is_open:
                del self._blocks[row_id]


def _block_for(row: Row, has_header: bool, theme: Theme) -> RowBlock:
    """The block that paints a row; rows that are cards now are not painted but shown as widgets."""
    if row.kind == THINKING or row.tool is not None:
        return FoldedBlock(row, has_header, theme)
    if row.kind == OUTPUT:
        return ResultBlock(row, has_header, theme)
    if row.kind == TASKS:
        return TodoBlock(row, has_header, theme)
    if row.kind in (USER, QUESTION, "assistant"):
        return MessageBlock(row, has_header, theme)
    return VerdictBlock(row, has_header, theme)
