"""How often a node may go wrong in each way before it fails or a person is asked."""

from __future__ import annotations

from msgspec import Struct

MAX_MALFORMED_SUBMITS = 3
MAX_PRINTED_SUBMITS = 2
MAX_INVALID_QUESTIONS = 3
MAX_EMPTY_TURNS = 3
MAX_MIXED_TURNS = 3
MAX_TRUNCATED_TURNS = 3
MAX_TEXT_TURNS = 10
MAX_UNSEALED_SUBMITS = 3
BAD_ARGUMENT_TURNS_TO_FAIL = 3
MAX_COUNTED_RETRIES = 255
MAX_DRIFTS = 3
MAX_SHARP_COMPACTIONS = 1
MAX_SUBAGENT_TURNS = 50


class Counters(Struct, omit_defaults=True):
    """What a node has used up of its budgets; every field counts turns in a row.

    `transient` counts failed calls since the last one that succeeded; `bad_arguments` counts
    tool turns with arguments that could not be read, so a tool turn does not clear it.
    """

    malformed_submit: int = 0
    invalid_question: int = 0
    empty_turn: int = 0
    mixed_turn: int = 0
    truncated: int = 0
    text_turn: int = 0
    unsealed_submit: int = 0
    transient: int = 0
    bad_arguments: int = 0
    too_long: int = 0

    def clear_for_text_turn(self) -> None:
        """The model said something: all starts anew but the counts of text and mixed turns."""
        self.malformed_submit = self.invalid_question = self.empty_turn = 0
        self.truncated = self.transient = self.bad_arguments = self.too_long = 0

    def clear_for_tool_turn(self) -> None:
        """The model called tools: all starts anew but the count of unreadable arguments."""
        self.malformed_submit = self.invalid_question = self.empty_turn = 0
        self.mixed_turn = self.truncated = self.text_turn = self.unsealed_submit = 0
        self.transient = self.too_long = 0
