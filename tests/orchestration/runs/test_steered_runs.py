"""What can be steered in a run under way: queued messages, settings of a node, limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from engine.vocabulary import events as ev
from engine.vocabulary.errors import UnknownMessage, UnknownNode
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.messages import Usage
from engine.vocabulary.reconfiguration import NodeReconfigured, patch_text
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.spending import NO_LIMIT, Allowance, SpendingLimits
from engine.vocabulary.tools import ApprovalMode
from orchestration.runs.steered import QueuedWord
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import RunRig, run_async, texts
from tests.support.scripted_model import OK, Held, use


def test_a_queued_message_is_seen_until_it_is_delivered(tmp_path: Path) -> None:
    async def body() -> None:
        held, then = Held(use(("read", {"path": "a.txt"}))), Held(OK)
        one = workflow(nodes=["a"], agents={"a": ASKING})
        rig = RunRig(one, {"a": [held, then]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        first = await rig.run.send_message("a", "be brief")
        second = await rig.run.send_message("a", "be kind")
        await rig.run.edit_message(first, "be very brief")
        await rig.run.withdraw_message(second)
        assert rig.run.queued_messages() == (QueuedWord(first, "a", "be very brief"),)

        held.release.set()
        await then.begun.wait()
        assert rig.run.queued_messages() == ()
        assert "be very brief" in texts(rig.model.requests_of("a")[-1])
        with pytest.raises(UnknownMessage):
            await rig.run.edit_message(first, "too late")
        then.release.set()
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_async(body)


def test_what_was_changed_in_mid_run_is_told_and_counts_from_the_next_call(tmp_path: Path) -> None:
    async def body() -> None:
        held = Held(use(("read", {"path": "a.txt"})))
        rig = RunRig(workflow(nodes=["a"]), {"a": [held, OK]}, tmp_path)
        rig.run.start()
        await held.begun.wait()
        at_first = rig.run.node_settings("a")
        assert (at_first.approval_mode, at_first.changed) == (ApprovalMode.WRITE, frozenset())

        patch = RuntimePatch(
            model="other", approval_mode=ApprovalMode.ALWAYS_ASK, reasoning_effort="high"
        )
        await rig.run.patch_node("a", patch)
        now = rig.run.node_settings("a")
        assert (now.model, now.approval_mode, now.reasoning_effort) == (
            "other",
            ApprovalMode.ALWAYS_ASK,
            "high",
        )
        assert now.changed == {"model", "approval_mode", "reasoning_effort"}
        assert [event.patch for event in rig.events(NodeReconfigured)] == [patch]
        assert [row.message for row in rig.view.trace][-1] == (
            "From now on in this run: model other, approval: asks before every call, effort high"
        )

        held.release.set()
        outcome = await rig.run.settled()
        assert isinstance(outcome, NeedsInteraction)  # reading asks by now, too
        await rig.run.decide(outcome.approvals[0].approval_id, True)
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert [request.model for request in rig.model.requests_of("a")][-1] == "other"

        await rig.run.settled()
        with pytest.raises(UnknownNode):
            rig.run.node_settings("nobody")

    run_async(body)


def test_a_limit_that_was_raised_is_the_one_that_holds(tmp_path: Path) -> None:
    async def body() -> None:
        usage = Usage(prompt_tokens=60, completion_tokens=40, total_tokens=100)
        first = use(("read", {"path": "a.txt"}))
        first = structs.replace(first, usage=usage)
        limits = SpendingLimits(run=Allowance(tokens=100))
        rig = RunRig(workflow(nodes=["a"]), {"a": [first, OK]}, tmp_path, limits=limits)
        rig.run.start()
        assert isinstance(await rig.run.settled(), NeedsInteraction)
        assert rig.run.allowance() == Allowance(tokens=100)
        assert rig.run.allowance("a") == NO_LIMIT

        await rig.run.answer("a", "continue 250")
        assert isinstance(await rig.run.settled(), RunCompleted)
        assert rig.run.allowance() == Allowance(tokens=350)
        assert [event.tool_name for event in rig.events(ev.ToolCompleted)] == ["read"]

    run_async(body)


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        (RuntimePatch(), "nothing"),
        (RuntimePatch(clear_reasoning=True), "effort as the model has it"),
        (RuntimePatch(clear_reasoning=True, reasoning_effort="low"), "effort low"),
        (
            RuntimePatch(reasoning_budget_tokens=4000, fast_mode=True),
            "reasoning budget 4,000 tokens, fast",
        ),
        (RuntimePatch(approval_mode=ApprovalMode.YOLO), "approval: never asks"),
    ],
    ids=["nothing", "clear", "clear and set", "budget", "approval"],
)
def test_a_patch_in_words(patch: RuntimePatch, words: str) -> None:
    assert patch_text(patch) == words
