"""From requests to bodies: the conversation and its form on each wire."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest

from engine.vocabulary.messages import (
    AssistantMessage,
    Reasoning,
    ReasoningPart,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import JsonObject
from providers.mapping import Body
from providers.specs import SPECS, ProviderSpec
from tests.support.mapped import CUSTOM, call, chat, messages, responses, result, told
from tests.support.requests import request_for


def shape(body: Body) -> list[Any]:
    """Who says what, with ids replaced by their order of appearance."""
    ids: dict[str, str] = {}

    def short(wire_id: str) -> str:
        return ids.setdefault(wire_id, f"#{len(ids) + 1}")

    said: list[Any] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            said.append((short(message["tool_call_id"]), message["content"]))
        elif message.get("tool_calls"):
            calls = [(short(c["id"]), c["function"]["arguments"]) for c in message["tool_calls"]]
            said.append((message["content"], calls))
        else:
            said.append((message["role"], message["content"]))
    return said


class TestConversation:
    def test_the_opening_holds_label_task_and_input(self) -> None:
        request = request_for(
            node_label="Plan", task_prompt="Do the plan.", input={"upstream": [{"ü": 1}]}
        )
        system, opening = chat(request)["messages"]
        assert system == {"role": "system", "content": "You are a node."}
        assert "Plan" in opening["content"]
        assert "Do the plan." in opening["content"]
        assert json.dumps(request.input, indent=2, ensure_ascii=False) in opening["content"]

    def test_system_messages_are_joined_by_a_blank_line(self) -> None:
        request = request_for(system_messages=("One.", "Two."))
        assert chat(request)["messages"][0]["content"] == "One.\n\nTwo."
        assert responses(request)["instructions"] == "One.\n\nTwo."
        assert messages(request)["system"] == "One.\n\nTwo."

    def test_no_system_message_is_no_empty_one(self) -> None:
        request = request_for(system_messages=())
        assert chat(request)["messages"][0]["role"] == "user"
        assert "instructions" not in responses(request)
        assert "system" not in messages(request)

    def test_the_calls_of_a_turn_go_together_and_their_results_follow(self) -> None:
        body = chat(
            told(
                AssistantMessage("Look."),
                call("a", path="1"),
                call("b"),
                result("b", "B"),
                result("a", "A"),
                UserMessage("Go on."),
            )
        )
        assert shape(body)[2:] == [
            ("Look.", [("#1", '{"path":"1"}'), ("#2", "{}")]),
            ("#1", "A"),
            ("#2", "B"),
            ("user", "Go on."),
        ]

    def test_turns_stay_turns(self) -> None:
        body = chat(told(call("a"), result("a", "A"), call("b"), result("b", "B")))
        assert shape(body)[2:] == [
            (None, [("#1", "{}")]),
            ("#1", "A"),
            (None, [("#2", "{}")]),
            ("#2", "B"),
        ]

    def test_results_follow_their_calls_whatever_was_said_in_between(self) -> None:
        body = chat(told(call("a"), UserMessage("Mind the file."), result("a", "A")))
        assert shape(body)[2:] == [
            (None, [("#1", "{}")]),
            ("#1", "A"),
            ("user", "Mind the file."),
        ]

    def test_a_call_without_a_result_was_cancelled(self) -> None:
        body = chat(told(call("a"), call("b"), result("b", "B"), UserMessage("Go on.")))
        (_, first), second = shape(body)[3:5]
        assert "cancelled" in first
        assert second == ("#2", "B")
        block = messages(told(call("a"), UserMessage("Go on.")))["messages"][2]["content"][0]
        assert block["is_error"] is True

    def test_a_result_without_a_call_is_dropped(self) -> None:
        body = chat(told(result("ghost", "BOO"), UserMessage("Go on.")))
        assert shape(body)[2:] == [("user", "Go on.")]
        assert "BOO" not in json.dumps(responses(told(result("ghost", "BOO"))))

    def test_a_second_result_of_a_call_is_dropped(self) -> None:
        body = chat(told(call("a"), result("a", "A"), result("a", "AGAIN")))
        assert "AGAIN" not in json.dumps(body)

    def test_two_calls_of_one_id_get_ids_of_their_own(self) -> None:
        body = chat(told(call("a"), result("a", "1"), call("a"), result("a", "2")))
        assert shape(body)[2:] == [
            (None, [("#1", "{}")]),
            ("#1", "1"),
            (None, [("#2", "{}")]),
            ("#2", "2"),
        ]

    @pytest.mark.parametrize(("spec", "length"), [(CUSTOM, 40), (SPECS["mistral"], 9)])
    def test_ids_are_as_the_service_wants_them(self, spec: ProviderSpec, length: int) -> None:
        ids = ["call_PTLP8xhu3uwZk4l3nlnrrJha", "turn1_0", "x" * 43]
        request = told(*[call(i) for i in ids], *[result(i, "r") for i in ids])
        body = chat(request, spec)
        sent = [c["id"] for c in body["messages"][2]["tool_calls"]]
        assert [m["tool_call_id"] for m in body["messages"][3:]] == sent
        assert len(set(sent)) == 3
        assert all(i.isalnum() and i.isascii() and len(i) <= length for i in sent)
        assert chat(request, spec) == body

    def test_equal_beginnings_stay_equal(self) -> None:
        items: list[TranscriptItem] = [call("a"), result("a", "A")]
        first = chat(told(*items))["messages"]
        later = chat(told(*items, UserMessage("Go on."), call("b"), result("b", "B")))["messages"]
        assert later[: len(first)] == first

    def test_a_name_that_no_wire_takes_is_cleaned_in_history(self) -> None:
        body = chat(told(call("a", name="list todos</x>"), result("a", "unknown tool")))
        assert body["messages"][2]["tool_calls"][0]["function"]["name"] == "list_todos__x_"

    def test_blank_texts_are_left_out(self) -> None:
        request = told(
            AssistantMessage("  "), UserMessage(" "), Reasoning((ReasoningPart("text", "x"),))
        )
        assert len(chat(request)["messages"]) == 2
        assert len(responses(request)["input"]) == 1
        assert len(messages(request)["messages"]) == 1


class TestReasoning:
    SEALED: ClassVar[JsonObject] = {
        "type": "reasoning",
        "id": "r",
        "summary": [],
        "encrypted_content": "x",
    }
    THOUGHT: ClassVar[JsonObject] = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}

    @staticmethod
    def history(provider_id: str, *parts: JsonObject) -> AgentRequest:
        kept = [ReasoningPart("opaque", provider_id=provider_id, data=data) for data in parts]
        shown = ReasoningPart("text", "Hm.", provider_id)
        return told(
            Reasoning((shown, *kept)),
            AssistantMessage("Look."),
            call("a", provider_id="w1"),
            result("a", "A"),
        )

    def test_responses_get_their_sealed_reasoning_back_before_the_calls(self) -> None:
        items = responses(self.history("openai", self.SEALED))["input"][1:]
        assert items[0] == self.SEALED
        assert [item["type"] for item in items] == [
            "reasoning",
            "message",
            "function_call",
            "function_call_output",
        ]

    def test_messages_get_their_signed_thinking_back_first(self) -> None:
        assistant = messages(self.history("anthropic", self.THOUGHT))["messages"][1]
        assert [block["type"] for block in assistant["content"]] == ["thinking", "text", "tool_use"]
        assert assistant["content"][0] == self.THOUGHT

    def test_nobody_else_gets_it(self) -> None:
        assert "sig" not in json.dumps(messages(self.history("bedrock", self.THOUGHT)))
        assert "encrypted_content" not in json.dumps(
            responses(self.history("groq", self.SEALED))["input"]
        )
        assert "Hm." not in json.dumps(chat(self.history("openai", self.SEALED)))

    def test_what_belongs_to_another_wire_of_the_same_service_is_left_out(self) -> None:
        assert "sig" not in json.dumps(responses(self.history("openai", self.THOUGHT))["input"])
        assert "Hm." not in json.dumps(chat(self.history(CUSTOM.id, self.THOUGHT)))

    def test_a_service_that_wants_its_reasoning_as_text_gets_it(self) -> None:
        message = chat(self.history("deepseek"), SPECS["deepseek"])["messages"][2]
        assert message["reasoning_content"] == "Hm."

    def test_details_and_signatures_of_calls_go_back_where_they_came_from(self) -> None:
        history = self.history(
            CUSTOM.id,
            {"reasoning_details": [{"type": "reasoning.encrypted"}]},
            {"call_extras": {"w1": {"google": {"thought_signature": "sig"}}}},
        )
        message = chat(history)["messages"][2]
        assert message["reasoning_details"] == [{"type": "reasoning.encrypted"}]
        assert message["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}


class TestTheFormsOfAMessage:
    def test_chat(self) -> None:
        body = chat(told(call("a"), result("a", "A", is_error=True)))
        assistant, tool = body["messages"][2:]
        assert assistant["tool_calls"][0]["type"] == "function"
        assert tool["role"] == "tool"
        assert body["stream_options"] == {"include_usage": True}

    def test_responses(self) -> None:
        body = responses(told(AssistantMessage("Hi."), UserMessage("Go on.")))
        assert body["input"][1:] == [
            {"type": "message", "role": "assistant", "content": "Hi."},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "Go on."}],
            },
        ]
        assert body["store"] is False

    def test_messages_take_turns(self) -> None:
        body = messages(
            told(call("a"), call("b"), result("a", "A"), result("b", "B"), UserMessage("Go on."))
        )
        assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
        last = body["messages"][2]["content"]
        assert [block["type"] for block in last] == ["tool_result", "tool_result", "text"]
        assert "is_error" not in last[0]
