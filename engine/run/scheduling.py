"""Which node goes next, and the request that its model call is made from."""

from __future__ import annotations

from typing import Any

from engine.run import feedback, spending, subagents
from engine.run.actors import NodeFacts
from engine.run.budgets import MAX_COUNTED_RETRIES
from engine.run.run_context import RunContext
from engine.run.state import NodePhase, NodeState
from engine.vocabulary.effects import CallModel, Finish, Wait
from engine.vocabulary.events import (
    ChatMessage,
    Finished,
    NodeCompleted,
    NodeErrored,
    NodeFailed,
    NodeQueued,
)
from engine.vocabulary.messages import Completed, TranscriptView, UserMessage
from engine.vocabulary.report import NodeOutput, RunCompleted, RunFailed, RunReport
from engine.vocabulary.requests import AgentRequest


def start_ready_nodes(run: RunContext) -> None:
    """Start every idle node whose parents are all done, in id order."""
    nodes = run.state.nodes
    for node_id, open_parents in run.open_parents.items():
        if open_parents == 0 and nodes[node_id].phase is NodePhase.IDLE:
            call_model(run, nodes[node_id])


def call_model(run: RunContext, node: NodeState) -> None:
    """Ask for the actor's next model call, delivering queued messages first."""
    facts = run.facts[node.id]
    if facts.caller_id is not None and subagents.has_spent_its_turns(node):
        fail_node(run, node, feedback.SUBAGENT_TURNS_EXHAUSTED)
        return
    if run.state.limits is not None and _is_held(run, node):
        return
    model = run.model_of(node)
    if not model or model.isspace():
        fail_run(run, f"node '{facts.label}' has no model to run on", facts)
        return
    if node.queued:
        deliver_queued(run, node)
    node.call += 1
    run.enter(node, NodePhase.CALLING)
    attempt = node.attempt
    if node.announced_attempt != attempt:
        node.announced_attempt = attempt
        run.events.append(NodeQueued(node.id, facts.label))
        if run.agents:
            subagents.predeclare(run, node)
    request = build_request(run, node, facts, model)
    if node.transcript and (node.window or node.compacted):
        request, put_aside, told = run.keeper.fit(node, request)
        if told is not None:
            run.events.append(told)
        run.effects.append(CallModel(node.id, node.call, request, put_aside))
    else:
        run.effects.append(CallModel(node.id, node.call, request))


def _is_held(run: RunContext, node: NodeState) -> bool:
    """Whether a limit keeps an actor from its next call: it waits for a person, or has failed."""
    limit = spending.used_up(run, node)
    if limit is None:
        return False
    if spending.is_stopped(run, node):
        fail_node(run, node, spending.stopped_text(limit))
    else:
        spending.pause(run, node, limit)
    return True


def deliver_queued(run: RunContext, node: NodeState) -> None:
    """Put the node's queued messages into its transcript."""
    for message in node.queued or ():
        run.messages.pop(message.message_id, None)
        say_as_user(run, node, message.text, message.attachments)
    node.queued = None


def return_queued(run: RunContext, node: NodeState) -> None:
    """Say of the node's queued messages that they came too late."""
    for message in node.queued or ():
        run.messages.pop(message.message_id, None)
        text = f"Not delivered, because the node had finished: {message.text}"
        run.events.append(ChatMessage(node.id, "system", text))
    node.queued = None


def say_as_user(
    run: RunContext, node: NodeState, text: str, attachments: tuple[Any, ...] = ()
) -> None:
    """Append what a person said and tell it."""
    node.transcript.append(UserMessage(text, attachments))
    run.events.append(ChatMessage(node.id, "user", text))


def build_request(run: RunContext, node: NodeState, facts: NodeFacts, model: str) -> AgentRequest:
    """The request for the actor's next call, equal for equal states to the byte."""
    if facts.caller_id is not None:
        return _subagent_request(run, node, facts, model)
    agent, state, settings = facts.agent, run.state, run.workflow.settings
    policy = run.policy
    tools = run.offered(node, facts, policy)
    effort = agent.reasoning_effort or settings.reasoning_effort
    budget = agent.reasoning_budget_tokens or settings.reasoning_budget_tokens
    fast_mode = settings.fast_mode
    patch = node.patch
    if patch is not None:
        if patch.clear_reasoning:
            effort = budget = None
        effort = patch.reasoning_effort or effort
        budget = patch.reasoning_budget_tokens or budget
        fast_mode = fast_mode if patch.fast_mode is None else patch.fast_mode
    # By position, in the order of the fields: keywords cost eight times as much here, and this is
    # done for every turn of every node.
    return AgentRequest(
        state.workflow_id,
        state.run_id,
        node.id,
        facts.label,
        model,
        agent.provider_id or settings.provider_id or None,
        run.assembler.system_messages(
            facts.node, run.tool_names(tools), extra_prompts=node.extra_prompts
        ),
        agent.task_prompt,
        run.input_of(node.id, tools),
        facts.submission_schema,
        TranscriptView(node.transcript),
        agent.handoff.format,
        facts.tool_config,
        tools,
        () if facts.parents else state.entrypoint.attachments,
        node.attempt,
        None,
        effort,
        budget,
        fast_mode,
        policy,
        agent.conversation_mode or run.is_interactive(facts),
        agent.conversation_mode,
    )


def _subagent_request(
    run: RunContext, actor: NodeState, facts: NodeFacts, model: str
) -> AgentRequest:
    """A subagent knows its prompt, its task and what the whole workflow shares."""
    state, settings, agent = run.state, run.workflow.settings, facts.agent
    prompt = agent.system_prompt.strip()
    return AgentRequest(
        workflow_id=state.workflow_id,
        run_id=state.run_id,
        node_id=actor.id,
        node_label=facts.label,
        model=model,
        provider_id=agent.provider_id or settings.provider_id or None,
        system_messages=((prompt,) if prompt else ()) + run.assembler.shared_context,
        task_prompt=agent.task_prompt,
        input=None,
        output_schema=facts.submission_schema,
        transcript=TranscriptView(actor.transcript),
        handoff_format=agent.handoff.format,
        tool_config=facts.tool_config,
        available_tools=run.offered(actor, facts, run.policy),
        model_attempt=actor.attempt,
        fast_mode=settings.fast_mode,
        tool_access_policy=run.policy,
    )


def accept_output(run: RunContext, node: NodeState, reply: Completed) -> None:
    """Take the node's output and start the children that were waiting for it alone."""
    facts = run.facts[node.id]
    if facts.caller_id is not None:
        subagents.complete(run, node, reply)
        return
    output, handoff = reply.output, reply.handoff
    node.output, node.handoff = output, handoff
    run.outputs[node.id] = output
    run.forget_input(node.id)
    if handoff is not None:
        run.handoffs[node.id] = handoff
    if node.queued:
        return_queued(run, node)
    run.enter(node, NodePhase.DONE)
    run.remaining -= 1
    run.events.append(NodeCompleted(node.id, facts.label, output, handoff, reply.repairs))
    for child in facts.children:
        run.open_parents[child] -= 1
        if run.open_parents[child] == 0:
            call_model(run, run.state.nodes[child])


def back_off(run: RunContext, node: NodeState, until: float) -> None:
    """Make the node's call again at `until`."""
    count_retry(node)
    run.enter(node, NodePhase.BACKOFF)
    run.effects.append(Wait(node.id, until))


def count_retry(node: NodeState) -> None:
    """Begin another attempt; the number never goes down and is never told above its cap."""
    node.retries = min(node.retries + 1, MAX_COUNTED_RETRIES)


def fail_node(run: RunContext, node: NodeState, error: str) -> None:
    """The node failed; its descendants wait, everything else goes on, a person may retry it.

    A subagent that fails is an error for its caller, and nothing waits.
    """
    if run.facts[node.id].caller_id is not None:
        subagents.fail(run, node, error)
        return
    node.error = error
    run.enter(node, NodePhase.FAILED)
    run.events.append(NodeErrored(node.id, run.facts[node.id].label, error))


def fail_run(run: RunContext, message: str, facts: NodeFacts) -> None:
    """End the run for a reason that no answer could mend."""
    run.state.over = True
    run.events.append(NodeFailed(facts.id, facts.label, message))
    run.effects.append(Finish(RunFailed(message, facts.id)))


def complete_run(run: RunContext) -> None:
    """Every node is done: report."""
    state = run.state
    state.over = True
    report = RunReport(
        workflow_id=state.workflow_id,
        outputs=tuple([NodeOutput(node_id, run.outputs[node_id]) for node_id in state.nodes]),
        read_calls=state.read_calls,
        redundant_reads=state.redundant_reads,
        tokens_in=state.usage.prompt or 0,
        usage=state.usage.as_usage(),
    )
    run.events.append(Finished(report))
    run.effects.append(Finish(RunCompleted(report)))
