"""What the door lets a person do to settings, keys, endpoints and what was found out of them."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engine.vocabulary.tools import ApprovalMode
from orchestration.backend import Backend
from orchestration.composition import open_backend
from orchestration.errors import UserError
from orchestration.runs.requests import RunOverrides
from orchestration.settings.checking import BadSetting
from orchestration.settings.facts import Finding
from tests.support.engine_driver import workflow
from tests.support.graphs import agent_node, graph
from tests.support.loopback import Answer, Asked, Hang, LoopbackServer, json_answer
from tests.support.preparation_desk import Desk

KEY = "sk-of-1234567890abcdef"


def use(data_dir: Path, story: Callable[[Backend], Coroutine[Any, Any, None]], **env: str) -> None:
    """Let a story play with a backend of the folder."""

    async def play() -> None:
        backend = open_backend(data_dir, env=env)
        try:
            await story(backend)
        finally:
            await backend.aclose()

    asyncio.run(play())


def able(asked: Asked) -> Answer:
    """A server that lists models and answers everything with the same words."""
    if asked.method == "GET":
        return json_answer({"data": [{"id": "m", "context_length": 8192}, {"id": "n"}]})
    message = {"role": "assistant", "content": "Hello."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return json_answer(
        {"id": "r", "object": "chat.completion", "choices": [choice], "usage": usage}
    )


def test_a_key_makes_its_provider_ready_at_once_and_is_in_no_settings(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        told: list[bool] = []
        backend.watch_settings(lambda: told.append(backend.readiness(flow, groq).ready))
        assert not backend.readiness(flow, groq).ready
        await backend.set_key("groq", f"  {KEY}\n")
        assert backend.readiness(flow, groq).ready
        assert told == [True]
        assert backend.key_state("groq").is_stored
        settings = (data_dir / "settings.json").read_text(encoding="utf-8")
        assert KEY not in settings
        assert KEY in (data_dir / "secrets.json").read_text(encoding="utf-8")
        assert (data_dir / "secrets.json").stat().st_mode & 0o777 == 0o600
        assert "secrets.json" in await backend.key_place()
        await backend.remove_key("groq")
        await backend.remove_key("groq")
        assert not backend.readiness(flow, groq).ready
        assert KEY not in (data_dir / "secrets.json").read_text(encoding="utf-8")

    flow, groq = workflow(nodes=["a"]), RunOverrides(provider="groq", model="x")
    use(data_dir, story)


def test_a_key_of_the_environment_is_told_as_such(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        state = backend.key_state("groq")
        assert (state.is_stored, state.variable) == (False, "GROQ_API_KEY")
        assert state.is_in_environment

    use(data_dir, story, GROQ_API_KEY=KEY)


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel", "x" * 5000])
def test_what_is_no_key_is_refused_and_not_repeated(data_dir: Path, key: str) -> None:
    async def story(backend: Backend) -> None:
        with pytest.raises(BadSetting) as refusal:
            await backend.set_key("openai", key)
        assert not key.strip() or key not in str(refusal.value)
        assert not (data_dir / "secrets.json").exists()

    use(data_dir, story)


def test_an_endpoint_of_ones_own_is_added_used_and_removed(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        first = await backend.add_endpoint("Lab server", "http://127.0.0.1:8000/v1")
        second = await backend.add_endpoint("Lab  Server!", "https://lab.example/v1")
        third = await backend.add_endpoint("OpenAI", "https://mine.example/v1")
        assert (first, second, third) == ("lab-server", "lab-server-2", "openai-2")
        await backend.set_setting(("active_provider",), first)
        await backend.set_setting(("providers", first, "default_model"), "m")
        status = backend.provider(first)
        assert status is not None
        assert status.is_own
        assert status.is_active
        assert status.base_url == "http://127.0.0.1:8000/v1"
        assert backend.readiness(workflow(nodes=["a"])).sentence == "answered by Lab server"
        await backend.set_key(first, KEY)
        await backend.remove_endpoint(first)
        assert backend.provider(first) is None
        assert backend.settings.active_provider is None
        assert KEY not in (data_dir / "secrets.json").read_text(encoding="utf-8")
        with pytest.raises(UserError, match="no endpoint"):
            await backend.remove_endpoint("openai")
        for label, address in (("", "http://a"), ("A", "nonsense"), ("A", "")):
            with pytest.raises(BadSetting):
                await backend.add_endpoint(label, address)

    use(data_dir, story)


def test_a_check_tells_what_it_finds_and_keeps_it_until_it_is_forgotten(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        with LoopbackServer(answer_with=able) as server:
            name = await backend.add_endpoint("Lab", f"{server.url}/v1")
            report = await backend.fetch_models(name)
            assert (report.ok, report.models) == (True, ("m", "n"))
            found: list[Finding] = []
            checked = await backend.check_provider(name, on_found=found.append)
        assert checked.ok
        assert tuple(found) == checked.findings
        (known,) = await backend.known_quirks(name)
        assert (known.model, known.context_window, known.findings) == ("m", 8192, tuple(found))
        await backend.forget_quirks(name)
        assert await backend.known_quirks(name) == ()

    use(data_dir, story)


def test_a_check_that_is_cancelled_keeps_nothing(data_dir: Path) -> None:
    asked = threading.Event()

    def hanging(request: Asked) -> Answer:
        if request.method == "GET":
            return able(request)
        asked.set()
        return Answer((Hang(),), headers={"content-type": "text/event-stream"})

    async def story(backend: Backend) -> None:
        with LoopbackServer(answer_with=hanging) as server:
            name = await backend.add_endpoint("Lab", f"{server.url}/v1")
            check = asyncio.create_task(backend.check_provider(name))
            await asyncio.to_thread(asked.wait, 60)
            check.cancel()
            with pytest.raises(asyncio.CancelledError):
                await check
            assert await backend.known_quirks(name) == ()

    use(data_dir, story)


def test_models_have_what_is_known_of_them_and_what_was_set(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        await backend.set_setting(("models", "Mine", "context_window"), 1234)
        await backend.set_setting(("models", "gpt-4o", "input_price"), 7)
        models = {model.name: model for model in await backend.known_models()}
        assert models["Mine"].own.context_window == 1234
        assert models["Mine"].context_window is None
        known = models["gpt-4o"]
        assert (known.own.input_price, known.providers) == (7, ("OpenAI",))
        assert known.input_price is not None
        assert known.output_price is not None
        assert known.output_price > known.input_price

    use(data_dir, story, OPENAI_API_KEY=KEY)


def test_the_embedded_model_takes_new_settings_over_at_its_next_start(
    data_dir: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF and more")

    async def story(backend: Backend) -> None:
        before = backend.embedded_state()
        assert (before.state, before.pid) in (("stopped", None), ("missing", None))
        await backend.stop_embedded()
        if before.state == "stopped":
            await backend.set_setting(("embedded", "model_file"), str(file))
            state = backend.embedded_state()
            assert (state.file, state.is_bundled, state.size) == (str(file.resolve()), False, 13)

    use(data_dir, story)


def test_data_is_told_with_its_room_and_without_a_password(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        use_of = await backend.data_use()
        assert (use_of.folder, use_of.is_server) == (data_dir, True)
        assert "secret" not in use_of.database
        assert "host/name" in use_of.database
        names = dict(await backend.versions())
        assert {"openflow", "Python", "PySide6_Essentials"} <= set(names)

    use(data_dir, story, OPENFLOW_DATABASE_URL="postgresql://me:secret@host/name")


def test_the_log_is_switched_on_and_off_and_holds_no_key(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        await backend.set_key("openai", KEY)
        assert await backend.log_text() == ""
        await backend.set_setting(("diagnostics", "log"), "debug")
        with LoopbackServer(answer_with=able) as server:
            await backend.set_setting(("providers", "openai", "base_url"), f"{server.url}/v1")
            await backend.check_provider("openai", "m")
            assert any(KEY in asked.headers.get("authorization", "") for asked in server.asked)
        logging.getLogger("providers.test").warning("this is it: %s", KEY)
        text = await backend.log_text()
        assert "this is it: [masked]" in text
        assert KEY not in text
        await backend.set_setting(("diagnostics", "log"), "off")
        await backend.clear_log()
        assert await backend.log_text() == ""

    use(data_dir, story)
    assert all(KEY.encode() not in f.read_bytes() for f in (data_dir / "logs").glob("*"))


def test_nodes_that_leave_their_mode_open_get_that_of_the_settings(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.settings = desk.settings.model_copy(update={"approval_mode": ApprovalMode.ALWAYS_ASK})
    desk.env["OPENAI_API_KEY"] = KEY
    open_node = agent_node("a", model="gpt-4o")
    set_node = agent_node("b", model="gpt-4o", tools={"approvalMode": "write"})
    prepared = desk.prepare(graph([open_node, set_node]))
    modes = [
        node.agent.tools.effective().approval_mode
        for node in prepared.workflow.nodes
        if node.agent is not None
    ]
    assert modes == [ApprovalMode.ALWAYS_ASK, ApprovalMode.WRITE]


def test_settings_are_valid_json_after_everything(data_dir: Path) -> None:
    async def story(backend: Backend) -> None:
        await backend.set_search_key("Brave", KEY)
        assert backend.settings.tools.search_keys == {"brave": "search:brave"}
        await backend.remove_search_key("brave")
        with pytest.raises(BadSetting):
            await backend.set_search_key("two words", KEY)

    use(data_dir, story)
    assert json.loads((data_dir / "settings.json").read_bytes()) == {}
