"""The models of one provider: which is the default, which are offered, and over which wire."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPointF, QSortFilterProxyModel, Qt
from PySide6.QtGui import QPainter, QPolygonF, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from app.inspector.field import small_label
from app.kit.formats import plural
from app.kit.pens import solid_pen
from app.settings.access import Access, told
from app.settings.fields import LineRow, made_choice
from app.settings.rows import Row
from app.theme.theme import Theme
from engine.vocabulary.errors import EngineError
from orchestration.errors import UserError
from orchestration.settings.readiness import ProviderStatus

_MOST_ROWS = 8
_ROW = 28


class _Ticks(QStyledItemDelegate):
    """Paints a mark into ticked boxes, which can be told without its colour."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex,  # type: ignore[override]
    ) -> None:
        """Paint the row and the mark."""
        super().paint(painter, option, index)
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        if shown.checkState != Qt.CheckState.Checked:
            return
        view = shown.widget
        element = QStyle.SubElement.SE_ItemViewItemCheckIndicator
        box = view.style().subElementRect(element, shown, view)
        center = QPointF(box.center()) + QPointF(0.5, 0.5)
        line = [center + QPointF(*at) for at in ((-3.2, 0.2), (-0.9, 2.5), (3.4, -2.5))]
        pen = solid_pen(self._theme.tokens.color("on_accent"), 1.7)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(line))
        painter.restore()


class DefaultModelRow(LineRow):
    """The model of nodes that name none."""

    def __init__(self, access: Access, status: ProviderStatus) -> None:
        from PySide6.QtWidgets import QCompleter

        super().__init__(
            access,
            ("providers", status.id, "default_model"),
            "Default model",
            "For nodes that name none.",
            placeholder=status.default_model,
        )
        completer = QCompleter(list(status.models), self.line)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.line.setCompleter(completer)


class ModelList(Row):
    """The models that are offered, ticked; more can be asked for."""

    def __init__(self, access: Access, provider_id: str, wires: Sequence[tuple[str, str]]) -> None:
        super().__init__(
            access.theme,
            "Offered models",
            "What nodes can choose from. Fetching costs nothing.",
            wide=True,
        )
        self._access = access
        self._provider_id = provider_id
        self._wires = wires
        self._status: ProviderStatus | None = None
        self._fetched: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._is_filling = False
        self.told = small_label(self)
        self.fetch_button = QPushButton("Fetch Models", self)
        self.fetch_button.clicked.connect(self.fetch)
        self.filter = QLineEdit(self)
        self.filter.setPlaceholderText("Find or add a model")
        self._items = QStandardItemModel(self)
        self._proxy = QSortFilterProxyModel(self)
        self._proxy.setSourceModel(self._items)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView(self)
        self.list.setModel(self._proxy)
        self.list.setProperty("kind", "models")
        self.list.setItemDelegate(_Ticks(access.theme, self.list))
        self.list.setUniformItemSizes(True)
        self.add_button = QPushButton("Add", self)
        self.add_button.setToolTip("Offer a model of this name")
        self.add_button.clicked.connect(self.add)
        self.wire_label = QLabel("Wire of the chosen model", self)
        self.wire = made_choice(access, self)
        self._lay_out()
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(self.add)
        self._items.itemChanged.connect(self._ticked)
        self.list.selectionModel().currentChanged.connect(self._show_wire)
        self.wire.activated.connect(self._wire_entered)

    def show_status(self, status: ProviderStatus) -> None:
        """Show which models are offered now."""
        self._status = status
        listed = [name for name in status.models if name]
        everything = tuple(dict.fromkeys((*listed, *self._fetched)))
        offered = set(listed)
        self._is_filling = True
        names = [self._items.item(row).text() for row in range(self._items.rowCount())]
        if names != list(everything):
            self._items.clear()
            for name in everything:
                item = QStandardItem(name)
                item.setEditable(False)
                item.setCheckable(True)
                self._items.appendRow(item)
        for row in range(self._items.rowCount()):
            item = self._items.item(row)
            is_default = item.text() == status.default_model
            states = Qt.CheckState
            item.setCheckState(states.Checked if item.text() in offered else states.Unchecked)
            item.setEnabled(not is_default)
            item.setToolTip("The default model is always offered" if is_default else item.text())
        self._is_filling = False
        self.list.setFixedHeight(min(_MOST_ROWS, max(1, len(everything))) * _ROW + 6)
        self._show_wire()

    def fetch(self) -> None:
        """Ask the provider for its models, or stop asking."""
        if self._task is not None:
            self.cancel()
            return
        self._task = self._access.start(self._fetch(), "fetch models")
        self.fetch_button.setText("Cancel")
        self._tell("Asking…")

    def cancel(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()

    def add(self) -> None:
        """Offer a model of the name that is entered, or tick the one that is found."""
        name = self.filter.text().strip()
        if name and self._status is not None:
            self.filter.clear()
            self._offer([*self._offered(), name])

    async def _fetch(self) -> None:
        try:
            report = await self._access.backend.fetch_models(self._provider_id)
        except (UserError, EngineError) as error:
            self._ended("")
            self.say_wrong(told(error))
        except asyncio.CancelledError:
            self._ended("Stopped asking.")
            raise
        else:
            self._fetched = report.models
            self._set_first_default(report.models)
            self._ended(report.sentence if report.ok else "")
            self.say_wrong("" if report.ok else report.sentence)
            if self._status is not None:
                self.show_status(self._status)

    def _set_first_default(self, models: Sequence[str]) -> None:
        """Give an endpoint of the user's own a default model that it has, if it has none yet."""
        place = ("providers", self._provider_id, "default_model")
        is_own = self._status is not None and self._status.is_own
        if is_own and models and self._access.value(place) is None:
            self._access.put(place, models[0], self._settle)

    def _ended(self, words: str) -> None:
        self._task = None
        self.fetch_button.setText("Fetch Models")
        self._tell(words)

    def _tell(self, words: str) -> None:
        self.told.setText(words)
        self.told.setVisible(bool(words))

    def _offered(self) -> list[str]:
        items = [self._items.item(row) for row in range(self._items.rowCount())]
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]

    def _ticked(self, item: QStandardItem) -> None:
        if not self._is_filling:
            self._offer(self._offered())

    def _offer(self, names: Sequence[str]) -> None:
        place = ("providers", self._provider_id, "models")
        self._access.put(place, list(dict.fromkeys(names)), self._settle)

    def _settle(self, wrong: str) -> None:
        self.say_wrong(wrong)
        if self._status is not None:
            status = self._access.backend.provider(self._provider_id)
            self.show_status(status or self._status)

    def _filter(self, words: str) -> None:
        self._proxy.setFilterFixedString(words.strip())
        left = self._proxy.rowCount()
        self._tell(f"{plural(left, 'model')} found" if words.strip() else "")
        self.add_button.setEnabled(bool(words.strip()))

    def _chosen(self) -> str:
        index: QModelIndex = self.list.currentIndex()
        return str(index.data()) if index.isValid() else ""

    def _show_wire(self, *_: Any) -> None:
        name = self._chosen()
        wires = self._access.value(("providers", self._provider_id, "model_wires")) or {}
        words = [("", "As the provider"), *self._wires]
        keys = [key for key, _ in words]
        self.wire.show_entries([text for _, text in words], keys.index(wires.get(name, "")))
        self.wire.setEnabled(bool(name))
        self.wire_label.setText(f"Wire of {name}" if name else "Wire of the chosen model")

    def _wire_entered(self, index: int) -> None:
        name = self._chosen()
        if name:
            wire = [None, *(key for key, _ in self._wires)][index]
            place = ("providers", self._provider_id, "model_wires", name)
            self._access.put(place, wire, self._settle)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self.filter, 1)
        top.addWidget(self.add_button)
        top.addWidget(self.fetch_button)
        below = QHBoxLayout()
        below.setSpacing(8)
        self.wire_label.setProperty("kind", "small")
        below.addWidget(self.wire_label)
        below.addStretch(1)
        below.addWidget(self.wire)
        column = QVBoxLayout()
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self.told)
        column.addWidget(self.list)
        column.addLayout(below)
        self.control_box.addLayout(column)
        self._stops = [self.filter]
        for control, name in (
            (self.filter, "Find or add a model"),
            (self.list, "Offered models"),
            (self.add_button, "Offer this model"),
            (self.fetch_button, "Fetch the provider's models"),
            (self.wire, "Wire of the chosen model"),
        ):
            control.setAccessibleName(name)
        self.add_button.setEnabled(False)
        self._tell("")
