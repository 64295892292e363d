"""A text file taken apart so that an edit changes the bytes it names and no others."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from orchestration.tools.file_edits.line_alignment import equal_runs
from orchestration.tools.file_edits.line_split import lines_of, lines_with_ends

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END = re.compile(r"\r\n|\n|\r")


class NotText(Exception):
    """Bytes that are no text, or a text that its file's encoding cannot hold; says why."""


class Splice(Struct, frozen=True):
    """Put `new` where the characters from `start` to `end` of the normalised text are."""

    start: int
    end: int
    new: str


class LineSplice(Struct, frozen=True):
    """Put `new` where the lines `first` to `last` are, counted from 1, both included.

    With `last` one less than `first` nothing is taken away, and `new` comes before `first`.
    """

    first: int
    last: int
    new: tuple[str, ...]


class FileText(Struct, frozen=True):
    r"""The text of a file, and what of its bytes the text does not say.

    Attributes:
        text: the whole text with LF line ends, without the byte order mark.
        ends: how each line end of `text` is written in the file: `\n`, `\r\n` or `\r`.
        encoding: Python's name of the encoding.
        mark: the byte order mark, empty where there is none.
    """

    text: str
    ends: tuple[str, ...] = ()
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def decode(cls, data: bytes) -> FileText:
        """Take a file's bytes apart: UTF-8, or UTF-16 or UTF-32 with a byte order mark.

        Raises:
            NotText: they do not decode, or hold a NUL character.
        """
        mark, encoding = next(
            ((m, name) for m, name in _MARKS if data.startswith(m)), (b"", "utf-8")
        )
        try:
            raw = data[len(mark) :].decode(encoding)
        except UnicodeDecodeError as error:
            at = len(mark) + error.start
            raise NotText(
                f"is not {encoding.upper()} text (byte {at} of {len(data)} does not decode)"
            ) from None
        if "\0" in raw:
            raise NotText(f"is not text (a NUL at character {raw.index(chr(0)) + 1})")
        return cls(*_normalised(raw), encoding, mark)

    @classmethod
    def new(cls, text: str) -> FileText:
        """The text of a file that is not there yet: UTF-8, with the line ends the text has."""
        return cls(*_normalised(text))

    def encode(self) -> bytes:
        """Put the bytes together again.

        Raises:
            NotText: the text has a NUL, or characters that no encoding has: halves of pairs.
        """
        if "\0" in self.text:
            raise NotText("cannot hold a NUL character")
        try:
            return self.mark + self._with_own_ends().encode(self.encoding)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise NotText(
                f"cannot hold U+{ord(character):04X}, which is half of a character"
            ) from None

    def _with_own_ends(self) -> str:
        kinds = set(self.ends)
        if not kinds or kinds == {"\n"}:
            return self.text
        if len(kinds) == 1:
            return self.text.replace("\n", kinds.pop())
        lines = lines_of(self.text)
        written = [line + end for line, end in zip(lines, self.ends, strict=False)]
        return "".join([*written, lines[-1]])

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends; a line end at the end of the text begins no further one."""
        lines = lines_of(self.text)
        if not lines[-1]:
            lines.pop()
        return tuple(lines)

    @property
    def has_final_newline(self) -> bool:
        """Whether the last line has an end; an empty text has no lines and `False`."""
        return self.text.endswith("\n")

    @property
    def main_end(self) -> str:
        """The line end that most lines have, LF where there are none."""
        return max(("\n", "\r\n", "\r"), key=self.ends.count)

    def spliced(self, splices: Iterable[Splice]) -> FileText:
        """Replace parts by character; they must be in order and must not overlap.

        What a splice leaves as it was at its edges is not touched. A new line end is written as the
        one it replaces, else as those beside it.
        """
        pieces: list[str] = []
        ends: list[str] = []
        at = seen = 0
        for splice in splices:
            start, end, new = self._core(splice)
            if start < at or end > len(self.text):
                raise ValueError("splices overlap or leave the text")
            pieces += (self.text[at:start], new)
            before = seen + self.text.count("\n", at, start)
            inside = self.text.count("\n", start, end)
            ends += self.ends[seen:before]
            if inside and "\n" in new:
                ends += self._ends_of(self.text[start:end], new, before, None)
            else:
                ends += self._ends_for(new.count("\n"), before, inside)
            at, seen = end, before + inside
        pieces.append(self.text[at:])
        ends += self.ends[seen:]
        return self._with("".join(pieces), ends)

    def rewritten(self, text: str) -> FileText:
        """The file with another text: lines that stay keep their ends, new ones get the main one.

        Line ends of the new text are taken as line ends, however they are written.
        """
        text = _normalised(text)[0]
        return self._with(text, self._ends_of(self.text, text, 0, self.main_end))

    def _ends_of(self, old_text: str, text: str, before: int, spare: str | None) -> list[str]:
        """Ends for the line breaks of a text in the place of an old one.

        Args:
            old_text: a part of this text.
            text: what takes its place.
            before: how many line breaks stand before that part.
            spare: the end of breaks that replace none, without it as those beside them.
        """
        old, new = lines_with_ends(old_text), lines_with_ends(text)
        ends: list[str] = []
        a = b = 0
        for i, j, length in [*equal_runs(old, new), (len(old), len(new), 0)]:
            breaks = sum(line.endswith("\n") for line in new[b:j])
            inside = sum(line.endswith("\n") for line in old[a:i])
            ends += self._ends_for(breaks, before + a, inside, spare)
            kept = sum(line.endswith("\n") for line in old[i : i + length])
            ends += self.ends[before + i : before + i + kept]
            a, b = i + length, j + length
        return ends

    def _core(self, splice: Splice) -> tuple[int, int, str]:
        """The splice without what it would put back as it was."""
        start, end, new = splice.start, splice.end, _normalised(splice.new)[0]
        old = self.text[start:end]
        head = _shared(old, new)
        tail = _shared(old[head:][::-1], new[head:][::-1])
        return start + head, end - tail, new[head : len(new) - tail]

    def _ends_for(
        self, count: int, before: int, inside: int, spare: str | None = None
    ) -> Sequence[str]:
        """Ends for `count` line breaks in the place of `inside` ones after the first `before`.

        Those that replace none are written as `spare`, or without it as those beside them.
        """
        if count <= inside:
            return self.ends[before : before + count]
        replaced = self.ends[before : before + inside]
        if spare is not None:
            model = spare
        elif inside:
            model = replaced[-1]
        elif before < len(self.ends):
            model = self.ends[before]
        else:
            model = self.ends[-1] if self.ends else "\n"
        return (*replaced, *[model] * (count - inside))

    def _with(self, text: str, ends: list[str]) -> FileText:
        """The file with this text; a CR and an LF that came to stand together stay two ends."""
        if "\r" in ends and "\n" in ends:
            lines = lines_of(text)
            for index in range(1, len(ends)):
                if not lines[index] and ends[index - 1] == "\r" and ends[index] == "\n":
                    ends[index] = "\r\n"
        return FileText(text, tuple(ends), self.encoding, self.mark)


def normalise(text: str) -> str:
    """The text with LF line ends."""
    return _normalised(text)[0]


def _normalised(raw: str) -> tuple[str, tuple[str, ...]]:
    if "\r" not in raw:
        return raw, ("\n",) * raw.count("\n")
    if raw.count("\r\n") == raw.count("\r") == raw.count("\n"):
        ends: tuple[str, ...] = ("\r\n",) * raw.count("\n")
    else:
        ends = tuple([match[0] for match in _LINE_END.finditer(raw)])
    return raw.replace("\r\n", "\n").replace("\r", "\n"), ends


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
