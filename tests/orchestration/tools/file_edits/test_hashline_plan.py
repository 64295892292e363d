"""A hash-line edit changes the version that its tag names, and no file that others changed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.file_edits.edit_log import EditLog
from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.hashline_plan import hashline_paths
from orchestration.tools.text_view import show, tag
from orchestration.tools.tool import ToolContext, ToolOutput
from tests.support.tool_bench import context_in
from tests.support.tool_calls import inspect_tool, run_tool


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    (tmp_path / "project").mkdir()
    return context_in(tmp_path / "project")


def written(context: ToolContext, data: bytes, name: str = "f", *, seen: bool = False) -> str:
    """Write the file and give its tag; where it is `seen`, the conversation has read it."""
    path = context.workspace.root / name
    path.write_bytes(data)
    if seen:
        context.services.files.saw(context.caller_id, path, data)
    return tag(FileText.decode(data).text)


def holds(context: ToolContext, name: str = "f") -> bytes:
    return (context.workspace.root / name).read_bytes()


def run(context: ToolContext, text: str) -> ToolOutput:
    return run_tool(EDIT, context, input=text)


def refused(context: ToolContext, text: str) -> str:
    output = run(context, text)
    assert output.is_error
    assert not output.effects.file_changes
    return output.content


def test_the_tag_that_read_prints_is_the_one_that_edits_name(context: ToolContext) -> None:
    data = b"\xef\xbb\xbfa  \r\nb\rc"
    written(context, data)
    header = show("f", data).content.split("\n")[0]
    output = run(context, f"{header}\nreplace 2:\n+B")
    assert not output.is_error
    assert holds(context) == b"\xef\xbb\xbfa  \r\nB\rc"


def test_a_matching_tag_is_applied_in_either_case_and_the_new_one_is_told(
    context: ToolContext,
) -> None:
    name = written(context, b"a\nb\nc\n", seen=True)
    output = run(context, f"¶f#{name.lower()}\nreplace 2..2:\n+B\ninsert tail:\n+d")
    assert not output.is_error
    assert holds(context) == b"a\nB\nc\nd\n"
    assert f"¶f#{tag('a' + chr(10) + 'B' + chr(10) + 'c' + chr(10) + 'd' + chr(10))}" in (
        output.content
    )
    assert "-2|b\n+2|B" in output.content


def test_an_edit_can_go_on_with_the_tag_it_got(context: ToolContext) -> None:
    name = written(context, b"a\nb\n")
    first = run(context, f"¶f#{name}\ndelete 1")
    header = next(line for line in first.content.split("\n") if line.startswith("¶"))
    assert not run(context, f"{header}\nreplace 1:\n+B").is_error
    assert holds(context) == b"B\n"


def test_an_edit_can_be_previewed_and_undone(context: ToolContext) -> None:
    text = f"¶f#{written(context, b'a')}\ninsert tail:\n+b"
    preview = inspect_tool(EDIT, context, input=text).preview
    assert preview is not None
    assert holds(context) == b"a"
    output = run(context, text)
    assert preview.files[0].diff in output.content
    assert output.batch is not None
    EditLog(context.services.edits).revert(output.batch.batch_id, context.workspace)
    assert holds(context) == b"a"


def test_a_tag_that_nobody_knows_is_refused_with_the_present_one(context: ToolContext) -> None:
    name = written(context, b"a\nb\n", seen=True)
    content = refused(context, "¶f#0BAD\ndelete 1")
    assert "'f' with the tag 0BAD is not a version that you have seen" in content
    assert f"¶f#{name}\n1:a\n2:b" in content


def test_a_refusal_shows_a_long_file_around_the_lines_named(context: ToolContext) -> None:
    written(context, "".join(f"line {i}\n" for i in range(1, 101)).encode())
    content = refused(context, "¶f#0BAD\nreplace 50..52:\n+x\ninsert after 99:\n+y")
    shown = content.split("\n")[2:]
    assert shown == [
        "…",
        *(f"{i}:line {i}" for i in range(48, 55)),
        "…",
        *(f"{i}:line {i}" for i in range(97, 101)),
    ]


def test_a_file_that_others_changed_is_left_alone_and_shown(context: ToolContext) -> None:
    name = written(context, b"a\nb\nc\nd\ne\n", seen=True)
    now = written(context, b"new\na\nb\nc\nd\ne\n")
    content = refused(context, f"¶f#{name}\nreplace 3:\n+C\ninsert head:\n+top")
    assert "'f' has changed since you last read it, so nothing was written" in content
    assert f"¶f#{now}\n1:new\n2:a" in content
    assert holds(context) == b"new\na\nb\nc\nd\ne\n"
    # The refusal showed the present text; whoever names its tag knows it.
    assert not run(context, f"¶f#{now}\nreplace 4:\n+C").is_error
    assert holds(context) == b"new\na\nb\nC\nd\ne\n"


def test_not_even_new_lines_are_put_at_the_ends_of_what_others_changed(
    context: ToolContext,
) -> None:
    written(context, b"a\n", seen=True)
    written(context, b"b\n")
    content = refused(context, "¶f#0BAD\ninsert tail:\n+z\ninsert head:\n+top")
    assert "has changed since you last read it" in content
    assert holds(context) == b"b\n"


def test_one_file_that_others_changed_holds_back_the_whole_edit(context: ToolContext) -> None:
    one, two = written(context, b"a\n", "one"), written(context, b"b\n", "two", seen=True)
    written(context, b"theirs\n", "two")
    text = f"¶one#{one}\nreplace 1:\n+A\n¶two#{two}\nreplace 1:\n+B"
    assert "'two' has changed since you last read it" in refused(context, text)
    assert (holds(context, "one"), holds(context, "two")) == (b"a\n", b"theirs\n")


def test_a_tag_from_before_ones_own_edit_is_carried_over(context: ToolContext) -> None:
    name = written(context, b"a\nb\nc\nd\ne\n", seen=True)
    assert not run(context, f"¶f#{name}\ninsert head:\n+new").is_error
    output = run(context, f"¶f#{name}\nreplace 3:\n+C\ninsert head:\n+top")
    assert not output.is_error
    assert holds(context) == b"top\nnew\na\nb\nC\nd\ne\n"
    assert "had changed since the version" in output.content


def test_a_tag_from_before_a_change_that_was_read_is_carried_over(context: ToolContext) -> None:
    name = written(context, b"a\nb\nc\n", seen=True)
    written(context, b"new\na\nb\nc\n", seen=True)
    assert not run(context, f"¶f#{name}\nreplace 2:\n+B").is_error
    assert holds(context) == b"new\na\nB\nc\n"


def test_a_tag_from_before_ones_own_edit_is_refused_where_the_place_changed(
    context: ToolContext,
) -> None:
    name = written(context, b"a\nb\nc\nd\ne\n", seen=True)
    assert not run(context, f"¶f#{name}\nreplace 3:\n+mine").is_error
    content = refused(context, f"¶f#{name}\ndelete 1\nreplace 3:\n+C")
    assert "has changed since, and 'replace 3:' is where it did" in content
    assert f"¶f#{tag(chr(10).join(['a', 'b', 'mine', 'd', 'e', '']))}" in content
    assert "3:mine" in content
    assert holds(context) == b"a\nb\nmine\nd\ne\n"


def test_a_version_that_only_another_conversation_read_is_not_carried_over(
    context: ToolContext,
) -> None:
    name = written(context, b"a\nb\n")
    path = context.workspace.root / "f"
    context.services.files.saw("another", path, path.read_bytes())
    written(context, b"a\ntheirs\nb\n")
    assert "is not a version that you have seen" in refused(context, f"¶f#{name}\ndelete 1")


def test_an_unread_file_gets_new_lines_at_its_ends_whatever_the_tag(context: ToolContext) -> None:
    written(context, b"a\n")
    output = run(context, "¶f#0BAD\ninsert tail:\n+z\ninsert head:\n+top")
    assert not output.is_error
    assert holds(context) == b"top\na\nz\n"
    assert "'f' is no longer the version 0BAD" in output.content


def test_a_change_that_the_tag_does_not_tell_is_refused_too(context: ToolContext) -> None:
    # Blanks at line ends leave the tag as it is, so it says nothing of them.
    name = written(context, b"a\nb\nc\nd\n", seen=True)
    assert written(context, b"a\nb\nc\nd  \n") == name
    assert "has changed since you last read it" in refused(context, f"¶f#{name}\nreplace 2:\n+B")
    assert holds(context) == b"a\nb\nc\nd  \n"


def test_another_version_with_the_same_tag_is_not_taken_for_the_one_seen(
    context: ToolContext,
) -> None:
    mine, theirs = colliding()
    name = written(context, mine, seen=True)
    assert written(context, theirs) == name
    assert "has changed since you last read it" in refused(context, f"¶f#{name}\nreplace 2:\n+x")
    assert holds(context) == theirs


def colliding() -> tuple[bytes, bytes]:
    """Two texts that differ in their middle line and have one tag."""
    known: dict[str, bytes] = {}
    for number in range(70_000):
        data = b"a\n%d\nc\n" % number
        name = tag(data.decode())
        if name in known:
            return known[name], data
        known[name] = data
    raise AssertionError("65,536 tags for 70,000 texts")


def test_a_file_that_this_run_has_not_read_is_believed_by_its_tag_within_its_lines(
    context: ToolContext,
) -> None:
    name = written(context, b"a\nb\n")
    assert "beyond the end: the file has 2 lines" in refused(context, f"¶f#{name}\ndelete 3")
    assert not run(context, f"¶f#{name}\ndelete 2").is_error
    assert holds(context) == b"a\n"


def test_an_old_tag_beyond_the_old_end_is_told_of_the_old_version(context: ToolContext) -> None:
    name = written(context, b"a\n", seen=True)
    written(context, b"a\nb\nc\n", seen=True)
    assert "the file has 1 line" in refused(context, f"¶f#{name}\ndelete 2")


def test_files_are_edited_together_or_not_at_all(context: ToolContext) -> None:
    one, two = written(context, b"a\n", "one"), written(context, b"b\n", "two")
    text = f"¶one#{one}\nreplace 1:\n+A\n¶two#{two}\n"
    assert "beyond the end" in refused(context, f"{text}delete 9")
    assert "the section of 'two' changes nothing" in refused(context, f"{text}replace 1:\n+b")
    assert holds(context, "one") == b"a\n"
    output = run(context, f"{text}replace 1:\n+B")
    assert [change.path for change in output.effects.file_changes] == ["one", "two"]
    assert (holds(context, "one"), holds(context, "two")) == (b"A\n", b"B\n")


def test_an_edit_of_one_file_that_changes_nothing_succeeds_and_says_so(
    context: ToolContext,
) -> None:
    output = run(context, f"¶f#{written(context, b'a')}\nreplace 1:\n+a")
    assert not output.is_error
    assert output.content == "No change: 'f' already reads as the input would have it."
    assert output.batch is None


def test_a_file_named_in_two_ways_is_one_file(context: ToolContext) -> None:
    name = written(context, b"a\nb\nc\n")
    output = run(context, f"¶f#{name}\ndelete 1\n¶./f#{name}\ndelete 3")
    assert not output.is_error
    assert holds(context) == b"b\n"
    assert "named with two tags" in refused(context, f"¶f#{name}\ndelete 1\n¶./f#0000\ndelete 1")


def test_what_was_repaired_is_told(context: ToolContext) -> None:
    name = written(context, b"first line\nb\n")
    output = run(context, f"¶f#{name}\nreplace 2:\nfirst line\nB")
    assert holds(context) == b"first line\nB\n"
    assert "had no '+' before it" in output.content
    assert "only repeated what stands above" in output.content


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("gone", "[not_found] there is no 'gone'"),
        ("../out", "[permission_denied] '../out' leads out"),
        ("binary", "[failed] 'binary' is not UTF-8 text"),
        ("book.ipynb", "[invalid_args] 'book.ipynb' is a notebook"),
        ("made.py", "[permission_denied] 'made.py' is a generated file"),
        ("run://PLAN.md", "[invalid_args] 'run://PLAN.md' is not a file"),
    ],
)
def test_what_no_edit_may_touch_is_refused(context: ToolContext, path: str, told: str) -> None:
    (context.workspace.root / "binary").write_bytes(b"\xff")
    (context.workspace.root / "book.ipynb").write_bytes(b"{}\n")
    name = written(context, b"# @generated\n", "made.py")
    assert told in refused(context, f"¶{path}#{name}\ninsert tail:\n+x")


def test_every_path_of_an_edit_is_locked() -> None:
    assert hashline_paths({"input": "¶a#0001\ndelete 1\n¶b#0001\ndelete 1"}) == ("a", "b")
    assert hashline_paths({"input": "nothing"}) == ()
    assert hashline_paths({}) == ()


@given(st.data())
def test_an_old_tag_never_undoes_what_was_done_since(data: st.DataObject) -> None:
    """Lines changed, added or removed since are so afterwards, or the edit is refused."""
    count = data.draw(st.integers(1, 8))
    base = [f"line {i}" for i in range(count)]
    live = list(base)
    for index in sorted(data.draw(st.sets(st.integers(0, count - 1), max_size=3)), reverse=True):
        theirs = [f"theirs {index}"]
        live[index : index + 1] = data.draw(
            st.sampled_from([theirs, [], [base[index], *theirs], [*theirs, base[index]]])
        )
    first = data.draw(st.integers(1, count))
    last = data.draw(st.integers(first, count))
    op = data.draw(
        st.sampled_from(
            [
                f"replace {first}..{last}:\n+mine",
                f"delete {first}..{last}",
                f"insert after {first}:\n+mine",
                f"insert before {first}:\n+mine",
            ]
        )
    )
    with TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        context = context_in(root)
        name = written(context, "\n".join(base).encode(), seen=True)
        is_known = data.draw(st.booleans())
        written(context, "\n".join(live).encode(), seen=is_known)
        output = run(context, f"¶f#{name}\n{op}")
        after = list(FileText.decode(holds(context)).lines)
    if output.is_error:
        assert after == live
        return
    assert is_known or live == base
    gone = set() if op.startswith("insert") else set(base[first - 1 : last])
    assert [line for line in after if line != "mine"] == [line for line in live if line not in gone]
