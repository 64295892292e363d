from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.plan_mode import (
    denial,
    freeze_packet,
    is_draft_mutation,
    is_sealed,
    packet_problem,
    sealed_arguments,
)
from engine.vocabulary.messages import AssistantMessage, ResultItem
from engine.vocabulary.tools import (
    SEAL_PLAN_TOOL,
    ApprovalMode,
    ToolAccessPolicy,
    ToolCall,
    ToolResult,
    ToolTier,
)

DRAFT = "run://PLAN.md"


def refused(
    name: str,
    arguments: dict[str, Any] | None = None,
    *,
    tier: ToolTier = ToolTier.WRITE,
    policy: ToolAccessPolicy = ToolAccessPolicy.PLANNING,
    is_source: bool = False,
    mode: ApprovalMode = ApprovalMode.WRITE,
) -> str | None:
    call = ToolCall("1", name, arguments or {})
    return denial(call, tier=tier, policy=policy, is_source=is_source, mode=mode)


class TestWhilePlanning:
    def test_reading_runs_for_everybody(self) -> None:
        assert refused("read", {"path": "a"}, tier=ToolTier.READ) is None
        assert refused("mcp_look", tier=ToolTier.READ) is None

    @pytest.mark.parametrize("is_source", [True, False])
    @pytest.mark.parametrize(
        "name", ["bash", "apply_patch", "ast_edit", "openflow_call_subagent", "mcp_change"]
    )
    def test_whatever_else_changes_things_is_refused(self, name: str, is_source: bool) -> None:
        assert refused(name, {"command": "ls"}, is_source=is_source) is not None

    def test_the_words_differ_by_kind_of_tool(self) -> None:
        said = {refused(name, {"path": "src/a.py"}) for name in ("bash", "write", "mcp_change")}
        assert len(said) == 3

    @pytest.mark.parametrize("name", ["write", "edit"])
    def test_the_draft_belongs_to_the_source(self, name: str) -> None:
        assert refused(name, {"path": DRAFT}, is_source=True) is None
        message = refused(name, {"path": DRAFT})
        assert message is not None
        assert "owns the plan" in message

    def test_a_source_that_may_only_read_still_drafts(self) -> None:
        assert (
            refused("write", {"path": DRAFT}, is_source=True, mode=ApprovalMode.READ_ONLY) is None
        )

    def test_the_seal_belongs_to_the_source(self) -> None:
        assert refused(SEAL_PLAN_TOOL, is_source=True) is None
        assert refused(SEAL_PLAN_TOOL) is not None

    @pytest.mark.parametrize(
        "path", ["docs/a.md", "./docs/a.md", "docs/deep/er/a.md", "docs\\deep\\a.md"]
    )
    def test_documentation_may_be_written(self, path: str) -> None:
        assert refused("write", {"path": path}) is None
        assert refused("edit", {"path": path}) is None
        assert refused("write", {"path": path}, mode=ApprovalMode.READ_ONLY) is not None

    @pytest.mark.parametrize(
        "path",
        [
            "src/a.md",
            "docs/a.MD",
            "docs/a.txt",
            "docs/../src/a.md",
            "docs/..\\..\\a.md",
            "/docs/a.md",
            "docs//a.md",
            "docs/",
            "docs.md",
            "C:docs/a.md",
            "docs/a:b.md",
            "../docs/a.md",
            "././docs/a.md",
            "",
        ],
    )
    def test_other_paths_may_not(self, path: str) -> None:
        assert refused("write", {"path": path}) is not None
        assert refused("write", {"path": path}, is_source=True) is not None

    def test_every_section_of_an_edit_by_lines_must_be_documentation(self) -> None:
        good = "¶docs/a.md#1A2B\ndelete 3\n¶docs/b.md#0000\ndelete 1"
        assert refused("edit", {"input": good}) is None
        assert refused("edit", {"input": good + "\n¶src/a.py#1234\ndelete 1"}) is not None
        assert refused("edit", {"input": "delete 3"}) is not None
        assert refused("edit", {"path": "docs/a.md", "input": "¶src/a.py#1\ndelete 1"}) is not None

    def test_a_call_without_a_path_is_refused(self) -> None:
        assert refused("write", {"content": "x"}) is not None
        assert refused("write", {"path": 5, "content": "x"}) is not None


class TestWhileExecuting:
    def test_everything_but_the_plan_is_open(self) -> None:
        execution = ToolAccessPolicy.EXECUTION
        assert refused("bash", {"command": "rm x"}, policy=execution) is None
        assert refused("write", {"path": "src/a.py"}, policy=execution) is None
        assert refused("read", {"path": DRAFT}, tier=ToolTier.READ, policy=execution) is None

    @pytest.mark.parametrize("is_source", [True, False])
    def test_the_plan_is_closed(self, is_source: bool) -> None:
        execution = ToolAccessPolicy.EXECUTION
        for name, arguments in (
            ("write", {"path": DRAFT}),
            ("edit", {"path": DRAFT}),
            ("edit", {"input": f"¶{DRAFT}#12AB\ndelete 1"}),
            (SEAL_PLAN_TOOL, {}),
        ):
            assert refused(name, arguments, policy=execution, is_source=is_source) is not None


def test_a_draft_mutation_touches_nothing_but_the_draft() -> None:
    assert is_draft_mutation(ToolCall("1", "write", {"path": DRAFT}))
    assert is_draft_mutation(ToolCall("1", "edit", {"path": DRAFT, "edits": []}))
    assert not is_draft_mutation(ToolCall("1", "read", {"path": DRAFT}))
    assert not is_draft_mutation(ToolCall("1", "write", {"path": "run://plan.md"}))
    assert not is_draft_mutation(
        ToolCall("1", "edit", {"path": DRAFT, "input": "¶src/a.py#1\ndelete 1"})
    )


class TestSeal:
    def test_only_a_seal_with_an_artifact_seals(self) -> None:
        sealed = ToolResult("1", SEAL_PLAN_TOOL, "artifact:x", artifact_ids=("x",))
        assert is_sealed([AssistantMessage("hm"), ResultItem(sealed)])
        assert sealed_arguments(sealed) == {"artifact_id": "x", "sealed_from": DRAFT}

    @pytest.mark.parametrize(
        "result",
        [
            ToolResult("1", SEAL_PLAN_TOOL, "denied", is_error=True, artifact_ids=("x",)),
            ToolResult("1", SEAL_PLAN_TOOL, "no artifact"),
            ToolResult("1", "write", "ok", artifact_ids=("x",)),
        ],
    )
    def test_others_do_not(self, result: ToolResult) -> None:
        assert not is_sealed([ResultItem(result)])


class TestPacket:
    def test_it_names_its_source_and_content(self) -> None:
        packet = freeze_packet("plan", {"b": 1, "a": [2]})
        assert packet["schemaVersion"] == 1
        assert packet["sourceNodeId"] == "plan"
        assert packet["content"] == {"b": 1, "a": [2]}
        assert len(packet["sha256"]) == 64

    def test_the_hash_is_that_of_canonical_json(self) -> None:
        one = freeze_packet("plan", {"b": {"d": 1, "c": "ü"}, "a": 2})
        two = freeze_packet("other", {"a": 2, "b": {"c": "ü", "d": 1}})
        assert one["sha256"] == two["sha256"]
        empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        assert freeze_packet("plan", {})["sha256"] == empty

    @given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
    def test_a_packet_fits_its_source(self, content: dict[str, Any]) -> None:
        assert packet_problem(freeze_packet("plan", content), "plan", content) is None

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"schemaVersion": 2}, "version"),
            ({"sourceNodeId": "other"}, "does not come from"),
            ({"content": {"a": 2}}, "altered"),
            ({"sha256": "0" * 64}, "altered"),
            ({"sha256": None}, "altered"),
        ],
    )
    def test_an_altered_packet_is_found_out(self, change: dict[str, Any], words: str) -> None:
        packet = {**freeze_packet("plan", {"a": 1}), **change}
        problem = packet_problem(packet, "plan", {"a": 1})
        assert problem is not None
        assert words in problem

    def test_a_packet_must_be_the_output_of_its_source(self) -> None:
        problem = packet_problem(freeze_packet("plan", {"a": 1}), "plan", {"a": True})
        assert problem is not None
        assert "not the output" in problem
