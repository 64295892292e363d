"""Keys alone in the inspector: Tab, Escape, and skills that are completed while one writes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from app.inspector.offers import Skill, fitting_skills
from app.inspector.text_editor import ProseField
from tests.support.inspector_bench import OFFERS, InspectorBench


@pytest.fixture
def bench(qapp: QApplication) -> Iterator[InspectorBench]:
    bench = InspectorBench(qapp)
    yield bench
    bench.dispose()


def prose(bench: InspectorBench, key: str) -> ProseField:
    field = bench.field(key)
    assert isinstance(field, ProseField)
    return field


def test_skills_are_completed_after_a_slash(bench: InspectorBench) -> None:
    bench.choose("idea")
    field = prose(bench, "task_prompt")
    bench.write(field.control, "Please a/b /re")
    assert field.skills.offered == ["/review", "/release"]
    QTest.keyClick(field.control, Qt.Key.Key_Down)
    QTest.keyClick(field.control, Qt.Key.Key_Return)
    assert field.control.toPlainText() == "Please a/b /release "
    assert field.skills.offered == []
    QTest.keyClicks(field.control, "/")
    QTest.keyClick(field.control, Qt.Key.Key_Escape)
    assert field.skills.offered == []
    assert QApplication.focusWidget() is field.control
    assert bench.value("nodes", 0, "agent", "task_prompt") == "Please a/b /release /"


def test_without_skills_a_slash_is_a_slash(bench: InspectorBench) -> None:
    bench.choose("idea")
    bench.panel.set_offers(OFFERS._replace(skills=()))
    field = prose(bench, "task_prompt")
    bench.write(field.control, "/re")
    assert field.skills.offered == []
    assert field.control.toPlainText() == "/re"


def test_skills_that_begin_with_what_was_typed_come_first() -> None:
    skills = [Skill("code-review"), Skill("review"), Skill("other")]
    assert [skill.id for skill in fitting_skills(skills, "Rev", 8)] == ["review", "code-review"]


@pytest.mark.parametrize("nodes", [(), ("idea",), ("brief",), ("idea", "plan")])
def test_keys_alone_reach_every_control_and_all_have_names(
    bench: InspectorBench, nodes: tuple[str, ...]
) -> None:
    bench.choose(*nodes)
    form = bench.panel.form
    assert form is not None
    bench.panel.take_focus()
    kinds = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit)
    wanted = {
        control
        for control in form.findChildren(QWidget)
        if isinstance(control, kinds)
        and control.isVisible()
        and control.isEnabled()
        and control.focusPolicy() & Qt.FocusPolicy.TabFocus
    }
    assert [control for control in wanted if not control.accessibleName()] == []
    seen: list[QWidget] = []
    for _ in range(len(wanted) * 2 + 10):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in seen or not form.isAncestorOf(focused):
            break
        seen.append(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    # An editable list and the line in it are one stop.
    lines = {control for control in wanted if isinstance(control.parentWidget(), QComboBox)}
    boxes = {line.parentWidget() for line in lines}
    assert wanted - set(seen) <= lines | boxes
    tops = [control.mapTo(form, control.rect().topLeft()).y() for control in seen]
    assert all(low - high < 12 for high, low in pairwise(reversed(tops))), "from top to bottom"


def test_escape_leaves_for_the_canvas(bench: InspectorBench) -> None:
    bench.choose("idea")
    control = prose(bench, "system_prompt").control
    control.setFocus()
    QTest.keyClick(control, Qt.Key.Key_Escape)
    assert bench.window.canvas.hasFocus()
