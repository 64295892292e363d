"""A row for a key: entered masked, kept in the keyring, and never shown again."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtWidgets import QLineEdit, QPushButton

from app.settings.access import Access
from app.settings.rows import Row
from orchestration.settings.facts import KeyState

Keep = Callable[[str], Coroutine[Any, Any, None]]
Drop = Callable[[], Coroutine[Any, Any, None]]


class SecretRow(Row):
    """A key that is set, replaced or removed.

    Args:
        access: what the pages work with.
        keep: keeps a key.
        drop: forgets the stored one.
        caption: what the key is for.
    """

    def __init__(self, access: Access, keep: Keep, drop: Drop, caption: str = "Key") -> None:
        super().__init__(access.theme, caption, wide=True)
        self._access = access
        self._keep, self._drop = keep, drop
        self._state = KeyState(False, "", False, True)
        self._place = ""
        self._is_busy = False
        self.line = QLineEdit(self)
        self.line.setEchoMode(QLineEdit.EchoMode.Password)
        self.line.returnPressed.connect(self.keep)
        self.line.textEdited.connect(self._refresh_buttons)
        self.button = QPushButton("Set", self)
        self.button.setProperty("kind", "primary")
        self.button.clicked.connect(self.keep)
        self.removal = QPushButton("Remove", self)
        self.removal.clicked.connect(self.remove)
        self.adopt(self.line, stretch=1)
        self.control_box.addWidget(self.button)
        self.control_box.addWidget(self.removal)

    def show_state(self, state: KeyState, place: str) -> None:
        """Show where the key comes from; `place` is where the next one would be kept."""
        self._state, self._place = state, place
        kept = f" One that is set here goes into {place}." if place else ""
        if state.is_stored:
            words = "A key is stored. It is not shown."
            if state.is_in_environment:
                words += f" It counts instead of the one in {state.variable}."
        elif state.is_in_environment:
            words = f"The key comes from the environment variable {state.variable}.{kept}"
        elif state.variable:
            words = f"No key yet: enter one, or set {state.variable} before the start.{kept}"
        elif state.is_needed:
            words = f"No key yet.{kept}"
        else:
            words = f"Only if the endpoint wants one.{kept}"
        self.set_note(words)
        hint = "••••••••••••   stored" if state.is_stored else "Paste the key here"
        self.line.setPlaceholderText(hint)
        self._refresh_buttons()

    def keep(self) -> None:
        """Keep what is entered."""
        if not self._is_busy:
            self._busy(True)
            self._access.work(self._kept(self.line.text()), "keep a key", self._settle)

    def remove(self) -> None:
        """Forget the stored key."""
        if not self._is_busy and self._state.is_stored:
            self._busy(True)
            self._access.work(self._drop(), "forget a key", self._settle)

    async def _kept(self, key: str) -> None:
        await self._keep(key)
        self.line.clear()
        self._access.saved.emit()

    def _busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        self._refresh_buttons()

    def _settle(self, wrong: str) -> None:
        self.say_wrong(wrong)
        self._busy(False)

    def _refresh_buttons(self) -> None:
        word = "Replace" if self._state.is_stored else "Set"
        self.button.setText(word)
        self.button.setAccessibleName(f"{word} {self.caption}")
        self.button.setEnabled(not self._is_busy and bool(self.line.text().strip()))
        self.removal.setAccessibleName(f"Remove {self.caption}")
        self.removal.setVisible(self._state.is_stored)
        self.removal.setEnabled(not self._is_busy)
