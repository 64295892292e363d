"""The pool of ports: what it costs, whom it calls, and what it refuses."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from msgspec import Struct

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.messages import Attachment
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject
from providers.config import ProviderConfig, configured
from providers.factory import ProviderPool
from providers.specs import SPECS, Wire
from tests.support.loopback import LoopbackServer
from tests.support.source_tree import CHECKOUT
from tests.support.wire_runs import MODEL, SUBMIT, use
from tests.support.wire_scripts import SCRIPTS
from tests.support.wire_suite import node_request

CHAT = SCRIPTS[Wire.CHAT]


def in_a_new_process(code: str) -> str:
    """What the code prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_pool_with_ports_imports_no_sdk() -> None:
    code = """
import sys
from providers.config import configured
from providers.factory import ProviderPool
from providers.specs import SPECS
pool = ProviderPool()
ports = [pool.port(configured(spec, api_key="k")) for spec in SPECS.values()]
slow = {"openai", "anthropic", "httpx2", "httpx", "pydantic", "jsonschema"}
print(len(ports), sorted(slow & set(sys.modules)))
"""
    assert in_a_new_process(code) == f"{len(SPECS)} []"


@pytest.mark.parametrize(
    ("wire", "used", "unused"),
    [("chat", "openai", "anthropic"), ("messages", "anthropic", "openai")],
)
def test_an_sdk_is_imported_on_the_first_call_in_a_thread(
    wire: str, used: str, unused: str
) -> None:
    code = f"""
import asyncio, sys, threading
from providers.config import configured
from providers.factory import ProviderPool
from providers.specs import SPECS, Wire
from tests.support.wire_suite import node_request

threads = {{}}

class Watch:
    def find_spec(self, name, path=None, target=None):
        threads.setdefault(name, threading.current_thread())

sys.meta_path.insert(0, Watch())

async def main():
    pool = ProviderPool()
    config = configured(
        SPECS["custom_openai_compatible"], base_url="http://127.0.0.1:1", wire=Wire("{wire}")
    )
    try:
        await pool.port(config).invoke(node_request("m"))
    except Exception as error:
        print(error)
    await pool.aclose()

asyncio.run(main())
print(threads["{used}"] is threading.main_thread(), "{unused}" in sys.modules)
"""
    lines = in_a_new_process(code).splitlines()
    assert "connection refused" in lines[0]
    assert lines[1] == "False False"


def test_each_model_goes_over_its_own_wire() -> None:
    messages = SCRIPTS[Wire.MESSAGES]
    with LoopbackServer(CHAT.answer(text="Chat."), messages.answer(text="Messages.")) as server:
        config = configured(
            SPECS["custom_openai_compatible"],
            base_url=server.url,
            model_wires={"claude": Wire.MESSAGES},
        )

        async def both(port: Any) -> list[str]:
            return [(await port.invoke(node_request(model))).text for model in ("m", "claude")]

        assert use(config, both) == ["Chat.", "Messages."]
        assert [asked.path for asked in server.asked] == ["/v1/chat/completions", "/v1/messages"]


def test_each_profile_goes_to_its_own_service_and_none_falls_back() -> None:
    with (
        LoopbackServer(CHAT.refusal(401, "no")) as first,
        LoopbackServer(CHAT.answer(text="Second.")) as second,
    ):
        configs = [
            configured(SPECS[name], base_url=server.url, wire=Wire.CHAT, api_key="k")
            for name, server in (("openai", first), ("groq", second))
        ]

        async def both() -> None:
            pool = ProviderPool()
            with pytest.raises(ModelCallError, match="OpenAI answered 401"):
                await pool.port(configs[0]).invoke(node_request("m"))
            turn = await pool.port(configs[1]).invoke(node_request("m"))
            assert turn.text == "Second."
            await pool.aclose()

        asyncio.run(both())
        assert (len(first.asked), len(second.asked)) == (1, 1)


@pytest.mark.parametrize("provider_id", ["bedrock", "openai-codex", "embedded"])
def test_what_cannot_be_used_says_why(provider_id: str) -> None:
    config = configured(SPECS[provider_id], api_key="k")
    with pytest.raises(ModelCallError) as raised:
        use(config, lambda port: port.invoke(node_request("m")))
    assert isinstance(raised.value.failure, PermanentFailure)


def test_a_header_of_its_own_carries_the_key_if_the_service_wants_that() -> None:
    from msgspec.structs import replace

    spec = SPECS["custom_openai_compatible"]
    spec = replace(spec, auth=replace(spec.auth, header="X-Gateway-Key"))
    with LoopbackServer(CHAT.answer(text="Hi.")) as server:
        use(
            configured(spec, base_url=server.url, api_key="gateway-key"),
            lambda port: port.invoke(node_request("m")),
        )
        assert server.last.headers["x-gateway-key"] == "gateway-key"
        assert "authorization" not in server.last.headers


def test_the_anthropic_key_goes_out_in_both_headers() -> None:
    messages = SCRIPTS[Wire.MESSAGES]
    with LoopbackServer(messages.answer(text="Hi.")) as server:
        config = configured(SPECS["anthropic"], base_url=server.url, api_key="sk-ant-0123456")
        use(config, lambda port: port.invoke(node_request("claude-3-5-sonnet-latest")))
        assert server.last.headers["x-api-key"] == "sk-ant-0123456"
        assert server.last.headers["authorization"] == "Bearer sk-ant-0123456"
        assert "anthropic-version" in server.last.headers


class Where(Struct):
    base_url: str
    api_key: str


class Demo:
    """A server of our own whose address and key change."""

    def __init__(self, *places: Where) -> None:
        self.places = list(places)

    async def endpoint(self) -> Where:
        return self.places.pop(0)


def bounded(schema: JsonObject) -> JsonObject:
    return {**schema, "title": "bounded"}


def test_the_embedded_model_is_asked_as_it_must_be() -> None:
    with (
        LoopbackServer(CHAT.answer(calls=(SUBMIT,))) as first,
        LoopbackServer(CHAT.answer(calls=(SUBMIT,)), CHAT.answer(calls=(SUBMIT,))) as second,
    ):
        demo = Demo(
            Where(first.url, "key-1"),
            Where(second.url + "/v1", "key-2"),
            Where(second.url, "key-2"),
        )

        async def thrice(port: Any) -> None:
            for _ in range(3):
                await port.invoke(node_request("embedded", conversation_mode=True))

        use(configured(SPECS["embedded"]), thrice, embedded=demo, bound=bounded)
        asked = [*first.asked, *second.asked]
        assert [a.headers["authorization"] for a in asked] == [
            "Bearer key-1",
            "Bearer key-2",
            "Bearer key-2",
        ]
        assert {a.path for a in asked} == {"/v1/chat/completions"}
        assert second.connections == 2, "no connection is kept"
        tools = CHAT.asked_tools(asked[0].json)
        assert list(tools) == [SUBMIT_TOOL]
        assert tools[SUBMIT_TOOL]["title"] == "bounded"
        assert CHAT.asked_choice(asked[0].json) == "required"


def test_a_demo_server_that_does_not_start_fails_the_call_and_the_probe() -> None:
    class Broken:
        async def endpoint(self) -> Where:
            raise ModelCallError(PermanentFailure("the model file is damaged"))

    async def check() -> None:
        pool = ProviderPool(Broken())
        config = configured(SPECS["embedded"])
        with pytest.raises(ModelCallError, match="damaged"):
            await pool.port(config).invoke(node_request("embedded"))
        report = await pool.probe(config)
        assert (report.ok, report.sentence) == (False, "The model file is damaged.")
        await pool.aclose()

    asyncio.run(check())


class Store:
    def __init__(self, **contents: bytes) -> None:
        self.contents = contents

    async def read(self, attachment: Attachment) -> bytes | None:
        return self.contents.get(attachment.id)


def test_attachments_are_read_before_anything_is_sent() -> None:
    picture = Attachment("f1", "a.png", "image/png", 3, "0")
    with LoopbackServer(CHAT.answer(text="Nice.")) as server:
        config = configured(SPECS["custom_openai_compatible"], base_url=server.url)
        request = node_request(MODEL, attachments=(picture,))
        with pytest.raises(ModelCallError, match=r"a\.png"):
            use(config, lambda port: port.invoke(request), attachments=Store())
        with pytest.raises(ModelCallError, match=r"a\.png"):
            use(config, lambda port: port.invoke(request))
        assert not server.asked
        use(config, lambda port: port.invoke(request), attachments=Store(f1=b"png"))
        assert "data:image/png;base64,cG5n" in server.last.body.decode()


def test_closing_twice_is_no_error_and_a_closed_pool_starts_afresh() -> None:
    with LoopbackServer(CHAT.answer(text="One."), CHAT.answer(text="Two.")) as server:
        config: ProviderConfig = configured(SPECS["custom_openai_compatible"], base_url=server.url)

        async def run() -> list[str]:
            pool, texts = ProviderPool(), []
            for _ in range(2):
                texts.append((await pool.port(config).invoke(node_request("m"))).text)
                await pool.aclose()
                await pool.aclose()
            return texts

        assert asyncio.run(run()) == ["One.", "Two."]
