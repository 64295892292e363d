"""Searching the web with a program that a script plays."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import ToolTier
from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.web_search import HIDDEN, web_search_tool
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.retries import is_transient
from orchestration.tools.tool import FailureKind, Tool, ToolFailure
from tests.support.command_rig import leap_when_there
from tests.support.tool_bench import ToolBench, admitted_call, context_in

KEYS = {"brave": "key-of-brave", "my-serper": "key-of-serper", "empty": " "}
TELLS = r"""
import json, os, sys
keys = {name: value for name, value in os.environ.items() if name.startswith("SEARCH_KEYS_")}
print(json.dumps({"arguments": sys.argv[1:], "names": sorted(keys)}))
print("a warning with", *keys.values(), file=sys.stderr)
"""


def program(folder: Path, script: str, interpreter: str = "/bin/sh") -> Path:
    path = folder / "search-program"
    path.write_text(f"#!{interpreter}\n{script}")
    path.chmod(0o755)
    return path


def made(path: Path | None, keys: dict[str, str] | None = None) -> Tool:
    tool = web_search_tool(
        ToolSettings(search_program=None if path is None else str(path)),
        KEYS if keys is None else keys,
    )
    assert tool is not None
    return tool


def answer(tool: Tool, root: Path, **arguments: Any) -> str:
    async def call() -> str:
        return (await tool.run({"query": "cats", **arguments}, context_in(root))).content

    return asyncio.run(call())


def failure(tool: Tool, root: Path, **arguments: Any) -> ToolFailure:
    with pytest.raises(ToolFailure) as caught:
        answer(tool, root, **arguments)
    return caught.value


@pytest.mark.parametrize("keys", [{}, {"brave": ""}, {"brave": " \n"}])
def test_without_keys_there_is_no_tool(keys: dict[str, str]) -> None:
    assert web_search_tool(ToolSettings(), keys) is None
    assert "web_search" not in catalogue(keys)
    assert "web_search" in catalogue({**keys, "brave": "key"})


def catalogue(keys: dict[str, str]) -> set[str]:
    return {tool.definition.name for tool in builtin_tools(ToolSettings(), keys)}


def test_it_counts_as_reading() -> None:
    definition = made(None).definition
    assert (definition.name, definition.tier) == ("web_search", ToolTier.READ)
    assert all("description" in field for field in definition.input_schema["properties"].values())
    assert "_i" in definition.input_schema["properties"]


def test_the_program_gets_the_question_and_the_keys(tmp_path: Path) -> None:
    tool = made(program(tmp_path, TELLS, "/usr/bin/env python3"))
    told = json.loads(answer(tool, tmp_path, query="  two words ", mode="news", count=3))
    assert told["arguments"] == ["-q", "two words", "--json", "-m", "news", "-c", "3"]
    assert told["names"] == ["SEARCH_KEYS_BRAVE", "SEARCH_KEYS_MY_SERPER"]
    short = json.loads(answer(tool, tmp_path, mode=None, count=None))
    assert short["arguments"] == ["-q", "cats", "--json"]


@pytest.mark.parametrize("code", [0, 1, 3], ids=["result", "failure", "arguments"])
def test_no_key_is_ever_in_what_comes_back(tmp_path: Path, code: int) -> None:
    script = f'echo "it says $SEARCH_KEYS_BRAVE"; echo "$SEARCH_KEYS_BRAVE" >&2; exit {code}'
    tool = made(program(tmp_path, script))
    text = str(failure(tool, tmp_path)) if code else answer(tool, tmp_path)
    assert f"it says {HIDDEN}" in text
    assert "key-of" not in text
    assert "key-of" not in repr(tool.definition)


@pytest.mark.parametrize(
    ("code", "kind", "words", "may_pass"),
    [
        (2, FailureKind.PERMISSION_DENIED, "refused the key", False),
        (3, FailureKind.INVALID_ARGS, "these arguments: odd", False),
        (4, FailureKind.FAILED, "no more searches", True),
        (9, FailureKind.FAILED, "ended with code 9: odd", False),
    ],
)
def test_the_programs_exit_code_is_put_into_words(
    tmp_path: Path, code: int, kind: FailureKind, words: str, may_pass: bool
) -> None:
    found = failure(made(program(tmp_path, f"echo odd; exit {code}")), tmp_path)
    assert found.kind is kind
    assert words in found.detail
    assert is_transient(found) is may_pass


def test_no_results_are_said_in_words(tmp_path: Path) -> None:
    assert answer(made(program(tmp_path, "echo")), tmp_path) == "[no results]"


def test_a_search_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leap_when_there(tmp_path / "begun", monkeypatch)
    tool = made(program(tmp_path, f"touch {tmp_path}/begun; echo x; sleep 300"))
    found = failure(tool, tmp_path)
    assert found.kind is FailureKind.TIMEOUT
    assert is_transient(found)


@pytest.mark.parametrize("query", ["", "  ", "a\0b"])
def test_a_question_has_words(tmp_path: Path, query: str) -> None:
    found = failure(made(program(tmp_path, "echo ran")), tmp_path, query=query)
    assert found.kind is FailureKind.INVALID_ARGS


@pytest.mark.parametrize("arguments", [{"count": 0}, {"count": 101}, {"mode": "--config"}])
def test_arguments_that_make_no_sense_are_refused_by_the_schema(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    bench = ToolBench(tmp_path, made(program(tmp_path, "echo ran")))
    (result,) = bench.results(admitted_call("web_search", query="cats", **arguments))
    assert result.is_error
    assert result.content.startswith("[invalid_args]")


def test_the_program_is_looked_for_in_the_path_and_in_the_usual_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for folder in (tmp_path / ".cargo" / "bin", tmp_path / "bin"):
        folder.mkdir(parents=True)
        program(folder, f"echo {folder.parent.name}").rename(folder / "search")
        assert answer(made(None), tmp_path) == folder.parent.name


def test_a_missing_program_is_named_with_what_can_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = failure(made(tmp_path / "gone"), tmp_path)
    assert named.kind is FailureKind.NOT_FOUND
    assert str(tmp_path / "gone") in named.detail
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        "orchestration.tools.builtin.web_search._PLACES", (str(tmp_path / "nowhere"),)
    )
    absent = failure(made(None), tmp_path)
    assert absent.kind is FailureKind.NOT_FOUND
    assert "not installed" in absent.detail


def test_a_program_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "search-program"
    path.write_text("no program")
    found = failure(made(path), tmp_path)
    assert found.kind is FailureKind.FAILED
    assert "was not started" in found.detail
