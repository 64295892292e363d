from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from engine.vocabulary.tools import ReadRecord
from orchestration.tools.builtin.read import DEFINITION, READ
from orchestration.tools.tool import FailureKind, ToolFailure, ToolOutput
from tests.support.tool_bench import context_in, services


class Reader:
    def __init__(self, root: Path, handoffs: dict[tuple[str, str], str] | None = None) -> None:
        self.root = root
        known = handoffs or {}
        self.context = context_in(
            root, services=services(root, read_handoff=lambda a, b: known.get((a, b)))
        )

    def output(self, path: str) -> ToolOutput:
        return asyncio.run(READ.run({"path": path}, self.context))  # type: ignore[arg-type]

    def lines(self, path: str) -> list[str]:
        return self.output(path).content.split("\n")

    def failure(self, path: str) -> ToolFailure:
        with pytest.raises(ToolFailure) as caught:
            self.output(path)
        return caught.value


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    (tmp_path / "ten.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    return Reader(tmp_path)


def test_a_text_file_is_numbered_under_a_tagged_header(reader: Reader) -> None:
    header, *body = reader.lines("ten.txt")
    assert header.startswith("¶ten.txt#")
    assert len(header.split("#")[1]) == 4
    assert body == [f"{n}:line {n}" for n in range(1, 11)]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("3", ["3:line 3"]),
        ("3-4", ["3:line 3", "4:line 4"]),
        ("9-", ["9:line 9", "10:line 10"]),
        ("2+2", ["2:line 2", "3:line 3"]),
        ("5-2", ["5:line 5"]),
        ("8-99", ["8:line 8", "9:line 9", "10:line 10"]),
        ("9,1", ["1:line 1", "…", "9:line 9"]),
        ("1-2,3", ["1:line 1", "2:line 2", "3:line 3"]),
        ("50", ["[no such lines: there are 10]"]),
    ],
)
def test_selected_lines(reader: Reader, selector: str, expected: list[str]) -> None:
    assert reader.lines(f"ten.txt:{selector}")[1:] == expected


@pytest.mark.parametrize("selector", ["2-3:raw", "raw:2-3"])
def test_a_raw_range_is_bare_text(reader: Reader, selector: str) -> None:
    assert reader.output(f"ten.txt:{selector}").content == "line 2\nline 3"


def test_raw_gives_the_text_unchanged(reader: Reader) -> None:
    (reader.root / "crlf.txt").write_bytes("\ufeffa \r\nb".encode())
    assert reader.output("crlf.txt:raw").content == "\ufeffa \r\nb"
    assert reader.lines("crlf.txt")[1:] == ["1:a ", "2:b"]


def test_a_suffix_that_is_no_selector_belongs_to_the_path(reader: Reader) -> None:
    (reader.root / "odd:name").write_text("x")
    (reader.root / "odd:7").write_text("seven")
    assert reader.lines("odd:name")[1:] == ["1:x"]
    assert reader.lines("odd:7")[1:] == ["1:seven"]
    assert "'ten.txt:0'" in str(reader.failure("ten.txt:0"))


def test_a_long_file_is_cut_with_the_way_on(reader: Reader) -> None:
    (reader.root / "long.txt").write_text("x\n" * 3005)
    lines = reader.lines("long.txt")
    assert lines[3000] == "3000:x"
    assert lines[3001:] == ["[3000 of 3005 lines; read long.txt:3001- for the rest]"]
    assert reader.lines("long.txt:3001-")[1:] == [f"{n}:x" for n in range(3001, 3006)]


def test_a_long_line_is_clipped(reader: Reader) -> None:
    (reader.root / "wide.txt").write_text("y" * 2500)
    assert reader.lines("wide.txt")[1] == "1:" + "y" * 2000 + "…"


def test_code_is_shown_as_an_outline(reader: Reader) -> None:
    (reader.root / "a.py").write_text("import os\n\nclass A:\n    def f(self):\n        return 1\n")
    output = reader.output("a.py")
    assert output.content.split("\n")[1:3] == ["3:class A:", "4:    def f(self):"]
    assert "a.py:raw" in output.content
    assert output.effects.reads == (ReadRecord("a.py", "3:class A:\n4:    def f(self):"),)


def test_braces_decide_what_an_outline_shows(reader: Reader) -> None:
    (reader.root / "a.rs").write_text(
        'pub struct S { a: u8 }\nimpl S {\n    pub fn f() {\n        let s = "}";\n'
        "        fn inner() {}\n    }\n    // fn no\n    fn g() {}\n}\nfn h() {}\n"
    )
    body = reader.lines("a.rs")[1:-1]
    assert [line.split(":")[0] for line in body] == ["1", "2", "3", "8", "10"]


def test_code_without_declarations_is_numbered(reader: Reader) -> None:
    (reader.root / "b.py").write_text("x = 1\n")
    assert reader.lines("b.py")[1:] == ["1:x = 1"]
    assert reader.output("b.py").effects.reads == (ReadRecord("b.py"),)


def test_a_selector_records_no_outline(reader: Reader) -> None:
    (reader.root / "a.py").write_text("def f(): ...\n")
    effects = reader.output("a.py:1").effects
    assert effects.reads == (ReadRecord("a.py"),)
    assert effects.read_call_paths == ("a.py",)


def test_a_text_file_never_gets_an_outline(reader: Reader) -> None:
    (reader.root / "a.md").write_text("class A\n")
    assert reader.lines("a.md")[1:] == ["1:class A"]


def test_the_tag_ignores_line_ends_and_trailing_blanks_only(reader: Reader) -> None:
    def tag_of(data: bytes) -> str:
        (reader.root / "t.txt").write_bytes(data)
        return reader.lines("t.txt")[0]

    assert tag_of(b"a\nb\n") == tag_of(b"a  \r\nb\t\r\n")
    assert tag_of(b"a\nb\n") != tag_of(b"a\nc\n")


def test_a_folder_is_listed_sorted_and_shallow(reader: Reader) -> None:
    root = reader.root
    (root / "src" / "deep" / "er").mkdir(parents=True)
    (root / "src" / "deep" / "er" / "x").write_text("")
    (root / ".hidden").write_text("")
    (root / "build").mkdir()
    (root / "build" / "out").write_text("")
    (root / "src" / "a.log").write_text("")
    (root / "src" / "keep.log").write_text("")
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "src" / ".gitignore").write_text("!keep.log\n")
    assert reader.lines(".") == [
        "¶. (directory)",
        "src/",
        "src/deep/",
        "src/keep.log",
        "ten.txt",
    ]
    assert reader.lines("src")[1:] == ["deep/", "deep/er/", "keep.log"]
    assert reader.lines("build") == ["¶build (directory)", "out"]


def test_a_full_folder_is_cut(reader: Reader) -> None:
    (reader.root / "many").mkdir()
    for n in range(205):
        (reader.root / "many" / f"{n:03}").write_text("")
    lines = reader.lines("many")
    assert len(lines) == 202
    assert lines[-1].startswith("[more than 200 entries")


def test_an_empty_folder_and_an_empty_file_say_so(reader: Reader) -> None:
    (reader.root / "none").mkdir()
    (reader.root / "nil.txt").write_text("")
    assert reader.lines("none")[1].startswith("[empty")
    assert reader.lines("nil.txt")[1] == "[empty]"


def test_a_folder_takes_no_selector(reader: Reader) -> None:
    (reader.root / "d").mkdir()
    assert reader.failure("d:1-2").kind is FailureKind.INVALID_ARGS


def test_a_missing_file_is_not_found(reader: Reader) -> None:
    failure = reader.failure("nothing.txt")
    assert failure.kind is FailureKind.NOT_FOUND
    assert str(failure).startswith("[not_found] there is no 'nothing.txt' - ")


@pytest.mark.parametrize("path", ["../x", "/etc/hostname", "out/x"])
def test_a_path_that_leaves_is_refused(reader: Reader, path: str) -> None:
    (reader.root / "out").symlink_to(reader.root.parent)
    failure = reader.failure(path)
    assert failure.kind is FailureKind.PERMISSION_DENIED
    assert f"'{path}'" in str(failure)


def test_what_is_not_utf8_is_refused(reader: Reader) -> None:
    (reader.root / "bin").write_bytes(b"ab\xff\xfe")
    failure = reader.failure("bin")
    assert failure.kind is FailureKind.FAILED
    assert "byte 2" in str(failure)


def test_a_pipe_is_refused_and_not_waited_for(reader: Reader) -> None:
    os.mkfifo(reader.root / "pipe")
    assert reader.failure("pipe").kind is FailureKind.FAILED


@pytest.mark.parametrize("path", ["https://example.org/x", "artifact:1"])
def test_addresses_that_are_no_files_are_refused(reader: Reader, path: str) -> None:
    assert reader.failure(path).kind is FailureKind.INVALID_ARGS


def test_a_handoff_document_is_read_by_its_address(tmp_path: Path) -> None:
    reader = Reader(tmp_path, {("idea", "HANDOFF.md"): "# Handoff\n\n## Summary\nok\n"})
    output = reader.output("run://handoffs/idea/HANDOFF.md:3-")
    assert output.content.split("\n")[1:] == ["3:## Summary", "4:ok"]
    assert output.effects.reads == ()
    assert output.effects.read_call_paths == ("run://handoffs/idea/HANDOFF.md",)


@pytest.mark.parametrize(
    "address",
    [
        "run://handoffs/other/HANDOFF.md",
        "run://handoffs/idea/secret",
        "run://handoffs/a/b/HANDOFF.md",
    ],
)
def test_an_unknown_document_is_not_found(tmp_path: Path, address: str) -> None:
    reader = Reader(tmp_path, {("idea", "HANDOFF.md"): "x"})
    assert reader.failure(address).kind is FailureKind.NOT_FOUND


def test_the_schema_describes_each_property_and_takes_an_intent() -> None:
    schema = DEFINITION.input_schema
    assert schema["additionalProperties"] is False
    assert all(prop["description"] for prop in schema["properties"].values())
    assert schema["properties"]["_i"]["type"] == ["string", "null"]
