"""Options of the commands that let a run go on, and what is read from them."""

from __future__ import annotations

import contextlib
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from orchestration.errors import UserError
from orchestration.runs.answers import PreparedAnswer, read_answers


class Approve(StrEnum):
    """What happens to a call that needs approval."""

    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


ApproveOption = Annotated[Approve, typer.Option(help="What happens to a call that needs approval.")]
AnswersOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="JSON list of answers and decisions, used in order."),
]
EventsOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Every event as a JSON line (-: standard error)."),
]
GoFirst = Annotated[
    bool,
    typer.Option(
        "--go-first",
        help="Go ahead of a run that has the same folder and waits for a person.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Use the provider at this address; without --provider, an endpoint of your own.",
    ),
]
WireOption = Annotated[
    str | None, typer.Option(metavar="chat|responses|messages", help="Speak this protocol to it.")
]
ProviderOption = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Use this provider for every node (embedded: demo model)."),
]
ModelOption = Annotated[
    str | None, typer.Option(metavar="M", help="Use this model for every node.")
]
RunId = Annotated[str, typer.Argument(metavar="ID", help="The run's id; 'runs list' shows it.")]


def prepared_answers(answers: Path | None) -> tuple[PreparedAnswer, ...]:
    """What `--answers` holds.

    Raises:
        UserError: it cannot be read, or holds something else.
    """
    if answers is None:
        return ()
    return read_answers(read_file(answers, "the answers"), str(answers))


def given_text(text: str | None, file: str | None) -> str | None:
    """What `--input` or `--input-file` say; `None` where neither was given.

    Raises:
        UserError: both were given, or the file holds no text.
    """
    if text is not None and file is not None:
        raise UserError("--input and --input-file exclude each other; give one of them")
    if file is None:
        return text
    if file == "-":
        source, data = "standard input", sys.stdin.buffer.read() if sys.stdin is not None else b""
    else:
        source, data = file, read_file(Path(file), "the input")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"the input in {source} is not UTF-8 text; save it as UTF-8") from None


def keep_from_overwriting(events: str | None, *read: Path | str | None) -> None:
    """Refuse to write events over a file that is read.

    Raises:
        UserError: they would be.
    """
    for path in read:
        if None in (events, path) or "-" in (events, path):
            continue
        with contextlib.suppress(OSError):
            if os.path.samefile(str(events), str(path)):
                raise UserError(f"--events would overwrite {path}; name another file")


def read_file(path: Path, what: str) -> bytes:
    """The bytes of a file.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{what} cannot be read from {path}: {error.strerror or error}") from error
