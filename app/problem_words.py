"""Problems and refusals in the words of the window."""

from __future__ import annotations

import re

from msgspec.structs import replace

from app.kit.formats import plural
from engine.graph.problems import Problem
from orchestration.settings.readiness import TRY_EMBEDDED


def sentence(error: Exception | str) -> str:
    """What is wrong, as a sentence that begins with a capital."""
    text = str(error)
    return text[:1].upper() + text[1:]


def in_window_words(problem: Problem, label: str = "") -> Problem:
    """Without the advice that only the command line can follow; the window has a button for it.

    The node is called by its `label`, where there is one, since nobody sees ids in the window.
    """
    message = problem.message.replace(f", or {TRY_EMBEDDED}", "").replace(f": {TRY_EMBEDDED}", "")
    message = _SET_A_KEY.sub(r"enter a key in the settings (Ctrl+,) or \g<0>", message)
    if label and problem.node_id:
        message = message.replace(f"node '{problem.node_id}'", f"node “{label}”")
    return replace(problem, message=sentence(message))


_SET_A_KEY = re.compile(r"\bset [A-Z][A-Z0-9_]*_API_KEY\b")


def in_short(problems: tuple[Problem, ...]) -> str:
    """How much is wrong."""
    return f"Can't run yet: {plural(len(problems), 'problem')}"
