"""What the decoding of broken arguments costs at worst, and whether the event loop goes on.

    python -m benchmarks.ladder [--rounds 3] [--characters 65536]

Texts of full size are made of every short pattern in every frame and decoded with every latitude,
then read as printed calls. Costs are CPU time, the best of some rounds, so that other work on the
machine does not count. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from benchmarks.checks import Check, verdict
from benchmarks.lateness import Lateness, lateness
from benchmarks.lateness import check as lateness_check
from engine.vocabulary.tools import ToolDefinition, ToolTier
from orchestration.fair_threads import let_threads_take_turns
from providers.arguments import Latitude, decode_arguments
from providers.stream_parts import TurnBuilder
from providers.text_calls import printed_calls

US_A_CHARACTER = 2.0
WHOLE_MS = 130.0
GROWTH = 1.25
STALL_MS = 10.0
SHOWN = 5

PATTERNS = (
    *"{}[]:,\"'a1 \\#/-é\n“”",
    *("]a{", "[{", "{}", "[]", '{"a":', "{'a':'", "{a:", '"a" ', "'a' ", '"a":1,', "a:1,", "a:b "),
    *("1 ", "1,", "+1,", ".5,", "0x1,", "True ", "True,", "None:", '"""', "'''", "''", '""', "'\""),
    *("//", "/*", "*/", "\\x41", "\\d", "\\n", '"\\d"', '"\\x41"', "[1,2],", "{a:1}", '{"a":1}'),
    *('{"a":1}\n', '"a":"b"\n', 'a:"\\d",', "“a”,", "\\ud83d", '"\n" ', '"a":{},', "a:[1 2],"),
)
FRAMES = (
    ("", ""),
    ("{", "}"),
    ('{"a":[', "]}"),
    ("{a:[", "]}"),
    ('{"a":"', '"}'),
    ("{'a':'", "'}"),
    ('{"a":"""', '"""}'),
    ("{a: b ", "}"),
    ("Here: {a:[", "]} and so on"),
    ("{a:1}", ""),
    ('{"a":1}', ""),
)
CALL_PATTERNS = (
    *("<tool_call>", "</tool_call>", "<parameter=a>", "<parameter=a></parameter>", "<think>", "\n"),
    *(
        '<invoke name="a">',
        "<arg_key>a</arg_key>",
        "<arg_key>a</arg_key><arg_value>",
        "{",
        "}",
        "a",
    ),
    '<tool_call>{"name":"look","arguments":{}}</tool_call>',
)
CALL_FRAMES = (
    ("", ""),
    ("<tool_call>", "</tool_call>"),
    ("<tool_call>a {", "}</tool_call>"),
    ("<function=look>", "</function>"),
    ('<invoke name="look">', "</invoke>"),
    ("[TOOL_CALLS]look", "}"),
    ("```json\n", "\n```"),
    ("<think>", "</think>"),
)
LOOK = ToolDefinition("look", "Look.", {"type": "object"}, ToolTier.READ)


class Cost(NamedTuple):
    """What one text cost, in CPU milliseconds."""

    milliseconds: float
    text: str
    how: str


def framed(pattern: str, frame: tuple[str, str], characters: int) -> str:
    """A text of this many characters."""
    before, after = frame
    room = characters - len(before) - len(after)
    return before + (pattern * (room // len(pattern) + 1))[:room] + after


def named(pattern: str, frame: tuple[str, str]) -> str:
    """The text in short."""
    return f"{frame[0]!r} {pattern!r}... {frame[1]!r}"


def cpu_ms(work: Callable[[], Any], rounds: int) -> float:
    """The least CPU time that the work took, in milliseconds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best * 1000


def argument_costs(characters: int, rounds: int) -> Iterator[Cost]:
    """What each text costs as the arguments of a call."""
    for pattern, frame in itertools.product(PATTERNS, FRAMES):
        text = framed(pattern, frame, characters)
        for latitude in Latitude:
            spent = cpu_ms(partial(decode_arguments, text, latitude), rounds)
            yield Cost(spent, named(pattern, frame), latitude.name.lower())


def call_costs(characters: int, rounds: int) -> Iterator[Cost]:
    """What each text costs as a message that may be a call."""
    for pattern, frame in itertools.product(CALL_PATTERNS, CALL_FRAMES):
        text = framed(pattern, frame, characters)
        spent = cpu_ms(partial(printed_calls, text, (LOOK,)), rounds)
        yield Cost(spent, named(pattern, frame), "printed")


def growth(worst: Cost, characters: int, rounds: int) -> float:
    """How much more a character of the worst text costs than one of a quarter of it."""
    for pattern, frame in itertools.product(PATTERNS, FRAMES):
        if named(pattern, frame) == worst.text:
            latitude = Latitude[worst.how.upper()]
            small, large = (
                framed(pattern, frame, length) for length in (characters // 4, characters)
            )
            quarter = cpu_ms(partial(decode_arguments, small, latitude), rounds * 4)
            whole = cpu_ms(partial(decode_arguments, large, latitude), rounds)
            return whole / (4 * quarter)
    raise AssertionError(worst)


async def lateness_of(text: str) -> Lateness:
    """How late a timer comes while replies with these arguments are put together."""

    async def put_together() -> None:
        builder = TurnBuilder("bench")
        builder.calls.add(0, "c1", "look", text)
        builder.end("stop")
        await asyncio.to_thread(builder.turn, frozenset({"look"}), (LOOK,))

    return await lateness(put_together)


def checks(characters: int, rounds: int) -> Iterator[Check]:
    """All targets."""
    costs = sorted(argument_costs(characters, rounds), reverse=True)
    for cost in costs[:SHOWN]:
        print(f"  {cost.milliseconds:6.1f} ms  {cost.how:9} {cost.text}")
    for name, worst in (("arguments", costs[0]), ("calls", max(call_costs(characters, rounds)))):
        each = worst.milliseconds * 1000 / characters
        yield Check(
            f"{name}: a character at worst",
            f"{each:.2f} us",
            f"{US_A_CHARACTER} us",
            each <= US_A_CHARACTER,
        )
        limit = WHOLE_MS * characters / 65536
        yield Check(
            f"{name}: a text at worst",
            f"{worst.milliseconds:.0f} ms",
            f"{limit:.0f} ms",
            worst.milliseconds <= limit,
        )
    ratio = growth(costs[0], characters, rounds)
    yield Check("growth of the worst", f"{ratio:.2f}x", f"{GROWTH}x", ratio <= GROWTH)
    late = asyncio.run(lateness_of(framed("a:b ,", ("{", "}"), characters)))
    yield lateness_check("event loop late by", late, STALL_MS)


def main() -> int:
    """Measure, print, and say whether all targets are met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--characters", type=int, default=65536)
    options = parser.parse_args()
    let_threads_take_turns()
    return verdict(list(checks(options.characters, options.rounds)))


if __name__ == "__main__":
    sys.exit(main())
