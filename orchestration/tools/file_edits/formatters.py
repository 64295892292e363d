"""Run the formatter of a file's language over a text that is about to be written."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from msgspec import Struct

from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.streamed_program import kill_group
from orchestration.tools.tool import ToolContext

_PROBE_S = 5.0


class _Formatter(Struct, frozen=True):
    """A program that reads a text and prints it formatted; `{path}` is the file's path."""

    program: str
    arguments: tuple[str, ...]
    answers_version: bool = True


_PRETTIER = _Formatter("prettier", ("--stdin-filepath", "{path}"))
_BY_SUFFIX = {
    ".rs": _Formatter("rustfmt", ("--emit", "stdout", "--quiet")),
    ".go": _Formatter("gofmt", (), answers_version=False),
    ".py": _Formatter("black", ("--quiet", "--stdin-filename", "{path}", "-")),
    ".lua": _Formatter("stylua", ("--stdin-filepath", "{path}", "-")),
} | dict.fromkeys(
    (".js", ".jsx", ".ts", ".tsx", ".json", ".css", ".scss", ".html", ".md", ".yml", ".yaml"),
    _PRETTIER,
)


def formatted(data: bytes, path: Path, context: ToolContext) -> tuple[bytes, str]:
    """Format a file's new bytes, keeping its encoding and line ends.

    Blocks for as long as the formatter takes, at most for the time that the settings give it.

    Returns:
        The bytes to write and a line about it; as they were, and why, where it did not work, and
        without a line where there is no formatter for the file.
    """
    formatter = _BY_SUFFIX.get(path.suffix.lower())
    program = None if formatter is None else shutil.which(formatter.program)
    if formatter is None or program is None:
        return data, ""
    limit_s = context.services.settings.format_timeout_s
    try:
        if formatter.answers_version:
            _run([program, "--version"], "", context.workspace.root, min(limit_s, _PROBE_S))
    except (OSError, _Failed, subprocess.TimeoutExpired):
        return data, ""  # a launcher whose program is not installed
    name = formatter.program
    try:
        text = FileText.decode(data)
        command = [program, *(part.replace("{path}", str(path)) for part in formatter.arguments)]
        after = text.rewritten(_run(command, text.text, context.workspace.root, limit_s)).encode()
    except subprocess.TimeoutExpired:
        return data, f"[not formatted: {name} took more than {limit_s:g} s]"
    except (OSError, NotText, _Failed) as error:
        return data, f"[not formatted: {name}: {error}]"
    return after, f"[formatted by {name}]" if after != data else f"[{name} had nothing to change]"


class _Failed(Exception):
    """The program ended with an error; the message is the first line that it printed."""


def _run(command: list[str], text: str, folder: Path, limit_s: float) -> str:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        start_new_session=sys.platform != "win32",
    )
    with process:
        try:
            out, err = process.communicate(text.encode("utf-8"), timeout=limit_s)
        except BaseException:
            kill_group(process)
            raise
    if process.returncode:
        complaint = err.decode("utf-8", "replace").strip() or f"it ended with {process.returncode}"
        raise _Failed(complaint.splitlines()[0][:200])
    try:
        return out.decode("utf-8")
    except UnicodeDecodeError:
        raise _Failed("what it printed is not UTF-8 text") from None
