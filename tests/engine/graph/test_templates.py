from __future__ import annotations

import jsonschema
import pytest

from engine.graph.handoff import DEFAULT_TEMPLATE
from engine.graph.node_config import MarkdownHandoff
from engine.graph.templates import LockableField, LockedField, builtin_templates, new_agent_config
from engine.graph.validation import validate
from engine.graph.workflow import Position
from engine.vocabulary.tools import ApprovalMode
from tests.support.graphs import graph

BY_ID = {template.id: template for template in builtin_templates()}
HERE = Position(x=3.0, y=4.0)


def test_the_ids_are_unique_and_stable() -> None:
    assert [template.id for template in builtin_templates()] == [
        "builtin.simple-agent",
        "builtin.code-reviewer",
        "builtin.document-summarizer",
        "builtin.classifier",
        "builtin.manual-start-node",
    ]


@pytest.mark.parametrize("template_id", BY_ID)
def test_every_template_makes_a_node_that_can_run(template_id: str) -> None:
    template = BY_ID[template_id]
    node = template.instantiate("n", HERE)
    assert (node.id, node.label, node.position) == ("n", template.display_name, HERE)
    assert node.agent is not None
    assert node.agent.system_prompt
    assert template.description
    assert validate(graph([node])) == ()


def test_a_new_node_has_a_markdown_handoff_and_asks_before_it_writes() -> None:
    agent = new_agent_config()
    assert agent.handoff == MarkdownHandoff(template=DEFAULT_TEMPLATE)
    assert agent.tools.effective().approval_mode is ApprovalMode.WRITE
    assert agent.auto_start is True
    assert agent.output_schema["required"] == ["summary"]
    assert agent.output_schema["additionalProperties"] is False
    assert BY_ID["builtin.simple-agent"].default_config == agent
    assert not BY_ID["builtin.simple-agent"].locked_fields


def test_a_locked_field_is_refused_until_it_is_unlocked() -> None:
    classifier = BY_ID["builtin.classifier"]
    assert classifier.locked_fields == {LockableField.OUTPUT_SCHEMA}
    with pytest.raises(LockedField, match="'output_schema' is locked"):
        classifier.changed(output_schema={"type": "object"})
    assert classifier.changed(model="m").default_config.model == "m"
    free = classifier.unlocked(LockableField.OUTPUT_SCHEMA)
    assert not free.is_locked(LockableField.OUTPUT_SCHEMA)
    changed = free.changed(output_schema={"type": "object"})
    assert changed.default_config.output_schema == {"type": "object"}
    assert free.locked(LockableField.OUTPUT_SCHEMA) == classifier


def test_the_human_review_node_asks_a_person() -> None:
    template = BY_ID["builtin.manual-start-node"]
    assert template.display_name == "Human Review Node"
    assert template.default_config.request_user_input
    assert template.default_config.handoff.format == "json"


@pytest.mark.parametrize(
    ("template_id", "fits", "does_not"),
    [
        (
            "builtin.code-reviewer",
            {"findings": [{"severity": "info", "description": "d", "line": 3}], "summary": "s"},
            {"findings": [{"severity": "fatal", "description": "d"}], "summary": "s"},
        ),
        (
            "builtin.document-summarizer",
            {"executive_summary": "s", "key_points": ["k"], "action_items": []},
            {"executive_summary": "s"},
        ),
        (
            "builtin.classifier",
            {"category": "c", "confidence": 1, "rationale": "r"},
            {"category": "c", "confidence": 1.1},
        ),
        ("builtin.manual-start-node", {"approved": False}, {"comments": "c"}),
    ],
)
def test_what_the_schemas_ask_for(
    template_id: str, fits: dict[str, object], does_not: dict[str, object]
) -> None:
    validator = jsonschema.Draft202012Validator(BY_ID[template_id].default_config.output_schema)
    assert validator.is_valid(fits)
    assert not validator.is_valid(does_not)
