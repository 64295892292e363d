"""The tool calls of a run's nodes, grown from its events."""

from __future__ import annotations

from engine.vocabulary.events import ToolCompleted
from engine.vocabulary.tools import CallStatus, JsonObject, OutputMeta, ToolCall
from orchestration.runs.view_values import ToolCallView

OPEN = frozenset({CallStatus.PROPOSED, CallStatus.AWAITING_APPROVAL, CallStatus.RUNNING})
STREAMING_TOOLS = frozenset({"bash"})


class ToolCallLog:
    """What was called, node by node, in call order."""

    __slots__ = ("_open", "by_node")

    def __init__(self) -> None:
        self.by_node: dict[str, dict[str, ToolCallView]] = {}
        self._open: dict[str, ToolCallView] = {}

    def propose(self, node_id: str, call: ToolCall) -> bool:
        """A new call; false if it is known already."""
        calls = self.by_node.setdefault(node_id, {})
        if call.id in calls:
            return False
        view = ToolCallView(
            call.id, call.name, CallStatus.PROPOSED, call.arguments, _intent(call.arguments)
        )
        calls[call.id] = self._open[call.id] = view
        return True

    def await_approval(self, call_id: str) -> bool:
        """The call waits for a person; whether it was at work before, and is to be asked anew."""
        call = self._open.get(call_id)
        if call is None:
            return False
        was_at_work = call.started_at is not None
        call.status, call.started_at, call.streaming = CallStatus.AWAITING_APPROVAL, None, False
        return was_at_work

    def allow(self, call_id: str) -> None:
        """The call may run."""
        if (call := self._open.get(call_id)) is not None:
            call.status = CallStatus.RUNNING

    def block(self, call_id: str, reason: str, time: float) -> None:
        """The call will not run."""
        self._end(call_id, CallStatus.BLOCKED, reason, True, time)

    def start(
        self, node_id: str, call_id: str, name: str, arguments: JsonObject, time: float
    ) -> None:
        """The call runs."""
        self.propose(node_id, ToolCall(call_id, name, arguments))
        call = self.by_node[node_id][call_id]
        call.status = CallStatus.RUNNING
        call.streaming = name in STREAMING_TOOLS
        call.started_at = time

    def update(self, call_id: str, tail: str, meta: OutputMeta | None) -> None:
        """The latest tail of a running call's output."""
        if (call := self._open.get(call_id)) is not None:
            call.last_output, call.output_meta = tail, meta

    def complete(self, event: ToolCompleted, time: float) -> ToolCallView | None:
        """The call has its result; `None` if it was over already."""
        status = CallStatus.FAILED if event.is_error else CallStatus.COMPLETED
        call = self._end(event.tool_call_id, status, event.content, event.is_error, time)
        if call is not None:
            call.output_meta, call.artifact_ids = event.output_meta, event.artifact_ids
        return call

    def begin_anew(self) -> None:
        """What ran was cut off: whether a call runs again, or what became of it, is told next."""
        for call in self._open.values():
            if call.status is CallStatus.RUNNING:
                call.status, call.streaming, call.started_at = CallStatus.PROPOSED, False, None

    def abort_all(self, time: float) -> None:
        """The run was stopped: whatever was open has no end of its own."""
        for call in self._open.values():
            call.status, call.streaming, call.completed_at = CallStatus.ABORTED, False, time
        self._open.clear()

    def abort_node(self, node_id: str, time: float) -> None:
        """The node was interrupted."""
        for call in self.by_node.get(node_id, {}).values():
            if call.status in OPEN:
                call.status, call.streaming, call.completed_at = CallStatus.ABORTED, False, time
                self._open.pop(call.call_id, None)

    def _end(
        self, call_id: str, status: CallStatus, content: str, is_error: bool, time: float
    ) -> ToolCallView | None:
        call = self._open.pop(call_id, None)
        if call is not None:
            call.status, call.last_output, call.is_error = status, content, is_error
            call.streaming, call.completed_at = False, time
        return call


def _intent(arguments: JsonObject) -> str | None:
    for key in ("_i", "intent"):
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None
