"""Chats through the door: talked in, stopped, ended with the program, taken up, asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.graph.document import document_of
from engine.graph.workflow import Workflow
from engine.vocabulary.messages import AssistantMessage, UserMessage
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import ASK_QUESTION_TOOL, SUBMIT_TOOL, ApprovalMode
from orchestration.backend import Backend
from orchestration.chats.chat_files import NODE_ID
from orchestration.chats.chat_shape import with_agent, with_folder
from orchestration.errors import UserError
from orchestration.library.agent_shape import new_agent
from orchestration.runs.requests import RunOverrides
from orchestration.runs.view_values import RunStatus
from tests.support.run_rig import run_async, scripted_backend
from tests.support.scripted_model import (
    Scripted,
    ScriptedModel,
    ask_choice,
    say,
    use,
)

BY = RunOverrides(provider="openai", model="scripted")
CHOICE = ask_choice("size", "How large?", {"s": "Small", "l": "Large"})


def said(request: AgentRequest) -> list[str]:
    """What the person has said so far, as the model sees it."""
    return [item.content for item in request.transcript if isinstance(item, UserMessage)]


def spoken(request: AgentRequest) -> list[str]:
    """What the model has said so far."""
    return [item.content for item in request.transcript if isinstance(item, AssistantMessage)]


def echo(request: AgentRequest) -> Scripted:
    heard = [*said(request)]
    return say(f"{len(heard)}: {heard[-1] if heard else 'hello'}")


async def new(backend: Backend, **settings: object) -> tuple[Path, Workflow]:
    path = await backend.create_chat()
    return path, with_agent(backend.load_workflow(path), **settings)


def test_each_message_goes_on_with_the_same_run(tmp_path: Path) -> None:
    async def body() -> None:
        model = ScriptedModel(echo)
        backend = scripted_backend(model, tmp_path)
        path, chat = await new(backend)
        run_id = await backend.say(chat, "Hi", path, BY)
        await backend.settled(run_id)
        assert await backend.say(chat, "And now?", path, BY) == run_id
        await backend.settled(run_id)
        first, second = model.requests_of(NODE_ID)
        assert first.input["entrypoint"]["text"] == "Hi"
        assert said(second)[-1] == "And now?"
        assert first.conversation_mode
        assert first.offered_harness_tools == (SUBMIT_TOOL, ASK_QUESTION_TOOL)
        assert backend.view(run_id).status is RunStatus.PAUSED
        stored = await backend.chat_run(chat.id)
        assert stored is not None
        assert stored.run_id == run_id
        await backend.aclose()

    run_async(body)


def test_a_chat_goes_on_in_the_next_program_with_what_was_changed_meanwhile(
    tmp_path: Path,
) -> None:
    async def body() -> None:
        backend = scripted_backend(echo, tmp_path)
        path, chat = await new(backend)
        run_id = await backend.say(chat, "Hi", path, BY)
        await backend.settled(run_id)
        await backend.aclose()

        model = ScriptedModel(echo)
        backend = scripted_backend(model, tmp_path)
        changed = with_agent(chat, model="larger", approval_mode=ApprovalMode.ALWAYS_ASK)
        assert await backend.say(changed, "Still there?", path, BY) == run_id
        await backend.settled(run_id)
        (request,) = model.requests_of(NODE_ID)
        assert request.model == "larger"
        assert said(request)[-1] == "Still there?"
        assert spoken(request), "what was said before was lost"
        settings = backend.node_settings(run_id, NODE_ID)
        assert settings.approval_mode is ApprovalMode.ALWAYS_ASK
        await backend.aclose()

    run_async(body)


def test_a_stopped_answer_leaves_the_chat_open(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(echo, tmp_path)
        path, chat = await new(backend)
        run_id = await backend.say(chat, "Hi", path, BY)
        await backend.stop_run(run_id)
        assert backend.view(run_id).status is RunStatus.STOPPED
        await backend.aclose()

        backend = scripted_backend(echo, tmp_path)
        assert await backend.say(chat, "Once more", path, BY) == run_id
        await backend.settled(run_id)
        assert backend.view(run_id).status is RunStatus.PAUSED
        await backend.aclose()

    run_async(body)


def test_an_answer_to_a_question_of_another_day_settles_its_card_alone(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(lambda request: CHOICE, tmp_path)
        path, chat = await new(backend)
        run_id = await backend.say(chat, "Hi", path, BY)
        await backend.settled(run_id)
        await backend.aclose()

        backend = scripted_backend(echo, tmp_path)
        await backend.take_up_chat(chat, run_id)
        await backend.settled(run_id)
        asked = backend.view(run_id).pending_inputs[NODE_ID]
        assert asked.structured_input is not None
        await backend.say(chat, "Neither of them", path, BY)
        await backend.settled(run_id)
        waits = backend.view(run_id).pending_inputs[NODE_ID]
        assert waits.structured_input is None
        assert waits.pause_id != asked.pause_id
        await backend.aclose()

    run_async(body)


def test_a_writing_call_is_refused_unless_the_chat_may_write(tmp_path: Path) -> None:
    def script(request: AgentRequest) -> Scripted:
        if any("wrote" in repr(item) for item in request.transcript):
            return say("Written.")
        if said(request) and "write" in {tool.name for tool in request.available_tools}:
            return use(("write", {"path": "note.txt", "content": "x"}))
        return say("Ready.")

    async def body() -> None:
        backend = scripted_backend(script, tmp_path)
        path, chat = await new(backend)
        run_id = await backend.say(chat, "Hi", path, BY)
        await backend.settled(run_id)
        allowed = with_agent(chat, approval_mode=ApprovalMode.WRITE)
        await backend.patch_chat(allowed)
        await backend.say(allowed, "Write it", path, BY)
        await backend.settled(run_id)
        (approval,) = backend.view(run_id).pending_approvals.values()
        await backend.decide(run_id, approval.approval_id, True)
        await backend.settled(run_id)
        assert (tmp_path / "written" / "note.txt").read_text() == "x"
        await backend.aclose()

    run_async(body)


def test_a_chat_with_a_saved_agent_has_its_prompts_and_tools(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(echo, tmp_path)
        agent = new_agent("Reviewer").model_copy(update={"system_prompt": "You review."})
        backend.library.agents.save(agent)
        path = await backend.create_chat(agent.id)
        config = backend.load_workflow(path).nodes[0].agent
        assert config is not None
        assert config.system_prompt == "You review."
        with pytest.raises(UserError, match="this agent is gone"):
            await backend.create_chat("nobody")
        await backend.aclose()

    run_async(body)


def test_chats_are_listed_apart_and_rubbish_hides_none(tmp_path: Path) -> None:
    async def body() -> None:
        backend = scripted_backend(echo, tmp_path)
        older, _ = await new(backend)
        newer, chat = await new(backend)
        older.touch()
        newer.with_name("chat-broken.workflow.json").write_text('{"id": "chat-broken", "na')
        catalogue = backend.library.catalogue()
        assert {each.path for each in catalogue.chats if not each.damage} == {older, newer}
        assert [each.path.name for each in catalogue.chats if each.damage] == [
            "chat-broken.workflow.json"
        ]
        assert not catalogue.workflows
        folder = tmp_path / "project"
        folder.mkdir()
        moved = with_folder(chat, folder)
        newer.write_text(json.dumps(document_of(moved)))
        assert backend.library.run_folder(newer) == folder
        folder.rmdir()
        with pytest.raises(UserError, match="project"):
            backend.library.run_folder(newer)
        await backend.aclose()

    run_async(body)
