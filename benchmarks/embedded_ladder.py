"""How often the embedded model completes a node, with and without each rung of the ladder.

    python -m benchmarks.embedded_ladder [--samples 6] [--forced 1] [--markdown]

The model is asked for the arguments of a submit in free text, as a server without a grammar would
let it write them, and each text goes through the ladder as a submit call would. What a text needed
is in its record of repairs, so one text tells how it would have fared without any one rung. For
comparison the same nodes run as the product runs them, with the call forced by a grammar.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any, NamedTuple

from engine.run.completion_protocol import interpret
from engine.run.schema import compiled
from engine.vocabulary.errors import ModelCallError
from engine.vocabulary.messages import Completed, ModelTurn, TranscriptView, WireCall
from engine.vocabulary.requests import AgentRequest
from engine.vocabulary.tools import SUBMIT_TOOL, JsonObject
from providers.arguments import (
    CODE_FENCE,
    DOUBLE_ENCODING,
    EMPTY_START,
    REPEATED_OBJECT,
    Latitude,
    decode_arguments,
)
from providers.config import configured
from providers.embedded.server import EmbeddedServer
from providers.factory import ProviderPool
from providers.lenient_json import (
    CONTROL_CHARACTERS,
    PYTHON_LITERALS,
    PYTHON_STRINGS,
    TRAILING_COMMAS,
)
from providers.specs import SPECS
from providers.tolerant_json import BARE_WORDS, SURROUNDING_TEXT

STRICT = "strict JSON in the right envelope"
ASSEMBLY = "repeated objects"
ENCODING = "encodings undone"
NOTATION = "notation undone"
CHECKED = "prose and bare words"
ENVELOPE = "envelope seen through"
COERCION = "coercion by the schema"
RUNGS = (ASSEMBLY, ENCODING, NOTATION, CHECKED, ENVELOPE, COERCION)

_RUNG_OF = {
    **dict.fromkeys((REPEATED_OBJECT, EMPTY_START), ASSEMBLY),
    **dict.fromkeys(
        (CONTROL_CHARACTERS, PYTHON_LITERALS, PYTHON_STRINGS, TRAILING_COMMAS, DOUBLE_ENCODING),
        ENCODING,
    ),
    CODE_FENCE: NOTATION,
    BARE_WORDS: CHECKED,
    SURROUNDING_TEXT: CHECKED,
}
_MOST_TOKENS = 200
_SYSTEM = (
    "You answer with JSON only. The JSON is an object with one member named output, "
    "which holds what is asked for."
)


class Node(NamedTuple):
    """One small task, what its output looks like, and examples for other inputs."""

    task: str
    schema: JsonObject
    examples: tuple[tuple[str, JsonObject], ...]


def _schema(**properties: Any) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _person(name: str, age: int, city: str) -> JsonObject:
    return {"name": name, "age": age, "city": city}


_TEXT: JsonObject = {"type": "string"}
_TEXTS: JsonObject = {"type": "array", "items": _TEXT}
NODES = (
    Node(
        "Give a title for a photo app and how many points its plan has.",
        _schema(title=_TEXT, points={"type": "integer"}),
        (
            (
                "Give a title for a music app and how many points its plan has.",
                {"title": "Tune", "points": 4},
            ),
            (
                "Give a title for a chess app and how many points its plan has.",
                {"title": "Mate", "points": 7},
            ),
        ),
    ),
    Node(
        "Say whether a bug that loses data is urgent, and why.",
        _schema(urgent={"type": "boolean"}, reason=_TEXT),
        (
            (
                "Say whether a wrong colour is urgent, and why.",
                {"urgent": False, "reason": "It harms nobody."},
            ),
            (
                "Say whether a fire is urgent, and why.",
                {"urgent": True, "reason": "It spreads."},
            ),
        ),
    ),
    Node(
        "List three steps to make tea.",
        _schema(steps=_TEXTS),
        (
            ("List two steps to boil an egg.", {"steps": ["Boil water.", "Put the egg in."]}),
            ("List two steps to wash hands.", {"steps": ["Use soap.", "Rinse."]}),
        ),
    ),
    Node(
        "Give a person's name, age and city.",
        _schema(person=_schema(name=_TEXT, age={"type": "integer"}, city=_TEXT)),
        (
            ("Give a dog's name, age and city.", {"person": _person("Rex", 3, "Bern")}),
            ("Give a king's name, age and city.", {"person": _person("Carl", 61, "Oslo")}),
        ),
    ),
)


def request(node: Node) -> AgentRequest:
    """The request of a node."""
    return AgentRequest(
        workflow_id="bench",
        run_id="bench",
        node_id="bench",
        node_label="Bench",
        model="embedded",
        provider_id="embedded",
        system_messages=(),
        task_prompt=node.task,
        input={},
        output_schema=node.schema,
        transcript=TranscriptView(),
    )


def rungs_needed(node: Node, text: str) -> frozenset[str] | None:
    """The rungs that a text needs to complete the node, `None` if none of them help."""
    decoded = decode_arguments(text, Latitude.CHECKED)
    if len(decoded.objects) != 1:
        return None
    arguments = decoded.objects[0]
    turn = ModelTurn(calls=(WireCall(SUBMIT_TOOL, arguments),), finish_reason="tool_calls")
    try:
        outcome = interpret(turn, request(node))
    except ModelCallError:
        return None
    if not isinstance(outcome, Completed):
        return None
    needed = {_RUNG_OF.get(repair, NOTATION) for repair in decoded.repairs}
    judge, output = compiled(node.schema), arguments.get("output")
    if not judge.is_valid(output):
        if not judge.is_valid(judge.coerce(output)):
            needed.add(ENVELOPE)
        if not _holds(arguments, outcome.output):
            needed.add(COERCION)
    return frozenset(needed)


def _holds(value: Any, part: Any) -> bool:
    """Whether every value of an output stands somewhere in the arguments as it is."""
    if isinstance(part, dict):
        return all(_holds(value, item) for item in part.values())
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (type(value) is type(part) and value == part) or any(_holds(v, part) for v in inner)


async def written(client: Any, node: Node, seed: int) -> str:
    """What the model writes for a node when nothing holds it to a form."""
    shown = [
        {"role": role, "content": content}
        for task, output in node.examples
        for role, content in (("user", task), ("assistant", json.dumps({"output": output})))
    ]
    reply = await client.chat.completions.create(
        model="embedded",
        messages=[
            {"role": "system", "content": _SYSTEM},
            *shown,
            {"role": "user", "content": node.task},
        ],
        max_tokens=_MOST_TOKENS,
        temperature=0.6,
        seed=seed,
    )
    return str(reply.choices[0].message.content or "")


async def forced(pool: ProviderPool, node: Node) -> bool:
    """Whether a node completes as the product runs it."""
    try:
        turn = await pool.port(configured(SPECS["embedded"])).invoke(request(node))
        return isinstance(interpret(turn, request(node)), Completed)
    except ModelCallError:
        return False


async def measure(samples: int, forced_samples: int) -> tuple[list[frozenset[str] | None], int]:
    """What each text needed, and how many nodes completed with a forced call."""
    import openai

    server = EmbeddedServer()
    pool = ProviderPool(server)
    endpoint = await server.endpoint()
    client = openai.AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key, timeout=300)
    needed = []
    completed = 0
    try:
        for node in NODES:
            for seed in range(samples):
                text = await written(client, node, seed)
                needed.append(rungs_needed(node, text))
            for _ in range(forced_samples):
                completed += await forced(pool, node)
    finally:
        await client.close()
        await pool.aclose()
        await server.aclose()
    return needed, completed


def rows(needed: list[frozenset[str] | None]) -> list[tuple[str, int, int | str]]:
    """For each rung: completed with it and all above it, and with all but it."""
    fitting = [each for each in needed if each is not None]
    table: list[tuple[str, int, int | str]] = [(STRICT, sum(not e for e in fitting), "-")]
    for at, rung in enumerate(RUNGS):
        so_far = sum(each <= set(RUNGS[: at + 1]) for each in fitting)
        table.append((rung, so_far, sum(rung not in each for each in fitting)))
    return table


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=6, help="texts for each node")
    parser.add_argument("--forced", type=int, default=1, help="forced calls for each node")
    parser.add_argument("--markdown", action="store_true", help="print a table for the docs")
    options = parser.parse_args()
    needed, completed = asyncio.run(measure(options.samples, options.forced))
    total, forced_total = len(needed), options.forced * len(NODES)
    bar = " | " if options.markdown else "  "
    before, after = ("| ", " |") if options.markdown else ("", "")
    print(f"{before}{bar.join(('rung', 'up to it', 'all but it'))}{after}")
    if options.markdown:
        print("|---|---|---|")
    for rung, so_far, without in rows(needed):
        print(f"{before}{rung}{bar}{so_far} of {total}{bar}{without}{after}")
    print(f"with the call forced: {completed} of {forced_total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
