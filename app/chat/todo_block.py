"""A list of what is to be done, as a model keeps it: one card that changes in place."""

from __future__ import annotations

from collections.abc import Sequence

from app.chat.row_blocks import MessageBlock
from orchestration.runs.view_values import TodoItem

_BOXES = {"completed": "☑", "in_progress": "▸"}


def todo_markdown(items: Sequence[TodoItem]) -> str:
    """The list: what is done is struck out, what is under way is strong."""
    return "  \n".join(f"{_BOXES.get(item.status, '☐')} {_words(item)}" for item in items)


def todo_head(label: str, items: Sequence[TodoItem]) -> str:
    """Whose list it is and how far it is."""
    done = sum(item.status == "completed" for item in items)
    return f"{label} · {done} of {len(items)} done"


def _words(item: TodoItem) -> str:
    text = "".join(f"\\{sign}" if sign in "\\`*_~[]<>#|!&" else sign for sign in item.content)
    text = " ".join(text.split())
    if item.status == "completed":
        return f"~~{text}~~"
    return f"**{text}**" if item.status == "in_progress" else text


class TodoBlock(MessageBlock):
    """Painted like an output, with another head."""

    def refresh(self) -> None:
        """The list is another one now."""
        self.show(self.row.text)

    def head(self) -> tuple[str, str, str]:
        """Mark, colour and words of the head."""
        items = self.row.payload
        is_done = all(item.status == "completed" for item in items)
        mark, color = ("check", "done") if is_done else ("dots", "running")
        return mark, color, todo_head(self.row.label, items)
