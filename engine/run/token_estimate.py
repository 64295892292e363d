"""How many tokens a text makes, without a tokenizer: told from what kinds of characters it has.

The weights fit byte-pair vocabularies of common size on English, source code and JSON, to about
15 per cent. Where vocabularies differ most, in scripts of three bytes and more a character, the
count is the highest possible one, so that a text is never taken for shorter than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.vocabulary.messages import (
    AssistantMessage,
    Attachment,
    CallItem,
    Reasoning,
    ResultItem,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.tools import ToolDefinition

PER_ITEM = 5
"""What a message costs besides its text: its role and what separates it."""

_SHORT = 48
_CHARS_A_TOKEN = 3
_A_WORD, _A_LETTER, _A_CAPITAL, _A_DIGIT, _A_MARK = 0.27, 0.19, 0.09, 1.25, 1.0
_A_LETTER_OF_NO_WORD = 0.75
_A_LETTER_OF_ANOTHER_LANGUAGE = 0.27
_ACCENTS_PER_LETTER = 0.01
_LONGEST_WORD = 24
_CHARS_OF_BLANK = 12
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_LETTERS = _CAPITALS + bytes(range(ord("a"), ord("z") + 1))
_DIGITS = b"0123456789"
_NO_MARKS = _LETTERS + _DIGITS + b" \t\r\n\f\v" + bytes(range(128, 256))
# Lead bytes of UTF-8, and what a character that begins with one makes at most or usually.
_LEADS = (
    (bytes(range(0xC0, 0xE0)), 1.0),
    (bytes(range(0xE0, 0xE3)), 1.75),
    (bytes(range(0xE3, 0xF0)), 3.0),
    (bytes(range(0xF0, 0xF8)), 4.0),
)

_AN_IMAGE = 1_600
_BYTES_A_TOKEN_OF_A_FILE = 3
_MOST_OF_A_FILE = 400_000


def estimate_text(text: str) -> int:
    """The tokens of a text, 0 for an empty one."""
    size = len(text)
    if text.isascii():
        if size <= _SHORT:
            return -(-size // _CHARS_A_TOKEN)
        data, beyond = text.encode(), 0.0
    else:
        data = text.encode("utf-8", "surrogatepass")
        beyond = _beyond_ascii(data)
    size = len(data)
    letters = size - len(data.translate(None, _LETTERS))
    digits = size - len(data.translate(None, _DIGITS))
    marks = len(data.translate(None, _NO_MARKS))
    words = len(data.split())
    told = beyond + digits * _A_DIGIT + marks * _A_MARK
    if letters > words * _LONGEST_WORD:
        told += letters * _A_LETTER_OF_NO_WORD
    else:
        capitals = size - len(data.translate(None, _CAPITALS))
        is_foreign = beyond > letters * _ACCENTS_PER_LETTER
        a_letter = _A_LETTER_OF_ANOTHER_LANGUAGE if is_foreign else _A_LETTER
        told += words * _A_WORD + letters * a_letter + capitals * _A_CAPITAL
    return int(max(told, size / _CHARS_OF_BLANK)) + 1


def _beyond_ascii(data: bytes) -> float:
    size = len(data)
    return sum((size - len(data.translate(None, lead))) * cost for lead, cost in _LEADS)


def estimate_json(value: Any) -> int:
    """The tokens of a JSON value as compact text."""
    kind = type(value)
    if isinstance(value, str):
        size = len(value)
        if size <= _SHORT and value.isascii():
            return 1 - (-size // _CHARS_A_TOKEN)
        escaped = value.count("\n") + value.count('"') + value.count("\\")
        return estimate_text(value) + 1 + escaped // 2
    if kind is dict:
        told: int = 2
        for key, inner in value.items():
            told += 3 + len(key) // _CHARS_A_TOKEN + estimate_json(inner)
        return told
    if kind is list or kind is tuple:
        return 2 + sum(map(estimate_json, value)) + len(value)
    if value is None or kind is bool:
        return 1
    return 1 + len(str(value))


def estimate_item(item: TranscriptItem) -> int:
    """The tokens of one item of a transcript, with what separates it from the others."""
    size: int = PER_ITEM + _ITEMS[type(item)](item)
    return size


def _result(item: ResultItem) -> int:
    return estimate_text(item.result.content)


def _call(item: CallItem) -> int:
    call = item.call
    return 1 + len(call.name) // _CHARS_A_TOKEN + estimate_json(call.arguments)


def _said(item: AssistantMessage) -> int:
    return estimate_text(item.content)


def _told(item: UserMessage) -> int:
    return estimate_text(item.content) + estimate_files(item.attachments)


def _thought(item: Reasoning) -> int:
    return sum(
        estimate_text(part.text) + (0 if part.data is None else estimate_json(part.data))
        for part in item.parts
    )


_ITEMS: dict[type, Callable[[Any], int]] = {
    ResultItem: _result,
    CallItem: _call,
    AssistantMessage: _said,
    UserMessage: _told,
    Reasoning: _thought,
}


def estimate_files(attachments: Sequence[Attachment]) -> int:
    """The tokens of files that are sent along: an image makes about as many whatever its size."""
    return sum(
        _AN_IMAGE
        if file.mime_type.startswith("image/")
        else min(file.size // _BYTES_A_TOKEN_OF_A_FILE, _MOST_OF_A_FILE)
        for file in attachments
    )


def estimate_tools(tools: Sequence[ToolDefinition]) -> int:
    """The tokens of the tools that a request offers."""
    return sum(
        PER_ITEM
        + estimate_text(tool.name)
        + estimate_text(tool.description)
        + estimate_json(tool.input_schema)
        for tool in tools
    )
