from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from engine.vocabulary.tools import ReadRecord, ToolConcurrency, ToolTier
from orchestration.tools.builtin.find import FIND
from orchestration.tools.builtin.ls import LS
from orchestration.tools.builtin.read import READ
from orchestration.tools.builtin.search import SEARCH
from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.tool import FailureKind, Tool, ToolFailure, ToolOutput
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


def test_a_line_that_is_longer_than_any_text_is_refused(reader: Reader) -> None:
    (reader.root / "wide.txt").write_bytes(b"short\n" + b"y" * (11 << 20))
    failure = reader.failure("wide.txt")
    assert failure.kind is FailureKind.FAILED
    assert "'wide.txt' has a line of more than" in str(failure)


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


def test_a_name_that_is_no_text_can_still_be_told(reader: Reader) -> None:
    (Path(os.fsdecode(os.fsencode(reader.root) + b"/bad\xff"))).mkdir()
    assert reader.lines(".") == ["¶. (directory)", "bad�/", "ten.txt"]


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


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"ab\xff\xfe", "not UTF-8 text (byte 2 of 4"),
        ("\ufeffab\n".encode() + b"\xe9", "not UTF-8 text (byte 6 of 7"),
        (("line\n" * 40_000).encode() + "é".encode("latin-1"), "byte 200000 of 200001"),
        ("text".encode("utf-16"), "UTF-16"),
        ("text".encode("utf-16-be"), "binary"),
        (b"\x7fELF\x00\x01", "binary file (byte 4 of 6"),
        (b"\xed\xa0\x80", "not UTF-8 text (byte 0 of 3"),
    ],
)
@pytest.mark.parametrize("selector", ["", ":raw", ":1-2"])
def test_what_is_not_utf8_is_refused(reader: Reader, data: bytes, why: str, selector: str) -> None:
    (reader.root / "bin").write_bytes(data)
    failure = reader.failure(f"bin{selector}")
    assert failure.kind is FailureKind.FAILED
    assert why in str(failure)


def test_a_pipe_is_refused_and_not_waited_for(reader: Reader) -> None:
    os.mkfifo(reader.root / "pipe")
    assert reader.failure("pipe").kind is FailureKind.FAILED


def test_an_artifact_is_read_whole_and_by_lines(reader: Reader) -> None:
    text = "".join(f"row {n} ä\n" for n in range(1, 9001))
    stored = reader.context.services.artifacts.save(text, "bash")
    address = f"artifact:{stored.id}"
    whole = reader.output(f"{address}:raw")
    assert whole.whole
    assert whole.content == text
    assert reader.lines(f"{address}:8999-")[1:] == ["8999:row 8999 ä", "9000:row 9000 ä"]
    assert reader.output(f"{address}:raw:2-3").content == "row 2 ä\nrow 3 ä"
    assert reader.output(address).effects.reads == ()


def test_an_artifact_comes_in_pages(reader: Reader) -> None:
    text = "".join(f"{n} {'ö' * 500}\n" for n in range(1, 201))
    address = f"artifact:{reader.context.services.artifacts.save(text, 'bash').id}"
    page = reader.output(address)
    *shown, notice = page.content.split("\n")[1:]
    assert len(page.content.encode()) <= 51_000
    assert 40 <= len(shown) < 50
    assert notice == f"[{len(shown)} of 200 lines; read {address}:{len(shown) + 1}- for the rest]"
    assert all(line.endswith("ö" * 500) for line in shown)


@pytest.mark.parametrize("name", ["1", "nothing", "00000000-0000-4000-8000-000000000000", "../x"])
def test_an_unknown_artifact_lived_only_for_its_run(reader: Reader, name: str) -> None:
    failure = reader.failure(f"artifact:{name}")
    assert failure.kind is FailureKind.NOT_FOUND
    assert "only as long as their run" in str(failure)


def test_the_plan_is_read_as_it_stands(reader: Reader) -> None:
    missing = reader.failure("run://PLAN.md")
    assert missing.kind is FailureKind.NOT_FOUND
    reader.context.services.plan.write("# Plan\n\n1. look\n")
    output = reader.output("run://PLAN.md:3")
    assert output.content.split("\n")[1:] == ["3:1. look"]
    assert output.effects.reads == ()
    assert output.effects.read_call_paths == ("run://PLAN.md",)
    assert not list(reader.root.glob("**/PLAN.md"))


def test_a_sealed_plan_is_no_draft_any_more(reader: Reader) -> None:
    reader.context.services.plan.write("# Plan\n")
    sealed = reader.context.services.plan.seal()
    assert reader.failure("run://PLAN.md").kind is FailureKind.FAILED
    assert reader.output(f"artifact:{sealed.id}:raw").content == "# Plan\n"


@pytest.mark.parametrize("selector", ["", ":2", ":raw"])
def test_what_was_read_counts_as_seen(reader: Reader, selector: str) -> None:
    data = (reader.root / "ten.txt").read_bytes()
    files = reader.context.services.files
    real = (reader.root / "ten.txt").resolve()
    assert files.last_seen("n", real) is None
    reader.output(f"ten.txt{selector}")
    assert files.last_seen("n", real) == digest_of(data)
    assert files.last_seen("another", real) is None


def test_each_conversation_sees_for_itself(reader: Reader) -> None:
    context = msgspec.structs.replace(reader.context, caller_id="n/helper#1")
    asyncio.run(LS.run({"path": "ten.txt"}, context))  # type: ignore[arg-type]
    files = reader.context.services.files
    real = (reader.root / "ten.txt").resolve()
    assert files.last_seen("n/helper#1", real) is not None
    assert files.last_seen("n", real) is None


def test_what_was_refused_does_not_count_as_seen(reader: Reader) -> None:
    (reader.root / "bin").write_bytes(b"ab\0")
    reader.failure("bin")
    real = (reader.root / "bin").resolve()
    assert reader.context.services.files.last_seen("n", real) is None


def test_ls_is_read_under_another_name(reader: Reader) -> None:
    (reader.root / "sub").mkdir()
    answer: ToolOutput = asyncio.run(LS.run({"path": "."}, reader.context))  # type: ignore[arg-type]
    assert answer == reader.output(".")
    assert LS.definition.name == "ls"
    assert answer.content.split("\n") == ["¶. (directory)", "sub/", "ten.txt"]


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


@pytest.mark.parametrize("tool", [READ, LS, SEARCH, FIND], ids=lambda t: t.definition.name)
def test_the_schemas_describe_each_property_and_take_an_intent(tool: Tool) -> None:
    schema = tool.definition.input_schema
    assert schema["additionalProperties"] is False
    assert all(prop["description"] for prop in schema["properties"].values())
    assert schema["properties"]["_i"]["type"] == ["string", "null"]
    assert "_i" not in schema["required"]
    assert tool.definition.tier is ToolTier.READ
    assert tool.definition.concurrency is ToolConcurrency.SHARED


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", True),
        (".", True),
        ("https://example.org/", False),
        (" HTTP://example.org", False),
        ("run://PLAN.md", False),
        ("artifact:x", False),
    ],
)
def test_only_what_lies_in_files_is_cached(path: str, expected: bool) -> None:
    assert READ.is_cacheable is not None
    assert READ.is_cacheable({"path": path}) is expected


def test_too_much_at_once_is_refused_with_the_way_out(reader: Reader) -> None:
    (reader.root / "huge.txt").write_text(("x" * 99 + "\n") * 45_000)
    for selector in (":raw", ":1-:raw", ":1-"):
        failure = reader.failure(f"huge.txt{selector}")
        assert failure.kind is FailureKind.INVALID_ARGS
        assert "ask for fewer lines" in str(failure)
    assert len(reader.lines("huge.txt:40001-40010")) == 11


def test_names_with_blanks_at_their_ends_are_found_as_they_are(reader: Reader) -> None:
    (reader.root / "odd ").write_text("odd")
    assert reader.lines("odd ")[1:] == ["1:odd"]
    assert reader.lines(" ten.txt:1\n")[1:] == ["1:line 1"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_line(reader: Reader, end: str) -> None:
    (reader.root / "ends.txt").write_bytes(end.join(["one", "two", "", "four"]).encode())
    assert reader.lines("ends.txt")[1:] == ["1:one", "2:two", "3:", "4:four"]


def test_a_line_without_end_does_not_hold_up_the_outline(reader: Reader) -> None:
    (reader.root / "min.js").write_text("function f(){}\n" + "/*" * 200_000 + "\nclass A {}\n")
    assert reader.lines("min.js")[1:-1] == ["1:function f(){}", "3:class A {}"]
