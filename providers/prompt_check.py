"""Noticing that a server has silently cut the prompt."""

from __future__ import annotations

import re

from engine.vocabulary.messages import Usage
from providers.mapping import Body
from providers.wire_json import encoded

_CONVERSATION = ("system", "instructions", "messages", "input")
_WORD = re.compile(rb"[0-9A-Za-z\x80-\xff]+")
_WITHOUT_BLANKS = re.compile(rb"[\x80-\xff]{12}")
_FEWEST_WORDS = 2048
_BYTES_PER_TOKEN = 8
_SHARE = 0.6
_USUAL_WINDOWS = frozenset(2**power for power in range(11, 18))
"""What local servers give a model where nobody says how long its context is to be."""


def words_if_cut(body: Body, body_bytes: int, usage: Usage | None) -> int | None:
    """How many words were sent, if far fewer tokens than that arrived; otherwise `None`.

    A word makes one token at least, and so do four characters of a script that writes without
    blanks, so a count far below is no matter of the tokenizer. Where prompt and reply fill a usual
    context window to the token, any count below is none.
    """
    if usage is None or not usage.prompt_tokens:
        return None
    arrived = usage.prompt_tokens
    if (usage.cached_input_tokens or 0) > arrived:
        # Some services leave the cached part out of the whole.
        arrived += usage.cached_input_tokens or 0
    is_full = arrived + (usage.completion_tokens or 0) in _USUAL_WINDOWS
    if not is_full and arrived * _BYTES_PER_TOKEN >= body_bytes:
        return None
    sent = encoded([body[name] for name in _CONVERSATION if name in body])
    words = len(_WORD.findall(sent)) + len(_WITHOUT_BLANKS.findall(sent))
    share = 1.0 if is_full else _SHARE
    return words if words >= _FEWEST_WORDS and arrived < words * share else None
