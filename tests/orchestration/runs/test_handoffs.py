import asyncio
import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary.errors import MalformedSubmit, ModelCallError, PermanentFailure
from engine.vocabulary.messages import Completed, Usage
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ToolDefinition
from orchestration.runs.handoffs import MAX_BYTES, HandoffStore, is_address, segment_of
from tests.support.requests import request_for

TEMPLATE = "# Handoff\n\n## Summary\n\n## Risks\n"
GOOD = "# Handoff\n## Summary\nAll well.\n## Risks\nNone.\n"


async def accepted(store: HandoffStore, request: AgentRequest, completed: Completed) -> Completed:
    handed_over, writing = store.accept(request, completed)
    if writing is not None:
        await writing
    return handed_over


def accept(store: HandoffStore, output: object, handoff_format: str, **more: object) -> Completed:
    async def main() -> Completed:
        request = request_for("a", handoff_format=handoff_format)
        try:
            return await accepted(store, request, Completed(output, **more))  # type: ignore[arg-type]
        finally:
            await store.aclose()

    return asyncio.run(main())


def refusal(store: HandoffStore, output: object, handoff_format: str) -> ModelCallError:
    with pytest.raises(ModelCallError) as caught:
        accept(store, output, handoff_format, usage=Usage(prompt_tokens=3))
    return caught.value


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_markdown_handoff_becomes_a_document_and_a_summary(tmp_path: Path, on_disk: bool) -> None:
    store = HandoffStore(tmp_path / "handoffs" if on_disk else None, {"a": TEMPLATE})
    completed = accept(store, {"markdown": GOOD}, "markdown", assistant_message="Done.")
    assert completed.output == {"summary": "Done."}
    artifact = completed.handoff
    assert artifact is not None
    assert artifact.uri == "run://handoffs/a/HANDOFF.md"
    assert artifact.media_type == "text/markdown"
    assert artifact.size_bytes == len(GOOD)
    assert artifact.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert store.read("a", "HANDOFF.md") == GOOD
    written = tmp_path / "handoffs" / "a" / "HANDOFF.md"
    assert written.exists() == on_disk
    if on_disk:
        assert written.read_text() == GOOD
        assert [path.name for path in written.parent.iterdir()] == ["HANDOFF.md"]


def test_without_a_message_the_summary_is_a_fixed_sentence() -> None:
    completed = accept(HandoffStore(None, {"a": TEMPLATE}), {"markdown": GOOD}, "markdown")
    assert completed.output["summary"].strip()


def test_a_json_handoff_leaves_the_output_as_it_is(tmp_path: Path) -> None:
    store = HandoffStore(tmp_path, {})
    completed = accept(store, {"b": [1], "ä": "x"}, "json")
    assert completed.output == {"b": [1], "ä": "x"}
    text = (tmp_path / "a" / "HANDOFF.json").read_text("utf-8")
    assert json.loads(text) == {"b": [1], "ä": "x"}
    assert text.endswith("}\n")
    assert "\n  " in text


def test_a_conversation_hands_over_no_document(tmp_path: Path) -> None:
    completed = accept(HandoffStore(tmp_path, {}), {"x": 1}, "legacy")
    assert completed.handoff is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("output", "what"),
    [
        ({"markdown": "# Handoff\n"}, "## Summary"),
        ({"markdown": 7}, "markdown"),
        ({"text": "x"}, "markdown"),
        ("x", "markdown"),
        ({"markdown": GOOD + "x" * MAX_BYTES}, str(MAX_BYTES)),
    ],
)
def test_a_document_that_does_not_fit_is_a_malformed_submit_without_candidate(
    output: object, what: str
) -> None:
    error = refusal(HandoffStore(None, {"a": TEMPLATE}), output, "markdown")
    failure = error.failure
    assert isinstance(failure, MalformedSubmit)
    assert failure.kind == "handoff"
    assert what in failure.detail
    assert failure.usage == Usage(prompt_tokens=3)
    assert error.candidate is None


def test_a_json_document_that_is_too_large_is_refused() -> None:
    error = refusal(HandoffStore(None, {}), {"x": "y" * MAX_BYTES}, "json")
    assert isinstance(error.failure, MalformedSubmit)


def test_a_folder_that_cannot_be_written_is_a_permanent_failure_that_names_it(
    tmp_path: Path,
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    error = refusal(HandoffStore(blocked, {}), {"x": 1}, "json")
    assert isinstance(error.failure, PermanentFailure)
    assert str(blocked) in error.failure.message
    assert error.failure.usage == Usage(prompt_tokens=3)


def test_many_documents_at_once_are_all_there_when_their_calls_return(tmp_path: Path) -> None:
    async def main() -> None:
        store = HandoffStore(tmp_path, {})
        nodes = [f"n{number}" for number in range(50)]

        async def one(node_id: str) -> None:
            await accepted(store, request_for(node_id), Completed({"n": node_id}))
            assert json.loads((tmp_path / node_id / "HANDOFF.json").read_text()) == {"n": node_id}

        await asyncio.gather(*(one(node_id) for node_id in nodes))
        await store.aclose()

    asyncio.run(main())


def test_a_cancelled_call_leaves_no_half_document_and_the_store_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        store = HandoffStore(tmp_path, {})
        task = asyncio.ensure_future(accepted(store, request_for("a"), Completed({"n": 1})))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        await accepted(store, request_for("b"), Completed({"n": 2}))
        await store.aclose()
        assert json.loads((tmp_path / "a" / "HANDOFF.json").read_text()) == {"n": 1}
        assert (tmp_path / "b" / "HANDOFF.json").exists()

    asyncio.run(main())


def test_a_node_that_cannot_read_gets_the_markdown_of_its_parents_inline() -> None:
    store = HandoffStore(None, {"a": TEMPLATE})
    accept(store, {"markdown": GOOD}, "markdown")
    item = {"node_id": "a", "output": {"summary": "s"}, "handoff": {"uri": "run://x"}}
    other = {"node_id": "z", "output": 1}
    request = request_for("b", input={"upstream": [item, other]})
    inlined = store.with_inline_documents(request).input["upstream"]
    assert inlined[0]["handoff"] == {"uri": "run://x", "content": GOOD}
    assert inlined[1] is other
    assert "content" not in item["handoff"]
    reader = ToolDefinition("read", "reads", {})
    can_read = request_for("b", input={"upstream": [item]}, available_tools=(reader,))
    assert store.with_inline_documents(can_read) is can_read
    stranger = request_for("b", input={"upstream": [other]})
    assert store.with_inline_documents(stranger) is stranger


def test_a_document_that_is_too_long_to_be_inlined_says_how_much_was_cut() -> None:
    store = HandoffStore(None, {"a": TEMPLATE})
    accept(store, {"markdown": GOOD + "ä" * 70_000}, "markdown")
    request = request_for("b", input={"upstream": [{"node_id": "a", "handoff": {}}]})
    content = store.with_inline_documents(request).input["upstream"][0]["handoff"]["content"]
    assert content.endswith(" characters left out]")
    assert len(content) < 66_000


@pytest.mark.parametrize(
    ("node_id", "segment"),
    [
        ("plan-1_a.b", "plan-1_a.b"),
        ("a b/ä", "a%20b%2F%C3%A4"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("%", "%25"),
        ("", "%"),
    ],
)
def test_a_node_id_is_one_harmless_folder_name(node_id: str, segment: str) -> None:
    assert segment_of(node_id) == segment


@given(st.text(max_size=300))
def test_whatever_the_node_id_its_folder_name_is_an_address(node_id: str) -> None:
    segment = segment_of(node_id)
    assert is_address(segment, "HANDOFF.md")
    assert len(segment) <= 120


@given(st.text(max_size=60), st.text(max_size=60))
def test_different_nodes_have_different_folders(one: str, other: str) -> None:
    assert (segment_of(one) == segment_of(other)) == (one == other)


@pytest.mark.parametrize(
    ("segment", "file_name"),
    [
        ("..", "HANDOFF.md"),
        (".", "HANDOFF.md"),
        ("", "HANDOFF.md"),
        ("a/../..", "HANDOFF.md"),
        ("a", "secret.txt"),
        ("a", "../HANDOFF.md"),
    ],
)
def test_nothing_outside_the_store_can_be_addressed(
    tmp_path: Path, segment: str, file_name: str
) -> None:
    (tmp_path / "HANDOFF.md").write_text("outside")
    (tmp_path / "handoffs" / "a").mkdir(parents=True)
    (tmp_path / "handoffs" / "a" / "secret.txt").write_text("outside")
    assert HandoffStore(tmp_path / "handoffs", {}).read(segment, file_name) is None


def test_a_document_that_is_not_there_reads_as_none(tmp_path: Path) -> None:
    assert HandoffStore(tmp_path, {}).read("a", "HANDOFF.md") is None
