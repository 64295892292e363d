"""The request that one model call is made from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.vocabulary.messages import Attachment, TranscriptView
from engine.vocabulary.tools import (
    JsonObject,
    ToolAccessPolicy,
    ToolConfig,
    ToolDefinition,
)


class AgentRequest(Struct, frozen=True, gc=False):
    """Everything a provider needs for one turn; adapters map it and never edit it.

    `input` is a JSON value: `{"upstream": [...], "entrypoint"?, "changed_files"?, "reads"?,
    "change_evidence_packet"?}` for a node. `output_schema` is the submission schema: what the
    submit tool takes under `output`. `model_attempt` counts from 1 and never decreases.
    """

    workflow_id: str
    run_id: str
    node_id: str
    node_label: str
    model: str
    provider_id: str | None
    system_messages: tuple[str, ...]
    task_prompt: str
    input: Any
    output_schema: JsonObject
    transcript: TranscriptView
    handoff_format: str = "json"
    tool_config: ToolConfig = ToolConfig()
    available_tools: tuple[ToolDefinition, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    model_attempt: int = 1
    max_output_tokens: int | None = None
    reasoning_effort: str | None = None
    reasoning_budget_tokens: int | None = None
    fast_mode: bool = False
    tool_access_policy: ToolAccessPolicy = ToolAccessPolicy.EXECUTION
    allow_user_input: bool = False
    conversation_mode: bool = False

    @property
    def offered_harness_tools(self) -> tuple[str, ...]:
        """Names of the harness tools that this request offers, submit first."""
        return self.tool_config.harness_tools(
            may_ask=self.allow_user_input, in_conversation=self.conversation_mode
        )
