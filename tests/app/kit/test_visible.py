from __future__ import annotations

import json

import pytest

from app.cli.console import say
from app.kit.visible import visible, visible_json, visible_lines, visible_name

HOSTILE = "a\x1b[2J\x1b]0;title\x07 \x9b31m\r\b\x7f\u202edcba\u2066\u2028\x85\nz"
HIDDEN = [
    "a\u200bb",
    "a\u200db",
    "\u200cb",
    "a\u200d",
    "a\xadb",
    "a\u2060b",
    "r\ufe0fm",
    "a\U000e0062",
    "a\u3164b",
    "a\ud800b",
    "\ufeffa",
]
ACTIVE = "\x1b\x07\x9b\r\b\x7f\u202e\u2066\u2028\x85"


def test_nothing_is_left_that_a_terminal_acts_on() -> None:
    shown = visible(HOSTILE)
    assert not set(shown) & {*ACTIVE, "\n"}
    assert "\\x1b[2J" in shown
    assert "\\u202e" in shown


@pytest.mark.parametrize(
    "text",
    [
        "Grüße",
        "日本語 💥",
        "می‌خواهم",
        "שלום",
        "[red]x[/red]",
        "a\\b",
        "👨\u200d👩\u200d👧 1\ufe0f\u20e3 ❤\ufe0f",
    ],
)
def test_other_text_is_shown_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_what_takes_no_room_hides_nothing(text: str) -> None:
    shown = visible(text)
    assert shown.isascii()
    assert visible_lines(text) == [shown]
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text


def test_a_name_keeps_nothing_to_itself() -> None:
    assert visible_name("a\nb\tc\u202ed") == "a\\nb\\tc\\u202ed"


def test_json_keeps_its_value_and_its_layout() -> None:
    value = {HOSTILE: [HOSTILE, "plain"]}
    text = visible_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(text) == value
    assert not set(text) & set(ACTIVE)
    assert text.count("\n") == 5


def test_a_sentence_is_one_line_without_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert not set(shown) & set(ACTIVE)
