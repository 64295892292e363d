"""Whatever a model writes, planning an edit changes nothing and raises only what it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orchestration.tools.file_edits.change_plan import Planner
from orchestration.tools.file_edits.hashline_plan import hashline_paths, plan_hashline
from orchestration.tools.file_edits.patch_plan import patch_paths, plan_patch
from orchestration.tools.text_view import tag
from orchestration.tools.tool import ToolContext, ToolFailure
from tests.support.tool_bench import context_in

FILES = {"a": b"x\n\ny\r\nx", "b": b"", "binary": b"\xff\0", "sub/c": b"one\ntwo\n"}

PATHS = st.one_of(
    st.sampled_from([*FILES, "new", "./a", "sub", "..", "../out", "/etc/passwd", "run://PLAN.md"]),
    st.text(max_size=6),
)
LINES = st.one_of(st.sampled_from(["x", "y", "", "one", "\r", "\0", "\ud800"]), st.text(max_size=6))
TAGS = st.sampled_from([*(tag(data.decode("latin-1")) for data in FILES.values()), "0BAD", "12"])


def hunk_line(parts: tuple[str, str]) -> str:
    return "".join(parts)


PATCH_LINES = st.one_of(
    PATHS.map("*** Add File: {}".format),
    PATHS.map("*** Update File: {}".format),
    PATHS.map("*** Delete File: {}".format),
    PATHS.map("*** Move to: {}".format),
    st.tuples(st.sampled_from(["+", "-", " ", "@@ ", "@@"]), LINES).map(hunk_line),
    st.just("*** End of File"),
)
NUMBERS = st.integers(0, 6)
HASHLINES = st.one_of(
    st.tuples(PATHS, TAGS).map("¶{0[0]}#{0[1]}".format),
    st.tuples(NUMBERS, NUMBERS).map("replace {0[0]}..{0[1]}:".format),
    NUMBERS.map("delete {}".format),
    NUMBERS.map("insert after {}:".format),
    st.sampled_from(["insert head:", "insert tail:"]),
    LINES.map("+{}".format),
)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> ToolContext:
    root = tmp_path_factory.mktemp("edits") / "project"
    (root / "sub").mkdir(parents=True)
    for name, data in FILES.items():
        (root / name).write_bytes(data)
    context = context_in(root)
    for name, data in FILES.items():
        context.services.files.saw("n", root / name, data)
    return context


def files_in(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in root.rglob("*"):
        if path.is_file():
            yield path.relative_to(root).as_posix(), path.read_bytes()


def is_planned(planner: Planner, text: str, context: ToolContext) -> bool:
    try:
        plan = planner({"input": text}, context)
    except ToolFailure:
        return False
    return bool(plan.changes or plan.notes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PATCH_LINES, max_size=12))
def test_any_patch_is_planned_or_refused(context: ToolContext, lines: list[str]) -> None:
    text = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    assert is_planned(plan_patch, text, context) in (True, False)
    assert all(isinstance(path, str) for path in patch_paths({"input": text}))
    assert dict(files_in(context.workspace.root)) == FILES


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(HASHLINES, max_size=12))
def test_any_hashline_edit_is_planned_or_refused(context: ToolContext, lines: list[str]) -> None:
    text = "\n".join(lines)
    assert is_planned(plan_hashline, text, context) in (True, False)
    assert all(isinstance(path, str) for path in hashline_paths({"input": text}))
    assert dict(files_in(context.workspace.root)) == FILES
