"""The table as a whole: complete for people, closed, and drawn as it is."""

from __future__ import annotations

import typing

import pytest

from docs.draw_transitions import PAGE, page
from engine.run.state import NodePhase
from engine.run.transitions import TABLE
from engine.vocabulary.inputs import (
    EditBatchReverted,
    EngineInput,
    HumanAnswered,
    MessageEdited,
    MessageQueued,
    MessageWithdrawn,
    NodeInterruptAsked,
    NodePatched,
    RetryAsked,
    Started,
    Stopped,
)

OF_THE_RUN = {Started, Stopped, MessageEdited, MessageWithdrawn}
OF_PEOPLE = [
    HumanAnswered,
    RetryAsked,
    NodeInterruptAsked,
    MessageQueued,
    NodePatched,
    EditBatchReverted,
]


@pytest.mark.parametrize("phase", list(NodePhase))
@pytest.mark.parametrize("given", OF_PEOPLE)
def test_whatever_a_person_does_has_an_answer_in_every_phase(phase: NodePhase, given: type) -> None:
    assert (phase, given) in TABLE


def test_every_input_of_a_node_is_in_the_table() -> None:
    known = {given for _, given in TABLE}
    assert known == set(typing.get_args(EngineInput)) - OF_THE_RUN


def test_every_phase_can_be_reached_and_only_done_is_final() -> None:
    reached = {NodePhase.IDLE, NodePhase.CALLING}
    for (phase, _), row in TABLE.items():
        if phase in reached:
            reached |= row.leads_to
    assert reached == set(NodePhase)
    leaving = {phase for (phase, _), row in TABLE.items() if row.leads_to - {phase}}
    assert set(NodePhase) - leaving == {NodePhase.IDLE, NodePhase.DONE}


def test_the_drawing_is_that_of_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
