"""Every tool of this program."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from orchestration.settings.model import ToolSettings
from orchestration.tools.builtin.apply_patch import APPLY_PATCH
from orchestration.tools.builtin.ast_edit import AST_EDIT
from orchestration.tools.builtin.ast_grep import AST_GREP
from orchestration.tools.builtin.bash import BASH
from orchestration.tools.builtin.edit import EDIT
from orchestration.tools.builtin.find import FIND
from orchestration.tools.builtin.ls import LS
from orchestration.tools.builtin.plan_artifact import WRITE_PLAN_ARTIFACT
from orchestration.tools.builtin.read import READ
from orchestration.tools.builtin.search import SEARCH
from orchestration.tools.builtin.todo_list import TODO_LIST
from orchestration.tools.builtin.web_search import web_search_tool
from orchestration.tools.builtin.write import WRITE
from orchestration.tools.tool import Tool

NO_KEYS: Mapping[str, str] = MappingProxyType({})


def builtin_tools(
    settings: ToolSettings, search_keys: Mapping[str, str] = NO_KEYS
) -> tuple[Tool, ...]:
    """All tools that these settings allow.

    `search_keys` are providers of web searches with their secret keys; without any there is no
    `web_search`.
    """
    web_search = web_search_tool(settings, search_keys)
    return (
        READ,
        LS,
        SEARCH,
        FIND,
        AST_GREP,
        AST_EDIT,
        WRITE,
        EDIT,
        APPLY_PATCH,
        BASH,
        TODO_LIST,
        WRITE_PLAN_ARTIFACT,
        *(() if web_search is None else (web_search,)),
    )
