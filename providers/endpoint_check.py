"""Trying out what an endpoint can do with a model, in about a minute and for a few cents.

Every request is a small one of the kind that nodes make, with one thing changed. What is refused
is remembered in the record of quirks, so that no run has to find it out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from msgspec import Struct, structs

from engine.vocabulary.errors import ModelCallError, failure_text
from engine.vocabulary.messages import TranscriptView
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject, ToolDefinition, ToolTier
from providers.config import ProviderConfig
from providers.connection import Connection
from providers.endpoint_report import EndpointReport, Finding, Profile, State
from providers.errors import failure_of, redacted, refusal_text, status_of
from providers.mapping import Body, MappingContext
from providers.probe import ProbeReport, probe
from providers.quirks import Quirk, quirk_in_refusal
from providers.reasoning_fields import reasoning_fields
from providers.schemas import Bound
from providers.sdk_adapter import SdkAdapter
from providers.specs import ReasoningStyle, Wire
from providers.stream_parts import TurnBuilder
from providers.wire_json import encoded

LIMIT_S = 60.0

_ONE_REQUEST_S = 30.0
_MOST_TOKENS = 1024
_MOST_DETAIL = 120
_ANSWER: JsonObject = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_REFERRING: JsonObject = {
    "type": "object",
    "properties": {"answer": {"$ref": "#/$defs/number"}},
    "required": ["answer"],
    "additionalProperties": False,
    "$defs": {"number": {"type": "integer"}},
}
_NOTE = ToolDefinition(
    "note",
    "Write one word down.",
    {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
    ToolTier.READ,
)
_NONE: dict[Wire, Any] = {
    Wire.CHAT: "none",
    Wire.RESPONSES: "none",
    Wire.MESSAGES: {"type": "none"},
}
_NAMED: dict[Wire, Any] = {
    Wire.CHAT: {"type": "function", "function": {"name": SUBMIT_TOOL}},
    Wire.RESPONSES: {"type": "function", "name": SUBMIT_TOOL},
    Wire.MESSAGES: {"type": "tool", "name": SUBMIT_TOOL},
}


class _Reply(Struct):
    """What came of one request; `refusal` is the service's text, `trouble` that of a failure."""

    calls: tuple[str, ...] = ()
    is_stream: bool = False
    has_usage: bool = False
    reasoning: frozenset[str] = frozenset()
    refusal: str = ""
    trouble: str = ""

    @property
    def answered(self) -> bool:
        return not self.refusal and not self.trouble


class EndpointCheck:
    """One check of one model.

    Args:
        adapter: what speaks to the endpoint over the model's wire.
        config: the service; its record of quirks is written.
        connection: its connection.
        model: the model to ask; empty for the default one, or the first that is listed.
        bound: limits the schemas of a demo model.
        on_found: told of each finding as it is made.
    """

    def __init__(
        self,
        adapter: Callable[[str], SdkAdapter],
        config: ProviderConfig,
        connection: Connection,
        *,
        model: str = "",
        bound: Bound | None = None,
        on_found: Callable[[Finding], None] | None = None,
    ) -> None:
        self._adapter_for = adapter
        self._on_found = on_found
        self._config = config
        self._connection = connection
        self._wanted = model
        self._bound = bound
        self._findings: list[Finding] = []
        self._refused: set[Quirk] = set()
        self._accepted: set[Quirk] = set()
        self._deadline = 0.0

    async def run(self, limit_s: float = LIMIT_S) -> EndpointReport:
        """Ask what can be asked within the time, store what was found, and report it."""
        self._deadline = monotonic() + limit_s
        listed = await probe(self._config, self._connection)
        if listed.is_hopeless:
            return EndpointReport(False, listed.sentence, listed.models)
        self._model = self._wanted or _chosen(self._config.default_model, listed)
        self._adapter = self._adapter_for(self._model)
        self._note_models(listed)
        plain = await self._streaming()
        if not plain.answered:
            sentence = plain.trouble or f"{self._config.spec.label}: {plain.refusal}"
            return self._report(listed, ok=False, sentence=_sentence(sentence))
        if self._config.spec.offers_tools:
            await self._choices()
            await self._calls_and_schemas()
        await self._reasoning_options()
        report = self._report(
            listed,
            ok=True,
            sentence=f"{self._config.spec.label} answers with the model '{self._model}'.",
        )
        self._keep(report)
        return report

    def _note_models(self, listed: ProbeReport) -> None:
        window = listed.windows.get(self._model)
        state = State.YES if listed.models else State.NO
        self._found("models", state, f"{len(listed.models)} listed" if listed.models else "no list")
        if window is None:
            self._found("context_window", State.UNKNOWN, "the endpoint does not say")
        else:
            self._found("context_window", State.YES, f"{window} tokens")

    async def _streaming(self) -> _Reply:
        request = structs.replace(self._request("Say hello in one word."), conversation_mode=True)
        reply = await self._ask(request)
        if not reply.answered:
            self._judge("streaming", reply, is_effective=False)
            return reply
        self._found(
            "streaming",
            State.YES if reply.is_stream else State.NO,
            "" if reply.is_stream else "the reply came in one piece",
        )
        self._found("usage", State.YES if reply.has_usage else State.NO)
        fields = ", ".join(sorted(reply.reasoning))
        self._found("reasoning_fields", State.YES if fields else State.NO, fields)
        self._accepted |= {Quirk.NO_STREAM, Quirk.NO_STREAM_USAGE, Quirk.COMPLETION_TOKENS}
        self._accepted -= self._refused
        return reply

    async def _choices(self) -> None:
        wire = self._adapter.wire
        request = self._request("Submit the number 4 as the answer.")
        reply = await self._ask(request, tests=Quirk.NO_REQUIRED_CHOICE)
        self._judge("choice_required", reply, is_effective=bool(reply.calls))
        self._settle(Quirk.NO_REQUIRED_CHOICE, reply)
        auto = await self._ask(structs.replace(request, conversation_mode=True))
        self._judge("choice_auto", auto, is_effective=True)
        none = await self._ask(request, change=lambda body: _with_choice(body, _NONE[wire]))
        self._judge("choice_none", none, is_effective=not none.calls)
        named = await self._ask(request, change=lambda body: _with_choice(body, _NAMED[wire]))
        self._judge("choice_named", named, is_effective=SUBMIT_TOOL in named.calls)

    async def _calls_and_schemas(self) -> None:
        twice = structs.replace(
            self._request("Call the tool `note` twice in this one reply, with 'red' and 'blue'."),
            available_tools=(_NOTE,),
        )
        reply = await self._ask(twice)
        self._judge("parallel_calls", reply, is_effective=len(reply.calls) > 1)
        request = self._request("Submit the number 4 as the answer.")
        if self._adapter.wire is not Wire.MESSAGES:
            reply = await self._ask(request, change=_with_strict, tests=Quirk.NO_STRICT_TOOLS)
            self._judge("strict_schemas", reply, is_effective=True)
            self._settle(Quirk.NO_STRICT_TOOLS, reply)
        referring = structs.replace(request, output_schema=_REFERRING)
        reply = await self._ask(referring, tests=Quirk.PLAIN_SCHEMAS)
        self._judge("schema_references", reply, is_effective=True)
        self._settle(Quirk.PLAIN_SCHEMAS, reply)

    async def _reasoning_options(self) -> None:
        if self._config.spec.reasoning is not ReasoningStyle.OPENAI:
            return
        request = structs.replace(
            self._request("Submit the number 4 as the answer."), reasoning_effort="low"
        )
        reply = await self._ask(request, tests=Quirk.NO_REASONING_OPTIONS)
        self._judge("reasoning_options", reply, is_effective=True)
        self._settle(Quirk.NO_REASONING_OPTIONS, reply)

    def _request(self, task: str) -> AgentRequest:
        return AgentRequest(
            workflow_id="check",
            run_id="check",
            node_id="check",
            node_label="Check",
            model=self._model,
            provider_id=self._config.spec.id,
            system_messages=("Do exactly what you are asked for.",),
            task_prompt=task,
            input={},
            output_schema=_ANSWER,
            transcript=TranscriptView(),
            max_output_tokens=_MOST_TOKENS,
        )

    async def _ask(
        self,
        request: AgentRequest,
        *,
        change: Callable[[Body], Body] = dict,
        tests: Quirk | None = None,
    ) -> _Reply:
        """Make a request; whatever else than `tests` is refused is left out the next time."""
        while True:
            context = MappingContext(self._config.spec, frozenset(self._refused), self._bound)
            body = change(self._adapter.body(request, context))
            seconds = min(_ONE_REQUEST_S, self._deadline - monotonic())
            if seconds <= 0:
                return _Reply(trouble="not tried, the time was up")
            try:
                async with asyncio.timeout(seconds):
                    reply, quirk = await self._sent(body)
            except TimeoutError:
                return _Reply(trouble="no answer in time")
            if quirk is None or quirk is tests or quirk in self._refused:
                return reply
            if change is not dict and quirk in (Quirk.NO_REQUIRED_CHOICE, Quirk.NO_TOOL_CHOICE):
                return reply
            self._refused.add(quirk)

    async def _sent(self, body: Body) -> tuple[_Reply, Quirk | None]:
        builder, reply = TurnBuilder(self._config.spec.id), _Reply()
        fields: set[str] = set()
        try:
            client = await self._connection.client(self._adapter.wire)
        except ModelCallError as error:
            return _Reply(trouble=failure_text(error.failure)), None
        try:
            stream = await client.open(self._adapter.path, encoded(body))
            kind = stream.response.headers.get("content-type", "").lower()
            reply.is_stream = "event-stream" in kind
            await self._adapter.exchange(
                stream, builder, lambda event: fields.update(reasoning_fields(event))
            )
        except ModelCallError as error:
            return _Reply(trouble=failure_text(error.failure)), None
        except client.errors as error:
            return self._refusal(error, body)
        reply.calls = builder.calls.names(frozenset({SUBMIT_TOOL, _NOTE.name}))
        reply.has_usage = builder.usage is not None
        reply.reasoning = frozenset(fields)
        return reply, None

    def _refusal(self, error: Exception, body: Body) -> tuple[_Reply, Quirk | None]:
        secrets, label = self._connection.secrets, self._config.spec.label
        failure = failure_of(
            error,
            label=label,
            secrets=secrets,
            address=self._config.base_url,
            is_local=self._config.is_local,
        )
        words = failure_text(failure)
        status = status_of(error)
        if status is None or status not in (400, 404, 405, 422, 501):
            return _Reply(trouble=words), None
        text = refusal_text(error)
        return _Reply(refusal=redacted(words, secrets)), quirk_in_refusal(status, text, body)

    def _judge(self, name: str, reply: _Reply, *, is_effective: bool) -> None:
        if reply.refusal:
            self._found(name, State.NO, reply.refusal)
        elif reply.trouble:
            self._found(name, State.UNKNOWN, reply.trouble)
        else:
            self._found(name, State.YES if is_effective else State.IGNORED)

    def _settle(self, quirk: Quirk, reply: _Reply) -> None:
        """Remember whether what was tried was refused."""
        if reply.refusal:
            self._refused.add(quirk)
        elif reply.answered and quirk not in self._refused:
            self._accepted.add(quirk)

    def _found(self, name: str, state: State, detail: str = "") -> None:
        detail = " ".join(detail.split())
        if len(detail) > _MOST_DETAIL:
            detail = detail[: _MOST_DETAIL - 1] + "…"
        finding = Finding(name, state, detail)
        self._findings.append(finding)
        if self._on_found is not None:
            self._on_found(finding)

    def _report(self, listed: ProbeReport, *, ok: bool, sentence: str) -> EndpointReport:
        quirks = (self._config.quirks.of(self._model) - self._accepted) | self._refused
        return EndpointReport(
            ok,
            sentence,
            listed.models,
            self._model,
            tuple(self._findings),
            tuple(sorted(quirk.value for quirk in quirks)),
            listed.windows.get(self._model),
        )

    def _keep(self, report: EndpointReport) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        profile = Profile(now, report.context_window, report.findings)
        self._config.quirks.checked(
            self._model, profile, refused=self._refused, accepted=self._accepted
        )


def _chosen(default: str, listed: ProbeReport) -> str:
    """The default model, unless the endpoint lists others only."""
    if not listed.models or listed.lists(default):
        return default
    return listed.models[0]


def _with_choice(body: Body, choice: Any) -> Body:
    return {**body, "tool_choice": choice}


def _with_strict(body: Body) -> Body:
    return {**body, "tools": [_strict(tool) for tool in _objects(body.get("tools"))]}


def _strict(tool: JsonObject) -> JsonObject:
    function = tool.get("function")
    if isinstance(function, dict):
        return {**tool, "function": {**function, "strict": True}}
    return {**tool, "strict": True}


def _objects(value: Any) -> Iterable[JsonObject]:
    return value if isinstance(value, list) else ()


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
