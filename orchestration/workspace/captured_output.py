"""What a command prints: all of it up to a limit, then its beginning and its end."""

from __future__ import annotations

import codecs
import tempfile

from msgspec import Struct

HEAD_BYTES = 5 * 1024 * 1024
TAIL_BYTES = 5 * 1024 * 1024
IN_MEMORY_BYTES = 256 * 1024
RECENT_BYTES = 12_000


class CapturedText(Struct, frozen=True, gc=False):
    """The output as text; `dropped_bytes` of its middle were not kept."""

    text: str
    dropped_bytes: int


class CapturedOutput:
    """A stream of bytes of any length, held in little memory; every method may touch the disk.

    What does not fit into memory goes to a temporary file that has no name, so nothing is left of
    it whatever happens.
    """

    __slots__ = ("_file", "_head", "_recent", "_tail", "_total")

    def __init__(self, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        """Keep that many bytes of the beginning and of the end."""
        self._head, self._tail = head_bytes, tail_bytes
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - close
        self._recent = b""
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take what was printed next.

        Raises:
            OSError: there is no room for it on the disk.
        """
        self._recent = (self._recent + data)[-RECENT_BYTES:]
        begins = max(0, self._head - self._total)
        if head := data[:begins]:
            self._put(self._total, head)
        if tail := data[begins:]:
            # The tail is a ring behind the head: only what is newest in it counts.
            at = self._total + len(data) - self._head
            tail = tail[-self._tail :]
            start = (at - len(tail)) % self._tail
            self._put(self._head + start, tail[: self._tail - start])
            self._put(self._head, tail[self._tail - start :])
        self._total += len(data)

    def recent(self) -> str:
        """The last part of what was printed so far, whole characters only."""
        return _decode(self._recent, starts=self._total <= RECENT_BYTES, ends=False)

    def text(self) -> CapturedText:
        """Everything that was kept; what is no UTF-8 is replaced by U+FFFD."""
        self._file.seek(0)
        kept = self._file.read()
        dropped = self._total - len(kept)
        if dropped == 0:
            return CapturedText(kept.decode("utf-8", "replace"), 0)
        start = self._head + (self._total - self._head) % self._tail
        head = _decode(kept[: self._head], starts=True, ends=False)
        tail = _decode(kept[start:] + kept[self._head : start], starts=False, ends=True)
        marker = f"[... {dropped} of {self._total} bytes were not kept ...]"
        return CapturedText(f"{head}\n{marker}\n{tail}", dropped)

    def close(self) -> None:
        """Let go of everything."""
        self._file.close()

    def _put(self, position: int, data: bytes) -> None:
        if data:
            self._file.seek(position)
            self._file.write(data)


def _decode(data: bytes, *, starts: bool, ends: bool) -> str:
    """A part of a text; a character that it cuts off at either side is left out."""
    if not starts:
        cut = 0
        while cut < min(3, len(data)) and data[cut] & 0xC0 == 0x80:
            cut += 1
        data = data[cut:]
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=ends)
