"""Plan mode: one node plans and seals with a person, and only then the others act."""

from __future__ import annotations

import json

import pytest

from engine.run.feedback import PLAN_DRAFT_URI
from engine.run.state import NodePhase
from engine.vocabulary.errors import InvalidFrozenChangeEvidencePacket
from engine.vocabulary.events import ToolApprovalRequested, ToolDenied
from engine.vocabulary.messages import CallItem, MessageTurn, UserMessage
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import SEAL_PLAN_TOOL, ToolAccessPolicy, ToolCall, ToolResult
from tests.support.engine_driver import Reply, World, calls, done, workflow

TOOLS = ("read", "write", "edit", "bash", "mcp_1_x_y", "openflow_call_subagent", SEAL_PLAN_TOOL)
SEAL = (SEAL_PLAN_TOOL, {"_i": "seal it"})
DRAFT = ("write", {"path": PLAN_DRAFT_URI, "content": "# Plan"})


def result_of(call: ToolCall) -> ToolResult:
    artifacts = ("artifact-1",) if call.name == SEAL_PLAN_TOOL else ()
    return ToolResult(call.id, call.name, "ok", artifact_ids=artifacts)


def planning(*replies: Reply, mode: str = "write", other: Reply | None = None) -> World:
    flow = workflow(
        [("plan", "do")],
        nodes=["other"],
        agents={
            "plan": {"requestUserInput": True, "tools": {"approvalMode": mode}},
            "other": {"tools": {"approvalMode": mode}},
        },
        settings={"planMode": {"evidenceSourceNodeId": "plan"}},
    )
    script = {"plan": list(replies), "other": [other, done()] if other else [done()]}
    return World(flow, script, tools=TOOLS, tool_results=result_of).start()


def seal(world: World) -> None:
    world.apply(world.engine.on_tool_decision(world.needs.approvals[0].approval_id, True, 0))


def test_while_planning_only_reading_reaches_the_tools() -> None:
    turn = calls(
        ("write", {"path": "src/x.py", "content": ""}),
        ("mcp_1_x_y", {}),
        ("openflow_call_subagent", {"subagent_id": "s", "input": "x"}),
        ("read", {"path": "x"}),
    )
    world = planning(turn, DONE_TALK, mode="yolo")

    assert [call.name for call in world.executed] == ["read"]
    assert len(world.events_of(ToolDenied)) == 3
    assert world.requests[0].tool_access_policy is ToolAccessPolicy.PLANNING


DONE_TALK = calls(SEAL)


def test_sealing_needs_an_approval_even_where_everything_is_allowed() -> None:
    world = planning(calls(DRAFT), calls(SEAL), done(), mode="yolo")

    assert [call.name for call in world.executed] == ["write"]
    assert len(world.events_of(ToolApprovalRequested)) == 1


def test_the_draft_is_written_without_an_approval() -> None:
    world = planning(calls(DRAFT), calls(SEAL), done(), mode="always_ask")

    assert [call.name for call in world.executed] == ["write"]


def test_a_submit_before_the_seal_is_sent_back_but_not_for_ever() -> None:
    world = planning(done(), calls(SEAL), done("sealed"))
    assert isinstance(world.requests[-1].transcript[-1], UserMessage)
    seal(world)
    assert isinstance(world.outcome, RunCompleted)

    world = planning(*[done()] * 4)
    assert world.engine.phase("plan") is NodePhase.FAILED


def test_another_node_may_neither_draft_nor_seal() -> None:
    world = planning(calls(SEAL), done(), other=calls(DRAFT, SEAL))

    denied = [e.tool_name for e in world.events_of(ToolDenied) if e.node_id == "other"]
    assert denied == ["write", SEAL_PLAN_TOOL]


def test_the_recorded_seal_becomes_a_reference() -> None:
    world = planning(calls(SEAL), done())
    seal(world)

    transcript = world.engine.state_of("plan").transcript
    recorded = [i.call for i in transcript if isinstance(i, CallItem)]
    assert recorded[0].arguments == {"artifact_id": "artifact-1", "sealed_from": PLAN_DRAFT_URI}


def test_the_frozen_packet_reaches_every_later_node_and_opens_execution() -> None:
    world = planning(calls(SEAL), done("the plan"))
    seal(world)

    later = next(request for request in world.requests if request.node_id == "do")
    assert later.tool_access_policy is ToolAccessPolicy.EXECUTION
    packet = later.input["change_evidence_packet"]
    assert (packet["schemaVersion"], packet["sourceNodeId"]) == (1, "plan")
    assert packet["content"] == {"summary": "the plan"}


def test_the_source_may_ask_whatever_its_own_setting_says() -> None:
    flow = workflow(nodes=["plan"], settings={"planMode": {"evidenceSourceNodeId": "plan"}})
    world = World(flow, tools=TOOLS, manual=True).start()

    assert world.calls["plan"].request.allow_user_input


def test_narrated_writing_while_planning_points_to_the_draft_and_the_seal() -> None:
    world = planning(MessageTurn("I'll write the plan now."), calls(SEAL), done())

    nudge = [r for r in world.requests if r.node_id == "plan"][1].transcript[-1]
    assert isinstance(nudge, UserMessage)
    assert PLAN_DRAFT_URI in nudge.content
    assert SEAL_PLAN_TOOL in nudge.content


def test_the_pinned_source_and_packet_beat_later_edits_of_the_workflow() -> None:
    world = planning(calls(SEAL), done("the plan"))
    world.manual = True
    world.apply(world.engine.on_tool_decision(world.needs.approvals[0].approval_id, True, 0))
    world.finish_tools("plan")
    world.reply("plan", done("the plan"))
    edited = world.flow.model_copy(
        update={"settings": world.flow.settings.model_copy(update={"plan_mode": None})}
    )
    world.flow = edited

    again = world.restored().start()

    assert again.calls["do"].request.input["change_evidence_packet"]["sourceNodeId"] == "plan"


@pytest.mark.parametrize("key", ["content", "sourceNodeId", "sha256", "schemaVersion"])
def test_a_packet_that_was_altered_is_refused(key: str) -> None:
    world = planning(calls(SEAL), done("the plan"))
    seal(world)
    state = json.loads(world.engine.checkpoint())
    state["plan"]["packet"][key] = {"other": 1} if key == "content" else "other"

    with pytest.raises(InvalidFrozenChangeEvidencePacket):
        type(world.engine).restore(
            json.dumps(state).encode(),
            world.flow,
            entropy=world.engine._run._entropy,
            catalog=world.catalog,
        )
