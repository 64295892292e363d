"""What a terminal sends for a key, a paste or the mouse, in the manner of xterm."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt

Key = Qt.Key
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_ALT = Qt.KeyboardModifier.AltModifier
_CTRL = Qt.KeyboardModifier.ControlModifier

_LETTERED = {
    Key.Key_Up: "A",
    Key.Key_Down: "B",
    Key.Key_Right: "C",
    Key.Key_Left: "D",
    Key.Key_Home: "H",
    Key.Key_End: "F",
}
_FIRST_FUNCTIONS = {Key.Key_F1: "P", Key.Key_F2: "Q", Key.Key_F3: "R", Key.Key_F4: "S"}
_NUMBERED = {
    Key.Key_Insert: 2,
    Key.Key_Delete: 3,
    Key.Key_PageUp: 5,
    Key.Key_PageDown: 6,
    Key.Key_F5: 15,
    Key.Key_F6: 17,
    Key.Key_F7: 18,
    Key.Key_F8: 19,
    Key.Key_F9: 20,
    Key.Key_F10: 21,
    Key.Key_F11: 23,
    Key.Key_F12: 24,
}
_PLAIN = {
    Key.Key_Return: "\r",
    Key.Key_Enter: "\r",
    Key.Key_Escape: "\x1b",
    Key.Key_Tab: "\t",
    Key.Key_Backtab: "\x1b[Z",
}
_CONTROLS = {
    Key.Key_Space: "\0",
    Key.Key_At: "\0",
    Key.Key_BracketLeft: "\x1b",
    Key.Key_Backslash: "\x1c",
    Key.Key_BracketRight: "\x1d",
    Key.Key_AsciiCircum: "\x1e",
    Key.Key_Underscore: "\x1f",
    Key.Key_Minus: "\x1f",
    Key.Key_Slash: "\x1f",
    Key.Key_Question: "\x7f",
}
# What a paste could end the brackets with, and everything else that is no text.
_NOT_PASTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def key_bytes(
    key: int, modifiers: Qt.KeyboardModifier, text: str, *, application_cursor: bool = False
) -> bytes:
    """What is sent for a key press; nothing for a key that a terminal does not know."""
    alt = "\x1b" if modifiers & _ALT else ""
    code = 1 + bool(modifiers & _SHIFT) + 2 * bool(modifiers & _ALT) + 4 * bool(modifiers & _CTRL)
    named = Key(key)
    if named in _LETTERED:
        letter = _LETTERED[named]
        if code > 1:
            return f"\x1b[1;{code}{letter}".encode()
        return f"\x1b{'O' if application_cursor else '['}{letter}".encode()
    if named in _FIRST_FUNCTIONS:
        letter = _FIRST_FUNCTIONS[named]
        return f"\x1b[1;{code}{letter}".encode() if code > 1 else f"\x1bO{letter}".encode()
    if named in _NUMBERED:
        number = _NUMBERED[named]
        return (f"\x1b[{number};{code}~" if code > 1 else f"\x1b[{number}~").encode()
    if named == Key.Key_Backspace:
        return (alt + ("\b" if modifiers & _CTRL else "\x7f")).encode()
    if named in _PLAIN:
        return (alt + _PLAIN[named]).encode()
    if modifiers & _CTRL:
        if Key.Key_A <= named <= Key.Key_Z:
            return (alt + chr(named - Key.Key_A + 1)).encode()
        if named in _CONTROLS:
            return (alt + _CONTROLS[named]).encode()
    return (alt + text).encode("utf-8", "replace") if text else b""


def paste_bytes(text: str, *, is_bracketed: bool) -> bytes:
    """What is sent for a text that is put in; nothing in it can act as a key other than Enter."""
    text = _NOT_PASTED.sub("", text.replace("\r\n", "\n")).replace("\n", "\r")
    if is_bracketed:
        text = f"\x1b[200~{text}\x1b[201~"
    return text.encode("utf-8", "replace")


def mouse_bytes(button: int, column: int, line: int, *, is_release: bool, is_sgr: bool) -> bytes:
    """What a program that asked for it is told of the mouse; columns and lines count from 0.

    `button` is 0 to 2, plus 32 for a movement, or 64 and 65 for the wheel.
    """
    if is_sgr:
        return f"\x1b[<{button};{column + 1};{line + 1}{'m' if is_release else 'M'}".encode()
    if is_release:
        button = 3
    if max(column, line) > 222:  # the old form has no larger numbers
        return b""
    return b"\x1b[M" + bytes((32 + button, 33 + column, 33 + line))
