from __future__ import annotations

from collections.abc import Iterable

from engine.vocabulary import events as ev
from engine.vocabulary.messages import Usage
from engine.vocabulary.report import PendingApproval
from engine.vocabulary.tools import ToolCall, ToolTier
from orchestration.runs.event_hub import EventRecord
from orchestration.runs.run_view import RunView
from orchestration.runs.spans import MarkKind, Span, SpanKind, SpanStatus

LABELS = {"a": "Alpha", "b": "Beta"}
Told = tuple[float, ev.RunEvent]


def view_of(told: Iterable[Told]) -> RunView:
    view = RunView("run", "flow", LABELS)
    for number, (time, event) in enumerate(told, start=1):
        view.apply(EventRecord(number, time, event))
    return view


def begun(node: str = "a", at: float = 0.0) -> list[Told]:
    label = LABELS[node]
    return [(at, ev.NodeQueued(node, label)), (at + 1, ev.NodeStarted(node, label))]


def turn(at: float, ms: int = 1000, node: str = "a") -> list[Told]:
    return [(at, ev.PhaseTimed("ai_invoke", "Alpha", ms, node))]


def shape(spans: Iterable[Span]) -> list[object]:
    return [(span.kind.value, span.label, shape(span.children)) for span in spans]


def test_turns_and_calls_are_inside_their_node() -> None:
    call = ToolCall("c1", "read", {"path": "x"})
    usage = Usage(prompt_tokens=10, completion_tokens=5, cached_input_tokens=4, cost=0.5)
    view = view_of(
        [
            *begun(),
            *turn(3.0),
            (3.1, ev.UsageReported("a", usage, "m1")),
            (3.2, ev.ToolCallProposed("a", "Alpha", call)),
            (3.5, ev.ToolStarted("a", "c1", "read", call.arguments)),
            (3.7, ev.ToolRetrying("a", "c1", "read", 2, 100)),
            (4.0, ev.ToolCompleted("a", "c1", "read", "text")),
            *turn(6.0, 1500),
            (6.5, ev.NodeCompleted("a", "Alpha", {})),
        ]
    )

    assert shape(view.spans) == [
        ("node", "Alpha", [("turn", "Turn 1", [("tool", "read", [])]), ("turn", "Turn 2", [])])
    ]
    node = view.spans[0]
    first, second = node.children
    assert (node.start, node.end, node.status) == (0.0, 6.5, SpanStatus.COMPLETED)
    assert node.waited(9.0) == 1.0
    assert (first.start, first.end, second.start) == (2.0, 3.0, 4.5)
    assert (first.model, first.tokens_in, first.tokens_out) == ("m1", 10, 5)
    assert (first.tokens_cached, first.cost, second.cost) == (4, 0.5, None)
    tool = first.children[0]
    assert (tool.start, tool.end, tool.call_id) == (3.2, 4.0, "c1")
    assert [mark.kind for mark in tool.marks] == [MarkKind.RETRY]


def test_waiting_for_a_person_is_told_apart_from_work() -> None:
    call = ToolCall("c1", "write", {"path": "x"})
    request = PendingApproval("p1", "a", "Alpha", call, ToolTier.WRITE, "d")
    view = view_of(
        [
            *begun(),
            *turn(2.0),
            (2.0, ev.ToolCallProposed("a", "Alpha", call)),
            (3.0, ev.ToolApprovalRequested(request)),
        ]
    )
    tool = view.spans[0].children[0].children[0]
    assert (tool.status, tool.waited(10.0)) == (SpanStatus.WAITING, 7.0)

    view.project(ev.ToolDenied("p1", "a", "c1", "write", "no"), 8.0)
    view.project(ev.NodeAwaitingInput("a", "Alpha", "", question="Why?"), 9.0)
    node = view.spans[0]
    assert (tool.status, tool.end, tool.waited(10.0)) == (SpanStatus.STOPPED, 8.0, 5.0)
    assert node.status is SpanStatus.WAITING

    view.project(ev.ChatMessage("a", "user", "Because"), 12.0)
    assert [(w.start, w.end) for w in view.spans[0].waits] == [(0.0, 1.0), (9.0, 12.0)]


def test_a_repair_is_inside_its_turn_and_marked_on_the_node() -> None:
    view = view_of(
        [
            *begun(),
            (3.0, ev.OutputRepairStarted("a", "overseer")),
            (4.0, ev.OutputRepairSucceeded("a", "overseer")),
            *turn(4.5, 3000),
        ]
    )
    node = view.spans[0]
    repair = node.children[0].children[0]

    assert (repair.kind, repair.model) == (SpanKind.REPAIR, "overseer")
    assert (repair.start, repair.end, repair.status) == (3.0, 4.0, SpanStatus.COMPLETED)
    assert [mark.kind for mark in node.marks] == [MarkKind.REPAIR]


def test_a_failed_node_that_is_tried_again_goes_on_in_its_row() -> None:
    view = view_of(
        [
            *begun(),
            *turn(2.0),
            (2.0, ev.AiInvokeFailed("a", "Alpha", "too many requests")),
            (2.5, ev.NodeErrored("a", "Alpha", "too many requests")),
            *begun(at=10.0),
            *turn(13.0),
        ]
    )
    node = view.spans[0]

    assert len(view.spans) == 1
    assert node.children[0].status is SpanStatus.FAILED
    assert [mark.kind for mark in node.marks] == [MarkKind.FAILURE, MarkKind.RETRY]
    assert (node.end, node.status) == (None, SpanStatus.RUNNING)
    assert node.waited(13.0) == 1.0 + 7.5 + 1.0


def test_subagents_are_inside_the_call_that_asked_for_them() -> None:
    name = "openflow_call_subagent"
    call = ToolCall("c1", name, {"subagent_id": "s"})
    summary = ev.SubagentSummary("s", "Checker", "Checks", "declared")
    view = view_of(
        [
            *begun(),
            *turn(2.0),
            (2.1, ev.SubagentsDeclared("a", (summary,))),
            (2.2, ev.ToolCallProposed("a", "Alpha", call)),
            (2.3, ev.ToolStarted("a", "c1", name, call.arguments)),
            (2.4, ev.SubagentStarted("a", "s")),
            (2.4, ev.NodeQueued("a/s", "Checker")),
            (2.5, ev.NodeStarted("a/s", "Checker")),
            (4.0, ev.PhaseTimed("ai_invoke", "Checker", 1000, "a/s")),
            (5.0, ev.SubagentCompleted("a", "s")),
            (5.0, ev.ToolCompleted("a", "c1", name, "fine")),
        ]
    )

    assert shape(view.spans) == [
        (
            "node",
            "Alpha",
            [
                (
                    "turn",
                    "Turn 1",
                    [("tool", name, [("subagent", "Checker", [("turn", "Turn 1", [])])])],
                ),
                ("turn", "Turn 2", []),
            ],
        )
    ]
    subagent = view.spans[0].children[0].children[0].children[0]
    assert (subagent.owner, subagent.end) == ("a", 5.0)


def test_the_end_of_a_run_closes_what_was_open() -> None:
    view = view_of([*begun(), *begun("b"), (3.0, ev.Aborted())])

    assert [(span.end, span.status) for span in view.spans] == [(3.0, SpanStatus.STOPPED)] * 2


def test_a_run_that_was_cut_off_goes_on_later() -> None:
    view = view_of([*begun(), *turn(2.0)])

    view.reopen(50.0)
    assert (view.spans[0].end, view.spans[0].note) == (2.0, "the program ended")
    view.project(ev.NodeStarted("a", "Alpha"), 51.0)
    assert (view.spans[0].end, view.spans[0].waited(51.0)) == (None, 1.0 + 49.0)


def test_a_turn_is_there_from_its_start() -> None:
    call = ToolCall("c1", "read", {"path": "x"})
    view = view_of(begun())
    (first,) = view.spans[0].children
    assert (first.label, first.start, first.end) == ("Turn 1", 1.0, None)

    view.project(ev.PhaseTimed("ai_invoke", "Alpha", 1500, "a"), 3.0)
    (first,) = view.spans[0].children
    assert (first.start, first.end) == (1.5, 3.0)
    view.project(ev.ToolCallProposed("a", "Alpha", call), 3.1)
    assert shape(view.spans[0].children) == [("turn", "Turn 1", [("tool", "read", [])])]
    view.project(ev.ToolCompleted("a", "c1", "read", "text"), 4.0)
    second = view.spans[0].children[1]
    assert (second.label, second.start, second.status) == ("Turn 2", 4.0, SpanStatus.RUNNING)

    view.project(ev.NodeInterrupted("a", "Alpha"), 5.0)
    assert view.spans[0].status is SpanStatus.STOPPED
    assert (second.end, second.status) == (5.0, SpanStatus.STOPPED)


def test_a_turn_that_never_began_leaves_nothing() -> None:
    call = ToolCall("c1", "submit", {})
    asked = [
        *begun(),
        *turn(2.0),
        (2.0, ev.ToolCallProposed("a", "Alpha", call)),
        (2.1, ev.ToolCompleted("a", "c1", "submit", "")),
    ]
    over = view_of([*asked, (2.2, ev.NodeCompleted("a", "Alpha", {}))])
    waits = view_of([*asked, (2.2, ev.NodeAwaitingInput("a", "Alpha", "", question="Why?"))])

    for view in (over, waits):
        assert [child.label for child in view.spans[0].children] == ["Turn 1"]
