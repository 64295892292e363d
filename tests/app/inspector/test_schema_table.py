"""The output schema by hand: rows, groups, the JSON behind the button, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.inspector.schema_json import json_text
from app.inspector.schema_row import SchemaRow
from app.inspector.schema_table import SchemaField
from engine.graph.problems import Problem
from tests.support.inspector_bench import InspectorBench, agent_document, workflow_document

ALT = Qt.KeyboardModifier.AltModifier


class Table:
    def __init__(self, qapp: QApplication, schema: Any = None) -> None:
        document = workflow_document()
        if schema is not None:
            document["nodes"][0]["agent"] = agent_document(output_schema=schema)
        self.bench = InspectorBench(qapp, document)
        self.bench.choose("idea")
        field = self.bench.field("output_schema")
        assert isinstance(field, SchemaField)
        self.field = field

    @property
    def names(self) -> list[str]:
        return [row.name.text() for row in self.field.rows]

    @property
    def schema(self) -> Any:
        return self.bench.value("nodes", 0, "agent", "output_schema")

    def row(self, name: str) -> SchemaRow:
        return next(row for row in self.field.rows if row.name.text() == name)

    def press(self, words: str) -> None:
        adder = next(adder for adder in self.field.adders if adder.button.text() == words)
        QTest.mouseClick(adder.button, Qt.MouseButton.LeftButton)

    def show_json(self) -> None:
        QTest.mouseClick(self.field.toggle, Qt.MouseButton.LeftButton)

    def write_json(self, text: str) -> None:
        self.field.json.setFocus()
        self.field.json.setPlainText(text)


@pytest.fixture
def table(qapp: QApplication) -> Iterator[Table]:
    made = Table(qapp)
    yield made
    made.bench.dispose()


def test_rows_show_nested_fields_and_what_else_is_asked_for(table: Table) -> None:
    assert table.names == ["summary", "steps", "title", "size"]
    assert table.row("summary").required.isChecked()
    assert not table.row("size").required.isChecked()
    assert table.row("steps").kind.currentText() == "List of groups"
    assert table.row("size").row.more == "one of small, large"
    assert [adder.button.text() for adder in table.field.adders] == ["Add to steps", "Add field"]


def test_a_field_is_added_named_described_and_required(table: Table) -> None:
    bench = table.bench
    table.press("Add to steps")
    row = table.row("field")
    assert QApplication.focusWidget() is row.name
    QTest.keyClicks(row.name, "days")
    bench.write(row.description, "How long")
    bench.step(row.kind)
    bench.tick(row.required)
    steps = table.schema["properties"]["steps"]["items"]
    assert steps["properties"]["days"] == {"type": "integer", "description": "How long"}
    assert steps["required"] == ["title"]
    for _ in range(5):
        bench.undo()
    assert bench.text() == bench.text_before
    assert table.names == ["summary", "steps", "title", "size"]


def test_naming_is_one_step_and_keeps_the_place_and_the_requirement(table: Table) -> None:
    bench = table.bench
    bench.write(table.row("summary").name, "result")
    assert list(table.schema["properties"]) == ["result", "steps"]
    assert table.schema["required"] == ["result"]
    assert len(bench.steps) == 1


@pytest.mark.parametrize("name", ["", "steps"])
def test_a_name_that_cannot_be_is_told_at_its_row_and_nothing_changes(
    table: Table, name: str
) -> None:
    row = table.row("summary")
    table.bench.write(row.name, name)
    if name:
        assert "already is a field “steps”" in row.wrong
        assert list(table.schema["properties"]) == ["step", "steps"]
        assert row.name.text() == "steps"
        QTest.keyClicks(row.name, "2")
        assert row.wrong == ""
        assert list(table.schema["properties"]) == ["steps2", "steps"]
    else:
        assert row.wrong == "A field needs a name"
        assert list(table.schema["properties"]) == ["summary", "steps"]


def test_fields_are_moved_with_alt_and_removed(table: Table) -> None:
    bench = table.bench
    QTest.keyClick(table.row("summary").description, Qt.Key.Key_Down, ALT)
    assert table.names == ["steps", "title", "size", "summary"]
    assert QApplication.focusWidget() is table.row("summary").name
    QTest.mouseClick(table.row("steps").remove, Qt.MouseButton.LeftButton)
    assert table.names == ["summary"]
    bench.undo()
    bench.undo()
    assert bench.text() == bench.text_before


def test_the_json_is_edited_and_the_table_follows(table: Table) -> None:
    table.show_json()
    assert table.field.json.toPlainText() == json_text(table.schema)
    table.write_json('{"type": "object", "properties": {"done": {"type": "boolean"}}}')
    assert table.schema["properties"] == {"done": {"type": "boolean"}}
    table.show_json()
    assert table.names == ["done"]
    table.bench.undo()
    assert table.names == ["summary", "steps", "title", "size"]


def test_broken_json_is_told_with_its_line_and_is_not_lost(table: Table) -> None:
    table.show_json()
    table.write_json('{\n  "type": "object",\n  oops\n}')
    assert table.field.wrong.startswith("Line 3, column 3")
    (mark,) = table.field.json.extraSelections()
    assert mark.cursor.blockNumber() == 2
    assert table.bench.text() == table.bench.text_before
    table.show_json()
    assert table.field.is_json, "the text would be gone"
    assert "oops" in table.field.json.toPlainText()


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"type": "object", "oneOf": [{"required": ["a"]}]}, "oneOf"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}, "$ref"),
        ("nothing", "it is not an object"),
    ],
)
def test_a_schema_that_is_no_table_is_left_as_json(
    qapp: QApplication, schema: Any, why: str
) -> None:
    table = Table(qapp, schema)
    assert table.field.is_json
    assert not table.field.toggle.isEnabled()
    assert why in table.field.about
    assert table.field.json.toPlainText() == json_text(schema)
    table.bench.choose("plan")
    table.bench.choose("idea")
    assert table.bench.text() == table.bench.text_before
    assert table.bench.steps == []
    table.bench.dispose()


def test_a_field_that_no_row_can_show_stays_beside_those_that_are_edited(
    qapp: QApplication,
) -> None:
    strange = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "odd": strange}}
    table = Table(qapp, schema)
    assert "As JSON" in table.field.about
    assert not table.row("odd").kind.isEnabled()
    table.bench.write(table.row("a").name, "b")
    table.bench.tick(table.row("odd").required)
    assert table.schema["properties"] == {"b": {"type": "string"}, "odd": strange}
    assert table.schema["required"] == ["odd"]
    table.bench.dispose()


def test_a_schema_that_cannot_be_used_is_told_at_the_row_that_is_wrong(table: Table) -> None:
    message = (
        "the output schema of node 'idea' cannot be used: [] is too short at "
        "$.properties.steps.items.properties.size.enum"
    )
    problem = Problem("invalid_output_schema", message, "idea", field="output_schema")
    table.bench.panel.show_problems([problem])
    assert [row.name.text() for row in table.field.rows if row.wrong] == ["size"]
    (row,) = table.bench.panel.problem_rows
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is table.row("size").name
    table.show_json()
    (mark,) = table.field.json.extraSelections()
    assert '"enum"' in mark.cursor.block().text()
    table.bench.panel.show_problems([])
    assert not table.field.json.extraSelections()
