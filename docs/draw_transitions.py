"""Writes `docs/transitions.md` from the engine's table: `python -m docs.draw_transitions`."""

from __future__ import annotations

from pathlib import Path

from engine.run.state import NodePhase
from engine.run.transitions import TABLE, Transition

PAGE = Path(__file__).with_name("transitions.md")
INTRODUCTION = """# The engine's table

Made from `engine/run/transitions.py` by `python -m docs.draw_transitions`. Each row says what an
input does to a node, or to a subagent at work, in a phase and where it may be afterwards. A
subagent that is interrupted or fails is done, and the node that called it goes on. An input that
is not in the table is a bug in the program that feeds the engine. Inputs that a person may send at
any time are refused, with the state unchanged, in every phase that the table does not list for
them.

Left out are inputs that leave a node in its phase: a message is queued while the node is `calling`,
in `tools` or in `backoff`, to interrupt a node twice changes nothing, and settings can be patched
and edit batches forgotten in every phase.

Two moves are no rows: a node leaves `idle` by itself when its last parent is done, and a run that
is restored calls again for every node whose call was under way or that was interrupted.
"""


def is_refusal(transition: Transition) -> bool:
    """Whether the action only says that it cannot be done."""
    return transition.action.__name__.startswith("refuse_")


def page() -> str:
    """The page as it should be: a table and a diagram in Mermaid's notation."""
    rows = ["| phase | input | action | leads to |", "|---|---|---|---|"]
    moves: dict[tuple[NodePhase, NodePhase], list[str]] = {}
    for (phase, given), transition in TABLE.items():
        if is_refusal(transition) or transition.leads_to == {phase}:
            continue
        leads_to = ", ".join(sorted(target.value for target in transition.leads_to))
        rows.append(
            f"| {phase.value} | {given.__name__} | {transition.action.__name__} | {leads_to} |"
        )
        for target in sorted(transition.leads_to):
            moves.setdefault((phase, target), []).append(given.__name__)
    arrows = [
        f"    {source.value} --> {target.value}: {', '.join(inputs)}"
        for (source, target), inputs in moves.items()
    ]
    diagram = [
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> idle",
        "    idle --> calling: parents done",
        *arrows,
        "    done --> [*]",
        "```",
    ]
    return "\n".join([INTRODUCTION, *rows, "", *diagram, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
