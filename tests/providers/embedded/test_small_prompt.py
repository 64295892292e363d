"""What a small model is told, and what it is spared."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.graph.handoff import missing_headings
from engine.graph.node_config import MarkdownHandoff
from engine.graph.workflow import PlanMode, Workflow, WorkflowSettings
from engine.run import preamble
from engine.run.context_assembly import ContextAssembler
from engine.vocabulary.messages import ModelTurn, WireCall
from engine.vocabulary.ports import StreamSink
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject
from providers.conversation import opening_text
from providers.embedded.handoff_sections import document, sections
from providers.embedded.small_prompt import SmallPromptPort, input_text, shortened
from tests.support.graphs import agent_node
from tests.support.requests import request_for

PROMPT = "You clarify ideas."
SHARED = "The team is small."


def messages_of(config: JsonObject, tool_names: tuple[str, ...], *, plans: bool) -> tuple[str, ...]:
    """What the engine gives a node to read, with everything of ours that there is."""
    node = agent_node("a", system_prompt=PROMPT, **config)
    settings = WorkflowSettings(
        shared_context=SHARED, plan_mode=PlanMode(evidence_source_node_id="a") if plans else None
    )
    workflow = Workflow(id="w", name="w", nodes=(node,), edges=(), settings=settings)
    assembler = ContextAssembler(workflow, project_root="/projects/one")
    return assembler.system_messages(node, tool_names)


@pytest.mark.parametrize("tool_names", [(), ("read", "write")])
@pytest.mark.parametrize("plans", [False, True])
@pytest.mark.parametrize(
    "config",
    [
        {},
        {"request_user_input": True},
        {"conversation_mode": True},
        {"handoff": MarkdownHandoff(template="# Handoff\n\n## Summary")},
    ],
)
def test_only_the_workflows_own_words_are_left(
    config: JsonObject, tool_names: tuple[str, ...], plans: bool
) -> None:
    messages = messages_of(config, tool_names, plans=plans)
    assert len(messages) > 4

    left = shortened(request_for(system_messages=messages), preamble).system_messages

    assert left[0] == PROMPT
    assert len(left) == 2
    assert SHARED in left[1]


def test_the_input_is_read_as_text() -> None:
    given_input = {
        "upstream": [
            {"node_id": "plan", "output": {"steps": ["Save the parts.", "Ask where to go on."]}},
            {"node_id": "risk_check", "output": {"worst": "The battery.", "count": 2, "by": None}},
        ]
    }

    assert input_text(given_input) == (
        "plan:\nsteps:\n  - Save the parts.\n  - Ask where to go on.\n\n"
        "risk check:\nworst: The battery.\ncount: 2\nby:"
    )


def test_a_single_parent_and_the_entrypoint_need_no_heading() -> None:
    parent = {"upstream": [{"node_id": "idea", "output": {"target_user": "Cyclists."}}]}

    assert input_text(parent) == "target user: Cyclists."
    assert input_text({"upstream": [], "entrypoint": {"text": "An idea"}}) == "An idea"


def test_a_document_that_came_along_is_read_in_place_of_its_summary() -> None:
    handoff = {"format": "markdown", "uri": "run://handoffs/a/HANDOFF.md", "content": "# Plan"}
    entry = {"node_id": "a", "output": {"summary": "See the document."}, "handoff": handoff}
    assert input_text({"upstream": [entry]}) == "# Plan"


def test_other_parts_of_the_input_are_kept() -> None:
    text = input_text({"upstream": [], "changed_files": [{"path": "a.py", "op": "create"}]})

    assert text == "changed files:\n-\n  path: a.py\n  op: create"


def test_more_than_the_model_can_read_is_cut_and_said_so() -> None:
    long = {"upstream": [], "entrypoint": {"text": "word " * 5000}}

    text = input_text(long)

    assert len(text) < 8100
    assert text.endswith("[The rest is left out.]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["upstream", "entrypoint", "reads", "x"]), JSON) | JSON)
def test_any_input_can_be_read(value: Any) -> None:
    text = input_text(value)

    assert opening_text(request_for(input=text)).endswith(text)


class Port:
    """Answers with a call that has these arguments, and keeps what it was asked."""

    def __init__(self, arguments: JsonObject | None) -> None:
        self._arguments = arguments
        self.seen: list[AgentRequest] = []

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        self.seen.append(request)
        return ModelTurn(calls=(WireCall(SUBMIT_TOOL, self._arguments, "id-1"),))


def test_everything_else_of_the_request_goes_through() -> None:
    port = Port({"output": {"summary": "Done."}})
    request = request_for(system_messages=(PROMPT,), input={"upstream": []})

    turn = asyncio.run(SmallPromptPort(port, preamble).invoke(request))

    assert turn.calls == (WireCall(SUBMIT_TOOL, {"output": {"summary": "Done."}}, "id-1"),)
    assert port.seen == [shortened(request, preamble)]
    assert port.seen[0].output_schema == request.output_schema
    assert port.seen[0].task_prompt == request.task_prompt


TEMPLATE = """# Handoff

## Summary
<!-- two sentences -->

## Files

### Changed

## Next step: who, what?

## Summary
"""


def document_request() -> AgentRequest:
    config = {"handoff": MarkdownHandoff(template=TEMPLATE)}
    return request_for(
        system_messages=messages_of(config, (), plans=False), handoff_format="markdown"
    )


def test_a_document_is_asked_for_by_its_sections() -> None:
    port = Port(None)

    asyncio.run(SmallPromptPort(port, preamble).invoke(document_request()))

    schema = port.seen[0].output_schema
    assert schema["required"] == ["summary_1", "changed_3", "next_step_who_what_4", "summary_5"]
    assert schema["required"] == list(schema["properties"])


def test_a_document_is_put_together_from_its_sections() -> None:
    texts = {"summary_1": "All is well.", "changed_3": "", "next_step_who_what_4": 7}
    port = Port({"output": texts})

    turn = asyncio.run(SmallPromptPort(port, preamble).invoke(document_request()))

    assert turn.calls[0].arguments is not None
    text = turn.calls[0].arguments["output"]["markdown"]
    assert missing_headings(TEMPLATE, text) == ()
    assert text.startswith("# Handoff\n\n## Summary\n\nAll is well.\n\n## Files\n\n### Changed\n")
    assert turn.calls[0].provider_call_id == "id-1"


@pytest.mark.parametrize("arguments", [None, {}, {"output": "no object"}])
def test_a_call_without_sections_is_left_as_it_is(arguments: JsonObject | None) -> None:
    turn = asyncio.run(SmallPromptPort(Port(arguments), preamble).invoke(document_request()))

    assert turn.calls[0].arguments == arguments


@given(st.text(alphabet="#  ab\n\t-", max_size=60))
def test_every_heading_of_any_template_is_in_its_document(template: str) -> None:
    parts = sections(template)
    names = [part.property for part in parts if part.property is not None]

    assert len(set(names)) == len(names)
    assert missing_headings(template, document(parts, dict.fromkeys(names, "Text."))) == ()
