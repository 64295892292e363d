"""The `bash` tool with the sandbox switched on: shut in, or not run at all."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.bash import bash
from orchestration.tools.tool import FailureKind, ToolContext, ToolFailure
from orchestration.workspace.paths import Workspace
from tests.support.tool_bench import context_in, services


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return (tmp_path / "project").resolve()


@pytest.fixture
def sandboxed(project: Path) -> ToolContext:
    settings = ToolSettings(shell_sandbox=True)
    return context_in(project, services=services(project, settings=settings))


def test_the_sandbox_is_used_where_it_is_set(
    project: Path, tmp_path: Path, sandboxed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs, added = tmp_path / "bin", tmp_path / "added"
    programs.mkdir()
    added.mkdir()
    program = programs / "bwrap"
    program.write_text(
        '#!/bin/bash\nprintf "%s\\n" "$@" > "$(dirname "$0")/told"\n'
        'while [ "$1" != -- ]; do shift; done; shift; exec "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    workspace = Workspace(project, [added])
    services = msgspec.structs.replace(sandboxed.services, workspace=workspace)
    context = msgspec.structs.replace(sandboxed, services=services)
    output = asyncio.run(bash({"command": "echo shut in; exit 2"}, context))
    assert output.content.startswith("shut in\n\n[wall time ")
    assert "\n[exit code 2]\n[in a sandbox: no network" in output.content
    told = (programs / "told").read_text().splitlines()
    assert "--unshare-net" in told
    writable = [told[i + 1] for i, word in enumerate(told) if word == "--bind"]
    assert writable == [str(project), str(added)]


def test_where_there_is_no_sandbox_nothing_runs(
    project: Path, sandboxed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(project))
    with pytest.raises(ToolFailure) as caught:
        asyncio.run(bash({"command": "touch ran"}, sandboxed))
    assert caught.value.kind is FailureKind.PERMISSION_DENIED
    assert "bubblewrap" in str(caught.value)
    assert "settings" in caught.value.hint
    assert not (project / "ran").exists()
