"""Plan rewrites of code by its shape, each on what those before it would leave behind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from orchestration.tools.ast_grep_process import (
    TIME_LIMIT_S,
    Found,
    Match,
    Query,
    find_code,
    find_code_in,
)
from orchestration.tools.file_edits.change_plan import ChangePlan, FileChange
from orchestration.tools.file_edits.file_text import FileText
from orchestration.tools.file_edits.reading import Target, decoded, read_target
from orchestration.tools.search_targets import SearchTargets
from orchestration.tools.streamed_program import Stop
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure

MAX_REPLACEMENTS = 5000


def plan_ast_edit(
    queries: Sequence[Query], targets: SearchTargets, context: ToolContext, stop: Stop
) -> ChangePlan:
    """Work out what the rewrites make of the files, in their order; nothing is written.

    Blocks.

    Args:
        queries: each with what to put in the place of its matches.
        targets: where they apply.
        context: of the call.
        stop: ends the program that looks for matches.

    Raises:
        ToolFailure: one of them cannot be done, so none is.
    """
    plan = _Plan(targets, context, stop)
    counts = [plan.apply(query) for query in queries]
    return plan.finished(queries, counts)


class _Planned(Struct):
    """A file with matches: as it is, as it would be, and how much was replaced in it."""

    target: Target
    after: bytes
    count: int = 0


class _Plan:
    def __init__(self, targets: SearchTargets, context: ToolContext, stop: Stop) -> None:
        self._targets, self._context, self._stop = targets, context, stop
        self._files: dict[str, _Planned] = {}
        self._remarks: dict[str, str] = {}
        self._total = 0

    def apply(self, query: Query) -> int:
        """Apply one rewrite; give how many matches it replaced."""
        touched = dict(self._files)
        before = self._total
        fresh = self._matches_on_disk(query, touched)
        planned = self._matches_in_plan(query, touched)
        for name, matches in (*fresh.items(), *planned.items()):
            file = self._files.get(name) or self._read(name)
            after, count = replaced(file.after, matches, file.target.label)
            file.after, file.count = after, file.count + count
            self._files[name] = file
            self._total += count
            if self._total > MAX_REPLACEMENTS:
                raise _too_many()
        return self._total - before

    def _matches_on_disk(
        self, query: Query, touched: dict[str, _Planned]
    ) -> dict[str, list[Match]]:
        found = _Matches(skip=touched)
        ended = find_code("ast_edit", query, self._targets, found.take, self._stop)
        self._judge(query, ended, found)
        return found.by_file

    def _matches_in_plan(
        self, query: Query, touched: dict[str, _Planned]
    ) -> dict[str, list[Match]]:
        """Matches in files that rewrites before have changed, looked for in copies of them."""
        if not touched:
            return {}
        names = list(touched)
        found = _Matches(skip={})
        with TemporaryDirectory(prefix="openflow-") as folder:
            for index, name in enumerate(names):
                copy = Path(folder) / str(index) / os.path.basename(name)
                copy.parent.mkdir()
                copy.write_bytes(touched[name].after)
            root = self._context.workspace.root
            ended = find_code_in("ast_edit", query, Path(folder), root, found.take, self._stop)
        self._judge(query, ended, found)
        return {names[int(Path(copy).parts[0])]: matches for copy, matches in found.by_file.items()}

    def _judge(self, query: Query, found: Found, matches: _Matches) -> None:
        if found.timed_out:
            raise ToolFailure(
                FailureKind.TIMEOUT,
                f"ast_edit: looking for matches took more than {TIME_LIMIT_S:g} s, and nothing was "
                "written",
                "name narrower paths",
            )
        if matches.has_too_many:
            raise _too_many()
        if not found.is_complete:
            raise ToolFailure(FailureKind.CANCELLED, "ast_edit: stopped; nothing was written")
        if found.remark:
            self._remarks[query.pattern] = found.remark

    def _read(self, name: str) -> _Planned:
        target = read_target(name, self._context)
        decoded(target)
        return _Planned(target, target.data or b"")

    def finished(self, queries: Sequence[Query], counts: Sequence[int]) -> ChangePlan:
        files = sorted(self._files.values(), key=lambda file: file.target.label)
        changes = tuple(
            FileChange(
                path=file.target.path,
                label=file.target.label,
                before=file.target.data,
                after=file.after,
                heading=f"Updated {file.target.label}: {_counted(file.count, 'replacement')}",
            )
            for file in files
            if file.after != file.target.data
        )
        idle = [
            f"{file.target.label}: {_counted(file.count, 'replacement')}, no net change"
            for file in files
            if file.after == file.target.data
        ]
        total = f"{_counted(sum(counts), 'replacement')} in {_counted(len(files), 'file')}"
        each = [
            f"{index}. {count} of {query.pattern!r}{self._remark(query, count)}"
            for index, (query, count) in enumerate(zip(queries, counts, strict=True), 1)
        ]
        return ChangePlan(changes, (*idle, "\n".join((total, *each))))

    def _remark(self, query: Query, count: int) -> str:
        remark = self._remarks.get(query.pattern)
        return f" [{remark}]" if remark and not count else ""


class _Matches:
    """Collects matches by file, up to the limit."""

    def __init__(self, skip: dict[str, _Planned]) -> None:
        self.by_file: dict[str, list[Match]] = {}
        self.has_too_many = False
        self._skip = skip
        self._count = 0

    def take(self, match: Match) -> bool:
        """Keep a match; whether more are wanted."""
        if match.file in self._skip:
            return True
        self._count += 1
        self.has_too_many = self._count > MAX_REPLACEMENTS
        self.by_file.setdefault(match.file, []).append(match)
        return not self.has_too_many


def replaced(data: bytes, matches: Sequence[Match], label: str) -> tuple[bytes, int]:
    """Put the replacements in; of matches within each other only the outermost is replaced.

    Raises:
        ToolFailure: the file is no longer the one that the matches are of.
    """
    pieces: list[bytes] = []
    at = count = 0
    end_of_line = _line_end(data)
    for match in sorted(matches, key=_extent):
        found, offsets = match.range.byte_offset, match.replacement_offsets
        if offsets is None or match.replacement is None or offsets.start < at:
            continue
        if data[found.start : found.end] != match.text.encode("utf-8", "surrogatepass"):
            raise ToolFailure(
                FailureKind.FAILED,
                f"'{label}' changed while it was looked at, so nothing was written",
                "try again",
            )
        new = match.replacement.encode("utf-8", "surrogatepass")
        if end_of_line is not None:
            new = new.replace(b"\r\n", b"\n").replace(b"\n", end_of_line)
        pieces += (data[at : offsets.start], new)
        at = offsets.end
        count += 1
    return b"".join((*pieces, data[at:])), count


def _extent(match: Match) -> tuple[int, int]:
    offsets = match.replacement_offsets or match.range.byte_offset
    return offsets.start, -offsets.end


def _line_end(data: bytes) -> bytes | None:
    """How new lines have to end that do not yet; `None` where LF is right or lines differ."""
    ends = set(FileText.decode(data).ends)
    return ends.pop().encode() if len(ends) == 1 and "\n" not in ends else None


def _too_many() -> ToolFailure:
    return ToolFailure(
        FailureKind.FAILED,
        f"ast_edit: there are more than {MAX_REPLACEMENTS} matches, and nothing was written",
        "name narrower paths, or a narrower pattern",
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
