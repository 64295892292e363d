"""The workflow that a run was made with, as a file of its own to look at."""

from __future__ import annotations

from pathlib import Path

from engine.graph.serialization import dump_workflow
from engine.graph.workflow import Workflow
from orchestration.errors import UserError

AS_IT_RAN = " (as it ran)"


def recorded_copy(folder: Path, run_id: str, workflow: Workflow) -> Path:
    """Write the copy, unless it is there, and give its file. Blocking.

    Raises:
        UserError: it cannot be written.
    """
    path = folder / f"{run_id}.workflow.json"
    if path.exists():
        return path
    named = workflow.model_copy(update={"name": f"{workflow.name}{AS_IT_RAN}"})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(dump_workflow(named), encoding="utf-8")
        path.chmod(0o444)
    except OSError as error:
        raise UserError(
            f"the workflow of the run cannot be shown: {path} cannot be written "
            f"({error.strerror or error})"
        ) from error
    return path
