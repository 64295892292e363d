"""Runs, what they were started with, and everything that they tell.

Tables are written out here and not taken from `schema`: a version never changes after it was
released, and `schema` does.
"""

from __future__ import annotations

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables of the first version."""
    import sqlalchemy as sa
    from alembic import op

    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")

    def run() -> sa.Column[int]:
        return sa.Column("run", number, primary_key=True, autoincrement=False)

    def seq(name: str = "seq") -> sa.Column[int]:
        return sa.Column(name, number, primary_key=True, autoincrement=False)

    op.create_table(
        "runs",
        sa.Column("number", number, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("workflow_id", sa.Text, nullable=False),
        sa.Column("workflow_name", sa.Text, nullable=False),
        sa.Column("started", sa.Double, nullable=False),
        sa.Column("updated", sa.Double, nullable=False),
        sa.Column("tokens_in", sa.BigInteger),
        sa.Column("tokens_out", sa.BigInteger),
        sa.Column("parent_id", sa.Text),
        sa.Column("fork_seq", sa.BigInteger),
        sa.Column("search", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("runs_by_update", "runs", ["updated"])
    op.create_table(
        "recordings",
        run(),
        sa.Column("workflow_hash", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "workflows",
        sa.Column("hash", sa.Text, primary_key=True),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "nodes",
        run(),
        sa.Column("node_id", sa.Text, primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("started", sa.Double),
        sa.Column("completed", sa.Double),
    )
    op.create_table("turns", run(), seq(), sa.Column("body", sa.LargeBinary, nullable=False))
    op.create_table(
        "calls",
        run(),
        seq(),
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("fact", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "events",
        run(),
        seq("first_seq"),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("segment", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "artifacts",
        run(),
        sa.Column("artifact_id", sa.Text, primary_key=True),
        sa.Column("node_id", sa.Text, nullable=False),
        sa.Column("tool_name", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "usage",
        run(),
        seq(),
        sa.Column("node_id", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.BigInteger),
        sa.Column("tokens_out", sa.BigInteger),
        sa.Column("tokens_cached", sa.BigInteger),
    )
    op.create_table(
        "leases",
        run(),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("pid", sa.BigInteger, nullable=False),
        sa.Column("expires", sa.Double, nullable=False),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def downgrade() -> None:
    """There is nothing before the first version."""
    raise NotImplementedError("the first version cannot be taken back; use a backup")
