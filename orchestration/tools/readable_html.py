"""Make the text of an HTML page readable."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestration.tools import html_to_markdown
from orchestration.tools.streamed_program import Stop, stream
from orchestration.tools.tool import FailureKind, ToolFailure


def readable(data: bytes, charset: str | None, time_limit_s: float, stop: Stop) -> str:
    """Give a page as Markdown under its title, without scripts, styles and navigation. Blocks.

    Args:
        data: the page as it was sent.
        charset: the encoding that came with it; without one, or with a wrong one, it is found out.
        time_limit_s: after how many seconds it is given up.
        stop: gives it up from elsewhere.

    Raises:
        ToolFailure: it took too long, or cannot be done.
    """
    pieces: list[bytes] = []

    def keep(piece: bytes) -> bool:
        pieces.append(piece)
        return True

    with TemporaryDirectory() as name:
        page = Path(name) / "page"
        page.write_bytes(data)
        command = [sys.executable, "-P", html_to_markdown.__file__, str(page), charset or ""]
        ended = stream(command, Path(name), keep, time_limit_s, stop)
    if ended.status != 0:
        raise ToolFailure(
            FailureKind.TIMEOUT if ended.timed_out else FailureKind.FAILED,
            "the page cannot be made readable",
            "download it with a command if you need it",
        )
    return b"".join(pieces).decode("utf-8")
