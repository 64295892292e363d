"""Answers that were written down before a run: read, checked, and used in order."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from engine.vocabulary.recovery import UncertainCall
from engine.vocabulary.report import PendingApproval
from orchestration.errors import UserError


class QuestionAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer to the next question of a node."""

    node_id: str
    text: str


class ApprovalAnswer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A decision about the next call that fits; without names it fits any call.

    `node_id` names the node, or a subagent of it that wants to make the call, by the id of either
    or by the whole path (`node/subagent`). `for_run` also allows equal calls of the run.
    """

    allow: bool
    tool_name: str | None = None
    node_id: str | None = None
    reason: str | None = None
    for_run: bool = False

    def fits(self, request: PendingApproval) -> bool:
        """Whether it may decide about this call."""
        callers = (None, request.node_id, *request.path, "/".join(request.path))
        return self.tool_name in (None, request.tool_call.name) and self.node_id in callers


class UncertainAnswer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to do about the next call that fits and whose end a crash hid.

    Without names it fits any such call; `node_id` is as in `ApprovalAnswer`.
    """

    uncertain: Literal["done", "redo", "skip"]
    tool_name: str | None = None
    node_id: str | None = None

    def fits(self, call: UncertainCall) -> bool:
        """Whether it may settle this call."""
        callers = (None, call.node_id, *call.path, "/".join(call.path))
        return self.tool_name in (None, call.tool_call.name) and self.node_id in callers


class BudgetAnswer(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What to do when a limit is used up: `continue`, `continue 5000` or `stop`.

    `node_id` names a node, or a subagent at work; without it any of them is meant, and the run.
    """

    budget: str
    node_id: str | None = None


PreparedAnswer = QuestionAnswer | ApprovalAnswer | UncertainAnswer | BudgetAnswer

_SHAPES = (
    'an answer is {"node_id", "text"} for a question, '
    '{"allow", "tool_name"?, "node_id"?, "reason"?, "for_run"?} for an approval, '
    '{"uncertain", "tool_name"?, "node_id"?} for a call whose end a crash hid or '
    '{"budget", "node_id"?} for a limit that is used up'
)


def read_answers(data: bytes, source: str) -> tuple[PreparedAnswer, ...]:
    """Read a JSON list of answers; `source` is where they come from, for a person.

    Raises:
        UserError: one sentence that says which entry is wrong and how it should look.
    """
    try:
        entries = msgspec.json.decode(data.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, RecursionError) as error:
        raise UserError(f"the answers in {source} are not valid JSON: {error}") from error
    if not isinstance(entries, list):
        raise UserError(f"the answers in {source} must be a JSON list; {_SHAPES}")
    return tuple(_answer(entry, number, source) for number, entry in enumerate(entries, 1))


def _answer(entry: Any, number: int, source: str) -> PreparedAnswer:
    shape: type[PreparedAnswer] = ApprovalAnswer
    if isinstance(entry, dict):
        if "text" in entry:
            shape = QuestionAnswer
        elif "uncertain" in entry:
            shape = UncertainAnswer
        elif "budget" in entry:
            shape = BudgetAnswer
    try:
        return msgspec.convert(entry, shape)
    except msgspec.ValidationError as error:
        raise UserError(f"answer {number} in {source} does not fit ({error}); {_SHAPES}") from error


class AnswerBook:
    """The answers of one run; each is used once, the first that fits."""

    def __init__(self, answers: Iterable[PreparedAnswer]) -> None:
        self._answers = list(answers)

    def for_question(self, node_id: str) -> QuestionAnswer | None:
        """Take the answer to a question of this node."""
        for index, answer in enumerate(self._answers):
            if isinstance(answer, QuestionAnswer) and answer.node_id == node_id:
                del self._answers[index]
                return answer
        return None

    def for_budget(self, node_id: str) -> BudgetAnswer | None:
        """Take the answer to a question about a limit that this node has come to."""
        for index, answer in enumerate(self._answers):
            if isinstance(answer, BudgetAnswer) and answer.node_id in (None, node_id):
                del self._answers[index]
                return answer
        return None

    def for_approval(self, request: PendingApproval) -> ApprovalAnswer | None:
        """Take the decision about this call."""
        for index, answer in enumerate(self._answers):
            if isinstance(answer, ApprovalAnswer) and answer.fits(request):
                del self._answers[index]
                return answer
        return None

    def for_uncertain(self, call: UncertainCall) -> UncertainAnswer | None:
        """Take what becomes of this call of unknown end."""
        for index, answer in enumerate(self._answers):
            if isinstance(answer, UncertainAnswer) and answer.fits(call):
                del self._answers[index]
                return answer
        return None
