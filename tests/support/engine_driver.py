"""Builds workflows for engine tests and plays the outside world, without an event loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.graph.agents import CallableAgent
from engine.graph.workflow import Workflow
from engine.run.interactive_engine import InteractiveEngine
from engine.vocabulary.effects import (
    CallModel,
    CancelWork,
    Effect,
    Finish,
    InspectCalls,
    RunTools,
    Step,
    Wait,
)
from engine.vocabulary.errors import CallFailure
from engine.vocabulary.events import RunEvent, ToolApprovalRequested
from engine.vocabulary.inputs import EngineInput, Entrypoint, ModelReplied, Started, TimerFired
from engine.vocabulary.messages import Completed, ResultItem, ToolCallsTurn, TurnOutcome
from engine.vocabulary.report import NeedsInteraction, PendingApproval, RunOutcome
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.spending import SpendingLimits
from engine.vocabulary.tools import (
    ApprovalMode,
    CallInspection,
    ToolAccessPolicy,
    ToolCall,
    ToolConcurrency,
    ToolDefinition,
    ToolResult,
    ToolTier,
)

SUMMARY_SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
ASKING = {"requestUserInput": True}
"""The config of an agent that may ask a person."""


def agent(**keys: Any) -> dict[str, Any]:
    """An agent node's config as it stands in a file."""
    return {
        "system_prompt": "You are careful.",
        "task_prompt": "Do your part.",
        "model": "scripted",
        "output_schema": SUMMARY_SCHEMA,
        **keys,
    }


def workflow(
    edges: Sequence[tuple[str, str]] = (),
    *,
    nodes: Sequence[str] = (),
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Workflow:
    """A workflow of agent nodes from its edges; `agents` overrides keys of single nodes."""
    ids = list(dict.fromkeys([*nodes, *(node for edge in edges for node in edge)]))
    overrides = agents or {}
    return Workflow.model_validate(
        {
            "id": "wf",
            "name": "Test",
            "nodes": [
                {
                    "id": node_id,
                    "label": node_id.title(),
                    "kind": "agent",
                    "position": {"x": 0.0, "y": 0.0},
                    "agent": agent(**{**(defaults or {}), **overrides.get(node_id, {})}),
                }
                for node_id in ids
            ],
            "edges": [
                {"id": f"{source}-{target}-{i}", "from": source, "to": target}
                for i, (source, target) in enumerate(edges)
            ],
            "settings": dict(settings or {}),
        }
    )


class SerialEntropy:
    """Ids that can be read, and a fraction that is always one half."""

    def identifier(self, serial: int) -> str:
        return f"id-{serial}"

    def fraction(self, serial: int) -> float:
        return 0.5


def tool(name: str, tier: ToolTier) -> ToolDefinition:
    """A tool that takes anything."""
    return ToolDefinition(name, f"Does {name}.", {"type": "object"}, tier, ToolConcurrency.SHARED)


class Catalog:
    """A few tools; read-only nodes are offered the reading ones."""

    def __init__(self, *names: str) -> None:
        reading = {"read", "ls", "search", "find", "ast_grep"}
        self._tools = tuple(
            tool(name, ToolTier.READ if name in reading else ToolTier.WRITE)
            for name in sorted(names)
        )
        self._reading = tuple(t for t in self._tools if t.tier is ToolTier.READ)

    def offered(
        self, node_id: str, mode: ApprovalMode, policy: ToolAccessPolicy
    ) -> tuple[ToolDefinition, ...]:
        return self._reading if mode is ApprovalMode.READ_ONLY else self._tools

    def definition(self, name: str) -> ToolDefinition | None:
        return next((t for t in self._tools if t.name == name), None)


Reply = TurnOutcome | CallFailure
Script = Mapping[str, Sequence[Reply] | Callable[[AgentRequest], Reply]]


def done(text: str = "ok", **keys: Any) -> Completed:
    """A submit that fits the summary schema."""
    return Completed({"summary": text}, **keys)


def calls(*named: tuple[str, dict[str, Any]], text: str | None = None) -> ToolCallsTurn:
    """A turn of tool calls."""
    return ToolCallsTurn(tuple(ToolCall("", name, arguments) for name, arguments in named), text)


class World:
    """Carries out the engine's effects, one at a time, from a script.

    `manual` leaves model calls and tools open so that a test can end them itself.
    """

    def __init__(
        self,
        flow: Workflow,
        script: Script | None = None,
        *,
        tools: Sequence[str] = ("read", "ls", "write", "bash"),
        text: str = "",
        manual: bool = False,
        engine: InteractiveEngine | None = None,
        project_root: str | None = None,
        tool_results: Callable[[ToolCall], ToolResult] | None = None,
        inspect: Callable[[ToolCall], CallInspection] | None = None,
        agents: Mapping[str, CallableAgent] | None = None,
        context_window: Callable[[str], int | None] | None = None,
        limits: SpendingLimits | None = None,
    ) -> None:
        self.flow = flow
        self.context_window = context_window
        self.limits = limits
        self.catalog = Catalog(*tools)
        self.project_root = project_root
        self.engine = engine or InteractiveEngine(
            flow,
            run_id="run",
            entropy=SerialEntropy(),
            catalog=self.catalog,
            entrypoint=Entrypoint(text),
            project_root=project_root,
            agents=agents or {},
        )
        self.script = {
            node: reply if callable(reply) else deque(reply)
            for node, reply in (script or {}).items()
        }
        self.manual = manual
        self.now = 1000.0
        self.inputs: list[EngineInput] = []
        self.steps: list[Step] = []
        self.events: list[RunEvent] = []
        self.requests: list[AgentRequest] = []
        self.calls: dict[str, CallModel] = {}
        self.put_aside: dict[str, str] = {}
        self.batches: dict[str, RunTools] = {}
        self.inspections: dict[str, InspectCalls] = {}
        self.timers: dict[str, float] = {}
        self.cancelled: list[str] = []
        self.executed: list[ToolCall] = []
        self.outcome: RunOutcome | None = None
        self._tool_results = tool_results or (
            lambda call: ToolResult(call.id, call.name, f"result of {call.name}")
        )
        self._inspect = inspect or (lambda call: CallInspection(call.id))

    def apply(self, step: Step) -> Step:
        """Take a step that a test made and, unless `manual`, carry it out to the end."""
        self._take(step)
        if not self.manual:
            self.settle()
        return step

    def _take(self, step: Step) -> None:
        self.steps.append(step)
        self.events.extend(step.events)
        for effect in step.effects:
            self._note(effect)

    def _note(self, effect: Effect) -> None:
        match effect:
            case CallModel():
                self.requests.append(effect.request)
                for aside in effect.put_aside:
                    self.put_aside[aside.artifact_id] = aside.content or ""
                self.calls[effect.node_id] = effect
            case RunTools():
                self.batches[effect.node_id] = effect
            case InspectCalls():
                assert effect.node_id not in self.inspections
                self.inspections[effect.node_id] = effect
            case Wait():
                self.timers[effect.node_id] = effect.until
            case CancelWork():
                self.cancelled.append(effect.node_id)
                for open_work in (self.calls, self.batches, self.inspections, self.timers):
                    open_work.pop(effect.node_id, None)
            case Finish():
                self.outcome = effect.outcome

    def start(self) -> World:
        """Feed `Started`."""
        self.apply(self.engine.feed(Started(self.now, limits=self.limits)))
        return self

    def settle(self) -> None:
        """Answer everything that is open, in node order, until nothing is."""
        while self.calls or self.batches or self.inspections or self.timers:
            if self.inspections:
                self.finish_inspection(min(self.inspections))
            elif self.calls:
                node_id = min(self.calls)
                self.reply(node_id, self._scripted(self.calls[node_id].request))
            elif self.batches:
                self.finish_tools(min(self.batches))
            else:
                self.fire(min(self.timers, key=lambda node_id: self.timers[node_id]))

    def _scripted(self, request: AgentRequest) -> Reply:
        script = self.script.get(request.node_id)
        if script is None:
            return done(request.node_id)
        if callable(script):
            return script(request)
        return script.popleft()

    def reply(self, node_id: str, reply: Reply) -> Step:
        """End a node's open model call."""
        call = self.calls.pop(node_id)
        window = self.context_window and self.context_window(call.request.model)
        step = self.engine.feed(ModelReplied(node_id, call.call, reply, self.now, window))
        self._take(step)
        return step

    def finish_tools(self, node_id: str) -> Step:
        """End a node's open batch with results for all its calls."""
        batch = self.batches.pop(node_id)
        self.executed += [admitted.call for admitted in batch.calls]
        results = tuple(self._tool_results(admitted.call) for admitted in batch.calls)
        step = self.engine.on_tool_results(node_id, batch.batch_id, results, self.now)
        self._take(step)
        return step

    def finish_inspection(self, node_id: str) -> Step:
        """Say what the calls would touch that a node wants to ask about."""
        looked_up = self.inspections.pop(node_id)
        found = tuple(self._inspect(call) for call in looked_up.calls)
        step = self.engine.on_calls_inspected(node_id, looked_up.batch_id, found, self.now)
        self._take(step)
        return step

    def fire(self, node_id: str) -> Step:
        """Let a node's timer fire when its time has come."""
        self.now = max(self.now, self.timers.pop(node_id))
        step = self.engine.feed(TimerFired(node_id, self.now))
        self._take(step)
        return step

    def events_of(self, kind: type[Any]) -> list[Any]:
        """All events of one type, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def decide(
        self,
        approval_id: str,
        allow: bool = True,
        *,
        reason: str | None = None,
        for_run: bool = False,
    ) -> Step:
        """Decide about a call and, unless `manual`, carry on."""
        decided = self.engine.on_tool_decision(
            approval_id, allow, self.now, reason=reason, for_run=for_run
        )
        return self.apply(decided)

    @property
    def asked(self) -> list[PendingApproval]:
        """Every approval that was asked for, in order."""
        return [event.request for event in self.events_of(ToolApprovalRequested)]

    def results(self, actor_id: str = "a") -> list[ToolResult]:
        """The results in the transcript of a node or a subagent, in order."""
        transcript = self.engine.state_of(actor_id).transcript
        return [item.result for item in transcript if isinstance(item, ResultItem)]

    @property
    def needs(self) -> NeedsInteraction:
        """What the run waits for; it must be waiting."""
        assert isinstance(self.outcome, NeedsInteraction), self.outcome
        return self.outcome

    def restored(self) -> World:
        """Another world that goes on from a checkpoint of this one."""
        engine = InteractiveEngine.restore(
            self.engine.checkpoint(),
            self.flow,
            entropy=SerialEntropy(),
            catalog=self.catalog,
            project_root=self.project_root,
        )
        world = World(
            self.flow, engine=engine, manual=self.manual, context_window=self.context_window
        )
        world.script, world.now, world.catalog = self.script, self.now, self.catalog
        world._tool_results, world._inspect = self._tool_results, self._inspect
        return world
