"""Read and write the saved agents, which nodes of any workflow may call."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from engine.graph.agents import CallableAgent
from engine.graph.json_text import MAX_DEPTH, formatted, nesting_exceeds
from engine.vocabulary.tools import JsonObject
from orchestration.settings.list_file import ListFile, ListWords

_WORDS = ListWords("agents", "saved agent", "saved agents")


class LoadedAgents(Struct, frozen=True):
    """The saved agents, and sentences about what could not be read."""

    agents: tuple[CallableAgent, ...] = ()
    notices: tuple[str, ...] = ()


class AgentStore:
    """The file of saved agents of one data folder: a list, or an object with a list in `agents`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = ListFile(path, _WORDS, _agent)

    def load(self) -> LoadedAgents:
        """Read the agents; see `ListFile.load`."""
        loaded = self._file.load()
        return LoadedAgents(loaded.entries, loaded.notices)

    def save(self, agents: Iterable[CallableAgent]) -> None:
        """Write the agents; see `ListFile.save`."""
        documents = [agent.document() for agent in agents]
        self._file.save(lambda known: documents, lambda whole: formatted(whole).encode("utf-8"))


def _agent(entry: Any) -> tuple[CallableAgent | None, str]:
    """The agent that an entry holds, or why it holds none."""
    if not isinstance(entry, dict):
        return None, "it is not an object"
    document: JsonObject = entry
    if nesting_exceeds(document, MAX_DEPTH):
        return None, f"it nests objects and lists more than {MAX_DEPTH} deep"
    try:
        return CallableAgent.from_document(document), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        return None, f"{place}: {first['msg']}"
