"""What is left out of a conversation that is too long: for any transcript, and in any state."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.run.compaction import artifact_id, asides, compact, room_in, view_of
from engine.run.feedback import PLAN_DRAFT_URI, denied_by_person
from engine.run.token_estimate import estimate_item
from engine.vocabulary.messages import (
    AssistantMessage,
    CallItem,
    Reasoning,
    ReasoningPart,
    ResultItem,
    TranscriptItem,
    UserMessage,
)
from engine.vocabulary.tools import SEAL_PLAN_TOOL, OutputMeta, ToolCall, ToolResult, Truncation

LONG = "def something(of: int) -> str:  # a line of a file\n" * 40


def turn(
    number: int, *contents: str, tool: str = "read", path: str = "a.py"
) -> list[TranscriptItem]:
    """A turn of calls with their results."""
    ids = [f"{number}-{at}" for at in range(len(contents))]
    called: list[TranscriptItem] = [CallItem(ToolCall(i, tool, {"path": path})) for i in ids]
    given = zip(ids, contents, strict=True)
    return called + [ResultItem(ToolResult(i, tool, content)) for i, content in given]


def sizes_of(transcript: list[TranscriptItem]) -> list[int]:
    """The tokens of each item."""
    return [estimate_item(item) for item in transcript]


@st.composite
def transcripts(draw: st.DrawFn) -> list[TranscriptItem]:
    """A conversation of turns and words in any order, protected results among them."""
    items: list[TranscriptItem] = []
    for number in range(draw(st.integers(0, 8))):
        match draw(st.integers(0, 5)):
            case 0:
                items.append(UserMessage(draw(st.text(max_size=40)) * 20))
            case 1:
                items.append(AssistantMessage(draw(st.text(max_size=40)) * 20))
            case 2:
                items.append(Reasoning((ReasoningPart("text", "hm"),)))
            case 3:
                items += turn(number, LONG, tool=SEAL_PLAN_TOOL)
            case 4:
                items += turn(number, LONG, path=f"{PLAN_DRAFT_URI}:1-20")
            case _:
                count = draw(st.integers(1, 3))
                lengths = draw(st.lists(st.integers(0, 3000), min_size=count, max_size=count))
                items += turn(number, *[(LONG * 2)[:n] for n in lengths])
    return items


def is_plan(item: TranscriptItem, transcript: list[TranscriptItem]) -> bool:
    """Whether an item is the result of a call about the plan."""
    return isinstance(item, ResultItem) and (
        item.result.tool_name == SEAL_PLAN_TOOL
        or any(
            isinstance(other, CallItem)
            and other.call.id == item.result.call_id
            and other.call.arguments["path"].startswith(PLAN_DRAFT_URI)
            for other in transcript
        )
    )


@settings(max_examples=200)
@given(transcripts(), st.integers(0, 4000), st.integers(1, 3))
def test_compaction_of_any_conversation(
    transcript: list[TranscriptItem], surplus: int, last: int
) -> None:
    sizes = sizes_of(transcript)
    found = compact(transcript, sizes, 0, surplus, last)
    seen = view_of(transcript, sizes, found.upto)
    changed = [at for at, item in enumerate(transcript) if seen[at] is not item]

    # Same items in the same order: each call keeps its one result.
    assert len(seen) == len(transcript)
    assert len(changed) == found.items
    for at in changed:
        before, after = transcript[at], seen[at]
        assert isinstance(before, ResultItem)
        assert isinstance(after, ResultItem)
        assert after.result.call_id == before.result.call_id
        assert after.result.is_error == before.result.is_error
        assert "\n" not in after.result.content
        assert artifact_id(before.result) in after.result.content
        assert not is_plan(before, transcript)
    # It saves what was wanted, or all that may go has gone.
    assert sum(sizes) - sum(sizes_of(seen)) == found.saved
    everything = compact(transcript, sizes, 0, 10**9, last)
    assert found.saved >= surplus or found == everything
    # The last turns are whole.
    results = [at for at, item in enumerate(transcript) if isinstance(item, ResultItem)]
    if results:
        end_of_turn = results[-1]
        while end_of_turn in results:
            assert seen[end_of_turn] is transcript[end_of_turn]
            end_of_turn -= 1
    # What was put aside is the whole of what was replaced.
    kept = asides(transcript, sizes, 0, found.upto)
    replaced = [item for at, item in enumerate(transcript) if at in changed]
    assert [text.content for text in kept] == [
        item.result.content for item in replaced if isinstance(item, ResultItem)
    ]


@settings(max_examples=100)
@given(transcripts(), st.integers(0, 4000), st.integers(1, 3))
def test_compaction_is_idempotent_and_goes_on_where_it_was(
    transcript: list[TranscriptItem], surplus: int, last: int
) -> None:
    sizes = sizes_of(transcript)
    once = compact(transcript, sizes, 0, surplus, last)
    seen = view_of(transcript, sizes, once.upto)
    assert view_of(seen, sizes_of(seen), once.upto) == seen
    assert compact(transcript, sizes, once.upto, 0, last).upto == once.upto
    if once.saved < surplus:
        again = compact(transcript, sizes, once.upto, surplus, last)
        assert (again.saved, again.items) == (0, 0)
    in_two = compact(transcript, sizes, once.upto, 10**9, last)
    at_once = compact(transcript, sizes, 0, 10**9, last)
    assert view_of(transcript, sizes, max(once.upto, in_two.upto)) == view_of(
        transcript, sizes, at_once.upto
    )
    assert once.saved + in_two.saved == at_once.saved


def test_what_the_host_has_put_aside_is_not_put_aside_again() -> None:
    cut = OutputMeta(Truncation("middle", 90_000, 40_000, 50_000))
    spilled = ToolResult("1-0", "bash", LONG, artifact_ids=("diff", "the-whole"), output_meta=cut)
    transcript = [CallItem(ToolCall("1-0", "bash", {})), ResultItem(spilled), *turn(2, "short")]
    sizes = sizes_of(transcript)
    found = compact(transcript, sizes, 0, 1, 1)
    line = view_of(transcript, sizes, found.upto)[1]
    assert isinstance(line, ResultItem)
    assert "artifact:the-whole" in line.result.content
    (told,) = asides(transcript, sizes, 0, found.upto)
    assert (told.artifact_id, told.content) == ("the-whole", None)


def test_a_persons_reason_for_a_denial_stays() -> None:
    reason = denied_by_person("bash", "Never touch the database. " * 60)
    transcript = turn(1, reason, tool="bash") + turn(2, LONG, LONG) + turn(3, LONG)
    sizes = sizes_of(transcript)
    found = compact(transcript, sizes, 0, 10**6, 1)
    seen = view_of(transcript, sizes, found.upto)
    assert seen[1] is transcript[1]
    assert found.items == 2


def test_the_results_of_a_turn_go_together() -> None:
    transcript = turn(1, LONG, LONG, LONG) + turn(2, LONG) + turn(3, LONG)
    found = compact(transcript, sizes_of(transcript), 0, 1, 1)
    assert (found.items, found.upto) == (3, 6)


def test_room_is_left_for_the_reply() -> None:
    assert room_in(4_096) < 3_400
    assert room_in(200_000) == 200_000 - 16_384
