"""Tools as the engine sees them: what is offered, what was called, what came back."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

SUBMIT_TOOL = "openflow_submit_node_output"
REQUEST_INPUT_TOOL = "openflow_request_user_input"
ASK_QUESTION_TOOL = "openflow_ask_user_question"
HARNESS_TOOLS = frozenset({SUBMIT_TOOL, REQUEST_INPUT_TOOL, ASK_QUESTION_TOOL})
SEAL_PLAN_TOOL = "openflow_write_plan_artifact"
DECLARE_SUBAGENTS_TOOL = "openflow_declare_subagents"
CALL_SUBAGENT_TOOL = "openflow_call_subagent"
SUBAGENT_TOOLS = frozenset({DECLARE_SUBAGENTS_TOOL, CALL_SUBAGENT_TOOL})

JsonObject = dict[str, Any]
"""A decoded JSON object; frozen by convention once it is in a vocabulary value."""


class ToolTier(StrEnum):
    """How much harm a tool can do. A tool that nobody knows is `WRITE`."""

    READ = "read"
    WRITE = "write"


class ToolConcurrency(StrEnum):
    """What a call of the tool may run beside."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"
    NODE_EXCLUSIVE = "node_exclusive"


class ApprovalMode(StrEnum):
    """A node's approval setting; a node that names none has `WRITE`."""

    READ_ONLY = "read_only"
    ALWAYS_ASK = "always_ask"
    WRITE = "write"
    YOLO = "yolo"


class ToolAccessPolicy(StrEnum):
    """Which phase of plan mode a request belongs to; `EXECUTION` where the feature is off."""

    EXECUTION = "execution"
    PLANNING = "planning"


class CallStatus(StrEnum):
    """Where one tool call stands."""

    PROPOSED = "proposed"
    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    FAILED = "failed"
    ABORTED = "aborted"


class ToolDefinition(Struct, frozen=True, gc=False):
    """A tool as it is offered to a model. `input_schema` is a JSON Schema of an object."""

    name: str
    description: str
    input_schema: JsonObject
    tier: ToolTier = ToolTier.WRITE
    concurrency: ToolConcurrency = ToolConcurrency.EXCLUSIVE


class ToolCall(Struct, frozen=True, gc=False):
    """One call that a model made.

    `id` is ours and unique in the run; `provider_call_id` is what the wire called it. Where the
    arguments could not be decoded, `arguments` is empty and `arguments_error` says why in words
    that a model can act on (never the raw text). `repairs` names what had to be undone in the text
    of the arguments before it could be decoded.
    """

    id: str
    name: str
    arguments: JsonObject
    provider_call_id: str | None = None
    arguments_error: str | None = None
    repairs: tuple[str, ...] = ()


class Truncation(Struct, frozen=True, gc=False, omit_defaults=True):
    """How an output was cut; sizes in bytes and lines of the whole and of what is shown."""

    strategy: str
    total_bytes: int
    shown_bytes: int
    elided_bytes: int
    total_lines: int | None = None
    shown_lines: int | None = None
    elided_lines: int | None = None


class OutputMeta(Struct, frozen=True, gc=False, omit_defaults=True):
    """Facts about a tool's output that are not part of its text."""

    truncation: Truncation | None = None
    source_url: str | None = None


class ToolResult(Struct, frozen=True, gc=False, omit_defaults=True):
    """What one call gave back; `content` is what the model reads.

    `drifted`: nothing ran, because what the call would touch is no longer what a person allowed;
    it has to be decided anew.
    """

    call_id: str
    tool_name: str
    content: str
    is_error: bool = False
    artifact_ids: tuple[str, ...] = ()
    output_meta: OutputMeta | None = None
    drifted: bool = False


class FileChangeOp(StrEnum):
    """What happened to a file."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RENAME = "rename"


class FileChangeRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """One file changed by one tool call; `timestamp_ms` is milliseconds since the epoch."""

    path: str
    op: FileChangeOp
    timestamp_ms: int
    rename_to: str | None = None
    diff_summary: str | None = None
    batch_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    diff_artifact_id: str | None = None
    diff_size_bytes: int | None = None

    @property
    def effective_path(self) -> str:
        """Where the file is now: the destination of a rename, else its path."""
        return self.rename_to or self.path


class FilePreview(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a call would do to one file; `diff` is complete, numbered as edit results are."""

    path: str
    op: FileChangeOp
    diff: str
    rename_to: str | None = None


class CallPreview(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a call would do, found out without doing it.

    `files` for calls that edit files, `cwd` (relative to the execution folder) for those that run a
    command. `problem` says why nothing could be found out, or what is certain to fail.
    """

    files: tuple[FilePreview, ...] = ()
    cwd: str | None = None
    problem: str | None = None


class CallInspection(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a call is about to touch, looked up for a person who decides about it.

    `targets` are the resolved arguments: real paths with the version of what is there. A decision
    binds them, so a call whose targets have changed since is asked about again.
    """

    call_id: str
    targets: tuple[str, ...] = ()
    preview: CallPreview | None = None


class ApprovalRule(Struct, frozen=True, gc=False):
    """'Allow for this run': calls of this tool with exactly this target.

    `target` is a path relative to the execution folder, one plain command of a shell chain, or, for
    any other tool, the canonical JSON of the arguments.
    """

    tool_name: str
    target: str


class RuleProposal(Struct, frozen=True, gc=False):
    """What 'allow for this run' would allow.

    `matches` is a call that the rules would match and `near_miss` one that they would not, both in
    the words in which calls are shown.
    """

    rules: tuple[ApprovalRule, ...]
    matches: str
    near_miss: str


class ReadRecord(Struct, frozen=True, gc=False, omit_defaults=True):
    """One local path that a node read, with an outline of it where there is one."""

    path: str
    outline: str | None = None


class FileSnapshot(Struct, frozen=True, gc=False, omit_defaults=True):
    """A file as it was before an edit; `content` is absent where the file did not exist."""

    path: str
    existed: bool
    content: str | None = None


class EditBatch(Struct, frozen=True, gc=False):
    """What one editing call touched, kept so that it can be reverted.

    The bytes are with the host; a snapshot has `content` where it is text of moderate size.
    """

    batch_id: str
    node_id: str
    tool_call_id: str
    tool_name: str
    timestamp_ms: int
    snapshots: tuple[FileSnapshot, ...]


class ToolEffects(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a batch did besides answering. `read_call_paths` has one entry for each read call."""

    file_changes: tuple[FileChangeRecord, ...] = ()
    reads: tuple[ReadRecord, ...] = ()
    read_call_paths: tuple[str, ...] = ()


NO_EFFECTS = ToolEffects()


class ToolConfig(Struct, frozen=True, gc=False, omit_defaults=True):
    """A node's tool settings with the defaults filled in."""

    approval_mode: ApprovalMode = ApprovalMode.WRITE
    allow_structured_user_input: bool = True
    allow_free_text_user_input: bool = True

    def harness_tools(self, *, may_ask: bool, in_conversation: bool) -> tuple[str, ...]:
        """Names of the harness tools that a node with these settings has, submit first.

        In a conversation plain text asks an open question, so there is no tool for it.
        """
        names = [SUBMIT_TOOL]
        if may_ask or in_conversation:
            if self.allow_free_text_user_input and not in_conversation:
                names.append(REQUEST_INPUT_TOOL)
            if self.allow_structured_user_input:
                names.append(ASK_QUESTION_TOOL)
        return tuple(names)
