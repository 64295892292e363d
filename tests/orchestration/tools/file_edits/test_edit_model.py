"""Any sequence of writes, edits and reverts against a plain model: a dictionary of bytes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.vocabulary.tools import JsonObject
from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.file_edits.edit_log import RevertRefused
from orchestration.tools.tool import Tool, ToolFailure, ToolOutput
from tests.support.edit_bench import EditBench, edits_of

NAMES = st.sampled_from(["a", "b", "sub/c"])
ENDS = ["\n", "\r\n", "\r"]
MARKS = {
    b"": "utf-8",
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
    b"\xff\xfe\0\0": "utf-32-le",
}
WORDS = st.lists(st.sampled_from(["x", "y", "\u00e9", " ", "\u00a0", "\u2019"]), max_size=4).map(
    "".join
)


@st.composite
def some_bytes(draw: st.DrawFn) -> bytes:
    """A text in any encoding with one kind of line end or several, or bytes that are no text."""
    if draw(st.booleans()) and draw(st.booleans()):
        return draw(st.binary(max_size=12))
    mark = draw(st.sampled_from(sorted(MARKS)))
    ends = draw(st.lists(st.sampled_from(ENDS), min_size=1, max_size=3))
    lines = draw(st.lists(WORDS, max_size=5))
    text = "".join(line + ends[n % len(ends)] for n, line in enumerate(lines)) + draw(WORDS)
    return mark + text.encode(MARKS[mark])


def taken_apart(data: bytes) -> tuple[bytes, str, list[tuple[str, str]]]:
    """Mark, encoding, and each character with the bytes' spelling of it: a line end is one."""
    mark = next((m for m in sorted(MARKS, key=len, reverse=True) if m and data.startswith(m)), b"")
    raw = data[len(mark) :].decode(MARKS[mark])
    units: list[tuple[str, str]] = []
    at = 0
    while at < len(raw):
        if raw.startswith("\r\n", at):
            units.append(("\n", "\r\n"))
        else:
            units.append(("\n" if raw[at] == "\r" else raw[at], raw[at]))
        at += len(units[-1][1])
    return mark, MARKS[mark], units


class Edits(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.bench = EditBench(Path(self._folder.name) / "root")
        self.model: dict[str, bytes] = {}
        self.undoable: list[tuple[ToolOutput, str, bytes | None, bytes]] = []

    def teardown(self) -> None:
        self._folder.cleanup()

    @initialize(data=some_bytes())
    def begin(self, data: bytes) -> None:
        self.by_hand("a", data)

    @rule(name=NAMES, data=some_bytes())
    def by_hand(self, name: str, data: bytes) -> None:
        """A person saves a file, and the conversation reads it."""
        self.bench.put(name, data)
        self.bench.saw(name)
        self.model[name] = data

    @rule(name=NAMES, data=some_bytes(), content=WORDS)
    def behind_its_back(self, name: str, data: bytes, content: str) -> None:
        """A person saves a file and nobody reads it: it is not overwritten."""
        known = self.model.get(name)
        self.bench.put(name, data)
        self.model[name] = data
        if known is not None and known != data:
            output = self.bench.write(name, content + "never written")
            assert output.is_error
            assert self.bench.bytes_of(name) == data
        self.bench.saw(name)

    @rule(name=NAMES, lines=st.lists(WORDS, max_size=4), final=st.sampled_from(["", "\n"]))
    def write(self, name: str, lines: list[str], final: str) -> None:
        content = "\n".join(lines) + final
        output = self.called(WRITE, name, {"path": name, "content": content})
        if output.is_error:
            return
        before, after = self.model.get(name), self.bench.bytes_of(name)
        mark, _, units = taken_apart(after)
        text = "".join(character for character, _ in units)
        if before:
            old_mark, _, old = taken_apart(before)
            assert mark == old_mark
            if old:
                ended = old[-1][0] == "\n"
                wanted = (
                    content
                    if ended == content.endswith("\n") or not content
                    else (content + "\n" if ended else content.rstrip("\n"))
                )
                assert text == wanted
            kinds = {spelt for character, spelt in old if character == "\n"} or {"\n"}
            assert {spelt for character, spelt in units if character == "\n"} <= kinds | {"\r\n"}
        else:
            assert text == content + ("" if content.endswith("\n") or not content else "\n")
        self.keep(output, name, after)

    @rule(name=NAMES, data=st.data(), new=WORDS, every=st.booleans())
    def edit_inside_a_line(self, name: str, data: st.DataObject, new: str, every: bool) -> None:
        """A text without line ends that stands there: plain replacement of its bytes."""
        before = self.model.get(name)
        try:
            mark, encoding, units = taken_apart(before or b"")
        except UnicodeDecodeError:
            assert self.bench.edit(name, ("x", "y")).is_error
            return
        lines = "".join(character for character, _ in units).split("\n")
        line = data.draw(st.sampled_from(lines))
        if not line:
            return
        start = data.draw(st.integers(0, len(line) - 1))
        old = line[start : data.draw(st.integers(start + 1, len(line)))]
        edits = edits_of((old, new), every=every)
        output = self.called(EDIT, name, {"path": name, "edits": edits})
        text = "".join(character for character, _ in units)
        starts = [i for i in range(len(text)) if text.startswith(old, i)]
        if old == new or (len(starts) > 1 and not every):
            assert output.is_error
        if output.is_error:
            return
        raw = (before or b"")[len(mark) :].decode(encoding)
        expected = mark + raw.replace(old, new).encode(encoding)
        assert self.bench.bytes_of(name) == expected
        self.keep(output, name, expected)

    @rule(name=NAMES, data=st.data(), words=st.lists(WORDS, min_size=1, max_size=3))
    def edit_over_lines(self, name: str, data: st.DataObject, words: list[str]) -> None:
        """Any piece of the text: what is before and after it keeps its bytes."""
        before = self.model.get(name)
        try:
            mark, _, units = taken_apart(before or b"")
        except UnicodeDecodeError:
            return
        if not units:
            return
        start = data.draw(st.integers(0, len(units) - 1))
        end = data.draw(st.integers(start + 1, len(units)))
        old, new = "".join(c for c, _ in units[start:end]), "\n".join(words)
        text = "".join(character for character, _ in units)
        output = self.called(EDIT, name, {"path": name, "edits": edits_of((old, new))})
        if output.is_error:
            return
        after = self.bench.bytes_of(name)
        assert text.find(old, text.find(old) + 1) < 0
        new_mark, _, now = taken_apart(after)
        assert new_mark == mark
        assert "".join(c for c, _ in now) == text[:start] + new + text[end:]
        assert now[:start] == units[:start]
        tail, was = now[start + len(new) :], units[end:]
        # An LF that comes to stand right after a CR has to become CRLF.
        assert tail == was or (tail[1:] == was[1:] and tail[:1] == [("\n", "\r\n")])
        self.keep(output, name, after)

    @rule(name=NAMES, old=WORDS.filter(bool), new=WORDS)
    def edit_anything(self, name: str, old: str, new: str) -> None:
        """Whatever an edit comes to, it is done as shown or not at all."""
        output = self.called(EDIT, name, {"path": name, "edits": edits_of((old, new))})
        if not output.is_error:
            self.keep(output, name, self.bench.bytes_of(name))

    @precondition(lambda self: self.undoable)
    @rule(data=st.data())
    def revert(self, data: st.DataObject) -> None:
        """What was there comes back, unless it would take something away that came later."""
        index = data.draw(st.integers(0, len(self.undoable) - 1))
        output, name, before, after = self.undoable.pop(index)
        now = self.model.get(name)
        try:
            self.bench.revert(output)
        except RevertRefused:
            assert now not in (before, after)
            return
        assert now in (before, after)
        if before is None:
            self.model.pop(name, None)
        else:
            self.model[name] = before
            self.bench.saw(name)

    def called(self, tool: Tool, name: str, arguments: JsonObject) -> ToolOutput:
        """A call whose preview is looked at first; a refusal leaves every byte."""
        problem = None
        diff = ""
        try:
            found = self.bench.inspect(tool, **arguments)
            assert found.preview is not None
            diff = found.preview.files[0].diff
        except ToolFailure as failure:
            problem = str(failure)
        assert self.bench.files() == self.model
        output = self.bench.run(tool, **arguments)
        assert output.is_error == (problem is not None)
        if problem is None:
            assert diff in output.content
        else:
            assert output.content == problem
            assert self.bench.files() == self.model
        return output

    def keep(self, output: ToolOutput, name: str, after: bytes) -> None:
        self.undoable.append((output, name, self.model.get(name), after))
        self.model[name] = after

    @invariant()
    def the_folder_is_as_the_model(self) -> None:
        assert self.bench.files() == self.model


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=40, stateful_step_count=15)
