"""`openflow runs`: the stored runs."""

from __future__ import annotations

from collections.abc import Callable

from app.cli import (
    runs_delete,
    runs_export,
    runs_fork,
    runs_import,
    runs_list,
    runs_prune,
    runs_rename,
    runs_replay,
    runs_report,
    runs_restore,
    runs_resume,
    runs_show,
)

COMMANDS: dict[str, Callable[..., None]] = {
    "list": runs_list.list_runs,
    "show": runs_show.show,
    "resume": runs_resume.resume,
    "replay": runs_replay.replay,
    "fork": runs_fork.fork,
    "export": runs_export.export,
    "report": runs_report.report,
    "import": runs_import.import_run,
    "rename": runs_rename.rename,
    "delete": runs_delete.delete,
    "prune": runs_prune.prune,
    "restore": runs_restore.restore,
}
HELP = "Stored runs: look at them, go on with them, fork them, hand them on."
