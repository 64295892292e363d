"""The saved agents: listed, saved, renamed, duplicated, deleted and brought back."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from orchestration.errors import UserError
from orchestration.library.entries import Removed
from orchestration.library.trash import Record, Trash
from orchestration.settings.agent_store import AgentStore, LoadedAgents
from orchestration.workspace.atomic_files import write_atomically

if TYPE_CHECKING:
    from engine.graph.agents import CallableAgent

    Change = Callable[[list[CallableAgent]], None]


class AgentShelf:
    """The agents of one data folder. All methods touch the disk; any thread may call them.

    What is wrong raises a `UserError`, and the agents are as they were.
    """

    def __init__(self, store: AgentStore, trash: Trash) -> None:
        self._store = store
        self._trash = trash
        self._lock = threading.Lock()

    def load(self) -> LoadedAgents:
        """The agents in their order, and sentences about entries that are none."""
        with self._lock:
            return self._store.load()

    def find(self, agent_id: str) -> CallableAgent:
        """One agent."""
        agents = self.load().agents
        return agents[_index(agents, agent_id)]

    def save(self, agent: CallableAgent) -> None:
        """Put an agent in the place of the one with its id, or add it at the end."""

        def change(agents: list[CallableAgent]) -> None:
            ids = [each.id for each in agents]
            if agent.id in ids:
                agents[ids.index(agent.id)] = agent
            else:
                agents.append(agent)

        self._change(change)

    def rename(self, agent_id: str, name: str) -> None:
        """Give an agent another name; a blank one changes nothing."""
        if name.strip():
            agent = self.find(agent_id)
            self.save(agent.model_copy(update={"name": name.strip()}))

    def duplicate(self, agent_id: str) -> CallableAgent:
        """Add a copy right after the agent; give it."""
        copies: list[CallableAgent] = []

        def change(agents: list[CallableAgent]) -> None:
            index = _index(agents, agent_id)
            name = f"{agents[index].name} copy"
            copies.append(agents[index].model_copy(update={"id": str(uuid4()), "name": name}))
            agents.insert(index + 1, copies[0])

        self._change(change)
        return copies[0]

    def delete(self, agent_id: str) -> Removed:
        """Take an agent away; `restore` brings it back."""
        with self._lock:
            agents = list(self._store.load().agents)
            index = _index(agents, agent_id)
            agent = agents.pop(index)
            removed = self._trash.take_agent(agent.document(), index, agent.name)
            try:
                self._store.save(agents)
            except UserError:
                self._trash.forget(removed)
                raise
        return removed

    def restore(self, removed: Removed, record: Record) -> str:
        """Put a deleted agent back where it was in the list; give its id."""
        from engine.graph.agents import CallableAgent

        agent = CallableAgent.from_document(dict(record.agent or {}))

        def change(agents: list[CallableAgent]) -> None:
            if all(each.id != agent.id for each in agents):
                agents.insert(record.position, agent)

        self._change(change)
        self._trash.forget(removed)
        return agent.id

    def export_file(self, agent_id: str, path: Path) -> None:
        """Write one agent into a file of its own, for another computer or a colleague."""
        from engine.graph.json_text import formatted

        text = formatted(self.find(agent_id).document())
        try:
            write_atomically(path, text.encode("utf-8"))
        except OSError as error:
            raise UserError(f"{path} was not written ({error.strerror or error})") from error

    def import_file(self, path: Path) -> CallableAgent:
        """Add the agent that a file holds, under an id of its own if that is taken; give it."""
        from pydantic import ValidationError

        from engine.graph.agents import CallableAgent

        try:
            document = json.loads(path.read_bytes())
            agent = CallableAgent.from_document(document)
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror or error})") from error
        except (ValueError, TypeError, RecursionError, ValidationError) as error:
            first = str(error).split("\n", 1)[0]
            raise UserError(f"{path} holds no saved agent ({first})") from None
        if any(each.id == agent.id for each in self.load().agents) or not agent.id.strip():
            agent = agent.model_copy(update={"id": str(uuid4())})
        self.save(agent)
        return agent

    def _change(self, change: Change) -> None:
        with self._lock:
            agents = list(self._store.load().agents)
            change(agents)
            self._store.save(agents)


def _index(agents: list[CallableAgent] | tuple[CallableAgent, ...], agent_id: str) -> int:
    for index, agent in enumerate(agents):
        if agent.id == agent_id:
            return index
    raise UserError("this saved agent is gone; it may have been deleted elsewhere")
