"""A data folder that cannot be written to: its runs are looked at, and what writes says why not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.vocabulary.report import RunCompleted
from engine.vocabulary.requests import AgentRequest
from orchestration.backend import Backend
from orchestration.runs.stored import RunQuery
from orchestration.runs.view_values import RunStatus
from orchestration.storage.errors import StorageReadOnly
from tests.support.engine_driver import workflow
from tests.support.run_rig import request_of, run_async, scripted_backend
from tests.support.scripted_model import Scripted, summary
from tests.support.unwritable import folder_for_everyone, unwritable

FLOW = workflow(nodes=["a"], defaults={"tools": {"approvalMode": "yolo"}})


def script(request: AgentRequest) -> Scripted:
    return summary("kept")


async def completed(backend: Backend) -> str:
    run_id = await backend.start_run(request_of(FLOW, "look at me"))
    assert isinstance(await backend.settled(run_id), RunCompleted)
    return run_id


async def look_at(backend: Backend, run_id: str, parcel: Path) -> None:
    """Everything that only reads."""
    (stored,) = await backend.runs(RunQuery("look"))
    assert (stored.run_id, stored.status) == (run_id, RunStatus.COMPLETED)
    view = await backend.replay(run_id)
    assert view.outputs == {"a": {"summary": "kept"}}
    assert (await backend.replay(run_id, until=1)).outputs == {}
    assert await backend.stored_events(run_id)
    assert (await backend.compare_runs(run_id, run_id)).differences == ()
    assert await backend.interrupted_runs() == ()
    await backend.export_run(run_id, parcel)


def test_stored_runs_are_read_where_nothing_can_be_written() -> None:
    async def body(data_dir: Path, elsewhere: Path) -> None:
        first = scripted_backend(script, data_dir)
        run_id = await completed(first)
        await look_at(first, run_id, elsewhere / "imported in time")
        await first.aclose()

        backend = scripted_backend(script, data_dir)
        with unwritable(data_dir):
            await look_at(backend, run_id, elsewhere / "parcel")
            for writing in (
                backend.rename_run(run_id, "other"),
                backend.delete_run(run_id),
                backend.start_run(request_of(FLOW)),
            ):
                with pytest.raises(StorageReadOnly, match="choose another data folder"):
                    await writing
        await backend.rename_run(run_id, "as soon as it can be written")
        (stored,) = await backend.runs()
        assert stored.name == "as soon as it can be written"
        await backend.aclose()

        other = scripted_backend(script, elsewhere / "data")
        assert await other.import_run(elsewhere / "parcel") == run_id
        await other.aclose()

    with folder_for_everyone() as folder:
        (folder / "data").mkdir()
        (folder / "elsewhere").mkdir()
        (folder / "elsewhere").chmod(0o777)
        run_async(lambda: body(folder / "data", folder / "elsewhere"))


def test_what_a_killed_program_has_not_yet_moved_into_the_file_is_read_as_well() -> None:
    async def body(data_dir: Path, copy: Path) -> None:
        first = scripted_backend(script, data_dir)
        run_id = await completed(first)
        await first.runs()
        left_out = shutil.ignore_patterns("*.new-*")
        shutil.copytree(
            data_dir, copy, ignore=left_out
        )  # as a kill leaves it, with the log beside the file
        await first.aclose()
        assert (copy / "openflow.db-wal").stat().st_size > 0

        backend = scripted_backend(script, copy)
        with unwritable(copy):
            (stored,) = await backend.runs()
            assert stored.run_id == run_id
            assert (await backend.replay(run_id)).outputs == {"a": {"summary": "kept"}}
        await backend.aclose()

    with folder_for_everyone() as folder:
        run_async(lambda: body(folder / "data", folder / "copy"))
