import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.output_repair import RepairingAiPort
from engine.vocabulary.errors import (
    MAX_CANDIDATE_BYTES,
    CallFailure,
    CallInterrupted,
    EmptyTurn,
    MalformedSubmit,
    ModelCallError,
    PermanentFailure,
    TransientFailure,
    TruncatedOutput,
)
from engine.vocabulary.events import (
    OutputRepairFailed,
    OutputRepairStarted,
    OutputRepairSucceeded,
    RunEvent,
)
from engine.vocabulary.messages import (
    Attachment,
    Completed,
    MessageTurn,
    ModelTurn,
    ReasoningPart,
    ToolCallsTurn,
    TranscriptView,
    TurnOutcome,
    Usage,
    UserMessage,
    WireCall,
)
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject, ToolAccessPolicy, ToolDefinition

SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"count": {"type": "integer"}},
    "required": ["count"],
}
MALFORMED: JsonObject = {"output": {"count": ["hunter2"]}}
REPAIRED: JsonObject = {"output": {"repaired_arguments": {"output": {"count": 3}}}}
Reply = ModelTurn | CallFailure | BaseException


class ScriptedPort:
    """Replies in turn and keeps the requests and sinks that came."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.requests: list[AgentRequest] = []
        self.sinks: list[StreamSink | None] = []

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        self.requests.append(request)
        self.sinks.append(sink)
        reply = self._replies.pop(0)
        if isinstance(reply, ModelTurn):
            return reply
        if isinstance(reply, BaseException):
            raise reply
        raise ModelCallError(reply)


class EventSink:
    def __init__(self) -> None:
        self.events: list[RunEvent] = []

    def text(self, delta: str) -> None:
        raise AssertionError("nothing was streamed")

    thinking = text

    def event(self, event: RunEvent) -> None:
        self.events.append(event)


def submitted(arguments: JsonObject | None, **details: Any) -> ModelTurn:
    raw = details.pop("raw", "")
    return ModelTurn(
        calls=(WireCall(SUBMIT_TOOL, arguments, raw_arguments=raw),),
        **{"finish_reason": "tool_calls", **details},
    )


def request(**changes: Any) -> AgentRequest:
    fields: dict[str, Any] = {
        "workflow_id": "w",
        "run_id": "r",
        "node_id": "node",
        "node_label": "Node",
        "model": "worker-model",
        "provider_id": "some-provider",
        "system_messages": ("Private rules.",),
        "task_prompt": "Private task.",
        "input": {"upstream": ["private"]},
        "output_schema": SCHEMA,
        "transcript": TranscriptView([UserMessage("private")]),
        "available_tools": (ToolDefinition("read", "", {}),),
        "attachments": (Attachment("1", "a", "text/plain", 1, "ff"),),
        "model_attempt": 4,
        "max_output_tokens": 900,
        "reasoning_effort": "high",
        "reasoning_budget_tokens": 1000,
        "fast_mode": True,
        "tool_access_policy": ToolAccessPolicy.PLANNING,
        "allow_user_input": True,
        "conversation_mode": True,
    }
    return AgentRequest(**{**fields, **changes})


def invoke(
    model: ScriptedPort,
    asked: AgentRequest | None = None,
    *,
    repair_model: str | None = None,
    sink: EventSink | None = None,
) -> TurnOutcome:
    port = RepairingAiPort(model, repair_model=repair_model)
    return asyncio.run(port.invoke(asked or request(), sink))


def failure_of(model: ScriptedPort, sink: EventSink | None = None) -> CallFailure:
    with pytest.raises(ModelCallError) as caught:
        invoke(model, sink=sink)
    assert caught.value.candidate is None
    assert caught.value.__context__ is None
    return caught.value.failure


class TestWithoutRepair:
    def test_a_good_turn_needs_no_second_call(self) -> None:
        model, sink = ScriptedPort(submitted({"output": {"count": 1}})), EventSink()
        assert invoke(model, sink=sink) == Completed({"count": 1})
        assert len(model.requests) == 1
        assert model.sinks == [sink]
        assert sink.events == []

    @pytest.mark.parametrize(
        ("turn", "outcome"),
        [
            (ModelTurn("Hello."), MessageTurn),
            (ModelTurn(calls=(WireCall("read", None),)), ToolCallsTurn),
        ],
    )
    def test_other_turns_pass(self, turn: ModelTurn, outcome: type) -> None:
        model = ScriptedPort(turn)
        assert isinstance(invoke(model), outcome)
        assert len(model.requests) == 1

    @pytest.mark.parametrize(
        "failure",
        [TransientFailure("busy"), PermanentFailure("no key"), CallInterrupted()],
    )
    def test_a_failed_call_passes(self, failure: CallFailure) -> None:
        model, sink = ScriptedPort(failure), EventSink()
        assert failure_of(model, sink) == failure
        assert sink.events == []

    def test_what_was_cut_off_is_never_repaired(self) -> None:
        cut = submitted(None, raw='{"output": {"cou', finish_reason="length")
        model, sink = ScriptedPort(cut), EventSink()
        assert isinstance(failure_of(model, sink), TruncatedOutput)
        assert len(model.requests) == 1
        assert sink.events == []

    def test_an_empty_turn_is_not_repaired(self) -> None:
        assert isinstance(failure_of(ScriptedPort(ModelTurn())), EmptyTurn)

    @pytest.mark.parametrize("letter", ["x", "ü"])
    def test_too_large_a_candidate_makes_no_call(self, letter: str) -> None:
        raw = letter * (MAX_CANDIDATE_BYTES // len(letter.encode()) + 1)
        model, sink = ScriptedPort(submitted(None, raw=raw)), EventSink()
        failure = failure_of(model, sink)
        assert isinstance(failure, MalformedSubmit)
        assert len(model.requests) == 1
        assert [type(event) for event in sink.events] == [OutputRepairFailed]


class TestRepair:
    def test_one_call_and_its_output_counts(self) -> None:
        model, sink = (
            ScriptedPort(
                submitted(MALFORMED, text="Worker's words.", usage=Usage(10, 2, 12)),
                submitted(
                    {**REPAIRED, "assistant_message": "Overseer's words."},
                    text="More of them.",
                    usage=Usage(5, 1, 6, cached_input_tokens=4),
                    reasoning=(ReasoningPart("text", "hm"),),
                ),
            ),
            EventSink(),
        )
        assert invoke(model, sink=sink) == Completed(
            {"count": 3}, None, (), Usage(15, 3, 18, cached_input_tokens=4)
        )
        assert len(model.requests) == 2
        assert sink.events == [
            OutputRepairStarted("node", "worker-model"),
            OutputRepairSucceeded("node", "worker-model"),
        ]

    @pytest.mark.parametrize(
        "repaired", [{"count": 3}, {"output": {"count": "3"}}, {"output": '{"count": 3}'}]
    )
    def test_the_repaired_arguments_go_through_the_whole_protocol(
        self, repaired: JsonObject
    ) -> None:
        model = ScriptedPort(
            submitted(MALFORMED), submitted({"output": {"repaired_arguments": repaired}})
        )
        outcome = invoke(model)
        assert isinstance(outcome, Completed)
        assert outcome.output == {"count": 3}

    def test_arguments_that_were_no_json_can_be_repaired(self) -> None:
        model = ScriptedPort(submitted(None, raw="{count: 3}"), submitted(REPAIRED))
        assert invoke(model) == Completed({"count": 3})
        assert model.requests[1].input["malformed_arguments"] == "{count: 3}"

    def test_it_works_without_a_sink(self) -> None:
        assert invoke(ScriptedPort(submitted(MALFORMED), submitted(REPAIRED))) == Completed(
            {"count": 3}
        )

    @pytest.mark.parametrize(
        ("configured", "used"),
        [
            ("repair-model", "repair-model"),
            (" repair-model ", "repair-model"),
            ("", "worker-model"),
            ("  ", "worker-model"),
            (None, "worker-model"),
        ],
    )
    def test_the_model_is_the_configured_one_or_the_workers(
        self, configured: str | None, used: str
    ) -> None:
        model, sink = ScriptedPort(submitted(MALFORMED), submitted(REPAIRED)), EventSink()
        invoke(model, repair_model=configured, sink=sink)
        assert model.requests[1].model == used
        assert sink.events[0] == OutputRepairStarted("node", used)

    def test_the_request_holds_the_candidate_and_nothing_of_the_worker(self) -> None:
        model = ScriptedPort(submitted(MALFORMED), submitted(REPAIRED))
        invoke(model, sink=EventSink())
        asked = model.requests[1]
        assert asked.node_id == "node__output_repair"
        assert asked.node_label == "Node (output repair)"
        assert asked.provider_id == "some-provider"
        assert (asked.max_output_tokens, asked.fast_mode) == (900, True)
        assert set(asked.input) == {
            "malformed_arguments",
            "validation_detail",
            "tool_name",
            "expected_output_schema",
        }
        assert asked.input["tool_name"] == SUBMIT_TOOL
        assert asked.input["expected_output_schema"] == SCHEMA
        assert asked.output_schema["additionalProperties"] is False
        assert asked.output_schema["required"] == ["repaired_arguments"]
        assert len(asked.transcript) == 0
        assert asked.available_tools == ()
        assert asked.attachments == ()
        assert asked.model_attempt == 1
        assert asked.reasoning_effort is None
        assert asked.reasoning_budget_tokens is None
        assert asked.tool_access_policy is ToolAccessPolicy.EXECUTION
        assert asked.offered_harness_tools == (SUBMIT_TOOL,)
        assert not asked.conversation_mode
        assert "rivate" not in repr(asked)
        assert model.sinks[1] is None


class TestFailedRepair:
    @pytest.mark.parametrize(
        "reply",
        [
            TransientFailure("busy"),
            PermanentFailure("no key"),
            ModelTurn("I cannot."),
            ModelTurn(),
            ModelTurn(calls=(WireCall("read", {}),)),
            ModelTurn(calls=(WireCall(SUBMIT_TOOL, REPAIRED),) * 2),
            submitted(REPAIRED, finish_reason="length"),
            submitted({"output": {}}),
            submitted({"output": {"repaired_arguments": None}}),
            submitted({"output": {"repaired_arguments": {"output": {"count": "three"}}}}),
            submitted({"output": {"repaired_arguments": {}}}),
            submitted({"output": {"count": 3}}),
        ],
    )
    def test_the_primary_failure_is_kept(self, reply: Reply) -> None:
        alone = failure_of(ScriptedPort(submitted(MALFORMED), TransientFailure("busy")))
        model, sink = ScriptedPort(submitted(MALFORMED), reply), EventSink()
        assert failure_of(model, sink) == alone
        assert isinstance(alone, MalformedSubmit)
        assert alone.kind == "schema_violation"
        assert len(model.requests) == 2
        assert [type(event) for event in sink.events] == [OutputRepairStarted, OutputRepairFailed]

    def test_the_reasons_are_told_apart(self) -> None:
        reasons = set()
        replies: tuple[Reply, ...] = (
            TransientFailure("busy"),
            ModelTurn("I cannot."),
            submitted({"output": {"repaired_arguments": {}}}),
        )
        for reply in replies:
            sink = EventSink()
            failure_of(ScriptedPort(submitted(MALFORMED), reply), sink)
            failed = sink.events[-1]
            assert isinstance(failed, OutputRepairFailed)
            reasons.add(failed.reason)
        assert len(reasons) == 3

    def test_the_tokens_of_both_calls_are_counted(self) -> None:
        model = ScriptedPort(
            submitted(MALFORMED, usage=Usage(10, 2, 12)),
            ModelTurn("I cannot.", usage=Usage(prompt_tokens=5)),
        )
        failure = failure_of(model)
        assert isinstance(failure, MalformedSubmit)
        assert failure.usage == Usage(15, 2, 12)

    def test_an_interrupted_overseer_interrupts(self) -> None:
        model, sink = ScriptedPort(submitted(MALFORMED), CallInterrupted()), EventSink()
        assert failure_of(model, sink) == CallInterrupted()
        assert [type(event) for event in sink.events] == [OutputRepairStarted]

    def test_cancellation_goes_through_untouched(self) -> None:
        cancelled = asyncio.CancelledError()
        model, sink = ScriptedPort(submitted(MALFORMED), cancelled), EventSink()

        async def cancel() -> None:
            with pytest.raises(asyncio.CancelledError) as caught:
                await RepairingAiPort(model, repair_model=None).invoke(request(), sink)
            assert caught.value is cancelled

        asyncio.run(cancel())
        assert [type(event) for event in sink.events] == [OutputRepairStarted]

    def test_a_bug_of_the_port_is_not_swallowed(self) -> None:
        with pytest.raises(KeyError):
            invoke(ScriptedPort(submitted(MALFORMED), KeyError("bug")))


Shape = Callable[[str], tuple[JsonObject | None, str]]
SHAPES: list[Shape] = [
    lambda secret: (None, f"{{{secret}"),
    lambda secret: ({secret: 1}, ""),
    lambda secret: ({"output": secret}, ""),
    lambda secret: ({"output": {"count": secret}}, ""),
    lambda secret: ({"output": {secret: {secret: secret}}}, f"{{'{secret}'"),
    lambda secret: ({"count": [secret], "assistant_message": secret}, ""),
    lambda secret: (None, secret * (MAX_CANDIDATE_BYTES // len(secret) + 1)),
]


class TestSecrecy:
    @given(
        secret=st.text(alphabet="qxz0123456789", min_size=7, max_size=15).map("q".__add__),
        shape=st.sampled_from(SHAPES),
        reply=st.sampled_from(
            [
                TransientFailure("busy"),
                ModelTurn("no"),
                submitted(REPAIRED),
                submitted({"output": {"repaired_arguments": {}}}),
            ]
        ),
    )
    def test_raw_arguments_are_in_the_overseers_input_and_nowhere_else(
        self, secret: str, shape: Shape, reply: Reply
    ) -> None:
        arguments, raw = shape(secret)
        model, sink = ScriptedPort(submitted(arguments, raw=raw), reply), EventSink()
        try:
            left: object = invoke(model, sink=sink)
        except ModelCallError as error:
            left = (error, str(error), error.args, error.failure, error.__cause__)
        assert secret not in repr(left)
        assert secret not in repr(sink.events)
        for asked in model.requests[1:]:
            told = dict(asked.input)
            assert secret in told.pop("malformed_arguments")
            assert secret not in repr(told)
            assert secret not in repr((asked.system_messages, asked.task_prompt, asked.node_label))
