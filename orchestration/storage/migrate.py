"""Bringing a database up to date, whatever version of the program made it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orchestration.storage.backups import copy_of
from orchestration.storage.connections import ONLY_READS, Location
from orchestration.storage.errors import NewerDatabase, StorageReadOnly
from orchestration.storage.schema import HEAD

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

FOLDER = Path(__file__).parent / "migrations"


def bring_up_to_date(
    engine: Engine, location: Location, folder: Path = FOLDER, head: str = HEAD
) -> None:
    """Make the tables, or change those of an older version after a copy of the file was put aside.

    All steps take effect together or not at all. A server's database is not copied: that is for
    whoever keeps the server.

    Raises:
        NewerDatabase: a newer version of the program has made it; nothing was touched.
    """
    with engine.connect().execution_options(**{ONLY_READS: True}) as connection:
        current = _revision(connection)
    if current == head:
        return
    # Imported here: a database that is up to date needs none of it.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    if current is not None:
        known = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
        if current not in known:
            raise NewerDatabase(
                f"the run database {location} was made by a newer version of OpenFlow (format "
                f"{current}; this version knows formats up to {head}): update OpenFlow, or choose "
                "another data folder with --data-dir"
            )
        if location.path is not None:
            copy_of(location.path, location.path.with_name(f"{location.path.name}.before-{head}"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def require_up_to_date(engine: Engine, location: Location, head: str = HEAD) -> None:
    """See that a database that cannot be changed is of this version.

    Raises:
        StorageReadOnly: it is of another one.
    """
    with engine.connect() as connection:
        current = _revision(connection)
    if current != head:
        raise StorageReadOnly(
            f"the run database {location} is of another version of OpenFlow (format {current}; "
            f"this version needs {head}) and cannot be written to: see that its folder can be "
            "written, or copy it and choose the copy with --data-dir"
        )


def _revision(connection: Connection) -> str | None:
    """The version of the database; `None` where it has no tables yet."""
    import sqlalchemy as sa

    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)
