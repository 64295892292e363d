"""The field for an output schema: a table of fields, with the JSON behind a button."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from PySide6.QtGui import QTextCharFormat, QTextFormat
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.inspector import schema_rows as rows
from app.inspector.field import Field
from app.inspector.schema_json import NotJson, json_text, path_in, read_json, spot_of
from app.inspector.schema_row import INDENT, SchemaRow
from app.inspector.schema_rows import OTHER, FieldRow
from app.inspector.text_editor import JsonEditor
from app.theme.theme import Theme
from engine.graph.json_text import same_json
from engine.vocabulary.tools import JsonObject

_SOME_OTHER = "Fields marked “As JSON” ask for more than a row can show. They stay as they are."


class SchemaField(Field):
    """Shows a schema and edits it place by place; whatever a row does not show stays in it."""

    def __init__(self, theme: Theme, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, caption, parent)
        self.rows: list[SchemaRow] = []
        self.adders: list[FieldAdder] = []
        self._schema: Any = None
        self._json_only = ""
        self.typing = ""
        self.toggle = QPushButton("JSON", self)
        self.toggle.setProperty("kind", "chip")
        self.toggle.setCheckable(True)
        self.toggle.clicked.connect(self._switch)
        head = QHBoxLayout()
        head.addWidget(self.label, 1)
        head.addWidget(self.toggle)
        self.box.insertLayout(0, head)
        self._about = QLabel(self)
        self._about.setProperty("kind", "small")
        self._about.setWordWrap(True)
        self._table = QWidget(self)
        self._list = QVBoxLayout(self._table)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(6)
        self.json = JsonEditor(self)
        self.json.hide()
        self.box.addWidget(self._about)
        self.box.addWidget(self._table)
        self.box.addWidget(self.json)
        self.adopt(self.toggle, f"{caption} as JSON")
        self.adopt(self.json, f"{caption}, JSON")
        self.json.textChanged.connect(self._read_json)
        self._written = ""
        self.finish()

    @property
    def about(self) -> str:
        """What is said of what the table cannot show."""
        return self._about.text()

    @property
    def is_json(self) -> bool:
        """Whether the JSON is shown instead of the table."""
        return not self.json.isHidden()

    def alike(self, a: Any, b: Any) -> bool:
        """Whether two schemas would be written alike."""
        return a is b or (_is_json(a) and _is_json(b) and same_json(a, b))

    def show_value(self, value: Any) -> None:
        """Show a schema."""
        self._show_schema(value)
        if self.is_json:
            self._write_json()

    def show_problem(self, words: str) -> None:
        """Say it at the row, or mark the line, that it is about."""
        super().show_problem(words)
        path = path_in(words)
        fitting = [row for row in self.rows if path[: len(row.row.path)] == row.row.path]
        nearest = max(fitting, key=lambda row: len(row.row.path), default=None)
        for row in self.rows:
            row.show_problem(words if row is nearest else "")
        self._mark_problem()

    def mark(self) -> None:
        """The table says it at its rows; only the JSON as a whole can be wrong."""
        self._describe()

    def take_focus(self) -> None:
        """Let the person write: in the row that has a problem, else in the first."""
        if self.is_json or not self.rows:
            super().take_focus()
            return
        faulty = [row for row in self.rows if row.wrong]
        (faulty or self.rows)[0].name.setFocus()

    def stops(self) -> list[QWidget]:
        """The button, the rows with what adds to them, and the JSON."""
        found: list[QWidget] = [self.toggle]
        for index in range(self._list.count()):
            item = self._list.itemAt(index)
            part = item.widget() if item is not None else None
            if isinstance(part, SchemaRow):
                found += part.controls()
            elif isinstance(part, FieldAdder):
                found.append(part.button)
        return [*found, self.json]

    def _switch(self) -> None:
        wants_json = self.toggle.isChecked() or bool(self._json_only)
        if self.wrong and not wants_json:
            # The text would be lost.
            self.toggle.setChecked(True)
            self.json.setFocus()
            return
        if wants_json:
            self._write_json()
        self._show_side(wants_json)
        self._mark_problem()

    def _mark_problem(self) -> None:
        """Mark the line of the JSON that keeps the schema from being used."""
        if self.is_json and not self.wrong:
            path = path_in(self.problem)
            spot = spot_of(self._written, path) if path else None
            self._mark_line(spot.line if spot is not None else 0)

    def _show_side(self, is_json: bool) -> None:
        self.json.setVisible(is_json)
        self._table.setHidden(is_json)
        self.toggle.setChecked(is_json)
        self.toggle.setEnabled(not self._json_only)

    def _show_schema(self, schema: Any) -> None:
        self._schema = schema
        self._json_only = rows.why_json_only(schema)
        found = [] if self._json_only else rows.rows_of(schema)
        if self.adders and _outline(found) == _outline([row.row for row in self.rows]):
            for widget, row in zip(self.rows, found, strict=True):
                widget.show_row(row)
            for adder, group in zip(self.adders, _group_ends(found), strict=True):
                adder.show_group(group)
        else:
            self._build(found)
        about = ""
        if self._json_only:
            about = (
                f"The table cannot show this schema: {self._json_only}. "
                "It stays as it is and can be changed as JSON."
            )
            if not _describes_object(schema):
                about += " Until it describes an object, one text “summary” is asked for."
        elif any(row.kind == OTHER for row in found):
            about = _SOME_OTHER
        self._about.setText(about)
        self._about.setVisible(bool(about))
        if self._json_only and not self.is_json:
            self._write_json()
        self._show_side(self.is_json or bool(self._json_only))

    def _build(self, found: list[FieldRow]) -> None:
        """Make rows, and a button to add one at the end of each group."""
        for widget in (*self.rows, *self.adders):
            self._list.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self.rows, self.adders = [], []
        if self._json_only:
            return
        for part in _parts(found):
            if isinstance(part, FieldRow):
                row = SchemaRow(self._theme, part, self._table)
                self._listen(row)
                self._list.addWidget(row)
                self.rows.append(row)
            else:
                adder = FieldAdder(part.group, self._table)
                adder.button.clicked.connect(self._add)
                adder.button.installEventFilter(self)
                self._list.addWidget(adder)
                self.adders.append(adder)
        self.rebuilt.emit()

    def _listen(self, row: SchemaRow) -> None:
        row.named.connect(self._rename)
        row.described.connect(self._describe_field)
        row.kind_chosen.connect(self._choose_kind)
        row.required_set.connect(self._require)
        row.remove_wanted.connect(self._remove)
        row.move_wanted.connect(self._move)
        row.left.connect(self.left)

    def _change(self, schema: JsonObject, typing: str = "") -> None:
        self.typing = typing
        self._show_schema(schema)
        self.enter(schema)
        self.typing = ""

    def _rename(self, row: SchemaRow, name: str) -> None:
        try:
            schema = rows.renamed(self._schema, row.row, name.strip())
        except ValueError as error:
            row.say_wrong(str(error))
            return
        row.say_wrong("")
        self._change(schema, f"name {self.rows.index(row)}")

    def _describe_field(self, row: SchemaRow, text: str) -> None:
        schema = rows.with_description(self._schema, row.row, text)
        self._change(schema, f"description {self.rows.index(row)}")

    def _choose_kind(self, row: SchemaRow, kind: str) -> None:
        if kind != row.row.kind:
            at = self.rows.index(row)
            self._change(rows.with_kind(self._schema, row.row, kind))
            self.rows[at].kind.setFocus()

    def _require(self, row: SchemaRow, is_required: bool) -> None:
        self._change(rows.with_required(self._schema, row.row, is_required))

    def _remove(self, row: SchemaRow) -> None:
        at = self.rows.index(row)
        self._change(rows.without_field(self._schema, row.row))
        if self.rows:
            self.rows[min(at, len(self.rows) - 1)].name.setFocus()
        else:
            self.adders[-1].button.setFocus()

    def _move(self, row: SchemaRow, by: int) -> None:
        name, parent = row.row.name, row.row.parent
        self._change(rows.moved(self._schema, row.row, by))
        for other in self.rows:
            if (other.row.name, other.row.parent) == (name, parent):
                other.name.setFocus()

    def _add(self) -> None:
        adder = next(adder for adder in self.adders if adder.button is self.sender())
        place = adder.place
        name = rows.unused_name(self._schema, place)
        self._change(rows.with_field(self._schema, place, name))
        for row in self.rows:
            if row.row.path == (*place, "properties", name):
                row.name.setFocus()
                row.name.selectAll()

    def _write_json(self) -> None:
        text = json_text(self._schema)
        if text != self._written or text != self.json.text():
            self._written = text
            self.json.show_text(text)
            self._mark_line(0)

    def _read_json(self) -> None:
        text = self.json.text()
        if not self.is_json or text == self._written:
            return
        self._written = text
        try:
            value = read_json(text)
        except NotJson as error:
            self.say_wrong(str(error))
            self._mark_line(error.line)
            return
        self._mark_line(0)
        self._schema = value
        self._json_only = rows.why_json_only(value)
        self._show_schema(value)
        self.typing = "json"
        self.enter(value)
        self.typing = ""

    def _mark_line(self, line: int) -> None:
        """Give a line of the JSON the colour of what is wrong; 0 means none."""
        marks = []
        if line:
            mark = QTextEdit.ExtraSelection()
            form = QTextCharFormat()
            form.setBackground(self._theme.tokens.tint("failed", 0.22))
            form.setProperty(QTextFormat.Property.FullWidthSelection.value, True)
            mark.format = form
            mark.cursor = self.json.cursor_at(line)
            marks = [mark]
        self.json.setExtraSelections(marks)


class FieldAdder(QWidget):
    """The button below the fields of a group, or of the whole output."""

    def __init__(self, group: FieldRow | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.place: rows.Path = ()
        self.button = QPushButton(self)
        self.button.setProperty("kind", "chip")
        box = QHBoxLayout(self)
        box.setContentsMargins(8 + INDENT * (group.depth + 1) if group else 0, 0, 0, 0)
        box.addWidget(self.button)
        box.addStretch(1)
        self.show_group(group)

    def show_group(self, group: FieldRow | None) -> None:
        """Add to this group from now on; without one, to the output itself."""
        self.place = (group.inside or ()) if group else ()
        self.button.setText(f"Add to {group.name}" if group else "Add field")
        self.button.setAccessibleName(f"Add a field to {group.name}" if group else "Add a field")


class _GroupEnd(NamedTuple):
    """Where the fields of a group end; those of the whole output where there is no group."""

    group: FieldRow | None


def _parts(found: list[FieldRow]) -> Iterator[FieldRow | _GroupEnd]:
    """The rows, and the end of each group right after what belongs to it."""
    groups: list[FieldRow] = []
    for row in found:
        while groups and groups[-1].depth >= row.depth:
            yield _GroupEnd(groups.pop())
        yield row
        if row.inside is not None:
            groups.append(row)
    while groups:
        yield _GroupEnd(groups.pop())
    yield _GroupEnd(None)


def _group_ends(found: list[FieldRow]) -> Iterator[FieldRow | None]:
    return (part.group for part in _parts(found) if isinstance(part, _GroupEnd))


def _outline(found: list[FieldRow]) -> list[tuple[int, bool, bool]]:
    """What the layout of the rows depends on."""
    return [(row.depth, row.inside is not None, row.kind == OTHER) for row in found]


def _describes_object(schema: Any) -> bool:
    return isinstance(schema, dict) and (schema.get("type") == "object" or "properties" in schema)


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, dict | list | str | int | float | bool)
