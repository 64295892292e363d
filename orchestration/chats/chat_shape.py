"""A direct chat as a workflow of one node, which is in conversation mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.graph.agents import CallableAgent
from engine.graph.document import document_of
from engine.graph.edits import rename_workflow
from engine.graph.handoff import DEFAULT_OUTPUT_SCHEMA
from engine.graph.node_config import AgentNodeConfig, LegacyHandoff, NodeToolConfig
from engine.graph.workflow import AGENT_KIND, Node, Position, Workflow
from engine.vocabulary.inputs import RuntimePatch
from engine.vocabulary.tools import ApprovalMode
from orchestration.chats.chat_files import NODE_ID
from orchestration.runs.steered import NodeSettings

NEW_CHAT = "New chat"
TITLE_LENGTH = 60
"""Characters of a title, at most."""
_KEY = "chat"
_SYSTEM = "You are a helpful assistant. Be exact and brief, and say when you do not know something."
_TASK = "Talk with the person. Their messages follow."


def new_chat(chat_id: str, agent: CallableAgent | None, created_ms: int) -> Workflow:
    """A chat that nobody has said anything in, with a saved agent's prompts and tools or ours."""
    tools = agent.tools if agent is not None else NodeToolConfig()
    config = AgentNodeConfig(
        system_prompt=_filled(agent.system_prompt if agent else "", _SYSTEM),
        task_prompt=_filled(agent.task_prompt if agent else "", _TASK),
        model=agent.model if agent else "",
        output_schema=agent.output_schema if agent else DEFAULT_OUTPUT_SCHEMA,
        handoff=LegacyHandoff(),
        request_user_input=True,
        conversation_mode=True,
        tools=tools.model_copy(
            update={
                "approval_mode": tools.approval_mode or ApprovalMode.READ_ONLY,
                "allow_structured_user_input": True,
                "allow_free_text_user_input": False,
            }
        ),
    )
    node = Node(
        id=NODE_ID,
        label=agent.name.strip() or "Agent" if agent else "Assistant",
        kind=AGENT_KIND,
        position=Position(x=80, y=120),
        agent=config,
    )
    chat = Workflow(id=chat_id, name=NEW_CHAT, nodes=(node,), edges=())
    facts: dict[str, Any] = {"createdAtMs": created_ms}
    if agent is not None:
        facts["agentId"] = agent.id
    return _with_facts(chat, facts)


def agent_of(chat: Workflow) -> AgentNodeConfig | None:
    """The settings of the one who answers; `None` in a file that somebody has broken."""
    return next((node.agent for node in chat.nodes if node.id == NODE_ID), None)


def title_of(message: str) -> str:
    """What a chat is called after its first message."""
    words = " ".join(message.split())
    if len(words) <= TITLE_LENGTH:
        return words
    return words[: TITLE_LENGTH - 1].rstrip() + "…"


def titled(chat: Workflow, message: str) -> Workflow:
    """The chat named after its first message, unless a person has named it."""
    return rename_workflow(chat, title_of(message)) if chat.name == NEW_CHAT else chat


def folder_of(chat: Workflow) -> Path | None:
    """The folder that the chat works in; `None` for a managed one."""
    named = _facts(chat).get("folder")
    return Path(named) if isinstance(named, str) and named else None


def with_folder(chat: Workflow, folder: Path | None) -> Workflow:
    """The chat with another folder to work in."""
    facts = {key: value for key, value in _facts(chat).items() if key != "folder"}
    if folder is not None:
        facts["folder"] = str(folder)
    return _with_facts(chat, facts)


def with_agent(chat: Workflow, **settings: Any) -> Workflow:
    """The chat with other settings of the one who answers; `approval_mode` is among them."""
    nodes = []
    for node in chat.nodes:
        if node.id == NODE_ID and node.agent is not None:
            changes = dict(settings)
            if "approval_mode" in changes:
                mode = {"approval_mode": changes.pop("approval_mode")}
                changes["tools"] = node.agent.tools.model_copy(update=mode)
            agent = node.agent.model_copy(update=changes)
            nodes.append(node.model_copy(update={"agent": agent}))
        else:
            nodes.append(node)
    return chat.model_copy(update={"nodes": tuple(nodes)})


def patch_to(chat: Workflow, now: NodeSettings) -> RuntimePatch | None:
    """What makes a run that goes on with these settings do as the chat says; `None` for nothing.

    A chat that names no model leaves that of the run alone.
    """
    agent = agent_of(chat)
    if agent is None:
        return None
    mode = agent.tools.effective().approval_mode
    effort = agent.reasoning_effort or None
    patch = RuntimePatch(
        model=agent.model if agent.model and agent.model != now.model else None,
        approval_mode=mode if mode != now.approval_mode else None,
        reasoning_effort=effort if effort != now.reasoning_effort else None,
        clear_reasoning=effort is None and now.reasoning_effort is not None,
    )
    return None if patch == RuntimePatch() else patch


def _facts(chat: Workflow) -> dict[str, Any]:
    facts = chat.unknown_keys.get(_KEY)
    return facts if isinstance(facts, dict) else {}


def _with_facts(chat: Workflow, facts: dict[str, Any]) -> Workflow:
    return Workflow.from_document({**document_of(chat), _KEY: facts})


def _filled(text: str, otherwise: str) -> str:
    return text if text.strip() else otherwise
