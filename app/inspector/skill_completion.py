"""Offers skills while `/` and a name are typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPlainTextEdit

from app.inspector.markdown_colors import SKILL
from app.inspector.offers import Skill, fitting_skills
from app.kit.completion_popup import MOST_OFFERS, CompletionPopup, Offer

_WIDTH = 320


class SkillCompletion(CompletionPopup):
    """Lists `/id` at the cursor of one editor."""

    def __init__(self, editor: QPlainTextEdit) -> None:
        super().__init__(editor, "Skills that fit", width=_WIDTH)
        self._skills: tuple[Skill, ...] = ()

    def set_skills(self, skills: Sequence[Skill]) -> None:
        """Offer these; with none of them there is never a list."""
        self._skills = tuple(skills)

    def offer(self) -> None:
        """List the skills that fit."""
        typed = self._typed() if self._skills and self.field.hasFocus() else None
        found = fitting_skills(self._skills, typed, MOST_OFFERS) if typed is not None else []
        if not found or [each.id for each in found] == [typed]:
            self.close()
        else:
            self.show_offers([Offer(f"/{each.id}", each.about) for each in found])

    def take(self, text: str) -> None:
        """Put the skill in."""
        typed = self._typed()
        if typed is not None:
            self.replace_typed(len(typed) + 1, f"{text} ")

    def _typed(self) -> str | None:
        """What stands between the last `/` and the cursor, if it calls a skill."""
        before = self.before_cursor()
        if before.endswith("/") and (len(before) == 1 or before[-2].isspace()):
            return ""
        calls = [match for match in SKILL.finditer(before) if match.end() == len(before)]
        return calls[-1][1] if calls else None
