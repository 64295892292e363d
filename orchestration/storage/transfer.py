"""A stored run as one file, to be kept or handed on: a zip of JSON lines and the run's folder.

Seeds, lease holders and keys are not what makes it readable elsewhere: the seed goes along, leases
and keys never do.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct

from orchestration.runs.stored import StoredRun
from orchestration.storage.bodies import packed, unpacked
from orchestration.storage.errors import HoldsSecret, StorageUnavailable, UnreadableRun
from orchestration.storage.event_log import RECORDS
from orchestration.storage.facts import DECISIONS, ENDS, INPUTS, INTENTS, RunOpening
from orchestration.storage.run_rows import insert_run
from orchestration.storage.schema import tables
from orchestration.storage.secret_scan import SecretScanner

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

FORMAT = 1
MOST_BYTES = 4 << 30
FILES = "files/"
MANIFEST = "run.json"
WORKFLOW = "workflow.json"
_READERS: dict[str, Callable[[bytes], object]] = {
    "turns": INPUTS.one,
    "events": RECORDS.one,
    "intent": INTENTS.one,
    "decision": DECISIONS.one,
    "result": ENDS.one,
}


class Manifest(Struct, frozen=True, kw_only=True):
    """What is in the file. `opening` is without the workflow, which is a file of its own."""

    openflow_run: int
    summary: StoredRun
    opening: RunOpening


class Parcel(Struct, frozen=True):
    """A run out of its database: the texts of its parts by name."""

    manifest: Manifest
    workflow: bytes
    lines: dict[str, list[bytes]]


def pack(connection: Connection, number: int, summary: StoredRun, opening: RunOpening) -> Parcel:
    """Take a run's rows out of the database."""
    lines = {table.name: list(_lines_of(connection, table, number)) for table in _tables_to_carry()}
    bare = msgspec.structs.replace(opening, workflow=b"")
    summary = msgspec.structs.replace(summary, driven_by="")
    manifest = Manifest(openflow_run=FORMAT, summary=summary, opening=bare)
    return Parcel(manifest, opening.workflow, lines)


def write_parcel(parcel: Parcel, folder: Path | None, target: Path, scanner: SecretScanner) -> None:
    """Write the file, unless it would hold a key. Blocking.

    Raises:
        HoldsSecret: naming the parts that do; nothing was written.
        StorageUnavailable: it cannot be written.
    """
    parts = {
        MANIFEST: msgspec.json.encode(parcel.manifest),
        WORKFLOW: parcel.workflow,
        **{f"{name}.jsonl": b"\n".join(lines) for name, lines in parcel.lines.items()},
    }
    files = dict(_files_of(folder)) if folder is not None else {}
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        found = [name for name, data in parts.items() if scanner.is_in(data)]
        for name, path in files.items():
            with path.open("rb") as file:
                if scanner.is_in(name.encode()) or scanner.is_in_file(file):
                    found.append(name)
        if found:
            raise HoldsSecret(tuple(found))
        with zipfile.ZipFile(unfinished, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
            for name, path in files.items():
                archive.write(path, name)
        os.replace(unfinished, target)
    except (OSError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageUnavailable(f"the run cannot be written to {target} ({reason})") from error
    finally:
        unfinished.unlink(missing_ok=True)


def read_parcel(source: Path, folder: Path | None) -> Parcel:
    """Read a file that `write_parcel` made; its files go into `folder`. Blocking.

    Raises:
        UnreadableRun: it is no such file, or holds what a run cannot hold.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                raise UnreadableRun(f"{source} would take more than 4 GiB and was not imported")
            manifest = msgspec.json.decode(archive.read(MANIFEST), type=Manifest)
            if manifest.openflow_run > FORMAT:
                raise UnreadableRun(
                    f"{source} was made by a newer version of OpenFlow: update it to import this"
                )
            lines = {}
            for table in _tables_to_carry():
                with archive.open(f"{table.name}.jsonl") as file:
                    lines[table.name] = [line.rstrip(b"\n") for line in file if line.strip()]
            parcel = Parcel(manifest, archive.read(WORKFLOW), lines)
            _check(parcel)
            if folder is not None:
                _extract(archive, folder)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, NotImplementedError) as error:
        raise UnreadableRun(f"{source} is not a run that OpenFlow exported ({error})") from error
    except OSError as error:
        raise StorageUnavailable(
            f"{source} cannot be imported ({error.strerror or error})"
        ) from error
    return parcel


def unpack(connection: Connection, parcel: Parcel, run_id: str) -> None:
    """Put a run into the database, under an id that may be a new one.

    Raises:
        RunAlreadyStored: the id is taken.
    """
    import sqlalchemy as sa

    summary = parcel.manifest.summary
    opening = msgspec.structs.replace(
        parcel.manifest.opening, workflow=parcel.workflow, run_id=run_id, name=summary.name
    )
    number = insert_run(connection, opening)
    runs = tables().runs
    connection.execute(
        sa.update(runs)
        .where(runs.c.number == number)
        .values(
            status=summary.status.value,
            updated=summary.updated,
            tokens_in=summary.tokens_in,
            tokens_out=summary.tokens_out,
        )
    )
    for table in _tables_to_carry():
        rows = [_row_of(line, number) for line in parcel.lines[table.name]]
        if rows:
            connection.execute(sa.insert(table), rows)


def _tables_to_carry() -> tuple[Table, ...]:
    known = tables()
    return (known.nodes, known.turns, known.calls, known.events, known.artifacts, known.usage)


def _lines_of(connection: Connection, table: Table, number: int) -> Iterator[bytes]:
    import sqlalchemy as sa

    found = sa.select(table).where(table.c.run == number).order_by(*table.primary_key.columns)
    for row in connection.execute(found).mappings():
        values: dict[str, Any] = dict(row)
        del values["run"]
        if "body" in values:
            values["body"] = Raw(unpacked(values["body"]))
        yield msgspec.json.encode(values)


def _row_of(line: bytes, number: int) -> dict[str, Any]:
    values = msgspec.json.decode(line, type=dict[str, Raw])
    row: dict[str, Any] = {"run": number}
    for name, raw in values.items():
        row[name] = packed(bytes(raw)) if name == "body" else msgspec.json.decode(raw)
    return row


def _check(parcel: Parcel) -> None:
    """See that every line has the columns of its table and every body can be read.

    Raises:
        ValueError: one does not.
    """
    for table in _tables_to_carry():
        columns = {column.name for column in table.columns} - {"run"}
        for line in parcel.lines[table.name]:
            values = msgspec.json.decode(line, type=dict[str, Raw])
            if set(values) != columns:
                raise ValueError(f"a line of {table.name} has other columns")
            kind = msgspec.json.decode(values["fact"]) if table.name == "calls" else table.name
            if "body" in values:
                _READERS[kind](bytes(values["body"]))


def _files_of(folder: Path) -> Iterator[tuple[str, Path]]:
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not path.is_symlink():
                yield FILES + path.relative_to(folder).as_posix(), path


def _extract(archive: zipfile.ZipFile, folder: Path) -> None:
    for info in archive.infolist():
        if info.is_dir() or not info.filename.startswith(FILES):
            continue
        parts = PurePosixPath(info.filename[len(FILES) :]).parts
        if not parts or any(part in ("..", "/") or "\\" in part or ":" in part for part in parts):
            raise ValueError(f"'{info.filename}' would be written outside the run's folder")
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(info) as source, io.FileIO(target, "x") as copy:
            while chunk := source.read(1 << 20):
                copy.write(chunk)
