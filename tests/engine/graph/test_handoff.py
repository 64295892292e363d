from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.graph.handoff import (
    DEFAULT_OUTPUT_SCHEMA,
    DEFAULT_TEMPLATE,
    effective_output_schema,
    headings,
    missing_headings,
    submission_schema,
)
from engine.graph.node_config import AgentNodeConfig, JsonHandoff, LegacyHandoff, MarkdownHandoff

_LINES = st.sampled_from(
    ["# A", "##B", "text", "```", "~~~~", "``` x", "#", "####### no", "  ### C "]
)


def test_the_default_template_has_the_five_sections() -> None:
    assert headings(DEFAULT_TEMPLATE) == (
        "# Handoff",
        "## Summary",
        "## Findings",
        "## Files",
        "## Risks",
        "## Recommended Next Step",
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# One", ("# One",)),
        ("   ##   Two  ", ("## Two",)),
        ("###Three", ("### Three",)),
        ("###### Six", ("###### Six",)),
        ("####### Seven", ()),
        ("##", ()),
        ("##   ", ()),
        ("text # no", ()),
    ],
)
def test_what_a_heading_is(line: str, expected: tuple[str, ...]) -> None:
    assert headings(f"before\r\n{line}\r\nafter") == expected


def test_fenced_code_holds_no_headings() -> None:
    text = "# Yes\n```sh\n# no\n~~~\n# no\n```\n## Yes\n~~~~\n# no\n~~~\n# no\n~~~~~\n### Yes\n"
    assert headings(text) == ("# Yes", "## Yes", "### Yes")


def test_inline_code_that_begins_a_line_opens_no_fence() -> None:
    assert headings("```a``` b\n# Yes") == ("# Yes",)


def test_a_fence_that_never_closes_reaches_to_the_end() -> None:
    assert headings("# Yes\n```\n# no\n# no") == ("# Yes",)


def test_missing_headings_heed_title_and_level_but_not_order() -> None:
    template = "# H\n## A\n## B\n## A"
    assert missing_headings(template, "## B\n## extra\n## A\n# H") == ()
    assert missing_headings(template, "# H\n### A\n## b") == ("## A", "## B")


@settings(max_examples=30)
@given(st.lists(_LINES, max_size=12))
def test_no_text_misses_headings_of_its_own(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert missing_headings(text, text) == ()
    assert all(headings(heading) == (heading,) for heading in headings(text))


@pytest.mark.parametrize("schema", [None, True, [], "object", {}, {"type": "string"}])
def test_what_describes_no_object_gives_way_to_the_summary(schema: object) -> None:
    assert effective_output_schema(schema) is DEFAULT_OUTPUT_SCHEMA


@pytest.mark.parametrize("schema", [{"type": "object"}, {"properties": {"a": {}}}])
def test_a_schema_of_an_object_is_used_as_it_is(schema: dict[str, object]) -> None:
    assert effective_output_schema(schema) is schema


def test_a_markdown_node_submits_markdown_and_others_their_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    agent = AgentNodeConfig(system_prompt="", task_prompt="t", output_schema=schema)
    markdown = agent.model_copy(update={"handoff": MarkdownHandoff(template="# H")})
    legacy = agent.model_copy(update={"handoff": LegacyHandoff()})
    assert submission_schema(agent) is schema
    assert submission_schema(legacy) is schema
    assert submission_schema(markdown) == {
        "type": "object",
        "properties": {"markdown": {"type": "string"}},
        "required": ["markdown"],
        "additionalProperties": False,
    }
    formats = [handoff.format for handoff in (JsonHandoff(), markdown.handoff, legacy.handoff)]
    assert formats == ["json", "markdown", "legacy"]
