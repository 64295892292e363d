"""The part of the door that is about direct chats: made, talked in, and taken up again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from engine.vocabulary.errors import InteractionError
from orchestration.chats.chat_files import ID_PREFIX, NODE_ID, SUFFIX, chats_folder
from orchestration.errors import UserError
from orchestration.runs.requests import NO_OVERRIDES, RunOverrides, RunRequest
from orchestration.runs.stored import RunQuery, StoredRun
from orchestration.runs.view_values import RunStatus
from orchestration.settings.agent_store import AgentStore
from orchestration.settings.data_folder import agents_file
from orchestration.steering_door import SteeringDoor
from orchestration.workflow_catalog import save_workflow

if TYPE_CHECKING:
    from engine.graph.workflow import Workflow


class ChatsDoor(SteeringDoor):
    """What may be done with chats; each has a run of its own, which goes on as long as it does.

    A chat's file is a workflow's, so that it is opened, changed, saved and deleted like one. Which
    run belongs to it is told by the runs: the latest one with the chat's id.
    """

    async def create_chat(self, agent_id: str = "") -> Path:
        """Make a chat, with a saved agent or with nobody in particular; give its file.

        Raises:
            UserError: there is no such agent, or the file could not be written.
        """
        return await asyncio.to_thread(self._create_chat, agent_id)

    async def chat_run(self, chat_id: str) -> StoredRun | None:
        """The run of a chat; `None` as long as nothing was said in it."""
        runs = await self.runs(RunQuery(workflow_id=chat_id, limit=1))
        return runs[0] if runs else None

    async def take_up_chat(self, chat: Workflow, run_id: str) -> None:
        """Go on with the stored run of a chat, with the settings that the chat has by now.

        Raises:
            UserError: as in `resume_run`.
        """
        await self.resume_run(run_id)
        await self.patch_chat(chat)

    async def patch_chat(self, chat: Workflow) -> None:
        """Let the run of a chat do as the chat says from its next model call on, if it is on."""
        from orchestration.chats.chat_shape import patch_to

        run_id = self._runs.active_run(chat.id)
        if run_id is not None:
            run = self._runs.get(run_id)
            patch = patch_to(chat, run.node_settings(NODE_ID))
            if patch is not None:
                await run.patch_node(NODE_ID, patch)

    async def say(
        self, chat: Workflow, text: str, source: Path, overrides: RunOverrides = NO_OVERRIDES
    ) -> str:
        """Say something in a chat; give the id of its run.

        The first message starts the run. Later ones answer, retry what failed or was interrupted,
        or wait for the next model call; a run that ended with the program is taken up before. A
        conversation that its agent has ended begins anew.

        Raises:
            RunRefused: it cannot start; everything that is in the way is told.
            UserError: it cannot be taken up.
            InteractionError: it takes no message now, as while a tool call waits for a decision.
        """
        from orchestration.chats.chat_shape import folder_of

        run_id = self._runs.active_run(chat.id)
        if run_id is None:
            stored = await self.chat_run(chat.id)
            if stored is None or stored.status is RunStatus.COMPLETED:
                request = RunRequest(chat, text, overrides, cwd=folder_of(chat), source=source)
                return await self._begin_run(request)
            try:
                await self.resume_run(stored.run_id, message=text, node_id=NODE_ID)
            except InteractionError:
                await self._resume_at_work(chat, stored.run_id, text)
            else:
                await self.patch_chat(chat)
            return stored.run_id
        await self._runs.get(run_id).send_message(NODE_ID, text)
        return run_id

    async def _resume_at_work(self, chat: Workflow, run_id: str, text: str) -> None:
        """Go on with an answer that was cut off; what is said now comes after it."""
        await self.take_up_chat(chat, run_id)
        await asyncio.sleep(0)  # it begins at the next turn of the event loop
        await self._runs.get(run_id).send_message(NODE_ID, text)

    def _create_chat(self, agent_id: str) -> Path:
        from orchestration.chats.chat_shape import new_chat

        agent = None
        if agent_id:
            saved = AgentStore(agents_file(self._all.data_dir)).load().agents
            agent = next((each for each in saved if each.id == agent_id), None)
            if agent is None:
                raise UserError("this agent is gone; it may have been deleted elsewhere")
        chat_id = f"{ID_PREFIX}{uuid4()}"
        path = chats_folder(self._all.data_dir) / f"{chat_id}{SUFFIX}"
        save_workflow(new_chat(chat_id, agent, int(time.time() * 1000)), path)
        return path
