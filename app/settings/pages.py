"""Makes the pages of the list; each is loaded when it is first opened."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from app.settings.access import Access
from app.settings.page import ListedPage

_CLASSES = {
    "embedded": "EmbeddedPage",
    "models": "ModelsPage",
    "approvals": "ApprovalsPage",
    "limits": "LimitsPage",
    "tools": "ToolsPage",
    "appearance": "AppearancePage",
    "data": "DataPage",
    "diagnostics": "DiagnosticsPage",
}


def made_page(page_id: str, access: Access, open_provider: Callable[[str], None]) -> ListedPage:
    """The page of this id; the list of providers calls `open_provider` with the chosen one."""
    if page_id == "providers":
        from app.settings.providers_page import ProvidersPage

        providers = ProvidersPage(access)
        providers.chosen.connect(open_provider)
        return providers
    module = import_module(f"app.settings.{page_id}_page")
    page = getattr(module, _CLASSES[page_id])(access)
    assert isinstance(page, ListedPage)
    return page
