"""Events of a run that the tests of the window show a person."""

from __future__ import annotations

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Question, QuestionOption, StructuredInput
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import ToolCall, ToolTier

STORAGE = StructuredInput(
    (
        Question(
            "store",
            "Storage",
            "Where should chunks live?",
            (QuestionOption("Object storage", "Cheap"), QuestionOption("Local disk", "Fast")),
        ),
    )
)
WRITE_CALL = ToolCall("c1", "write", {"path": "docs/risks.md", "content": "# Risks\n\n1. Loss\n"})


def approval(approval_id: str = "a1") -> ev.ToolApprovalRequested:
    return ev.ToolApprovalRequested(
        PendingApproval(
            approval_id, "risk", "Find risks", WRITE_CALL, ToolTier.WRITE, "d", ("risk",)
        )
    )


def asks(node: str, label: str, question: str, pause_id: str = "p1") -> ev.NodeAwaitingInput:
    return ev.NodeAwaitingInput(node, label, "", pause_id=pause_id, question=question)
