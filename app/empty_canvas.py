"""What the canvas says where no workflow is open: what to do next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.main_window import MainWindow


class EmptyCanvas(QFrame):
    """Words and buttons in the middle of the canvas in front, gone when something is open there."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window.canvas)
        self._window = window
        self._desk = window.desks.front
        self.setAccessibleName("No workflow is open")
        heading = QLabel("No workflow is open", self)
        heading.setProperty("kind", "heading")
        about = QLabel("Choose one in the sidebar, or begin here.", self)
        about.setProperty("kind", "second")
        self.buttons = [
            self._button("new", "New Workflow", "primary"),
            self._button("open", "Open…", ""),
            self._button("open_example", "Open the Example", ""),
        ]
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in self.buttons:
            row.addWidget(button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(10)
        for label in (heading, about):
            box.addWidget(label, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addLayout(row)
        window.canvas.installEventFilter(self)
        self._desk.document.replaced.connect(self._follow)
        self._desk.document.renamed.connect(self._follow)
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the middle."""
        if event.type() == QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def _button(self, action_id: str, text: str, kind: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setProperty("kind", kind)
        button.setToolTip(self._window.actions_.tip(action_id))
        button.clicked.connect(self._window.actions_[action_id].trigger)
        return button

    def _follow(self) -> None:
        self.setVisible(self._desk.is_empty)
        self._place()

    def _place(self) -> None:
        size, canvas = self.sizeHint(), self._desk.canvas
        self.setGeometry(
            (canvas.width() - size.width()) // 2,
            (canvas.height() - size.height()) // 2,
            size.width(),
            size.height(),
        )
