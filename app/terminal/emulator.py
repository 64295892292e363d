"""Understands what programs print to a terminal: text, control characters and escape sequences.

It speaks what `xterm-256color` promises. Whatever it does not know is left out, however broken.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from app.terminal.cells import PLAIN
from app.terminal.rendition import styled
from app.terminal.screen import Cursor, Screen

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|(?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])"
    r"|\x1b\[(?P<prefix>[<-?]?)(?P<parameters>[0-9:;]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?P<command>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b(?P<set>[ #%()*+\-./])(?P<which>[0-~])"
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[<-?]?[0-9:;]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?|[ #%()*+\-./])?\Z"
)
_LONGEST = 1 << 16
"""A sequence that does not end within so many characters is none."""
_LARGEST = 1 << 20
_MOST_ANSWERS = 1 << 12

APP_CURSOR, ORIGIN, AUTO_WRAP, CURSOR_SHOWN = 1, 6, 7, 25
MOUSE_CLICKS, MOUSE_DRAGS, MOUSE_MOVES, FOCUS_TOLD, MOUSE_SGR = 1000, 1002, 1003, 1004, 1006
BRACKETED_PASTE = 2004
_ALTERNATE = frozenset({47, 1047, 1049})


class Emulator:
    """A screen and what is fed to it.

    Attributes:
        modes: The numbers of the private modes that are on; see the constants of this module.
        title: What the program calls itself.
        bells: How often it rang.
        answers: What the program is to be told; whoever sends it clears it.
        cursor_shape: `block`, `line` or `bar`.
        colors: Foreground and background as `#rrggbb`, for a program that asks.
    """

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.screen = Screen(columns, lines)
        self.modes: set[int] = {AUTO_WRAP, CURSOR_SHOWN}
        self.title = ""
        self.bells = 0
        self.answers: list[str] = []
        self.cursor_shape = "block"
        self.colors = ("#ffffff", "#000000")
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    def feed(self, data: bytes) -> None:
        """Take what was printed next."""
        text = self._rest + self._decode(data)
        self._rest = ""
        place, end = 0, len(text)
        match, draw = _TOKEN.match, self.screen.draw
        while place < end:
            token = match(text, place)
            if token is None:
                unfinished = _UNFINISHED.match(text, place)
                if unfinished is not None and end - place < _LONGEST:
                    self._rest = text[place:]
                    return
                place += 1  # an escape character that begins nothing
                continue
            place = token.end()
            kind = token.lastgroup
            if kind == "text":
                draw(token[0])
            elif kind == "control":
                control = _CONTROLS.get(token[0])
                if control is not None:
                    control(self)
            elif kind == "final":
                self._control_sequence(token)
            elif kind == "command":
                self._command(token["command"])
            elif kind == "which":
                self._choose_set(token["set"], token["which"])
            elif kind == "escape":
                escape = _ESCAPES.get(token["escape"])
                if escape is not None:
                    escape(self)

    def reset(self) -> None:
        """Begin anew; what has scrolled away stays."""
        screen = self.screen
        screen.show_alternate(False)
        screen.cursor = Cursor()
        screen.erase_lines(0, screen.lines)
        screen.top, screen.bottom = 0, screen.lines - 1
        screen.wraps, screen.inserts, screen.is_relative = True, False, False
        self.modes = {AUTO_WRAP, CURSOR_SHOWN}
        self.cursor_shape = "block"

    def ring(self) -> None:
        """The program wants to be heard."""
        self.bells += 1

    def answer(self, text: str) -> None:
        """Tell the program something, unless it asks without end."""
        if sum(map(len, self.answers)) < _MOST_ANSWERS:
            self.answers.append(text)

    def _control_sequence(self, token: re.Match[str]) -> None:
        prefix, between, final = token["prefix"], token["between"], token["final"]
        parameters = token["parameters"]
        if final == "m" and not prefix and not between:
            cursor = self.screen.cursor
            cursor.style = styled(cursor.style, parameters)
            return
        numbers = [
            min(int(part[:9] or 0), 1 << 20) for part in parameters.replace(":", ";").split(";")
        ]
        if prefix == "?":
            if final in "hl":
                for number in numbers:
                    self._set_mode(number, final == "h")
            elif final in "JK":
                _SEQUENCES[final](self, numbers)
        elif prefix == ">":
            if final == "c":
                self.answer("\x1b[>0;10;0c")
        elif between == " " and final == "q":
            self.cursor_shape = _SHAPES.get(numbers[0], "block")
        elif between == "!" and final == "p":
            self.reset()
        elif not prefix and not between:
            act = _SEQUENCES.get(final)
            if act is not None:
                act(self, numbers)

    def _set_mode(self, mode: int, is_on: bool) -> None:
        screen = self.screen
        (self.modes.add if is_on else self.modes.discard)(mode)
        if mode == AUTO_WRAP:
            screen.wraps = is_on
        elif mode == ORIGIN:
            screen.is_relative = is_on
            screen.go(0, 0)
        elif mode in _ALTERNATE:
            if is_on and mode == 1049:
                screen.save_cursor()
            screen.show_alternate(is_on)
            if not is_on and mode == 1049:
                screen.restore_cursor()
        elif mode == 1048:
            (screen.save_cursor if is_on else screen.restore_cursor)()

    def _choose_set(self, place: str, which: str) -> None:
        if place in "()":
            self.screen.cursor.charsets["()".index(place)] = which
        elif place == "#" and which == "8":
            for row in self.screen.rows:
                row.text[:] = "E" * self.screen.columns
                row.styles[:] = [PLAIN] * self.screen.columns
            self.screen.go(0, 0)

    def _command(self, command: str) -> None:
        number, _, rest = command.partition(";")
        if number in ("0", "2"):
            self.title = "".join(filter(str.isprintable, rest[:200]))
        elif number in ("10", "11") and rest == "?":
            color = self.colors[int(number) - 10]
            parts = "/".join(color[at : at + 2] * 2 for at in (1, 3, 5))
            self.answer(f"\x1b]{number};rgb:{parts}\x1b\\")


Act = Callable[[Emulator, list[int]], None]


def _first(numbers: list[int]) -> int:
    """A count: 1 where none is given."""
    return numbers[0] or 1


def _second(numbers: list[int], otherwise: int = 0) -> int:
    return numbers[1] if len(numbers) > 1 and numbers[1] else otherwise


def _erase_display(emulator: Emulator, numbers: list[int]) -> None:
    screen, how = emulator.screen, numbers[0]
    cursor = screen.cursor
    cursor.is_pending = False
    if how == 0:
        screen.erase(cursor.line, cursor.column, screen.columns)
        screen.erase_lines(cursor.line + 1, screen.lines)
    elif how == 1:
        screen.erase_lines(0, cursor.line)
        screen.erase(cursor.line, 0, cursor.column + 1)
    elif how == 2:
        screen.erase_lines(0, screen.lines)
    elif how == 3:
        screen.forget_history()


def _erase_line(emulator: Emulator, numbers: list[int]) -> None:
    screen, how = emulator.screen, numbers[0]
    cursor = screen.cursor
    cursor.is_pending = False
    start = cursor.column if how == 0 else 0
    end = cursor.column + 1 if how == 1 else screen.columns
    screen.erase(cursor.line, start, end)


def _erase_cells(emulator: Emulator, numbers: list[int]) -> None:
    cursor = emulator.screen.cursor
    emulator.screen.erase(cursor.line, cursor.column, cursor.column + _first(numbers))


def _set_region(emulator: Emulator, numbers: list[int]) -> None:
    screen = emulator.screen
    screen.set_region(_first(numbers) - 1, _second(numbers, screen.lines) - 1)


def _set_plain_mode(emulator: Emulator, numbers: list[int]) -> None:
    if 4 in numbers:
        emulator.screen.inserts = True


def _reset_plain_mode(emulator: Emulator, numbers: list[int]) -> None:
    if 4 in numbers:
        emulator.screen.inserts = False


def _clear_tabs(emulator: Emulator, numbers: list[int]) -> None:
    screen = emulator.screen
    if numbers[0] == 3:
        screen.tabs.clear()
    elif numbers[0] == 0:
        screen.tabs.discard(screen.cursor.column)


def _tell_status(emulator: Emulator, numbers: list[int]) -> None:
    if numbers[0] == 5:
        emulator.answer("\x1b[0n")
    elif numbers[0] == 6:
        screen = emulator.screen
        line = screen.cursor.line - (screen.top if screen.is_relative else 0)
        emulator.answer(f"\x1b[{line + 1};{screen.cursor.column + 1}R")


def _tell_size(emulator: Emulator, numbers: list[int]) -> None:
    if numbers[0] == 18:
        emulator.answer(f"\x1b[8;{emulator.screen.lines};{emulator.screen.columns}t")


def _set_tab(emulator: Emulator) -> None:
    emulator.screen.tabs.add(emulator.screen.cursor.column)


def _shift(to: int) -> Callable[[Emulator], None]:
    def shift(emulator: Emulator) -> None:
        emulator.screen.cursor.shift = to

    return shift


def _next_line(emulator: Emulator) -> None:
    emulator.screen.carriage_return()
    emulator.screen.line_feed()


_SHAPES = {0: "block", 1: "block", 2: "block", 3: "line", 4: "line", 5: "bar", 6: "bar"}

_CONTROLS: dict[str, Callable[[Emulator], None]] = {
    "\a": Emulator.ring,
    "\b": lambda e: e.screen.move(0, -1),
    "\t": lambda e: e.screen.tab(),
    "\n": lambda e: e.screen.line_feed(),
    "\v": lambda e: e.screen.line_feed(),
    "\f": lambda e: e.screen.line_feed(),
    "\r": lambda e: e.screen.carriage_return(),
    "\x0e": _shift(1),
    "\x0f": _shift(0),
    "\x84": lambda e: e.screen.line_feed(),
    "\x85": _next_line,
    "\x8d": lambda e: e.screen.reverse_feed(),
}

_ESCAPES: dict[str, Callable[[Emulator], None]] = {
    "7": lambda e: e.screen.save_cursor(),
    "8": lambda e: e.screen.restore_cursor(),
    "D": lambda e: e.screen.line_feed(),
    "E": _next_line,
    "H": _set_tab,
    "M": lambda e: e.screen.reverse_feed(),
    "c": Emulator.reset,
}

_SEQUENCES: dict[str, Act] = {
    "@": lambda e, n: e.screen.insert_blanks(_first(n)),
    "A": lambda e, n: e.screen.move(-_first(n), 0),
    "B": lambda e, n: e.screen.move(_first(n), 0),
    "C": lambda e, n: e.screen.move(0, _first(n)),
    "D": lambda e, n: e.screen.move(0, -_first(n)),
    "E": lambda e, n: e.screen.move(_first(n), -e.screen.columns),
    "F": lambda e, n: e.screen.move(-_first(n), -e.screen.columns),
    "G": lambda e, n: e.screen.move(0, _first(n) - 1 - e.screen.cursor.column),
    "H": lambda e, n: e.screen.go(_first(n) - 1, _second(n, 1) - 1),
    "I": lambda e, n: e.screen.tab(_first(n)),
    "J": _erase_display,
    "K": _erase_line,
    "L": lambda e, n: e.screen.insert_lines(_first(n)),
    "M": lambda e, n: e.screen.delete_lines(_first(n)),
    "P": lambda e, n: e.screen.delete_cells(_first(n)),
    "S": lambda e, n: e.screen.scroll_up(_first(n)),
    "T": lambda e, n: e.screen.scroll_down(_first(n)),
    "X": _erase_cells,
    "Z": lambda e, n: e.screen.tab(-_first(n)),
    "`": lambda e, n: e.screen.move(0, _first(n) - 1 - e.screen.cursor.column),
    "a": lambda e, n: e.screen.move(0, _first(n)),
    "b": lambda e, n: e.screen.repeat(_first(n)),
    "c": lambda e, n: e.answer("\x1b[?62;22c"),
    "d": lambda e, n: e.screen.go(_first(n) - 1, e.screen.cursor.column),
    "e": lambda e, n: e.screen.move(_first(n), 0),
    "f": lambda e, n: e.screen.go(_first(n) - 1, _second(n, 1) - 1),
    "g": _clear_tabs,
    "h": _set_plain_mode,
    "l": _reset_plain_mode,
    "n": _tell_status,
    "r": _set_region,
    "s": lambda e, n: e.screen.save_cursor(),
    "t": _tell_size,
    "u": lambda e, n: e.screen.restore_cursor(),
}
