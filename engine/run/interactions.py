"""What a person does to a node in mid-run: answer, retry, interrupt, talk to it, patch it."""

from __future__ import annotations

import json

import msgspec

from engine.run import budget_answers, feedback, spending, subagents
from engine.run.budgets import Counters
from engine.run.run_context import RunContext
from engine.run.scheduling import call_model, count_retry, say_as_user
from engine.run.state import CallPhase, NodePhase, NodeState, Question, QueuedMessage
from engine.run.tool_turns import close_turn
from engine.vocabulary.effects import CancelWork, Finish
from engine.vocabulary.errors import (
    LiveMessagesDisabled,
    NodeNotActive,
    NodeNotRetryable,
    NoNodeAwaiting,
    StalePause,
    UnclearAnswer,
    UnknownMessage,
    WrongNode,
)
from engine.vocabulary.events import Aborted, NodeAwaitingInput, NodeInterrupted
from engine.vocabulary.inputs import (
    EditBatchReverted,
    HumanAnswered,
    MessageEdited,
    MessageQueued,
    MessageWithdrawn,
    NodeInterruptAsked,
    NodePatched,
    RetryAsked,
    RuntimePatch,
)
from engine.vocabulary.messages import AssistantMessage, Attachment, UserMessage
from engine.vocabulary.reconfiguration import NodeReconfigured
from engine.vocabulary.report import PendingInput, RunCancelled
from engine.vocabulary.spending import SpentLimit


def await_person(
    run: RunContext, node: NodeState, question: Question, repairs: tuple[str, ...] = ()
) -> None:
    """Pause the node until a person answers, and say so at once."""
    if node.queued:
        # Whoever wrote while the node was thinking has answered already.
        call_model(run, node)
        return
    node.question = question
    run.enter(node, NodePhase.AWAITING_INPUT)
    announce_question(run, node, repairs)


def announce_question(run: RunContext, node: NodeState, repairs: tuple[str, ...] = ()) -> None:
    """Tell what a waiting node asks, and what was undone in the call that asks it."""
    pending = pending_input(run, node)
    run.events.append(
        NodeAwaitingInput(
            node.id,
            pending.label,
            pending.context,
            pending.is_initial,
            pending.structured_input,
            pending.pause_id,
            pending.question,
            repairs,
            pending.budget,
        )
    )


def pending_input(run: RunContext, node: NodeState) -> PendingInput:
    """What a waiting node asks, with what it knows."""
    question = node.question
    assert question is not None
    if question.budget is not None:
        return PendingInput(
            question.pause_id,
            node.id,
            run.facts[node.id].label,
            "",
            structured_input=question.structured,
            question=question.text,
            budget=question.budget,
        )
    spoken = any(isinstance(item, AssistantMessage | UserMessage) for item in node.transcript)
    return PendingInput(
        question.pause_id,
        node.id,
        run.facts[node.id].label,
        _context(run, node),
        not spoken,
        question.structured,
        question.text,
    )


def _context(run: RunContext, node: NodeState) -> str:
    facts = run.facts[node.id]
    parts = [
        f"{run.facts[parent].label}:\n"
        + json.dumps(run.outputs[parent], ensure_ascii=False, indent=2, sort_keys=True)
        for parent in facts.parents
        if parent in run.outputs
    ]
    if not parts and run.state.entrypoint.text.strip():
        parts.append(run.state.entrypoint.text)
    parts.append(facts.agent.task_prompt)
    return "\n\n".join(parts)


def answer(run: RunContext, node: NodeState, answered: HumanAnswered) -> None:
    """A person answers the node's question."""
    question = node.question
    if answered.pause_id and (question is None or answered.pause_id != question.pause_id):
        raise StalePause(answered.pause_id)
    _answer(run, node, answered.text, answered.attachments)


def _answer(
    run: RunContext, node: NodeState, text: str, attachments: tuple[Attachment, ...]
) -> None:
    question = node.question
    if question is not None and question.budget is not None:
        _decide_limit(run, question.budget, budget_answers.read_verdict(text))
        return
    node.question = None
    node.counters = Counters()
    say_as_user(run, node, text, attachments)
    call_model(run, node)


def _decide_limit(run: RunContext, limit: SpentLimit, verdict: budget_answers.Verdict) -> None:
    if budget_answers.decide(run, limit, verdict):
        stop_run(run)


def stop_run(run: RunContext) -> None:
    """Leave every node so that the run can be restored and go on, and end."""
    for node_id in sorted(run.busy):
        node = run.actor(node_id)
        if node is not None and node_id in run.busy:
            pause(run, node)
    run.state.over = True
    run.events.append(Aborted())
    run.effects.append(Finish(RunCancelled()))


def refuse_answer(run: RunContext, node: NodeState, answered: HumanAnswered) -> None:
    """The node is not waiting: say who is, if anybody."""
    if answered.pause_id:
        raise StalePause(answered.pause_id)
    for other in run.state.nodes.values():
        if other.phase is NodePhase.AWAITING_INPUT:
            raise WrongNode(expected=other.id, got=node.id)
    raise NoNodeAwaiting


def retry(run: RunContext, node: NodeState, asked: RetryAsked) -> None:
    """A failed or interrupted node tries again with its transcript and all its budgets."""
    _retry(run, node, asked.message, asked.attachments)


def _retry(
    run: RunContext,
    node: NodeState,
    message: str | None = None,
    attachments: tuple[Attachment, ...] = (),
) -> None:
    node.error = ""
    node.counters = Counters()
    spending.allow_again(node)
    count_retry(node)
    if message is not None:
        say_as_user(run, node, message, attachments)
    call_model(run, node)


def refuse_retry(run: RunContext, node: NodeState, asked: RetryAsked) -> None:
    """Only a failed or interrupted node can be retried."""
    raise NodeNotRetryable(node.id)


def resume_interrupted(run: RunContext, node: NodeState) -> None:
    """A restored run retries what was interrupted when it was stopped."""
    _retry(run, node)


def interrupt(run: RunContext, node: NodeState, asked: NodeInterruptAsked) -> None:
    """A person interrupts a node or a subagent at work; the others go on."""
    if node.delegation is None:
        interrupt_now(run, node)
        return
    _cancel(run, node)
    subagents.interrupt(run, node)


def interrupt_now(run: RunContext, node: NodeState) -> None:
    """Cancel what runs for the node, give every open call a result, leave it to be retried."""
    for actor in _at_work_for(run, node):
        _cancel(run, actor)
        subagents.abandon(run, actor)
    _cancel(run, node)
    run.enter(node, NodePhase.INTERRUPTED)
    if node.delegation is None:
        run.events.append(NodeInterrupted(node.id, run.facts[node.id].label))


def pause(run: RunContext, node: NodeState) -> None:
    """Cancel what runs for the actor when its run is stopped, so that it can go on another day.

    What is only looked up for a person is left open: a restored run looks it up again.
    """
    turn = node.turn
    if turn is None or turn.batch_id:
        interrupt_now(run, node)
        return
    run.effects.append(CancelWork(node.id))


def _cancel(run: RunContext, node: NodeState) -> None:
    run.effects.append(CancelWork(node.id))
    # What was cancelled may still reply: by then it belongs to an earlier call.
    node.call += 1
    close_turn(run, node, feedback.INTERRUPTED_CALL)


def _at_work_for(run: RunContext, node: NodeState) -> list[NodeState]:
    turn = node.turn
    if turn is None:
        return []
    return [
        run.state.subagents[call.actor_id]
        for call in turn.calls
        if call.actor_id and call.phase is CallPhase.RUNNING
    ]


def stay_interrupted(run: RunContext, node: NodeState, asked: NodeInterruptAsked) -> None:
    """Interrupting twice changes nothing."""


def refuse_interrupt(run: RunContext, node: NodeState, asked: NodeInterruptAsked) -> None:
    """The node is not at work."""
    raise NodeNotActive(node.id)


def queue_message(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    """A message to a working node waits for its next model call."""
    agent = run.facts[node.id].agent
    if not (agent.conversation_mode or run.is_interactive(run.facts[node.id])):
        raise LiveMessagesDisabled(node.id)
    _queue(run, node, message)


def _queue(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    _add_prompt(run, node, message.skill_prompt)
    if node.queued is None:
        node.queued = []
    node.queued.append(QueuedMessage(message.message_id, message.text, message.attachments))
    run.messages[message.message_id] = node.id


def answer_by_message(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    """A message to a node that waits for an answer is the answer."""
    if node.question is not None and node.question.budget is not None:
        _decide_limit(run, node.question.budget, budget_answers.read_verdict(message.text))
        return
    _add_prompt(run, node, message.skill_prompt)
    _answer(run, node, message.text, message.attachments)


def retry_by_message(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    """A message to a failed or interrupted node retries it."""
    _add_prompt(run, node, message.skill_prompt)
    _retry(run, node, message.text, message.attachments)


def take_message(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    """A message to a node that does not move by itself lets it go on, past its limit too."""
    question = node.question
    if question is not None and question.budget is not None:
        try:
            verdict = budget_answers.read_verdict(message.text)
        except UnclearAnswer:
            verdict = budget_answers.Verdict(goes_on=True)
            _queue(run, node, message)
        _decide_limit(run, question.budget, verdict)
        return
    if node.phase is NodePhase.AWAITING_INPUT:
        answer_by_message(run, node, message)
    else:
        retry_by_message(run, node, message)


def refuse_message(run: RunContext, node: NodeState, message: MessageQueued) -> None:
    """The node has not begun or is done."""
    raise NodeNotActive(node.id)


def _add_prompt(run: RunContext, node: NodeState, prompt: str | None) -> None:
    if prompt is None or not prompt.strip():
        return
    known = (run.facts[node.id].agent.system_prompt, *node.extra_prompts)
    if not any(prompt in text for text in known):
        node.extra_prompts = (*node.extra_prompts, prompt)


def edit_message(run: RunContext, message: MessageEdited) -> None:
    """Give a queued message another text."""
    _queued(run, message.message_id).text = message.text


def withdraw_message(run: RunContext, message: MessageWithdrawn) -> None:
    """Take a queued message back."""
    queued = _queued(run, message.message_id)
    node = run.state.nodes[run.messages.pop(message.message_id)]
    node.queued = [other for other in node.queued or () if other is not queued] or None


def _queued(run: RunContext, message_id: str) -> QueuedMessage:
    node_id = run.messages.get(message_id)
    if node_id is None:
        raise UnknownMessage(message_id)
    queued = run.state.nodes[node_id].queued or ()
    return next(message for message in queued if message.message_id == message_id)


def patch_node(run: RunContext, node: NodeState, patched: NodePatched) -> None:
    """Merge a change of settings field by field; it counts from the next request on."""
    old, new = node.patch, patched.patch
    run.events.append(NodeReconfigured(node.id, new))
    if new.model:
        node.window = 0  # until the new model has replied
    if old is None:
        node.patch = new
        return
    if new.clear_reasoning:
        old = msgspec.structs.replace(old, reasoning_effort=None, reasoning_budget_tokens=None)
    node.patch = RuntimePatch(
        model=new.model or old.model,
        approval_mode=new.approval_mode or old.approval_mode,
        reasoning_effort=new.reasoning_effort or old.reasoning_effort,
        reasoning_budget_tokens=new.reasoning_budget_tokens or old.reasoning_budget_tokens,
        clear_reasoning=new.clear_reasoning or old.clear_reasoning,
        fast_mode=old.fast_mode if new.fast_mode is None else new.fast_mode,
    )


def forget_batch(run: RunContext, node: NodeState, reverted: EditBatchReverted) -> None:
    """An edit batch was undone: its records reach nobody any more."""
    run.forget_input()
    kept = [c for c in node.changed_files or () if c.batch_id != reverted.batch_id]
    node.changed_files = kept or None
    if kept:
        run.changed_files[node.id] = kept
    else:
        run.changed_files.pop(node.id, None)
