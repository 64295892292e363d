from __future__ import annotations

import pytest

from engine.graph import edits
from engine.graph.node_config import MarkdownHandoff
from engine.graph.text_search import (
    MAX_MATCHES,
    PatternError,
    Query,
    TextField,
    replaced,
    search,
    texts,
)
from engine.graph.workflow import Annotation, Position, Workflow
from tests.support.graphs import graph


def workflow() -> Workflow:
    made = graph("ab")
    made = edits.change_config(made, "a", system_prompt="You sort parcels.", task_prompt="Sort.")
    made = edits.change_config(
        made,
        "b",
        task_prompt="Weigh each parcel.\nA Parcel is heavy: parcel by parcel.",
        handoff=MarkdownHandoff(template="# Parcels"),
    )
    made = edits.change_settings(made, shared_context="All parcels are paid.")
    note = Annotation(
        id="n", kind="note", text="lost parcel", position=Position(x=0, y=0), width=10, height=10
    )
    return edits.add_annotation(made, note)


def found(query: Query) -> list[tuple[str, str, int]]:
    return [(m.owner_id, m.field, m.line) for m in search(tuple(texts(workflow())), query)]


def test_every_text_is_looked_at() -> None:
    assert found(Query("parcel")) == [
        ("", "shared context", 1),
        ("a", "system prompt", 1),
        ("b", "task prompt", 1),
        ("b", "task prompt", 2),
        ("b", "task prompt", 2),
        ("b", "task prompt", 2),
        ("b", "handoff template", 1),
        ("n", "note", 1),
    ]


def test_case_counts_if_wanted_and_signs_are_signs() -> None:
    assert found(Query("Parcel", match_case=True)) == [
        ("b", "task prompt", 2),
        ("b", "handoff template", 1),
    ]
    assert found(Query(".")) == found(Query(r"\.", is_pattern=True))
    assert found(Query("")) == []


def test_a_pattern_knows_lines_and_finds_no_nothing() -> None:
    assert found(Query(r"^A \w+", is_pattern=True)) == [("b", "task prompt", 2)]
    assert found(Query("x*", is_pattern=True)) == []


@pytest.mark.parametrize("text", ["(", "[a", "*", "(?P<a>x", "a{5,2}"])
def test_what_is_no_pattern_is_told(text: str) -> None:
    with pytest.raises(PatternError, match="no regular expression"):
        Query(text, is_pattern=True).compiled()
    assert found(Query(text)) == []


def test_an_excerpt_is_of_one_line() -> None:
    matches = search(tuple(texts(workflow())), Query("heavy"))
    assert matches[0].excerpt(6) == ("…el is ", "heavy", ": parcel by parcel")
    assert matches[0].excerpt() == ("A Parcel is ", "heavy", ": parcel by parcel.")


def test_all_are_replaced_at_once_and_nothing_else() -> None:
    before = workflow()
    query = Query("parcel")
    after = replaced(before, search(tuple(texts(before)), query), query, "letter")
    prompt = after.node("b").agent
    assert prompt is not None
    assert prompt.task_prompt == "Weigh each letter.\nA letter is heavy: letter by letter."
    assert prompt.handoff == MarkdownHandoff(template="# letters")
    assert after.settings.shared_context == "All letters are paid."
    assert after.annotations[0].text == "lost letter"
    assert after.node("b").label == before.node("b").label
    assert search(tuple(texts(after)), query) == ()


def test_one_of_several_is_replaced() -> None:
    before, query = workflow(), Query("parcel")
    match = search(tuple(texts(before)), query)[3]
    prompt = replaced(before, (match,), query, "BOX").node("b").agent
    assert prompt is not None
    assert prompt.task_prompt == "Weigh each parcel.\nA BOX is heavy: parcel by parcel."


def test_groups_of_a_pattern_stand_in_the_replacement() -> None:
    before, query = workflow(), Query(r"(\w+) by (?P<last>\w+)", is_pattern=True)
    matches = search(tuple(texts(before)), query)
    prompt = replaced(before, matches, query, r"\g<last>, then \1").node("b").agent
    assert prompt is not None
    assert "parcel, then parcel." in prompt.task_prompt
    with pytest.raises(PatternError, match="does not fit"):
        replaced(before, matches, query, r"\7")


def test_without_a_pattern_a_backslash_is_one() -> None:
    before, query = workflow(), Query("Sort.")
    after = replaced(before, search(tuple(texts(before)), query), query, r"\1\n")
    agent = after.node("a").agent
    assert agent is not None
    assert agent.task_prompt == r"\1\n"


def test_a_text_that_was_changed_since_is_left_alone() -> None:
    before, query = workflow(), Query("parcel")
    matches = search(tuple(texts(before)), query)
    changed = edits.change_config(before, "b", task_prompt="Other parcel")
    agent = replaced(changed, matches, query, "letter").node("b").agent
    assert agent is not None
    assert agent.task_prompt == "Other parcel"


def test_there_is_an_end_of_matches() -> None:
    text = TextField("a", "note", "x" * (MAX_MATCHES + 5))
    assert len(search((text,), Query("x"))) == MAX_MATCHES


def test_a_pattern_that_would_take_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.graph.text_search.MAX_SECONDS", 0.02)
    endless = TextField("a", "task prompt", "a" * 40 + "!")
    with pytest.raises(PatternError, match="takes too long on the task prompt"):
        search([endless], Query(r"(a|aa)+\1\1\1$", is_pattern=True))
