"""Ask before something that cannot be taken back."""

from __future__ import annotations

from app.cli.console import can_ask, say, show
from app.cli.prompts import LineReader
from orchestration.errors import UserError


def confirmed(what: str, *, yes: bool) -> bool:
    """Whether the person wants it: `--yes` says so, else they are asked.

    Raises:
        UserError: there is nobody to ask.
    """
    if yes:
        return True
    if not can_ask():
        raise UserError(f"{what} cannot be taken back and there is no terminal to ask; give --yes")
    say(f"{what} cannot be taken back.")
    show("go on? [y, n] ")
    answer = LineReader().read()
    return answer is not None and answer.lower() in ("y", "yes")
