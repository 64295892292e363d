"""The panel as a whole: what it follows, what it refuses, what it says, and what keys do there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
)

from app.inspector.field import MIXED_WORDS
from app.inspector.field_widgets import ChoiceField, FlagField, NumberField, SuggestionField
from app.inspector.field_widgets import TextField as LineOfText
from app.inspector.offers import Offers
from app.inspector.text_editor import ProseField
from engine.graph.edits import change_config, change_settings, rename_node
from engine.graph.problems import Problem
from tests.support.inspector_bench import InspectorBench, workflow_document


@pytest.fixture
def bench(qapp: QApplication) -> Iterator[InspectorBench]:
    bench = InspectorBench(qapp)
    yield bench
    bench.dispose()


def number(bench: InspectorBench, key: str) -> NumberField:
    field = bench.field(key)
    assert isinstance(field, NumberField)
    return field


def choice(bench: InspectorBench, key: str) -> ChoiceField:
    field = bench.field(key)
    assert isinstance(field, ChoiceField)
    return field


def prose(bench: InspectorBench, key: str) -> ProseField:
    field = bench.field(key)
    assert isinstance(field, ProseField)
    return field


def test_the_panel_follows_the_selection(bench: InspectorBench) -> None:
    assert bench.panel.title.text() == "Workflow"
    bench.choose("plan")
    assert bench.panel.title.text() == "The plan"
    assert prose(bench, "system_prompt").control.toPlainText() == "You plan."
    bench.choose("idea", "plan")
    assert bench.panel.title.text() == "2 nodes"
    bench.choose()
    assert bench.panel.title.text() == "Workflow"
    assert bench.steps == []


def test_what_others_change_is_followed(bench: InspectorBench) -> None:
    bench.choose("plan")
    bench.document.edit("Rename", lambda workflow: rename_node(workflow, "plan", "Other"))
    label = bench.field("label")
    assert isinstance(label, LineOfText)
    assert label.control.text() == "Other"
    assert bench.panel.title.text() == "Other"


def test_a_field_that_is_written_in_is_not_disturbed_by_other_changes(
    bench: InspectorBench,
) -> None:
    bench.choose("plan")
    field = prose(bench, "task_prompt")
    bench.write(field.control, "One  \n two ")
    at = field.control.textCursor().position()
    bench.document.edit("Rename", lambda workflow: rename_node(workflow, "plan", "Other"))
    assert field.control.toPlainText() == "One  \n two "
    assert field.control.textCursor().position() == at
    assert bench.value("nodes", 1, "agent", "task_prompt") == "One  \n two "


def test_a_node_that_is_deleted_leaves_the_settings_of_the_workflow(bench: InspectorBench) -> None:
    bench.choose("plan")
    bench.window.canvas.keyboard.delete_chosen()
    assert bench.panel.title.text() == "Workflow"
    bench.undo()
    assert bench.text() == bench.text_before


def test_writing_is_one_step_until_the_field_is_left(bench: InspectorBench) -> None:
    bench.choose("idea")
    first, second = prose(bench, "system_prompt"), prose(bench, "task_prompt")
    bench.write(first.control, "Several words here")
    bench.write(second.control, "Others")
    bench.write(first.control, " and more", after=True)
    assert bench.steps == [
        "Change system prompt of “The idea”",
        "Change task prompt of “The idea”",
        "Change system prompt of “The idea”",
    ]
    bench.undo()
    assert first.control.toPlainText() == "Several words here"
    bench.undo()
    bench.undo()
    assert bench.text() == bench.text_before


@pytest.mark.parametrize(
    ("key", "node", "typed", "said"),
    [
        ("reasoning_budget_tokens", "idea", "many", "whole number"),
        ("reasoning_budget_tokens", "idea", "0", "From 1 to"),
        ("reasoning_budget_tokens", "idea", "9999999999", "From 1 to 4,294,967,295"),
        ("max_attempts", "", "256", "From 0 to 255"),
        ("max_attempts", "", "", "whole number"),
        ("backoff_ms", "", "-1", "whole number"),
        ("backoff_ms", "", "9" * 60, "From 0 to"),
    ],
)
def test_a_wrong_number_is_told_at_its_field_and_the_last_good_one_stays(
    bench: InspectorBench, key: str, node: str, typed: str, said: str
) -> None:
    bench.choose(*filter(None, [node]))
    field = number(bench, key)
    good = "77"
    bench.write(field.control, good)
    text = bench.text()
    field.control.selectAll()
    QTest.keyClick(field.control, Qt.Key.Key_Backspace)
    if typed and typed[0].isdigit():
        # Digits on their way to too many of them are numbers as well.
        field.control.setText(typed)
        field.control.textEdited.emit(typed)
    else:
        QTest.keyClicks(field.control, typed)
    assert said in field.wrong
    assert [label.isVisible() for label in field.findChildren(QLabel) if said in label.text()] == [
        True
    ]
    assert field.control.accessibleDescription().startswith(field.wrong)
    assert field.control.text() == typed
    if typed == "" and key == "max_attempts":
        assert bench.text() == text
    bench.write(field.control, good)
    assert field.wrong == ""
    assert bench.text() == text


@pytest.mark.parametrize(("key", "node"), [("label", "idea"), ("name", "")])
def test_a_blank_name_is_refused(bench: InspectorBench, key: str, node: str) -> None:
    bench.choose(*filter(None, [node]))
    field = bench.field(key)
    assert isinstance(field, LineOfText)
    bench.write(field.control, "")
    assert "needs a name" in field.wrong
    assert bench.text() == bench.text_before
    QTest.keyClicks(field.control, "A b")
    assert field.wrong == ""
    assert "A b" in bench.text()


def test_a_budget_that_is_taken_away_is_inherited(bench: InspectorBench) -> None:
    bench.choose("idea")
    field = number(bench, "reasoning_budget_tokens")
    bench.write(field.control, "")
    assert bench.value("nodes", 0, "agent", "reasoningBudgetTokens") is None
    assert field.control.placeholderText() == "4,096"
    assert field.note == "Empty: 4,096, from the workflow"


def test_what_is_inherited_is_shown_with_its_source(bench: InspectorBench) -> None:
    bench.choose("plan")
    model = bench.field("model")
    assert isinstance(model, SuggestionField)
    assert choice(bench, "reasoning_effort").control.currentText() == (
        "Inherited: medium, from the workflow"
    )
    assert choice(bench, "provider_id").control.currentText() == (
        "Inherited: Alpha, from the workflow"
    )
    assert model.line.placeholderText() == "alpha-1, the default of Alpha"
    bench.document.edit(
        "Change settings",
        lambda workflow: change_settings(workflow, reasoning_effort=None, provider_id=None),
    )
    assert choice(bench, "reasoning_effort").control.currentText() == (
        "Inherited: the model decides"
    )
    assert choice(bench, "provider_id").control.currentText() == "Inherited: Alpha, by default"


def test_a_provider_that_is_not_ready_and_values_that_nobody_offers_are_told(
    bench: InspectorBench,
) -> None:
    bench.choose("idea")
    bench.step(choice(bench, "provider_id").control)
    assert choice(bench, "provider_id").note == "Beta can't be used yet: its key is missing."
    assert "Not among the known models of Beta" in bench.field("model").note
    bench.document.edit(
        "Change",
        lambda workflow: change_config(
            workflow, "idea", reasoning_effort="extreme", provider_id="gone"
        ),
    )
    effort = choice(bench, "reasoning_effort").control
    assert effort.currentText() == "extreme (not offered here)"
    assert choice(bench, "provider_id").control.currentText() == "gone (not offered here)"
    bench.step(effort)
    assert bench.value("nodes", 0, "agent", "reasoningEffort") is None


def test_known_models_are_offered_and_any_text_is_taken(bench: InspectorBench) -> None:
    bench.choose("idea")
    model = bench.field("model")
    assert isinstance(model, SuggestionField)
    assert [model.control.itemText(row) for row in range(model.control.count())] == [
        "alpha-1",
        "alpha-2",
    ]
    bench.write(model.line, "alpha-1-of-mine")
    assert model.line.text() == "alpha-1-of-mine", "nothing is completed behind one's back"
    QTest.keyClick(model.line, Qt.Key.Key_Down)
    assert bench.value("nodes", 0, "agent", "model") in ("alpha-1", "alpha-2")


def test_several_nodes_show_what_differs_and_are_set_together(bench: InspectorBench) -> None:
    bench.choose("idea", "plan")
    effort = choice(bench, "reasoning_effort").control
    assert effort.currentText() == MIXED_WORDS
    form = bench.panel.nodes
    hidden = {key for key, field in form.fields.items() if field.isHidden()}
    assert {"label", "system_prompt", "task_prompt", "handoff", "output_schema"} <= hidden
    asks = bench.field("conversation_mode")
    assert isinstance(asks, FlagField)
    bench.tick(asks.control)
    flags = [bench.value("nodes", at, "agent", "conversationMode") for at in range(3)]
    assert flags == [True, True, False]
    assert bench.steps == ["Change conversation mode of 2 nodes"]
    bench.undo()
    assert bench.text() == bench.text_before


def test_a_half_ticked_box_is_ticked_for_all(bench: InspectorBench) -> None:
    bench.document.edit(
        "Change", lambda workflow: change_config(workflow, "idea", request_user_input=False)
    )
    bench.choose("idea", "plan")
    field = bench.field("request_user_input")
    assert isinstance(field, FlagField)
    assert field.control.checkState() == Qt.CheckState.PartiallyChecked
    bench.tick(field.control)
    assert bench.value("nodes", 0, "agent", "requestUserInput") is True
    assert field.control.checkState() == Qt.CheckState.Checked


def test_a_node_of_another_kind_keeps_its_settings(qapp: QApplication) -> None:
    document = workflow_document()
    document["nodes"][1] |= {"kind": "switch", "agent": {"rules": [1]}}
    bench = InspectorBench(qapp, document)
    bench.choose("plan")
    assert "kind “switch”" in bench.panel.about.text()
    visible = [key for key, field in bench.panel.nodes.fields.items() if field.isVisible()]
    assert visible == ["label"]
    bench.choose("idea", "plan")
    flag = bench.field("conversation_mode")
    assert isinstance(flag, FlagField)
    bench.tick(flag.control)
    assert bench.value("nodes", 0, "agent", "conversationMode") is True
    assert bench.value("nodes", 1, "agent") == {"rules": [1]}
    bench.dispose()


def test_problems_are_listed_with_a_way_to_their_field(bench: InspectorBench) -> None:
    problems = (
        Problem("blank_prompt", "node 'idea' has a blank task prompt", "idea", field="task_prompt"),
        Problem("cycle", "the edges run in a circle", "idea", "e1"),
        Problem("blank_prompt", "node 'plan' has one too", "plan", field="task_prompt"),
        Problem("empty", "something about the whole", field="provider_id"),
    )
    bench.panel.show_problems(problems)
    assert [row.problem for row in bench.panel.problem_rows] == [problems[3]]
    bench.choose("idea")
    jump, only_told = bench.panel.problem_rows
    assert (jump.isEnabled(), only_told.isEnabled()) == (True, False)
    QTest.mouseClick(jump, Qt.MouseButton.LeftButton)
    control = prose(bench, "task_prompt").control
    assert QApplication.focusWidget() is control
    assert "blank task prompt" in control.accessibleDescription()
    bench.panel.show_problems(())
    assert bench.panel.problem_rows == []
    assert "blank task prompt" not in control.accessibleDescription()


def test_before_the_model_is_read_there_is_nothing_to_set(bench: InspectorBench) -> None:
    bench.document.clear()
    assert bench.panel.form is None
    assert "Nothing is open" in bench.panel.about.text()
    bench.panel.take_focus()
    assert QApplication.focusWidget() is bench.panel.close_button


def test_line_ends_and_odd_blanks_of_a_prompt_survive_an_edit(qapp: QApplication) -> None:
    document: dict[str, Any] = workflow_document()
    document["nodes"][0]["agent"]["task_prompt"] = "One\u00a0\r\ntwo"
    bench = InspectorBench(qapp, document)
    bench.choose("idea")
    bench.write(prose(bench, "task_prompt").control, "!", after=True)
    assert bench.value("nodes", 0, "agent", "task_prompt") == "One\u00a0\r\ntwo!"
    bench.dispose()


def test_offers_without_anything_leave_free_texts_free(bench: InspectorBench) -> None:
    bench.panel.set_offers(Offers())
    bench.choose("idea")
    model = bench.field("model")
    assert isinstance(model, SuggestionField)
    assert model.control.count() == 0
    bench.write(model.line, "mine")
    assert bench.value("nodes", 0, "agent", "model") == "mine"
    assert choice(bench, "provider_id").control.currentText() == "alpha (not offered here)"
