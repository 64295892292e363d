"""What the engine says to a model in a person's place when a turn has to be made again.

Each kind of mistake has its own text: it says what was wrong, that nothing came of it, and what
to do now. None repeats arguments that were refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from engine.vocabulary.messages import (
    AssistantMessage,
    ResultItem,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.tools import (
    ASK_QUESTION_TOOL,
    REQUEST_INPUT_TOOL,
    SEAL_PLAN_TOOL,
    SUBMIT_TOOL,
    JsonObject,
    ToolAccessPolicy,
    ToolCall,
    ToolConfig,
)

PLAN_DRAFT_URI = "run://PLAN.md"

INVALID_QUESTIONS_EXHAUSTED = (
    "the model asked more than three questions in a row that cannot be put to a person"
)
TEXT_TURNS_EXHAUSTED = "the model kept talking instead of calling a tool or submitting its output"
UNSEALED_PLAN_EXHAUSTED = "the model kept submitting its output without an approved plan"
UNREADABLE_ARGUMENTS_EXHAUSTED = (
    "the model called tools with unreadable arguments in three turns in a row"
)
SUBAGENT_TURNS_EXHAUSTED = "the subagent has not submitted an output in 50 turns"
SUBAGENT_INTERRUPTED = "the subagent was interrupted by the user"
CANNED_QUESTION = "I cannot get any further by myself. What should I do next?"

UNSEALED_PLAN = (
    "The output was not accepted: the plan is not sealed yet. "
    f"Write the whole plan to {PLAN_DRAFT_URI}, then call {SEAL_PLAN_TOOL} alone and wait for the "
    f"approval. Call {SUBMIT_TOOL} after that, with the reference and the hash that the seal gave "
    "you."
)
INCOMPLETE_WRITE = (
    "A write came without 'content', so nothing was written. Call write again with 'path' and "
    "'content' together. If the content is long, write its first part now and add the others with "
    "separate edits."
)

_WRITE_NOW = (
    "You said that a file is being written, but no tool was called, so nothing was written. "
    "Call write or edit now with the content itself. If the text is the node's result and no "
    f"file is wanted, call {SUBMIT_TOOL}."
)
_EDIT_IN_CHUNKS = (
    "You said that you go on writing, but no tool was called, so nothing was added. The file that "
    "you wrote last is there: extend it with edit calls, one part at a time. When it is complete, "
    f"call {SUBMIT_TOOL}."
)
_DRAFT_PLAN_NOW = (
    "You said that the plan is being written, but no tool was called, so the draft is unchanged. "
    f"Write it to {PLAN_DRAFT_URI} with write or edit. When it is complete, call {SEAL_PLAN_TOOL} "
    "alone to have it approved."
)
_EXPAND_PLAN = (
    "You said that you go on with the plan, but no tool was called, so the draft is unchanged. "
    f"Extend {PLAN_DRAFT_URI} with edit calls, one section at a time. When it is complete, call "
    f"{SEAL_PLAN_TOOL} alone to have it approved."
)
_WRITE_NUDGES = frozenset({_WRITE_NOW, _EDIT_IN_CHUNKS, _DRAFT_PLAN_NOW, _EXPAND_PLAN})
_NO_HUMAN = (
    "Nobody reads or answers what you write here. Do not ask and do not wait: make reasonable "
    "assumptions, note them in your output, and go on with a tool call. When the task is done, "
    f"call {SUBMIT_TOOL}."
)
_EMPTY = "Your last turn was empty: no tool call and no text. "

_NARRATION = (
    "writing the",
    "writing a",
    "writing it",
    "write the file",
    "i'll write",
    "i will write",
    "let me write",
    "now write",
    "creating a",
    "creating the",
    "i'll create",
    "i will create",
    "let me create",
    "updating the file",
    "i'll update",
    "i will update",
    "let me update",
    "i'll edit",
    "let me edit",
    "saving the",
    "i'll save",
    "i'll add the",
)
_WRITE_MEMORY = 40
_NARRATION_MEMORY = 8


def too_long(model: str, problem: str) -> str:
    """Why a node fails whose conversation its model cannot take in."""
    return (
        f"{problem.rstrip('. ')}; all that can be left out of the conversation is left out: choose "
        f"a model with a larger context window than '{model}', or give the node less to do"
    )


def error_content(message: str) -> str:
    """The content of an error result."""
    return json.dumps({"error": message}, ensure_ascii=False)


NOT_RUN = error_content("this call was not run")
NOT_COMPLETED = error_content("the call did not complete; it may or may not have taken effect")
INTERRUPTED_CALL = error_content("the call was interrupted before it completed")
UNCERTAIN_CALL = error_content(
    "the program ended while this call ran, so it is unknown whether it took effect; "
    "look before you repeat it"
)
SETTLED_AS_DONE = (
    "the program ended while this call ran, so its output is lost; "
    "a person has looked and says that it was carried out"
)
SETTLED_AS_SKIPPED = error_content(
    "the program ended while this call ran; a person decided that it is not carried out"
)


def invalid_arguments(call: ToolCall) -> str:
    """The result of a call whose arguments could not be read."""
    problem = call.arguments_error or "the arguments do not fit"
    return error_content(f"[invalid_args] {call.name} was not run: {problem}")


def invalid_write(call: ToolCall) -> str:
    """The result of a `write` without content."""
    return error_content(
        f"[invalid_args] {call.name} was not run: 'content' is missing "
        "(an empty text is allowed, no text is not)"
    )


def unavailable_tool(name: str, offered: Iterable[str]) -> str:
    """The result of a call of a tool that does not exist."""
    names = ", ".join(offered) or "none"
    return error_content(f"there is no tool '{name}' here; tools on offer: {names}")


def read_only_denial(name: str) -> str:
    """The result of a writing call of a node that may only read."""
    return f"{name} was denied: this node may only read. Go on without changing anything."


def denied_by_person(name: str, reason: str | None) -> str:
    """The result of a call that a person denied."""
    why = f" Reason: {reason.strip()}" if reason and reason.strip() else ""
    return (
        f"{name} was denied by the user.{why} Do not make the same call again; "
        "find another way or finish without it."
    )


def kept_changing(name: str) -> str:
    """The result of a call that was allowed again and again, and found something else each time."""
    return error_content(
        f"{name} was not run: what it would touch kept changing after the user had allowed it. "
        "Look at it again before you make another call."
    )


def malformed_submit(detail: str, schema: JsonObject) -> str:
    """After a submit whose output does not fit; `schema` is that of `output`."""
    wanted = json.dumps(schema, indent=2, ensure_ascii=False)
    return (
        f"The output was not accepted: {detail}\n"
        f"Call {SUBMIT_TOOL} again with the arguments "
        '{"output": {...}, "assistant_message": "..."}, where output fits this JSON Schema:\n'
        f"{wanted}"
    )


def mixed_tools(
    tool_names: Sequence[str], tool_config: ToolConfig, *, interactive: bool, conversation: bool
) -> str:
    """After a turn in which a harness tool did not stand alone."""
    harness = tool_config.harness_tools(may_ask=interactive, in_conversation=conversation)
    called = ", ".join(dict.fromkeys(tool_names))
    return (
        f"None of these calls ran: {called}. {_joined(harness)} must be called alone, exactly one "
        "in a turn and once. Call the other tools first, wait for their results, and call it in a "
        "turn of its own."
    )


def truncated(reason: str, tool_names: Iterable[str]) -> str:
    """After a turn that was cut off; `reason` is that of `TruncatedOutput`."""
    causes = {
        "length": "it reached the limit on the length of one reply",
        "unterminated": "the arguments of a call ended in the middle",
    }
    cause = causes.get(reason, "the connection broke off")
    names = ", ".join(sorted(set(tool_names)))
    lost = f" These calls did not run: {names}." if names else ""
    return (
        f"Your last reply was cut off: {cause}.{lost} Nothing of it was kept. Make it again in "
        "smaller pieces: fewer calls in a turn, shorter content in each, large files in several "
        "edits."
    )


def invalid_question(problem: str, tool_config: ToolConfig) -> str:
    """After a question that cannot be put to a person."""
    ways = []
    if tool_config.allow_free_text_user_input:
        ways.append(
            f"For one open question call {REQUEST_INPUT_TOOL} with the question, in words, as "
            "'assistant_message'."
        )
    if tool_config.allow_structured_user_input:
        ways.append(
            f"For choices call {ASK_QUESTION_TOOL} with 'questions': 1 to 3 of them, each with "
            "'id', 'header' of at most 12 characters, 'question' and 2 or 3 'options' with "
            "'label' and 'description'."
        )
    return " ".join([f"The question was not asked: {problem}.", *ways])


def is_narrated_write(text: str) -> bool:
    """Whether a text talks about writing a file instead of doing it."""
    lowered = text.lower().replace("\u2019", "'")
    return any(phrase in lowered for phrase in _NARRATION)


def nudge_for_text_turn(
    text: str,
    transcript: Sequence[TranscriptItem],
    *,
    interactive: bool,
    policy: ToolAccessPolicy,
    tool_config: ToolConfig,
    can_write: bool = True,
) -> str:
    """After a turn of words alone. `can_write`: whether the node is offered `write`."""
    if can_write and is_narrated_write(text):
        return _write_nudge(transcript, policy)
    return _ask_or_work(tool_config) if interactive else _NO_HUMAN


def nudge_for_empty_turn(
    transcript: Sequence[TranscriptItem],
    *,
    interactive: bool,
    policy: ToolAccessPolicy,
    tool_config: ToolConfig,
    can_write: bool = True,
) -> str:
    """After a turn with nothing in it."""
    if can_write and any(map(_speaks_of_writing, _last(transcript, _NARRATION_MEMORY))):
        return _EMPTY + _write_nudge(transcript, policy)
    return _EMPTY + (_ask_or_work(tool_config) if interactive else _NO_HUMAN)


def _last(transcript: Sequence[TranscriptItem], count: int) -> list[TranscriptItem]:
    return [transcript[at] for at in range(max(0, len(transcript) - count), len(transcript))]


def _speaks_of_writing(item: TranscriptItem) -> bool:
    if isinstance(item, AssistantMessage):
        return is_narrated_write(item.content)
    return isinstance(item, UserMessage) and item.content.removeprefix(_EMPTY) in _WRITE_NUDGES


def _write_nudge(transcript: Sequence[TranscriptItem], policy: ToolAccessPolicy) -> str:
    wrote = any(
        isinstance(item, ResultItem)
        and item.result.tool_name == "write"
        and not item.result.is_error
        for item in _last(transcript, _WRITE_MEMORY)
    )
    if policy is ToolAccessPolicy.PLANNING:
        return _EXPAND_PLAN if wrote else _DRAFT_PLAN_NOW
    return _EDIT_IN_CHUNKS if wrote else _WRITE_NOW


def _ask_or_work(tool_config: ToolConfig) -> str:
    ways = tool_config.harness_tools(may_ask=True, in_conversation=False)[1:]
    ask = f"If you need an answer from the user, call {' or '.join(ways)} alone. " if ways else ""
    return (
        "Plain text neither asks the user nor ends your work. "
        f"{ask}Otherwise go on with the tools, and call {SUBMIT_TOOL} when the task is done."
    )


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} each"
