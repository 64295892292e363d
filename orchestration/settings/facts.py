"""What the settings tell a person about this computer, besides the settings themselves."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from orchestration.settings.data_folder import log_file, runs_folder, settings_file
from orchestration.settings.model import ModelSettings, Settings
from orchestration.settings.quirk_store import QuirkStore
from orchestration.settings.readiness import Providers
from providers.embedded.model_file import ModelFileError, bundled_model, model_path
from providers.embedded.server import EmbeddedServer
from providers.endpoint_report import Finding as Finding
from providers.specs import EMBEDDED

if TYPE_CHECKING:
    from orchestration.pricing import Prices

_TOLD_VERSIONS = (
    "openflow",
    "PySide6_Essentials",
    "qasync",
    "pydantic",
    "SQLAlchemy",
    "openai",
    "anthropic",
    "xllamacpp",
    "genai-prices",
)


class KeyState(Struct, frozen=True):
    """Where a key comes from.

    Attributes:
        is_stored: the keyring or the file has one; it wins over the environment.
        variable: the environment variable that may hold it, empty where there is none.
        is_in_environment: the variable holds one.
        is_needed: nothing is answered without a key.
    """

    is_stored: bool
    variable: str
    is_in_environment: bool
    is_needed: bool


class ModelQuirks(Struct, frozen=True):
    """What was found out about one model; `checked_at` is empty where no check was made."""

    model: str
    refuses: tuple[str, ...]
    checked_at: str = ""
    context_window: int | None = None
    findings: tuple[Finding, ...] = ()


class EmbeddedState(Struct, frozen=True):
    """The embedded model now.

    Attributes:
        state: what it does; `missing` where it could not be started.
        reason: why it could not.
        file: the model file that would be loaded.
        size: of that file, in bytes.
        is_bundled: it is the installed one.
        pid: the id of its process.
        is_outdated: it runs with older settings.
        log: what has happened to it, the latest last.
    """

    state: Literal["missing", "stopped", "starting", "running"]
    reason: str = ""
    file: str = ""
    size: int = 0
    is_bundled: bool = True
    pid: int | None = None
    is_outdated: bool = False
    log: tuple[str, ...] = ()


class KnownModel(Struct, frozen=True):
    """A model with what is known of it; prices are US dollars for a million tokens.

    `own` is what the user has set, `providers` are the labels of those that offer it.
    """

    name: str
    providers: tuple[str, ...] = ()
    context_window: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    own: ModelSettings = ModelSettings()


class DataUse(Struct, frozen=True):
    """Where things are kept, and their size in bytes. `database` tells no password."""

    folder: Path
    settings_file: Path
    secrets_file: Path
    log_file: Path
    database: str
    is_server: bool
    database_bytes: int
    runs_bytes: int
    folders_bytes: int
    log_bytes: int
    free_bytes: int


def key_state(provider_id: str, settings: Settings, env: Mapping[str, str]) -> KeyState:
    """Where a provider's key comes from."""
    providers = Providers(settings, env, _NoEmbedded())
    spec = providers.spec(provider_id)
    if spec is None:
        return KeyState(False, "", False, False)
    return KeyState(
        is_stored=settings.profile(provider_id).key_ref is not None,
        variable=spec.auth.env_var,
        is_in_environment=providers.key_from_environment(spec) is not None,
        is_needed=spec.auth.required,
    )


class _NoEmbedded:
    def availability(self) -> ModelFileState:
        return ModelFileState()


class ModelFileState(Struct, frozen=True):
    """A model that is not asked about."""

    ready: bool = False
    reason: str = ""


def model_quirks(store: QuirkStore, endpoint: str) -> tuple[ModelQuirks, ...]:
    """What is stored of an endpoint; reads a file at the first call."""
    record = store.of(endpoint)
    told = []
    for model in record.models():
        refuses = tuple(sorted(quirk.value for quirk in record.of(model)))
        profile = record.profile_of(model)
        if profile is None:
            told.append(ModelQuirks(model, refuses))
        else:
            told.append(
                ModelQuirks(
                    model, refuses, profile.checked_at, profile.context_window, profile.findings
                )
            )
    return tuple(told)


def embedded_state(server: EmbeddedServer) -> EmbeddedState:
    """What the server does; looks at the model's file."""
    chosen = server.settings.model_file
    try:
        file: Path | None = model_path(chosen)
        reason = ""
    except ModelFileError as error:
        file, reason = None, str(error)
    state = server.state
    return EmbeddedState(
        state="missing" if file is None and state == "stopped" else state,
        reason=reason,
        file=str(file or chosen or bundled_model() or ""),
        size=file.stat().st_size if file is not None else 0,
        is_bundled=not (chosen or "").strip(),
        pid=server.pid,
        is_outdated=server.is_outdated,
        log=server.log,
    )


def known_models(settings: Settings, providers: Providers) -> tuple[KnownModel, ...]:
    """Models of the providers that are ready, and those that were set; reads the price lists."""
    from orchestration.pricing import Prices
    from orchestration.settings.context_windows import window_look_up

    offered: dict[str, list[tuple[str, str]]] = {}
    for status in providers.all():
        if status.ready and status.id != EMBEDDED:
            for model in status.models:
                offered.setdefault(model, []).append((status.id, status.label))
    own = {name.strip().lower(): model for name, model in settings.models.items()}
    known = {name.lower() for name in offered}
    names = [*offered, *(name for name in settings.models if name.strip().lower() not in known)]
    bare = settings.model_copy(update={"models": {}})
    window_of, prices = window_look_up(bare), Prices(bare)
    found = []
    for name in names:
        by = offered.get(name, [])
        provider_id = by[0][0] if by else None
        found.append(
            KnownModel(
                name=name,
                providers=tuple(label for _, label in by),
                context_window=window_of(name),
                input_price=_price(prices, provider_id, name, is_input=True),
                output_price=_price(prices, provider_id, name, is_input=False),
                own=own.get(name.strip().lower(), ModelSettings()),
            )
        )
    return tuple(sorted(found, key=lambda model: model.name.lower()))


def _price(prices: Prices, provider_id: str | None, model: str, *, is_input: bool) -> float | None:
    from engine.vocabulary.messages import Usage

    usage = Usage(1000, 0, 1000) if is_input else Usage(0, 1000, 1000)
    cost = prices.cost(provider_id, model, usage)
    return None if cost is None else round(cost * 1000, 6)


async def sandbox_state() -> str:
    """Why bubblewrap cannot be used here; empty if it can."""
    from orchestration.tools.shell_environment import inherited_environment
    from orchestration.workspace.sandbox import SandboxUnavailable, sandbox_program

    # The folder of this package is there and can be read, which is all that trying it needs.
    place = Path(__file__).parent
    try:
        await sandbox_program(place, inherited_environment(), [place])
    except SandboxUnavailable as error:
        return str(error)
    return ""


def data_use(data_dir: Path, env: Mapping[str, str], secrets: Path) -> DataUse:
    """Look how much room everything takes; reads whole folders."""
    from orchestration.storage.connections import database_location
    from orchestration.storage.run_folders import folder_size

    location = database_location(data_dir, env)
    file = location.path
    database = 0
    if file is not None and data_dir.is_dir():
        database = sum(
            each.stat().st_size for each in file.parent.glob(f"{file.name}*") if each.is_file()
        )
    existing = next(each for each in (data_dir, *data_dir.parents) if each.exists())
    return DataUse(
        folder=data_dir,
        settings_file=settings_file(data_dir),
        secrets_file=secrets,
        log_file=log_file(data_dir),
        database=str(location),
        is_server=file is None,
        database_bytes=database,
        runs_bytes=folder_size(runs_folder(data_dir)),
        folders_bytes=folder_size(data_dir / "workspaces"),
        log_bytes=folder_size(log_file(data_dir).parent),
        free_bytes=shutil.disk_usage(existing).free,
    )


def versions() -> tuple[tuple[str, str], ...]:
    """Names and versions, the program first; reads what is installed."""
    found = []
    for name in _TOLD_VERSIONS:
        try:
            found.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append((name, "not installed"))
    found.append(("Python", platform.python_version()))
    found.append(("system", f"{platform.system()} {platform.release()} {platform.machine()}"))
    found.append(("run from", sys.prefix))
    return tuple(found)
