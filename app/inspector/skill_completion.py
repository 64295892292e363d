"""Offers skills while `/` and a name are typed; the text keeps the focus throughout."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel, QTextCursor
from PySide6.QtWidgets import QFrame, QListView, QPlainTextEdit, QVBoxLayout

from app.inspector.markdown_colors import SKILL
from app.inspector.offers import Skill

_MOST = 8
_ROW = 28
_WIDTH = 320


def ranked(skills: Sequence[Skill], typed: str) -> list[Skill]:
    """Those that fit what was typed: first by the beginning of the id, then anywhere in it."""
    word = typed.casefold()
    begin = [skill for skill in skills if skill.id.casefold().startswith(word)]
    inside = [skill for skill in skills if word in skill.id.casefold() and skill not in begin]
    return [*begin, *inside][:_MOST]


class SkillCompletion(QObject):
    """A list below the cursor of one editor."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor)
        self._editor = editor
        self._skills: tuple[Skill, ...] = ()
        self._frame: QFrame | None = None
        self._model = QStandardItemModel(self)
        self._list: QListView | None = None
        editor.installEventFilter(self)
        editor.textChanged.connect(self._offer)

    def set_skills(self, skills: Sequence[Skill]) -> None:
        """Offer these; with none of them there is never a list."""
        self._skills = tuple(skills)

    @property
    def offered(self) -> list[str]:
        """The ids that are listed now."""
        if self._frame is None or not self._frame.isVisible():
            return []
        return [str(self._model.item(row).data()) for row in range(self._model.rowCount())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lead the list with the keys of the editor while it is open."""
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
        keys = Qt.Key
        row = self._list.currentIndex().row()
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

    def _typed(self) -> str | None:
        """What stands between the last `/` and the cursor, if it calls a skill."""
        cursor = self._editor.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        if before.endswith("/") and (len(before) == 1 or before[-2].isspace()):
            return ""
        calls = [match for match in SKILL.finditer(before) if match.end() == len(before)]
        return calls[-1][1] if calls else None

    def _offer(self) -> None:
        typed = self._typed() if self._skills and self._editor.hasFocus() else None
        found = ranked(self._skills, typed) if typed is not None else []
        if not found or (len(found) == 1 and found[0].id == typed):
            self._close()
            return
        frame, shown = self._made()
        self._model.clear()
        for skill in found:
            item = QStandardItem(f"/{skill.id}   {skill.about}".rstrip())
            item.setData(skill.id)
            item.setEditable(False)
            self._model.appendRow(item)
        shown.setCurrentIndex(self._model.index(0, 0))
        window = self._editor.window()
        frame.resize(min(_WIDTH, window.width() - 16), len(found) * _ROW + 12)
        self._place()
        frame.show()
        frame.raise_()
        # What was typed may have moved the editor; that shows once the form is laid out again.
        QTimer.singleShot(0, self._place)

    def _place(self) -> None:
        """Lie below the line of the cursor, or above it where there is no room below."""
        frame = self._frame
        if frame is None:
            return
        window, cursor = self._editor.window(), self._editor.cursorRect()
        spot = self._editor.viewport().mapTo(window, cursor.bottomLeft())
        x = min(spot.x(), window.width() - frame.width() - 8)
        y = spot.y() + 4
        if y + frame.height() > window.height() - 8:
            y = spot.y() - cursor.height() - 4 - frame.height()
        frame.move(QPoint(max(8, x), max(8, y)))

    def _made(self) -> tuple[QFrame, QListView]:
        """The frame and its list; made when something is offered for the first time."""
        if self._frame is None or self._list is None:
            self._frame = QFrame(self._editor.window())
            self._frame.setProperty("kind", "popover")
            self._frame.setAccessibleName("Skills")
            self._list = QListView(self._frame)
            self._list.setModel(self._model)
            self._list.setProperty("kind", "offers")
            self._list.setUniformItemSizes(True)
            self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._list.setAccessibleName("Skills that fit")
            self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self._list.clicked.connect(self._take)
            box = QVBoxLayout(self._frame)
            box.setContentsMargins(5, 5, 5, 5)
            box.addWidget(self._list)
        return self._frame, self._list

    def _take(self, index: QModelIndex) -> None:
        typed = self._typed()
        skill_id = self._model.item(index.row()).data() if index.isValid() else None
        self._close()
        if typed is None or skill_id is None:
            return
        cursor = self._editor.textCursor()
        cursor.movePosition(
            QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(typed)
        )
        cursor.insertText(f"{skill_id} ")

    def _close(self) -> None:
        if self._frame is not None:
            self._frame.hide()
