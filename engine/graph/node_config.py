"""What an agent node is told, what it may do and what it has to hand over."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from engine.graph.file_model import FileModel
from engine.vocabulary.tools import ApprovalMode, ToolConfig

DEFAULT_MCP_BYTES = 65_536
MAX_MCP_BYTES = 1_048_576

Flag = Annotated[bool, Field(strict=True)]
U32 = Annotated[int, Field(strict=True, ge=0, le=2**32 - 1)]
U64 = Annotated[int, Field(strict=True, ge=0, le=2**64 - 1)]


class LegacyHandoff(FileModel):
    """No handoff document: a conversation."""

    format: Literal["legacy"] = "legacy"


class MarkdownHandoff(FileModel):
    """A Markdown document with, at least, the headings of the template."""

    format: Literal["markdown"] = "markdown"
    template: str


class JsonHandoff(FileModel):
    """The output itself is the handoff document."""

    format: Literal["json"] = "json"


HandoffSpec = Annotated[
    LegacyHandoff | MarkdownHandoff | JsonHandoff, Field(discriminator="format")
]


class NodeToolConfig(FileModel):
    """A node's tool settings as the file has them; `approval_mode` may be left open."""

    skipped_when_default: ClassVar[frozenset[str]] = frozenset(
        {"approval_mode", "allow_structured_user_input", "allow_free_text_user_input"}
    )

    approval_mode: ApprovalMode | None = Field(default=None, serialization_alias="approvalMode")
    allow_structured_user_input: Flag = Field(
        default=True, serialization_alias="allowStructuredUserInput"
    )
    allow_free_text_user_input: Flag = Field(
        default=True, serialization_alias="allowFreeTextUserInput"
    )

    def effective(self) -> ToolConfig:
        """The settings with the default approval mode filled in."""
        return ToolConfig(
            approval_mode=self.approval_mode or ApprovalMode.WRITE,
            allow_structured_user_input=self.allow_structured_user_input,
            allow_free_text_user_input=self.allow_free_text_user_input,
        )


class McpResourceSelection(FileModel):
    """A resource of an MCP server that the node is given; sizes in bytes."""

    server_id: str = Field(serialization_alias="serverId")
    uri: str
    max_bytes: U64 = Field(default=DEFAULT_MCP_BYTES, serialization_alias="maxBytes")


class McpPromptSelection(FileModel):
    """A prompt of an MCP server that the node is given; sizes in bytes."""

    server_id: str = Field(serialization_alias="serverId")
    name: str
    arguments: dict[str, str] = Field(default_factory=dict)
    max_bytes: U64 = Field(default=DEFAULT_MCP_BYTES, serialization_alias="maxBytes")


class McpContextSnapshot(FileModel):
    """What an MCP selection came to when a run was prepared; sizes in bytes."""

    skipped_when_default: ClassVar[frozenset[str]] = frozenset(
        {"title", "description", "mime_type", "error"}
    )

    kind: Literal["resource", "prompt"]
    server_id: str = Field(serialization_alias="serverId")
    source: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = Field(default=None, serialization_alias="mimeType")
    content: str = ""
    original_size_bytes: U64 = Field(serialization_alias="originalSizeBytes")
    included_size_bytes: U64 = Field(serialization_alias="includedSizeBytes")
    truncated: Flag
    error: str | None = None


class AgentNodeConfig(FileModel):
    """The settings of an agent node.

    `output_schema` is any JSON value; `engine.graph.handoff` says which schema counts.
    `auto_start` is kept for old files and means nothing.
    """

    skipped_when_default: ClassVar[frozenset[str]] = frozenset({"mcp_context_snapshots"})

    system_prompt: str
    task_prompt: str
    model: str = ""
    output_schema: Any
    handoff: HandoffSpec = JsonHandoff()
    auto_start: Flag = True
    tools: NodeToolConfig = NodeToolConfig()
    callable_agents: tuple[str, ...] = Field(default=(), serialization_alias="callableAgents")
    allow_all_callable_agents: Flag = Field(
        default=False, serialization_alias="allowAllCallableAgents"
    )
    reasoning_effort: str | None = Field(default=None, serialization_alias="reasoningEffort")
    reasoning_budget_tokens: U32 | None = Field(
        default=None, serialization_alias="reasoningBudgetTokens"
    )
    provider_id: str | None = Field(default=None, serialization_alias="providerId")
    request_user_input: Flag = Field(default=False, serialization_alias="requestUserInput")
    conversation_mode: Flag = Field(default=False, serialization_alias="conversationMode")
    mcp_resources: tuple[McpResourceSelection, ...] = Field(
        default=(), serialization_alias="mcpResources"
    )
    mcp_prompts: tuple[McpPromptSelection, ...] = Field(
        default=(), serialization_alias="mcpPrompts"
    )
    mcp_context_snapshots: tuple[McpContextSnapshot, ...] = Field(
        default=(), serialization_alias="mcpContextSnapshots"
    )
