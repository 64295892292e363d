"""Read and write the saved agents, which nodes of any workflow may call."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from pydantic import ValidationError

from engine.graph.agents import CallableAgent
from engine.graph.json_text import MAX_DEPTH, formatted, nesting_exceeds
from engine.vocabulary.tools import JsonObject
from orchestration.errors import UserError
from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically

_LIST = "agents"


class LoadedAgents(Struct, frozen=True):
    """The saved agents, and sentences about what could not be read."""

    agents: tuple[CallableAgent, ...] = ()
    notices: tuple[str, ...] = ()


class AgentStore:
    """The file of saved agents of one data folder: a list, or an object with a list in `agents`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> LoadedAgents:
        """Read the agents; without a file there are none.

        An entry that is no agent hides no other. A file that is no list of entries is set aside
        under a name with the time in it.

        Raises:
            UserError: the file is there and the system does not let it be read.
        """
        try:
            entries = _entries(self._document())
        except ValueError as error:
            return LoadedAgents(notices=(self._put_aside(str(error)),))
        agents, notices = [], []
        for number, entry in enumerate(entries, start=1):
            agent, why = _agent(entry)
            if agent is not None:
                agents.append(agent)
            else:
                notices.append(f"entry {number} of {self.path} is no saved agent: {why}")
        return LoadedAgents(tuple(agents), tuple(notices))

    def save(self, agents: Iterable[CallableAgent]) -> None:
        """Write the agents; the version before is kept as `.bak`.

        Entries that could not be read and keys that nobody knows stay in the file.

        Raises:
            UserError: they could not be written; the file is as it was.
        """
        try:
            before = self._document()
            kept = [entry for entry in _entries(before) if _agent(entry)[0] is None]
        except ValueError:
            before, kept = None, []
        entries = [*(agent.document() for agent in agents), *kept]
        document = entries if isinstance(before, list) else {**(before or {}), _LIST: entries}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, formatted(document).encode("utf-8"), keep_backup=True)
        except (OSError, ValueError, TypeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"the agents could not be saved to {self.path} ({reason})") from error

    def _document(self) -> Any:
        """What the file holds; an empty list without one. Raises `ValueError` if it is damaged."""
        try:
            data = self.path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {_LIST: []}
        except OSError as error:
            raise UserError(
                f"the saved agents in {self.path} cannot be read ({error.strerror or error}); "
                "put the permissions of the file right"
            ) from error
        try:
            return msgspec.json.decode(data.removeprefix(BOM_UTF8))
        except RecursionError:
            raise ValueError("it nests objects and lists too deep") from None

    def _put_aside(self, what: str) -> str:
        try:
            kept = f"it is kept as {set_aside(self.path).name}"
        except OSError as error:
            kept = f"it could not be set aside ({error.strerror or error})"
        before = backup_path(self.path)
        hint = f", and the version before is {before.name}" if before.exists() else ""
        return (
            f"the file of saved agents {self.path} is damaged ({what}): {kept}{hint}; "
            "there are no saved agents now"
        )


def _entries(document: Any) -> list[Any]:
    found = document.get(_LIST) if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise ValueError(f"it holds no list of agents in '{_LIST}'")
    return found


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
