"""The door of this package: everything that the window and the command line may do."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.graph.agents import CallableAgent
from engine.graph.problems import Problem
from engine.graph.workflow import Workflow
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.report import RunOutcome
from orchestration.chats_door import ChatsDoor
from orchestration.errors import EditNotUndone
from orchestration.library.library import Library
from orchestration.report_door import ReportDoor
from orchestration.runs.event_hub import Subscription
from orchestration.runs.invoked_skills import skill_problems, skills_at_hand
from orchestration.runs.preparation import problems
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.runs.run_view import RunView
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file
from orchestration.settings.model import Limits
from orchestration.settings.provider_choice import Readiness, readiness
from orchestration.settings.readiness import Providers, ProviderStatus
from orchestration.surroundings import Surroundings
from orchestration.tools.file_edits.edit_log import RevertRefused, RevertReport
from orchestration.workflow_catalog import create_workflow, open_workflow


class Backend(ReportDoor, ChatsDoor):
    """Runs workflows. Belongs to the thread of one event loop; see `open_backend`.

    A wish that does not fit the state of its run raises an `InteractionError` of the engine's
    vocabulary, anything else that a person can put right a `UserError`.
    """

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._library = Library(surroundings.data_dir)

    @property
    def library(self) -> Library:
        """Workflows, projects and saved agents; its methods touch the disk."""
        return self._library

    @property
    def data_dir(self) -> Path:
        """Where settings, runs and managed folders live."""
        return self._all.data_dir

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences that a person should see once, such as that damaged settings were set aside."""
        return self._all.notices

    def load_workflow(self, path: Path) -> Workflow:
        """Read a workflow file, which may still have problems.

        Raises:
            UserError: it cannot be read or holds no workflow.
        """
        return open_workflow(path)

    def create_workflow(self) -> Path:
        """Make a new workflow file in the data folder; give its path.

        Raises:
            UserError: it could not be written.
        """
        return create_workflow(self._all.data_dir / "workflows")

    def problems(
        self,
        workflow: Workflow,
        overrides: RunOverrides | None = None,
        path: Path | None = None,
    ) -> tuple[Problem, ...]:
        """Everything that keeps the workflow from running, each with its place.

        With the path of its file that includes skills that its prompts call and that there are
        not, which touches the disk.
        """
        found = problems(
            workflow,
            overrides or RunOverrides(),
            settings=self._all.settings,
            env=self._all.env,
            registry=self._all.tools,
            embedded=self._all.embedded,
        )
        if path is None:
            return found
        project = self._library.project_of(path)
        folder = None if project is None else project.run_folder
        skills = skills_at_hand(workflow, {}, self._all.env, self._all.data_dir, folder)
        return (*found, *skill_problems(workflow, {}, skills))

    async def start_run(self, request: RunRequest) -> str:
        """Prepare and start a run; gives its id. Its first event comes after this returns.

        Raises:
            RunRefused: with every problem at once; nothing was made.
            RunAlreadyActive: the workflow has a run that is not over.
        """
        return await self._begin_run(request)

    async def stop_run(self, run_id: str) -> None:
        """Stop a run, and see that this is kept; a run that is over stays as it is."""
        await self._runs.get(run_id).stop()
        await self._keeper.written()

    async def continue_run(
        self, run_id: str, node_id: str | None = None, message: str = ""
    ) -> None:
        """Go on with a run that was stopped or has failed.

        With `node_id` that node takes `message` as its answer if it was waiting, and retries with
        it if it was interrupted or had failed.

        Raises:
            NoContinuableRun: it is on, or has completed.
            RunAlreadyActive: its workflow has another run by now.
            InteractionError: the node takes no message; the run is as it was.
        """
        said = message if node_id is not None else None
        await self._go_on(self._runs.get(run_id), node_id, said)

    def is_continuable(self, run_id: str) -> bool:
        """Whether `continue_run` can take the run up: it was stopped or has failed."""
        return self._runs.get(run_id).is_continuable

    def clear_trace(self, run_id: str) -> None:
        """Forget the trace of a run that is over; its chats and outputs stay.

        Raises:
            RunStillActive: it is on.
        """
        self._runs.get(run_id).clear_trace()

    async def answer(self, run_id: str, node_id: str, text: str, pause_id: str = "") -> None:
        """Answer a waiting node; `pause_id` names the question that is meant."""
        await self._runs.get(run_id).answer(node_id, text, pause_id)

    async def decide(
        self,
        run_id: str,
        approval_id: str,
        allow: bool,
        reason: str | None = None,
        *,
        for_run: bool = False,
    ) -> None:
        """Allow or deny one tool call; the first decision counts.

        With `for_run` what is allowed is allowed for the rest of the run, by the rule that was
        proposed with the call; where there is none, this call alone is.
        """
        await self._runs.get(run_id).decide(approval_id, allow, reason, for_run=for_run)

    async def revert_edit_batch(
        self, run_id: str, batch_id: str, *, force: bool = False
    ) -> RevertReport:
        """Undo what one editing call of a run did; no later node is told of its changes.

        With `force` also where a file was changed since, which is lost then.

        Raises:
            EditNotUndone: with the reason; it names the files that were changed since.
        """
        try:
            return await self._runs.get(run_id).revert_edit_batch(batch_id, force=force)
        except RevertRefused as refusal:
            raise EditNotUndone(str(refusal), refusal.labels) from None

    async def retry_node(self, run_id: str, node_id: str, message: str | None = None) -> None:
        """Let a failed or interrupted node try again, perhaps with a message."""
        await self._runs.get(run_id).retry_node(node_id, message)

    async def interrupt_node(self, run_id: str, node_id: str) -> None:
        """Interrupt a node at work; the others go on."""
        await self._runs.get(run_id).interrupt_node(node_id)

    async def patch_node(self, run_id: str, node_id: str, patch: RuntimePatch) -> None:
        """Change a node's model, approval mode or reasoning for the rest of the run.

        It counts from the node's next model call and its next tool calls on; calls that wait for
        a decision go on waiting.
        """
        await self._runs.get(run_id).patch_node(node_id, patch)

    async def send_message(self, run_id: str, node_id: str, text: str) -> str:
        """Say something to a node; gives the message's id.

        A waiting node takes it as its answer, a failed or interrupted one retries with it, and one
        at work gets it before its next model call.
        """
        return await self._runs.get(run_id).send_message(node_id, text)

    async def edit_message(self, run_id: str, message_id: str, text: str) -> None:
        """Change a message that has not been delivered."""
        await self._runs.get(run_id).edit_message(message_id, text)

    async def withdraw_message(self, run_id: str, message_id: str) -> None:
        """Take back a message that has not been delivered."""
        await self._runs.get(run_id).withdraw_message(message_id)

    async def settled(self, run_id: str) -> RunOutcome:
        """Wait until the run is over or nothing moves until a person does something."""
        return await self._runs.get(run_id).settled()

    def view(self, run_id: str) -> RunView:
        """What can be seen of a run; it changes as the run goes on."""
        return self._runs.get(run_id).view

    def subscribe(self, run_id: str) -> Subscription:
        """Collect a run's events from now on."""
        return self._runs.get(run_id).subscribe()

    def active_run(self, workflow_id: str) -> str | None:
        """The id of the workflow's run that is not over, if it has one."""
        return self._runs.active_run(workflow_id)

    def set_limits(self, limits: Limits) -> None:
        """Change how much may go on at once in all runs, at once and until the program ends.

        What is under way goes on; the settings file, which the limits begin with, stays as it is.
        """
        self._budget.resize(limits.provider_calls, limits.tools)

    def providers(self) -> tuple[ProviderStatus, ...]:
        """The state of every provider."""
        return self._providers().all()

    def default_provider(self, model: str = "") -> str | None:
        """The id of the provider that answers where none is named; `None` if nobody offers it."""
        return self._providers().default_for(model)

    def saved_agents(self) -> tuple[CallableAgent, ...]:
        """The saved agents, read anew from their file.

        Raises:
            UserError: the system does not let the file be read.
        """
        return AgentStore(agents_file(self._all.data_dir)).load().agents

    def readiness(
        self, workflow: Workflow | None = None, overrides: RunOverrides | None = None
    ) -> Readiness:
        """Who would answer the workflow now, or what is missing; without one, by default."""
        return readiness(workflow, overrides or RunOverrides(), self._providers())

    async def aclose(self) -> None:
        """Stop what runs, close connections, end the embedded model. May be called twice."""
        await self._runs.close_all()
        try:
            if self._opened_keeper is not None:
                await self._opened_keeper.aclose()
        finally:
            await self._close_rest()

    async def _close_rest(self) -> None:
        await self._all.pool.aclose()
        await self._all.embedded.aclose()
        await asyncio.to_thread(self._all.quirks.close)
        await asyncio.to_thread(self._close_settings)

    def _providers(self) -> Providers:
        return self._providers_of(self._all.settings)
