"""How one service is reached in this run: address, key, wire, limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn, Protocol
from urllib.parse import urlsplit

from msgspec import Struct, field

from providers.quirks import Quirks
from providers.specs import EMBEDDED, ProviderSpec, Wire

DEFAULT_TIMEOUT_S = 300.0
_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)")
_ENDPOINT = re.compile(r"/(chat/completions|responses|messages|models)$")


class Secret:
    """A key that shows up nowhere by accident: not in `repr`, `str`, JSON or pickles."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret('***')" if self._value else "Secret('')"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not to be copied or stored")


class Endpoint(Protocol):
    """Where a server listens."""

    @property
    def base_url(self) -> str:
        """Its address, with or without the version."""

    @property
    def api_key(self) -> str:
        """The key that the server wants."""


class EndpointSource(Protocol):
    """Something that starts a server when its address is asked for."""

    async def endpoint(self) -> Endpoint:
        """Start the server unless it runs, and say where it is.

        Raises:
            ModelCallError: if it cannot be started; the failure says why and what to do.
        """


class ProviderConfig(Struct, frozen=True, kw_only=True):
    """One service as it is to be used; see `configured` for one with the defaults filled in.

    `model_wires` names the wire of single models where it differs. `timeout_s` is the longest
    silence that is borne, in seconds. `extra_headers` are sent with every request.
    """

    spec: ProviderSpec
    base_url: str
    wire: Wire
    api_key: Secret | None = None
    default_model: str = ""
    model_wires: Mapping[str, Wire] = {}
    timeout_s: float = DEFAULT_TIMEOUT_S
    extra_headers: Mapping[str, str] = {}
    quirks: Quirks = field(default_factory=Quirks)

    def wire_for(self, model: str) -> Wire:
        """The wire that this model is spoken to with."""
        return self.model_wires.get(model, self.wire)

    def api_root(self, wire: Wire) -> str:
        """The address that paths are added to; the one for Messages ends before the version."""
        return api_root(self.base_url, wire, adds_version=self.spec.adds_version)

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this computer, so that no proxy may be asked for it."""
        return self.spec.id == EMBEDDED or is_loopback(self.base_url)

    def __repr__(self) -> str:
        return (
            f"ProviderConfig({self.spec.id!r}, base_url={self.base_url!r}, "
            f"wire={self.wire.value!r}, api_key={self.api_key!r}, "
            f"extra_headers={sorted(self.extra_headers)!r})"
        )


def configured(
    spec: ProviderSpec,
    *,
    base_url: str | None = None,
    wire: Wire | None = None,
    api_key: str | None = None,
    default_model: str | None = None,
    model_wires: Mapping[str, Wire] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    extra_headers: Mapping[str, str] | None = None,
    quirks: Quirks | None = None,
) -> ProviderConfig:
    """A configuration in which everything that is not given is as the service has it."""
    return ProviderConfig(
        spec=spec,
        base_url=base_url or spec.base_url,
        wire=wire or spec.wire,
        api_key=Secret(api_key) if api_key else None,
        default_model=default_model or spec.default_model,
        model_wires=dict(model_wires or {}),
        timeout_s=timeout_s,
        extra_headers=dict(extra_headers or {}),
        quirks=Quirks() if quirks is None else quirks,
    )


def api_root(base_url: str, wire: Wire, *, adds_version: bool = True) -> str:
    """The root of an API, whatever of it the user has typed.

    A version in the address is never doubled, and the path of a single operation is taken off.
    """
    root = _ENDPOINT.sub("", base_url.strip().rstrip("/"))
    if wire is Wire.MESSAGES:
        return root.removesuffix("/v1")
    if adds_version and not _VERSION.search(urlsplit(root).path):
        return root + "/v1"
    return root


def is_loopback(base_url: str) -> bool:
    """Whether the address is one of this computer."""
    host = (urlsplit(base_url).hostname or "").lower()
    return host in {"localhost", "::1"} or host.endswith(".localhost") or host.startswith("127.")
