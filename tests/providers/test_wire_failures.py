"""What can go wrong on the three wires, each with its class and its sentence."""

from __future__ import annotations

from typing import Any

import pytest

from engine.vocabulary.errors import (
    EmptyTurn,
    ModelCallError,
    PermanentFailure,
    RequestFailure,
    TransientFailure,
    TruncatedOutput,
)
from providers.config import ProviderConfig
from providers.reply_limit import reply_limit
from providers.specs import SPECS, Wire
from tests.support.loopback import (
    Answer,
    Cut,
    Hang,
    LoopbackServer,
    html_answer,
    json_answer,
    refused_url,
    sse,
)
from tests.support.wire_runs import KEY, MODEL, SUBMIT, config_for, fail, play, use
from tests.support.wire_scripts import SCRIPTS, MessagesScript, WireScript
from tests.support.wire_suite import node_request


@pytest.mark.parametrize("end", [Cut(), None], ids=["cut", "without an end"])
def test_a_stream_that_breaks_off_is_transient(
    script: WireScript, server: LoopbackServer, end: Cut | None
) -> None:
    failure = fail(script, server, script.broken(end, text="Half a sen"))
    assert isinstance(failure, TransientFailure)
    assert "Custom OpenAI-compatible API" in failure.message


@pytest.mark.parametrize("end", [Cut(), None], ids=["cut", "without an end"])
def test_a_stream_that_breaks_off_in_a_call_names_the_tool(
    script: WireScript, server: LoopbackServer, end: Cut | None
) -> None:
    answer = script.broken(end, calls=(("c1", "read", '{"path": "a'),))
    failure = fail(script, server, answer)
    assert isinstance(failure, TruncatedOutput)
    assert (failure.reason, failure.tool_names) == ("stream", ("read",))


@pytest.mark.parametrize("end", [Cut(), None], ids=["cut", "without an end"])
def test_tokens_that_were_counted_before_a_stream_broke_off_are_not_lost(
    server: LoopbackServer, end: Cut | None
) -> None:
    failure = fail(MessagesScript(), server, MessagesScript().broken(end, text="Half a sen"))
    assert isinstance(failure, TransientFailure)
    assert failure.usage is not None
    assert failure.usage.prompt_tokens == 120


def test_an_error_in_mid_stream_is_what_it_says(script: WireScript, server: LoopbackServer) -> None:
    text = [event for event in script.reply(text="Half") if not script.is_end(event)]
    failure = fail(script, server, sse(*text, script.error_event("Overloaded, sorry")))
    assert isinstance(failure, TransientFailure)
    assert "Overloaded, sorry" in failure.message


def test_an_empty_turn_is_described_without_its_content(
    script: WireScript, server: LoopbackServer
) -> None:
    failure = fail(script, server, script.answer(thoughts="secret thoughts"))
    assert isinstance(failure, EmptyTurn)
    for words in (MODEL, "Custom OpenAI-compatible API", "stop", "reasoning", "120 in, 30 out"):
        assert words in failure.message
    assert "secret thoughts" not in failure.message
    assert failure.usage is not None


@pytest.mark.parametrize(
    ("status", "message", "code", "kind"),
    [
        (400, "messages: at least one is needed", "", RequestFailure),
        (401, f"the key {KEY} is wrong", "", PermanentFailure),
        (403, "not for you", "", PermanentFailure),
        (404, "no such model", "", PermanentFailure),
        (422, "unknown field", "", PermanentFailure),
        (408, "too slow", "", TransientFailure),
        (409, "conflict", "", TransientFailure),
        (429, "slow down", "rate_limit_exceeded", TransientFailure),
        (429, "no credit", "insufficient_quota", PermanentFailure),
        (500, "oops", "", TransientFailure),
        (503, "maintenance", "", TransientFailure),
        (529, "overloaded", "overloaded_error", TransientFailure),
        (400, "Upstream request failed", "", TransientFailure),
        (403, "Provider returned error", "", TransientFailure),
        (400, "Tool choice is required, but model did not call", "tool_use_failed", EmptyTurn),
    ],
)
def test_each_status_has_its_class(
    script: WireScript,
    server: LoopbackServer,
    status: int,
    message: str,
    code: str,
    kind: type[Any],
) -> None:
    failure = fail(script, server, script.refusal(status, message, code))
    assert isinstance(failure, kind)
    assert str(status) in failure.message
    assert "Custom OpenAI-compatible API" in failure.message
    assert len(server.asked) == 1, "the SDK must not try again by itself"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({}, None),
    ],
)
def test_the_wait_that_a_service_asks_for_is_passed_on(
    script: WireScript, server: LoopbackServer, headers: dict[str, str], seconds: float | None
) -> None:
    failure = fail(script, server, script.refusal(429, "slow down", **headers))
    assert failure.retry_after_s == seconds


def test_nobody_listening_is_transient_and_says_where_and_what_to_do(script: WireScript) -> None:
    url = refused_url()
    with pytest.raises(ModelCallError) as raised:
        use(config_for(script, url), lambda port: port.invoke(node_request(MODEL)))
    failure = raised.value.failure
    assert failure == TransientFailure(
        f"Custom OpenAI-compatible API cannot be reached at {url}: connection refused "
        "(is the server running?)"
    )


def test_an_unknown_host_is_transient_and_says_so(script: WireScript) -> None:
    with pytest.raises(ModelCallError) as raised:
        use(
            config_for(script, "http://nowhere.invalid"),
            lambda port: port.invoke(node_request(MODEL)),
        )
    assert "http://nowhere.invalid: the host name cannot be resolved (check" in str(raised.value)


@pytest.mark.parametrize("stall", ["before", "within"])
def test_silence_beyond_the_timeout_is_transient(
    script: WireScript, server: LoopbackServer, stall: str
) -> None:
    answer = sse(Hang()) if stall == "before" else script.broken(Hang(), text="Half")
    failure = fail(script, server, answer, timeout_s=0.2)
    assert isinstance(failure, TransientFailure)
    assert f"{server.url}: no reply in time (timeout)" in failure.message


def test_a_web_page_is_a_wrong_address(script: WireScript, server: LoopbackServer) -> None:
    failure = fail(script, server, html_answer())
    assert isinstance(failure, PermanentFailure)
    assert "web page" in failure.message
    assert server.url in failure.message


def test_foreign_json_is_a_wrong_address(script: WireScript, server: LoopbackServer) -> None:
    failure = fail(script, server, json_answer({"hello": "there"}))
    assert isinstance(failure, PermanentFailure)
    assert server.url in failure.message


def test_garbage_in_a_stream_is_not_tried_again(script: WireScript, server: LoopbackServer) -> None:
    garbage = Answer(
        (b"event: message_start\ndata: {not json}\n\n",),
        headers={"content-type": "text/event-stream"},
    )
    assert isinstance(fail(script, server, garbage), RequestFailure)


def test_a_redirect_is_not_followed_with_the_key(
    script: WireScript, server: LoopbackServer
) -> None:
    elsewhere = Answer((b"",), 307, {"location": "http://elsewhere.invalid/v1"})
    failure = fail(script, server, elsewhere)
    assert isinstance(failure, PermanentFailure)
    assert "redirects" in failure.message
    assert len(server.asked) == 1


def test_a_prompt_that_the_server_cut_is_noticed(
    script: WireScript, server: LoopbackServer
) -> None:
    long = node_request(MODEL, input={"text": "word " * 15_750})
    failure = fail(
        script, server, script.answer(calls=(SUBMIT,), counts=(2051, 9, 0)), request=long
    )
    assert isinstance(failure, RequestFailure)
    assert failure.usage is not None
    assert failure.usage.prompt_tokens == 2051
    assert "cut the prompt" in failure.message
    assert "2051" in failure.message
    turn = play(script, server, script.answer(calls=(SUBMIT,), counts=(15_900, 9, 0)), request=long)
    assert turn.calls


@pytest.mark.parametrize(
    "address", ["", "api.example.com/v1", "ftp://h/v1", "http://[::1", "http://"]
)
def test_an_address_that_is_none_is_said_before_anything_is_sent(
    script: WireScript, address: str
) -> None:
    config = ProviderConfig(
        spec=SPECS["custom_openai_compatible"], base_url=address, wire=script.wire
    )
    with pytest.raises(ModelCallError) as raised:
        use(config, lambda port: port.invoke(node_request(MODEL)))
    assert isinstance(raised.value.failure, PermanentFailure)
    assert "address" in str(raised.value)


def test_a_key_that_cannot_be_one_is_said_before_anything_is_sent(
    script: WireScript, server: LoopbackServer
) -> None:
    failure = fail(script, server, api_key="schlüssel\n")
    assert isinstance(failure, PermanentFailure)
    assert not server.asked


def test_a_reply_without_end_is_given_up(
    script: WireScript, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("providers.sdk_client.reply_limit", lambda: reply_limit(1024 * 1024))
    endless = Answer(
        tuple([b": still there\n" * 5000] * 40 + [Hang()]),
        headers={"content-type": "text/event-stream"},
    )
    failure = fail(script, server, endless)
    assert isinstance(failure, RequestFailure)
    assert "does not end (more than 1 MiB)" in failure.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"data: \xff\xfe\n\n", "not UTF-8 text"),
        (b'data: {"x":\n\n', "not valid JSON"),
        (b"data: " + b"[" * 100_000 + b"\n\n", "nested too deeply"),
    ],
)
def test_a_reply_that_is_no_reply_is_described(
    server: LoopbackServer, body: bytes, words: str
) -> None:
    answer = Answer((body,), headers={"content-type": "text/event-stream"})
    failure = fail(SCRIPTS[Wire.CHAT], server, answer)
    assert isinstance(failure, RequestFailure)
    assert words in failure.message


def test_a_redirect_without_a_body_is_told_without_quotes(server: LoopbackServer) -> None:
    answer = Answer((), status=302, headers={"location": "http://elsewhere.invalid/"})
    failure = fail(SCRIPTS[Wire.CHAT], server, answer)
    assert isinstance(failure, PermanentFailure)
    assert "answered 302 (the address redirects" in failure.message


@pytest.mark.parametrize("proxy", ["ftp://x", "http://[::1", "socks5://x:1"])
def test_a_proxy_that_cannot_be_used_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ModelCallError) as raised:
        use(
            config_for(SCRIPTS[Wire.CHAT], "http://openflow.invalid"),
            lambda port: port.invoke(node_request(MODEL)),
        )
    failure = raised.value.failure
    assert isinstance(failure, PermanentFailure)
    assert "ALL_PROXY" in failure.message


def test_a_reply_that_is_not_compressed_as_it_says_did_reach_us(server: LoopbackServer) -> None:
    answer = Answer((b"data: {}\n\n",), headers={"content-encoding": "gzip"})
    failure = fail(SCRIPTS[Wire.CHAT], server, answer)
    assert "not compressed in the way that it says" in failure.message
    assert "cannot be reached" not in failure.message
