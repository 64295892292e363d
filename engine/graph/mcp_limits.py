"""How much MCP context a node may ask for."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from engine.graph.node_config import MAX_MCP_BYTES, AgentNodeConfig

MAX_SELECTIONS = 64
MAX_SERVER_ID_BYTES = 128
MAX_SOURCE_BYTES = 4096
MAX_ARGUMENTS = 64
MAX_ARGUMENT_NAME_BYTES = 256
MAX_ARGUMENT_VALUE_BYTES = 16_384


def mcp_problems(agent: AgentNodeConfig) -> Iterator[tuple[str, str]]:
    """Everything that exceeds a limit: the field of the node, and what is wrong."""
    selections = [
        *(("mcp_resources", "resource", item.server_id, item.uri) for item in agent.mcp_resources),
        *(("mcp_prompts", "prompt", item.server_id, item.name) for item in agent.mcp_prompts),
    ]
    if len(selections) > MAX_SELECTIONS:
        detail = f"{len(selections)} resources and prompts are selected, {MAX_SELECTIONS} may be"
        yield "mcp_resources" if agent.mcp_resources else "mcp_prompts", detail
    sizes = [item.max_bytes for item in agent.mcp_resources]
    sizes += [item.max_bytes for item in agent.mcp_prompts]
    for (field, noun, server_id, source), size in zip(selections, sizes, strict=True):
        if fault := _server_fault(server_id):
            yield field, f"the server id {_quoted(server_id)} of a {noun} {fault}"
        if fault := _text_fault(source, MAX_SOURCE_BYTES):
            yield field, f"the {noun} {_quoted(source)} {fault}"
        if not 0 < size <= MAX_MCP_BYTES:
            yield (
                field,
                f"the {noun} {_quoted(source)} may take {size} bytes, not 1 to {MAX_MCP_BYTES}",
            )
    if sum(sizes) > MAX_MCP_BYTES:
        detail = f"the selections may take {sum(sizes)} bytes together, more than {MAX_MCP_BYTES}"
        yield "mcp_resources" if agent.mcp_resources else "mcp_prompts", detail
    for prompt in agent.mcp_prompts:
        for detail in _argument_faults(prompt.arguments):
            yield "mcp_prompts", f"the prompt {_quoted(prompt.name)} {detail}"
    held = sum(_bytes_of(snapshot.content) for snapshot in agent.mcp_context_snapshots)
    if held > MAX_MCP_BYTES:
        yield "mcp_context_snapshots", f"the snapshots hold {held} bytes, more than {MAX_MCP_BYTES}"


def _argument_faults(arguments: dict[str, str]) -> Iterator[str]:
    if len(arguments) > MAX_ARGUMENTS:
        yield f"has {len(arguments)} arguments, more than {MAX_ARGUMENTS}"
    for name, value in arguments.items():
        if fault := _text_fault(name, MAX_ARGUMENT_NAME_BYTES):
            yield f"has an argument {_quoted(name)} that {fault}"
        if _bytes_of(value) > MAX_ARGUMENT_VALUE_BYTES:
            yield (
                f"has an argument {_quoted(name)} of {_bytes_of(value)} bytes, "
                f"more than {MAX_ARGUMENT_VALUE_BYTES}"
            )


def _server_fault(server_id: str) -> str | None:
    if not server_id.strip():
        return "is blank"
    if _bytes_of(server_id) > MAX_SERVER_ID_BYTES:
        return f"is longer than {MAX_SERVER_ID_BYTES} bytes"
    return "contains '/'" if "/" in server_id else None


def _text_fault(text: str, limit: int) -> str | None:
    if not text.strip():
        return "is blank"
    if _bytes_of(text) > limit:
        return f"is longer than {limit} bytes"
    if any(unicodedata.category(character) == "Cc" for character in text):
        return "contains a control character"
    return None


def _bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")
