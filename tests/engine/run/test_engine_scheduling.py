"""When nodes start, what their requests hold, and how a run ends."""

from __future__ import annotations

import json

import pytest

from engine.vocabulary.effects import CallModel
from engine.vocabulary.errors import IllegalInput, PermanentFailure, RunIsOver
from engine.vocabulary.events import ChatMessage, Finished, NodeCompleted, NodeFailed, NodeQueued
from engine.vocabulary.inputs import Entrypoint, NodePatched, RuntimePatch
from engine.vocabulary.messages import Attachment, Completed, HandoffArtifact, Usage
from engine.vocabulary.report import NeedsInteraction, RunCompleted, RunFailed
from engine.vocabulary.tools import ToolAccessPolicy
from tests.support.engine_driver import World, done, workflow

DIAMOND = [("s", "a"), ("s", "b"), ("a", "j"), ("b", "j")]


def test_a_diamond_runs_its_join_once_with_both_branches_in_order() -> None:
    world = World(workflow(DIAMOND), text="go").start()

    assert isinstance(world.outcome, RunCompleted)
    assert [request.node_id for request in world.requests] == ["s", "a", "b", "j"]
    upstream = world.requests[-1].input["upstream"]
    assert [entry["node_id"] for entry in upstream] == ["a", "b"]


def test_independent_roots_are_called_in_the_same_step() -> None:
    world = World(workflow(nodes=["a", "b"]), manual=True)

    step = world.engine.start(0)

    assert [e.node_id for e in step.effects if isinstance(e, CallModel)] == ["a", "b"]


def test_a_node_starts_when_its_own_parents_are_done_however_slow_a_sibling_is() -> None:
    world = World(workflow([("fast", "child"), ("slow", "late")]), manual=True).start()

    world.reply("fast", done())

    assert set(world.calls) == {"slow", "child"}


def test_only_roots_receive_the_entrypoint() -> None:
    world = World(workflow([("a", "b")], nodes=["c"]), text="  Build it ").start()

    inputs = {request.node_id: request.input for request in world.requests}
    assert inputs["a"]["entrypoint"] == inputs["c"]["entrypoint"] == {"text": "  Build it "}
    assert inputs["a"]["upstream"] == []
    assert "entrypoint" not in inputs["b"]
    told = [(event.node_id, event.content) for event in world.events_of(ChatMessage)]
    assert told == [("a", "  Build it "), ("c", "  Build it ")]


def test_entrypoint_attachments_are_on_the_roots_and_in_the_checkpoint() -> None:
    world = World(workflow([("a", "b")]), manual=True)
    file = Attachment("id", "plan.md", "text/markdown", 3, "00")
    engine = type(world.engine)(
        world.flow,
        run_id="run",
        entropy=world.engine._run._entropy,
        catalog=world.catalog,
        entrypoint=Entrypoint("", (file,)),
    )
    world.engine = engine
    world.start()
    world.reply("a", done())

    assert [request.attachments for request in world.requests] == [(file,), ()]
    assert json.loads(engine.checkpoint())["entrypoint"]["attachments"][0]["name"] == "plan.md"


def test_a_checkpoint_from_before_attachments_has_none() -> None:
    world = World(workflow(nodes=["a"]), manual=True, text="go").start()
    state = json.loads(world.engine.checkpoint())
    assert "attachments" not in state["entrypoint"]

    again = world.restored().start()

    assert again.calls["a"].request.attachments == ()


def test_auto_start_false_changes_nothing() -> None:
    world = World(workflow(nodes=["a"], defaults={"auto_start": False})).start()

    assert isinstance(world.outcome, RunCompleted)
    assert world.events_of(NodeQueued)


def test_equal_states_give_byte_identical_requests() -> None:
    def requests() -> list[str]:
        world = World(workflow(DIAMOND), text="same").start()
        return [repr(request) for request in world.requests]

    assert requests() == requests()


def test_without_plan_mode_the_policy_is_execution_and_there_is_no_packet() -> None:
    world = World(workflow(nodes=["a"])).start()

    assert world.requests[0].tool_access_policy is ToolAccessPolicy.EXECUTION
    assert "change_evidence_packet" not in world.requests[0].input


def test_shared_context_is_the_last_system_message() -> None:
    flow = workflow(nodes=["a"], settings={"shared_context": "We ship on Fridays."})
    world = World(flow).start()

    assert "We ship on Fridays." in world.requests[0].system_messages[-1]


def test_a_blank_model_ends_the_run_naming_the_node() -> None:
    world = World(workflow(nodes=["a"], defaults={"model": "  "})).start()

    assert isinstance(world.outcome, RunFailed)
    assert world.outcome.node_id == "a"
    assert "A" in world.events_of(NodeFailed)[0].error


def test_a_failed_node_holds_back_its_descendants_only_and_all_waits_are_listed() -> None:
    flow = workflow([("bad", "child"), ("good", "late")])
    world = World(flow, {"bad": [PermanentFailure("no such model")]}).start()

    assert {event.node_id for event in world.events_of(NodeCompleted)} == {"good", "late"}
    assert [r.node_id for r in world.needs.retryables] == ["bad"]
    assert "no such model" in world.needs.retryables[0].error


def test_the_report_is_sorted_and_counts_prompt_tokens_only() -> None:
    usage = Usage(10, 5, 15)
    script = {node: [done(node, usage=usage)] for node in "ba"}
    world = World(workflow(nodes=["b", "a"]), script).start()

    report = world.events_of(Finished)[0].report
    assert [output.node_id for output in report.outputs] == ["a", "b"]
    assert report.tokens_in == 20
    assert report.usage == Usage(20, 10, 30)


def test_usage_that_nobody_reported_is_unknown() -> None:
    world = World(workflow(nodes=["a"])).start()

    assert world.events_of(Finished)[0].report.usage is None


def test_a_stored_handoff_reaches_the_child_also_after_a_restore() -> None:
    handoff = HandoffArtifact("markdown", "run://handoffs/a/HANDOFF.md", "text/markdown", "0", 1)
    world = World(workflow([("a", "b")]), manual=True).start()
    world.reply("a", Completed({"summary": "x"}, handoff=handoff))

    for request in (world.calls["b"].request, world.restored().start().calls["b"].request):
        assert request.input["upstream"][0]["handoff"]["uri"] == handoff.uri


def test_nothing_may_be_done_to_a_run_that_is_over_and_late_results_are_ignored() -> None:
    world = World(workflow(nodes=["a"])).start()

    with pytest.raises(RunIsOver):
        world.engine.retry_node("a", 0)
    assert world.engine.on_ai_complete("a", 1, done(), 0).effects == ()


def test_a_reply_for_a_node_that_was_not_called_is_the_drivers_fault() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()

    with pytest.raises(IllegalInput, match=r"'b'.*at work: a"):
        world.engine.on_ai_complete("b", 1, done(), 0)
    with pytest.raises(IllegalInput):
        world.engine.on_ai_complete("a", 2, done(), 0)
    with pytest.raises(IllegalInput):
        world.engine.start(0)
    assert world.engine.state_of("b").output is None
    world.reply("a", done())


def test_a_patch_counts_from_the_next_request_on_and_merges_by_field() -> None:
    world = World(workflow([("a", "b")]), manual=True).start()
    world.engine.feed(NodePatched("b", RuntimePatch(model="better", fast_mode=True), 0))
    world.engine.feed(NodePatched("b", RuntimePatch(reasoning_effort="high"), 0))

    world.reply("a", done())

    request = world.calls["b"].request
    assert (request.model, request.fast_mode, request.reasoning_effort) == ("better", True, "high")


def test_clearing_the_effort_clears_the_budget_too() -> None:
    flow = workflow(
        [("a", "b")], defaults={"reasoningEffort": "high", "reasoningBudgetTokens": 2048}
    )
    world = World(flow, manual=True).start()
    world.engine.feed(NodePatched("b", RuntimePatch(clear_reasoning=True), 0))

    world.reply("a", done())

    request = world.calls["b"].request
    assert (request.reasoning_effort, request.reasoning_budget_tokens) == (None, None)


def test_effort_and_provider_come_from_the_node_before_the_workflow() -> None:
    flow = workflow(
        nodes=["a", "b"],
        agents={"a": {"providerId": "groq", "reasoningEffort": "low"}},
        settings={"provider_id": "openai", "reasoningEffort": "high"},
    )
    world = World(flow).start()

    told = {r.node_id: (r.provider_id, r.reasoning_effort) for r in world.requests}
    assert told == {"a": ("groq", "low"), "b": ("openai", "high")}


def test_a_run_with_a_failed_node_goes_on_after_a_retry() -> None:
    world = World(workflow([("a", "b")]), {"a": [PermanentFailure("down"), done()]}).start()
    assert isinstance(world.outcome, NeedsInteraction)

    world.apply(world.engine.retry_node("a", 0))

    assert isinstance(world.outcome, RunCompleted)


def test_a_node_without_tools_is_not_told_where_its_inputs_are_kept_as_well() -> None:
    def upstream(*tools: str) -> list[dict[str, object]]:
        handoff = HandoffArtifact("json", "run://handoffs/a/HANDOFF.json", "text/json", "0", 1)
        world = World(workflow([("a", "b")]), manual=True, tools=tools).start()
        world.reply("a", done(handoff=handoff))
        found: list[dict[str, object]] = world.calls["b"].request.input["upstream"]
        return found

    assert "handoff" in upstream("read")[0]
    assert upstream() == [{"node_id": "a", "output": {"summary": "ok"}}]
