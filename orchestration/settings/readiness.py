"""Which providers can be used now, why the others cannot, and which one a node gets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec import Struct, structs

from orchestration.settings.model import ProviderProfile, Settings
from providers.address import problem_with_address
from providers.specs import EMBEDDED, SPECS, Auth, ProviderSpec

CUSTOM = "custom_openai_compatible"
TRY_EMBEDDED = f"try it with --provider {EMBEDDED} (a demo model on this computer)"


class Availability(Protocol):
    """Whether something could be used, and why not."""

    @property
    def ready(self) -> bool:
        """Whether it could."""

    @property
    def reason(self) -> str:
        """Why not, in a clause."""


class EmbeddedModel(Protocol):
    """The model on this computer, as far as choosing it goes."""

    def availability(self) -> Availability:
        """Whether it could start; starts nothing."""


class ProviderStatus(Struct, frozen=True):
    """One provider as a person sees it.

    `reason` says what is missing where it is not ready. `key_variable` is the environment
    variable that may hold its key, empty where there is none; `has_key` says whether the
    environment or the secret store has one. `efforts` are the reasoning efforts to choose from,
    `default_effort` that of nodes for which none is named, empty where the model decides.
    `is_own`: an endpoint that the user has added. `is_possible`: this version can use it at all.
    """

    id: str
    label: str
    ready: bool
    reason: str
    base_url: str
    wire: str
    default_model: str
    models: tuple[str, ...]
    key_variable: str
    has_key: bool
    is_active: bool
    is_demo: bool
    efforts: tuple[str, ...] = ()
    default_effort: str = ""
    has_fast_mode: bool = False
    is_own: bool = False
    is_possible: bool = True


class Providers:
    """All providers under these settings and this environment; looks up no key and no network."""

    def __init__(self, settings: Settings, env: Mapping[str, str], embedded: EmbeddedModel) -> None:
        self._settings, self._env, self._embedded = settings, env, embedded

    def spec(self, provider_id: str) -> ProviderSpec | None:
        """What the program knows about a provider; `None` if it does not know it."""
        known = SPECS.get(provider_id)
        if known is not None:
            return known
        profile = self._settings.providers.get(provider_id)
        if profile is None or not profile.label:
            return None
        return own_endpoint(provider_id, profile)

    def specs(self) -> tuple[ProviderSpec, ...]:
        """Everything that could answer: the services that are known, and the user's own."""
        names = [name for name in self._settings.providers if name not in SPECS]
        own = [spec for spec in map(self.spec, names) if spec is not None]
        return (*SPECS.values(), *own)

    def profile(self, provider_id: str) -> ProviderProfile:
        """What the user changed about a provider."""
        return self._settings.profile(provider_id)

    def default_model(self, spec: ProviderSpec) -> str:
        """The model of nodes that name none."""
        return self.profile(spec.id).default_model or spec.default_model

    def key_from_environment(self, spec: ProviderSpec) -> str | None:
        """The key that the environment holds; one that the user has stored wins over it."""
        return self._env.get(spec.auth.env_var, "").strip() or None if spec.auth.env_var else None

    def has_key(self, spec: ProviderSpec) -> bool:
        """Whether a key is in the environment or was stored."""
        return bool(self.key_from_environment(spec) or self.profile(spec.id).key_ref)

    def trouble(self, spec: ProviderSpec) -> str:
        """Why the provider cannot be used, in a clause; empty if it can."""
        if spec.unavailable:
            return spec.unavailable
        if spec.id == EMBEDDED:
            availability = self._embedded.availability()
            return "" if availability.ready else availability.reason
        if spec.auth.required and not self.has_key(spec):
            return f"its key is missing: set {spec.auth.env_var}"
        base_url = self.profile(spec.id).base_url
        if not base_url and not spec.base_url:
            return "its address is missing: enter it in the settings"
        if base_url and (wrong := problem_with_address(base_url)):
            return f"its address in the settings cannot be used: {wrong}"
        return ""

    def all(self) -> tuple[ProviderStatus, ...]:
        """The state of every provider, in the order in which they are listed."""
        return tuple(self.status(spec) for spec in self.specs())

    def status(self, spec: ProviderSpec) -> ProviderStatus:
        """The state of one provider."""
        trouble, profile = self.trouble(spec), self.profile(spec.id)
        default_model = self.default_model(spec)
        return ProviderStatus(
            id=spec.id,
            label=spec.label,
            ready=not trouble,
            reason=trouble,
            base_url=profile.base_url or spec.base_url,
            wire=profile.wire or spec.wire.value,
            default_model=default_model,
            models=tuple(
                dict.fromkeys((default_model, *self._offered(spec), *profile.model_wires))
            ),
            key_variable=spec.auth.env_var,
            has_key=self.has_key(spec),
            is_active=spec.id == self._settings.active_provider,
            is_demo=spec.is_demo,
            efforts=spec.efforts,
            default_effort=profile.reasoning_effort or "",
            has_fast_mode=spec.fast_mode,
            is_own=spec.id not in SPECS,
            is_possible=not spec.unavailable,
        )

    def default_for(self, model: str) -> str | None:
        """Which provider a node gets that names none.

        The active one; without one the first that has a key and, if the node names a model, offers
        it; for nodes that name no model at last the embedded one.

        Args:
            model: what the node names, empty if nothing.

        Returns:
            The provider's id, `None` if no provider that is ready offers the model.
        """
        active = self._settings.active_provider
        if active is not None and (active != EMBEDDED or self._is_embedded_model(model)):
            return active
        for spec in self.specs():
            if self.has_key(spec) and not self.trouble(spec) and self._offers(spec, model):
                return spec.id
        return EMBEDDED if self._is_embedded_model(model) else None

    def candidates(self, model: str) -> list[ProviderSpec]:
        """The providers that offer a model and only lack a key."""
        return [
            spec
            for spec in SPECS.values()
            if spec.auth.required
            and not spec.unavailable
            and not self.has_key(spec)
            and "/" not in model
            and self._offers(spec, model)
        ]

    def _is_embedded_model(self, model: str) -> bool:
        return not model or model == SPECS[EMBEDDED].default_model

    def _offered(self, spec: ProviderSpec) -> tuple[str, ...]:
        chosen = self.profile(spec.id).models
        return spec.models if chosen is None else chosen

    def _offers(self, spec: ProviderSpec, model: str) -> bool:
        profile = self.profile(spec.id)
        known = [*self._offered(spec), *profile.model_wires]
        if profile.default_model:
            known.append(profile.default_model)
        return not model or offers(known, model)


def own_endpoint(provider_id: str, profile: ProviderProfile) -> ProviderSpec:
    """What is known about an endpoint that the user has added.

    Its key is a stored one: the variable of the custom profile would send one key to all of them.
    """
    return structs.replace(
        SPECS[CUSTOM],
        id=provider_id,
        label=profile.label or provider_id,
        base_url=profile.base_url or "",
        auth=Auth(required=False),
        models=(profile.default_model or SPECS[CUSTOM].default_model,),
    )


def offers(known: Iterable[str], model: str) -> bool:
    """Whether a service with these models is likely to have that one too.

    It has it if it lists it, if one of its models is of the same family (`gpt-4o` and `gpt-5.5`),
    or if both are named after their makers (`maker/model`), as services do that host many makers'.
    """
    names = {name.lower() for name in known}
    wanted = model.lower()
    if wanted in names:
        return True
    if "/" in wanted:
        return any("/" in name for name in names)
    return _family(wanted) in {_family(name) for name in names if "/" not in name}


def _family(model: str) -> str:
    match = re.match(r"[a-z]+", model)
    return match[0] if match else model
