"""How long a timeline of thousands of spans takes to paint while it is panned and zoomed.

Run as `python -m benchmarks.trace`. Times are of the processor, per frame, in milliseconds; so are
those of noting events and of folding them into spans, in microseconds per event.
"""

from __future__ import annotations

import os
import time
from statistics import quantiles

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app.theme.theme import Theme
from app.trace.timeline_view import TimelineView
from engine.vocabulary import events as ev
from engine.vocabulary.tools import ToolCall
from orchestration.runs.span_log import SpanLog

SPANS = 5_000
NODES = 50
FRAMES = 300
LIMIT_MS = 16.0


def told() -> list[tuple[float, ev.RunEvent]]:
    """The events of a run with about `SPANS` spans."""
    turns = SPANS // NODES // 2
    found: list[tuple[float, ev.RunEvent]] = []
    for node in range(NODES):
        name, at = f"n{node}", node * 10.0
        found.append((at, ev.NodeQueued(name, name)))
        found.append((at, ev.NodeStarted(name, name)))
        for turn in range(turns):
            at, call_id = at + 2, f"{node}-{turn}"
            found.append((at, ev.PhaseTimed("ai_invoke", name, 1_500, name)))
            found.append((at, ev.ToolCallProposed(name, name, ToolCall(call_id, "read", {}))))
            found.append((at + 0.5, ev.ToolCompleted(name, call_id, "read", "")))
        found.append((at + 1, ev.NodeCompleted(name, name, {})))
    return found


def main() -> None:
    """Measure, and say whether a frame stays within its time."""
    events = told()
    log = SpanLog(lambda actor: actor, lambda _: None)
    begun = time.process_time()
    for at, event in events:
        log.note(event, at)
    noted = time.process_time()
    roots = log.roots
    folded = time.process_time()
    print(f"noting: {(noted - begun) / len(events) * 1e6:.2f} µs per event")
    print(f"folding: {(folded - noted) / len(events) * 1e6:.2f} µs per event")

    application = QApplication([])
    theme = Theme("dark", application)
    view = TimelineView(theme)
    view.resize(1440, 700)
    view.show()
    end = max(at for at, _ in events)
    begun = time.process_time()
    view.follow("run", roots, end, is_live=False)
    print(f"{len(view.rows)} rows in {(time.process_time() - begun) * 1e3:.1f} ms")
    bar = view.verticalScrollBar()
    spent = []
    for frame in range(FRAMES):
        begun = time.process_time()
        if frame % 3 == 0:
            view.zoom(1.2 if frame % 60 < 30 else 1 / 1.2, 800.0)
        elif frame % 3 == 1:
            view.scale.pan(view.scale.length * 0.05)
        else:
            bar.setValue(bar.maximum() * frame // FRAMES)
        view.viewport().update()
        application.processEvents()
        spent.append((time.process_time() - begun) * 1e3)
    cuts = quantiles(spent, n=100)
    print(f"painting: median {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms, worst {max(spent):.1f} ms")
    print("within a frame" if cuts[98] < LIMIT_MS else f"over {LIMIT_MS:g} ms")


if __name__ == "__main__":
    main()
