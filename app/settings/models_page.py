"""Context windows and prices of models, those that are known and those that the user sets."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
)

from app.settings.access import Access
from app.settings.fields import LineRow, as_count, as_number, shown
from app.settings.page import ListedPage
from app.settings.rows import Group, Row
from orchestration.settings.facts import KnownModel

UNKNOWN = "unknown"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ROW, _MOST_ROWS = 26, 10
_HEADS = ("Model", "Context", "Input", "Output")


class ModelsPage(ListedPage):
    """A table of models; the chosen one can be changed below it."""

    id = "models"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._models: tuple[KnownModel, ...] = ()
        self._chosen = ""
        group = self.group(
            "", "Of the providers that are ready. Prices are US dollars for a million tokens."
        )
        row = Row(access.theme, "", wide=True)
        self.table = QTreeWidget(row)
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setHeaderLabels(list(_HEADS))
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        header = self.table.header()
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        header.setFixedHeight(_ROW)
        self.table.setFixedHeight(_ROW * (_MOST_ROWS + 1))
        for column in (1, 2, 3):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, 96)
            self.table.headerItem().setTextAlignment(column, _RIGHT)
        self.table.currentItemChanged.connect(self._choose)
        row.adopt(self.table, name="Models", stretch=1)
        self.put(group, "table", row)
        self._build_adding(group)
        self._below = self.group("Nothing chosen")
        self.fields: dict[str, LineRow] = {}
        self._show_fields()
        self.box.addStretch(1)
        access.changed.connect(self._refresh_if_seen)

    def opened(self) -> None:
        """Look up what is known; price lists take a moment the first time."""
        self.access.work(self._load(), "look up models", self.rows["table"].say_wrong)

    def add(self) -> None:
        """Choose the model that is entered; it is kept once something is set for it."""
        name = self.name.text().strip()
        if not name:
            return
        self.name.clear()
        known = next((m.name for m in self._models if m.name.lower() == name.lower()), None)
        self._chosen = known or name
        if known is None:
            self._models = (*self._models, KnownModel(name))
        self._fill()
        self._show_fields()
        self.fields["context_window"].take_focus()

    async def _load(self) -> None:
        self._models = await self.access.backend.known_models()
        names = {model.name for model in self._models}
        if self._chosen and self._chosen not in names:
            self._models = (*self._models, KnownModel(self._chosen))
        if not self._chosen and self._models:
            self._chosen = self._models[0].name
        self._fill()
        self._show_fields()

    def _build_adding(self, group: Group) -> None:
        adding = Row(self.access.theme, "Another model", "By the name that nodes use for it.")
        self.name = QLineEdit(adding)
        self.name.setPlaceholderText("Name of a model")
        self.name.setMinimumWidth(180)
        self.name.returnPressed.connect(self.add)
        button = QPushButton("Add", adding)
        button.clicked.connect(self.add)
        adding.adopt(self.name, name="Name of a model", stretch=1)
        adding.adopt(button, name="Add the model")
        self.put(group, "add", adding)

    def _fill(self) -> None:
        self.table.blockSignals(True)
        self.table.clear()
        for model in self._models:
            item = QTreeWidgetItem([model.name, *map(str, _told(model))])
            for column in (1, 2, 3):
                item.setTextAlignment(column, _RIGHT)
            item.setToolTip(0, ", ".join(model.providers) or "No provider that is ready offers it")
            self.table.addTopLevelItem(item)
            if model.name == self._chosen:
                self.table.setCurrentItem(item)
        self.table.blockSignals(False)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and item.text(0) != self._chosen:
            self._chosen = item.text(0)
            self._show_fields()

    def _show_fields(self) -> None:
        model = next((each for each in self._models if each.name == self._chosen), None)
        self._below.show_with_title(model is not None)
        if model is None:
            return
        assert self._below.title is not None
        self._below.title.setText(model.name)
        stored = {name.strip().lower(): name for name in self.access.settings.models}
        name = stored.get(model.name.lower(), model.name)
        if self.fields and self.fields["context_window"].line.place == (
            "models",
            name,
            "context_window",
        ):
            return
        self._below.clear()
        access, place = self.access, ("models", name)
        known = KnownModel(model.name, (), model.context_window)
        self.fields = {
            "context_window": LineRow(
                access,
                (*place, "context_window"),
                "Context window",
                "A conversation that would not fit is sent compacted.",
                parse=as_count,
                unit="tokens",
                placeholder=shown(known.context_window) or UNKNOWN,
            )
        }
        for key, caption, value in (
            ("input_price", "Input price", model.input_price),
            ("output_price", "Output price", model.output_price),
            ("cached_price", "Price of cached input", None),
        ):
            note = "As input, if empty." if key == "cached_price" else ""
            self.fields[key] = LineRow(
                access,
                (*place, key),
                caption,
                note or "Input and output price count together.",
                parse=as_number,
                unit="$ / 1M",
                placeholder=shown(value) or ("as input" if key == "cached_price" else UNKNOWN),
            )
        for key, row in self.fields.items():
            self.put(self._below, key, row)

    def _refresh_if_seen(self) -> None:
        if self.isVisible():
            self.opened()


def _told(model: KnownModel) -> tuple[str, str, str]:
    """What counts of a model; what the user has set is marked by a star."""
    own = model.own
    has_price = own.input_price is not None and own.output_price is not None
    pairs = (
        (own.context_window, model.context_window),
        (own.input_price if has_price else None, model.input_price),
        (own.output_price if has_price else None, model.output_price),
    )
    window, *prices = (
        f"{shown(mine)} *" if mine is not None else (shown(known) or UNKNOWN)
        for mine, known in pairs
    )
    return window, prices[0], prices[1]
