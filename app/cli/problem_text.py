"""Problems as text: what is alike is said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.graph.problems import Problem

MAX_NAMES = 20


def refusal(problems: Iterable[Problem]) -> str:
    """All problems as one sentence; nodes that share a problem are named together."""
    alike: dict[str, list[Problem]] = {}
    for problem in problems:
        alike.setdefault(_without_node(problem), []).append(problem)
    return "; ".join(_sentence(group) for group in alike.values())


def _without_node(problem: Problem) -> str:
    return problem.message.replace(f"node '{problem.node_id}'", "node")


def _sentence(group: list[Problem]) -> str:
    return group[0].message + likewise([problem.node_id or "" for problem in group[1:]])


def likewise(node_ids: Sequence[str]) -> str:
    """A bracket that names further nodes, the first of them where there are many."""
    if not node_ids:
        return ""
    noun = "node" if len(node_ids) == 1 else "nodes"
    names = ", ".join(f"'{node_id}'" for node_id in node_ids[:MAX_NAMES])
    more = f" and {len(node_ids) - MAX_NAMES} more" if len(node_ids) > MAX_NAMES else ""
    return f" (likewise {noun} {names}{more})"
