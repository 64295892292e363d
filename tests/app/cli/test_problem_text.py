from __future__ import annotations

from app.cli.problem_text import refusal
from engine.graph.problems import Problem


def test_one_problem_is_its_own_sentence() -> None:
    assert refusal([Problem("x", "node 'a' is odd", "a")]) == "node 'a' is odd"


def test_nodes_with_the_same_problem_are_named_together() -> None:
    problems = [Problem("x", f"node '{n}' has no key: set K", n) for n in "abc"]
    problems.insert(1, Problem("y", "the workflow is empty"))
    assert refusal(problems) == (
        "node 'a' has no key: set K (likewise nodes 'b', 'c'); the workflow is empty"
    )


def test_two_problems_of_one_node_stay_apart() -> None:
    problems = [Problem("x", "node 'a' is odd", "a"), Problem("y", "node 'a' is blank", "a")]
    assert refusal(problems) == "node 'a' is odd; node 'a' is blank"
