"""Text of strangers made safe to show: nothing in it can move the cursor or turn letters around."""

from __future__ import annotations

import json
import re

# Control characters of both sets, what turns the direction of text, further line ends, halves of
# characters, and what takes no room and so hides in a name.
_ACTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
    # Joiners and forms of signs belong to emoji and to some scripts, never to plain letters.
    r"|(?:(?<=[ -~])|^)[\u200c\u200d\ufe00-\ufe0f](?!\u20e3)|[\u200c\u200d](?=[ -~]|$)",
    re.MULTILINE,
)


def visible(text: str) -> str:
    """The text in one line, with characters that a terminal acts on written out as escapes."""
    return _ACTIVE.sub(_escape, " ".join(text.splitlines()))


def visible_name(text: str) -> str:
    """A name or path in one line; line ends in it are written out as well."""
    return _ACTIVE.sub(_escape, text)


def visible_lines(text: str) -> list[str]:
    """The lines of the text; tabs stay, everything else that a terminal acts on is written out."""
    return [_ACTIVE.sub(_escape_but_tabs, line) for line in text.removesuffix("\n").split("\n")]


def visible_json(text: str) -> str:
    """JSON with the same value, in which such characters stand as JSON's own escapes.

    Line ends and tabs between the values stay.
    """
    return _ACTIVE.sub(_json_escape, text)


def _escape_but_tabs(match: re.Match[str]) -> str:
    return match[0] if match[0] == "\t" else _escape(match)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _json_escape(match: re.Match[str]) -> str:
    # JSON allows no control character in a text, so these stand between the values.
    return match[0] if match[0] in "\n\r\t" else json.dumps(match[0])[1:-1]
