from __future__ import annotations

import asyncio
import os
from contextlib import nullcontext

import pytest
from msgspec.structs import replace

from app.cli.prompts import LineReader, TerminalPrompts
from engine.vocabulary.messages import Question, QuestionOption, StructuredInput
from engine.vocabulary.report import PendingApproval, PendingInput
from engine.vocabulary.tools import ApprovalRule, RuleProposal, ToolCall, ToolTier
from orchestration.runs.answers import ApprovalAnswer


def ask(
    pending: PendingInput | PendingApproval, *typed: str | None
) -> str | ApprovalAnswer | bool | None:
    lines = list(typed)
    prompts = TerminalPrompts(nullcontext, lambda: lines.pop(0))
    return asyncio.run(prompts.ask(pending))


APPROVAL = PendingApproval(
    "p1", "n", "Writer", ToolCall("c1", "write", {"path": "a.txt"}), ToolTier.WRITE, "digest"
)


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["y"], ApprovalAnswer(allow=True)),
        (["YES"], ApprovalAnswer(allow=True)),
        (["", "n"], ApprovalAnswer(allow=False)),
        (["not there"], ApprovalAnswer(allow=False, reason="not there")),
        ([None], None),
    ],
)
def test_a_call_is_allowed_refused_or_refused_with_a_reason(
    typed: list[str | None], decision: ApprovalAnswer | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(APPROVAL, *typed) == decision
    captured = capsys.readouterr()
    assert "Writer wants to call write (it can change things)\n  path: a.txt\n" in captured.err
    assert captured.out == ""


RULE = RuleProposal((ApprovalRule("write", "a.txt"),), "write a.txt", "write a2.txt")


def test_a_call_is_allowed_for_the_run_where_it_makes_a_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ask(replace(APPROVAL, rule=RULE), "r") == ApprovalAnswer(allow=True, for_run=True)
    said = capsys.readouterr().err
    assert "for this run would also allow: write a.txt" in said
    assert "would still ask about: write a2.txt" in said
    assert "allow? [y, r for this run, n, or a reason why not]" in said
    assert ask(APPROVAL, "r", "y") == ApprovalAnswer(allow=True)
    assert "allow it once, or not" in capsys.readouterr().err


def test_a_question_is_answered_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    pending = PendingInput("p", "n", "Idea", "long context", question="Which market?")
    assert ask(pending, "Europe") == "Europe"
    assert "Idea asks: Which market?" in capsys.readouterr().err


def test_options_are_chosen_by_number_or_in_own_words() -> None:
    options = (QuestionOption("Red", "warm"), QuestionOption("Blue", "cold"))
    colour = Question("q1", "Colour", "Which one?", options)
    size = Question("q2", "Size", "How big?", options)
    one = PendingInput("p", "n", "N", "", structured_input=StructuredInput((colour,)))
    assert ask(one, "2") == "Blue"
    assert ask(one, "9") == "9"
    assert ask(one, "green") == "green"
    two = PendingInput("p", "n", "N", "", structured_input=StructuredInput((colour, size)))
    assert ask(two, "1", "large") == "Colour: Red\nSize: large"
    assert ask(two, "1", None) is None


def test_lines_are_read_whole_until_the_end() -> None:
    reader, writer = os.pipe()
    os.write(writer, "eins\r\nzw\u00f6lf\n".encode())
    os.close(writer)
    lines = LineReader(reader)
    assert [lines.read(), lines.read(), lines.read()] == ["eins", "zw\u00f6lf", None]
    os.close(reader)
