"""Where words go: data to standard output, everything for the eye to standard error."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class OutputLost(Exception):
    """Standard output takes nothing any more, for another reason than a reader that left."""


def stdout_is_terminal() -> bool:
    """Whether a person sees standard output directly."""
    return sys.stdout is not None and sys.stdout.isatty()


def stderr_is_terminal() -> bool:
    """Whether a person sees standard error directly."""
    return sys.stderr is not None and sys.stderr.isatty()


def can_ask() -> bool:
    """Whether there is a person to ask: both ends of the conversation are a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and stderr_is_terminal()


def write_json(value: Any) -> None:
    """Write one JSON value to standard output.

    Raises:
        OutputLost: it could not be written.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair in what a model wrote
        data = json.dumps(value, indent=2).encode("ascii")
    _write(data + b"\n")


def write_text(text: str) -> None:
    """Write text to standard output.

    Raises:
        OutputLost: it could not be written.
    """
    _write(text.encode("utf-8", "replace") + b"\n")


def say(sentence: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(" ".join(sentence.splitlines()) + "\n")
        sys.stderr.flush()
    except OSError:
        _mute(2)  # nobody listens; the exit status still tells


def _write(data: bytes) -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _mute(1)  # the reader has enough
    except OSError as error:
        _mute(1)
        raise OutputLost(str(error.strerror or error)) from error


def _mute(descriptor: int) -> None:
    """Send the rest nowhere, so that the interpreter does not complain when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
