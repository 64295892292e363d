"""How text is to be drawn from now on: the sequences that programs set colours with."""

from __future__ import annotations

from app.terminal.cells import (
    BOLD,
    DEFAULT,
    FAINT,
    HIDDEN,
    INVERSE,
    ITALIC,
    PLAIN,
    STRUCK,
    UNDERLINE,
    background_of,
    flags_of,
    foreground_of,
    palette,
    style_of,
    true_color,
)

_ON = {
    1: BOLD,
    2: FAINT,
    3: ITALIC,
    4: UNDERLINE,
    7: INVERSE,
    8: HIDDEN,
    9: STRUCK,
    21: UNDERLINE,
}
_OFF = {
    22: BOLD | FAINT,
    23: ITALIC,
    24: UNDERLINE,
    27: INVERSE,
    28: HIDDEN,
    29: STRUCK,
}


def styled(style: int, parameters: str) -> int:
    """The style after a sequence with these parameters, such as `1;38;5;208`."""
    if not parameters or parameters == "0":
        return PLAIN
    ink, ground, flags = foreground_of(style), background_of(style), flags_of(style)
    parts = parameters.split(";")
    place = 0
    while place < len(parts):
        part = parts[place]
        head, colon, tail = part.partition(":")
        code = int(head[:9] or 0)
        place += 1
        if code == 0:
            ink = ground = DEFAULT
            flags = 0
        elif code in (38, 48, 58):
            if colon:
                color = _color(tail.split(":"))
            else:
                rest = parts[place : place + 4]
                color = _color(rest)
                place += {"5": 2, "2": 4}.get(rest[0] if rest else "", 0)
            if color is None or code == 58:
                continue
            ink, ground = (color, ground) if code == 38 else (ink, color)
        elif code == 4 and tail == "0":
            flags &= ~UNDERLINE
        elif code in _ON:
            flags |= _ON[code]
        elif code in _OFF:
            flags &= ~_OFF[code]
        elif 30 <= code <= 37:
            ink = palette(code - 30)
        elif code == 39:
            ink = DEFAULT
        elif 40 <= code <= 47:
            ground = palette(code - 40)
        elif code == 49:
            ground = DEFAULT
        elif 90 <= code <= 97:
            ink = palette(code - 82)
        elif 100 <= code <= 107:
            ground = palette(code - 92)
    return style_of(ink, ground, flags)


def _color(parts: list[str]) -> int | None:
    """What follows 38 or 48: `5;n`, or `2;r;g;b`, with colons also `2::r:g:b`."""
    numbers = [int(part[:9] or 0) for part in parts if ":" not in part]
    if len(numbers) >= 2 and numbers[0] == 5:
        return palette(numbers[1]) if numbers[1] < 256 else None
    if len(numbers) >= 4 and numbers[0] == 2:
        red, green, blue = numbers[-3:]
        return true_color(red, green, blue) if max(red, green, blue) < 256 else None
    return None
