"""What Alembic runs to bring a database up to date, over the connection that it is handed."""

from __future__ import annotations


def migrate() -> None:
    """Run the pending versions; they take effect together or not at all."""
    from alembic import context

    context.configure(
        connection=context.config.attributes["connection"],
        transactional_ddl=True,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()


migrate()
