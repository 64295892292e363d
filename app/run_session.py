"""One run as the window shows it: its events once a frame, its transcript, its facts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.addressing import RunFacts
from app.chat.transcript_feed import TranscriptFeed
from app.chat.transcript_model import TranscriptModel
from app.kit.run_bridge import RunBridge
from app.waiting_list import WaitingEntry
from engine.graph.workflow import Workflow
from engine.vocabulary.spending import RUN
from orchestration.backend import Backend
from orchestration.chats.chat_files import is_chat_id
from orchestration.runs.pauses import caller_of
from orchestration.runs.run_view import RunView
from orchestration.runs.view_values import RunStatus

_OVER = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.STOPPED})


class ShownRun(QObject):
    """One run of one workflow, as the window shows it.

    Attributes:
        moment: The time that it is shown at, in seconds since the epoch; `None` for now.
        is_replay: It is only looked at: nothing can be asked of it.

    Signals:
        advanced: Something happened; emitted at most once a frame.
    """

    advanced = Signal()
    moment: float | None = None
    is_replay = False

    def __init__(
        self, run_id: str, path: Path | None, workflow: Workflow, view: RunView, parent: QObject
    ) -> None:
        super().__init__(parent)
        self.run_id = run_id
        self.path = path
        self.workflow = workflow
        self.view = view
        self.model = TranscriptModel(self)

    @property
    def is_active(self) -> bool:
        """Whether the run can still go on by itself or with a person's help."""
        return not self.is_replay and self.view.ended_as not in _OVER

    @property
    def is_resting(self) -> bool:
        """Whether it is a chat in which it is the person's turn, which nobody has to be told."""
        view = self.view
        waiting = view.pending_inputs.values()
        others = view.pending_approvals or view.uncertain_calls or view.retryables
        return (
            is_chat_id(self.workflow.id)
            and bool(waiting)
            and not others
            and all(each.structured_input is None and each.budget is None for each in waiting)
        )

    def close(self) -> None:
        """Follow the run no longer."""

    def facts(self) -> RunFacts:
        """What the composer needs to know."""
        view = self.view
        return RunFacts(
            is_active=self.is_active,
            waiting=self._listening(),
            failed={key: retryable.label for key, retryable in view.retryables.items()},
            talking={key: view.labels[key] for key in self._talking()},
            undecided=len(view.pending_approvals) + len(view.uncertain_calls),
            at_work={key: view.labels[key] for key in self.activity()},
        )

    def waiting(self) -> list[WaitingEntry]:
        """What waits for the person in this run."""
        if not self.is_active or self.is_resting:
            return []
        view, name = self.view, self.workflow.name
        entries: list[WaitingEntry] = []
        asked: set[str] = set()
        for key, each in view.pending_inputs.items():
            if each.pause_id and each.pause_id in asked:
                continue  # many nodes may wait for one limit
            asked.add(each.pause_id)
            kind = "question" if each.budget is None else "budget"
            path = f"{name} / {each.label}"
            if each.budget is not None and each.budget.scope == RUN:
                path = name
            entries.append(WaitingEntry(self.run_id, key, kind, path, each.question, each.pause_id))
        for request in view.pending_approvals.values():
            inner = " / ".join((request.node_label, *request.path[1:]))
            entries.append(
                WaitingEntry(
                    self.run_id,
                    request.node_id,
                    "approval",
                    f"{name} / {inner}",
                    request.tool_call.name,
                    request.approval_id,
                )
            )
        for call in view.uncertain_calls.values():
            inner = " / ".join((call.node_label, *call.path[1:]))
            entries.append(
                WaitingEntry(
                    self.run_id,
                    call.node_id,
                    "uncertain",
                    f"{name} / {inner}",
                    call.tool_call.name,
                    call.call_id,
                )
            )
        entries += [
            WaitingEntry(self.run_id, key, "retry", f"{name} / {each.label}", each.error)
            for key, each in view.retryables.items()
        ]
        return entries

    def turn_of(self, approval_id: str) -> list[str]:
        """The ids of the calls that wait together with this one: those of the same caller."""
        waiting = self.view.pending_approvals
        request = waiting.get(approval_id)
        if request is None:
            return []
        return [key for key, other in waiting.items() if caller_of(other) == caller_of(request)]

    def activity(self) -> list[str]:
        """The ids of the nodes at work."""
        return [key for key, status in self.view.status_by_node.items() if status.is_busy]

    def _listening(self) -> dict[str, str]:
        """Nodes that wait for a text; of those behind one limit of the run only the first."""
        found: dict[str, str] = {}
        asked: set[str] = set()
        for key, pending in self.view.pending_inputs.items():
            if not pending.pause_id or pending.pause_id not in asked:
                found[key] = pending.label
            asked.add(pending.pause_id)
        return found

    def _talking(self) -> list[str]:
        """Nodes at work that take messages meanwhile."""
        talking = []
        agents = {node.id: node.agent for node in self.workflow.nodes}
        for node_id in self.activity():
            agent = agents.get(node_id)  # a run that was taken up may have had other nodes
            if agent is not None and (agent.request_user_input or agent.conversation_mode):
                talking.append(node_id)
        return talking


class RunSession(ShownRun):
    """Follows one run of one workflow as it goes on."""

    def __init__(
        self, backend: Backend, run_id: str, path: Path | None, workflow: Workflow, parent: QObject
    ) -> None:
        super().__init__(run_id, path, workflow, backend.view(run_id), parent)
        self._feed = TranscriptFeed(self.model, self.view, is_talk=is_chat_id(workflow.id))
        # In one step with the view, so that nothing is told twice or not at all.
        self._bridge = RunBridge(backend.subscribe(run_id), self)
        self._feed.catch_up()
        self._bridge.records.connect(self._take)

    def close(self) -> None:
        """Follow the run no longer."""
        self._bridge.close()

    def _take(self, records: list[object]) -> None:
        self._feed.apply(records)  # type: ignore[arg-type]
        self.model.flush()
        self.advanced.emit()
