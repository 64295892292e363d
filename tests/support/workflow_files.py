"""Workflow files for tests of the window."""

from __future__ import annotations

import json
from pathlib import Path


def write_workflow(path: Path, *, model: str = "", name: str = "Planning") -> Path:
    """Write a small workflow file."""
    agent = {
        "system_prompt": "You plan.",
        "task_prompt": "Do your part.",
        "model": model,
        "output_schema": {"type": "object"},
    }
    places = {"idea": (0, 96), "plan": (360, 0), "risk": (360, 192), "brief": (720, 96)}
    labels = {
        "idea": "Clarify idea",
        "plan": "Create plan",
        "risk": "Find risks",
        "brief": "Final brief",
    }
    wires = (("idea", "plan"), ("idea", "risk"), ("plan", "brief"), ("risk", "brief"))
    document = {
        "id": path.stem,
        "name": name,
        "nodes": [
            {
                "id": key,
                "label": labels[key],
                "kind": "agent",
                "position": {"x": x, "y": y},
                "agent": agent | {"requestUserInput": key == "idea"},
            }
            for key, (x, y) in places.items()
        ],
        "edges": [{"id": f"{a}-{b}", "from": a, "to": b} for a, b in wires],
    }
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path
