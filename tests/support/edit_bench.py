"""Call the editing tools over a folder of bytes, and undo what they did."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from engine.vocabulary.tools import JsonObject, ToolAccessPolicy
from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.file_edits.edit_log import EditLog, RevertReport
from orchestration.tools.tool import FailureKind, Inspected, Tool, ToolFailure, ToolOutput
from tests.support.tool_bench import context_in, services


class EditBench:
    """A folder, and the conversation `n` that edits what is in it."""

    def __init__(self, root: Path, **settings: Any) -> None:
        root.mkdir(exist_ok=True)
        self.root = root
        self.services = services(root, settings=ToolSettings(**settings))
        self.context = context_in(root, services=self.services)
        self.log = EditLog(self.services.edits)

    def as_another(self, caller: str) -> EditBench:
        """The same folder in another conversation."""
        other = EditBench(self.root)
        other.services = self.services
        other.context = msgspec.structs.replace(self.context, node_id=caller, caller_id=caller)
        other.log = self.log
        return other

    def planning(self) -> EditBench:
        """The same conversation while it plans."""
        other = self.as_another(self.context.caller_id)
        other.context = msgspec.structs.replace(self.context, policy=ToolAccessPolicy.PLANNING)
        return other

    def put(self, name: str, data: bytes | str) -> Path:
        """Make a file as a person would; no conversation knows of it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def saw(self, name: str) -> None:
        """Let the conversation have read the file as it is now."""
        path = (self.root / name).resolve()
        self.services.files.saw(self.context.caller_id, path, path.read_bytes())

    def run(self, tool: Tool, **arguments: Any) -> ToolOutput:
        """Make one call and give what it answers."""

        async def call() -> ToolOutput:
            try:
                return await tool.run(arguments, self.context)
            except ToolFailure as failure:
                return ToolOutput(str(failure), is_error=True)

        return asyncio.run(call())

    def inspect(self, tool: Tool, **arguments: Any) -> Inspected:
        """Find out what a call would do."""

        async def call() -> Inspected:
            assert tool.inspect is not None
            return await tool.inspect(arguments, self.context)

        return asyncio.run(call())

    def write(self, path: str, content: str) -> ToolOutput:
        return self.run(WRITE, path=path, content=content)

    def edit(self, path: str, *edits: tuple[str, str], every: bool = False) -> ToolOutput:
        return self.run(EDIT, path=path, edits=edits_of(*edits, every=every))

    def refusal(self, output: ToolOutput, kind: FailureKind) -> str:
        """The text of an answer that must be an error of this kind and must have done nothing."""
        assert output.is_error
        assert output.content.startswith(f"[{kind}] "), output.content
        assert not output.effects.file_changes
        assert output.batch is None
        return output.content

    def revert(self, output: ToolOutput, *, force: bool = False) -> RevertReport:
        """Undo what a call did."""
        assert output.batch is not None
        return self.log.revert(output.batch.batch_id, self.context.workspace, force=force)

    def files(self) -> dict[str, bytes]:
        """Everything in the folder, by path."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file()
        }

    def bytes_of(self, name: str) -> bytes:
        return (self.root / name).read_bytes()


def edits_of(*edits: tuple[str, str], every: bool = False) -> list[JsonObject]:
    """Replacements as a model writes them."""
    more = {"all": True} if every else {}
    return [{"old_text": old, "new_text": new, **more} for old, new in edits]
