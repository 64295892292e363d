"""Runs in real databases for the benchmarks: of as many messages, events or runs as wanted."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.vocabulary.inputs import ModelReplied
from engine.vocabulary.messages import ToolCallsTurn
from engine.vocabulary.tools import ToolCall
from orchestration.storage.connections import Location
from orchestration.storage.database import Database
from orchestration.storage.facts import RunOpening
from orchestration.storage.run_journal import RunJournal
from orchestration.storage.run_store import RunStore

VOCABULARY = (
    "a run keeps what it was told before it goes on and nobody has to wait for the disk longer "
    "than needed because one thread writes groups of rows while all others work with plain values"
)
WORDS = VOCABULARY.split()


def opening_of(run_id: str, name: str = "Run", workflow: bytes = b"{}") -> RunOpening:
    """What a run is stored with at its start."""
    return RunOpening(
        run_id=run_id,
        name=name,
        workflow=workflow,
        workflow_id="w",
        workflow_name="Workflow",
        seed=b"seed",
    )


def prose(size: int, seed: int) -> str:
    """Text of about so many characters that no two seeds share."""
    chance = random.Random(seed)
    words: list[str] = []
    while sum(map(len, words)) + len(words) < size:
        words += chance.choices(WORDS, k=20)
    return " ".join(words)[:size]


def reply(number: int, size: int = 900) -> ModelReplied:
    """A model's reply: some text and one call."""
    call = ToolCall("", "read", {"path": f"src/module_{number}.py", "lines": "1-200"})
    return ModelReplied("a", number, ToolCallsTurn((call,), prose(size, number)), float(number))


class Kept:
    """A run in a database of its own, with what is needed to add to it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "openflow.db"
        self.database = Database(Location(self.path))
        self.store = RunStore(self.database, folder / "runs")
        self.number = 0
        self.journal: RunJournal

    async def open(self, length: int = 0, workflow: bytes = b"{}") -> Kept:
        """Begin the run and give it so many messages."""
        opened = await self.store.open_run(
            opening_of("run", workflow=workflow), is_reading=lambda call: call.name == "read"
        )
        self.number, self.journal = opened.number, opened.journal
        for number in range(length):
            self.journal.turn(reply(number))
        await self.database.barrier()
        return self

    def size(self) -> int:
        """Bytes of the file with everything in it."""
        with closing(sqlite3.connect(self.path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return self.path.stat().st_size


def bare_inserts(path: Path) -> Callable[[int, bytes], None]:
    """The least that a checkpoint can cost."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("CREATE TABLE t (run INT, seq INT, body BLOB, PRIMARY KEY (run, seq))")

    def insert(seq: int, body: bytes) -> None:
        connection.execute("INSERT INTO t VALUES (?, ?, ?)", (1, seq, body))

    return insert


def langgraph_saver(path: Path, length: int) -> Callable[[int], None]:
    """LangGraph's checkpointer, and a state of so many messages that gets one more each time."""
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
    saver.setup()
    messages: list[Any] = []

    def add(number: int) -> None:
        call = {"name": "read", "args": {"path": f"src/module_{number}.py"}, "id": f"c{number}"}
        messages.append(AIMessage(prose(900, number), tool_calls=[call]))

    for number in range(length):
        add(number)
    config: dict[str, Any] = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}

    def put(number: int) -> None:
        add(number)
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": list(messages)}
        checkpoint["channel_versions"] = {"messages": str(number)}
        saver.put(config, checkpoint, {"source": "loop", "step": number}, {"messages": str(number)})

    return put
