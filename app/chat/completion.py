"""Offers skills behind `/` and files behind `@` while a message is written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit

from app.inspector.offers import Skill, fitting_skills
from app.kit.completion_popup import MOST_OFFERS, CompletionPopup, Offer

_WIDTH = 420
_TOKEN = re.compile(r"(?:^|(?<=\s))([/@])([^\s/@][^\s@]*)?$")


def fitting_files(names: Sequence[str], typed: str) -> list[str]:
    """Those that fit best: by the name's beginning, in the name, in the path, letter by letter."""
    word = typed.casefold()
    ranks: tuple[list[str], ...] = ([], [], [], [])
    letters = re.compile(".*?".join(map(re.escape, word)))
    for name in names:
        whole = name.casefold()
        last = whole.rpartition("/")[2]
        if last.startswith(word):
            ranks[0].append(name)
        elif word in last:
            ranks[1].append(name)
        elif word in whole:
            ranks[2].append(name)
        elif len(ranks[3]) < MOST_OFFERS and letters.search(whole):
            ranks[3].append(name)
        if len(ranks[0]) >= 4 * MOST_OFFERS:
            break
    for rank in ranks[:3]:
        rank.sort(key=lambda name: (len(name), name))
    return [name for rank in ranks for name in rank][:MOST_OFFERS]


class Completion(CompletionPopup):
    """Lists `/id` and `@path` above the cursor of one field.

    Signals:
        files_wanted: `@` was typed; `set_files` is to be called, now or a little later.
        skills_wanted: `/` was typed; the same with `set_skills`.
    """

    files_wanted = Signal()
    skills_wanted = Signal()

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field, "Skills and files that fit", width=_WIDTH, above=True)
        self._skills: tuple[Skill, ...] = ()
        self._files: tuple[str, ...] = ()
        self._asked = ""

    def set_skills(self, skills: Sequence[Skill]) -> None:
        """Offer these behind `/`."""
        self._skills = tuple(skills)
        self.offer()

    def set_files(self, names: Sequence[str]) -> None:
        """Offer these behind `@`; they are named from the run's folder on."""
        self._files = tuple(names)
        self.offer()

    def offer(self) -> None:
        """List what fits behind the sign before the cursor, and ask for it if the sign is new."""
        typed = self._typed() if self.field.hasFocus() else None
        sign = typed[0] if typed is not None else ""
        if sign != self._asked:
            self._asked = sign
            wanted = {"@": self.files_wanted, "/": self.skills_wanted}.get(sign)
            if wanted is not None:
                wanted.emit()
        offers: list[Offer] = []
        if typed is not None and sign == "/":
            found = fitting_skills(self._skills, typed[1], MOST_OFFERS)
            offers = [Offer(f"/{each.id}", each.about) for each in found]
        elif typed is not None:
            offers = [Offer(f"@{name}") for name in fitting_files(self._files, typed[1])]
        if not offers or typed is None or [each.text for each in offers] == ["".join(typed)]:
            self.close()
        else:
            self.show_offers(offers)

    def take(self, text: str) -> None:
        """Put the skill or the file in."""
        typed = self._typed()
        if typed is not None:
            self.replace_typed(len(typed[1]) + 1, f"{reference(text)} ")

    def _typed(self) -> tuple[str, str] | None:
        match = _TOKEN.search(self.before_cursor())
        return (match[1], match[2] or "") if match is not None else None


def reference(text: str) -> str:
    """A skill or a file as it stands in a message; names with blanks are put into quotes."""
    return f'@"{text[1:]}"' if text.startswith("@") and any(map(str.isspace, text)) else text
