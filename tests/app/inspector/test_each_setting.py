"""Every setting has a field, each field edits its own key and nothing else, and follows undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.inspector.field import Field
from app.inspector.field_widgets import (
    ChoiceField,
    FlagField,
    NumberField,
    SuggestionField,
    TextField,
)
from app.inspector.list_fields import PickField, ShownField
from app.inspector.schema_table import SchemaField
from app.inspector.text_editor import ProseField
from engine.graph.node_config import AgentNodeConfig, NodeToolConfig
from engine.graph.workflow import RetryPolicy, WorkflowSettings
from tests.support.inspector_bench import InspectorBench

Act = Callable[[InspectorBench, Field], None]


class Case(NamedTuple):
    """A key, the node in whose form its field is, and the line that changes."""

    key: str
    node: str
    before: str
    after: str
    downward: bool = True


CASES = (
    Case("label", "idea", '"label": "The idea"', '"label": "New"'),
    Case("provider_id", "idea", '"providerId": "alpha"', '"providerId": "beta"'),
    Case("model", "idea", '"model": "alpha-1"', '"model": "New"'),
    Case("reasoning_effort", "idea", '"reasoningEffort": "low"', '"reasoningEffort": "medium"'),
    Case(
        "reasoning_budget_tokens",
        "idea",
        '"reasoningBudgetTokens": 2048',
        '"reasoningBudgetTokens": 77',
    ),
    Case("system_prompt", "idea", '"system_prompt": "You plan."', '"system_prompt": "New"'),
    Case("task_prompt", "idea", '"task_prompt": "Do your part."', '"task_prompt": "New"'),
    Case("handoff", "idea", '"format": "json"', '"format": "legacy"'),
    Case(
        "template",
        "brief",
        '"template": "# Handoff\\n\\n## Summary\\n"',
        '"template": "New"',
    ),
    Case(
        "output_schema",
        "idea",
        '"description": "Two sentences"',
        '"description": "New"',
    ),
    Case("approval_mode", "idea", '"approvalMode": "write"', '"approvalMode": "yolo"'),
    Case("request_user_input", "idea", '"requestUserInput": true', '"requestUserInput": false'),
    Case(
        "allow_structured_user_input",
        "idea",
        '"allowStructuredUserInput": true',
        '"allowStructuredUserInput": false',
    ),
    Case(
        "allow_free_text_user_input",
        "idea",
        '"allowFreeTextUserInput": true',
        '"allowFreeTextUserInput": false',
    ),
    Case("conversation_mode", "idea", '"conversationMode": false', '"conversationMode": true'),
    Case(
        "allow_all_callable_agents",
        "idea",
        '"allowAllCallableAgents": false',
        '"allowAllCallableAgents": true',
    ),
    Case("auto_start", "idea", '"auto_start": false', '"auto_start": true'),
    Case("name", "", '"name": "Planning"', '"name": "New"'),
    Case("shared_context", "", '"shared_context": "A photo app."', '"shared_context": "New"'),
    Case("provider_id", "", '"provider_id": "alpha"', '"provider_id": "beta"'),
    Case("reasoning_effort", "", '"reasoningEffort": "medium"', '"reasoningEffort": "high"'),
    Case(
        "reasoning_budget_tokens",
        "",
        '"reasoningBudgetTokens": 4096',
        '"reasoningBudgetTokens": 77',
    ),
    Case("fast_mode", "", '"fastMode": false', '"fastMode": true'),
    Case("output_repair_model", "", '"outputRepairModel": "alpha-2"', '"outputRepairModel": "New"'),
    Case("max_attempts", "", '"max_attempts": 3', '"max_attempts": 77'),
    Case("backoff_ms", "", '"backoff_ms": 1000', '"backoff_ms": 77'),
    Case(
        "forward_upstream_reads",
        "",
        '"forwardUpstreamReads": true',
        '"forwardUpstreamReads": false',
    ),
    Case(
        "plan_mode",
        "",
        '"evidenceSourceNodeId": "idea"',
        '"evidenceSourceNodeId": "plan"',
    ),
)
MANY_LINES = {("callable_agents", "idea")}
SHOWN = {
    ("mcp_resources", "idea"),
    ("mcp_prompts", "idea"),
    ("mcp_context_snapshots", "idea"),
    ("schedule", ""),
}
IDS = [f"{case.key} of {case.node or 'the workflow'}" for case in CASES]


def change(bench: InspectorBench, field: Field) -> None:
    """Change a field as a person does: by keys."""
    match field:
        case TextField() | ProseField():
            bench.write(field.control, "New")
        case SuggestionField():
            bench.write(field.line, "New")
        case NumberField():
            bench.write(field.control, "77")
        case ChoiceField():
            bench.step(field.control)
        case FlagField():
            bench.tick(field.control)
        case SchemaField():
            bench.write(field.rows[0].description, "New")
        case _:
            raise AssertionError(f"nobody knows how to change {field}")


def shown(field: Field) -> object:
    """What a person sees in a field."""
    match field:
        case TextField() | NumberField():
            return field.control.text()
        case SuggestionField():
            return field.line.text()
        case ProseField():
            return field.control.toPlainText()
        case ChoiceField():
            return field.control.currentText()
        case FlagField():
            return field.control.checkState()
        case SchemaField():
            return [(row.name.text(), row.description.text()) for row in field.rows]
        case _:
            raise AssertionError(f"nobody knows how to look at {field}")


@pytest.fixture
def bench(qapp: QApplication) -> Iterator[InspectorBench]:
    bench = InspectorBench(qapp)
    yield bench
    bench.dispose()


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_field_edits_its_own_line_only(bench: InspectorBench, case: Case) -> None:
    bench.choose(*filter(None, [case.node]))
    change(bench, bench.field(case.key))
    ((before, after),) = bench.changed_lines()
    assert before.strip().rstrip(",") == case.before
    assert after.strip().rstrip(",") == case.after
    assert len(bench.steps) == 1
    assert bench.steps[0].startswith("Change ")


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_undo_brings_it_back_and_the_field_follows(bench: InspectorBench, case: Case) -> None:
    bench.choose(*filter(None, [case.node]))
    field = bench.field(case.key)
    old = shown(field)
    change(bench, field)
    new, text = shown(field), bench.text()
    assert new != old
    bench.undo()
    assert bench.text() == bench.text_before
    assert shown(bench.field(case.key)) == old
    bench.redo()
    assert bench.text() == text
    assert shown(bench.field(case.key)) == new


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_is_undone_while_the_field_has_the_focus_is_undone_by_the_window(
    bench: InspectorBench, case: Case
) -> None:
    from PySide6.QtTest import QTest

    bench.choose(*filter(None, [case.node]))
    change(bench, bench.field(case.key))
    focused = QApplication.focusWidget()
    assert focused is not None
    assert bench.panel.isAncestorOf(focused)
    QTest.keyClick(focused, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert bench.text() == bench.text_before


def test_callable_agents_are_picked_one_by_one(bench: InspectorBench) -> None:
    bench.choose("idea")
    field = bench.field("callable_agents")
    assert isinstance(field, PickField)
    bench.tick(field.boxes["writer"])
    assert bench.value("nodes", 0, "agent", "callableAgents") == ["tester", "writer"]
    bench.tick(field.boxes["tester"])
    assert bench.value("nodes", 0, "agent", "callableAgents") == ["writer"]
    bench.undo()
    bench.undo()
    assert bench.text() == bench.text_before
    assert [box.isChecked() for box in field.boxes.values()] == [True, False]


def test_an_agent_that_is_named_and_not_saved_can_be_given_up(bench: InspectorBench) -> None:
    from tests.support.inspector_bench import OFFERS

    bench.choose("idea")
    bench.panel.set_offers(OFFERS._replace(agents=()))
    field = bench.field("callable_agents")
    assert isinstance(field, PickField)
    assert [box.text() for box in field.boxes.values()] == ["tester (not saved here)"]
    bench.tick(field.boxes["tester"])
    assert bench.value("nodes", 0, "agent", "callableAgents") == []


def test_handing_over_a_markdown_document_begins_with_a_template(bench: InspectorBench) -> None:
    bench.choose("idea")
    handoff = bench.field("handoff")
    assert isinstance(handoff, ChoiceField)
    bench.step(handoff.control, Qt.Key.Key_Up)
    template = bench.field("template")
    assert isinstance(template, ProseField)
    assert template.control.toPlainText().startswith("# Handoff")
    assert bench.value("nodes", 0, "agent", "handoff", "format") == "markdown"
    assert bench.value("nodes", 0, "agent", "output_schema") == bench.value(
        "nodes", 1, "agent", "output_schema"
    )
    bench.undo()
    assert bench.text() == bench.text_before
    assert not template.isVisible()


def test_plan_mode_is_switched_off_and_on(bench: InspectorBench) -> None:
    bench.choose()
    plan = bench.field("plan_mode")
    assert isinstance(plan, ChoiceField)
    bench.step(plan.control, Qt.Key.Key_Up)
    assert bench.value("settings", "planMode") is None
    bench.step(plan.control)
    assert bench.value("settings", "planMode") == {"evidenceSourceNodeId": "idea"}


def test_what_can_only_be_seen_is_told_in_words(bench: InspectorBench) -> None:
    bench.choose("idea")
    resources = bench.field("mcp_resources")
    assert isinstance(resources, ShownField)
    assert resources.text.text() == "docs://intro from docs, at most 4,096 bytes"
    bench.choose()
    schedule = bench.field("schedule")
    assert isinstance(schedule, ShownField)
    assert schedule.text.text() == "0 9 * * 1, Europe/Vienna"


def test_every_setting_of_the_file_has_a_field(bench: InspectorBench) -> None:
    of_nodes, of_workflow = set(bench.panel.nodes.fields), set(bench.panel.workflow.fields)
    agent = set(AgentNodeConfig.model_fields) - {"tools"} | set(NodeToolConfig.model_fields)
    settings = set(WorkflowSettings.model_fields) - {"retry_policy"} | set(RetryPolicy.model_fields)
    assert of_nodes == agent | {"label", "template"}
    assert of_workflow == settings | {"name"}


def test_every_field_is_tried(bench: InspectorBench) -> None:
    tried = {(case.key, case.node) for case in CASES} | MANY_LINES | SHOWN
    assert {key for key, node in tried if node} == set(bench.panel.nodes.fields)
    assert {key for key, node in tried if not node} == set(bench.panel.workflow.fields)
