"""Handoff documents of one run: checked, stored under the run's folder, read again."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from engine.graph.handoff import missing_headings
from engine.vocabulary.errors import MalformedSubmit, ModelCallError, PermanentFailure
from engine.vocabulary.messages import Completed, HandoffArtifact, Usage
from engine.vocabulary.requests import AgentRequest
from orchestration.runs.batch_writer import BatchWriter
from orchestration.runs.view_values import pretty_json_bytes
from orchestration.settings.data_folder import path_segment

MAX_BYTES = 1024 * 1024
MAX_INLINE_CHARACTERS = 64 * 1024
NO_MESSAGE_SUMMARY = "The handoff document has the result."


class _Kind(Struct, frozen=True):
    name: str
    file_name: str
    media_type: str


_MARKDOWN = _Kind("markdown", "HANDOFF.md", "text/markdown")
_JSON = _Kind("json", "HANDOFF.json", "application/json")
_KINDS = {kind.name: kind for kind in (_MARKDOWN, _JSON)}
_FILE_NAMES = {kind.file_name for kind in (_MARKDOWN, _JSON)}
_PLAIN_ID = re.compile(r"[A-Za-z0-9\-_]{1,100}")
_ADDRESS = re.compile(r"[A-Za-z0-9\-_.%]*[A-Za-z0-9\-_%][A-Za-z0-9\-_.%]*")


class HandoffStore:
    """Takes what nodes submit and keeps the documents.

    `folder` is where they go, made when it is needed; without one they stay in memory.
    `templates` has the Markdown template of every node that writes Markdown.
    """

    def __init__(self, folder: Path | None, templates: Mapping[str, str]) -> None:
        self._folder = folder
        self._templates = templates
        self._documents: dict[tuple[str, str], bytes] = {}
        self._texts: dict[str, str] = {}
        self._writer = BatchWriter()

    def accept(
        self, request: AgentRequest, completed: Completed
    ) -> tuple[Completed, Awaitable[None] | None]:
        """Check the document; give the turn with what the next nodes see, and its writing.

        The output of a Markdown node becomes `{"summary": ...}`. The writing, where there is one,
        is to be awaited before the turn is accepted.

        Raises:
            ModelCallError: `MalformedSubmit` of kind `handoff` without a candidate where the
                document does not fit; the writing raises `PermanentFailure` where it cannot be
                stored.
        """
        kind = _KINDS.get(request.handoff_format)
        if kind is None:
            return completed, None
        output = completed.output
        if kind is _MARKDOWN:
            text = self._checked_markdown(request.node_id, completed)
            document = text.encode("utf-8", "surrogatepass")
            output = {"summary": completed.assistant_message or NO_MESSAGE_SUMMARY}
        else:
            document = pretty_json_bytes(output) + b"\n"
        if len(document) > MAX_BYTES:
            raise _does_not_fit(
                f"the handoff document has {len(document)} bytes; {MAX_BYTES} are allowed",
                completed,
            )
        if kind is _MARKDOWN:
            self._texts[request.node_id] = text
        segment = segment_of(request.node_id)
        file_name = kind.file_name
        artifact = HandoffArtifact(
            kind.name,
            f"run://handoffs/{segment}/{file_name}",
            kind.media_type,
            sha256(document).hexdigest(),
            len(document),
        )
        handed_over = Completed(
            output,
            completed.assistant_message,
            completed.reasoning,
            completed.usage,
            artifact,
            completed.repairs,
        )
        if self._folder is None:
            self._documents[segment, file_name] = document
            return handed_over, None
        path = self._folder / segment / file_name
        return handed_over, self._write(request, path, document, completed.usage)

    def recall(self) -> None:
        """Know the Markdown documents again that are in the folder; touches the disk."""
        for node_id in self._templates:
            text = self.read(segment_of(node_id), _MARKDOWN.file_name)
            if text is not None:
                self._texts[node_id] = text

    def with_inline_documents(self, request: AgentRequest) -> AgentRequest:
        """The request with the text of its upstream Markdown documents, if it cannot read them."""
        if not self._texts or any(tool.name == "read" for tool in request.available_tools):
            return request
        if request.input is None:  # a subagent knows its task only
            return request
        upstream: Sequence[Any] = request.input.get("upstream", ())
        if not any("handoff" in item and item["node_id"] in self._texts for item in upstream):
            return request
        inlined = [self._with_content(item) for item in upstream]
        return replace(request, input={**request.input, "upstream": inlined})

    def read(self, segment: str, file_name: str) -> str | None:
        """The text of a document by the two parts of its address; may touch the disk."""
        kept = self._documents.get((segment, file_name))
        if kept is not None:
            return kept.decode("utf-8", "replace")
        if self._folder is None or not is_address(segment, file_name):
            return None
        try:
            return (self._folder / segment / file_name).read_text("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return None

    async def aclose(self) -> None:
        """Wait for what is being written."""
        await self._writer.drained()

    def _checked_markdown(self, node_id: str, completed: Completed) -> str:
        output = completed.output
        text = output.get("markdown") if isinstance(output, dict) else None
        if not isinstance(text, str):
            raise _does_not_fit("the output needs a string under 'markdown'", completed)
        missing = missing_headings(self._templates.get(node_id, ""), text)
        if missing:
            raise _does_not_fit(
                "the handoff document lacks these headings: " + ", ".join(missing), completed
            )
        return text

    async def _write(
        self, request: AgentRequest, path: Path, document: bytes, usage: Usage | None
    ) -> None:
        try:
            await self._writer.write(path, document)
        except OSError as error:
            raise ModelCallError(
                PermanentFailure(
                    f"the handoff document of node '{request.node_label}' cannot be stored in "
                    f"{self._folder}: {error.strerror or error}; make room there and retry",
                    usage,
                )
            ) from error

    def _with_content(self, item: dict[str, Any]) -> dict[str, Any]:
        text = self._texts.get(item["node_id"])
        if text is None or "handoff" not in item:
            return item
        if len(text) > MAX_INLINE_CHARACTERS:
            left_out = len(text) - MAX_INLINE_CHARACTERS
            text = f"{text[:MAX_INLINE_CHARACTERS]}\n[cut here: {left_out} characters left out]"
        return {**item, "handoff": {**item["handoff"], "content": text}}


def segment_of(node_id: str) -> str:
    """The folder name of a node: its id as a path component, a long one ending in its digest."""
    # The common cases, each at a fraction of the cost of the next.
    if (node_id.isalnum() and node_id.isascii() and len(node_id) <= 100) or _PLAIN_ID.fullmatch(
        node_id
    ):
        return node_id
    return path_segment(node_id)


def is_address(segment: str, file_name: str) -> bool:
    """Whether the two parts can be those of a document; `.` and `..` cannot."""
    return file_name in _FILE_NAMES and _ADDRESS.fullmatch(segment) is not None


def _does_not_fit(detail: str, completed: Completed) -> ModelCallError:
    return ModelCallError(MalformedSubmit(detail, "handoff", completed.usage))
