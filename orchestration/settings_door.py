"""The part of the door that is about settings: read, changed at once, checked, and what is kept."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from orchestration.errors import UserError
from orchestration.runs.preparation import connection_to
from orchestration.settings import facts
from orchestration.settings.checking import BadSetting, Place, check_together, check_value, checked
from orchestration.settings.data_folder import secrets_file
from orchestration.settings.facts import DataUse, EmbeddedState, KeyState, KnownModel, ModelQuirks
from orchestration.settings.model import Settings
from orchestration.settings.places import put
from orchestration.settings.readiness import Providers, ProviderStatus
from orchestration.surroundings import Surroundings
from providers.embedded.server import EmbeddedSettings
from providers.factory import EndpointReport, Finding, ProbeReport

_LONGEST_KEY = 4096


class SettingsDoor:
    """What may be done to settings. A `UserError` says what is wrong and changes nothing."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._all = surroundings
        self._end_watch = surroundings.live.watch(self._settings_changed)
        self._set_log()

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._all.settings

    def watch_settings(self, notice: Callable[[], None]) -> Callable[[], None]:
        """Call `notice` after each change, whoever made it; gives what ends it."""
        return self._all.live.watch(notice)

    async def set_setting(self, place: Place, value: Any) -> tuple[str, ...]:
        """Change one setting, at once and for good.

        Args:
            place: the setting step by step, such as `("limits", "tools")`.
            value: in the form that the settings file has; `None` for the default.

        Returns:
            Sentences that a person should see.

        Raises:
            BadSetting: it does not fit; nothing was changed.
            UserError: it could not be written; nothing was changed.
        """

        def edit(data: dict[str, Any]) -> None:
            check_value(place, value)
            put(data, place, value)
            check_together(checked(data), place)

        return await self._all.live.change(edit)

    async def reload_settings(self) -> tuple[str, ...]:
        """Take over what somebody else has written into the settings file, if anybody has.

        Returns:
            Sentences that a person should see.
        """
        return await self._all.live.reload()

    def provider(self, provider_id: str) -> ProviderStatus | None:
        """The state of one provider; `None` if there is none of this id."""
        providers = Providers(self._all.settings, self._all.env, self._all.embedded)
        spec = providers.spec(provider_id)
        return None if spec is None else providers.status(spec)

    def key_state(self, provider_id: str) -> KeyState:
        """Where a provider's key comes from; the key itself is told to nobody."""
        return facts.key_state(provider_id, self._all.settings, self._all.env)

    async def key_place(self) -> str:
        """Where the next key would be kept, for a person; may wait for the keyring."""
        return await asyncio.to_thread(self._all.secrets.place)

    async def set_key(self, provider_id: str, key: str) -> None:
        """Keep a provider's key in the keyring, or in the file where there is none."""
        place = ("providers", provider_id, "key_ref")
        name = self._all.settings.profile(provider_id).key_ref or f"provider:{provider_id}"
        await self._keep_key(place, name, key)

    async def remove_key(self, provider_id: str) -> None:
        """Forget a provider's stored key."""
        name = self._all.settings.profile(provider_id).key_ref
        await self._drop_key(("providers", provider_id, "key_ref"), name)

    async def set_search_key(self, service: str, key: str) -> None:
        """Keep the key of a service for web searches, such as `brave`."""
        service = service.strip().lower()
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", service):
            raise BadSetting(("tools", "search_keys"), "Name a service, such as brave or tavily")
        await self._keep_key(("tools", "search_keys", service), f"search:{service}", key)

    async def remove_search_key(self, service: str) -> None:
        """Forget the key of a service for web searches."""
        name = self._all.settings.tools.search_keys.get(service)
        await self._drop_key(("tools", "search_keys", service), name)

    async def add_endpoint(self, label: str, base_url: str) -> str:
        """Add an OpenAI-compatible endpoint of the user's own; gives its id."""
        label, base_url = label.strip(), base_url.strip()
        given = ""

        def edit(data: dict[str, Any]) -> None:
            nonlocal given
            check_value(("providers", "", "label"), label)
            check_value(("providers", "", "base_url"), base_url)
            settings = checked(data)
            taken = {spec.id for spec in self._providers_of(settings).specs()}
            given = _free_id(label, taken | set(settings.providers))
            put(data, ("providers", given, "label"), label)
            put(data, ("providers", given, "base_url"), base_url)

        await self._all.live.change(edit)
        return given

    async def remove_endpoint(self, provider_id: str) -> None:
        """Remove an endpoint that was added, and its stored key."""
        profile = self._all.settings.profile(provider_id)
        if not profile.label:
            raise UserError(f"'{provider_id}' is no endpoint that was added here")

        def edit(data: dict[str, Any]) -> None:
            put(data, ("providers", provider_id), None)
            if data.get("active_provider") == provider_id:
                put(data, ("active_provider",), None)

        await self._all.live.change(edit)
        if profile.key_ref:
            await asyncio.to_thread(self._all.secrets.delete, profile.key_ref)

    async def fetch_models(self, provider_id: str) -> ProbeReport:
        """Ask a provider which models it has; costs nothing."""
        connection = await asyncio.to_thread(self._connection_to, provider_id)
        return await self._all.pool.probe(connection)

    async def check_provider(
        self,
        provider_id: str,
        model: str = "",
        on_found: Callable[[Finding], None] | None = None,
    ) -> EndpointReport:
        """Try out what a provider can do with a model; takes a minute at most, and costs little.

        What it refuses is kept, so that runs do not have to find it out. `on_found` is told of
        each finding as it is made.

        Raises:
            UserError: there is no such provider, or it lacks something.
        """
        connection = await asyncio.to_thread(self._connection_to, provider_id)
        return await self._all.pool.examine(connection, model, on_found=on_found)

    async def known_quirks(self, provider_id: str) -> tuple[ModelQuirks, ...]:
        """What was found out about the models of a provider, by checks and in runs."""
        status = self.provider(provider_id)
        if status is None:
            return ()
        endpoint = status.base_url or provider_id
        return await asyncio.to_thread(facts.model_quirks, self._all.quirks, endpoint)

    async def forget_quirks(self, provider_id: str) -> None:
        """Forget what was found out about the models of a provider."""
        status = self.provider(provider_id)
        if status is not None:
            endpoint = status.base_url or provider_id
            await asyncio.to_thread(self._all.quirks.forget, endpoint)

    def embedded_state(self) -> EmbeddedState:
        """What the embedded model does now."""
        return facts.embedded_state(self._all.embedded)

    async def start_embedded(self) -> None:
        """Start the embedded model, or start it anew if it runs with older settings.

        Raises:
            ModelCallError: it cannot be started; the failure says why and what to do.
        """
        if self._all.embedded.is_outdated:
            await self._all.embedded.stop()
        await self._all.embedded.endpoint()

    async def stop_embedded(self) -> None:
        """Stop the embedded model; the next run that needs it starts it anew."""
        await self._all.embedded.stop()

    async def known_models(self) -> tuple[KnownModel, ...]:
        """The models that are offered or were set here, with what is known of each."""
        providers = self._providers_of(self._all.settings)
        return await asyncio.to_thread(facts.known_models, self._all.settings, providers)

    async def sandbox_state(self) -> str:
        """Why commands cannot be run in a sandbox here; empty if they can."""
        return await facts.sandbox_state()

    async def data_use(self) -> DataUse:
        """Where things are kept, and how much room they take."""
        keys = secrets_file(self._all.data_dir)
        return await asyncio.to_thread(facts.data_use, self._all.data_dir, self._all.env, keys)

    async def versions(self) -> tuple[tuple[str, str], ...]:
        """Names and versions of this program and of what it stands on."""
        return await asyncio.to_thread(facts.versions)

    async def log_text(self) -> str:
        """The end of the log, without keys."""
        log = self._all.log
        return "" if log is None else await asyncio.to_thread(log.flushed_text)

    async def clear_log(self) -> None:
        """Delete the log."""
        if self._all.log is not None:
            await asyncio.to_thread(self._all.log.clear)

    def _connection_to(self, provider_id: str) -> Any:
        return connection_to(
            provider_id,
            settings=self._all.settings,
            secrets=self._all.secrets,
            env=self._all.env,
            embedded=self._all.embedded,
            quirks=self._all.quirks,
        )

    def _providers_of(self, settings: Settings) -> Providers:
        return Providers(settings, self._all.env, self._all.embedded)

    async def _keep_key(self, place: Place, name: str, key: str) -> None:
        key = key.strip()
        if wrong := _problem_with_key(key):
            raise BadSetting(place, wrong)
        await asyncio.to_thread(self._all.secrets.set, name, key)
        if self._all.log is not None:
            self._all.log.renew_secrets()
        await self.set_setting(place, name)

    async def _drop_key(self, place: Place, name: str | None) -> None:
        if name is not None:
            await self.set_setting(place, None)
            await asyncio.to_thread(self._all.secrets.delete, name)

    def _settings_changed(self) -> None:
        settings = self._all.settings
        local = settings.embedded
        self._all.embedded.configure(EmbeddedSettings(local.model_file, local.n_ctx, local.threads))
        self._set_log()

    def _set_log(self) -> None:
        wanted = self._all.settings.diagnostics
        if self._all.log is not None:
            self._all.log.set_level(wanted.log, wanted.log_megabytes)

    def _close_settings(self) -> None:
        """Tell of no more changes, and end the log; blocking."""
        self._end_watch()
        if self._all.log is not None:
            self._all.log.close()


def _problem_with_key(key: str) -> str:
    if not key:
        return "A key is needed; Remove takes the stored one away"
    if len(key) > _LONGEST_KEY:
        return "This is too long to be a key"
    if not key.isascii() or not key.isprintable() or " " in key:
        return "A key has no spaces, line breaks or special characters: copy it again"
    return ""


def _free_id(label: str, taken: set[str]) -> str:
    """An id like the label that no other provider has."""
    base = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40] or "endpoint"
    number = 1
    while (name := base if number == 1 else f"{base}-{number}") in taken:
        number += 1
    return name
