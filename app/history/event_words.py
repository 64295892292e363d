"""One event of a run in a few words, for whoever moves through a replay."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestration.runs.event_hub import EventRecord

_WORDS = {
    "chat_message": "message",
    "chat_message_delta": "message",
    "finished": "the run completed",
    "aborted": "the run was stopped",
    "error": "the run failed",
}


def event_words(record: EventRecord, labels: Mapping[str, str]) -> str:
    """When it was, whose it is and what happened: `14:05:33  Create plan: node completed`."""
    event = record.event
    tag = str(type(event).__struct_config__.tag)
    what = _WORDS.get(tag, tag.replace("_", " "))
    tool = getattr(event, "tool_name", "") or getattr(getattr(event, "tool_call", None), "name", "")
    if tool:
        what = f"{what} ({tool})"
    node_id = getattr(event, "node_id", "") or getattr(
        getattr(event, "request", None), "node_id", ""
    )
    who = labels.get(node_id, node_id)
    when = clock.strftime("%H:%M:%S", clock.localtime(record.time))
    return f"{when}  {who}: {what}" if who else f"{when}  {what[:1].upper()}{what[1:]}"
