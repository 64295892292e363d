"""Prepares runs with settings, keys and an environment that a test chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from engine.graph.node_config import AgentNodeConfig
from engine.graph.workflow import Workflow, WorkflowSettings
from orchestration.errors import RunRefused
from orchestration.runs.preparation import PreparedRun, prepare
from orchestration.runs.requests import RunOverrides, RunRequest
from orchestration.settings.model import Settings
from orchestration.settings.provider_choice import Readiness, readiness
from orchestration.settings.readiness import Providers
from orchestration.tools.builtin.read import READ
from orchestration.tools.registry import ToolRegistry
from tests.support.graphs import agent_node, graph


class Available(Struct, frozen=True):
    ready: bool = True
    reason: str = ""


class Embedded(Struct, frozen=True):
    state: Available = Available()

    def availability(self) -> Available:
        return self.state


class Keys:
    """A secret store that refuses to be asked for anything it was not given."""

    def __init__(self, **values: str | None) -> None:
        self._values = values

    def get(self, name: str) -> str | None:
        return self._values[name]

    def set(self, name: str, value: str) -> None:
        raise AssertionError(name)

    def delete(self, name: str) -> None:
        raise AssertionError(name)

    def place(self) -> str:
        return "a test"


class Desk:
    """Prepares runs in one data folder."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.settings = Settings()
        self.env: dict[str, str] = {}
        self.keys = Keys()
        self.embedded = Embedded()
        self.registry = ToolRegistry([READ])

    def prepare(self, workflow: Workflow, cwd: Path | None = None, **overrides: Any) -> PreparedRun:
        return prepare(
            RunRequest(workflow, overrides=RunOverrides(**overrides), cwd=cwd),
            settings=self.settings,
            secrets=self.keys,
            env=self.env,
            registry=self.registry,
            data_dir=self.data_dir,
            embedded=self.embedded,
        )

    def refusals(self, workflow: Workflow, cwd: Path | None = None, **overrides: Any) -> list[str]:
        with pytest.raises(RunRefused) as caught:
            self.prepare(workflow, cwd, **overrides)
        assert not (self.data_dir / "workspaces").exists()
        return [problem.message for problem in caught.value.problems]

    def readiness(self, workflow: Workflow | None, **overrides: Any) -> Readiness:
        providers = Providers(self.settings, self.env, self.embedded)
        return readiness(workflow, RunOverrides(**overrides), providers)


def one(settings: WorkflowSettings | None = None, **config: Any) -> Workflow:
    return graph([agent_node("a", **{"model": "", **config})], settings=settings)


def agent(run: PreparedRun, node_id: str = "a") -> AgentNodeConfig:
    found = run.workflow.node(node_id).agent
    assert found is not None
    return found


def answered_by(run: PreparedRun, node_id: str = "a") -> tuple[str | None, str]:
    return agent(run, node_id).provider_id, agent(run, node_id).model
