"""The keys of the window: each means one thing, and the ones people know are there."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtGui import QKeySequence

from app.actions import ACTIONS


def test_no_key_is_bound_twice() -> None:
    keys = [QKeySequence(key).toString() for spec in ACTIONS for key in spec.keys]

    assert "" not in keys
    assert [key for key, count in Counter(keys).items() if count > 1] == []


def test_every_action_is_named_once() -> None:
    assert [each for each, count in Counter(spec.id for spec in ACTIONS).items() if count > 1] == []
    named = Counter((spec.menu, spec.text) for spec in ACTIONS)
    assert [name for name, count in named.items() if count > 1] == []


@pytest.mark.parametrize(
    ("action_id", "key"),
    [
        ("save", "Ctrl+S"),
        ("run", "Ctrl+Return"),
        ("run", "Ctrl+Enter"),
        ("stop", "Ctrl+."),
        ("sidebar", "Ctrl+B"),
        ("dock", "Ctrl+J"),
        ("inspector", "Ctrl+I"),
        ("focus_chat", "Ctrl+Shift+F"),
        ("zoom_in", "Ctrl++"),
        ("zoom_in", "Ctrl+="),
        ("zoom_out", "Ctrl+-"),
        ("zoom_reset", "Ctrl+0"),
        ("undo", "Ctrl+Z"),
        ("palette", "Ctrl+K"),
        ("settings", "Ctrl+,"),
    ],
)
def test_known_shortcuts_are_there(action_id: str, key: str) -> None:
    spec = next(spec for spec in ACTIONS if spec.id == action_id)

    assert key in spec.keys
