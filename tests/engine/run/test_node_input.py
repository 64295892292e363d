"""What a node is given: outputs, documents, changes and reads of those before it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.run.context_assembly import ContextAssembler
from engine.vocabulary.inputs import Entrypoint
from engine.vocabulary.messages import Attachment, HandoffArtifact
from engine.vocabulary.tools import (
    FileChangeOp,
    FileChangeRecord,
    JsonObject,
    ReadRecord,
)
from tests.support.context_samples import node, workflow


def given_input(
    assembler: ContextAssembler,
    node_id: str,
    *,
    outputs: dict[str, Any] | None = None,
    handoffs: dict[str, HandoffArtifact] | None = None,
    changed_files: dict[str, list[FileChangeRecord]] | None = None,
    reads: dict[str, dict[str, ReadRecord]] | None = None,
    entrypoint: Entrypoint | None = None,
    packet: JsonObject | None = None,
) -> JsonObject:
    return assembler.input(
        node_id,
        outputs=outputs or {},
        handoffs=handoffs or {},
        changed_files=changed_files or {},
        reads=reads or {},
        entrypoint=entrypoint or Entrypoint(),
        evidence_packet=packet,
    )


class TestInput:
    def test_upstream_is_sorted_and_has_parents_with_outputs_only(self) -> None:
        assembler = ContextAssembler(
            workflow(*map(node, "abcd"), edges=("bd", "ad", "cd", "ad")), project_root=None
        )
        got = given_input(assembler, "d", outputs={"b": {"y": 1}, "a": "x", "d": 5})
        assert got == {
            "upstream": [{"node_id": "a", "output": "x"}, {"node_id": "b", "output": {"y": 1}}]
        }

    def test_a_handoff_goes_with_its_output(self) -> None:
        assembler = ContextAssembler(workflow(*map(node, "ab"), edges=("ab",)), project_root=None)
        artifact = HandoffArtifact("markdown", "run://handoffs/a.md", "text/markdown", "ff", 12)
        got = given_input(assembler, "b", outputs={"a": 1}, handoffs={"a": artifact})
        assert got["upstream"][0]["handoff"] == {
            "format": "markdown",
            "uri": "run://handoffs/a.md",
            "mediaType": "text/markdown",
            "sha256": "ff",
            "sizeBytes": 12,
        }

    def test_roots_get_the_entrypoint_and_others_do_not(self) -> None:
        assembler = ContextAssembler(workflow(*map(node, "ab"), edges=("ab",)), project_root=None)
        start = Entrypoint(" Build it. ")
        assert given_input(assembler, "a", entrypoint=start) == {
            "upstream": [],
            "entrypoint": {"text": " Build it. "},
        }
        assert given_input(assembler, "b", entrypoint=start) == {"upstream": []}

    def test_a_blank_entrypoint_is_left_out(self) -> None:
        assembler = ContextAssembler(workflow(node()), project_root=None)
        assert given_input(assembler, "a", entrypoint=Entrypoint(" \n")) == {"upstream": []}

    def test_attachments_make_an_entrypoint_of_a_blank_text(self) -> None:
        assembler = ContextAssembler(workflow(node()), project_root=None)
        start = Entrypoint("  ", (Attachment("1", "a.png", "image/png", 5, "ff"),))
        assert given_input(assembler, "a", entrypoint=start)["entrypoint"] == {
            "text": "",
            "attachments": [
                {
                    "id": "1",
                    "name": "a.png",
                    "mimeType": "image/png",
                    "size": 5,
                    "sha256": "ff",
                }
            ],
        }

    def test_changes_of_all_ancestors_arrive_merged(self) -> None:
        assembler = ContextAssembler(
            workflow(*map(node, "abcx"), edges=("ab", "bc")), project_root=None
        )
        changes = {
            "b": [FileChangeRecord("old.py", FileChangeOp.RENAME, 2, rename_to="new.py")],
            "a": [
                FileChangeRecord("old.py", FileChangeOp.CREATE, 1, diff_summary="+1|x"),
                FileChangeRecord("z.py", FileChangeOp.CREATE, 1, diff_summary="+1|z"),
            ],
            "x": [FileChangeRecord("elsewhere.py", FileChangeOp.CREATE, 1)],
            "c": [FileChangeRecord("mine.py", FileChangeOp.CREATE, 3)],
        }
        got = given_input(assembler, "c", outputs={"b": 1}, changed_files=changes)
        assert got["changed_files"] == [
            {"path": "old.py", "op": "rename", "renameTo": "new.py"},
            {"path": "z.py", "op": "create", "diffSummary": "+1|z"},
        ]
        assert "changed_files" not in given_input(assembler, "x", changed_files=changes)
        assert "changed_files" not in given_input(
            assembler, "b", outputs={"a": 1}, changed_files={"b": changes["b"]}
        )

    @pytest.mark.parametrize("forwarded", [True, False])
    def test_reads_of_all_ancestors_arrive_if_they_are_forwarded(self, forwarded: bool) -> None:
        assembler = ContextAssembler(
            workflow(*map(node, "abc"), edges=("ab", "bc"), forward_upstream_reads=forwarded),
            project_root=None,
        )
        reads = {
            "b": {"z.py": ReadRecord("z.py"), "a.py": ReadRecord("a.py")},
            "a": {"a.py": ReadRecord("a.py", "def f")},
        }
        got = given_input(assembler, "c", outputs={"b": 1}, reads=reads)
        expected = [{"path": "a.py", "outline": "def f"}, {"path": "z.py"}]
        assert got.get("reads") == (expected if forwarded else None)

    def test_the_frozen_plan_is_handed_on(self) -> None:
        assembler = ContextAssembler(workflow(*map(node, "ab"), edges=("ab",)), project_root=None)
        packet = {"schemaVersion": 1}
        got = given_input(assembler, "b", outputs={"a": 1}, packet=packet)
        assert got["change_evidence_packet"] is packet

    @given(data=st.data())
    def test_the_same_state_gives_the_same_bytes_in_whatever_order_it_came(
        self, data: st.DataObject
    ) -> None:
        ids = "abcdef"
        edges = [f"{ids[i]}{ids[j]}" for j in range(6) for i in range(j)]
        chosen = data.draw(st.lists(st.sampled_from(edges), unique=True))
        shuffled = data.draw(st.permutations(chosen))
        outputs = {i: {"said": i} for i in ids[:-1]}
        changes = {i: [FileChangeRecord(f"{i}.py", FileChangeOp.CREATE, 1)] for i in ids[:-1]}
        reads = {i: {"r.py": ReadRecord("r.py", i)} for i in ids[:-1]}
        texts = set()
        for order, keys in ((chosen, list(outputs)), (shuffled, list(reversed(outputs)))):
            assembler = ContextAssembler(
                workflow(*map(node, ids), edges=tuple(order)), project_root=None
            )
            got = given_input(
                assembler,
                "f",
                outputs={key: outputs[key] for key in keys},
                changed_files={key: changes[key] for key in keys},
                reads={key: reads[key] for key in keys},
                entrypoint=Entrypoint("Go."),
            )
            texts.add(json.dumps(got))
        assert len(texts) == 1
