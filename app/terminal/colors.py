"""The colours of a terminal: sixteen of the theme's, the cube and the greys, and any other."""

from __future__ import annotations

from PySide6.QtGui import QColor

from app.terminal.cells import (
    BOLD,
    DEFAULT,
    FAINT,
    HIDDEN,
    INVERSE,
    background_of,
    flags_of,
    foreground_of,
    is_true_color,
)
from app.theme.tokens import Tokens

_LIGHT = [
    "#3b3b40",
    "#b3303d",
    "#2a7a4f",
    "#8f6410",
    "#3947c4",
    "#8a3a9c",
    "#17727d",
    "#6b6962",
    "#57564f",
    "#c93c4a",
    "#1f8a54",
    "#a87413",
    "#5360d9",
    "#a44cb8",
    "#1c8794",
    "#18181b",
]
_DARK = [
    "#3a3a3e",
    "#f0808a",
    "#5fd38d",
    "#e5b454",
    "#8b95ff",
    "#d08cf0",
    "#5cc8d6",
    "#d4d4d8",
    "#85858c",
    "#ff9aa3",
    "#86efac",
    "#f5cf7a",
    "#a9b1ff",
    "#e3adff",
    "#86e1ec",
    "#ffffff",
]
_STEPS = (0, 95, 135, 175, 215, 255)
_FAINT_SHARE = 0.55


class TerminalColors:
    """What each style is painted with, under one scheme; every style is worked out once."""

    def __init__(self, tokens: Tokens) -> None:
        self.ground = tokens.color("ground")
        self.text = tokens.color("text")
        self.cursor = tokens.color("accent")
        self.on_cursor = tokens.color("on_accent")
        self.selected = tokens.tint("running", 0.35)
        self._palette = [QColor(name) for name in (_DARK if tokens.is_dark else _LIGHT)]
        self._known: dict[int, tuple[QColor, QColor | None]] = {}

    def pair(self, style: int) -> tuple[QColor, QColor | None]:
        """The colour of the text and the one behind it; `None` is the ground of the terminal."""
        pair = self._known.get(style)
        if pair is None:
            if len(self._known) > 4096:  # a program that paints pictures with true colours
                self._known.clear()
            pair = self._known[style] = self._made(style)
        return pair

    def _made(self, style: int) -> tuple[QColor, QColor | None]:
        flags = flags_of(style)
        ink_code, ground_code = foreground_of(style), background_of(style)
        if flags & BOLD and 1 <= ink_code <= 8:
            ink_code += 8
        ink = self.text if ink_code == DEFAULT else self._color(ink_code)
        ground = None if ground_code == DEFAULT else self._color(ground_code)
        if flags & INVERSE:
            ink, ground = ground or self.ground, ink
        behind = ground or self.ground
        if flags & FAINT:
            ink = _mixed(ink, behind, _FAINT_SHARE)
        if flags & HIDDEN:
            ink = behind
        return ink, ground

    def _color(self, code: int) -> QColor:
        if is_true_color(code):
            return QColor(code >> 16 & 255, code >> 8 & 255, code & 255)
        index = code - 1
        if index < 16:
            return self._palette[index]
        if index < 232:
            index -= 16
            return QColor(_STEPS[index // 36], _STEPS[index // 6 % 6], _STEPS[index % 6])
        grey = 8 + 10 * (index - 232)
        return QColor(grey, grey, grey)


def _mixed(over: QColor, under: QColor, share: float) -> QColor:
    return QColor.fromRgbF(
        *(
            a * share + b * (1 - share)
            for a, b in (
                (over.redF(), under.redF()),
                (over.greenF(), under.greenF()),
                (over.blueF(), under.blueF()),
            )
        )
    )
