"""What becomes of a node when its model call has ended, one way or the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.run import feedback, spending, subagents
from engine.run.actors import NodeFacts
from engine.run.budgets import (
    MAX_EMPTY_TURNS,
    MAX_INVALID_QUESTIONS,
    MAX_MALFORMED_SUBMITS,
    MAX_MIXED_TURNS,
    MAX_PRINTED_SUBMITS,
    MAX_SHARP_COMPACTIONS,
    MAX_TEXT_TURNS,
    MAX_TRUNCATED_TURNS,
    MAX_UNSEALED_SUBMITS,
    Counters,
)
from engine.run.interactions import await_person, interrupt_now
from engine.run.plan_mode import freeze_packet, is_sealed
from engine.run.questions import problem_with
from engine.run.retry_policy import retry_delay_s
from engine.run.run_context import RunContext
from engine.run.scheduling import accept_output, back_off, build_request, call_model, fail_node
from engine.run.state import NodeState, Question
from engine.run.tool_turns import open_turn
from engine.vocabulary.errors import (
    PRINTED_CALL,
    CallInterrupted,
    ContextTooLong,
    EmptyTurn,
    MalformedSubmit,
    MixedToolTurn,
    PermanentFailure,
    RequestFailure,
    TransientFailure,
    TruncatedOutput,
    failure_text,
)
from engine.vocabulary.events import ChatMessage, UsageReported
from engine.vocabulary.inputs import ModelReplied
from engine.vocabulary.messages import (
    AssistantMessage,
    Completed,
    InputRequest,
    MessageTurn,
    Reasoning,
    ReasoningPart,
    ToolCallsTurn,
    UserMessage,
)


def take_reply(run: RunContext, node: NodeState, replied: ModelReplied) -> None:
    """Route a reply or a failure by its type."""
    reply, delegation = replied.reply, node.delegation
    usage = getattr(reply, "usage", None)
    if usage is not None:
        run.state.usage.add(usage)
        caller_id = None if delegation is None else delegation.node_id
        run.events.append(UsageReported(node.id, usage, run.model_of(node), None, caller_id))
    if replied.context_window is not None:
        node.window = replied.context_window
    is_turn = type(reply) is not TransientFailure
    if delegation is not None and is_turn:
        delegation.turns += 1
    if run.state.limits is not None:
        spending.count(run, node, usage, is_turn=is_turn)
    _ROUTES[type(reply)](run, node, reply, replied.at)


def _completed(run: RunContext, node: NodeState, reply: Completed, at: float) -> None:
    if run.is_plan_source(node.id):
        if not is_sealed(node.transcript):
            if _over(node.counters, "unsealed_submit", MAX_UNSEALED_SUBMITS):
                fail_node(run, node, feedback.UNSEALED_PLAN_EXHAUSTED)
            else:
                _correct(run, node, feedback.UNSEALED_PLAN)
            return
        assert run.state.plan is not None
        run.state.plan.packet = freeze_packet(node.id, reply.output)
        run.forget_input()
    if reply.assistant_message:
        node.transcript.append(AssistantMessage(reply.assistant_message))
    accept_output(run, node, reply)


def _tool_calls(run: RunContext, node: NodeState, reply: ToolCallsTurn, at: float) -> None:
    open_turn(run, node, reply)


def _message(run: RunContext, node: NodeState, reply: MessageTurn, at: float) -> None:
    if not run.facts[node.id].agent.conversation_mode:
        _text_turn(run, node, reply.assistant_message, reply.reasoning)
        return
    _record_words(node, reply.assistant_message, reply.reasoning)
    node.counters = Counters()
    await_person(run, node, Question(run.identifier(), reply.assistant_message))


def _input_request(run: RunContext, node: NodeState, reply: InputRequest, at: float) -> None:
    facts = run.facts[node.id]
    if not (run.is_interactive(facts) or facts.agent.conversation_mode):
        _text_turn(run, node, reply.assistant_message, reply.reasoning)
        return
    structured = reply.structured_input
    if not facts.tool_config.allow_structured_user_input:
        structured = None
    asked = InputRequest(reply.assistant_message, structured, reply.reasoning)
    problem = problem_with(asked, facts.tool_config)
    if problem is not None:
        if _over(node.counters, "invalid_question", MAX_INVALID_QUESTIONS):
            fail_node(run, node, feedback.INVALID_QUESTIONS_EXHAUSTED)
        else:
            _correct(run, node, feedback.invalid_question(problem, facts.tool_config))
        return
    _record_words(node, reply.assistant_message, reply.reasoning)
    node.counters = Counters()
    question = Question(run.identifier(), reply.assistant_message, structured)
    await_person(run, node, question, reply.repairs)


def _text_turn(
    run: RunContext, node: NodeState, text: str, reasoning: tuple[ReasoningPart, ...]
) -> None:
    """The model talked instead of acting: remind it, but not for ever."""
    facts = run.facts[node.id]
    nudge = feedback.nudge_for_text_turn(
        text,
        node.transcript,
        interactive=run.is_interactive(facts),
        policy=run.policy,
        tool_config=facts.tool_config,
        can_write=_can_write(run, node, facts),
    )
    node.counters.clear_for_text_turn()
    _record_words(node, text.strip(), reasoning)
    if _over(node.counters, "text_turn", MAX_TEXT_TURNS):
        _ask_or_fail(run, node, facts, feedback.TEXT_TURNS_EXHAUSTED)
    else:
        _correct(run, node, nudge)


def _can_write(run: RunContext, node: NodeState, facts: NodeFacts) -> bool:
    return any(tool.name == "write" for tool in run.offered(node, facts, run.policy))


def _empty(run: RunContext, node: NodeState, failure: EmptyTurn, at: float) -> None:
    facts = run.facts[node.id]
    if _over(node.counters, "empty_turn", MAX_EMPTY_TURNS):
        _ask_or_fail(run, node, facts, failure.message)
        return
    nudge = feedback.nudge_for_empty_turn(
        node.transcript,
        interactive=run.is_interactive(facts),
        policy=run.policy,
        tool_config=facts.tool_config,
        can_write=_can_write(run, node, facts),
    )
    _correct(run, node, nudge)


def _ask_or_fail(run: RunContext, node: NodeState, facts: NodeFacts, error: str) -> None:
    """A budget is spent: a node that may ask asks a person what to do, any other fails."""
    if not run.is_interactive(facts):
        fail_node(run, node, error)
        return
    node.counters = Counters()
    question = feedback.CANNED_QUESTION
    node.transcript.append(AssistantMessage(question))
    run.events.append(ChatMessage(node.id, "assistant", question))
    await_person(run, node, Question(run.identifier(), question))


def _malformed(run: RunContext, node: NodeState, failure: MalformedSubmit, at: float) -> None:
    limit = MAX_PRINTED_SUBMITS if failure.kind == PRINTED_CALL else MAX_MALFORMED_SUBMITS
    if _over(node.counters, "malformed_submit", limit):
        fail_node(run, node, failure_text(failure))
    else:
        schema = run.facts[node.id].submission_schema
        _correct(run, node, feedback.malformed_submit(failure.detail, schema))


def _mixed(run: RunContext, node: NodeState, failure: MixedToolTurn, at: float) -> None:
    if _over(node.counters, "mixed_turn", MAX_MIXED_TURNS):
        fail_node(run, node, failure_text(failure))
    else:
        facts = run.facts[node.id]
        _correct(
            run,
            node,
            feedback.mixed_tools(
                failure.tool_names,
                facts.tool_config,
                interactive=run.is_interactive(facts),
                conversation=facts.agent.conversation_mode,
            ),
        )


def _truncated(run: RunContext, node: NodeState, failure: TruncatedOutput, at: float) -> None:
    if _over(node.counters, "truncated", MAX_TRUNCATED_TURNS):
        fail_node(run, node, failure_text(failure))
    else:
        _correct(run, node, feedback.truncated(failure.reason, failure.tool_names))


def _transient(run: RunContext, node: NodeState, failure: TransientFailure, at: float) -> None:
    policy = run.workflow.settings.retry_policy
    if _over(node.counters, "transient", policy.max_attempts):
        fail_node(run, node, failure_text(failure))
        return
    delay = retry_delay_s(policy, node.counters.transient, run.fraction(), failure.retry_after_s)
    back_off(run, node, at + delay)


def _too_long(run: RunContext, node: NodeState, failure: ContextTooLong, at: float) -> None:
    """Compact more sharply than by the estimate and go again, once."""
    facts, model = run.facts[node.id], run.model_of(node)
    told = None
    if not _over(node.counters, "too_long", MAX_SHARP_COMPACTIONS):
        told = run.keeper.sharpen(node, build_request(run, node, facts, model))
    if told is None:
        fail_node(run, node, feedback.too_long(model, failure_text(failure)))
        return
    run.events.append(told)
    call_model(run, node)


def _hopeless(
    run: RunContext, node: NodeState, failure: PermanentFailure | RequestFailure, at: float
) -> None:
    fail_node(run, node, failure_text(failure))


def _interrupted(run: RunContext, node: NodeState, failure: CallInterrupted, at: float) -> None:
    if node.delegation is not None:
        subagents.interrupt(run, node)
    else:
        interrupt_now(run, node)


def _over(counters: Counters, budget: str, limit: int) -> bool:
    """Count one more of `budget`; whether that is more than `limit`."""
    count = getattr(counters, budget) + 1
    setattr(counters, budget, count)
    return bool(count > limit)


def _correct(run: RunContext, node: NodeState, message: str) -> None:
    """Tell the model what was wrong and let it try again; the call itself did succeed."""
    node.counters.transient = 0
    node.transcript.append(UserMessage(message))
    call_model(run, node)


def _record_words(node: NodeState, text: str, reasoning: tuple[ReasoningPart, ...]) -> None:
    if reasoning:
        node.transcript.append(Reasoning(reasoning))
    if text:
        node.transcript.append(AssistantMessage(text))


_ROUTES: dict[type, Callable[[RunContext, NodeState, Any, float], None]] = {
    Completed: _completed,
    ToolCallsTurn: _tool_calls,
    MessageTurn: _message,
    InputRequest: _input_request,
    EmptyTurn: _empty,
    MalformedSubmit: _malformed,
    MixedToolTurn: _mixed,
    TruncatedOutput: _truncated,
    TransientFailure: _transient,
    PermanentFailure: _hopeless,
    RequestFailure: _hopeless,
    ContextTooLong: _too_long,
    CallInterrupted: _interrupted,
}
