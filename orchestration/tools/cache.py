"""Answers that calls of one run gave, given again for as long as nothing has changed since."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager

from msgspec import Struct
from msgspec.structs import replace

from engine.vocabulary.tools import JsonObject, ToolEffects, ToolResult
from orchestration.tools.file_stamps import Evidence, take_evidence
from orchestration.tools.tool import Tool, ToolServices
from orchestration.workspace.watch import FolderWatch

MAX_ENTRIES = 512
MAX_FIRST_LINE = 200

Outcome = tuple[ToolResult, ToolEffects]
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Asker(Struct, frozen=True):
    """Who makes a call.

    `conversation` is the transcript that the answer goes into, `caller` the node or subagent at
    work, and `name` what others know it by.
    """

    conversation: str
    caller: str
    name: str
    call_id: str


class Entry(Struct, eq=False):
    """One answer.

    It rests on one file (what the path `address` led to, and the `digest` of what was seen of it),
    or on anything in the workspace (`epoch`). `is_watched`: changes by others were noticed all
    along. `shown` has the conversations that hold the whole answer, and under which call.
    """

    outcome: Outcome
    origin: str
    epoch: int
    address: str = ""
    evidence: Evidence | None = None
    digest: str | None = None
    is_watched: bool = False
    shown: dict[str, str] = {}


class Before(Struct, frozen=True):
    """How things stood before a call ran."""

    epoch: int
    evidence: Evidence | None
    is_watched: bool
    may_keep: bool


class ToolCache:
    """The answers of one run. Belongs to the thread of one event loop."""

    def __init__(
        self,
        services: ToolServices,
        make_watch: Callable[[Callable[[], None]], FolderWatch] | None = None,
    ) -> None:
        """Take what the calls share, and what makes a watch that tells of changes by others.

        Where nothing watches, such changes go unnoticed, so answers that rest on more than one
        file are not shared between conversations.
        """
        self._services = services
        self._make_watch = make_watch
        self._watch: FolderWatch | None = None
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._flights: dict[str, asyncio.Event] = {}
        self._epoch = 0
        self._writers = 0
        self._latest: dict[str, list[tuple[Entry, str]]] = {}

    async def answer(
        self,
        tool: Tool,
        arguments: JsonObject,
        asker: Asker,
        run: Callable[[], Awaitable[Outcome]],
    ) -> Outcome:
        """Give the known answer, or run the call and keep what it gives.

        Of equal calls at the same time one runs and the others wait for it; if it fails or is
        cancelled, the next one runs.
        """
        key = cache_key(tool.definition.name, arguments)
        while (flight := self._flights.get(key)) is not None:
            await flight.wait()
        self._flights[key] = flight = asyncio.Event()
        try:
            known = await self.lookup(key, asker)
            if known is not None:
                return known
            before = await self._look_around(arguments)
            outcome = await run()
            if before.may_keep and not outcome[0].is_error:
                await self.fill(key, arguments, asker, before, outcome)
            return outcome
        finally:
            del self._flights[key]
            flight.set()

    async def lookup(self, key: str, asker: Asker) -> Outcome | None:
        """The known answer in the form that suits the asker, `None` if there is none that holds."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        evidence, call_id = entry.evidence, entry.shown.get(asker.conversation)
        if evidence is None:
            if not await self._is_untouched(entry, is_own=call_id is not None):
                return None
        elif not await self._still_holds(entry, evidence):
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        result, effects = entry.outcome
        if call_id is not None:
            return _as_stub(result, asker.call_id, call_id), effects
        self._note_shown(entry, asker)
        if evidence is not None and evidence.subject is not None and entry.digest is not None:
            # What it is shown counts as read, so that it may edit the file.
            self._services.files.was_shown(asker.conversation, evidence.subject, entry.digest)
        content = (
            f"[cached] Unchanged since {entry.origin} ran this exact call earlier in this run.\n"
            f"{result.content}"
        )
        return replace(result, call_id=asker.call_id, content=content), effects

    async def fill(
        self,
        key: str,
        arguments: JsonObject,
        asker: Asker,
        before: Before,
        outcome: Outcome,
    ) -> None:
        """Keep an answer, unless something that it rests on changed while the call ran."""
        evidence = before.evidence
        if evidence is not None and self._is_about(evidence, outcome[1]):
            address = arguments["path"]
            after = await self._evidence(address, with_digests=evidence.has_digests)
            if after is None or not evidence.still_holds(after):
                return
            digest = self._digest_seen(asker, evidence)
            entry = Entry(outcome, asker.name, before.epoch, address, evidence, digest)
        elif evidence is None and self._writers == 0 and self._epoch == before.epoch:
            entry = Entry(outcome, asker.name, before.epoch, is_watched=before.is_watched)
        else:
            return
        self._entries[key] = entry
        self._entries.move_to_end(key)
        self._note_shown(entry, asker)
        while len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def bump(self) -> None:
        """Files may have changed: answers that rest on more than one file hold no longer."""
        self._epoch += 1

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Files may change all the while, and have changed at the end, however it ends."""
        self._writers += 1
        try:
            yield
        finally:
            self._writers -= 1
            self.bump()

    def begin_batch(self, caller: str) -> None:
        """The caller goes on, so the answers of its last batch have reached its transcript."""
        self._latest.pop(caller, None)

    def discard(self, caller: str) -> None:
        """The answers of the caller's last batch may not reach its transcript."""
        for entry, conversation in self._latest.pop(caller, ()):
            entry.shown.pop(conversation, None)

    def forget(self, call_ids: Iterable[str]) -> None:
        """The answers to these calls stand in their transcripts no more, as far as a model sees."""
        gone = frozenset(call_ids)
        for entry in self._entries.values():
            entry.shown = {name: call for name, call in entry.shown.items() if call not in gone}

    def close(self) -> None:
        """Watch no more, until somebody asks again."""
        self.bump()
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _note_shown(self, entry: Entry, asker: Asker) -> None:
        if asker.conversation not in entry.shown:
            entry.shown[asker.conversation] = asker.call_id
            self._latest.setdefault(asker.caller, []).append((entry, asker.conversation))

    async def _look_around(self, arguments: JsonObject) -> Before:
        address = arguments.get("path")
        if isinstance(address, str):
            evidence = await self._evidence(address)
            if evidence is None or evidence.subject is not None:
                return Before(self._epoch, evidence, False, evidence is not None)
        is_watched = await self._caught_up()
        return Before(self._epoch, None, is_watched, self._writers == 0)

    async def _evidence(self, address: str, *, with_digests: bool = False) -> Evidence | None:
        workspace = self._services.workspace
        return await asyncio.to_thread(take_evidence, address, workspace, with_digests=with_digests)

    def _is_about(self, evidence: Evidence, effects: ToolEffects) -> bool:
        """Whether the call says itself that it read this file and nothing else."""
        subject = evidence.subject
        return subject is not None and effects.read_call_paths == (
            self._services.workspace.label(subject),
        )

    def _digest_seen(self, asker: Asker, evidence: Evidence) -> str | None:
        assert evidence.subject is not None
        return self._services.files.last_seen(asker.conversation, evidence.subject)

    async def _still_holds(self, entry: Entry, evidence: Evidence) -> bool:
        """Whether the one file that the answer rests on is as it was."""
        now = await self._evidence(entry.address, with_digests=evidence.has_digests)
        return now is not None and evidence.still_holds(now)

    async def _is_untouched(self, entry: Entry, *, is_own: bool) -> bool:
        """Whether nothing in the workspace has changed since the answer was given."""
        if not self._is_of_now(entry):
            return False
        is_sure = await self._caught_up()
        return self._is_of_now(entry) and (is_own or (is_sure and entry.is_watched))

    def _is_of_now(self, entry: Entry) -> bool:
        return self._writers == 0 and entry.epoch == self._epoch

    async def _caught_up(self) -> bool:
        """Hear of all changes up to now; false where nothing watches."""
        if self._make_watch is None:
            return False
        if self._watch is None:
            self._watch = self._make_watch(self.bump)
        return await self._watch.caught_up()


def watched_cache(services: ToolServices) -> ToolCache:
    """An empty cache that hears of changes which others make in the run's workspace."""
    own_folder = services.edits.parent / "watch"

    def watch(on_change: Callable[[], None]) -> FolderWatch:
        return FolderWatch(services.workspace.folders, own_folder, on_change)

    return ToolCache(services, watch)


def cache_key(tool_name: str, arguments: JsonObject) -> str:
    """Equal for calls that ask the same; what a call says it is for does not count."""
    asked = {name: value for name, value in arguments.items() if name != "_i"}
    return f"{tool_name} {_canonical(asked)}"


def _as_stub(result: ToolResult, call_id: str, earlier: str) -> ToolResult:
    """The answer for a conversation that has it: where it stands and how it begins."""
    first, *rest = result.content.split("\n")
    if len(first) > MAX_FIRST_LINE:
        first = f"{first[:MAX_FIRST_LINE]}…"
    content = (
        f"[cached] The result is identical to that of your earlier call {earlier}: nothing that "
        f"it rests on has changed, so its {len(rest) + 1} lines are left out here. Do not repeat "
        f"the call; read the earlier result, which begins:\n{first}"
    )
    return ToolResult(call_id, result.tool_name, content, artifact_ids=result.artifact_ids)
