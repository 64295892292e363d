"""Theme, size of text and motion of this window."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from app.settings.access import Access
from app.settings.fields import made_choice
from app.settings.page import ListedPage
from app.settings.rows import Row, Switch
from app.theme.theme import LARGEST_TEXT, SMALLEST_TEXT, TEXT_STEP

TEXT_KEY = "text_percent"
_MODES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


class AppearancePage(ListedPage):
    """What is set here belongs to the windows of this computer and is kept with their sizes."""

    id = "appearance"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        group = self.group()
        self._build_theme()
        self.put(group, "theme", self._theme_row)
        self._build_text()
        self.put(group, "text_size", self._text_row)
        motion = Row(
            access.theme, "Reduce motion", "Nothing slides or glides, whatever the system says."
        )
        self.motion = Switch(access.theme, motion)
        self.motion.clicked.connect(self._set_motion)
        motion.adopt(self.motion)
        self.put(group, "reduced_motion", motion)
        self.box.addStretch(1)
        access.theme.changed.connect(self.refresh)
        self.refresh()

    def opened(self) -> None:
        """Show how it is set now."""
        self.refresh()

    def refresh(self) -> None:
        """Show how it is set now."""
        theme = self.access.theme
        modes = [mode for mode, _ in _MODES]
        self.theme_box.show_entries([words for _, words in _MODES], modes.index(theme.mode))
        self.motion.setChecked(theme.is_motion_reduced)
        self.percent.setText(f"{theme.text_percent} %")
        self.smaller.setEnabled(theme.text_percent > SMALLEST_TEXT)
        self.larger.setEnabled(theme.text_percent < LARGEST_TEXT)

    def set_text(self, percent: int) -> None:
        """Show all texts at this size."""
        self.access.theme.set_text_percent(percent)
        self.access.window.state.put(TEXT_KEY, str(percent))
        self.refresh()

    def _build_theme(self) -> None:
        self._theme_row = Row(self.access.theme, "Theme")
        self.theme_box = made_choice(self.access, self._theme_row)
        self.theme_box.activated.connect(self._set_theme)
        self._theme_row.adopt(self.theme_box, stretch=1)

    def _build_text(self) -> None:
        row = self._text_row = Row(
            self.access.theme, "Size of text", "The canvas has its own zoom."
        )
        self.smaller = QPushButton("A-", row)
        self.percent = QPushButton("100 %", row)
        self.larger = QPushButton("A+", row)
        self.smaller.clicked.connect(lambda: self._step(-TEXT_STEP))
        self.percent.clicked.connect(lambda: self.set_text(100))
        self.larger.clicked.connect(lambda: self._step(TEXT_STEP))
        row.adopt(self.smaller, name="Smaller text")
        row.adopt(self.percent, name="Size of text as it was")
        row.adopt(self.larger, name="Larger text")
        self.smaller.setToolTip("Smaller")
        self.percent.setToolTip("Back to 100 %")
        self.larger.setToolTip("Larger")

    def _step(self, by: int) -> None:
        wanted = self.access.theme.text_percent + by
        self.set_text(min(LARGEST_TEXT, max(SMALLEST_TEXT, wanted)))

    def _set_theme(self, index: int) -> None:
        self.access.window.actions_[f"theme_{_MODES[index][0]}"].trigger()
        self.refresh()

    def _set_motion(self, is_on: bool) -> None:
        action = self.access.window.actions_["reduced_motion"]
        if action.isChecked() != is_on:
            action.trigger()
