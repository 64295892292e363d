"""The settings of the program. They hold references to keys, never a key."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.vocabulary.tools import ApprovalMode

Wire = Literal["chat", "responses", "messages"]
Count = Annotated[int, Field(ge=1)]
Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
LogLevel = Literal["off", "warnings", "info", "debug"]


class _Section(BaseModel):
    """Frozen; keys that this version does not know are kept and written back."""

    model_config = ConfigDict(frozen=True, extra="allow")


class ProviderProfile(_Section):
    """What a user changed about one provider; an absent field is as the provider's own.

    A profile with a `label` is an OpenAI-compatible endpoint of the user's own. `models` are those
    that are offered. `key_ref` is the name under which the secret store keeps the key.
    `model_wires` says which models speak another wire than the profile does. `timeout_s` is in
    seconds.
    """

    label: str | None = None
    base_url: str | None = None
    wire: Wire | None = None
    default_model: str | None = None
    models: tuple[str, ...] | None = None
    model_wires: dict[str, Wire] = Field(default_factory=dict)
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    reasoning_effort: str | None = None
    key_ref: str | None = None


class EmbeddedModel(_Section):
    """The model on this computer: a GGUF file of the user's, or the one that is installed.

    `n_ctx` is in tokens; without a value for `threads` half of the cores are used, at most four.
    """

    model_file: str | None = None
    n_ctx: Count = 4096
    threads: Count | None = None


class ModelSettings(_Section):
    """What a user knows about a model better than the program does.

    `context_window` is in tokens. Prices are US dollars for a million tokens; `cached_price` is
    for those that came from a cache, the input price where it is absent.
    """

    context_window: Count | None = None
    input_price: Price | None = None
    output_price: Price | None = None
    cached_price: Price | None = None


class Spending(_Section):
    """How much may be used up; an absent field is no limit.

    `cost` is in US dollars, `seconds` are those of work, `turns` are replies of models.
    """

    tokens: Count | None = None
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    turns: Count | None = None


class Limits(_Section):
    """How much may go on at once in the whole program, and what a run may use up.

    At `run` a whole run pauses and asks, at `node` a node with its subagents. `warn_run` and
    `warn_node` warn before that, at four fifths where they are absent.
    """

    provider_calls: Count = 8
    tools: Count = 16
    run: Spending = Spending()
    node: Spending = Spending()
    warn_run: Spending = Spending()
    warn_node: Spending = Spending()


class ToolSettings(_Section):
    """What tools may do beyond their defaults.

    `shell_sandbox` runs commands with bubblewrap, where it is there: no network, and only the
    execution folder can be written. `private_addresses` lets URLs be read that lead to this
    computer or its network. `protect_generated` refuses edits of files that a program wrote.
    `format_on_write` runs the formatter of a file's language after an edit, if it is installed,
    for at most `format_timeout_s` seconds. `search_program` and `search_keys` (provider to the
    name of its secret) switch `web_search` on.
    """

    shell_sandbox: bool = False
    private_addresses: bool = False
    protect_generated: bool = True
    format_on_write: bool = False
    format_timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    search_program: str | None = None
    search_keys: dict[str, str] = Field(default_factory=dict)


class Diagnostics(_Section):
    """The log for finding out what went wrong; `log_megabytes` is how much of it is kept."""

    log: LogLevel = "off"
    log_megabytes: Annotated[int, Field(ge=1, le=200)] = 5


class Settings(_Section):
    """Everything that a user can set.

    `active_provider` is what nodes use that name none. `models` is by the name of the model, in
    whatever case. `added_folders` may be read and written by tools besides a run's execution
    folder. `approval_mode` is that of nodes which leave theirs open. `notifications` are those of
    the system, when a run waits for its person.
    """

    active_provider: str | None = None
    providers: dict[str, ProviderProfile] = Field(default_factory=dict)
    embedded: EmbeddedModel = EmbeddedModel()
    limits: Limits = Limits()
    tools: ToolSettings = ToolSettings()
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    added_folders: tuple[str, ...] = ()
    approval_mode: ApprovalMode = ApprovalMode.WRITE
    notifications: bool = True
    diagnostics: Diagnostics = Diagnostics()

    def profile(self, provider_id: str) -> ProviderProfile:
        """What the user changed about this provider; an empty profile if nothing."""
        return self.providers.get(provider_id) or ProviderProfile()
