"""Find code by its shape with the `ast-grep` program that comes with this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from orchestration.tools.directory_listing import IgnoreRules
from orchestration.tools.search_targets import SearchTargets
from orchestration.tools.streamed_program import Stop, Streamed, program_of, stream
from orchestration.tools.tool import FailureKind, ToolFailure
from orchestration.workspace.spelling import as_text

TIME_LIMIT_S = 60.0
MAX_PATTERN_LENGTH = 10_000

_NO_MATCH = 1
_BAD_ARGUMENT = 2
_PROJECT_SETTINGS = "sgconfig.yml"


class Offsets(Struct, frozen=True):
    """Bytes from the beginning of a file; `end` is the first that is not meant."""

    start: int
    end: int


class Position(Struct, frozen=True):
    """A place in a file, counted from 0."""

    line: int


class Range(Struct, frozen=True, rename="camel"):
    """Where a match is."""

    byte_offset: Offsets
    start: Position


class Match(Struct, frozen=True, rename="camel"):
    """One match as the program prints it.

    Attributes:
        file: relative to the folder in which the program ran, or absolute where the root was.
        text: what matched.
        lines: the whole lines that it is in.
        range: where it is.
        replacement: what is to stand there instead, where a rewriting was asked for.
        replacement_offsets: the bytes that the replacement takes the place of.
    """

    file: str
    text: str
    lines: str
    range: Range
    replacement: str | None = None
    replacement_offsets: Offsets | None = None


class Query(Struct, frozen=True):
    """What is looked for: a pattern, in which language, and what to put in its place.

    Without a language each file's is told by its name.
    """

    pattern: str
    lang: str | None = None
    rewrite: str | None = None

    def options(self) -> list[str]:
        """As arguments of the program."""
        options = [f"--pattern={self.pattern}"]
        if self.lang:
            options.append(f"--lang={self.lang}")
        if self.rewrite is not None:
            options.append(f"--rewrite={self.rewrite}")
        return options


class Found(Struct, frozen=True):
    """How a search ended.

    Attributes:
        is_complete: whether it came to its end; else it was stopped.
        timed_out: whether it was stopped because its time was over.
        remark: what the program said about the pattern, empty if nothing.
    """

    is_complete: bool
    timed_out: bool = False
    remark: str = ""


def checked_query(tool: str, pattern: str, lang: str | None, rewrite: str | None = None) -> Query:
    """A query whose texts can be arguments of a program.

    Raises:
        ToolFailure: one is blank, too long, or no text.
    """
    if not pattern.strip():
        raise _invalid(tool, "the pattern is blank", "give code with $NAME for what may differ")
    for what, text in (("pattern", pattern), ("language", lang), ("replacement", rewrite)):
        if text is None:
            continue
        if len(text) > MAX_PATTERN_LENGTH:
            raise _invalid(tool, f"the {what} is longer than {MAX_PATTERN_LENGTH} characters")
        try:
            has_nul = b"\0" in text.encode("utf-8")
        except UnicodeEncodeError:
            raise _invalid(tool, f"the {what} has half of a character in it") from None
        if has_nul:
            raise _invalid(tool, f"the {what} has a NUL in it")
    return Query(pattern, (lang or "").strip() or None, rewrite)


def find_code(
    tool: str,
    query: Query,
    targets: SearchTargets,
    take: Callable[[Match], bool],
    stop: Stop,
    time_limit_s: float = TIME_LIMIT_S,
) -> Found:
    """Look for code in what the targets mean, without what `.gitignore` names and hidden files.

    Blocks.

    Args:
        tool: names the caller in errors.
        query: what to look for.
        targets: where.
        take: is given each match as it comes; `False` ends the search.
        stop: ends it from elsewhere.
        time_limit_s: after how many seconds it ends.

    Raises:
        ToolFailure: the program refused it, in its own words.
    """
    filter_ = _Filter(targets)

    def wanted(match: Match) -> bool:
        return not filter_.covers(match.file) or take(match)

    hidden = any(target.glob and target.glob.names_hidden for target in targets.targets)
    options = ["--no-ignore=hidden", "--globs=!.git"] if hidden else []
    return _run(tool, query, options, targets.folder, targets.roots(), wanted, stop, time_limit_s)


def find_code_in(
    tool: str, query: Query, folder: Path, project: Path, take: Callable[[Match], bool], stop: Stop
) -> Found:
    """Look for code in all files of a folder, by the settings of another one; see `find_code`."""
    settings = project / _PROJECT_SETTINGS
    options = [f"--config={settings}"] if settings.is_file() else []
    options += ["--no-ignore=hidden", "--no-ignore=vcs", "--no-ignore=dot", "--no-ignore=parent"]
    return _run(tool, query, options, folder, ["./"], take, stop, TIME_LIMIT_S)


def _run(
    tool: str,
    query: Query,
    options: Sequence[str],
    folder: Path,
    roots: Sequence[str],
    take: Callable[[Match], bool],
    stop: Stop,
    time_limit_s: float,
) -> Found:
    for root in roots:
        if (name := as_text(root)) != root:
            raise ToolFailure(
                FailureKind.FAILED,
                f"{tool}: '{name}' has bytes in its name that are no text, and ast-grep takes none",
                "name a folder above it",
            )
    command = [
        str(program_of("ast-grep-cli", "ast-grep")),
        "run",
        *query.options(),
        "--json=stream",
        "--color=never",
        "--no-ignore=global",
        *options,
        "--",
        *roots,
    ]
    try:
        ended = stream(command, folder, _Reader(take), time_limit_s, stop)
    except msgspec.DecodeError as error:
        raise ToolFailure(
            FailureKind.FAILED, f"{tool}: ast-grep printed something else than matches: {error}"
        ) from error
    except OSError as error:
        raise ToolFailure(
            FailureKind.FAILED, f"{tool}: ast-grep cannot be run: {error.strerror or error}"
        ) from error
    return _judged(tool, ended)


class _Reader:
    """Takes the output apart, one match a line."""

    def __init__(self, take: Callable[[Match], bool]) -> None:
        self._take = take
        self._begun: list[bytes] = []

    def __call__(self, data: bytes) -> bool:
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = b"".join((*self._begun, line))
            self._begun = []
            if whole and not self._take(msgspec.json.decode(whole, type=Match)):
                return False
        self._begun.append(rest)
        return True


class _Filter:
    """Which of the files that the program goes through are meant."""

    def __init__(self, targets: SearchTargets) -> None:
        self._targets = targets
        # Outside a repository the program does not heed `.gitignore`.
        above = (targets.folder, *targets.folder.parents)
        self._rules = (
            None if any((one / ".git").exists() for one in above) else _Rules(targets.folder)
        )
        self._known: dict[str, bool] = {}

    def covers(self, name: str) -> bool:
        if name not in self._known:
            self._known[name] = name not in self._targets.withheld and any(
                target.covers(name, hidden=False)
                and (target.is_file or not self._rules or not self._rules.ignore(name, target.name))
                for target in self._targets.targets
            )
        return self._known[name]


class _Rules:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._below = {folder: IgnoreRules().with_folder(folder)}

    def ignore(self, name: str, base: str) -> bool:
        """Whether the path or a folder between it and `base` is ignored."""
        path = self._folder / name
        if not path.is_relative_to(self._folder):
            return False
        start = self._folder / base
        return any(
            self._of(step.parent).ignores(step, is_folder=step != path)
            for step in (*reversed(path.parents), path)
            if step != start and step.is_relative_to(start)
        )

    def _of(self, folder: Path) -> IgnoreRules:
        if folder not in self._below:
            self._below[folder] = self._of(folder.parent).with_folder(folder)
        return self._below[folder]


def _judged(tool: str, ended: Streamed) -> Found:
    complaint = ended.complaint.strip()
    if ended.timed_out or ended.status is None:
        return Found(is_complete=False, timed_out=ended.timed_out)
    if ended.status not in (0, _NO_MATCH):
        reason = _reason(complaint) or f"ast-grep ended with {ended.status}"
        kind = FailureKind.INVALID_ARGS if ended.status == _BAD_ARGUMENT else FailureKind.FAILED
        raise ToolFailure(kind, f"{tool}: {reason}")
    if "ERROR node" in complaint:
        return Found(is_complete=True, remark="the pattern does not parse as code of its language")
    return Found(is_complete=True)


def _reason(complaint: str) -> str:
    """What the program said, without advice about options that nobody can give here."""
    lines = [line.strip() for line in complaint.split("\n\n")[0].split("\n")]
    said = " ".join(line for line in lines if line and not line.startswith(("Help:", "See also:")))
    return said.removeprefix("error: ").removeprefix("Error: ")


def _invalid(tool: str, problem: str, hint: str = "") -> ToolFailure:
    return ToolFailure(FailureKind.INVALID_ARGS, f"{tool}: {problem}", hint)
