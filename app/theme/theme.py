"""Which scheme is on: it follows the system, or what the person has set."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyle

from app.theme.icons import IconSet
from app.theme.stylesheet import stylesheet
from app.theme.tokens import DARK, LIGHT, MOTION_MS, TEXT_LIST, Tokens

MODES = ("system", "light", "dark")


class Theme(QObject):
    """The scheme in use and everything that is made from it.

    Signals:
        changed: Tokens and icons are others now; whoever paints by itself paints again.
    """

    changed = Signal()

    def __init__(self, application: QApplication, mode: str = "system") -> None:
        super().__init__(application)
        self._application = application
        self._reduced_motion = False
        self.mode = mode if mode in MODES else "system"
        application.setStyle("Fusion")
        font = QFont(application.font())
        font.setPixelSize(TEXT_LIST)
        application.setFont(font)
        self.font = font
        self.tokens: Tokens = self._wanted_tokens()
        self.icons = IconSet(self.tokens)
        self._apply()
        application.styleHints().colorSchemeChanged.connect(self._follow_system)

    def set_mode(self, mode: str) -> None:
        """Switch to `system`, `light` or `dark`."""
        if mode not in MODES:
            raise ValueError(f"there is no theme '{mode}'; choose one of {', '.join(MODES)}")
        self.mode = mode
        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
        QGuiApplication.styleHints().setColorScheme(schemes.get(mode, Qt.ColorScheme.Unknown))
        self._follow_system()

    def set_reduced_motion(self, on: bool) -> None:
        """Leave out all motion, whatever the system says."""
        self._reduced_motion = on

    def motion_ms(self) -> int:
        """How long a movement takes, in milliseconds; 0 where the person wants none."""
        style = self._application.style()
        wanted = style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
        return 0 if self._reduced_motion or wanted == 0 else MOTION_MS

    def sized_font(self, pixels: int, *, strong: bool = False) -> QFont:
        """The system's font at `pixels`, semi-bold if `strong`."""
        font = QFont(self.font)
        font.setPixelSize(pixels)
        if strong:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def _wanted_tokens(self) -> Tokens:
        if self.mode == "system":
            dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
            return DARK if dark else LIGHT
        return DARK if self.mode == "dark" else LIGHT

    def _follow_system(self) -> None:
        tokens = self._wanted_tokens()
        if tokens is not self.tokens:
            self.tokens = tokens
            self.icons = IconSet(tokens)
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._application.setPalette(palette(self.tokens))
        self._application.setStyleSheet(stylesheet(self.tokens))


def palette(tokens: Tokens) -> QPalette:
    """The colours for everything that Qt paints without a rule of the style sheet."""
    role = QPalette.ColorRole
    colors = {
        role.Window: "ground",
        role.WindowText: "text",
        role.Base: "raised",
        role.AlternateBase: "panel",
        role.Text: "text",
        role.Button: "panel",
        role.ButtonText: "text",
        role.BrightText: "text",
        role.ToolTipBase: "raised",
        role.ToolTipText: "text",
        role.PlaceholderText: "text_second",
        role.Highlight: "accent",
        role.HighlightedText: "on_accent",
        role.Link: "running",
        role.LinkVisited: "running",
    }
    made = QPalette()
    for name, color in colors.items():
        made.setColor(name, tokens.color(color))
    faint = QColor(tokens.text)
    faint.setAlphaF(0.42)
    for name in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, name, faint)
    return made
