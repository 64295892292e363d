"""The `read` tool: a file, some of its lines, a folder, or another node's handoff document."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from pathlib import Path

from engine.vocabulary.tools import (
    JsonObject,
    ReadRecord,
    ToolConcurrency,
    ToolDefinition,
    ToolEffects,
    ToolTier,
)
from orchestration.tools.directory_listing import list_folder
from orchestration.tools.selectors import Selection, split_selector
from orchestration.tools.text_view import outline_text, render
from orchestration.tools.tool import (
    FailureKind,
    HandoffReader,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from orchestration.workspace.paths import PathRefused, Workspace

MAX_FILE_BYTES = 32 * 1024 * 1024

_HANDOFF = re.compile(r"run://handoffs/(?P<segment>[^/]+)/(?P<name>HANDOFF\.(?:md|json))")

DEFINITION = ToolDefinition(
    name="read",
    description=(
        "Read a text file, list a folder, or open a handoff document of an earlier node. "
        "Add a selector to the path for a part of it: `src/app.py:40-80`, `:40+20`, `:40-`, "
        "`:1-10,90-99`, `:raw` for the bare text, `:40-80:raw`. Without one, a code file is shown "
        "as an outline and any other file with numbered lines. The header's four hex digits after "
        "`#` name the version that was read."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {
                "type": "string",
                "description": (
                    "A path relative to the execution folder, or `run://handoffs/NODE/HANDOFF.md` "
                    "(or .json), with an optional selector after a colon."
                ),
            },
            "_i": {
                "type": ["string", "null"],
                "description": "What this call is for, in a few words; shown to the user.",
            },
        },
        "required": ["path"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


async def read(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    path = str(arguments["path"]).strip()
    if path.lower().startswith("run://"):
        return await asyncio.to_thread(_read_handoff, path, context.services.read_handoff)
    if path.lower().startswith(("http://", "https://", "artifact:")):
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"read does not open '{path}'",
            "name a path in the execution folder or a run://handoffs/ document",
        )
    return await asyncio.to_thread(_read_local, path, context.workspace)


def _read_handoff(address: str, reader: HandoffReader | None) -> ToolOutput:
    uri, selection = split_selector(address)
    match = _HANDOFF.fullmatch(uri)
    text = reader(match["segment"], match["name"]) if match and reader is not None else None
    if text is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"there is no document '{uri}' in this run",
            "handoffs are named in the input, under upstream",
        )
    return ToolOutput(render(uri, text, selection, ""), effects=ToolEffects(read_call_paths=(uri,)))


def _read_local(address: str, workspace: Workspace) -> ToolOutput:
    path, selection = _locate(address, workspace)
    label = workspace.label(path)
    try:
        mode = path.stat()
        if stat.S_ISDIR(mode.st_mode):
            return _read_folder(path, label, selection, workspace)
        if not stat.S_ISREG(mode.st_mode):
            raise ToolFailure(FailureKind.FAILED, f"'{label}' is neither a file nor a folder")
        if mode.st_size > MAX_FILE_BYTES:
            raise ToolFailure(
                FailureKind.FAILED,
                f"'{label}' has {mode.st_size} bytes, and read takes at most {MAX_FILE_BYTES}",
            )
        data = path.read_bytes()
    except FileNotFoundError:
        raise ToolFailure(
            FailureKind.NOT_FOUND, f"there is no '{label}'", "list its folder to see what there is"
        ) from None
    except PermissionError:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, f"the system does not let '{label}' be read"
        ) from None
    except OSError as error:
        raise ToolFailure(
            FailureKind.FAILED, f"'{label}' cannot be read: {error.strerror or error}"
        ) from error
    return _show_file(path, label, data, selection)


def _locate(address: str, workspace: Workspace) -> tuple[Path, Selection | None]:
    """Where the address leads; a file whose own name ends like a selector is found too."""
    path, selection = split_selector(address)
    try:
        if selection is not None and os.path.exists(whole := workspace.resolve(address)):
            return whole, None
        return workspace.resolve(path), selection
    except PathRefused as refusal:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, str(refusal), "name a path in the execution folder"
        ) from None


def _read_folder(
    path: Path, label: str, selection: Selection | None, workspace: Workspace
) -> ToolOutput:
    if selection is not None:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, f"'{label}' is a folder", "read it without a selector"
        )
    entries = list_folder(path, workspace.root) or ["[empty, or everything in it is ignored]"]
    return ToolOutput(
        "\n".join([f"¶{label} (directory)", *entries]), effects=_record(ReadRecord(label))
    )


def _show_file(path: Path, label: str, data: bytes, selection: Selection | None) -> ToolOutput:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolFailure(
            FailureKind.FAILED,
            f"'{label}' is not UTF-8 text (byte {error.start} of {len(data)})",
        ) from None
    outlined = outline_text(text, path.suffix.lower()) if selection is None else None
    return ToolOutput(
        render(label, text, selection, outlined), effects=_record(ReadRecord(label, outlined))
    )


def _record(record: ReadRecord) -> ToolEffects:
    return ToolEffects(reads=(record,), read_call_paths=(record.path,))


READ = Tool(definition=DEFINITION, run=read)
