"""The three wires against a scripted server: one suite for all of them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from engine.vocabulary.errors import RequestFailure
from engine.vocabulary.messages import Usage
from engine.vocabulary.tools import SUBMIT_TOOL, ToolDefinition
from providers.quirks import Quirk, Quirks
from providers.specs import Wire
from tests.support.loopback import (
    STEP_TIMEOUT_S,
    Answer,
    Gate,
    Hang,
    LoopbackServer,
    refused_url,
    sse,
)
from tests.support.wire_runs import KEY, MODEL, OUTPUT, SUBMIT, config_for, fail, play, use
from tests.support.wire_scripts import COUNTS, SCRIPTS, WireScript
from tests.support.wire_suite import (
    RecordingSink,
    check_calls_side_by_side,
    check_cancels,
    check_counts_tokens,
    check_goes_on_from_a_transcript,
    check_stops_at_the_limit,
    check_streams_what_it_says,
    check_submits,
    node_request,
)

READ = ToolDefinition("read", "Read a file.", {"type": "object", "properties": {}})


def test_a_submit_call_is_read(script: WireScript, server: LoopbackServer) -> None:
    server.play(script.answer(calls=(SUBMIT,)))
    turn = use(
        config_for(script, server.url), lambda port: check_submits(port, node_request(MODEL))
    )
    assert turn.calls[0].arguments == {"output": OUTPUT, "assistant_message": "Done."}
    assert turn.calls[0].provider_call_id == "call_1"
    assert turn.calls[0].repairs == ()


def test_text_is_streamed_and_kept(script: WireScript, server: LoopbackServer) -> None:
    text = "Guten Tag, schöne Welt 🌍, and good night."
    server.play(script.answer(text=text))
    turn = use(
        config_for(script, server.url),
        lambda port: check_streams_what_it_says(port, node_request(MODEL)),
    )
    assert turn.text == text
    assert turn.finish_reason == "stop"
    assert not turn.calls


def test_several_calls_come_in_their_order(script: WireScript, server: LoopbackServer) -> None:
    calls = (
        ("c1", "read", '{"path": "a.txt"}'),
        ("c2", "read", ""),
        ("c3", "read", "{'path': 'b.txt'}"),
        ("c4", "read", '{"path": b.txt}'),
    )
    turn = play(
        script,
        server,
        script.answer(text="I look.", calls=calls),
        request=node_request(MODEL, available_tools=(READ,)),
    )
    assert turn.text == "I look."
    assert [call.provider_call_id for call in turn.calls] == ["c1", "c2", "c3", "c4"]
    assert [call.arguments for call in turn.calls[:3]] == [
        {"path": "a.txt"},
        {},
        {"path": "b.txt"},
    ]
    assert turn.calls[2].repairs == ("python_strings",)
    assert turn.calls[3].arguments is None
    assert turn.calls[3].raw_arguments == '{"path": b.txt}'
    assert turn.calls[3].arguments_error == "not valid JSON at column 10 (expecting value)"
    assert not turn.truncated
    assert "b.txt" not in repr(turn)


def test_reasoning_that_may_be_shown_is_shown(script: WireScript, server: LoopbackServer) -> None:
    sink = RecordingSink()
    server.play(script.answer(thoughts="First this, then that.", calls=(SUBMIT,)))
    turn = use(config_for(script, server.url), lambda port: port.invoke(node_request(MODEL), sink))
    assert "".join(sink.thoughts) == "First this, then that."
    assert sink.texts == []
    shown = [part for part in turn.reasoning if part.kind in ("text", "summary")]
    assert [part.text for part in shown] == ["First this, then that."]
    assert {part.provider_id for part in turn.reasoning} == {"custom_openai_compatible"}


def test_tokens_are_counted_with_cached_ones(script: WireScript, server: LoopbackServer) -> None:
    server.play(script.answer(calls=(SUBMIT,)), script.answer(calls=(SUBMIT,)))
    config = config_for(script, server.url)
    use(config, lambda port: check_counts_tokens(port, node_request(MODEL)))
    turn = play(script, server)
    prompt, reply, cached = COUNTS
    assert turn.usage == Usage(prompt, reply, prompt + reply, cached)


def test_no_count_is_unknown_and_not_zero(script: WireScript, server: LoopbackServer) -> None:
    assert play(script, server, script.answer(text="Hi.", counts=None)).usage is None
    zeros = play(script, server, script.answer(text="Hi.", counts=(0, 0, 0)))
    assert zeros.usage is None


def test_the_output_limit_cuts_a_reply_off(script: WireScript, server: LoopbackServer) -> None:
    call = ("c1", "bash", '{"command": "rm -rf build && cp -r src ')
    server.play(script.answer(calls=(call,), cut_by_limit=True))
    turn = use(
        config_for(script, server.url),
        lambda port: check_stops_at_the_limit(port, node_request(MODEL, max_output_tokens=9)),
    )
    assert turn.finish_reason == "length"
    assert [(call.name, call.arguments) for call in turn.calls] == [("bash", None)]
    assert "rm -rf" not in repr(turn)


def test_a_reply_as_long_as_allowed_is_cut_off_whatever_the_wire_says(
    script: WireScript, server: LoopbackServer
) -> None:
    request = node_request(MODEL, max_output_tokens=30)
    assert play(script, server, script.answer(text="Half a sen"), request=request).truncated
    assert play(script, server, script.answer(), request=request).truncated
    whole = script.answer(text="All of it.", counts=(120, 29, 0))
    assert not play(script, server, whole, request=request).truncated


def test_arguments_without_an_end_are_cut_off_whatever_the_wire_says(
    script: WireScript, server: LoopbackServer
) -> None:
    turn = play(script, server, script.answer(calls=(("c1", SUBMIT_TOOL, '{"output": {"ti'),)))
    assert turn.truncated
    assert turn.finish_reason == "tool_calls"
    assert turn.calls[0].arguments is None


def test_submit_arguments_that_are_nearly_json_are_read_and_marked(
    script: WireScript, server: LoopbackServer
) -> None:
    broken = '{"output": {"title": "A" "points": 1}, "assistant_message": null}'
    turn = play(script, server, script.answer(calls=(("c1", SUBMIT_TOOL, broken),)))
    assert turn.calls[0].arguments == {
        "output": {"title": "A", "points": 1},
        "assistant_message": None,
    }
    assert turn.calls[0].repairs == ("missing_commas",)


def test_a_cancelled_call_closes_its_connection_at_once(
    script: WireScript, server: LoopbackServer
) -> None:
    server.play(script.broken(Hang(), text="Half a sentence"))
    sink = RecordingSink()
    use(
        config_for(script, server.url),
        lambda port: check_cancels(port, node_request(MODEL), sink.began, sink),
    )
    assert server.client_gone.wait(20)


def test_a_call_cancelled_before_its_reply_closes_its_connection(
    script: WireScript, server: LoopbackServer
) -> None:
    gate = Gate()
    server.play(sse(gate, Hang()))

    async def check(port: Any) -> None:
        task = asyncio.create_task(port.invoke(node_request(MODEL)))
        assert await asyncio.to_thread(server.was_asked.wait, STEP_TIMEOUT_S)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    use(config_for(script, server.url), check)
    gate.open()
    assert server.client_gone.wait(20)


def test_calls_side_by_side_do_not_mix(script: WireScript, server: LoopbackServer) -> None:
    server.play(*[script.answer(calls=(SUBMIT,)) for _ in range(8)])
    use(
        config_for(script, server.url),
        lambda port: check_calls_side_by_side(port, node_request(MODEL), 8),
    )
    assert len(server.asked) == 8


def test_one_connection_serves_calls_in_a_row(script: WireScript, server: LoopbackServer) -> None:
    server.play(script.answer(calls=(SUBMIT,)), script.answer(calls=(SUBMIT,)))

    async def check(port: Any) -> None:
        await check_submits(port, node_request(MODEL))
        await check_submits(port, node_request(MODEL))

    use(config_for(script, server.url), check)
    assert len(server.asked) == 2
    assert server.connections == 1


def test_a_transcript_goes_out_with_ids_of_ours(script: WireScript, server: LoopbackServer) -> None:
    server.play(script.answer(calls=(SUBMIT,)))
    use(
        config_for(script, server.url),
        lambda port: check_goes_on_from_a_transcript(port, MODEL),
    )
    sent = server.last.body.decode()
    assert "run-1-call-7" not in sent
    assert "call_abc" not in sent
    assert "a photo app named Lumen" in sent
    assert sent.index("I will look first.") < sent.index("Lumen") < sent.index("Submit the output")


def test_a_call_is_demanded_and_all_tools_are_offered(
    script: WireScript, server: LoopbackServer
) -> None:
    play(
        script,
        server,
        script.answer(calls=(SUBMIT,)),
        request=node_request(MODEL, available_tools=(READ,), allow_user_input=True),
    )
    body = server.last.json
    assert list(script.asked_tools(body)) == [
        SUBMIT_TOOL,
        "openflow_request_user_input",
        "openflow_ask_user_question",
        "read",
    ]
    assert script.asked_choice(body) == "required"
    assert body["model"] == MODEL
    assert body["stream"] is True
    assert "You are a node." in json.dumps(body)


def test_a_conversation_leaves_the_choice_to_the_model(
    script: WireScript, server: LoopbackServer
) -> None:
    request = node_request(MODEL, conversation_mode=True, allow_user_input=True)
    play(script, server, script.answer(text="Hello."), request=request)
    body = server.last.json
    assert script.asked_choice(body) == "auto"
    assert "openflow_request_user_input" not in script.asked_tools(body)


def test_a_refused_choice_is_learned_and_the_call_made_again(
    script: WireScript, server: LoopbackServer
) -> None:
    quirks = Quirks()
    refusal = script.refusal(400, "Invalid tool_choice type: not supported")
    answers = (refusal, script.answer(calls=(SUBMIT,)), script.answer(calls=(SUBMIT,)))
    play(script, server, *answers, quirks=quirks)
    assert quirks.of(MODEL) == {Quirk.NO_REQUIRED_CHOICE}
    play(script, server, quirks=quirks)
    choices = [script.asked_choice(asked.json) for asked in server.asked]
    assert choices == ["required", "auto", "auto"]


def test_an_endpoint_without_any_choice_is_given_none(
    script: WireScript, server: LoopbackServer
) -> None:
    quirks = Quirks()
    refusal = script.refusal(400, "tool_choice is unknown")
    play(script, server, refusal, refusal, script.answer(calls=(SUBMIT,)), quirks=quirks)
    choices = [script.asked_choice(asked.json) for asked in server.asked]
    assert choices == ["required", "auto", None]


def test_a_refusal_that_teaches_nothing_is_not_repeated(
    script: WireScript, server: LoopbackServer
) -> None:
    refusal = script.refusal(400, "tool_choice is unknown")
    failure = fail(script, server, refusal, refusal, refusal, refusal)
    assert isinstance(failure, RequestFailure)
    assert len(server.asked) == 3


def test_no_key_means_no_header_for_one(script: WireScript, server: LoopbackServer) -> None:
    play(script, server, script.answer(calls=(SUBMIT,)), api_key=None)
    assert "authorization" not in server.last.headers
    assert "x-api-key" not in server.last.headers


def test_the_key_and_extra_headers_go_out(script: WireScript, server: LoopbackServer) -> None:
    play(script, server, script.answer(calls=(SUBMIT,)), extra_headers={"X-Team": "blue"})
    assert server.last.headers["authorization"] == f"Bearer {KEY}"
    assert server.last.headers["x-team"] == "blue"


def test_the_environment_is_not_read(
    script: WireScript, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Custom: from-the-environment")
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, refused_url())
    play(script, server, script.answer(calls=(SUBMIT,)))
    play(script, server, script.answer(calls=(SUBMIT,)), api_key=None)
    for asked in server.asked:
        assert "from-the-environment" not in asked.headers.values()


def test_half_characters_in_a_request_do_not_stop_it(
    script: WireScript, server: LoopbackServer
) -> None:
    request = node_request(MODEL, input={"name": "a\udcff\ud83d b \\ud83d"})
    play(script, server, script.answer(calls=(SUBMIT,)), request=request)
    sent = json.dumps(server.last.json, ensure_ascii=False)
    assert "a\ufffd\ufffd b" in sent


def test_a_server_that_does_not_hang_up_after_the_end_holds_nothing_up(
    server: LoopbackServer,
) -> None:
    chat = SCRIPTS[Wire.CHAT]
    turn = play(chat, server, sse(*chat.reply(text="Hi."), b"data: [DONE]\n\n", Hang()))
    assert turn.text == "Hi."
    assert server.client_gone.wait(STEP_TIMEOUT_S)


def test_two_calls_that_are_refused_at_once_both_go_again(
    script: WireScript, server: LoopbackServer
) -> None:
    gate, quirks = Gate(), Quirks()
    refusal = script.refusal(400, "tool_choice 'required' is not supported")
    held = Answer((gate, *refusal.parts), refusal.status, refusal.headers)
    server.play(held, refusal, *[script.answer(calls=(SUBMIT,))] * 2)

    async def check(port: Any) -> None:
        first = asyncio.create_task(port.invoke(node_request(MODEL)))
        assert await asyncio.to_thread(server.was_asked.wait, STEP_TIMEOUT_S)
        # The second call learns it while the first one waits for its answer.
        await port.invoke(node_request(MODEL))
        gate.open()
        assert (await first).calls

    use(config_for(script, server.url, quirks=quirks), check)
    assert quirks.of(MODEL) == {Quirk.NO_REQUIRED_CHOICE}
