from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.vocabulary.tools import JsonObject
from orchestration.tools.builtin.ast_grep import AST_GREP
from orchestration.tools.builtin.find import FIND
from orchestration.tools.builtin.ls import LS
from orchestration.tools.builtin.read import READ
from orchestration.tools.builtin.search import SEARCH
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.file_edits.file_memory import FileMemory
from orchestration.tools.tool import Tool, ToolContext, ToolFailure
from orchestration.workspace.paths import Workspace
from tests.support.jail import SECRET, build_jail, lies_in, spelled_paths
from tests.support.tool_bench import context_in, services


class Watched(FileMemory):
    """Remembers which files were read."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[Path] = []

    def saw(self, conversation_id: str, path: Path, data: bytes) -> None:
        self.paths.append(path)
        super().saw(conversation_id, path, data)


@pytest.fixture(scope="module")
def jail(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_jail(tmp_path_factory.mktemp("jail"))


def answer(tool: Tool, arguments: JsonObject, context: ToolContext) -> str:
    async def call() -> str:
        try:
            return (await tool.run(arguments, context)).content
        except ToolFailure as failure:
            return str(failure)

    return asyncio.run(call())


@pytest.mark.parametrize("tool", [READ, LS], ids=lambda tool: tool.definition.name)
@given(data=st.data())
def test_reading_stays_inside(jail: Path, tool: Tool, data: st.DataObject) -> None:
    text = data.draw(spelled_paths(jail))
    files = Watched()
    context = context_in(jail, services=services(jail, files=files))
    found = answer(tool, {"path": text}, context)
    assert SECRET not in found
    assert all(lies_in(path, jail) for path in files.paths)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SEARCH, {"pattern": ".", "i": True}),
        (SEARCH, {"pattern": "^", "gitignore": False}),
        (FIND, {}),
    ],
    ids=["search", "search all", "find"],
)
@settings(max_examples=30)
@given(data=st.data())
def test_searching_stays_inside(
    jail: Path, tool: Tool, arguments: JsonObject, data: st.DataObject
) -> None:
    path = spelled_paths(jail)
    texts = data.draw(st.one_of(path, st.lists(path, min_size=1, max_size=3)))
    found = answer(tool, arguments | {"paths": texts}, context_in(jail))
    assert SECRET not in found


class Swapped(Workspace):
    """Its folder `a` becomes a link right after a path was looked up."""

    __slots__ = ()

    def resolve(self, text: str) -> Path:
        real = super().resolve(text)
        folder = self.root / "a"
        if not folder.is_symlink():
            folder.rename(self.root / "b")
            folder.symlink_to(self.root.parent / "outside")
        return real


@pytest.mark.parametrize("path", ["a/file", "a/folder"])
def test_a_folder_that_becomes_a_link_after_the_check_is_not_read_through(
    tmp_path: Path, path: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "a" / "folder", outside / "folder"):
        folder.mkdir(parents=True)
    for file in (outside / "file", outside / "folder" / SECRET):
        file.write_text(SECRET)
    (root / "a" / "file").write_text("inside")
    context = context_in(root, services=services(root, workspace=Swapped(root)))
    found = answer(READ, {"path": path}, context)
    assert found.startswith("[permission_denied]")
    assert "has become a link" in found
    assert SECRET not in found


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SEARCH, {"pattern": "."}),
        (FIND, {}),
        (AST_GREP, {"pat": SECRET, "lang": "python"}),
    ],
    ids=["search", "find", "ast_grep"],
)
@pytest.mark.parametrize("path", ["a", "a/folder", "a/folder/file.py"])
def test_a_folder_that_becomes_a_link_after_the_check_is_not_searched(
    tmp_path: Path, tool: Tool, arguments: JsonObject, path: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "a" / "folder", outside / "folder"):
        folder.mkdir(parents=True)
        (folder / "file.py").write_text("inside")
    (outside / "folder" / "file.py").write_text(SECRET)
    (outside / "folder" / f"{SECRET}.txt").touch()
    context = context_in(root, services=services(root, workspace=Swapped(root)))
    found = answer(tool, arguments | {"paths": path}, context)
    assert found.startswith("[permission_denied]")
    assert "has become a link" in found
    assert SECRET not in found


def test_rules_of_what_to_ignore_are_not_read_through_links_or_pipes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (tmp_path / "rules").write_text("seen\n")
    (root / ".gitignore").symlink_to(tmp_path / "rules")
    os.mkfifo(root / "inner" / ".gitignore")
    for file in (root / "seen", root / "inner" / "seen"):
        file.touch()
    found = answer(LS, {"path": "."}, context_in(root))
    assert found.split("\n")[1:] == ["inner/", "inner/seen", "seen"]


def test_the_check_would_notice(jail: Path) -> None:
    outside = jail.parent / "outside"
    context = context_in(outside)
    assert SECRET in answer(READ, {"path": "hidden.txt"}, context)
    assert SECRET in answer(SEARCH, {"pattern": ".", "paths": "."}, context)
    assert SECRET in answer(FIND, {"paths": "**"}, context)
    assert SECRET in answer(LS, {"path": "."}, context)


def test_the_programs_keys_are_given_to_no_tool_wherever_it_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    data = home / ".local" / "data"
    data.mkdir(parents=True)
    keys = data / "secrets.json"
    keys.write_text(f'{{"openai": "{SECRET}"}}')
    (home / "keys.json").symlink_to(keys)
    workspace = Workspace(home, (), [keys])
    context = context_in(home, services=services(home, workspace=workspace))
    inside = keys.relative_to(home).as_posix()
    for path in (inside, str(keys), "keys.json", f"./.local/../{inside}", f"{inside}:raw"):
        for tool in (READ, LS, SEARCH, AST_GREP, FIND):
            arguments = {"path": path, "paths": [path], "pattern": ".", "pat": "{$$$}"}
            wanted = tool.definition.input_schema["properties"]
            given_to = {key: value for key, value in arguments.items() if key in wanted}
            found = answer(tool, given_to, context)
            assert SECRET not in found
            assert found.startswith("["), (tool.definition.name, path, found)
        changed = {"path": path.removesuffix(":raw"), "content": "mine"}
        assert answer(WRITE, changed, context).startswith("[permission_denied]")
    for paths in (".", "**", "**/*.json", ".local", ".local/data/*.json"):
        for searching in ({"pattern": "openai"}, {"pat": "{$$$}"}, {}):
            tool = SEARCH if "pattern" in searching else AST_GREP if "pat" in searching else FIND
            asked = paths if tool is not AST_GREP else [paths]
            found = answer(tool, {"paths": asked, **searching}, context)
            assert "secrets.json" not in found
            assert SECRET not in found
    assert SECRET in keys.read_text()
