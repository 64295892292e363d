"""Subagents: who may call which, what they start from, and what their callers get."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.graph.agents import CallableAgent
from engine.graph.handoff import DEFAULT_OUTPUT_SCHEMA
from engine.run.state import SubagentStatus
from engine.vocabulary.errors import PermanentFailure
from engine.vocabulary.events import (
    NodeQueued,
    SubagentsDeclared,
    SubagentStarted,
)
from engine.vocabulary.inputs import NodePatched, RuntimePatch
from engine.vocabulary.messages import (
    UserMessage,
)
from engine.vocabulary.report import RunCompleted
from engine.vocabulary.tools import (
    CALL_SUBAGENT_TOOL,
    DECLARE_SUBAGENTS_TOOL,
    SUBAGENT_TOOLS,
)
from tests.support.engine_driver import Reply, calls, done
from tests.support.subagent_runs import (
    COUNTER,
    HELPER,
    READ,
    SCHEMA,
    WRITE,
    answer_of,
    ask,
    declare,
    run,
    with_helper,
)


def test_a_declared_subagent_is_called_and_its_output_comes_back() -> None:
    world = with_helper(done("three", assistant_message="Counted."))

    assert isinstance(world.outcome, RunCompleted)
    declared, called = world.results()
    assert json.loads(declared.content)["declared"][0]["id"] == "a-subagent-1"
    assert json.loads(called.content) == {"output": {"summary": "three"}, "message": "Counted."}
    assert (declared.is_error, called.is_error) == (False, False)
    assert world.executed == []


def test_an_ad_hoc_subagent_has_the_default_schema_and_its_callers_model() -> None:
    world = with_helper(manual=True, settings={"shared_context": "We count in dozens."})
    request = world.calls[HELPER].request

    assert request.output_schema == DEFAULT_OUTPUT_SCHEMA
    assert (request.model, request.task_prompt, request.input) == ("scripted", "Count.", None)
    assert (request.node_id, request.node_label) == (HELPER, "Ann")
    assert "to be Ann" in request.system_messages[0]
    assert request.system_messages[-1].endswith("We count in dozens.")
    assert len(request.system_messages) == 2
    (seed,) = request.transcript
    assert isinstance(seed, UserMessage)
    assert "Ann" in seed.content
    assert "Count." in seed.content
    assert request.offered_harness_tools == ("openflow_submit_node_output",)


def test_a_saved_agent_brings_its_prompt_schema_and_model() -> None:
    world = run(manual=True, agents=(COUNTER,))
    world.reply("a", calls(ask("counter", "Count the files.")))
    request = world.calls["a/counter"].request

    assert request.output_schema == SCHEMA
    assert (request.model, request.task_prompt) == ("cheap", "Count the files.")
    assert request.system_messages == ("You count.",)
    assert request.reasoning_effort is None


def test_a_saved_agent_without_a_model_has_its_callers_even_after_a_patch() -> None:
    nameless = CallableAgent(id="counter", name="Counter", output_schema=SCHEMA)
    world = run(manual=True, agents=(nameless,), settings={"reasoningEffort": "high"})
    world.engine.feed(NodePatched("a", RuntimePatch(model="patched"), 0))
    world.reply("a", calls(ask("counter")))

    assert world.calls["a/counter"].request.model == "patched"
    assert world.calls["a/counter"].request.reasoning_effort is None


def test_saved_agents_are_announced_once_and_listed_where_they_may_be_called() -> None:
    other = CallableAgent(id="other", name="Other", output_schema=SCHEMA)
    nodes = {"b": {"allowAllCallableAgents": False, "callableAgents": ["other"]}}
    world = run(
        {"a": [calls(READ), done()]}, agents=(COUNTER, other), nodes=nodes, edges=(("a", "b"),)
    )

    told = [(e.node_id, [s.id for s in e.summaries]) for e in world.events_of(SubagentsDeclared)]
    assert told == [("a", ["counter", "other"]), ("b", ["other"])]
    assert world.events_of(SubagentsDeclared)[0].summaries[0].purpose == "Counts things."
    listing = {r.node_id: r.available_tools[-1].description for r in world.requests}
    assert "- counter (Counter): Counts things." in listing["a"]
    assert "counter" not in listing["b"]


def test_saved_agents_are_not_announced_again_when_a_node_is_retried() -> None:
    world = run({"a": [PermanentFailure("no"), done()]}, agents=(COUNTER,))
    world.apply(world.engine.retry_node("a", 0))
    assert isinstance(world.outcome, RunCompleted)
    assert len(world.events_of(SubagentsDeclared)) == 1


def test_an_id_that_a_saved_agent_has_is_not_given_again() -> None:
    taken = CallableAgent(id="a-subagent-1", name="Taken", output_schema=SCHEMA)
    world = run({"a": [calls(declare("Ann")), done()]}, agents=(taken,))
    told = [s.id for e in world.events_of(SubagentsDeclared) for s in e.summaries]
    assert told == ["a-subagent-1", "a-subagent-2"]


def test_a_node_cannot_call_the_subagents_of_another() -> None:
    script: dict[str, list[Reply]] = {
        "a": [calls(declare("Ann")), done()],
        "b": [calls(ask("a-subagent-1")), done()],
    }
    world = run(script, edges=(("a", "b"),))
    assert "there is no subagent 'a-subagent-1' here; available: none" in answer_of(world, "b")


def test_ids_go_on_counting_and_the_listing_grows() -> None:
    script: dict[str, list[Reply]] = {
        "a": [calls(declare("Ann", "Bob")), calls(declare("Cid")), done()]
    }
    world = run(script, agents=(COUNTER,))
    told = [s.id for e in world.events_of(SubagentsDeclared) for s in e.summaries]
    assert told == ["counter", "a-subagent-1", "a-subagent-2", "a-subagent-3"]
    call = world.requests[-1].available_tools[-1]
    assert [line[2:14] for line in call.description.splitlines()[-3:]] == told[1:]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ((DECLARE_SUBAGENTS_TOOL, {"subagents": [{"name": "Ann"}]}), "needs 'purpose'"),
        (
            (DECLARE_SUBAGENTS_TOOL, {"subagents": [{"name": "A", "purpose": "b", "x": 1}]}),
            "fields that are not known: x",
        ),
        ((CALL_SUBAGENT_TOOL, {"subagent_id": "counter"}), "needs 'input'"),
        (ask("nobody"), "there is no subagent 'nobody' here; available: counter"),
    ],
)
def test_calls_that_cannot_be_had_are_error_results_and_change_nothing(
    call: tuple[str, dict[str, Any]], problem: str
) -> None:
    world = run({"a": [calls(call), done()]}, agents=(COUNTER,))

    (result,) = world.results()
    assert result.is_error
    assert problem in result.content
    assert world.events_of(SubagentStarted) == []
    assert len(world.events_of(SubagentsDeclared)) == 1
    subagents = world.engine.state_of("a").subagents
    assert subagents is not None
    assert [s.status for s in subagents.values()] == [SubagentStatus.DECLARED]


def test_calls_of_one_turn_go_side_by_side_and_results_come_in_call_order() -> None:
    world = run(manual=True)
    world.reply("a", calls(declare("Ann", "Bob")))
    world.reply("a", calls(READ, ask("a-subagent-1"), ask("a-subagent-2"), WRITE))
    assert world.calls.keys() == set()
    world.finish_tools("a")
    assert world.calls.keys() == {HELPER, "a/a-subagent-2"}

    world.reply("a/a-subagent-2", done("two"))
    assert "a" not in world.batches
    world.reply(HELPER, done("one"))
    world.finish_tools("a")

    told = [r.tool_name for r in world.results()]
    assert told == [
        DECLARE_SUBAGENTS_TOOL,
        "read",
        CALL_SUBAGENT_TOOL,
        CALL_SUBAGENT_TOOL,
        "write",
    ]
    assert "one" in world.results()[2].content
    assert "two" in world.results()[3].content


def test_two_calls_of_one_subagent_come_after_one_another_each_with_its_own_transcript() -> None:
    world = run(manual=True)
    world.reply("a", calls(declare("Ann")))
    world.reply("a", calls(ask("a-subagent-1", "First."), ask("a-subagent-1", "Second.")))
    first = world.calls[HELPER]
    world.reply(HELPER, calls(READ))
    assert world.batches[HELPER].conversation_id == f"{HELPER}#1"
    world.finish_tools(HELPER)
    world.reply(HELPER, done("1"))
    second = world.calls[HELPER]
    assert second.call > first.call
    assert [type(item) for item in second.request.transcript] == [UserMessage]
    world.reply(HELPER, calls(READ))
    assert world.batches[HELPER].conversation_id == f"{HELPER}#2"
    world.finish_tools(HELPER)
    world.reply(HELPER, done("2"))

    assert [r.is_error for r in world.results()] == [False, False, False]
    kept = world.restored().engine._run.state.earlier_transcripts[f"{HELPER}#1"]
    assert isinstance(kept[0], UserMessage)
    assert "First." in kept[0].content
    assert len(world.events_of(NodeQueued)) == 3


def test_a_subagent_is_offered_no_subagents_and_cannot_name_them() -> None:
    world = with_helper(calls(declare("Bob"), ask("a-subagent-1")), done())

    offered = [t.name for r in world.requests if r.node_id == HELPER for t in r.available_tools]
    assert offered
    assert SUBAGENT_TOOLS.isdisjoint(offered)
    assert [r.is_error for r in world.results(HELPER)] == [True, True]
    assert "there is no tool" in world.results(HELPER)[0].content
    assert len(world.events_of(SubagentsDeclared)) == 1


@pytest.mark.parametrize(("mode", "offered"), [("write", True), ("read_only", False)])
def test_who_is_offered_subagents(mode: str, offered: bool) -> None:
    names = [tool.name for tool in run(manual=True, mode=mode).calls["a"].request.available_tools]
    assert (names[-2:] == [DECLARE_SUBAGENTS_TOOL, CALL_SUBAGENT_TOOL]) is offered


def test_a_node_without_tools_and_one_that_plans_are_offered_none() -> None:
    assert run(manual=True, tools=()).calls["a"].request.available_tools == ()
    planning = run(manual=True, settings={"planMode": {"evidenceSourceNodeId": "a"}})
    names = {tool.name for tool in planning.calls["a"].request.available_tools}
    assert SUBAGENT_TOOLS.isdisjoint(names)
    planning.reply("a", calls(declare("Ann"), ask("a-subagent-1"), READ))
    assert [c.call.name for c in planning.batches["a"].calls] == ["read"]


def test_putting_a_subagent_to_work_is_asked_about_in_write_mode() -> None:
    world = run({"a": [calls(declare("Ann")), done()]}, mode="write")
    (asked,) = world.needs.approvals
    assert asked.reason == "declares subagents"
    world.decide(asked.approval_id)
    assert isinstance(world.outcome, RunCompleted)
