"""Two stored runs side by side."""

from __future__ import annotations

import asyncio

from engine.graph.difference import differences
from orchestration.run_keeping import RunKeeper
from orchestration.runs.run_view import RunView
from orchestration.runs.stored import ComparedNode, NodeFigures, RunComparison
from orchestration.storage.facts import RecordedRun
from orchestration.storage.rebuilding import view_of, workflow_of


async def compare(keeper: RunKeeper, a: str, b: str) -> RunComparison:
    """What two runs gave, how long they took and what they cost.

    Raises:
        RunNotStored: there is no such run.
    """
    store = keeper.store
    recorded = [await store.load(run_id) for run_id in (a, b)]
    parts = [await store.events(run_id) for run_id in (a, b)]
    usages = [await store.usage(run_id) for run_id in (a, b)]

    def build() -> RunComparison:
        flows = [workflow_of(one) for one in recorded]
        views = [
            view_of(one, flow, part) for one, flow, part in zip(recorded, flows, parts, strict=True)
        ]
        figures = [_figures(view, usage) for view, usage in zip(views, usages, strict=True)]
        labels = {**views[1].labels, **views[0].labels}
        return RunComparison(
            a=recorded[0].summary,
            b=recorded[1].summary,
            nodes=tuple(
                ComparedNode(node_id, label, figures[0].get(node_id), figures[1].get(node_id))
                for node_id, label in labels.items()
            ),
            seconds_a=_seconds(recorded[0]),
            seconds_b=_seconds(recorded[1]),
            differences=(*_texts(*recorded), *[d.sentence for d in differences(*flows)]),
        )

    return await asyncio.to_thread(build)


def _figures(
    view: RunView, usage: dict[str, tuple[int | None, int | None]]
) -> dict[str, NodeFigures]:
    found = {}
    for node_id, status in view.status_by_node.items():
        timing = view.timings.get(node_id)
        seconds = None
        if timing is not None and timing.started_at and timing.completed_at:
            seconds = timing.completed_at - timing.started_at
        found[node_id] = NodeFigures(
            status.value, view.outputs.get(node_id), seconds, *usage.get(node_id, (None, None))
        )
    return found


def _seconds(recorded: RecordedRun) -> float:
    return recorded.summary.updated - recorded.summary.started


def _texts(a: RecordedRun, b: RecordedRun) -> list[str]:
    same = a.opening.entrypoint.text == b.opening.entrypoint.text
    return [] if same else ["the runs were started with other texts"]
