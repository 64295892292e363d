"""The tables, as the latest migration leaves them.

Every table with facts of a run begins with the run's number, so that rows are short and a run's
facts lie together.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table

HEAD = "0001"
"""The revision that this version of the program reads and writes."""


class Tables(Struct, frozen=True):
    """All tables by name.

    Attributes:
        metadata: what they belong to.
        runs: one row a run: what lists show and searches look at.
        recordings: what a run was started with.
        workflows: prepared workflows by the SHA-256 of their text; runs share them.
        nodes: how each node of a run stands.
        turns: what was fed to the engine, in order: replies of models, answers of persons, results
            of tools. A run is a function of these rows.
        calls: facts about tool calls: intent, decision, result.
        events: what a run told, some hundred events to a row.
        artifacts: files that a run put aside.
        usage: tokens of each model call.
        leases: which process drives which run.
        meta: a few values about the database itself.
    """

    metadata: MetaData
    runs: Table
    recordings: Table
    workflows: Table
    nodes: Table
    turns: Table
    calls: Table
    events: Table
    artifacts: Table
    usage: Table
    leases: Table
    meta: Table

    def of_a_run(self) -> tuple[Table, ...]:
        """The tables whose rows go with their run, `runs` itself excepted."""
        return (
            self.recordings,
            self.nodes,
            self.turns,
            self.calls,
            self.events,
            self.artifacts,
            self.usage,
            self.leases,
        )


@cache
def tables() -> Tables:
    """The tables; SQLAlchemy is imported by the first call."""
    import sqlalchemy as sa

    metadata = sa.MetaData()
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

    def key(name: str, kind: sa.types.TypeEngine[Any] | None = None) -> sa.Column[Any]:
        return sa.Column(name, kind or number, primary_key=True, autoincrement=False)

    def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
        return sa.Column(name, sa.Text, nullable=nullable)

    def whole(name: str, *, nullable: bool = False) -> sa.Column[int]:
        return sa.Column(name, sa.BigInteger, nullable=nullable)

    def seconds(name: str, *, nullable: bool = False) -> sa.Column[float]:
        return sa.Column(name, sa.Double, nullable=nullable)

    def body() -> sa.Column[bytes]:
        return sa.Column("body", sa.LargeBinary, nullable=False)

    runs = sa.Table(
        "runs",
        metadata,
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        text("name"),
        text("status"),
        text("workflow_id"),
        text("workflow_name"),
        seconds("started"),
        seconds("updated"),
        whole("tokens_in", nullable=True),
        whole("tokens_out", nullable=True),
        text("parent_id", nullable=True),
        whole("fork_seq", nullable=True),
        text("search"),
        sa.Index("runs_by_update", "updated"),
        sqlite_autoincrement=True,
    )
    return Tables(
        metadata=metadata,
        runs=runs,
        recordings=sa.Table(
            "recordings",
            metadata,
            key("run"),
            text("workflow_hash"),
            body(),
        ),
        workflows=sa.Table("workflows", metadata, key("hash", sa.Text()), body()),
        nodes=sa.Table(
            "nodes",
            metadata,
            key("run"),
            key("node_id", sa.Text()),
            text("label"),
            text("status"),
            seconds("started", nullable=True),
            seconds("completed", nullable=True),
        ),
        turns=sa.Table("turns", metadata, key("run"), key("seq"), body()),
        calls=sa.Table(
            "calls", metadata, key("run"), key("seq"), text("call_id"), text("fact"), body()
        ),
        events=sa.Table(
            "events",
            metadata,
            key("run"),
            key("first_seq"),
            whole("last_seq"),
            whole("segment"),
            body(),
        ),
        artifacts=sa.Table(
            "artifacts",
            metadata,
            key("run"),
            key("artifact_id", sa.Text()),
            text("node_id"),
            text("tool_name"),
            text("path"),
            whole("size"),
        ),
        usage=sa.Table(
            "usage",
            metadata,
            key("run"),
            key("seq"),
            text("node_id"),
            text("model"),
            whole("tokens_in", nullable=True),
            whole("tokens_out", nullable=True),
            whole("tokens_cached", nullable=True),
        ),
        leases=sa.Table(
            "leases",
            metadata,
            key("run"),
            text("holder"),
            text("place"),
            whole("pid"),
            seconds("expires"),
        ),
        meta=sa.Table("meta", metadata, key("name", sa.Text()), text("value")),
    )
