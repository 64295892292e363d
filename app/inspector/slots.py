"""Where a value of a form lives in the model, and how a change of it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from engine.graph.file_model import FileModel


class Slot(NamedTuple):
    """One value.

    Attributes:
        key: What problems call it, such as `task_prompt`.
        within: Dotted attributes that lead from the node or the workflow to the part that has it.
        read: Gives the value, from the part.
        write: Gives the changed part, from the part and the new value.
    """

    key: str
    within: str
    read: Callable[[Any], Any]
    write: Callable[[Any, Any], Any]


def slot(path: str, within: str = "", key: str = "") -> Slot:
    """The slot of an attribute; a dotted `path` leads through parts of the part."""

    def read(part: Any) -> Any:
        return value_at(part, path)

    def write(part: Any, value: Any) -> Any:
        inner, _, name = path.rpartition(".")
        return changed(part, inner, lambda holder: holder.model_copy(update={name: value}))

    return Slot(key or path.rpartition(".")[2], within, read, write)


def value_at(root: Any, path: str) -> Any:
    """What the dotted attributes lead to; `None` where a part on the way is not there."""
    for name in filter(None, path.split(".")):
        root = getattr(root, name, None)
    return root


def changed(root: FileModel, path: str, change: Callable[[Any], Any]) -> Any:
    """A copy of `root` in which the part at the end of the path is changed.

    Every part on the way is copied by itself, so each still knows how it was written.
    """
    first, _, rest = path.partition(".")
    if not first:
        return change(root)
    part = getattr(root, first)
    return root.model_copy(update={first: changed(part, rest, change)})
