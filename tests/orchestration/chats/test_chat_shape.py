"""What a chat's file holds: whatever is changed in it, the rest stays, unknown keys included."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from engine.graph.document import document_of
from engine.graph.edits import rename_workflow
from engine.graph.serialization import dump_workflow, load_workflow
from engine.vocabulary.tools import ApprovalMode
from orchestration.chats.chat_files import chats_folder, is_chat_file, is_chat_id
from orchestration.chats.chat_shape import (
    NEW_CHAT,
    TITLE_LENGTH,
    agent_of,
    folder_of,
    new_chat,
    title_of,
    titled,
    with_agent,
    with_folder,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=90)


@given(
    title=TEXTS.filter(str.strip),
    model=TEXTS,
    mode=st.sampled_from(ApprovalMode),
    effort=st.none() | st.sampled_from(("low", "high")),
    folder=st.none() | st.just(Path("/somewhere/else")),
    unknown=st.dictionaries(st.just("zoom"), st.integers(), max_size=1),
)
def test_a_chat_is_read_as_it_was_written(
    title: str,
    model: str,
    mode: ApprovalMode,
    effort: str | None,
    folder: Path | None,
    unknown: dict[str, int],
) -> None:
    made = rename_workflow(new_chat("chat-1", None, 12), title)
    document = document_of(made)
    document["chat"] = {**document["chat"], **unknown}
    changed = with_agent(
        load_workflow(dump_workflow(type(made).from_document(document))),
        model=model,
        approval_mode=mode,
        reasoning_effort=effort,
    )
    read = load_workflow(dump_workflow(with_folder(changed, folder)))
    agent = agent_of(read)
    assert agent is not None
    assert (read.id, read.name, folder_of(read)) == ("chat-1", title.strip(), folder)
    assert (agent.model, agent.reasoning_effort) == (model, effort)
    assert agent.tools.approval_mode is mode
    assert agent.conversation_mode
    facts = {"createdAtMs": 12, **unknown}
    assert with_folder(read, None).unknown_keys["chat"] == facts


@given(TEXTS)
def test_a_title_is_the_first_message_in_one_short_line(message: str) -> None:
    title = title_of(message)
    assert len(title) <= TITLE_LENGTH
    assert "\n" not in title
    if len(" ".join(message.split())) <= TITLE_LENGTH:
        assert title == " ".join(message.split())
    else:
        assert title.endswith("…")


def test_a_name_that_a_person_gave_stays() -> None:
    chat = new_chat("chat-1", None, 0)
    assert chat.name == NEW_CHAT
    assert titled(chat, "How are you?").name == "How are you?"
    assert titled(rename_workflow(chat, "Mine"), "How are you?").name == "Mine"


def test_chats_are_told_by_where_they_are() -> None:
    folder = chats_folder(Path("/data"))
    assert is_chat_file(folder / "chat-1.workflow.json")
    assert not is_chat_file(Path("/data/workflows/chat-1.workflow.json"))
    assert not is_chat_file(folder / "notes.workflow.json")
    assert not is_chat_file(None)
    assert is_chat_id("chat-1")
    assert not is_chat_id("feature-planning")
