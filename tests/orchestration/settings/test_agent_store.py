from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.graph.agents import CallableAgent
from orchestration.errors import UserError
from orchestration.settings.agent_store import AgentStore


@pytest.fixture
def store(tmp_path: Path) -> AgentStore:
    return AgentStore(tmp_path / "data" / "agents.json")


def saved(agent_id: str, **changes: object) -> CallableAgent:
    fields: dict[str, object] = {"id": agent_id, "name": agent_id.upper(), "output_schema": {}}
    return CallableAgent.model_validate(fields | changes)


def write(store: AgentStore, text: str | bytes) -> None:
    store.path.parent.mkdir(exist_ok=True)
    store.path.write_bytes(text if isinstance(text, bytes) else text.encode())


def ids(store: AgentStore) -> list[str]:
    return [agent.id for agent in store.load().agents]


def test_without_a_file_there_are_no_agents_and_no_file(store: AgentStore) -> None:
    assert store.load().agents == ()
    assert not store.path.parent.exists()


def test_what_is_saved_is_loaded_again(store: AgentStore) -> None:
    agents = (saved("a", task_prompt="Look\nthen say"), saved("b", model="m"))
    store.save(agents)

    assert store.load().agents == agents
    assert store.load().agents[0].purpose == "Look"


@pytest.mark.parametrize("as_list", [True, False])
def test_both_layouts_and_both_spellings_are_read_and_kept(
    store: AgentStore, as_list: bool
) -> None:
    entry = {"id": "a", "name": "A", "taskPrompt": "t", "outputSchema": {}, "new": 1}
    write(store, json.dumps([entry] if as_list else {"version": 2, "agents": [entry]}))
    agents = store.load().agents
    store.save([*agents, saved("b")])

    written = json.loads(store.path.read_text())
    listed = written if as_list else written["agents"]
    assert listed[0] == entry
    assert [each["id"] for each in listed] == ["a", "b"]
    assert as_list or written["version"] == 2


def test_an_entry_that_is_no_agent_hides_no_other_and_is_not_lost(store: AgentStore) -> None:
    write(store, '{"agents": [{"id": "a"}, 5, {"id": "b", "name": "B", "output_schema": {}}]}')
    loaded = store.load()
    store.save(loaded.agents)

    assert [agent.id for agent in loaded.agents] == ["b"]
    assert "entry 1" in loaded.notices[0]
    assert "entry 2" in loaded.notices[1]
    assert json.loads(store.path.read_text())["agents"][1:] == [{"id": "a"}, 5]


@pytest.mark.parametrize(
    "damage", [b"", b"\0\0", b'{"agents": [', b'{"agents": 5}', b"5", b"\xff", b"[" * 100_000]
)
def test_a_damaged_file_is_set_aside_and_told(store: AgentStore, damage: bytes) -> None:
    write(store, damage)
    loaded = store.load()

    assert loaded.agents == ()
    assert "is damaged" in loaded.notices[0]
    (kept,) = store.path.parent.glob("agents.damaged-*.json")
    assert kept.read_bytes() == damage
    assert store.load().notices == ()


def test_the_version_before_a_save_is_kept(store: AgentStore) -> None:
    store.save([saved("a")])
    store.save([saved("b")])

    assert ids(store) == ["b"]
    backup = json.loads(store.path.with_name("agents.json.bak").read_text())
    assert [entry["id"] for entry in backup["agents"]] == ["a"]


def test_a_file_that_cannot_be_read_or_written_is_an_error_and_stays(store: AgentStore) -> None:
    store.path.mkdir(parents=True)

    with pytest.raises(UserError, match="cannot be read"):
        store.load()
    store.path.rmdir()
    store.path.parent.rmdir()
    store.path.parent.write_text("a file where the folder should be")
    with pytest.raises(UserError, match="could not be saved"):
        store.save([saved("a")])
