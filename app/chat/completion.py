"""Offers skills behind `/` and files behind `@` while a message is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel, QTextCursor
from PySide6.QtWidgets import QFrame, QListView, QPlainTextEdit, QVBoxLayout

from app.inspector.offers import Skill

_MOST = 8
_ROW = 26
_WIDTH = 420
_TOKEN = re.compile(r"(?:^|(?<=\s))([/@])([^\s/@][^\s@]*)?$")


def fitting_skills(skills: Sequence[Skill], typed: str) -> list[Skill]:
    """Those that fit, those first whose id begins with what was typed."""
    word = typed.casefold()
    begin = [each for each in skills if each.id.casefold().startswith(word)]
    inside = [each for each in skills if word in each.id.casefold() and each not in begin]
    return [*begin, *inside][:_MOST]


def fitting_files(names: Sequence[str], typed: str) -> list[str]:
    """Those that fit best: by the name's beginning, in the name, in the path, letter by letter."""
    word = typed.casefold()
    ranks: tuple[list[str], ...] = ([], [], [], [])
    letters = re.compile(".*?".join(map(re.escape, word)))
    for name in names:
        whole = name.casefold()
        last = whole.rpartition("/")[2]
        if last.startswith(word):
            ranks[0].append(name)
        elif word in last:
            ranks[1].append(name)
        elif word in whole:
            ranks[2].append(name)
        elif len(ranks[3]) < _MOST and letters.search(whole):
            ranks[3].append(name)
        if len(ranks[0]) >= 4 * _MOST:
            break
    for rank in ranks[:3]:
        rank.sort(key=lambda name: (len(name), name))
    return [name for rank in ranks for name in rank][:_MOST]


class Completion(QObject):
    """A list above the cursor of one field, which keeps the focus throughout.

    Signals:
        files_wanted: `@` was typed; `set_files` is to be called, now or a little later.
        skills_wanted: `/` was typed; the same with `set_skills`.
    """

    files_wanted = Signal()
    skills_wanted = Signal()

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field)
        self._field = field
        self._skills: tuple[Skill, ...] = ()
        self._files: tuple[str, ...] = ()
        self._asked = ""
        self._frame: QFrame | None = None
        self._list: QListView | None = None
        self._model = QStandardItemModel(self)
        field.installEventFilter(self)
        field.textChanged.connect(self._offer)

    @property
    def offered(self) -> list[str]:
        """What is listed now: `/id` or `@path`."""
        if self._frame is None or not self._frame.isVisible():
            return []
        return [str(self._model.item(row).data()) for row in range(self._model.rowCount())]

    def set_skills(self, skills: Sequence[Skill]) -> None:
        """Offer these behind `/`."""
        self._skills = tuple(skills)
        self._offer()

    def set_files(self, names: Sequence[str]) -> None:
        """Offer these behind `@`; they are named from the run's folder on."""
        self._files = tuple(names)
        self._offer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lead the list with the keys of the field while it is open."""
        if event.type() == QEvent.Type.FocusOut:
            self._close()
        elif self.offered and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._press(event)
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> bool:
        assert self._list is not None
        keys, row = Qt.Key, self._list.currentIndex().row()
        match event.key():
            case keys.Key_Down:
                row += 1
            case keys.Key_Up:
                row -= 1
            case keys.Key_Return | keys.Key_Enter | keys.Key_Tab:
                self._take(self._list.currentIndex())
                return True
            case keys.Key_Escape:
                self._close()
                return True
            case _:
                return False
        self._list.setCurrentIndex(self._model.index(row % self._model.rowCount(), 0))
        return True

    def _typed(self) -> tuple[str, str] | None:
        cursor = self._field.textCursor()
        match = _TOKEN.search(cursor.block().text()[: cursor.positionInBlock()])
        return (match[1], match[2] or "") if match is not None else None

    def _offer(self) -> None:
        typed = self._typed() if self._field.hasFocus() else None
        sign = typed[0] if typed is not None else ""
        if sign != self._asked:
            self._asked = sign
            wanted = {"@": self.files_wanted, "/": self.skills_wanted}.get(sign)
            if wanted is not None:
                wanted.emit()
        entries: list[tuple[str, str]] = []
        if typed is not None and typed[0] == "/":
            found = fitting_skills(self._skills, typed[1])
            entries = [(f"/{each.id}", each.about) for each in found]
        elif typed is not None:
            entries = [(f"@{name}", "") for name in fitting_files(self._files, typed[1])]
        if not entries or typed is None or [each for each, _ in entries] == ["".join(typed)]:
            self._close()
            return
        self._show(entries)

    def _show(self, entries: Sequence[tuple[str, str]]) -> None:
        frame, shown = self._made()
        self._model.clear()
        for text, about in entries:
            item = QStandardItem(f"{text}   {about}".rstrip())
            item.setData(text)
            item.setEditable(False)
            self._model.appendRow(item)
        shown.setCurrentIndex(self._model.index(0, 0))
        window = self._field.window()
        frame.resize(min(_WIDTH, window.width() - 16), len(entries) * _ROW + 12)
        spot = self._field.viewport().mapTo(window, self._field.cursorRect().topLeft())
        x = min(spot.x(), window.width() - frame.width() - 8)
        frame.move(QPoint(max(8, x), max(8, spot.y() - frame.height() - 6)))
        frame.show()
        frame.raise_()

    def _made(self) -> tuple[QFrame, QListView]:
        """The frame and its list; made when something is offered for the first time."""
        if self._frame is None or self._list is None:
            self._frame = QFrame(self._field.window())
            self._frame.setProperty("kind", "popover")
            self._frame.setAccessibleName("What can be inserted")
            self._list = QListView(self._frame)
            self._list.setModel(self._model)
            self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._list.setAccessibleName("Skills and files that fit")
            self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
            self._list.setUniformItemSizes(True)
            self._list.clicked.connect(self._take)
            box = QVBoxLayout(self._frame)
            box.setContentsMargins(5, 5, 5, 5)
            box.addWidget(self._list)
        return self._frame, self._list

    def _take(self, index: QModelIndex) -> None:
        typed = self._typed()
        chosen = self._model.itemFromIndex(index)
        if typed is None or chosen is None:
            self._close()
            return
        cursor = self._field.textCursor()
        left = QTextCursor.MoveOperation.Left
        cursor.movePosition(left, QTextCursor.MoveMode.KeepAnchor, len(typed[1]) + 1)
        cursor.insertText(f"{reference(str(chosen.data()))} ")
        self._close()

    def _close(self) -> None:
        if self._frame is not None:
            self._frame.hide()


def reference(text: str) -> str:
    """A skill or a file as it stands in a message; names with blanks are put into quotes."""
    return f'@"{text[1:]}"' if text.startswith("@") and any(map(str.isspace, text)) else text
