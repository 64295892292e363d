"""From requests to bodies: limits, caches, reasoning, attachments, and the demo model."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.messages import Attachment
from providers.attachments import file_part
from providers.chat_mapping import chat_body
from providers.mapping import Body, MappingContext
from providers.messages_mapping import messages_body
from providers.quirks import Quirk
from providers.responses_mapping import responses_body
from providers.specs import SPECS, ProviderSpec
from tests.support.mapped import (
    ANTHROPIC,
    CUSTOM,
    EMBEDDED,
    OPENAI,
    READ,
    call,
    chat,
    messages,
    responses,
    result,
    told,
)
from tests.support.requests import request_for


class TestLimitsAndOptions:
    def test_the_output_limit_is_sent_only_if_there_is_one(self) -> None:
        assert "max_tokens" not in chat(request_for())
        assert "max_output_tokens" not in responses(request_for())
        limited = request_for(max_output_tokens=77)
        assert chat(limited)["max_tokens"] == 77
        assert chat(limited, OPENAI)["max_completion_tokens"] == 77
        renamed = chat(limited, quirks=frozenset({Quirk.COMPLETION_TOKENS}))
        assert renamed["max_completion_tokens"] == 77
        assert responses(limited)["max_output_tokens"] == 77
        assert messages(limited)["max_tokens"] == 77

    @pytest.mark.parametrize(
        ("model", "tokens"),
        [
            ("claude-sonnet-4-5", 16_384),
            ("claude-3-5-sonnet-latest", 8_192),
            ("claude-3-opus-latest", 4_096),
            ("some-gateway-model", 16_384),
        ],
    )
    def test_messages_always_have_a_limit(self, model: str, tokens: int) -> None:
        assert messages(request_for(model=model))["max_tokens"] == tokens

    def test_the_cache_key_names_workflow_and_node(self) -> None:
        assert chat(request_for())["prompt_cache_key"] == "flow:a"
        assert responses(request_for())["prompt_cache_key"] == "flow:a"
        long = chat(request_for("n" * 40, workflow_id="w" * 40))["prompt_cache_key"]
        assert len(long) == 64
        assert long != chat(request_for("m" * 40, workflow_id="w" * 40))["prompt_cache_key"]

    @pytest.mark.parametrize("provider_id", ["ollama", "lmstudio", "embedded"])
    def test_local_servers_get_no_cache_key(self, provider_id: str) -> None:
        assert "prompt_cache_key" not in chat(request_for(), SPECS[provider_id])

    def test_the_prefix_is_marked_for_models_that_take_marks_and_nothing_else(self) -> None:
        request = request_for(model="gpt-5.6-mini", system_messages=("One.", "Two."))
        body = responses(request)
        system = body["input"][0]
        assert "instructions" not in body
        assert [block["text"] for block in system["content"]] == ["One.", "Two."]
        assert "prompt_cache_breakpoint" not in system["content"][0]
        assert system["content"][1]["prompt_cache_breakpoint"] == {"mode": "explicit"}
        assert json.dumps(body).count("prompt_cache_breakpoint") == 1
        assert body["prompt_cache_options"] == {"mode": "explicit"}
        assert "prompt_cache_breakpoint" not in json.dumps(responses(request, CUSTOM))
        assert "prompt_cache_options" not in responses(request_for(model="gpt-5.4"))

    def test_anthropic_caches_by_itself(self) -> None:
        assert messages(request_for())["cache_control"] == {"type": "ephemeral"}
        assert "cache_control" not in messages(request_for(), CUSTOM)
        refused = frozenset({Quirk.NO_CACHE_KEY})
        assert "cache_control" not in messages(request_for(), quirks=refused)

    def test_fast_mode_is_for_services_that_have_one(self) -> None:
        fast = request_for(fast_mode=True, reasoning_effort="low")
        assert responses(fast)["service_tier"] == "priority"
        assert responses(fast)["reasoning"]["effort"] == "low"
        assert "service_tier" not in chat(fast)
        assert "service_tier" not in responses(request_for())
        assert "service_tier" not in responses(fast, quirks=frozenset({Quirk.NO_FAST_MODE}))

    def test_reasoning_options_of_chat(self) -> None:
        body = chat(request_for(reasoning_effort="high", reasoning_budget_tokens=2000))
        assert body["reasoning_effort"] == "high"
        assert body["reasoning_budget_tokens"] == 2000
        assert body["reasoning"] == {"max_tokens": 2000}
        refused = chat(
            request_for(reasoning_effort="high"), quirks=frozenset({Quirk.NO_REASONING_OPTIONS})
        )
        assert "reasoning_effort" not in refused
        assert "reasoning_effort" not in chat(request_for())

    def test_reasoning_options_of_responses(self) -> None:
        body = responses(request_for(reasoning_effort="low"))
        assert body["reasoning"] == {"effort": "low", "summary": "auto"}
        assert body["include"] == ["reasoning.encrypted_content"]
        none = responses(request_for(reasoning_effort="none"))
        assert none["reasoning"] == {"effort": "none"}
        assert "include" not in none
        plain = responses(request_for(model="gpt-4o"))
        assert "reasoning" not in plain
        assert "include" not in plain
        assert "include" in responses(request_for(model="o3"))
        quirks = frozenset({Quirk.NO_REASONING_SUMMARY, Quirk.NO_ENCRYPTED_REASONING})
        bare = responses(request_for(reasoning_effort="low"), quirks=quirks)
        assert bare["reasoning"] == {"effort": "low"}
        assert "include" not in bare

    def test_usage_is_not_asked_of_those_who_refuse(self) -> None:
        body = chat(request_for(), quirks=frozenset({Quirk.NO_STREAM_USAGE}))
        assert "stream_options" not in body

    def test_mapping_leaves_the_request_as_it_is(self) -> None:
        request = told(call("a", path="x"), result("a", "A"), available_tools=(READ,))
        before = repr(request)
        for mapped in (chat(request), responses(request), messages(request)):
            json.dumps(mapped)
        assert repr(request) == before


class TestAttachments:
    PNG = Attachment("f1", "plan.png", "image/png", 3, "0")
    PDF = Attachment("f2", "plan.pdf", "application/pdf", 3, "0")
    CSV = Attachment("f3", "t.csv", "text/csv; charset=utf-8", 5, "0")

    def mapped(self, body: Any, spec: ProviderSpec) -> Body:
        attachments = (self.PNG, self.PDF, self.CSV)
        contents = (b"png", b"pdf", b"a,b\n")
        files = {
            a.id: file_part(a, content) for a, content in zip(attachments, contents, strict=True)
        }
        request = request_for(attachments=attachments)
        result: Body = body(request, MappingContext(spec, files=files))
        return result

    def test_chat(self) -> None:
        text, image, pdf, csv = self.mapped(chat_body, CUSTOM)["messages"][1]["content"]
        png, doc = (base64.b64encode(b).decode() for b in (b"png", b"pdf"))
        assert text["type"] == "text"
        assert image == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
        assert pdf["file"] == {
            "filename": "plan.pdf",
            "file_data": f"data:application/pdf;base64,{doc}",
        }
        assert csv["text"].startswith("File t.csv:")
        assert csv["text"].endswith("a,b\n")

    def test_responses(self) -> None:
        kinds = [p["type"] for p in self.mapped(responses_body, OPENAI)["input"][0]["content"]]
        assert kinds == ["input_text", "input_image", "input_file", "input_text"]

    def test_messages(self) -> None:
        blocks = self.mapped(messages_body, ANTHROPIC)["messages"][0]["content"]
        assert [b["type"] for b in blocks] == ["text", "image", "document", "text"]
        assert blocks[1]["source"]["media_type"] == "image/png"

    @pytest.mark.parametrize(
        ("attachment", "content", "words"),
        [
            (PNG, None, "is gone"),
            (Attachment("x", "a.zip", "application/zip", 1, "0"), b"x", "no model takes"),
            (CSV, b"\xff\xfe", "not text in UTF-8"),
        ],
    )
    def test_what_cannot_be_sent_is_said(
        self, attachment: Attachment, content: bytes | None, words: str
    ) -> None:
        with pytest.raises(ModelCallError, match=words) as raised:
            file_part(attachment, content)
        assert isinstance(raised.value.failure, PermanentFailure)
        assert attachment.name in str(raised.value)


class TestClaudeThinking:
    @pytest.mark.parametrize("prefix", ["", "us.anthropic.", "anthropic/"])
    def test_adaptive_models_are_asked_by_effort(self, prefix: str) -> None:
        body = messages(request_for(model=f"{prefix}claude-opus-4-8", reasoning_effort="high"))
        assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert body["output_config"] == {"effort": "high"}
        assert body["tool_choice"] == {"type": "auto"}
        assert body["max_tokens"] >= 16_000

    def test_optional_thinking_is_off_unless_asked_for(self) -> None:
        for effort in (None, "none"):
            body = messages(request_for(model="claude-sonnet-4-6", reasoning_effort=effort))
            assert "thinking" not in body
            assert body["tool_choice"] == {"type": "any"}
        adaptive = messages(request_for(model="claude-sonnet-4-6", reasoning_effort="adaptive"))
        assert adaptive["thinking"]["type"] == "adaptive"
        assert "output_config" not in adaptive

    def test_thinking_that_is_on_by_itself(self) -> None:
        for model in ("claude-sonnet-5", "claude-fable-1", "claude-mythos-2"):
            assert messages(request_for(model=model))["tool_choice"] == {"type": "auto"}
        off = messages(request_for(model="claude-sonnet-5", reasoning_effort="none"))
        assert off["thinking"] == {"type": "disabled"}
        assert off["tool_choice"] == {"type": "any"}
        always = messages(request_for(model="claude-fable-1", reasoning_effort="none"))
        assert always["thinking"]["type"] == "adaptive"

    @pytest.mark.parametrize(
        ("effort", "budget"), [("low", 10_240), ("medium", 40_960), ("high", 59_000)]
    )
    def test_manual_thinking_has_a_budget_below_the_limit(self, effort: str, budget: int) -> None:
        body = messages(
            request_for(model="claude-sonnet-4-5", reasoning_effort=effort, max_output_tokens=500)
        )
        assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
        assert body["max_tokens"] == budget + 4_096

    @pytest.mark.parametrize("budget", [1_023, 59_001])
    def test_a_budget_out_of_bounds_is_permanent(self, budget: int) -> None:
        with pytest.raises(ModelCallError, match=str(budget)) as raised:
            messages(request_for(model="claude-3-7-sonnet", reasoning_budget_tokens=budget))
        assert isinstance(raised.value.failure, PermanentFailure)

    def test_other_models_do_not_think(self) -> None:
        body = messages(request_for(model="claude-3-5-sonnet-latest", reasoning_effort="high"))
        assert "thinking" not in body

    def test_a_refused_option_is_left_out(self) -> None:
        quirks = frozenset({Quirk.NO_REASONING_OPTIONS})
        body = messages(
            request_for(model="claude-opus-4-8", reasoning_effort="high"), quirks=quirks
        )
        assert "thinking" not in body


class TestTheDemoModel:
    def test_it_is_given_the_submit_tool_only_and_must_call_it(self) -> None:
        request = request_for(
            available_tools=(READ,), allow_user_input=True, conversation_mode=True
        )
        body = chat(request, EMBEDDED, bound=lambda schema: {**schema, "bounded": True})
        assert [tool["function"]["name"] for tool in body["tools"]] == [
            "openflow_submit_node_output"
        ]
        assert body["tools"][0]["function"]["parameters"]["bounded"] is True
        assert body["tool_choice"] == "required"
        assert body["max_tokens"] == 1024

    def test_nothing_that_it_cannot_use_is_sent(self) -> None:
        body = chat(request_for(reasoning_effort="high", fast_mode=True), EMBEDDED)
        assert set(body) == {
            "model",
            "messages",
            "tools",
            "tool_choice",
            "stream",
            "stream_options",
            "max_tokens",
        }
