"""The `read` tool: a file, a folder, a web page, or a document of the run, whole or in part."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
from pathlib import Path

from engine.vocabulary.tools import (
    JsonObject,
    OutputMeta,
    ReadRecord,
    ToolConcurrency,
    ToolDefinition,
    ToolEffects,
    ToolTier,
)
from orchestration.tools.directory_listing import list_folder
from orchestration.tools.output import MAX_INLINE_BYTES
from orchestration.tools.selectors import Selection, split_selector
from orchestration.tools.text_view import LineTooLong, TooMuch, show
from orchestration.tools.tool import (
    FailureKind,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
    ToolServices,
)
from orchestration.tools.web_page import fetch, is_web_address, split_web_selector
from orchestration.workspace import jailed_files
from orchestration.workspace.paths import PathRefused, Workspace
from orchestration.workspace.plan_draft import PlanRefused
from orchestration.workspace.spelling import as_text

MAX_FILE_BYTES = 32 * 1024 * 1024
PLAN_ADDRESS = "run://PLAN.md"

_HANDOFF = re.compile(r"run://handoffs/(?P<segment>[^/]+)/(?P<name>HANDOFF\.(?:md|json))")
_ARTIFACT = "artifact:"
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

INTENT: JsonObject = {
    "type": ["string", "null"],
    "description": "What this call is for, in a few words; shown to the user.",
}

DEFINITION = ToolDefinition(
    name="read",
    description=(
        "Read a text file, list a folder, or open an http(s) page, an artifact, or a document of "
        "this run. Add a selector to the path for a part of it: `src/app.py:40-80`, `:40+20`, "
        "`:40-`, `:1-10,90-99`, `:raw` for the bare text, `:40-80:raw`. Without one, a code file "
        "is shown as an outline and any other text with numbered lines. The header's four hex "
        "digits after `#` name the version that was read."
    ),
    input_schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "path": {
                "type": "string",
                "description": (
                    "A path relative to the execution folder, an http(s) address, `artifact:ID`, "
                    "`run://handoffs/NODE/HANDOFF.md` (or .json) or `run://PLAN.md`, with an "
                    "optional selector after a colon."
                ),
            },
            "_i": INTENT,
        },
        "required": ["path"],
    },
    tier=ToolTier.READ,
    concurrency=ToolConcurrency.SHARED,
)


def is_local(arguments: JsonObject) -> bool:
    """Whether a call reads something that a file stamp can vouch for."""
    path = str(arguments.get("path", "")).strip()
    return not (is_web_address(path) or path.lower().startswith(("run://", _ARTIFACT)))


async def read(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """Answer one call."""
    try:
        return await _read(str(arguments["path"]), context)
    except TooMuch as error:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, f"read: {error}", "`:1-3000`, `:3001-6000` and so on"
        ) from None
    except LineTooLong as error:
        raise ToolFailure(
            FailureKind.FAILED,
            f"'{as_text(str(arguments['path']))}' {error}",
            "look at it with a command",
        ) from None


async def _read(address: str, context: ToolContext) -> ToolOutput:
    path = address.strip()
    if is_web_address(path):
        return await _read_page(path, context.services)
    if path.lower().startswith("run://"):
        return await asyncio.to_thread(_read_document, path, context.services)
    if path.lower().startswith(_ARTIFACT):
        return await asyncio.to_thread(_read_artifact, path, context.services)
    return await asyncio.to_thread(_read_local, address, context)


async def _read_page(address: str, services: ToolServices) -> ToolOutput:
    url, selection = split_web_selector(address)
    page = await fetch(url, allow_private=services.settings.private_addresses)

    def shown() -> str:
        return show(url, page.text.encode("utf-8", "surrogatepass"), selection).content

    return ToolOutput(
        await asyncio.to_thread(shown),
        meta=OutputMeta(source_url=page.url),
        effects=ToolEffects(read_call_paths=(url,)),
    )


def _read_document(address: str, services: ToolServices) -> ToolOutput:
    uri, selection = split_selector(address)
    text = _plan(services) if uri == PLAN_ADDRESS else _handoff(uri, services)
    shown = show(uri, text.encode("utf-8", "surrogatepass"), selection)
    return ToolOutput(shown.content, effects=ToolEffects(read_call_paths=(uri,)))


def _plan(services: ToolServices) -> str:
    try:
        text = services.plan.read()
    except PlanRefused as refusal:
        raise ToolFailure(FailureKind.FAILED, str(refusal)) from None
    if text is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND, f"there is no plan at '{PLAN_ADDRESS}' yet", "write it first"
        )
    return text


def _handoff(uri: str, services: ToolServices) -> str:
    match, reader = _HANDOFF.fullmatch(uri), services.read_handoff
    text = reader(match["segment"], match["name"]) if match and reader is not None else None
    if text is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"there is no document '{uri}' in this run",
            "handoffs are named in the input, under upstream",
        )
    return text


def _read_artifact(address: str, services: ToolServices) -> ToolOutput:
    artifact_id, selection = split_selector(address[len(_ARTIFACT) :])
    uri = f"{_ARTIFACT}{artifact_id}"
    path = services.artifacts.find(artifact_id)
    if path is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"there is no '{uri}'",
            "artifacts live only as long as their run; call the tool that made it again",
        )
    shown = show(uri, path.read_bytes(), selection, page_bytes=MAX_INLINE_BYTES)
    return ToolOutput(shown.content, effects=ToolEffects(read_call_paths=(uri,)), whole=True)


def _read_local(address: str, context: ToolContext) -> ToolOutput:
    workspace = context.workspace
    path, selection = _locate(address, workspace)
    label = workspace.label(path)
    try:
        if path.is_dir():
            return _read_folder(path, label, selection, workspace)
        data = jailed_files.read(workspace, path, MAX_FILE_BYTES)
    except jailed_files.NotAFile as error:
        raise ToolFailure(
            FailureKind.FAILED, f"'{label}' {error}", "search it, or look at it with a command"
        ) from None
    except PathRefused as refusal:
        raise _refused(refusal) from None
    except PermissionError:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, f"the system does not let '{label}' be read"
        ) from None
    except FileNotFoundError:
        data = None
    except OSError as error:
        raise ToolFailure(
            FailureKind.FAILED, f"'{label}' cannot be read: {error.strerror or error}"
        ) from error
    if data is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND, f"there is no '{label}'", "list its folder to see what there is"
        )
    output = _show_file(path, label, data, selection)
    context.services.files.saw(context.caller_id, path, data)
    return output


def _locate(address: str, workspace: Workspace) -> tuple[Path, Selection | None]:
    """Where the address leads; a file whose own name ends like a selector is found too."""
    trimmed = address.strip()
    path, selection = split_selector(trimmed)
    try:
        for whole in (address, trimmed):
            if os.path.lexists(found := workspace.resolve(whole)):
                return found, None
        return workspace.resolve(path), selection
    except PathRefused as refusal:
        raise _refused(refusal) from None


def _refused(refusal: PathRefused) -> ToolFailure:
    return ToolFailure(
        FailureKind.PERMISSION_DENIED, str(refusal), "name a path in the execution folder"
    )


def _read_folder(
    path: Path, label: str, selection: Selection | None, workspace: Workspace
) -> ToolOutput:
    if selection is not None:
        raise ToolFailure(
            FailureKind.INVALID_ARGS, f"'{label}' is a folder", "read it without a selector"
        )
    entries = list_folder(path, workspace) or ["[empty, or everything in it is ignored]"]
    return ToolOutput(
        "\n".join([f"¶{label} (directory)", *entries]), effects=_record(ReadRecord(label))
    )


def _show_file(path: Path, label: str, data: bytes, selection: Selection | None) -> ToolOutput:
    if data.startswith(_WIDE_MARKS):
        raise _not_text(f"'{label}' is UTF-16 text, and read takes UTF-8")
    if (place := data.find(b"\0")) >= 0:
        raise _not_text(f"'{label}' is a binary file (byte {place} of {len(data)} is NUL)")
    try:
        shown = show(label, data, selection, extension=path.suffix.lower(), errors="strict")
    except UnicodeDecodeError as error:
        raise _not_text(
            f"'{label}' is not UTF-8 text (byte {error.start} of {len(data)} does not decode)"
        ) from None
    return ToolOutput(shown.content, effects=_record(ReadRecord(label, shown.outline)))


def _not_text(detail: str) -> ToolFailure:
    return ToolFailure(FailureKind.FAILED, detail, "convert it with a command if you need it")


def _record(record: ReadRecord) -> ToolEffects:
    return ToolEffects(reads=(record,), read_call_paths=(record.path,))


READ = Tool(definition=DEFINITION, run=read, is_cacheable=is_local)
