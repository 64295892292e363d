"""What the source code never does, and how long a file may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.source_tree import CHECKOUT, committed_files, modules, syntax_tree

LONGEST_FILE = 400

# Files that are longer, each with the reason why it would be worse if it were split.
LONGER: dict[str, str] = {}

# A nested event loop freezes every task that waits for the outer one; a repaint outside the event
# loop takes the process down if painting raises; asyncSlot loses the task's errors.
NOT_IN_APP = {
    "exec": "use open() and the finished signal",
    "exec_": "use open() and the finished signal",
    "repaint": "use update()",
    "asyncSlot": "use app.kit.tasks",
    "processEvents": "return to the event loop",
}
# Before the loop runs and after it has ended there is nothing to return to.
ALLOWED_IN_APP = {("app/event_loop.py", "processEvents")}
STATIC_DIALOGS = {
    "QMessageBox": ("question", "information", "warning", "critical", "about"),
    "QFileDialog": (
        "getOpenFileName",
        "getSaveFileName",
        "getExistingDirectory",
        "getOpenFileNames",
    ),
    "QInputDialog": ("getText", "getItem", "getInt", "getDouble", "getMultiLineText"),
    "QColorDialog": ("getColor",),
    "QFontDialog": ("getFont",),
}


def app_files() -> Iterator[Path]:
    return (path for name, path in modules().items() if name.split(".")[0] == "app")


def place(path: Path, node: ast.expr) -> str:
    return f"{path.relative_to(CHECKOUT)}:{node.lineno}"


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        str(path.relative_to(CHECKOUT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in committed_files()
        if path.suffix == ".py"
    }

    too_long = {
        name: length
        for name, length in lengths.items()
        if length > LONGEST_FILE and name not in LONGER
    }

    assert not too_long
    assert not {name for name in LONGER if lengths.get(name, 0) <= LONGEST_FILE}, "no longer needed"


def test_the_window_never_nests_event_loops_or_paints_at_once() -> None:
    found = [
        f"{place(path, node)} uses {node.attr}: {NOT_IN_APP[node.attr]}"
        for path in app_files()
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Attribute)
        and node.attr in NOT_IN_APP
        and (path.relative_to(CHECKOUT).as_posix(), node.attr) not in ALLOWED_IN_APP
    ]

    assert not found, "\n".join(found)


def test_the_window_never_opens_a_dialog_that_blocks() -> None:
    found = [
        f"{place(path, node)} uses {node.value.id}.{node.attr}: use app.kit.dialogs"
        for path in app_files()
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr in STATIC_DIALOGS.get(node.value.id, ())
    ]

    assert not found, "\n".join(found)


def test_no_test_is_switched_off() -> None:
    switches = {"skip", "skipif", "xfail", "importorskip"}
    found = [
        f"{place(path, node)} uses {node.attr}"
        for path in committed_files()
        if path.suffix == ".py" and path.relative_to(CHECKOUT).parts[0] == "tests"
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.Attribute)
        and node.attr in switches
        and ast.unparse(node.value) in ("pytest", "pytest.mark")
    ]

    assert not found, "\n".join(found)


def test_no_error_is_swallowed() -> None:
    found = [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}"
        for path in committed_files()
        if path.suffix == ".py"
        for node in ast.walk(syntax_tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and all(isinstance(step, ast.Pass | ast.Continue) for step in node.body)
    ]

    assert not found, "\n".join(found)
