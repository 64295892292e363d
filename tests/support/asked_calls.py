"""One node whose calls a person is asked about, and calls for it."""

from __future__ import annotations

from typing import Any

from engine.vocabulary.tools import (
    CallInspection,
    CallPreview,
    FileChangeOp,
    FilePreview,
    ToolCall,
)
from tests.support.engine_driver import Reply, World, workflow

READ = ("read", {"path": "x"})
WRITE = ("write", {"path": "x", "content": "1"})
OTHER_WRITE = ("write", {"path": "y", "content": "1"})
MAKE = ("bash", {"command": "make"})


def one_node(*replies: Reply, mode: str = "write", **keys: Any) -> World:
    """A run with one node that gives these replies."""
    flow = workflow(nodes=["a"], defaults={"tools": {"approvalMode": mode}})
    return World(flow, {"a": list(replies)}, **keys).start()


def runs(world: World) -> list[tuple[str, Any]]:
    """The calls that were run: name and path."""
    return [(call.name, call.arguments.get("path")) for call in world.executed]


def found(version: str = "1") -> Any:
    """Looks calls up: each leads to its path in this version."""

    def inspect(call: ToolCall) -> CallInspection:
        path = call.arguments.get("path", "")
        shown = CallPreview((FilePreview(path, FileChangeOp.UPDATE, f"+{version}"),))
        return CallInspection(call.id, (f"/repo/{path}@{version}",), shown)

    return inspect
