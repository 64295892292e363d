"""The colours, sizes and durations that every surface is made of, once for light, once for dark."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from PySide6.QtGui import QColor

RADIUS_FIELD = 8
RADIUS_CARD = 12
RADIUS_PANE = 14
TEXT_LIST = 13
TEXT_PROSE = 14
TEXT_SMALL = 12
MOTION_MS = 180


class Tokens(NamedTuple):
    """One colour scheme; every value is a colour as `#rrggbb` or `#aarrggbb`.

    `on_accent` is for text on the accent. Status colours are for marks and edges, never for text:
    two of them do not reach a contrast of 4.5 on a light ground.
    """

    is_dark: bool
    ground: str
    panel: str
    raised: str
    text: str
    text_second: str
    hairline: str
    line_strong: str
    hover: str
    selected: str
    accent: str
    accent_hover: str
    on_accent: str
    idle: str
    running: str
    done: str
    waiting: str
    failed: str
    code_ground: str
    grid_dot: str

    def color(self, name: str) -> QColor:
        """The colour called `name` (a field of this tuple) as Qt paints it."""
        return QColor(_read(getattr(self, name)))

    def tint(self, name: str, alpha: float) -> QColor:
        """The colour called `name`, thinned to `alpha` (0 to 1)."""
        color = QColor(getattr(self, name))
        color.setAlphaF(alpha)
        return color

    def solid(self, name: str, ground: str) -> QColor:
        """The colour called `name` as it looks on `ground`, which is opaque, without its alpha.

        To paint it costs a fraction of what a translucent one does.
        """
        color, below = self.color(name), self.color(ground)
        share = color.alphaF()
        rest = 1 - share
        return QColor.fromRgbF(
            color.redF() * share + below.redF() * rest,
            color.greenF() * share + below.greenF() * rest,
            color.blueF() * share + below.blueF() * rest,
        )

    def css(self, name: str) -> str:
        """The colour called `name` as a style sheet writes it."""
        color = QColor(getattr(self, name))
        return f"rgba({color.red()},{color.green()},{color.blue()},{color.alphaF():.3f})"


@lru_cache(maxsize=128)
def _read(text: str) -> QColor:
    """A colour is asked for thousands of times in a frame, and read once."""
    return QColor(text)


LIGHT = Tokens(
    is_dark=False,
    ground="#f6f3ed",
    panel="#fcfbf8",
    raised="#ffffff",
    text="#18181b",
    text_second="#66645d",
    hairline="#1418181b",
    line_strong="#3d18181b",
    hover="#0d18181b",
    selected="#1418181b",
    accent="#6f7cf7",
    accent_hover="#7f8bf9",
    on_accent="#0f1130",
    idle="#8a877f",
    running="#5360d9",
    done="#2f8b63",
    waiting="#b7821b",
    failed="#b04d57",
    code_ground="#0d18181b",
    grid_dot="#2418181b",
)

DARK = Tokens(
    is_dark=True,
    ground="#101010",
    panel="#1c1c1d",
    raised="#202021",
    text="#f2f2f3",
    text_second="#b0b0b3",
    hairline="#17ffffff",
    line_strong="#42ffffff",
    hover="#0fffffff",
    selected="#1affffff",
    accent="#e8e8ea",
    accent_hover="#ffffff",
    on_accent="#18181b",
    idle="#8d8d92",
    running="#8b95ff",
    done="#4ade80",
    waiting="#e5b454",
    failed="#f0808a",
    code_ground="#12ffffff",
    grid_dot="#26ffffff",
)
