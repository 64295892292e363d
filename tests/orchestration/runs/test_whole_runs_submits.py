"""What becomes of what a model streams, submits and hands over."""

import json
from pathlib import Path

import pytest

from engine.vocabulary import events as ev
from engine.vocabulary.errors import PermanentFailure
from engine.vocabulary.messages import ModelTurn, WireCall
from engine.vocabulary.report import NeedsInteraction, RunCompleted
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import REQUEST_INPUT_TOOL, SUBMIT_TOOL
from orchestration.runs.view_values import EntryKind, RunStatus
from tests.support.engine_driver import ASKING, workflow
from tests.support.run_rig import RunRig, run_async
from tests.support.scripted_model import (
    Scripted,
    Streamed,
    answer_with_own_name,
    ask,
    say,
    submit,
    summary,
    use,
)

TEMPLATE = "# Handoff\n## Summary\n"


DOCUMENT = "# Handoff\n## Summary\nAll is well.\n"


SECRET = "sk-very-secret"


def malformed() -> ModelTurn:
    """A submit whose arguments are no JSON object, with a secret in them."""
    raw = f'{{"output": {{"summary": {SECRET}'
    return ModelTurn(
        calls=(
            WireCall(
                SUBMIT_TOOL, None, "s1", raw_arguments=raw, arguments_error="not a JSON object"
            ),
        )
    )


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_markdown_handoff_is_written_and_the_next_node_opens_it_with_read(
    tmp_path: Path, on_disk: bool
) -> None:
    flow = workflow(
        [("a", "b")], agents={"a": {"handoff": {"format": "markdown", "template": TEMPLATE}}}
    )

    def script(request: AgentRequest) -> Scripted:
        if request.node_id == "a":
            return submit({"markdown": DOCUMENT}, "Done.")
        uri = request.input["upstream"][0]["handoff"]["uri"]
        if len(request.transcript) == 0:
            return use(("read", {"path": uri + ":raw"}))
        return summary("read it")

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path, on_disk=on_disk)
        assert isinstance(await rig.start(), RunCompleted)
        assert rig.view.outputs["a"] == {"summary": "Done."}
        assert rig.view.handoffs["a"].uri == "run://handoffs/a/HANDOFF.md"
        (completed,) = rig.events(ev.ToolCompleted)
        assert not completed.is_error
        assert "All is well." in completed.content
        written = tmp_path / "run" / "handoffs" / "a" / "HANDOFF.md"
        assert written.exists() == on_disk

    run_async(body)


def test_a_node_without_tools_gets_the_document_in_its_input(tmp_path: Path) -> None:
    flow = workflow(
        [("a", "b")], agents={"a": {"handoff": {"format": "markdown", "template": TEMPLATE}}}
    )
    script = {"a": [submit({"markdown": DOCUMENT})], "b": [summary("ok")]}

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path, nodes_without_tools=frozenset({"b"}))
        assert isinstance(await rig.start(), RunCompleted)
        (request,) = rig.model.requests_of("b")
        assert request.available_tools == ()
        assert request.input["upstream"][0]["handoff"]["content"] == DOCUMENT

    run_async(body)


def test_a_document_that_lacks_a_heading_is_a_failed_call_and_the_model_gets_another_try(
    tmp_path: Path,
) -> None:
    flow = workflow(
        nodes=["a"], agents={"a": {"handoff": {"format": "markdown", "template": TEMPLATE}}}
    )
    script = {"a": [submit({"markdown": "# Handoff\n"}), submit({"markdown": DOCUMENT})]}

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path)
        assert isinstance(await rig.start(), RunCompleted)
        (failed,) = rig.events(ev.AiInvokeFailed)
        assert "## Summary" in failed.error
        assert rig.events(ev.OutputRepairStarted) == []
        assert len(rig.model.requests) == 2
        assert rig.view.last_error is None

    run_async(body)


@pytest.mark.parametrize("overseer", ["fixer", None])
def test_a_malformed_submit_is_repaired_and_shows_in_the_trace_alone(
    tmp_path: Path, overseer: str | None
) -> None:
    flow = workflow([("a", "b")], settings={"outputRepairModel": overseer} if overseer else {})
    repaired = {"repaired_arguments": {"output": {"summary": "mended"}}}

    def script(request: AgentRequest) -> Scripted:
        if request.node_id == "a__output_repair":
            return submit(repaired)
        return malformed() if request.node_id == "a" else summary("end")

    async def body() -> None:
        rig = RunRig(flow, script, tmp_path)
        assert isinstance(await rig.start(), RunCompleted)
        assert rig.view.outputs["a"] == {"summary": "mended"}
        (repair,) = rig.model.requests_of("a__output_repair")
        assert repair.model == (overseer or "scripted")
        assert (len(repair.transcript), repair.available_tools) == (0, ())
        assert rig.events(ev.AiInvokeFailed) == []
        messages = [row.message for row in rig.view.trace]
        model = overseer or "scripted"
        assert f"Output repair: asking {model}" in messages
        assert f"Output repair: repaired by {model}" in messages
        assert rig.view.last_error is None
        assert SECRET not in repr(rig.records)
        assert SECRET not in repr(rig.view.trace)
        assert SECRET not in repr(rig.view.chat)

    run_async(body)


def test_repairs_that_never_help_end_in_a_failed_node_and_leak_nothing(tmp_path: Path) -> None:
    def script(request: AgentRequest) -> Scripted:
        return malformed() if request.node_id == "a" else say("cannot")

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        outcome = await rig.start()
        assert isinstance(outcome, NeedsInteraction)
        assert [node.node_id for node in outcome.retryables] == ["a"]
        assert rig.status() is RunStatus.FAILED
        assert len(rig.events(ev.AiInvokeFailed)) == 4
        assert SECRET not in repr(rig.records)
        assert SECRET not in repr(rig.journal.inputs)

    run_async(body)


def test_repaired_arguments_are_seen_in_the_trace_and_in_the_events(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("text")

    def mended(name: str, arguments: dict[str, object], *repairs: str) -> ModelTurn:
        return ModelTurn(calls=(WireCall(name, arguments, "c", repairs=repairs),))

    script = {
        "a": [
            mended("read", {"path": "f"}, "trailing_commas", "python_literals"),
            mended("read", {"path": "f"}),
            mended(REQUEST_INPUT_TOOL, {"assistant_message": "Which?"}, "code_fence"),
            mended(SUBMIT_TOOL, {"output": {"summary": "x"}}, "guessed"),
        ]
    }

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"], agents={"a": ASKING}), script, tmp_path, on_disk=True)
        await rig.start()
        await rig.run.answer("a", "This one")
        assert isinstance(await rig.run.settled(), RunCompleted)
        told = [row.message for row in rig.view.trace if "repaired" in row.message]
        assert told == [
            "read (arguments repaired: trailing commas, python literals)",
            "Waiting for an answer (arguments repaired: code fence)",
            "Completed (arguments repaired: guessed)",
        ]
        first, second = rig.events(ev.ToolCallProposed)
        assert first.tool_call.repairs == ("trailing_commas", "python_literals")
        assert second.tool_call.repairs == ()
        (completed,) = rig.events(ev.NodeCompleted)
        assert completed.repairs == ("guessed",)

    run_async(body)


def test_a_streamed_message_is_told_once_and_its_rest_as_a_message_of_its_own(
    tmp_path: Path,
) -> None:
    preamble = Streamed((("text", "Let me "), ("text", "ask. ")), ask("Let me ask. Which one?"))
    same = Streamed((("thinking", "hm"), ("text", "All done.")), summary("x", message="All done."))

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"], agents={"a": ASKING}), {"a": [preamble, same]}, tmp_path)
        await rig.start()
        await rig.run.answer("a", "This one")
        await rig.run.settled()
        said = [
            (entry.role, entry.content)
            for entry in rig.view.chat["a"]
            if entry.kind is EntryKind.MESSAGE
        ]
        assert said == [
            ("assistant", "Let me ask."),
            ("assistant", "Which one?"),
            ("user", "This one"),
            ("thinking", "hm"),
            ("assistant", "All done."),
        ]
        ids = {delta.message_id for delta in rig.events(ev.ChatMessageDelta)}
        assert len(ids) == 3
        assert not any(entry.streaming for entry in rig.view.chat["a"])

    run_async(body)


def test_what_was_not_streamed_is_told_reasoning_first(tmp_path: Path) -> None:
    script = {"a": [say("Thinking aloud", thinking="Because."), summary("x", message="Bye")]}

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        await rig.start()
        said = [(e.role, e.content) for e in rig.view.chat["a"] if e.kind is EntryKind.MESSAGE]
        assert said[:2] == [("thinking", "Because."), ("assistant", "Thinking aloud")]
        assert said[-1] == ("assistant", "Bye")
        assert rig.events(ev.ChatMessageDelta) == []

    run_async(body)


def test_a_call_that_breaks_off_in_mid_stream_leaves_no_open_message(tmp_path: Path) -> None:
    def script(request: AgentRequest) -> Scripted:
        if request.model_attempt == 1:
            return Streamed((("text", "half a"),), PermanentFailure("gone"))
        return summary("ok")

    async def body() -> None:
        rig = RunRig(workflow(nodes=["a"]), script, tmp_path)
        await rig.start()
        (entry,) = rig.view.chat["a"]
        assert (entry.content, entry.streaming) == ("half a", False)
        await rig.run.retry_node("a")
        assert isinstance(await rig.run.settled(), RunCompleted)

    run_async(body)


def test_a_json_handoff_is_the_output_as_a_document(tmp_path: Path) -> None:
    async def body() -> None:
        rig = RunRig(workflow(nodes=["a b"]), answer_with_own_name, tmp_path, on_disk=True)
        await rig.start()
        path = tmp_path / "run" / "handoffs" / "a%20b" / "HANDOFF.json"
        assert json.loads(path.read_text()) == {"summary": "a b"}

    run_async(body)
