"""What there is to set, as data: it feeds the list of pages, their search and the palette."""

from __future__ import annotations

from typing import NamedTuple


class PageSpec(NamedTuple):
    """One page of the settings."""

    id: str
    title: str
    about: str


class Entry(NamedTuple):
    """One thing that can be gone to: `page` is the id of its page, `row` that of its row.

    `words` are others that a person may look for it by.
    """

    page: str
    row: str
    title: str
    words: str = ""

    @property
    def key(self) -> str:
        """What names it in a list of everything: `limits#tools`."""
        return f"{self.page}#{self.row}"


PAGES: tuple[PageSpec, ...] = (
    PageSpec("providers", "Providers", "Who answers your nodes, and with which key."),
    PageSpec("embedded", "Embedded Model", "A small model on this computer, without any account."),
    PageSpec("models", "Models", "Context windows and prices, where you know better."),
    PageSpec("approvals", "Approvals", "What runs by itself, and what asks you first."),
    PageSpec("limits", "Limits", "What a run may use up, and how much goes on at once."),
    PageSpec("tools", "Tools", "What nodes may do on this computer."),
    PageSpec("appearance", "Appearance", "Theme, size of text and motion."),
    PageSpec("data", "Data", "Where runs and settings are kept, and how much room they take."),
    PageSpec(
        "diagnostics", "Diagnostics", "The log for finding out what went wrong, and versions."
    ),
)

ENTRIES: tuple[Entry, ...] = (
    Entry("providers", "list", "Providers and their keys", "api key service openai anthropic"),
    Entry("providers", "add", "Add an endpoint", "custom openai compatible server url local"),
    Entry("embedded", "state", "Start or stop the embedded model", "local llama demo"),
    Entry("embedded", "model_file", "Model file", "gguf embedded weights"),
    Entry("embedded", "n_ctx", "Context of the embedded model", "tokens window"),
    Entry("embedded", "threads", "Threads of the embedded model", "cpu cores processor"),
    Entry("embedded", "log", "Log of the embedded model", "llama output"),
    Entry("models", "table", "Context windows and prices", "cost tokens money dollars"),
    Entry("models", "add", "Add a model", "name price window"),
    Entry("approvals", "approval_mode", "Default approval mode", "ask write read only yolo"),
    Entry("approvals", "rules", "Standing rules", "allow always for this run"),
    Entry("approvals", "notifications", "Notifications", "desktop alert waiting"),
    Entry("limits", "provider_calls", "Model calls at once", "concurrency parallel"),
    Entry("limits", "tools", "Tool calls at once", "concurrency parallel"),
    Entry("limits", "run", "Budget of a run", "tokens cost money time turns limit warn"),
    Entry("limits", "node", "Budget of a node", "tokens cost money time turns limit warn"),
    Entry("tools", "shell_sandbox", "Sandbox for commands", "bubblewrap bwrap network safe shell"),
    Entry("tools", "private_addresses", "Private addresses", "localhost network fetch url"),
    Entry("tools", "protect_generated", "Protect generated files", "edit lock"),
    Entry("tools", "format_on_write", "Format on write", "formatter black prettier"),
    Entry("tools", "format_timeout_s", "Time for formatting", "formatter seconds"),
    Entry("tools", "search_program", "Program for web searches", "search internet"),
    Entry("tools", "search_keys", "Keys for web searches", "brave tavily serper exa jina api"),
    Entry("tools", "added_folders", "Added folders", "path directory access"),
    Entry("appearance", "theme", "Theme", "light dark system colour color"),
    Entry("appearance", "text_size", "Size of text", "zoom font scale bigger smaller"),
    Entry("appearance", "reduced_motion", "Reduce motion", "animation"),
    Entry("data", "folder", "Data folder", "place path disk settings.json"),
    Entry("data", "database", "Database", "sqlite postgresql server"),
    Entry("data", "prune", "Delete old runs", "prune clean space age size"),
    Entry("diagnostics", "log", "Debug log", "level logging trace"),
    Entry("diagnostics", "log_megabytes", "Size of the log", "limit megabytes"),
    Entry("diagnostics", "versions", "Versions", "about python qt openflow"),
)


def page_spec(page_id: str) -> PageSpec:
    """The page of this id."""
    return next(spec for spec in PAGES if spec.id == page_id)
