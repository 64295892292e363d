from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from app.terminal.key_bytes import key_bytes, mouse_bytes, paste_bytes

Key, Modifier = Qt.Key, Qt.KeyboardModifier
PLAIN = Modifier.NoModifier


@pytest.mark.parametrize(
    ("key", "modifiers", "text", "sent"),
    [
        (Key.Key_A, PLAIN, "a", b"a"),
        (Key.Key_C, Modifier.ControlModifier, "\x03", b"\x03"),
        (Key.Key_X, Modifier.AltModifier, "x", b"\x1bx"),
        (Key.Key_Up, PLAIN, "", b"\x1b[A"),
        (Key.Key_Left, Modifier.ControlModifier, "", b"\x1b[1;5D"),
        (Key.Key_Home, Modifier.ShiftModifier, "", b"\x1b[1;2H"),
        (Key.Key_F1, PLAIN, "", b"\x1bOP"),
        (Key.Key_F12, PLAIN, "", b"\x1b[24~"),
        (Key.Key_Delete, PLAIN, "", b"\x1b[3~"),
        (Key.Key_Backspace, PLAIN, "\b", b"\x7f"),
        (Key.Key_Backtab, Modifier.ShiftModifier, "", b"\x1b[Z"),
        (Key.Key_Space, Modifier.ControlModifier, " ", b"\0"),
        (Key.Key_Shift, Modifier.ShiftModifier, "", b""),
    ],
)
def test_keys(key: Qt.Key, modifiers: Qt.KeyboardModifier, text: str, sent: bytes) -> None:
    assert key_bytes(key, modifiers, text) == sent


def test_arrows_of_a_program_that_asked_for_its_own() -> None:
    assert key_bytes(Key.Key_Down, PLAIN, "", application_cursor=True) == b"\x1bOB"


def test_a_paste_cannot_leave_its_brackets() -> None:
    pasted = paste_bytes("a\nb\x1b[201~rm\x03", is_bracketed=True)

    assert pasted == b"\x1b[200~a\rb[201~rm\x1b[201~"


def test_the_mouse_in_both_forms() -> None:
    assert mouse_bytes(0, 4, 2, is_release=True, is_sgr=True) == b"\x1b[<0;5;3m"
    assert mouse_bytes(64, 4, 2, is_release=False, is_sgr=False) == b"\x1b[M\x60%#"
    assert mouse_bytes(0, 400, 2, is_release=False, is_sgr=False) == b""
