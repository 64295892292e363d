"""What the door says of the choices that an editor offers: providers, models, saved agents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from orchestration.backend import Backend
from orchestration.composition import open_backend
from orchestration.settings.data_folder import agents_file


def opened(data_dir: Path, settings: Mapping[str, object], **env: str) -> Backend:
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return open_backend(data_dir, env=env)


def test_each_provider_tells_its_efforts_and_whether_it_can_be_faster(data_dir: Path) -> None:
    profile = {"providers": {"openai": {"reasoning_effort": "low"}}}
    backend = opened(data_dir, profile)
    states = {state.id: state for state in backend.providers()}
    assert "adaptive" in states["anthropic"].efforts
    assert states["embedded"].efforts == ()
    assert (states["openai"].default_effort, states["groq"].default_effort) == ("low", "")
    assert (states["openai"].has_fast_mode, states["groq"].has_fast_mode) == (True, False)
    asyncio.run(backend.aclose())


def test_the_provider_of_nodes_that_name_none_is_told_for_each_model(data_dir: Path) -> None:
    backend = opened(data_dir, {}, GROQ_API_KEY="key")
    assert backend.default_provider() == "groq"
    assert backend.default_provider("no-such-model") is None
    asyncio.run(backend.aclose())
    active = opened(data_dir, {"active_provider": "openai"})
    assert active.default_provider("no-such-model") == "openai"
    asyncio.run(active.aclose())


def test_saved_agents_are_read_anew_each_time(data_dir: Path) -> None:
    backend = opened(data_dir, {})
    assert backend.saved_agents() == ()
    entry = {"id": "tester", "name": "Tester", "output_schema": {"type": "object"}}
    agents_file(data_dir).write_text(json.dumps({"agents": [entry]}), encoding="utf-8")
    assert [agent.name for agent in backend.saved_agents()] == ["Tester"]
    asyncio.run(backend.aclose())
