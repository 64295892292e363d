"""Where words go: data to standard output, everything for the eye to standard error."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, TextIO

from app.kit.visible import visible, visible_json


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
    text = visible_json(json.dumps(value, indent=2, ensure_ascii=False))
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
    """Write one line to standard error; what a terminal would act on is written out."""
    show(visible(sentence) + "\n")


def show(text: str) -> None:
    """Write text to standard error as it is, or nowhere once nobody listens there."""
    if sys.stderr is not None:
        _show_on(sys.stderr, text)


class Screen(io.TextIOBase):
    """Standard error for a library that draws there; a screen that is gone is no error."""

    def __init__(self, stream: TextIO) -> None:
        """Take the stream itself: a library may put something of its own in its place."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Show the text."""
        _show_on(self._stream, text)
        return len(text)

    def isatty(self) -> bool:
        """Whether there is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of standard error, by which its size is found."""
        return 2


def _show_on(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        _mute(2)  # the exit status still tells


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
