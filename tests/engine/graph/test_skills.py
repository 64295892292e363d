"""Skills are called by `/id`; what looks alike and is none is left alone."""

from __future__ import annotations

import pytest

from engine.graph.skills import Skill, called, with_skills


def skill(skill_id: str) -> Skill:
    return Skill(
        skill_id, skill_id.title(), "", f"/skills/{skill_id}/SKILL.md", f"Do {skill_id}.\n"
    )


SKILLS = {each: skill(each) for each in ("tdd", "review", "a:b.c")}


@pytest.mark.parametrize(
    ("text", "found", "missing"),
    [
        ("", [], []),
        ("/tdd", ["tdd"], []),
        ("  /tdd /review write it", ["tdd", "review"], []),
        ("Write it with /tdd.", ["tdd"], []),
        ("Use /a:b.c and\n/review", ["a:b.c", "review"], []),
        ("/tdd then /tdd", ["tdd"], []),
        ("/nope do", [], ["nope"]),
        ("/tdd /nope /nope /other go", ["tdd"], ["nope", "other"]),
        ("do /nope", [], []),
        ("see /tdd/notes and /usr/bin", [], []),
        ("/usr/bin/tdd is a program", [], []),
        ("either/tdd or https://x.example/tdd", [], []),
    ],
)
def test_calls(text: str, found: list[str], missing: list[str]) -> None:
    result = called(text, SKILLS)
    assert [each.id for each in result.skills] == found
    assert list(result.missing) == missing


def test_a_system_prompt_has_each_skill_once() -> None:
    once = with_skills("You write code.", [SKILLS["tdd"]])
    assert once.startswith("You write code.\n\n# Skills to use\n\n## /tdd\n")
    assert "/skills/tdd/SKILL.md" in once
    assert once.endswith("Do tdd.")
    assert with_skills(once, [SKILLS["tdd"]]) == once
    both = with_skills(once, [SKILLS["tdd"], SKILLS["review"]])
    assert both.count("Do tdd.") == 1
    assert "# Further skills to use\n\n## /review" in both
    assert with_skills("Plain.", []) == "Plain."
    assert with_skills("", [SKILLS["tdd"]]).startswith("# Skills to use")
