"""The chats of a run's nodes, grown from its events."""

from __future__ import annotations

from typing import Any

from engine.run.markup import strip_tool_markup
from orchestration.runs.view_values import ChatEntry, EntryKind

PROSE = frozenset({"user", "assistant"})


class ChatLog:
    """What was said, node by node. Every step costs the same however long a chat is."""

    __slots__ = ("_last_prose", "_open", "by_node")

    def __init__(self) -> None:
        self.by_node: dict[str, list[ChatEntry]] = {}
        self._open: dict[str, ChatEntry] = {}
        self._last_prose: dict[str, float] = {}

    def say(self, node_id: str, role: str, content: str, time: float) -> None:
        """A whole message."""
        entry = self._add(node_id, "", role, EntryKind.MESSAGE, time)
        entry.pieces = [content]
        if role in PROSE:
            self._time_prose(node_id, entry, time)
        entry.completed_at = time

    def stream(self, node_id: str, message_id: str, role: str, delta: str, time: float) -> None:
        """A piece of a message; the first one opens it. The text stays raw until the end."""
        entry = self._open.get(message_id)
        if entry is None:
            self._open[message_id] = entry = self._add(
                node_id, message_id, role, EntryKind.MESSAGE, time
            )
            entry.streaming = True
            entry.pieces = []
        if delta and entry.pieces is not None:
            entry.pieces.append(delta)

    def finalize(self, node_id: str, message_id: str, time: float) -> None:
        """The message is complete; one that holds nothing to read goes."""
        entry = self._open.pop(message_id, None)
        if entry is None:
            return
        entry.streaming = False
        entry.completed_at = time
        text: str | None = entry.content
        if entry.role == "assistant":
            text = strip_tool_markup(entry.content)
        if text is None or not text.strip():
            self._drop(node_id, entry)
            return
        entry.pieces = [text]
        if entry.role in PROSE:
            self._time_prose(node_id, entry, time)

    def close_open(self, time: float) -> None:
        """End the messages that will not be completed any more; keep what they hold."""
        for entry in self._open.values():
            entry.streaming = False
            entry.completed_at = time
        self._open.clear()

    def mark_call(self, node_id: str, call_id: str, time: float) -> None:
        """The place of a tool call between the messages."""
        entry = self._add(node_id, "", "system", EntryKind.TOOL_CALL, time)
        entry.tool_call_id = call_id

    def notice(self, node_id: str, text: str, time: float, call_id: str | None = None) -> None:
        """A line of the program's own."""
        entry = self._add(node_id, "", "system", EntryKind.NOTICE, time)
        entry.pieces, entry.completed_at, entry.tool_call_id = [text], time, call_id

    def complete(self, node_id: str, output: Any, time: float) -> None:
        """The node's output, unless it is null."""
        if output is None:
            return
        kind = EntryKind.NODE_COMPLETED
        entry = ChatEntry("", "assistant", kind, time, None, False, time, None, None, output)
        entries = self.by_node.get(node_id)
        if entries is None:
            self.by_node[node_id] = [entry]
        else:
            entries.append(entry)

    def _add(
        self, node_id: str, entry_id: str, role: str, kind: EntryKind, time: float
    ) -> ChatEntry:
        entry = ChatEntry(entry_id, role, kind, time)
        entries = self.by_node.get(node_id)
        if entries is None:
            self.by_node[node_id] = [entry]
        else:
            entries.append(entry)
        return entry

    def _drop(self, node_id: str, entry: ChatEntry) -> None:
        entries = self.by_node[node_id]
        # From the end: a message that has just been completed is among the last ones.
        for index in range(len(entries) - 1, -1, -1):
            if entries[index] is entry:
                del entries[index]
                return

    def _time_prose(self, node_id: str, entry: ChatEntry, completed_at: float) -> None:
        before = self._last_prose.get(node_id)
        if before is not None:
            entry.elapsed_s = max(0.0, entry.created_at - before)
        self._last_prose[node_id] = completed_at
