"""The request that one model call is made from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from engine.vocabulary.messages import Attachment, TranscriptView
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SUBMIT_TOOL,
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
        names = [SUBMIT_TOOL]
        if self.allow_user_input:
            if self.tool_config.allow_free_text_user_input and not self.conversation_mode:
                names.append(REQUEST_INPUT_TOOL)
            if self.tool_config.allow_structured_user_input:
                names.append(ASK_QUESTION_TOOL)
        return tuple(names)
