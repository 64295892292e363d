"""What a card tells about the run, and the prepared texts that it is painted from."""

from __future__ import annotations

from typing import NamedTuple

from app.canvas.geometry import CARD_WIDTH
from app.canvas.graph_sketch import Card
from app.canvas.static_text import fitted
from app.kit.formats import count_text, duration_text, money_text
from app.kit.visible import visible
from app.theme.statuses import status_style
from app.theme.theme import Theme

PADDING = 14.0
_MARK_ROOM = 18.0
_MODEL_NAMES = {"embedded": "Demo model"}


class NodeRunInfo(NamedTuple):
    """How one node stands.

    Seconds at work so far, tokens in and out, how much waits for a person, what went wrong,
    the model that has answered, and the cost in US dollars.
    """

    status: str = "idle"
    seconds: float | None = None
    tokens: int | None = None
    waiting: int = 0
    detail: str = ""
    model: str = ""
    cost: float | None = None


IDLE = NodeRunInfo()


class NodeTexts:
    """The texts of one card, elided to fit and laid out once."""

    __slots__ = ("model", "status", "time", "time_width", "title", "tokens", "tokens_width")

    def __init__(self, card: Card, info: NodeRunInfo, theme: Theme) -> None:
        small = theme.sized_font(12)
        room = CARD_WIDTH - 2 * PADDING
        time = "" if info.seconds is None else duration_text(info.seconds)
        tokens = _used_up(info)
        self.time, self.time_width = fitted(time, small, room)
        self.tokens, self.tokens_width = fitted(tokens, small, room)
        status = status_style(info.status).label
        taken = self.time_width + 8 if time else 0.0
        self.status, _ = fitted(status, small, room - _MARK_ROOM - taken)
        self.title, _ = fitted(visible(card.label), theme.sized_font(14, strong=True), room)
        taken = self.tokens_width + 8 if tokens else 0.0
        self.model, _ = fitted(model_line(card, info), small, room - taken)


def model_line(card: Card, info: NodeRunInfo = IDLE) -> str:
    """The line below a card's title: the model that answered, else the one that is set."""
    if info.model:
        return _MODEL_NAMES.get(info.model, info.model)
    if card.kind != "agent":
        return f"Unknown kind '{card.kind}'" if card.kind else "Unknown kind"
    return visible(card.model) or "Default model"


def _used_up(info: NodeRunInfo) -> str:
    if info.tokens is None:
        return ""
    if info.cost is None:
        return f"{count_text(info.tokens)} tokens"
    return f"{count_text(info.tokens)} · {money_text(info.cost)}"
