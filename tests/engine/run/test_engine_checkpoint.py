"""A run's state as data: stored, checked, restored, and the same run again from its inputs."""

from __future__ import annotations

import json

import pytest

from engine.run.state import NodePhase
from engine.vocabulary.effects import CallModel
from engine.vocabulary.errors import (
    CheckpointError,
    InteractionError,
    MixedToolTurn,
    PermanentFailure,
    StaleNodeIds,
    TransientFailure,
    TruncatedOutput,
    WorkflowMismatch,
)
from engine.vocabulary.events import NodeAwaitingInput, ToolApprovalRequested
from engine.vocabulary.inputs import HumanAnswered, MessageQueued, Started, Stopped
from engine.vocabulary.messages import (
    Attachment,
    InputRequest,
    MessageTurn,
    ResultItem,
    UserMessage,
)
from engine.vocabulary.report import RunCancelled, RunCompleted
from engine.vocabulary.tools import SUBMIT_TOOL
from tests.support.engine_driver import ASKING, World, calls, done, workflow

WRITE = ("write", {"path": "x", "content": "1"})


def stop(world: World) -> World:
    world.apply(world.engine.feed(Stopped(0)))
    assert isinstance(world.outcome, RunCancelled)
    return world


def test_all_streaks_survive_a_restore() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    for reply in (
        MixedToolTurn((SUBMIT_TOOL, "read")),
        TruncatedOutput("length"),
        MessageTurn("Hm."),
        TransientFailure("busy"),
    ):
        world.reply("a", reply)
        if world.timers:
            break

    counters = world.restored().engine.state_of("a").counters

    assert counters == world.engine.state_of("a").counters
    assert (counters.mixed_turn, counters.text_turn, counters.transient) == (1, 1, 1)


def test_a_waiting_question_is_asked_again_with_the_same_id() -> None:
    flow = workflow(nodes=["a"], defaults=ASKING)
    world = stop(World(flow, {"a": [InputRequest("?"), done()]}).start())

    again = world.restored().start()

    first, second = world.events_of(NodeAwaitingInput)[0], again.events_of(NodeAwaitingInput)[0]
    assert first == second
    again.apply(again.engine.on_human_input("a", "x", 0, pause_id=first.pause_id))
    assert isinstance(again.outcome, RunCompleted)


def test_a_pending_approval_is_back_with_the_same_id_and_runs_once() -> None:
    world = World(workflow(nodes=["a"]), {"a": [calls(WRITE), done()]}).start()
    approval = world.needs.approvals[0]
    again = stop(world).restored().start()

    assert again.events_of(ToolApprovalRequested)[0].request == approval
    again.apply(again.engine.on_tool_decision(approval.approval_id, True, 0))
    assert [call.name for call in again.executed] == ["write"]
    assert isinstance(again.outcome, RunCompleted)


def test_what_was_at_work_when_the_run_stopped_is_retried() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True).start()
    world.reply("b", calls(("read", {"path": "x"})))
    stop(world)
    assert world.engine.phase("a") is world.engine.phase("b") is NodePhase.INTERRUPTED
    transcript = world.engine.state_of("b").transcript
    assert isinstance(transcript[-1], ResultItem)
    assert transcript[-1].result.is_error

    again = world.restored().start()

    assert set(again.calls) == {"a", "b"}
    assert again.calls["a"].request.model_attempt == 2


def test_a_failed_node_stays_failed() -> None:
    world = stop(World(workflow(nodes=["a"]), {"a": [PermanentFailure("x")]}).start())

    assert world.restored().start().needs == world.engine.waiting()


def test_a_run_goes_on_with_a_message_to_a_node_that_can_take_one() -> None:
    flow = workflow([("a", "b")])
    world = stop(World(flow, {"a": [PermanentFailure("x")]}).start())

    again = world.restored()
    before = again.engine.checkpoint()
    for stranger in ("b", "zzz"):
        with pytest.raises(InteractionError):
            again.engine.feed(Started(0, MessageQueued(stranger, "m", "Hello?", 0)))
    assert again.engine.checkpoint() == before
    step = again.engine.feed(Started(0, MessageQueued("a", "m", "Try the other file.", 0)))

    (call,) = step.effects
    assert isinstance(call, CallModel)
    assert call.request.transcript[-1] == UserMessage("Try the other file.")
    assert call.request.model_attempt == 2


def test_a_message_with_an_attachment_is_one_item_with_both() -> None:
    flow = workflow(nodes=["a"], defaults=ASKING)
    world = World(flow, {"a": [InputRequest("?")]}).start()
    world.manual = True
    file = Attachment("id", "a.png", "image/png", 1, "0")
    world.apply(world.engine.feed(HumanAnswered("a", "see", 0, (file,))))

    item = world.restored().engine.state_of("a").transcript[-1]
    assert item == UserMessage("see", (file,))


def test_a_state_of_another_workflow_is_refused_first() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    state = json.loads(world.engine.checkpoint())
    state["workflow_id"], state["nodes"]["gone"] = "other", {"id": "gone"}

    with pytest.raises(WorkflowMismatch):
        restore(world, state)


def test_a_state_with_unknown_nodes_names_them() -> None:
    world = World(workflow(nodes=["a"]), manual=True).start()
    state = json.loads(world.engine.checkpoint())
    state["nodes"]["gone"] = {"id": "gone"}

    with pytest.raises(StaleNodeIds) as caught:
        restore(world, state)
    assert caught.value.node_ids == ("gone",)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"workflow_id": 3}'])
def test_unreadable_states_are_refused(data: bytes) -> None:
    world = World(workflow(nodes=["a"]), manual=True)
    with pytest.raises(CheckpointError):
        type(world.engine).restore(
            data, world.flow, entropy=world.engine._run._entropy, catalog=world.catalog
        )


def restore(world: World, state: object) -> None:
    type(world.engine).restore(
        json.dumps(state).encode(),
        world.flow,
        entropy=world.engine._run._entropy,
        catalog=world.catalog,
    )
