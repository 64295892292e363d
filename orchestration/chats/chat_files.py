"""Where direct chats are kept: a folder with a file for each, in the form of a workflow."""

from __future__ import annotations

from pathlib import Path

ID_PREFIX = "chat-"
NODE_ID = "agent"
"""The one node of a chat."""
SUFFIX = ".workflow.json"
_FOLDER = "chats"


def chats_folder(data_dir: Path) -> Path:
    """The folder of all chats; it may not exist yet."""
    return data_dir / _FOLDER


def is_chat_file(path: Path | None) -> bool:
    """Whether a file is that of a chat, going by its place and name alone."""
    if path is None or path.parent.name != _FOLDER:
        return False
    return path.name.startswith(ID_PREFIX) and path.name.endswith(SUFFIX)


def is_chat_id(workflow_id: str) -> bool:
    """Whether a run with this workflow id is that of a chat."""
    return workflow_id.startswith(ID_PREFIX)
