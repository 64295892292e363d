"""Which scheme is on: it follows the system, or what the person has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.theme.tokens import DARK, LIGHT, MOTION_MS, TEXT_LIST, Tokens

if TYPE_CHECKING:
    from app.theme.icons import IconSet

SMALLEST_TEXT, LARGEST_TEXT, TEXT_STEP = 80, 150, 10
MODES = ("system", "light", "dark")


class Theme(QObject):
    """The scheme in use and everything that is made from it.

    Signals:
        changed: Tokens and icons are others now; whoever paints by itself paints again.
    """

    changed = Signal()

    def __init__(self, mode: str, parent: QObject) -> None:
        super().__init__(parent)
        application = QApplication.instance()
        if not isinstance(application, QApplication):
            raise RuntimeError("a theme needs an application with widgets")
        self._application = application
        self._reduced_motion = False
        self.mode = mode if mode in MODES else "system"
        self.text_percent = 100
        self.font = QFont(application.font())
        self._set_font()
        # What the style has taken from the system, before it gets colours of ours.
        ground = application.palette().color(QPalette.ColorRole.Window)
        self.tokens: Tokens = self._wanted_tokens(ground.lightnessF() < 0.5)
        self._icons: IconSet | None = None
        self._is_dressed = False
        self._apply()
        application.styleHints().colorSchemeChanged.connect(self._follow_system)

    def dress(self) -> None:
        """Give every widget its look; until now there are only colours, for the first frame."""
        self._is_dressed = True
        self._apply()

    @property
    def icons(self) -> IconSet:
        """Icons in the colours of the scheme."""
        if self._icons is None:
            # Imported here: there is no icon in the first frame.
            from app.theme.icons import IconSet

            self._icons = IconSet(self.tokens)
        return self._icons

    def set_mode(self, mode: str) -> None:
        """Switch to `system`, `light` or `dark`."""
        if mode not in MODES:
            raise ValueError(f"there is no theme '{mode}'; choose one of {', '.join(MODES)}")
        self.mode = mode
        schemes = Qt.ColorScheme
        wanted = {"light": schemes.Light, "dark": schemes.Dark}.get(mode, schemes.Unknown)
        QGuiApplication.styleHints().setColorScheme(wanted)
        self._follow_system()

    @property
    def is_motion_reduced(self) -> bool:
        """Whether the person wants no motion, whatever the system says."""
        return self._reduced_motion

    def set_reduced_motion(self, on: bool) -> None:
        """Leave out all motion, whatever the system says."""
        if on != self._reduced_motion:
            self._reduced_motion = on
            self.changed.emit()

    def set_text_percent(self, percent: int) -> None:
        """Show all texts at this size; what is outside of the bounds is taken to be at them."""
        percent = min(LARGEST_TEXT, max(SMALLEST_TEXT, percent))
        if percent != self.text_percent:
            self.text_percent = percent
            self._set_font()
            self._apply()
            self.changed.emit()

    def scaled(self, pixels: int) -> int:
        """A size of text as the person wants to have it."""
        return round(pixels * self.text_percent / 100)

    def _set_font(self) -> None:
        font = QFont(self.font)
        font.setPixelSize(self.scaled(TEXT_LIST))
        self._application.setFont(font)
        self.font = font

    def motion_ms(self) -> int:
        """How long a movement takes, in milliseconds; 0 where the person wants none."""
        # Imported here: its hundreds of names cost time that the first frame does not have.
        from PySide6.QtWidgets import QStyle

        style = self._application.style()
        wanted = style.styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration)
        return 0 if self._reduced_motion or wanted == 0 else MOTION_MS

    def sized_font(self, pixels: int, *, strong: bool = False) -> QFont:
        """The system's font at `pixels`, semi-bold if `strong`."""
        font = QFont(self.font)
        font.setPixelSize(self.scaled(pixels))
        if strong:
            font.setWeight(QFont.Weight.DemiBold)
        return font

    def _wanted_tokens(self, system_is_dark: bool) -> Tokens:
        if self.mode == "system":
            return DARK if system_is_dark else LIGHT
        return DARK if self.mode == "dark" else LIGHT

    def _follow_system(self) -> None:
        scheme = QGuiApplication.styleHints().colorScheme()
        tokens = self._wanted_tokens(scheme == Qt.ColorScheme.Dark)
        if tokens is not self.tokens:
            self.tokens = tokens
            self._icons = None
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._application.setPalette(palette(self.tokens))
        if self._is_dressed:
            # Imported here: the rules are for what is not in the first frame.
            from app.theme.stylesheet import stylesheet

            self._application.setStyleSheet(stylesheet(self.tokens, self.text_percent))


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
