"""The same work done by a hand-written loop, by OpenFlow and by LangGraph.

Every node's or turn's body is a no-op, so that what is measured is what the engine adds.
OpenFlow runs whole: context, completion protocol, schema validation, events, projection, journal.
Nodes hand over their outputs alone, since nobody else writes a document for each node.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.graphs import Parents, layers
from engine.graph.workflow import Workflow
from engine.vocabulary.messages import ModelTurn, Usage, WireCall
from engine.vocabulary.ports import ModelPort, StreamSink
from engine.vocabulary.report import RunCompleted, RunOutcome
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import (
    SUBMIT_TOOL,
    JsonObject,
    ToolConcurrency,
    ToolDefinition,
    ToolTier,
)
from orchestration.runs.coordinator import RunCoordinator
from orchestration.runs.limits import Budget
from orchestration.runs.run_setup import RunSetup, RunTelling
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.runner import ToolRunner
from orchestration.tools.tool import Tool, ToolContext, ToolOutput, services_in
from orchestration.workspace.paths import Workspace

Run = Callable[[], Awaitable[object]]
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
SUBMIT = ModelTurn(
    calls=(WireCall(SUBMIT_TOOL, {"output": {"summary": "ok"}, "assistant_message": None}),),
    usage=Usage(10, 5, 15),
    finish_reason="tool_calls",
)
NOTE_TURN = ModelTurn(calls=(WireCall("note", {"text": "one line"}),), usage=Usage(10, 5, 15))
NOTE_TOOL = ToolDefinition(
    "note",
    "Take a note.",
    {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    ToolTier.READ,
    ToolConcurrency.SHARED,
)


def gather_loop(graph: Parents) -> Run:
    """The reference: layers of `asyncio.gather`, written by hand."""
    order = layers(graph)

    async def body(name: str, given: list[dict[str, str]]) -> dict[str, str]:
        return {"summary": "ok"}

    async def run() -> object:
        outputs: dict[str, dict[str, str]] = {}
        for layer in order:
            results = await asyncio.gather(
                *(body(name, [outputs[p] for p in graph[name]]) for name in layer)
            )
            outputs.update(zip(layer, results, strict=True))
        return outputs

    return run


def workflow_of(graph: Parents, *, documents: bool = False) -> Workflow:
    """The graph as a workflow of agents with equal prompts.

    With `documents` each node writes a handoff document with a digest besides its output, as the
    nodes of most workflows do; none of the other contenders has anything like it.
    """
    agent = {
        "system_prompt": "You are careful.",
        "task_prompt": "Do your part.",
        "model": "no-op",
        "output_schema": SCHEMA,
        "handoff": {"format": "json" if documents else "legacy"},
    }
    return Workflow.model_validate(
        {
            "id": "benchmark",
            "name": "Benchmark",
            "nodes": [
                {
                    "id": name,
                    "label": name,
                    "kind": "agent",
                    "position": {"x": 0.0, "y": 0.0},
                    "agent": agent,
                }
                for name in graph
            ],
            "edges": [
                {"id": f"{parent}-{name}", "from": parent, "to": name}
                for name, parents in graph.items()
                for parent in parents
            ],
        }
    )


class NoOpModel:
    """Calls the tool `turns` times, then submits."""

    def __init__(self, turns: int = 0) -> None:
        self.turns = turns

    async def invoke(self, request: AgentRequest, sink: StreamSink | None = None) -> ModelTurn:
        """Reply at once."""
        if self.turns > 0:
            self.turns -= 1
            return NOTE_TURN
        return SUBMIT


def openflow(graph: Parents, folder: Path, *, turns: int = 0, documents: bool = False) -> Run:
    """OpenFlow's engine with everything around it that a real run has."""
    workflow = workflow_of(graph, documents=documents)

    async def run() -> object:
        outcome = await run_whole(workflow, NoOpModel(turns), folder)
        if not isinstance(outcome, RunCompleted):
            raise TypeError(f"the run did not complete: {outcome}")
        return outcome

    return run


async def take_note(arguments: JsonObject, context: ToolContext) -> ToolOutput:
    """The no-op tool."""
    return ToolOutput("noted")


async def run_whole(workflow: Workflow, model: ModelPort, folder: Path) -> RunOutcome:
    """Run a workflow through the coordinator, with every part of a real run in place."""
    _, outcome = await run_and_keep(workflow, model, folder)
    return outcome


async def run_and_keep(
    workflow: Workflow, model: ModelPort, folder: Path
) -> tuple[RunCoordinator, RunOutcome]:
    """As `run_whole`, with the coordinator and all that it holds."""
    budget = Budget()
    registry = ToolRegistry([Tool(definition=NOTE_TOOL, run=take_note)])

    def make_tools(telling: RunTelling) -> ToolRunner:
        return ToolRunner(
            registry,
            emit=telling.emit,
            journal=telling.journal,
            permits=budget.tools,
            services=services_in(folder, Workspace(folder)),
            retry_policy=workflow.settings.retry_policy,
        )

    coordinator = RunCoordinator(
        RunSetup(
            run_id="benchmark",
            workflow=workflow,
            models=model,
            catalog=registry,
            make_tools=make_tools,
            budget=budget,
        )
    )
    coordinator.start()
    outcome = await coordinator.settled()
    await coordinator.stop()
    return coordinator, outcome


def langgraph(graph: Parents) -> Run:
    """LangGraph without a checkpointer, its state merged by a reducer."""
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        outputs: Annotated[dict[str, Any], operator.or_]

    def node(name: str) -> Callable[[State], Awaitable[State]]:
        async def body(state: State) -> State:
            return {"outputs": {name: {"summary": "ok"}}}

        return body

    builder = StateGraph(State)
    childless = set(graph)
    for name, parents in graph.items():
        builder.add_node(name, node(name))
        if not parents:
            builder.add_edge(START, name)
        elif len(parents) == 1:
            builder.add_edge(parents[0], name)
        else:
            builder.add_edge(list(parents), name)
        childless.difference_update(parents)
    for name in childless:
        builder.add_edge(name, END)
    app = builder.compile()

    async def run() -> object:
        return await app.ainvoke({"outputs": {}}, {"recursion_limit": len(graph) + 10})

    return run


def langgraph_agent(turns: int) -> Run:
    """LangGraph's ready-made agent with a model that calls one tool `turns` times."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    class Fake(BaseChatModel):
        left: int = 0

        @property
        def _llm_type(self) -> str:
            return "fake"

        def bind_tools(self, tools: Any, **keys: Any) -> Any:
            return self

        def _generate(self, *args: Any, **keys: Any) -> ChatResult:
            if self.left > 0:
                self.left -= 1
                call = {"name": "note", "args": {"text": "one line"}, "id": f"c{self.left}"}
                message = AIMessage("", tool_calls=[call])
            else:
                message = AIMessage("done")
            return ChatResult(generations=[ChatGeneration(message=message)])

        async def _agenerate(self, *args: Any, **keys: Any) -> ChatResult:
            return self._generate()

    @tool
    async def note(text: str) -> str:
        """Take a note."""
        return "noted"

    model = Fake()
    app = create_react_agent(model, [note])

    async def run() -> object:
        model.left = turns
        return await app.ainvoke(
            {"messages": [("user", "go")]}, {"recursion_limit": 2 * turns + 10}
        )

    return run
