"""Texts that a person would still read as one JSON object, in one pass and linear time.

This goes beyond a difference of notation (see `lenient_json`), so it is not for calls that change
anything. Still no string is closed, no bracket is added, and no text is read that could be cut
off: what is left out may only be what carries no meaning.
"""

from __future__ import annotations

import json
import re

from providers.lenient_json import (
    MAX_DEPTH,
    PYTHON_LITERALS,
    PYTHON_STRINGS,
    TRAILING_COMMAS,
    JsonProblem,
    StrictText,
    strict_string,
)

BAD_ESCAPES = "bad_escapes"
BARE_WORDS = "bare_words"
COMMENTS = "comments"
EXTRA_BRACKETS = "extra_brackets"
MISSING_COMMAS = "missing_commas"
NUMBER_NOTATION = "number_notation"
SURROUNDING_TEXT = "surrounding_text"
UNQUOTED_KEYS = "unquoted_keys"

MAX_CHARACTERS = 64 * 1024
"""Longer texts are not tried."""

_TOKEN = re.compile(
    r"""(?P<mark>[{}\[\]:,])
      | (?P<space>\s++)
      | (?P<text>"[^"\\\x00-\x1f]*+"(?!"))
      | (?P<value>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)
            (?=[\s}\],]))
      | (?P<word>(?!//|/\*|\#)[^\s{}\[\]:,"'“]++)
      | (?P<comment>//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/|\#[^\n]*+)
      | (?P<triple>\"{3}(?:[^"\\]|\\.|"(?!""))*+\"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*+'{3})
      | (?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|“[^”\\]*+”)
      | (?P<open>["'“/])
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK, _SPACE, _TEXT, _VALUE, _WORD, _COMMENT, _TRIPLE, _STRING = range(1, 9)
_WORDS, _QUOTED = (_VALUE, _WORD), (_TRIPLE, _STRING)
_NAME = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NEARLY_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>0|[1-9]\d*(?:_\d+)*)?(?:\.(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?"
)
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_NOTHING = frozenset({"undefined", "nil"})
_NOT_A_NUMBER = frozenset({"nan", "infinity", "-infinity", "+infinity", "inf", "-inf"})
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_AFTER = re.compile(r"[\s\]};]*+")


# What comes next. What may be followed by a missing comma or by more of a bare text comes last.
_FIRST_KEY, _KEY, _COLON, _FIRST_ITEM, _ITEM, _COMMA, _BARE = range(7)
_OPEN, _CLOSE, _NEXT, _THEN_VALUE = range(4)
_MARKS: tuple[dict[str, int], ...] = (
    {"}": _CLOSE},
    {"}": _CLOSE},
    {":": _THEN_VALUE},
    {"{": _OPEN, "[": _OPEN, "]": _CLOSE},
    {"{": _OPEN, "[": _OPEN, "]": _CLOSE},
    {"{": _OPEN, "[": _OPEN, "}": _CLOSE, "]": _CLOSE, ",": _NEXT},
    {"}": _CLOSE, "]": _CLOSE, ",": _NEXT},
)
"""What each mark does, by what is expected."""


class _NotReadable(Exception):
    pass


class _CutOff(Exception):
    pass


def tolerant_text(text: str, *, bare_words: bool) -> StrictText | JsonProblem:
    """Rewrite a text that holds one object in strict notation, or say that it cannot be done.

    Args:
        text: what is no JSON, neither as it stands nor in a mere difference of notation.
        bare_words: values without quotes become texts, and prose around the object is left out;
            only for what is checked against a schema afterwards.
    """
    if len(text) > MAX_CHARACTERS:
        return JsonProblem("not valid JSON")
    start = text.find("{")
    if start < 0 or (start > 0 and not bare_words):
        return JsonProblem("not valid JSON")
    reading = _Reading(text, start, bare_words=bare_words)
    try:
        return reading.rewritten()
    except _CutOff:
        return JsonProblem("the arguments end in the middle", unterminated=True)
    except _NotReadable:
        return JsonProblem("not valid JSON")


class _Reading:
    def __init__(self, text: str, start: int, *, bare_words: bool) -> None:
        self._text = text
        self._start = start
        self._bare_words = bare_words
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._repairs: set[str] = set()
        self._expect = _ITEM
        self._new_line = False
        self._bare_from = self._bare_to = 0

    def rewritten(self) -> StrictText:
        for token in _TOKEN.finditer(self._text, self._start):
            kind = token.lastindex
            if kind == _MARK:
                self._mark(token.group())
                if not self._open:
                    self._finish(token.end())
                    return StrictText("".join(self._pieces), tuple(sorted(self._repairs)))
            elif kind == _SPACE:
                self._new_line = self._new_line or "\n" in token.group()
                continue
            elif kind == _TEXT:
                self._string(token.group())
            elif kind in _WORDS:
                self._word(token)
            elif kind == _COMMENT:
                self._repairs.add(COMMENTS)
                self._new_line = True
                continue
            elif kind in _QUOTED:
                self._string(self._strict(token.group(), is_triple=kind == _TRIPLE))
            else:
                # A quote where no text can begin is a quote too many, not the end of the reply.
                raise _NotReadable if self._expect in (_COLON, _COMMA, _BARE) else _CutOff
            self._new_line = False
        raise _CutOff

    def _finish(self, end: int) -> None:
        if self._start > 0:
            self._repairs.add(SURROUNDING_TEXT)
        rest = self._text[end:]
        after = _AFTER.match(rest)
        if after is not None and after.end() == len(rest):
            if rest.strip():
                self._repairs.add(EXTRA_BRACKETS)
            return
        # Another object further on would make it a matter of choice which one is meant.
        if not self._bare_words or "{" in rest:
            raise _NotReadable
        self._repairs.add(SURROUNDING_TEXT)

    def _mark(self, mark: str) -> None:
        does = _MARKS[self._expect].get(mark)
        if self._expect == _BARE:
            self._end_bare()
        if does == _THEN_VALUE:
            self._expect = _ITEM
        elif does == _NEXT:
            self._expect = _KEY if self._open[-1] == "{" else _ITEM
        elif does == _OPEN:
            if self._expect == _COMMA:
                self._missing_comma(is_text=False)
            self._open.append(mark)
            if len(self._open) > MAX_DEPTH:
                raise _NotReadable
            self._expect = _FIRST_KEY if mark == "{" else _FIRST_ITEM
        elif does == _CLOSE:
            self._close(mark)
        else:
            raise _NotReadable
        self._pieces.append(mark)

    def _close(self, mark: str) -> None:
        if self._open.pop() != ("{" if mark == "}" else "["):
            raise _NotReadable
        if self._pieces[-1] == ",":
            self._repairs.add(TRAILING_COMMAS)
            self._pieces.pop()
        elif self._expect == _ITEM:
            raise _NotReadable
        self._expect = _COMMA

    def _missing_comma(self, *, is_text: bool, is_name: bool = False) -> None:
        """Go on as if there had been a comma, where nothing else can be meant."""
        if self._open[-1] == "{":
            if not is_text and not (is_name and self._new_line):
                raise _NotReadable
            self._expect = _KEY
        else:
            # Two texts next to each other may as well be one with quotes in it.
            if is_text and self._pieces[-1][-1] == '"' and not self._new_line:
                raise _NotReadable
            self._expect = _ITEM
        self._repairs.add(MISSING_COMMAS)
        self._pieces.append(",")

    def _string(self, strict: str) -> None:
        if self._expect == _COMMA:
            self._missing_comma(is_text=True)
        if self._expect <= _KEY:
            self._expect = _COLON
        elif self._expect <= _COLON or self._expect == _BARE:
            raise _NotReadable
        else:
            self._expect = _COMMA
        self._pieces.append(strict)

    def _word(self, token: re.Match[str]) -> None:
        if self._expect == _BARE:
            self._bare_to = token.end()
            return
        word = token.group()
        if self._expect == _COMMA:
            self._missing_comma(is_text=False, is_name=True)
        if self._expect <= _KEY:
            if not _NAME.fullmatch(word):
                raise _NotReadable
            self._repairs.add(UNQUOTED_KEYS)
            self._pieces.append(f'"{word}"')
            self._expect = _COLON
            return
        if self._expect == _COLON:
            raise _NotReadable
        plain = word if token.lastindex == _VALUE else self._plain(word)
        if plain is not None:
            self._pieces.append(plain)
            self._expect = _COMMA
        elif self._bare_words:
            self._bare_from, self._bare_to = token.span()
            self._expect = _BARE
        else:
            raise _NotReadable

    def _end_bare(self) -> None:
        self._repairs.add(BARE_WORDS)
        self._pieces.append(json.dumps(self._text[self._bare_from : self._bare_to]))
        self._expect = _COMMA

    def _strict(self, literal: str, *, is_triple: bool) -> str:
        if is_triple:
            self._repairs.add(PYTHON_STRINGS)
            literal = literal[0] + literal[3:-3] + literal[0]
            if literal[0] == "'":
                literal = '"' + literal[1:-1].replace('"', '\\"') + '"'
        elif literal[0] == "“":
            self._repairs.add(PYTHON_STRINGS)
            literal = f'"{literal[1:-1]}"'
        if "\\" in literal:
            literal = literal[0] + self._escapes(literal[1:-1]) + literal[0]
        if literal[0] == '"':
            literal = '"' + _unescaped_quotes(literal[1:-1]) + '"'
        strict = strict_string(literal, self._repairs)
        if strict is None:
            raise _NotReadable
        return strict

    def _escapes(self, body: str) -> str:
        """The text with each backslash that begins no escape made into one of its own."""
        named = bad = False

        def escape(match: re.Match[str]) -> str:
            nonlocal named, bad
            what = match.group(1)
            if what[0] in "\"'\\/":
                return match.group()
            if what[0] in "bfnrt" or len(what) > 1:
                named = True
                return match.group()
            if what < " ":
                raise _NotReadable
            bad = True
            return "\\\\" + what

        body = _ESCAPE.sub(escape, body)
        if bad:
            # Where both occur it is not clear of either what the writer took it for.
            if named:
                raise _NotReadable
            self._repairs.add(BAD_ESCAPES)
        return body

    def _plain(self, word: str) -> str | None:
        """The literal or number that a word stands for."""
        if word in ("true", "false", "null") or _NUMBER.fullmatch(word):
            return word
        lowered = word.lower()
        if lowered in _NOT_A_NUMBER:
            raise _NotReadable
        if lowered in _LITERALS or word in _NOTHING:
            self._repairs.add(PYTHON_LITERALS)
            return _LITERALS.get(lowered, "null")
        if _HEX.fullmatch(word):
            self._repairs.add(NUMBER_NOTATION)
            return str(int(word, 16))
        number = _NEARLY_NUMBER.fullmatch(word)
        if number is None or not (number["whole"] or number["part"]):
            return None
        self._repairs.add(NUMBER_NOTATION)
        sign = "-" if number["sign"] == "-" else ""
        whole = (number["whole"] or "0").replace("_", "")
        part = f".{number['part'] or '0'}" if number["part"] is not None else ""
        return f"{sign}{whole}{part}{number['power'] or ''}"


def _unescaped_quotes(body: str) -> str:
    """The text with the quotes in it escaped; there are some in texts of three quotes only."""
    return _BARE_QUOTE.sub(lambda match: match.group(1) or '\\"', body) if '"' in body else body


_BARE_QUOTE = re.compile(r'(\\.)|"', re.DOTALL)
