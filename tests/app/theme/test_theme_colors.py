"""Both schemes can be read, and no status is told by colour alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QWidget

from app.theme.statuses import STATUSES, status_style
from app.theme.theme import Theme
from app.theme.tokens import DARK, LIGHT, Tokens
from orchestration.runs.view_values import NodeStatus


def luminance(color: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (color.redF(), color.greenF(), color.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(tokens: Tokens, ink: str, ground: str) -> float:
    light, dark = sorted(
        (luminance(tokens.color(ink)), luminance(tokens.color(ground))), reverse=True
    )
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_at_least_four_and_a_half(tokens: Tokens) -> None:
    for ground in ("ground", "panel", "raised"):
        for ink in ("text", "text_second"):
            assert contrast(tokens, ink, ground) >= 4.5
    assert contrast(tokens, "on_accent", "accent") >= 4.5
    assert contrast(tokens, "on_accent", "accent_hover") >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_chosen_and_hovered_rows(tokens: Tokens) -> None:
    for ground in ("ground", "panel", "raised"):
        for over in ("selected", "hover", "code_ground"):
            below = tokens.solid(over, ground).name()
            for ink in ("text", "text_second"):
                assert contrast(tokens._replace(ground=below), ink, "ground") >= 4.5


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_out(tokens: Tokens) -> None:
    for status in STATUSES.values():
        assert contrast(tokens, status.color, "raised") >= 3.0


def test_every_status_has_a_word_and_same_colours_have_other_shapes() -> None:
    assert {str(status) for status in NodeStatus} == set(STATUSES)
    assert len({style.label for style in STATUSES.values()}) == len(STATUSES)
    by_color: dict[str, set[str]] = {}
    for name, style in STATUSES.items():
        if name != "running_tool":
            shapes = by_color.setdefault(style.color, set())
            assert style.mark not in shapes
            shapes.add(style.mark)
    assert status_style("brand_new").label == "Brand new"


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    owner = QWidget()
    yield Theme("system", owner)
    owner.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_the_theme_can_be_set(theme: Theme, qapp: QApplication) -> None:
    changes: list[bool] = []
    theme.changed.connect(lambda: changes.append(theme.tokens.is_dark))
    theme.set_mode("dark")
    assert qapp.palette().window().color() == DARK.color("ground")
    theme.set_mode("light")
    theme.set_mode("light")
    assert changes == [True, False]
    assert qapp.palette().window().color() == LIGHT.color("ground")
    with pytest.raises(ValueError, match="no theme 'pink'"):
        theme.set_mode("pink")
    theme.set_mode("system")


def test_motion_can_be_left_out(theme: Theme) -> None:
    theme.set_reduced_motion(True)
    assert theme.motion_ms() == 0
