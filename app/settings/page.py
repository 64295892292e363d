"""The base of all pages: a heading, and groups of rows that scroll."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.settings.access import Access
from app.settings.index import page_spec
from app.settings.rows import Group, Row

WIDTH = 720
_MARGIN = 28


class Page(QScrollArea):
    """One page. What it shows is asked for anew each time it is opened, by `opened`."""

    def __init__(self, access: Access, title: str, about: str) -> None:
        super().__init__()
        self.access = access
        self.rows: dict[str, Row] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(f"Settings: {title}")
        inside = QWidget(self)
        self.column = QWidget(inside)
        self.column.setMaximumWidth(WIDTH)
        self.heading = QLabel(title, self.column)
        self.heading.setProperty("kind", "heading")
        self.about = QLabel(about, self.column)
        self.about.setProperty("kind", "second")
        self.about.setWordWrap(True)
        self.box = QVBoxLayout(self.column)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(8)
        self.box.addWidget(self.heading)
        self.box.addWidget(self.about)
        self.box.addSpacing(6)
        self._end = QVBoxLayout()
        outer = QHBoxLayout(inside)
        outer.setContentsMargins(_MARGIN, 26, _MARGIN, 40)
        outer.addStretch(1)
        outer.addWidget(self.column, 1000, Qt.AlignmentFlag.AlignTop)
        outer.addStretch(1)
        self.setWidget(inside)

    def opened(self) -> None:
        """It is looked at from now on."""

    def closed(self) -> None:
        """It is not looked at any more."""

    def group(self, title: str = "", note: str = "") -> Group:
        """A new group at the end, under a title."""
        label = None
        if title:
            label = QLabel(title, self.column)
            label.setProperty("kind", "title")
            label.setContentsMargins(2, 10, 0, 0)
            self.box.addWidget(label)
        if note:
            small = QLabel(note, self.column)
            small.setProperty("kind", "small")
            small.setWordWrap(True)
            small.setContentsMargins(2, 0, 0, 2)
            self.box.addWidget(small)
        made = Group(self.column, label)
        self.box.addWidget(made)
        return made

    def put(self, group: Group, name: str, row: Row) -> Row:
        """Put a row into a group, under the name by which it is found."""
        self.rows[name] = row
        group.add(row)
        for control in row.findChildren(QWidget):
            if control.focusPolicy() & Qt.FocusPolicy.TabFocus:
                control.installEventFilter(self)
        return row

    def reveal(self, name: str) -> None:
        """Bring a row into view and let the person change it."""
        row = self.rows.get(name)
        if row is not None:
            self.ensureWidgetVisible(row, 0, 60)
            row.take_focus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Bring what is gone to by keys into view."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            self.ensureWidgetVisible(watched, 0, 40)
        return super().eventFilter(watched, event)


class ListedPage(Page):
    """A page of the list at the left."""

    id = ""

    def __init__(self, access: Access) -> None:
        spec = page_spec(self.id)
        super().__init__(access, spec.title, spec.about)
