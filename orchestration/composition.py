"""Put a backend together from a data folder and an environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from engine.run import preamble
from orchestration.backend import Backend
from orchestration.debug_log import DebugLog
from orchestration.fair_threads import let_threads_take_turns
from orchestration.settings.data_folder import (
    data_folder,
    log_file,
    quirks_file,
    secrets_file,
    settings_file,
)
from orchestration.settings.known_secrets import known_secrets
from orchestration.settings.live import LiveSettings
from orchestration.settings.quirk_store import QuirkStore
from orchestration.settings.secrets import open_secrets
from orchestration.settings.store import SettingsStore
from orchestration.surroundings import Surroundings
from orchestration.tools.catalogue import builtin_tools
from orchestration.tools.registry import ToolRegistry
from providers.embedded.server import EmbeddedServer, EmbeddedSettings
from providers.factory import ProviderPool


def open_backend(data_dir: Path | None = None, *, env: Mapping[str, str] | None = None) -> Backend:
    """Open the backend of a data folder; reads the settings and starts nothing.

    Args:
        data_dir: the data folder; without one the environment names it, else the platform.
        env: the environment variables; the process's own where it is `None`.

    Raises:
        UserError: the settings cannot be read.
    """
    let_threads_take_turns()
    environment = os.environ if env is None else env
    folder = data_folder(data_dir, environment)
    store = SettingsStore(settings_file(folder))
    loaded = store.load()
    live = LiveSettings(store, loaded.settings)
    secrets = open_secrets(secrets_file(folder))
    local = loaded.settings.embedded
    embedded = EmbeddedServer(EmbeddedSettings(local.model_file, local.n_ctx, local.threads))
    return Backend(
        Surroundings(
            data_dir=folder,
            env=environment,
            live=live,
            secrets=secrets,
            quirks=QuirkStore(quirks_file(folder)),
            tools=ToolRegistry(builtin_tools(loaded.settings.tools)),
            pool=ProviderPool(embedded, bound=embedded.bound, preamble=preamble),
            embedded=embedded,
            log=DebugLog(
                log_file(folder), lambda: known_secrets(live.current, secrets, environment)
            ),
            notices=(loaded.notice,) if loaded.notice is not None else (),
        )
    )
