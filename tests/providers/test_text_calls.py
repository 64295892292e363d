"""Tool calls that a model printed as text."""

from __future__ import annotations

import pytest

from engine.vocabulary.messages import ModelTurn
from engine.vocabulary.tools import HARNESS_TOOLS, SUBMIT_TOOL, ToolDefinition, ToolTier
from providers.stream_parts import TurnBuilder

OFFERED = HARNESS_TOOLS | {"read"}
READ = ToolDefinition(
    "read", "Read.", {"type": "object", "properties": {"path": {}}}, ToolTier.READ
)


def said(text: str, tool: ToolDefinition = READ) -> ModelTurn:
    builder = TurnBuilder("p")
    builder.text(text)
    builder.end("stop")
    return builder.turn(OFFERED, (tool,))


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name":"read","arguments":{"path":"a"}}\n</tool_call>',
        "<function=read>\n<parameter=path>a</parameter>\n</function>",
        '{"name":"read","arguments":{"path":"a"}}',
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function></tool_call>",
        "<tool_call>read<arg_key>path</arg_key>\n<arg_value>a</arg_value></tool_call>",
        '<function_calls><invoke name="read"><parameter name="path">a</parameter></invoke>'
        "</function_calls>",
        '<invoke name="read"><parameter name="path">a</parameter></invoke>',
        '[TOOL_CALLS][{"name":"read","arguments":{"path":"a"}}]',
        '[TOOL_CALLS]read[ARGS]{"path":"a"}',
        '<|python_tag|>{"name":"read","parameters":{"path":"a"}}',
        '```json\n{"name":"read","arguments":{"path":"a"}}\n```',
        '{"type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}}',
        '<think>Hm.</think>\n<tool_call>{"name":"read","arguments":{"path":"a"}}</tool_call>',
    ],
)
def test_a_message_that_is_a_printed_call_is_that_call(text: str) -> None:
    turn = said(text)
    assert [(c.name, c.arguments, c.repairs) for c in turn.calls] == [
        ("read", {"path": "a"}, ("printed_call",))
    ]
    assert turn.text == ""
    assert turn.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    "text",
    [
        'Docs example: `<tool_call>{"name":"read"}</tool_call>` is how Qwen writes it.',
        '<tool_call>{"name":"read","arguments":{}}</tool_call> is how it is done.',
        '{"name":"unknown","arguments":{}}',
        '[{"name":"read","arguments":{}},{"name":"unknown","arguments":{}}]',
        '{"name":"read","arguments":{},"comment":"x"}',
        '{"name":["read"],"arguments":{}}',
        "<function=read></function> and more",
        "[TOOL_CALLS] is what it writes.",
        "{}",
        "[]",
    ],
)
def test_any_other_text_stays_text(text: str) -> None:
    turn = said(text)
    assert turn.calls == ()
    assert turn.text == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>{"name":"unknown","arguments":{}}</tool_call>', "unknown"),
        ('<tool_call>{"name":"read","arguments":{"path":', "unnamed_tool"),
        ("<function=read><parameter=path>a</parameter> and more</function>", "unnamed_tool"),
        ("<function=delete></function>", "delete"),
        ('<tool_call>{"name":"read","arguments":"[1]"}</tool_call>', "read"),
        ('{"name":"openflow_submit_node_output","arguments":{"output":{}}}', SUBMIT_TOOL),
    ],
)
def test_a_printed_call_that_cannot_be_one_does_not_run(text: str, name: str) -> None:
    turn = said(text)
    assert [(c.name, c.arguments, c.repairs) for c in turn.calls] == [
        (name, None, ("printed_call",))
    ]
    assert turn.calls[0].arguments_error
    assert turn.calls[0].raw_arguments == ""


def test_an_end_mark_inside_of_an_argument_ends_nothing() -> None:
    text = '<tool_call>{"name":"read","arguments":{"path":"</tool_call>"}}</tool_call>'
    turn = said(text)
    assert [c.arguments for c in turn.calls] == [{"path": "</tool_call>"}]


def test_a_printed_value_takes_the_type_of_its_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "zip": {"type": "string"},
            "x": {"type": "number"},
        },
    }
    tool = ToolDefinition("read", "Read.", schema)
    turn = said(
        "<function=read><parameter=n>5</parameter><parameter=zip>02139</parameter>"
        "<parameter=x>many</parameter></function>",
        tool,
    )
    assert turn.calls[0].arguments == {"n": 5, "zip": "02139", "x": "many"}
