import json

import pytest
from msgspec.structs import replace

from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import ToolCall, ToolTier
from orchestration.errors import UserError
from orchestration.runs.answers import (
    AnswerBook,
    ApprovalAnswer,
    QuestionAnswer,
    UncertainAnswer,
    read_answers,
)


def approval(tool_name: str = "write", node_id: str = "a") -> PendingApproval:
    call = ToolCall("c", tool_name, {})
    return PendingApproval("p", node_id, "A", call, ToolTier.WRITE, "d")


def test_answers_are_read_in_order_each_in_its_shape() -> None:
    entries = [
        {"node_id": "a", "text": "yes"},
        {"allow": True, "for_run": True},
        {"tool_name": "write", "node_id": "b", "allow": False, "reason": "no"},
        {"node_id": "b", "uncertain": "redo"},
    ]
    assert read_answers(json.dumps(entries).encode(), "a.json") == (
        QuestionAnswer("a", "yes"),
        ApprovalAnswer(allow=True, for_run=True),
        ApprovalAnswer(allow=False, tool_name="write", node_id="b", reason="no"),
        UncertainAnswer(uncertain="redo", node_id="b"),
    )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"{}", "JSON list"),
        (b'["x"]', "answer 1"),
        (b'[{"allow": true}, {"node_id": "a"}]', "answer 2"),
        (b'[{"allow": "yes"}]', "answer 1"),
        (b'[{"node_id": "a", "text": 5}]', "answer 1"),
        (b'[{"allow": true, "tool": "write"}]', "tool"),
        (b'[{"uncertain": "perhaps"}]', "answer 1"),
    ],
)
def test_what_is_no_list_of_answers_is_refused_in_one_sentence(data: bytes, what: str) -> None:
    with pytest.raises(UserError, match=what) as caught:
        read_answers(data, "a.json")
    assert "\n" not in str(caught.value)
    assert "a.json" in str(caught.value)


def test_each_answer_is_used_once_and_only_where_it_fits() -> None:
    book = AnswerBook(
        [
            QuestionAnswer("a", "first"),
            QuestionAnswer("b", "other"),
            QuestionAnswer("a", "second"),
            ApprovalAnswer(allow=False, tool_name="write"),
            ApprovalAnswer(allow=True, node_id="b"),
            ApprovalAnswer(allow=True),
        ]
    )
    assert [book.for_question("a"), book.for_question("a"), book.for_question("a")] == [
        QuestionAnswer("a", "first"),
        QuestionAnswer("a", "second"),
        None,
    ]
    assert book.for_approval(approval("bash")) == ApprovalAnswer(allow=True)
    assert book.for_approval(approval("bash")) is None
    assert book.for_approval(approval("bash", "b")) == ApprovalAnswer(allow=True, node_id="b")
    write = ApprovalAnswer(allow=False, tool_name="write")
    assert book.for_approval(approval("write", "z")) == write


@pytest.mark.parametrize("named", [None, "a", "helper", "a/helper"])
def test_a_decision_may_name_any_part_of_the_path_to_the_caller(named: str | None) -> None:
    request = replace(approval(), path=("a", "helper"))
    assert ApprovalAnswer(allow=True, node_id=named).fits(request)
    assert not ApprovalAnswer(allow=True, node_id="b").fits(request)
    assert not ApprovalAnswer(allow=True, node_id="helper").fits(approval())


def test_a_byte_order_mark_is_read_over() -> None:
    assert read_answers(b'\xef\xbb\xbf[{"node_id": "a", "text": "x"}]', "a.json") == (
        QuestionAnswer("a", "x"),
    )
