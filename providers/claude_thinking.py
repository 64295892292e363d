"""How each family of Claude models is asked to think."""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct

from engine.vocabulary.errors import ModelCallError, PermanentFailure
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import JsonObject

DEFAULT_MAX_TOKENS = 16_384
ADAPTIVE_FLOOR = 16_000
BUDGET_MARGIN = 4_096
MIN_BUDGET, MAX_BUDGET = 1_024, 59_000
BUDGETS = {"low": 10_240, "medium": 40_960, "high": 59_000}

_EFFORTS = frozenset({"low", "medium", "high"})
_PREFIX = re.compile(r"^(?:(?:us|eu|apac|global)\.)?(?:anthropic[./])?")


class Thinking(Struct, frozen=True):
    """Thinking in a request: whether it is on, its fields, and the least output limit."""

    is_on: bool = False
    fields: JsonObject = {}
    min_tokens: int = 0


class _Mode(Enum):
    ALWAYS = "always on, adaptive"
    DEFAULT = "on unless switched off, adaptive"
    OPTIONAL = "off unless asked for, adaptive"
    MANUAL = "off unless given a budget"
    NEVER = "never"


_FAMILIES: tuple[tuple[re.Pattern[str], _Mode], ...] = (
    (re.compile(r"claude-(?:fable|mythos)"), _Mode.ALWAYS),
    (re.compile(r"claude-sonnet-5"), _Mode.DEFAULT),
    (re.compile(r"claude-(?:opus-4-[678]|sonnet-4-6)(?!\d)"), _Mode.OPTIONAL),
    (re.compile(r"claude-(?:3-7-|(?:sonnet|opus|haiku)-4)"), _Mode.MANUAL),
)
_SHORT_REPLIES = (
    (re.compile(r"claude-3-5-"), 8_192),
    (re.compile(r"claude-(?:3-(?:opus|sonnet|haiku)|2|instant)"), 4_096),
)


def thinking_for(request: AgentRequest, *, options_refused: bool = False) -> Thinking:
    """The thinking of a request by its model, effort and budget.

    Raises:
        ModelCallError: permanent, if the budget is not between `MIN_BUDGET` and `MAX_BUDGET`.
    """
    mode = _mode(request.model)
    if mode is _Mode.NEVER:
        return Thinking()
    if options_refused:
        return Thinking(is_on=mode in (_Mode.ALWAYS, _Mode.DEFAULT))
    effort = request.reasoning_effort
    if mode is _Mode.MANUAL:
        return _manual(effort, request.reasoning_budget_tokens)
    if effort == "none" and mode is _Mode.DEFAULT:
        return Thinking(fields={"thinking": {"type": "disabled"}})
    if effort in (None, "none") and mode is _Mode.OPTIONAL:
        return Thinking()
    fields: JsonObject = {"thinking": {"type": "adaptive", "display": "summarized"}}
    if effort in _EFFORTS:
        fields["output_config"] = {"effort": effort}
    return Thinking(is_on=True, fields=fields, min_tokens=ADAPTIVE_FLOOR)


def max_tokens_for(model: str, limit: int | None, thinking: Thinking) -> int:
    """The output limit, which this API cannot do without."""
    if limit is None:
        model = _PREFIX.sub("", model.lower())
        known = (tokens for family, tokens in _SHORT_REPLIES if family.match(model))
        limit = next(known, DEFAULT_MAX_TOKENS)
    return max(limit, thinking.min_tokens)


def _mode(model: str) -> _Mode:
    name = _PREFIX.sub("", model.lower())
    return next((mode for family, mode in _FAMILIES if family.match(name)), _Mode.NEVER)


def _manual(effort: str | None, budget: int | None) -> Thinking:
    if budget is None:
        if effort is None or effort == "none":
            return Thinking()
        budget = BUDGETS.get(effort, BUDGETS["medium"])
    if not MIN_BUDGET <= budget <= MAX_BUDGET:
        raise ModelCallError(
            PermanentFailure(
                f"the reasoning budget of {budget} tokens is not between {MIN_BUDGET} and "
                f"{MAX_BUDGET}; change it in the node's settings"
            )
        )
    return Thinking(
        is_on=True,
        fields={"thinking": {"type": "enabled", "budget_tokens": budget}},
        min_tokens=budget + BUDGET_MARGIN,
    )
