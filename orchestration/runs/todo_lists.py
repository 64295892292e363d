"""The lists of what is to be done that models keep, as their calls give them."""

from __future__ import annotations

from engine.vocabulary.tools import JsonObject
from orchestration.runs.view_values import TodoItem

TODO_TOOL = "openflow_update_todo_list"


def todo_items(arguments: JsonObject) -> tuple[TodoItem, ...]:
    """The list that a successful call of the tool has set; what is no item is left out."""
    todos = arguments.get("todos")
    return tuple(
        TodoItem(item["content"].strip(), str(item.get("status", "pending")))
        for item in (todos if isinstance(todos, list) else ())
        if isinstance(item, dict) and isinstance(item.get("content"), str)
    )
