"""Cut an output that is too long for a model: its beginning and its end, and where the rest is."""

from __future__ import annotations

import asyncio
import re

from msgspec import Struct

from engine.vocabulary.tools import Truncation
from orchestration.workspace.artifacts import Artifact, ArtifactStore

MAX_INLINE_BYTES = 50_000
EDGE_BYTES = 20_000
_UNFIT_FOR_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class Shown(Struct, frozen=True):
    """An output as a model gets it; `artifact` has the whole of it where it was put aside."""

    content: str
    truncation: Truncation | None = None
    artifact: Artifact | None = None


def is_short(text: str) -> bool:
    """Whether a model gets the text whole: it has at most 50 KB."""
    return len(text) <= MAX_INLINE_BYTES and (text.isascii() or _size(text) <= MAX_INLINE_BYTES)


async def shortened(text: str, tool_name: str, artifacts: ArtifactStore) -> Shown:
    """Give a short text as it is; put a longer one aside and show both its ends."""
    if is_short(text):
        return Shown(text)
    return await asyncio.to_thread(_put_aside, text, tool_name, artifacts)


def _put_aside(text: str, tool_name: str, artifacts: ArtifactStore) -> Shown:
    try:
        artifact = artifacts.save(text, kind_of(tool_name))
    except OSError as error:
        why = error.strerror or str(error)
        content, cut = cut_in_the_middle(text, f"they could not be put aside ({why})")
        return Shown(content, cut)
    address = f"artifact:{artifact.id}"
    content, cut = cut_in_the_middle(
        text,
        f"read {address}:FIRST-LAST (lines), {address}:FIRST- or {address}:raw for the rest",
    )
    return Shown(content, cut, artifact)


def cut_in_the_middle(text: str, how_to_go_on: str) -> tuple[str, Truncation | None]:
    """Give the text as a model gets it, and how it was cut (`None`: it was not).

    Sizes are in UTF-8 bytes; nothing is cut inside a character. The marker between the two parts
    says what is missing, and `how_to_go_on`.
    """
    whole = text.encode("utf-8", "surrogatepass")
    if len(whole) <= MAX_INLINE_BYTES:
        return text, None
    head_end, tail_start = _border(whole, EDGE_BYTES), _border(whole, len(whole) - EDGE_BYTES)
    head = whole[:head_end].decode("utf-8", "surrogatepass")
    tail = whole[tail_start:].decode("utf-8", "surrogatepass")
    elided = tail_start - head_end
    total_lines = text.count("\n") + 1
    shown_lines = min(head.count("\n") + tail.count("\n") + 2, total_lines)
    cut = Truncation(
        strategy="middle",
        total_bytes=len(whole),
        shown_bytes=len(whole) - elided,
        elided_bytes=elided,
        total_lines=total_lines,
        shown_lines=shown_lines,
        elided_lines=total_lines - shown_lines,
    )
    marker = (
        f"[... {cut.elided_bytes} of {cut.total_bytes} bytes ({total_lines} lines) are left out "
        f"here: {how_to_go_on} ...]"
    )
    return f"{head}\n{marker}\n{tail}", cut


def kind_of(tool_name: str) -> str:
    """What outputs of a tool are called among the artifacts."""
    return _UNFIT_FOR_A_NAME.sub("-", tool_name)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _border(data: bytes, at: int) -> int:
    """The last index up to `at` where a UTF-8 character begins."""
    while at > 0 and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
