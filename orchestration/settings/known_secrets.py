"""The values of all keys that this program knows, so that none leaves it by accident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orchestration.settings.model import Settings
from orchestration.settings.secrets import SecretStore
from providers.specs import SPECS


def known_secrets(
    settings: Settings, secrets: SecretStore, env: Mapping[str, str]
) -> tuple[str, ...]:
    """Keys of providers and of tools, from the store and the environment.

    It may wait for the keyring.

    Raises:
        UserError: the store cannot be read.
    """
    return tuple(dict.fromkeys(_values(settings, secrets, env)))


def _values(settings: Settings, secrets: SecretStore, env: Mapping[str, str]) -> Iterator[str]:
    names = [profile.key_ref for profile in settings.providers.values()]
    names += settings.tools.search_keys.values()
    for name in names:
        if name is not None and (value := secrets.get(name)):
            yield value
    for spec in SPECS.values():
        if spec.auth.env_var and (value := env.get(spec.auth.env_var)):
            yield value
