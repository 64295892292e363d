"""From tool calls to rows: lines and stacks of lines, file changes, lists of what is to be done."""

from __future__ import annotations

from typing import Any

from app.chat.row_maker import RowMaker
from app.chat.rows import TASKS, TOOL, Row, ToolLine
from app.chat.todo_block import todo_markdown
from app.chat.tool_words import call_text, tool_name, tool_target
from engine.vocabulary import events as ev
from engine.vocabulary.tools import HARNESS_TOOLS
from orchestration.runs.todo_lists import TODO_TOOL
from orchestration.runs.tool_call_log import OPEN

_NO_LINE = HARNESS_TOOLS | {TODO_TOOL}
_APART = frozenset({"write", "edit", "apply_patch", "ast_edit"})
"""What changes files is never put into a stack: a person wants to see it."""


class CallRows:
    """Keeps a row for each call, and one for each list."""

    def __init__(self, rows: RowMaker) -> None:
        self._rows = rows
        self._model = rows.model
        self._view = rows.view
        self._tools: dict[str, Row] = {}
        self._todos: dict[str, Row] = {}
        self._open: dict[str, str] = {}

    def row(self, actor_id: str, call_id: str, time: float) -> Row | None:
        """The row of a call; made if there is none. Some calls have none."""
        call = self._view.tool_calls.get(actor_id, {}).get(call_id)
        if call is None or call.tool_name in _NO_LINE or call_id in self._tools:
            return self._tools.get(call_id)
        row = self._rows.add(TOOL, actor_id, time, head=self._stack(actor_id, call.tool_name))
        target = call.intent or tool_target(call.arguments)
        row.tool = ToolLine(tool_name(call.tool_name), target, call_text(call.arguments), call_id)
        row.tool.name = call.tool_name
        row.tool.path = _path_of(call.arguments)
        self._tools[call_id] = row
        self._open[call_id] = actor_id
        self.show(actor_id, call_id)
        return row

    def show(self, actor_id: str, call_id: str) -> None:
        """Bring the row of a call in line."""
        row = self._tools.get(call_id)
        call = self._view.tool_calls.get(actor_id, {}).get(call_id)
        if row is None or row.tool is None or call is None:
            return
        row.tool.status = str(call.status)
        row.tool.output = call.last_output
        if call.started_at is not None and call.completed_at is not None:
            row.tool.seconds = call.completed_at - call.started_at
        self._model.touch(row)

    def close_ended(self) -> None:
        """Bring in line what has ended without a word of its own, with its node or its run."""
        for call_id, actor_id in list(self._open.items()):
            call = self._view.tool_calls[actor_id][call_id]
            if call.status not in OPEN:
                del self._open[call_id]
                tool = self._tools[call_id].tool
                if tool is not None and tool.status != str(call.status):
                    self.show(actor_id, call_id)

    def changed(self, event: Any, time: float) -> None:
        """A call has begun, gone on or ended."""
        if isinstance(event, ev.ToolStarted):
            self.row(event.node_id, event.tool_call_id, time)
        self.show(event.node_id, event.tool_call_id)
        if event.tool_name == TODO_TOOL:
            self.show_todos(event.node_id, time)

    def show_todos(self, actor_id: str, time: float) -> None:
        """Bring the card with the list in line; there is one for each who keeps a list."""
        items = self._view.todos.get(actor_id)
        if not items:
            return
        row = self._todos.get(actor_id)
        if row is None:
            row = self._todos[actor_id] = self._rows.add(TASKS, actor_id, time)
        row.text, row.payload = todo_markdown(items), items
        self._model.touch(row)

    def recorded(self, event: ev.EditBatchRecorded) -> None:
        """What a call has changed can be reverted from now on."""
        row = self._tools.get(event.batch.tool_call_id)
        if row is not None:
            row.batch_id = event.batch.batch_id
            self._model.touch(row)

    def undone(self, event: ev.EditBatchUndone) -> None:
        """What a call has changed is reverted."""
        for row in self._tools.values():
            if row.batch_id == event.batch_id:
                row.is_reverted = True
                self._model.touch(row)

    def catch_up(self) -> None:
        """Know the changes and the lists of before."""
        for batch in self._view.edit_batches:
            row = self._tools.get(batch.tool_call_id)
            if row is not None:
                row.batch_id = batch.batch_id

    def _stack(self, actor_id: str, name: str) -> Row | None:
        last = self._rows.last(actor_id)
        if name in _APART or last is None or last.tool is None or last.tool.name in _APART:
            return None
        return last.head or last


def _path_of(arguments: Any) -> str:
    for key in ("path", "file_path"):
        value = arguments.get(key)
        if isinstance(value, str) and value.strip() and "\n" not in value:
            return str(value.strip())
    return ""
