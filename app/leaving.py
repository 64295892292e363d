"""What is asked before something is closed: about all that is unsaved, about all that runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app.common import Common
from app.kit.dialogs import choose, confirm
from app.kit.formats import plural
from app.open_workflow import OpenWorkflow

_MOST_NAMED = 6


async def edits_may_be_left(parent: QWidget, opened: Sequence[OpenWorkflow]) -> bool:
    """Ask about unsaved edits of all these, and do what the answer is; tells whether to go on.

    Raises:
        UserError: a file could not be written; nothing is to be closed.
    """
    for each in opened:
        await each.saving.flush()
    edited = [each for each in opened if each.saving.has_edits]
    if not edited:
        return True
    if len(edited) == 1:
        edited[0].come_to_front()
        return await edited[0].saving.may_be_left()
    answer = await choose(
        parent,
        f"Save {plural(len(edited), 'workflow')}?",
        "There are edits that are not in their files:\n" + _listed(edited),
        ("Save All", "Don't Save"),
    )
    if answer == "Save All":
        for each in edited:
            if each.saving.asks_where:
                each.come_to_front()
            if not await each.saving.save():
                return False
        return True
    if answer == "Don't Save":
        for each in edited:
            await each.saving.forget_edits()
        return True
    return False


async def runs_may_be_left(parent: QWidget, common: Common, opened: Sequence[OpenWorkflow]) -> bool:
    """Ask what is to become of runs under way in these tabs; tells whether to close them."""
    names = common.running(opened)
    if not names:
        return True
    answer = await choose(
        parent,
        "Close while it is running?" if len(names) == 1 else "Close while they are running?",
        f"{plural(len(names), 'run')} under way: {', '.join(names)}. It can go on without a tab; "
        "what waits for you is still listed.",
        ("Keep Running", "Stop and Close"),
    )
    if answer == "Stop and Close":
        for each in opened:
            session = common.runs.of(each.document.path)
            if session is not None and session.is_active:
                await common.backend.stop_run(session.run_id)
    return bool(answer)


async def quitting_is_agreed(parent: QWidget, common: Common) -> bool:
    """Ask before the program ends: about edits of all windows, then about all runs."""
    if not await edits_may_be_left(parent, common.opened):
        return False
    names = common.running()
    if not names:
        return True
    return await confirm(
        parent,
        "Stop and quit?",
        f"{plural(len(names), 'run')} under way: {', '.join(names)}. "
        "Quitting stops what is running.",
        "Stop and Quit",
    )


def _listed(opened: Sequence[OpenWorkflow]) -> str:
    names = [f"• {each.desk.name}" for each in opened[:_MOST_NAMED]]
    if len(opened) > _MOST_NAMED:
        names.append(f"… and {len(opened) - _MOST_NAMED} more")
    return "\n".join(names)
