"""Problems as text: what is alike is said once."""

from __future__ import annotations

from collections.abc import Iterable

from engine.graph.problems import Problem


def refusal(problems: Iterable[Problem]) -> str:
    """All problems as one sentence; nodes that share a problem are named together."""
    alike: dict[str, list[Problem]] = {}
    for problem in problems:
        alike.setdefault(_without_node(problem), []).append(problem)
    return "; ".join(_sentence(group) for group in alike.values())


def _without_node(problem: Problem) -> str:
    return problem.message.replace(f"node '{problem.node_id}'", "node")


def _sentence(group: list[Problem]) -> str:
    others = [f"'{problem.node_id}'" for problem in group[1:]]
    if not others:
        return group[0].message
    noun = "node" if len(others) == 1 else "nodes"
    return f"{group[0].message} (likewise {noun} {', '.join(others)})"
