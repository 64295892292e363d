"""What the canvas draws is the same before and after the full model is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.canvas.graph_sketch import SketchError, read_sketch
from app.canvas.snapshot import graph_of
from engine.graph.serialization import load_workflow
from orchestration.workflow_catalog import examples
from tests.support.workflow_files import write_workflow


def test_outline_and_model_draw_the_same(tmp_path: Path) -> None:
    files = [write_workflow(tmp_path / "w.workflow.json", model="gpt-5.5")]
    files += [example.path for example in examples()]
    for file in files:
        data = file.read_bytes()
        assert read_sketch(data) == graph_of(load_workflow(data))


def test_kinds_of_other_versions_are_drawn(tmp_path: Path) -> None:
    document = {
        "id": "w",
        "name": "W",
        "nodes": [
            {"id": "a", "label": "A", "kind": "Loop", "position": {"x": 1, "y": 2}, "odd": []},
            {"id": "a", "label": "Twice", "kind": "Loop", "position": {"x": 1, "y": 2}},
        ],
        "edges": [{"id": "e", "from": "a", "to": "gone"}],
    }
    data = json.dumps(document).encode()
    assert read_sketch(data) == graph_of(load_workflow(data))
    assert [card.label for card in read_sketch(data).cards] == ["A"]


@pytest.mark.parametrize("text", [b"", b"nonsense", b"[]", b"{}", b'{"nodes": 3}', b"[" * 100_000])
def test_what_is_no_workflow_is_refused(text: bytes) -> None:
    with pytest.raises(SketchError):
        read_sketch(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "label", "kind", "position", "agent", "x", "model", "from"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_node_however_odd_breaks_the_outline(node: Any) -> None:
    read_sketch(json.dumps({"nodes": [node], "edges": [node]}).encode())
