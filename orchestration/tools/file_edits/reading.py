"""What an editing call may touch: looked up, with the refusals that hold for all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from engine.vocabulary.tools import ToolAccessPolicy
from orchestration.tools.file_edits.file_errors import failure_of
from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.file_edits.generated_guard import why_generated
from orchestration.tools.text_view import show
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure
from orchestration.workspace import jailed_files
from orchestration.workspace.paths import PathRefused

_ADDRESS = re.compile(r"(?:run|artifact|https?|file):", re.IGNORECASE)
_PLANNING_DOCUMENT = re.compile(r"docs/(?:[^/]+/)*[^/]+\.md")


class Target(NamedTuple):
    """A file that a call names: its real path, its label, its bytes (`None`: there is no file)."""

    path: Path
    label: str
    data: bytes | None


class StaleFile(ToolFailure):
    """The file changed since the conversation knew it; the text shows what is in it now."""

    def __init__(self, target: Target) -> None:
        self.target = target
        super().__init__(
            FailureKind.FAILED,
            f"'{target.label}' has changed since you last read it, so nothing was written",
            f"this is what it holds now; edit that\n{_shown(target)}",
        )


def read_target(text: str, context: ToolContext) -> Target:
    """Look up a path that a call names and is going to change.

    Raises:
        ToolFailure: it may not be changed (outside of the jail, a notebook, generated, no document
            of a plan), cannot be read, or is no longer what the conversation last saw.
    """
    target = look_up(text, context)
    services = context.services
    if target.data is None:
        return target
    if services.settings.protect_generated and (why := why_generated(target.label, target.data)):
        raise generated(target.label, why)
    if is_stale(target, context):
        raise StaleFile(target)
    return target


def look_up(text: str, context: ToolContext) -> Target:
    """Look up a path with the jail's refusals only, and those of notebooks and of planning."""
    if _ADDRESS.match(text.strip()):
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"'{text}' is not a file of the execution folder",
            "name a path relative to the execution folder",
        )
    workspace = context.workspace
    try:
        path = workspace.resolve(text)
        label = workspace.label(path)
        _refuse_by_name(label, context)
        _refuse_what_cannot_be_noted(path, label)
        return Target(path, label, jailed_files.read(workspace, path))
    except PathRefused as refusal:
        raise refused(refusal) from None
    except jailed_files.NotAFile as error:
        raise ToolFailure(FailureKind.FAILED, f"'{label}' {error}") from None
    except OSError as error:
        raise failure_of(error, text, "read") from error


def is_stale(target: Target, context: ToolContext) -> bool:
    """Whether the conversation knows a version of the file, and it is not the one that is there."""
    seen = context.services.files.last_seen(context.caller_id, target.path)
    return target.data is not None and seen is not None and seen != digest_of(target.data)


def decoded(target: Target) -> FileText:
    """The text of a file that must be there.

    Raises:
        ToolFailure: it is not there, or no text.
    """
    if target.data is None:
        raise ToolFailure(
            FailureKind.NOT_FOUND,
            f"there is no '{target.label}'",
            "list its folder to see what there is, or make it with write",
        )
    try:
        return FileText.decode(target.data)
    except NotText as error:
        raise ToolFailure(
            FailureKind.FAILED, f"'{target.label}' {error}", "it was left as it is"
        ) from None


def encoded(text: FileText, label: str) -> bytes:
    """The bytes of an edited text.

    Raises:
        ToolFailure: the file's encoding cannot hold it.
    """
    try:
        return text.encode()
    except NotText as error:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"'{label}' {error}") from None


def generated(label: str, why: str) -> ToolFailure:
    """The refusal of a file that a program wrote."""
    return ToolFailure(
        FailureKind.PERMISSION_DENIED,
        f"'{label}' is a generated file ({why})",
        "change what it is generated from and generate it again",
    )


def refused(refusal: PathRefused) -> ToolFailure:
    """What a model is told of a path that the jail refuses."""
    return ToolFailure(
        FailureKind.PERMISSION_DENIED, str(refusal), "name a path in the execution folder"
    )


def _refuse_by_name(label: str, context: ToolContext) -> None:
    if label.lower().endswith(".ipynb"):
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"'{label}' is a notebook, whose text is not what is shown of it",
            "change it with a program that knows notebooks",
        )
    if context.policy is ToolAccessPolicy.PLANNING and not _PLANNING_DOCUMENT.fullmatch(label):
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED,
            f"'{label}' may not be changed while planning",
            "write the plan to run://PLAN.md, or a document docs/**/*.md",
        )


def _refuse_what_cannot_be_noted(path: Path, label: str) -> None:
    """What is kept for undoing, and what others are told, names a file by a text."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise ToolFailure(
            FailureKind.FAILED,
            f"the path of '{label}' has bytes that are no text, so it is not edited",
            "rename it with a command",
        ) from None


def _shown(target: Target) -> str:
    try:
        text = FileText.decode(target.data or b"").text
        return show(target.label, text.encode("utf-8")).content
    except NotText as error:
        return f"[{error}]"
