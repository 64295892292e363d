"""Whatever happens to files, and whoever asks: a cached answer is what a fresh call gives."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.vocabulary.tools import JsonObject, ToolDefinition, ToolResult, ToolTier
from orchestration.tools.builtin.read import READ
from orchestration.tools.tool import Tool, ToolContext, ToolOutput
from tests.support.cached_calls import Talk
from tests.support.tool_bench import ToolBench, admitted_call, made_tool

NAMES = st.sampled_from(["f.txt", "g.txt", "sub/h.txt", "link.txt", "f.txt:1"])
TEXTS = st.sampled_from(["one\n", "two\n", "three\n"])
NODES = st.sampled_from("abc")


class CacheAgainstFiles(RuleBasedStateMachine):
    """Reads, listings, writes, reverts and changes by others, in any order.

    The model is the folder itself: a call of a runner of its own reads it anew. `shown` has what
    each conversation was given in full.
    """

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp()).resolve()
        self.root = self.base / "root"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "link.txt").symlink_to("f.txt")
        self.loop = asyncio.Runner()
        self.bench = self._bench(cached=True)
        self.fresh = self._bench(cached=False)
        self.talk = Talk(self.bench)
        self.shown: dict[tuple[str, str, str], str] = {}
        self.latest: dict[str, tuple[str, str, str]] = {}

    def teardown(self) -> None:
        self.bench.runner.close()
        self.loop.close()
        shutil.rmtree(self.base)

    def _bench(self, *, cached: bool) -> ToolBench:
        async def listing(_: JsonObject, __: ToolContext) -> ToolOutput:
            return ToolOutput("\n".join(self._lines()))

        async def write(arguments: JsonObject, context: ToolContext) -> ToolOutput:
            self.change(arguments["path"], arguments["text"])
            return ToolOutput("written", is_error=arguments["count"] > 0)

        async def nothing(_: JsonObject, __: ToolContext) -> ToolOutput:
            return ToolOutput("")

        definition = ToolDefinition("w", "w", {"type": "object"}, ToolTier.WRITE)
        tools: tuple[Tool, ...] = (
            READ,
            made_tool("list", listing, is_cacheable=lambda _: True),
            Tool(definition=definition, run=write, writes=True),
            made_tool("nothing", nothing),
        )
        if not cached:
            tools = tuple(msgspec.structs.replace(tool, is_cacheable=None) for tool in tools)
        return ToolBench(self.root, *tools, watched=True)

    def _lines(self) -> list[str]:
        return [
            f"{path.relative_to(self.root)} {path.read_text() if path.is_file() else ''}"
            for path in sorted(self.root.rglob("*"))
        ]

    def change(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def check(self, node: str, tool: str, **arguments: str) -> None:
        key = (node, tool, repr(arguments))
        self.latest.pop(node, None)
        result: ToolResult = self.loop.run(self.talk(node, tool, **arguments))
        fresh = self.loop.run(self.fresh.execute(admitted_call(tool, **arguments)))[0][0]
        assert result.is_error == fresh.is_error
        if "Do not repeat" in result.content:
            assert self.shown[key] == fresh.content
            return
        first, _, rest = result.content.partition("\n")
        content = rest if first.startswith("[cached] ") else result.content
        assert content == fresh.content
        if not result.is_error:
            self.shown[key] = content
            self.latest[node] = key

    @rule(node=NODES, name=NAMES)
    def read(self, node: str, name: str) -> None:
        self.check(node, "read", path=name)

    @rule(node=NODES, name=st.sampled_from(["f.txt", "g.txt"]))
    def read_a_part(self, node: str, name: str) -> None:
        self.check(node, "read", path=f"{name}:1")

    @rule(node=NODES)
    def list_everything(self, node: str) -> None:
        self.check(node, "list")

    @rule(node=NODES)
    def read_a_folder(self, node: str) -> None:
        self.check(node, "read", path="sub")

    @rule(node=NODES, name=NAMES, text=TEXTS, fails=st.booleans())
    def write(self, node: str, name: str, text: str, fails: bool) -> None:
        self.loop.run(self.talk(node, "w", path=name, text=text, count=int(fails)))
        self.latest.pop(node, None)

    @rule(name=NAMES, text=TEXTS)
    def someone_writes(self, name: str, text: str) -> None:
        self.change(name, text)

    @rule(name=NAMES, text=TEXTS)
    def someone_writes_and_keeps_the_time(self, name: str, text: str) -> None:
        file = self.root / name
        before = file.stat() if file.exists() else None
        self.change(name, text)
        if before is not None:
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(name=NAMES, text=TEXTS)
    def someone_replaces(self, name: str, text: str) -> None:
        (self.base / "other").write_text(text)
        os.replace(self.base / "other", self.root / name)

    @rule(name=NAMES)
    def someone_deletes(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=NAMES)
    def someone_makes_it_old(self, name: str) -> None:
        file = self.root / name
        if file.exists():
            os.utime(file, (1_000_000_000, 1_000_000_000))

    @rule(name=st.sampled_from(["f.txt", "g.txt"]))
    def someone_turns_the_link(self, name: str) -> None:
        link = self.root / "link.txt"
        link.unlink(missing_ok=True)
        link.symlink_to(name)

    @rule(node=NODES)
    def the_node_is_interrupted(self, node: str) -> None:
        """Its model never sees what its last batch gave."""
        self.bench.runner.discard(node)
        if (key := self.latest.pop(node, None)) is not None:
            del self.shown[key]

    @rule(node=NODES)
    def the_node_goes_on(self, node: str) -> None:
        self.loop.run(self.talk(node, "nothing"))
        self.latest.pop(node, None)

    @rule()
    def the_run_pauses(self) -> None:
        self.bench.runner.close()

    @invariant()
    def no_batch_is_under_way(self) -> None:
        assert self.bench.permits.in_use == 0


TestCacheAgainstFiles = CacheAgainstFiles.TestCase
TestCacheAgainstFiles.settings = settings(stateful_step_count=40, deadline=None)
