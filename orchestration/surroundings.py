"""What a backend works with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from orchestration.debug_log import DebugLog
from orchestration.settings.live import LiveSettings
from orchestration.settings.model import Settings
from orchestration.settings.quirk_store import QuirkStore
from orchestration.settings.secrets import SecretStore
from orchestration.tools.registry import ToolRegistry
from providers.embedded.server import EmbeddedServer
from providers.factory import ProviderPool


class Surroundings(Struct, frozen=True):
    """What a backend works with. `notices` are sentences about how it was found."""

    data_dir: Path
    env: Mapping[str, str]
    live: LiveSettings
    secrets: SecretStore
    quirks: QuirkStore
    tools: ToolRegistry
    pool: ProviderPool
    embedded: EmbeddedServer
    notices: tuple[str, ...] = ()
    log: DebugLog | None = None

    @property
    def settings(self) -> Settings:
        """The settings as they are now; who keeps them for longer misses what is changed."""
        return self.live.current
