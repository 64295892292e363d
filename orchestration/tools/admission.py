"""The last look at a call before it runs: still the one that was allowed, and not against a rule.

The engine has judged it. This is the second lock on the same door: what it lets through and the
engine would not is a bug that harms nobody.
"""

from __future__ import annotations

from engine.run.approval_policy import call_digest
from engine.run.plan_mode import denial
from engine.run.schema import CompiledSchema, UncompilableSchema, compiled
from engine.vocabulary.effects import AdmittedCall, RunTools
from engine.vocabulary.tools import (
    ApprovalMode,
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolTier,
)
from orchestration.tools.registry import ToolRegistry
from orchestration.tools.tool import FailureKind, Tool, ToolContext, ToolFailure


def path_of(node_id: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """Who calls, from the node down; a batch that names no path is the node's own."""
    return path or (node_id,)


def known_tool(registry: ToolRegistry, name: str) -> Tool:
    """The tool of a call.

    Raises:
        ToolFailure: nobody knows it.
    """
    tool = registry.tool(name)
    if tool is None:
        raise ToolFailure(FailureKind.NOT_FOUND, f"there is no tool '{name}'")
    return tool


def refuse_what_is_barred(
    tool: Tool, batch: RunTools, call: ToolCall, plan_source: str | None
) -> None:
    """Refuse what a node that only reads, or the planning phase, must not do.

    Raises:
        ToolFailure: the call must not run, whoever allowed it.
    """
    tier, is_planning = tool.definition.tier, batch.policy is ToolAccessPolicy.PLANNING
    refusal = denial(
        call,
        tier=tier,
        policy=batch.policy,
        is_source=is_planning and batch.node_id == plan_source,
        mode=batch.mode,
    )
    if refusal is not None:
        raise ToolFailure(FailureKind.PERMISSION_DENIED, refusal)
    # While planning, what changes anything and passed so far belongs to the plan.
    if batch.mode is ApprovalMode.READ_ONLY and tier is ToolTier.WRITE and not is_planning:
        raise ToolFailure(
            FailureKind.PERMISSION_DENIED, f"{call.name} was denied: this node may only read"
        )


def checked_arguments(tool: Tool, call: ToolCall) -> JsonObject:
    """The arguments as the schema wants them; what can be read as valid only one way is.

    Raises:
        ToolFailure: they do not fit.
    """
    if call.arguments_error is not None:
        raise ToolFailure(FailureKind.INVALID_ARGS, f"{call.name}: {call.arguments_error}")
    schema = _schema_of(tool)
    arguments: JsonObject = schema.coerce(call.arguments)
    if problems := schema.problems(arguments):
        raise ToolFailure(
            FailureKind.INVALID_ARGS,
            f"{call.name}: " + "; ".join(problems),
            "call it again with arguments that fit its schema",
        )
    return arguments


def _schema_of(tool: Tool) -> CompiledSchema:
    """A tool's schema may be a stranger's, and name a dialect that nobody knows."""
    schema = tool.definition.input_schema
    try:
        return compiled(schema)
    except UncompilableSchema:
        try:
            return compiled({key: each for key, each in schema.items() if key != "$schema"})
        except UncompilableSchema as error:
            raise ToolFailure(
                FailureKind.FAILED, f"the schema of '{tool.definition.name}' is of no use: {error}"
            ) from None


def is_as_allowed(
    path: tuple[str, ...], admitted: AdmittedCall, targets: tuple[str, ...] = ()
) -> bool:
    """Whether the call, with what it leads to now, is the one that was allowed."""
    call = admitted.call
    return call_digest(path, call.name, call.arguments, targets) == admitted.digest


async def targets_now(tool: Tool, arguments: JsonObject, context: ToolContext) -> tuple[str, ...]:
    """What the call leads to now; nothing where it is certain to fail."""
    if tool.inspect is None:
        return ()
    try:
        return (await tool.inspect(arguments, context)).targets
    except Exception:  # noqa: BLE001 - the call runs into it too, and that is told
        return ()
