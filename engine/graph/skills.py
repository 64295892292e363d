"""Skills: texts that a prompt calls in by `/id`, and what becomes of a prompt that does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

_CALL = re.compile(r"(?:(?<=\s)|^)/([\w.:-]+)(/?)")
_LEADING = re.compile(r"\s*/([\w.:-]+)(?=\s|$)")
_HEADER = "# Skills to use"
_MORE = "# Further skills to use"


class Skill(Struct, frozen=True):
    """Instructions for one kind of work.

    Attributes:
        id: what it is called by: letters, digits, `-`, `_`, `.` and `:`.
        name: what a person calls it.
        description: when it is of use, in a sentence or two; may be empty.
        path: the file that it is from.
        body: the instructions, in Markdown.
    """

    id: str
    name: str
    description: str
    path: str
    body: str


class Called(NamedTuple):
    """What a text calls: skills in the order of their calls, and leading ids of none."""

    skills: tuple[Skill, ...]
    missing: tuple[str, ...]


def called(text: str, skills: Mapping[str, Skill]) -> Called:
    """Find the skills that `text` calls.

    A text that begins with calls means them, so unknown ones are missing there. Further inside
    `/word` may be anything, such as the beginning of a path, and counts only where there is a
    skill of that id.
    """
    missing: list[str] = []
    at = 0
    while (leading := _LEADING.match(text, at)) is not None:
        if _known(leading[1], skills) is None:
            missing.append(leading[1])
        at = leading.end()
    found: dict[str, Skill] = {}
    for call in _CALL.finditer(text):
        skill = None if call[2] else _known(call[1], skills)
        if skill is not None:
            found[skill.id] = skill
    return Called(tuple(found.values()), tuple(dict.fromkeys(missing)))


def with_skills(system_prompt: str, skills: Iterable[Skill]) -> str:
    """Add the skills to a system prompt; one that it has already is not added again."""
    blocks = [block for skill in skills if (block := _block(skill)) not in system_prompt]
    if not blocks:
        return system_prompt
    header = _MORE if _HEADER in system_prompt else _HEADER
    return "\n\n".join(part for part in (system_prompt.rstrip(), header, *blocks) if part)


def _known(called_id: str, skills: Mapping[str, Skill]) -> Skill | None:
    """The skill of this id, or of what is left of it without the end of a sentence."""
    return skills.get(called_id) or skills.get(called_id.rstrip(".:"))


def _block(skill: Skill) -> str:
    return f"## /{skill.id}\n\nFrom {skill.path}\n\n{skill.body.strip()}"
