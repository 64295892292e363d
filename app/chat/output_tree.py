"""A node's output as a tree whose branches fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.kit.formats import plural

_OPEN_DEPTH = 2
_OPEN_ITEMS = 30
_MOST_LINES = 400
_MOST_CHARACTERS = 8_000


class TreeLine(NamedTuple):
    """One line: `place` names the branch that folds here and is empty for a leaf."""

    depth: int
    key: str
    value: str
    place: str = ""
    is_open: bool = False


def is_tree(output: Any) -> bool:
    """Whether there is something to fold: an object that is not one Markdown text, or a list."""
    if isinstance(output, Mapping):
        return bool(output) and set(output) != {"markdown"}
    return _is_list(output) and bool(output)


def tree_lines(output: Any, turned: set[str]) -> list[TreeLine]:
    """What is seen of the tree, where the branches at the places `turned` are turned over."""
    lines: list[TreeLine] = []
    _add_branch(output, 0, "", turned, lines)
    if len(lines) > _MOST_LINES:
        left_out = len(lines) - _MOST_LINES
        del lines[_MOST_LINES:]
        words = f"… and {plural(left_out, 'more line')}: fold something, or copy it as JSON"
        lines.append(TreeLine(0, "", words))
    return lines


def branches(output: Any) -> list[str]:
    """The places of all branches."""
    found: list[str] = []
    _find_branches(output, "", found)
    return found


def opens_at_first(value: Any, depth: int) -> bool:
    """Whether a branch is open before anybody has turned it over."""
    return depth < _OPEN_DEPTH and len(value) <= _OPEN_ITEMS


def _add_branch(
    value: Any, depth: int, place: str, turned: set[str], lines: list[TreeLine]
) -> None:
    for key, each in _items(value):
        inside = f"{place}/{key}"
        if not _is_branch(each):
            lines.append(TreeLine(depth, key, _leaf(each)))
            continue
        is_open = opens_at_first(each, depth) is not (inside in turned)
        lines.append(TreeLine(depth, key, _size(each), inside, is_open))
        if is_open and len(lines) <= 2 * _MOST_LINES:
            _add_branch(each, depth + 1, inside, turned, lines)


def _find_branches(value: Any, place: str, found: list[str]) -> None:
    for key, each in _items(value):
        if _is_branch(each):
            found.append(f"{place}/{key}")
            _find_branches(each, f"{place}/{key}", found)


def _items(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), each) for key, each in value.items()]
    return [(str(at + 1), each) for at, each in enumerate(value)]


def _is_branch(value: Any) -> bool:
    return (isinstance(value, Mapping) or _is_list(value)) and bool(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _size(value: Any) -> str:
    return plural(len(value), "field" if isinstance(value, Mapping) else "item")


def _leaf(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_list(value) or isinstance(value, Mapping):
        return "empty"
    text = str(value)
    if len(text) > _MOST_CHARACTERS:
        left_out = len(text) - _MOST_CHARACTERS
        return f"{text[:_MOST_CHARACTERS]}… and {left_out} more characters: copy it as JSON"
    return text or "empty"
