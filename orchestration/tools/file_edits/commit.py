"""Make a tool of a planner: what it plans is shown, then written, kept for undoing, and told."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple
from uuid import uuid4

from engine.run.file_changes import diff_summary
from engine.vocabulary.tools import (
    EditBatch,
    FileChangeRecord,
    FileSnapshot,
    JsonObject,
    ToolDefinition,
    ToolEffects,
)
from orchestration.tools.file_edits.apply import apply
from orchestration.tools.file_edits.change_plan import FileChange, Planner
from orchestration.tools.file_edits.edit_log import (
    EditLog,
    KeptBatch,
    KeptFile,
    RevertRefused,
    missing_folders,
)
from orchestration.tools.file_edits.file_errors import failure_of
from orchestration.tools.file_edits.file_memory import digest_of
from orchestration.tools.file_edits.file_text import FileText, NotText
from orchestration.tools.file_edits.prepared import (
    PreparedChange,
    PreparedPlan,
    inspected,
    prepare,
)
from orchestration.tools.file_edits.reading import StaleFile
from orchestration.tools.tool import (
    FailureKind,
    Inspected,
    Tool,
    ToolContext,
    ToolFailure,
    ToolOutput,
)
from orchestration.workspace import jailed_files

logger = logging.getLogger(__name__)

SUMMARY_LINES = 8
SNAPSHOT_BYTES = 64 * 1024
NOTHING_CHANGED = "Nothing was changed."


def editing_tool(
    definition: ToolDefinition,
    planner: Planner,
    lock_paths: Callable[[JsonObject], Sequence[str]],
) -> Tool:
    """The whole tool of a planner.

    Args:
        definition: what a model is told of it.
        planner: works out what a call does.
        lock_paths: the paths in a call's arguments, as the model wrote them.
    """

    def plan(arguments: JsonObject, context: ToolContext) -> PreparedPlan:
        return prepare(planner(arguments, context), context)

    async def inspect(arguments: JsonObject, context: ToolContext) -> Inspected:
        return inspected(await asyncio.to_thread(plan, arguments, context))

    async def run(arguments: JsonObject, context: ToolContext) -> ToolOutput:
        return await _plan_and_commit(definition.name, lambda: plan(arguments, context), context)

    return Tool(definition=definition, run=run, lock_paths=lock_paths, inspect=inspect, writes=True)


async def _plan_and_commit(
    tool_name: str, plan: Callable[[], PreparedPlan], context: ToolContext
) -> ToolOutput:
    """Do what is planned; a failure is an answer, not an exception, for nothing is to retry it."""
    try:
        found = await asyncio.to_thread(plan)
    except ToolFailure as failure:
        _note_shown(failure, context)
        return ToolOutput(str(failure), is_error=True)
    commit = _Commit(tool_name, found, context)
    writing = asyncio.ensure_future(asyncio.to_thread(commit.run))
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        commit.stop.set()
        await _ended(writing)
        await _ended(asyncio.ensure_future(asyncio.to_thread(commit.undo)))
        raise


async def _ended(work: asyncio.Future[Any]) -> None:
    """Wait for work in a thread, which cannot be cancelled, however often that is tried."""
    while not work.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])


def _note_shown(failure: ToolFailure | None, context: ToolContext) -> None:
    """A refusal that shows a file is a reading of it."""
    if isinstance(failure, StaleFile) and failure.target.data is not None:
        context.services.files.saw(context.caller_id, failure.target.path, failure.target.data)


class _Found(NamedTuple):
    """What a call found at a path: a file's permissions, or else the folders that were missing."""

    mode: int | None
    missing_folders: tuple[str, ...]


class _Commit:
    """One call's changes being made; runs in a thread."""

    def __init__(self, tool_name: str, plan: PreparedPlan, context: ToolContext) -> None:
        self.stop = Event()
        self._tool_name, self._plan, self._context = tool_name, plan, context
        self._log = EditLog(context.services.edits)
        self._batch_id = str(uuid4())
        self._done: list[PreparedChange] = []
        self._found: dict[Path, _Found] = {}

    def run(self) -> ToolOutput:
        """Make the changes in order up to the first that fails, and tell of them."""
        failure = self._plan.failure
        if self._plan.changes:
            failure = self._write() or failure
        done = self._done
        lines = [item.summary for item in done]
        if failure is None:
            lines += self._plan.notes
        else:
            lines.append(str(failure))
            _note_shown(failure, self._context)
        content = "\n\n".join(lines) or NOTHING_CHANGED
        if not done:
            return ToolOutput(content, is_error=failure is not None)
        batch = self._batch()
        records = tuple(self._record(item, batch) for item in done)
        return ToolOutput(
            content,
            is_error=failure is not None,
            effects=ToolEffects(file_changes=records),
            batch=batch,
            artifact_ids=tuple(r.diff_artifact_id for r in records if r.diff_artifact_id),
        )

    def undo(self) -> None:
        """Take back what a stopped call had done: it is told as one that did nothing."""
        if not self._done:
            return
        try:
            self._log.revert(self._batch_id, self._context.workspace)
        except RevertRefused as error:
            logger.warning("a stopped call of '%s' stays done: %s", self._tool_name, error)

    def _write(self) -> ToolFailure | None:
        changes = [item.change for item in self._plan.changes]
        try:
            self._log.keep(self._kept(changes))
        except OSError as error:
            reason = failure_of(error, "what the files hold now", "kept for undoing this").detail
            return ToolFailure(FailureKind.FAILED, f"{reason}; nothing was written")
        failure = None
        try:
            for item in self._plan.changes:
                if self.stop.is_set():
                    break
                # A file that a call deletes and adds anew keeps its permissions.
                mode = self._found[item.change.path].mode
                apply(item.change, self._context.workspace, mode)
                self._done.append(item)
        except ToolFailure as caught:
            failure = caught.with_traceback(None)  # which holds this frame, and the files with it
        if len(self._done) < len(changes):
            self._keep_what_was_done()
        for path, data in _final([item.change for item in self._done]).items():
            if data is not None:
                self._context.services.files.saw(self._context.caller_id, path, data)
        return failure

    def _keep_what_was_done(self) -> None:
        if not self._done:
            self._log.drop(self._batch_id)
            return
        with contextlib.suppress(OSError):  # then the longer list stays, which undoes the same
            self._log.keep(self._kept([item.change for item in self._done]))

    def _kept(self, changes: Sequence[FileChange]) -> KeptBatch:
        labels: dict[Path, str] = {}
        before: dict[Path, bytes | None] = {}
        for change in changes:
            destination, label = change.destination
            labels |= {change.path: change.label, destination: label}
            before.setdefault(change.path, change.before)
            before.setdefault(destination, None)
        for path, data in before.items():
            if path not in self._found:
                self._found[path] = _find(path, data)
        after = _final(changes)
        return KeptBatch(
            self._batch_id,
            self._context.node_id,
            tuple(
                _kept_file(path, labels[path], before[path], after[path], self._found[path])
                for path in before
            ),
        )

    def _batch(self) -> EditBatch:
        kept = self._kept([item.change for item in self._done])
        return EditBatch(
            batch_id=self._batch_id,
            node_id=self._context.node_id,
            tool_call_id=self._context.call_id,
            tool_name=self._tool_name,
            timestamp_ms=self._context.services.now_ms(),
            snapshots=tuple(
                FileSnapshot(file.label, file.before is not None, _moderate_text(file.before))
                for file in kept.files
            ),
        )

    def _record(self, item: PreparedChange, batch: EditBatch) -> FileChangeRecord:
        artifact = None
        if item.diff:
            with contextlib.suppress(OSError):  # the file is changed already: told without it
                artifact = self._context.services.artifacts.save(item.diff, "file-diff")
        return FileChangeRecord(
            path=item.change.label,
            op=item.change.op,
            timestamp_ms=batch.timestamp_ms,
            rename_to=item.change.move_label,
            diff_summary=diff_summary(item.diff, SUMMARY_LINES) if item.diff else None,
            batch_id=self._batch_id,
            tool_call_id=self._context.call_id,
            tool_name=self._tool_name,
            diff_artifact_id=None if artifact is None else artifact.id,
            diff_size_bytes=None if artifact is None else artifact.size_bytes,
        )


def _final(changes: Sequence[FileChange]) -> dict[Path, bytes | None]:
    """What each path holds after the changes."""
    after: dict[Path, bytes | None] = {}
    for change in changes:
        after[change.path] = None
        after[change.destination[0]] = change.after
    return after


def _find(path: Path, before: bytes | None) -> _Found:
    return _Found(None, missing_folders(path)) if before is None else _Found(_mode(path), ())


def _kept_file(
    path: Path, label: str, before: bytes | None, after: bytes | None, found: _Found
) -> KeptFile:
    return KeptFile(
        str(path),
        label,
        before,
        None if after is None else digest_of(after),
        found.mode,
        found.missing_folders,
    )


def _mode(path: Path) -> int | None:
    try:
        return jailed_files.mode_of(path)
    except FileNotFoundError:
        return None


def _moderate_text(data: bytes | None) -> str | None:
    if data is None or len(data) > SNAPSHOT_BYTES:
        return None
    try:
        return FileText.decode(data).text
    except NotText:
        return None
