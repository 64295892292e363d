import pytest

from engine.run.preamble import MARKER, asking, conversation, preamble
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
    ToolConfig,
)

KNOWN_TOOLS = (
    "apply_patch",
    "ast_edit",
    "ast_grep",
    "bash",
    "edit",
    "find",
    "ls",
    "openflow_call_subagent",
    "openflow_declare_subagents",
    "openflow_update_todo_list",
    "read",
    "search",
    "web_search",
    "write",
)


def test_it_begins_with_its_marker_and_says_how_to_finish() -> None:
    text = preamble((), plan_mode=False)
    assert text.splitlines()[0] == MARKER
    assert SUBMIT_TOOL in text


def test_without_tools_nothing_is_said_about_them() -> None:
    text = preamble((), plan_mode=False)
    assert "## Tools" not in text
    assert len(text) < 800


@pytest.mark.parametrize("tool", KNOWN_TOOLS)
def test_each_tool_has_its_note_where_it_is_offered_and_only_there(tool: str) -> None:
    note = f"\n- `{tool}`: "
    assert preamble((tool,), plan_mode=False).count(note) == 1
    others = tuple(name for name in KNOWN_TOOLS if name != tool)
    assert note not in preamble(others, plan_mode=False)


@pytest.mark.parametrize(
    "topic",
    [
        "handoff",
        "changed_files",
        "reads",
        "one turn",
        "approval",
        "denial",
        "failed call",
        ".gitignore",
        ".flow/workflows/",
        "submit their paths",
        "Do not claim",
    ],
)
def test_working_with_tools_is_explained(topic: str) -> None:
    assert topic in preamble(("read",), plan_mode=False)


def test_plan_mode_is_explained_only_where_it_is_on() -> None:
    assert "change_evidence_packet" in preamble((), plan_mode=True)
    assert "change_evidence_packet" not in preamble(("read",), plan_mode=False)


def test_all_variants_begin_alike() -> None:
    contract = preamble((), plan_mode=False)
    assert preamble((), plan_mode=True).startswith(contract)
    assert preamble(KNOWN_TOOLS, plan_mode=True).startswith(contract)


def test_a_conversation_has_no_free_text_request() -> None:
    text = conversation(ToolConfig())
    assert f"`{REQUEST_INPUT_TOOL}` is not available" in text
    assert ASK_QUESTION_TOOL in text


def test_asking_gives_the_limits_of_choices() -> None:
    text = asking(ToolConfig(allow_free_text_user_input=False))
    assert REQUEST_INPUT_TOOL not in text
    assert "12 characters" in text
    assert "2 or 3 options" in text
