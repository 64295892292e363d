"""The part of the door that is about accounts of runs: where they work, and reports of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from orchestration.errors import UserError
from orchestration.history_door import HistoryDoor
from orchestration.settings.known_secrets import known_secrets

if TYPE_CHECKING:
    from engine.vocabulary.messages import HandoffArtifact
    from orchestration.runs.run_view import RunView
    from orchestration.storage.facts import RecordedRun


class ReportDoor(HistoryDoor):
    """Reports of stored runs. Each method raises a `StorageError` where it cannot be."""

    async def execution_folder(self, run_id: str) -> Path:
        """The folder that a run works in, or has worked in; it may be gone."""
        return Path((await (await self._opened()).store.load(run_id)).opening.cwd)

    async def handoff_text(self, run_id: str, artifact: HandoffArtifact) -> str | None:
        """The document that a node of a run has handed on; `None` where it is gone.

        Raises:
            UserError: it cannot be read.
        """
        from orchestration.runs.handoffs import HandoffStore
        from orchestration.storage.run_folders import run_folder

        store = HandoffStore(run_folder(self._keeper.folder, run_id) / "handoffs", {})
        segment, file_name = artifact.uri.split("/")[-2:]
        try:
            return await asyncio.to_thread(store.read, segment, file_name)
        except OSError as error:
            raise UserError(
                f"the document {artifact.uri} cannot be read: {error.strerror or error}"
            ) from error

    async def run_report(self, run_id: str, wanted: str = "html") -> str:
        """A report of a run as one text; `wanted` is `html` or `md`.

        Raises:
            HoldsSecret: it would hold the value of a known key.
        """
        # Imported here, as below: only who asks for a report needs it.
        from orchestration.report.contents import RunAccount, report_of
        from orchestration.report.writing import rendered
        from orchestration.storage.rebuilding import view_of, workflow_of

        recorded = await (await self._opened()).store.load(run_id)
        parts = await self._keeper.store.events(run_id)

        def make() -> str:
            workflow = workflow_of(recorded)
            view = view_of(recorded, workflow, parts)
            account = RunAccount(
                recorded.summary,
                workflow,
                view,
                [record for part in parts for record in part.records],
                recorded.opening.entrypoint.text,
                recorded.opening.cwd,
                self._diffs(recorded, view),
            )
            secrets = known_secrets(self._all.settings, self._all.secrets, self._all.env)
            return rendered(report_of(account), wanted, secrets)

        return await asyncio.to_thread(make)

    async def save_report(self, run_id: str, path: Path) -> None:
        """Write a report of a run to a file whose ending says what kind it is.

        Raises:
            UserError: the ending is neither `.html` nor `.md`.
            HoldsSecret: it would hold the value of a known key; nothing was written.
        """
        from orchestration.report.writing import format_of, write_report

        text = await self.run_report(run_id, format_of(path))
        await asyncio.to_thread(write_report, path, text)

    def _diffs(self, recorded: RecordedRun, view: RunView) -> dict[str, str]:
        from orchestration.storage.run_folders import run_folder
        from orchestration.workspace.artifacts import ArtifactStore

        store = ArtifactStore(
            run_folder(self._keeper.folder, recorded.opening.run_id) / "artifacts"
        )
        wanted = {record.diff_artifact_id for record in view.changed_files} - {None}
        found = {each: store.read(each) for each in wanted if each is not None}
        return {key: text for key, text in found.items() if text is not None}
