"""Cut an output that is too long for a model: its beginning and its end, and what is missing."""

from __future__ import annotations

from engine.vocabulary.tools import Truncation

MAX_INLINE_BYTES = 50_000
EDGE_BYTES = 20_000


def cut_in_the_middle(text: str) -> tuple[str, Truncation | None]:
    """Give the text as a model gets it, and how it was cut (`None`: it was not).

    Sizes are in UTF-8 bytes; nothing is cut inside a character. The marker between the two parts
    says what is missing and how to get it.
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
        f"[... {cut.elided_bytes} of {cut.total_bytes} bytes are left out here; "
        "ask for a smaller range to see them ...]"
    )
    return f"{head}\n{marker}\n{tail}", cut


def _border(data: bytes, at: int) -> int:
    """The last index up to `at` where a UTF-8 character begins."""
    while at > 0 and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
