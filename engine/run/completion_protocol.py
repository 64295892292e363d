"""What one model turn means: a submitted output, tool calls, a question, words, or a failure.

A node completes through a valid submit call and in no other way. A harness tool stands alone in
its turn. Whatever was cut off is not acted on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from engine.run.markup import strip_tool_markup
from engine.run.questions import as_text, read_questions
from engine.run.schema import CompiledSchema, UncompilableSchema, compiled, shortened
from engine.vocabulary.errors import (
    PRINTED_CALL,
    CallFailure,
    EmptyTurn,
    MalformedSubmit,
    MixedToolTurn,
    ModelCallError,
    RepairCandidate,
    TruncatedOutput,
)
from engine.vocabulary.messages import (
    Completed,
    InputRequest,
    MessageTurn,
    ModelTurn,
    ToolCallsTurn,
    TurnOutcome,
    WireCall,
)
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import HARNESS_TOOLS, SUBMIT_TOOL, JsonObject, ToolCall, ToolTier

_FINISHED_BY_ITSELF = frozenset({"stop", "tool_calls"})
_NAMESPACE = re.compile(r"\A(?:functions?|tools?|default_api)[.:/]")
_CALL_NUMBER = re.compile(r"(?::\d{1,4}|\(\))\Z")
_QUOTES = "`'\" "
_ENVELOPE = frozenset({"output", "assistant_message"})
_OBJECT: JsonObject = {"type": "object"}
_WRAPPERS = ("arguments", "parameters", "input")
_BESIDE_WRAPPER = frozenset({"name", "type", "id", "assistant_message"})
_MOST_WRAPPERS = 3
_LONGEST_NAME = 256
WRAPPED = "wrapped_arguments"
_TEMPLATE_TOKENS = re.compile(r"(?:\s*(?:</?[\w.:-]{1,40}>|<\|[^<>|]{1,40}\|>))+\s*$")
_NO_OUTPUT = "there is no 'output' in the arguments"
_UNDECLARED = (
    "the arguments are neither {'output': {...}} nor fields of the output; "
    "put the output's fields, and only those, under 'output'"
)


class _WrongEnvelope(Exception):
    """The arguments of a submit call hold nothing that could be an output."""


def interpret(turn: ModelTurn, request: AgentRequest) -> TurnOutcome:
    """Say what a finished turn means for the node that made `request`.

    Ids of tool calls are left empty; the engine gives them. Questions are read, not judged.

    Raises:
        ModelCallError: with `TruncatedOutput`, `EmptyTurn`, `MixedToolTurn` or
            `MalformedSubmit`, the last one with a candidate for repair.
    """
    calls = turn.calls
    if turn.truncated or turn.finish_reason.lower() == "length":
        raise ModelCallError(_cut_off(turn, request))
    if not calls:
        return _words(turn, request)
    if calls[0].name == SUBMIT_TOOL and len(calls) == 1:  # how most turns of most nodes end
        return _submitted(calls[0], turn, request)
    names = [offered_name(call.name, request) for call in calls]
    if len(names) > 1 and not HARNESS_TOOLS.isdisjoint(names):
        raise ModelCallError(MixedToolTurn(tuple(names), turn.usage))
    if names[0] == SUBMIT_TOOL:
        return _submitted(calls[0], turn, request)
    if names[0] in HARNESS_TOOLS:
        return _asked(calls[0], turn, request)
    return ToolCallsTurn(
        tuple([_tool_call(n, call, request) for n, call in zip(names, calls, strict=True)]),
        _said(turn),
        turn.reasoning,
        turn.usage,
    )


def offered_name(name: str, request: AgentRequest) -> str:
    """Strip what some models put around a tool's name, where an offered name is left over."""
    if name in HARNESS_TOOLS:
        return name
    offered = [tool.name for tool in request.available_tools]
    if name in offered or len(name) > _LONGEST_NAME:
        return name
    bare = _NAMESPACE.sub("", _TEMPLATE_TOKENS.sub("", name.strip(_QUOTES)))
    if bare not in offered and bare not in HARNESS_TOOLS:
        bare = _CALL_NUMBER.sub("", bare)
    return bare if bare in offered or bare in HARNESS_TOOLS else name


def _cut_off(turn: ModelTurn, request: AgentRequest) -> TruncatedOutput:
    names = tuple(sorted({offered_name(call.name, request) for call in turn.calls}))
    if turn.finish_reason.lower() == "length":
        reason = "length"
    elif turn.finish_reason in _FINISHED_BY_ITSELF and _any_unreadable(turn.calls):
        reason = "unterminated"
    else:
        reason = "stream"
    return TruncatedOutput(reason, names, turn.usage)


def _any_unreadable(calls: Iterable[WireCall]) -> bool:
    return any(call.arguments is None for call in calls)


def _words(turn: ModelTurn, request: AgentRequest) -> MessageTurn:
    text = _said(turn)
    if text is None:
        raise ModelCallError(
            EmptyTurn(
                f"{request.model} ended its turn with neither a tool call nor any text "
                f"(finish reason: {turn.finish_reason or 'none'})",
                turn.usage,
            )
        )
    return MessageTurn(text, turn.reasoning, turn.usage)


def _said(turn: ModelTurn) -> str | None:
    return strip_tool_markup(turn.text) if turn.text else None


def _tool_call(name: str, call: WireCall, request: AgentRequest) -> ToolCall:
    arguments, repairs = call.arguments, call.repairs
    if arguments is None:
        problem = call.arguments_error or "the arguments are not a JSON object"
        return ToolCall("", name, {}, call.provider_call_id, shortened(problem))
    if any(wrapper in arguments for wrapper in _WRAPPERS):
        meant = _meant(name, arguments, request)
        if meant is not arguments:
            arguments, repairs = meant, (*repairs, WRAPPED)
    return ToolCall("", name, arguments, call.provider_call_id, None, repairs)


def _meant(name: str, arguments: JsonObject, request: AgentRequest) -> JsonObject:
    """What stands in the envelope of a call, if its tool only reads and wants just that."""
    tool = next((tool for tool in request.available_tools if tool.name == name), None)
    if tool is None or tool.tier is not ToolTier.READ:
        return arguments
    schema = tool.input_schema
    judge, meant = compiled(schema), arguments
    for _ in range(_MOST_WRAPPERS):
        called = meant.get("name", name)
        inner = _wrapped(meant, schema)
        if judge.is_valid(meant) or inner is None or called != name:
            break
        meant = inner
    return meant if judge.is_valid(judge.coerce(meant)) else arguments


def _asked(call: WireCall, turn: ModelTurn, request: AgentRequest) -> InputRequest:
    arguments = call.arguments or {}
    structured = read_questions(arguments)
    message = arguments.get("assistant_message")
    text = message.strip() if isinstance(message, str) else ""
    if not text and structured is not None and request.tool_config.allow_structured_user_input:
        text = as_text(structured)
    return InputRequest(text, structured, turn.reasoning, turn.usage, call.repairs)


def _submitted(call: WireCall, turn: ModelTurn, request: AgentRequest) -> Completed:
    schema = request.output_schema
    if call.arguments is None:
        detail = call.arguments_error or "the arguments are not a JSON object"
        if PRINTED_CALL in call.repairs:
            raise ModelCallError(MalformedSubmit(detail, PRINTED_CALL, turn.usage))
        _refuse(call, turn, schema, "invalid_json", detail)
    try:
        judge = compiled(schema)
    except UncompilableSchema:
        judge = None
    output = call.arguments.get("output")
    message = _message_in(call.arguments)
    if not isinstance(output, dict) or judge is None or not judge.is_valid(output):
        try:
            output, message = _unwrapped(call.arguments, schema, judge)
        except _WrongEnvelope as error:
            _refuse(call, turn, schema, "wrong_envelope", str(error))
        if judge is not None and not judge.is_valid(output):
            output = judge.coerce(output)
            if not judge.is_valid(output):
                _refuse(call, turn, schema, "schema_violation", "; ".join(judge.problems(output)))
    return Completed(
        output,
        (strip_tool_markup(message) if message else None) or _said(turn),
        turn.reasoning,
        turn.usage,
        None,
        call.repairs,
    )


def _refuse(
    call: WireCall, turn: ModelTurn, schema: JsonObject, kind: str, detail: str
) -> NoReturn:
    detail = shortened(detail)
    failure: CallFailure = MalformedSubmit(detail, kind, turn.usage)
    raw = call.raw_arguments
    if not raw and call.arguments is not None:
        raw = json.dumps(call.arguments, ensure_ascii=False)
    candidate = RepairCandidate(
        tool_name=SUBMIT_TOOL,
        raw_arguments=raw,
        detail=detail,
        output_schema=schema,
        kind=kind,
        provider_call_id=call.provider_call_id,
        finish_reason=turn.finish_reason,
    )
    raise ModelCallError(failure, candidate) from None


def _unwrapped(
    arguments: JsonObject, schema: JsonObject, judge: CompiledSchema | None
) -> tuple[Any, str | None]:
    """The output in the arguments and the message beside it, whatever envelope they came in."""
    arguments = _peeled(arguments, schema, judge)
    output, message = arguments.get("output"), _message_in(arguments)
    if isinstance(output, dict):
        return (output if judge is None else _regrouped(output, schema)), message
    fields = {key: value for key, value in arguments.items() if key != "assistant_message"}
    if not fields:
        return _salvaged(message, schema), None
    properties = _properties(schema)
    declared = fields.keys() <= properties.keys()
    if judge is not None:
        if declared and judge.is_valid(fields):
            return fields, message
        if "output" in fields and judge.is_valid(judge.coerce(output)):
            return output, message
    fields = _regrouped(fields, schema)
    if not properties or fields.keys() <= properties.keys():
        return fields, message
    if "output" in fields:
        return output, message
    raise _WrongEnvelope(_UNDECLARED)


def _peeled(arguments: JsonObject, schema: JsonObject, judge: CompiledSchema | None) -> JsonObject:
    """The arguments without a second envelope around them, or that of a call."""
    for _ in range(_MOST_WRAPPERS):
        output = arguments.get("output")
        if isinstance(output, dict) and "output" in output and output.keys() <= _ENVELOPE:
            if judge is None or judge.is_valid(output):
                return arguments
            arguments = {**arguments, **output}
            continue
        wrapped = _wrapped(arguments, schema)
        if wrapped is None:
            return arguments
        arguments = wrapped
    return arguments


def _wrapped(arguments: JsonObject, schema: JsonObject) -> JsonObject | None:
    for name in _WRAPPERS:
        if name in arguments and name not in _properties(schema):
            value = arguments[name]
            if isinstance(value, str):
                value = compiled(_OBJECT).coerce(value)
            is_wrapper = arguments.keys() <= _BESIDE_WRAPPER | {name}
            return value if is_wrapper and isinstance(value, dict) else None
    return None


def _message_in(arguments: JsonObject) -> str | None:
    message = arguments.get("assistant_message")
    return message if isinstance(message, str) else None


def _salvaged(message: str | None, schema: JsonObject) -> JsonObject:
    """The output of a model that put all it had to say into the message."""
    text = message.strip() if message else ""
    if not text:
        raise _WrongEnvelope(_NO_OUTPUT)
    properties = _properties(schema)
    required = _required(schema)
    if required:
        field = required[0]
    elif "summary" in properties:
        field = "summary"
    else:
        field = next(iter(properties), "content")
    return {field: text}


def _regrouped(fields: JsonObject, schema: JsonObject) -> JsonObject:
    """Move fields that stand beside a missing object, but belong into it, into it."""
    for name, part in _properties(schema).items():
        nested = _properties(part) if isinstance(part, dict) else {}
        if not nested or name in fields:
            continue
        moved = {key: value for key, value in fields.items() if key in nested}
        if moved and all(key in moved for key in _required(part)):
            rest = {key: value for key, value in fields.items() if key not in moved}
            fields = {**rest, name: moved}
    return fields


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _required(schema: JsonObject) -> list[str]:
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return [name for name in names if isinstance(name, str)]
