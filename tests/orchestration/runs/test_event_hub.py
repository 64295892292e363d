import json
import logging

import pytest

from engine.vocabulary.events import ChatMessageDelta, NodeCompleted, NodeStarted, RunEvent
from orchestration.runs.event_hub import EventHub, EventRecord, event_line


def ignore(event: RunEvent, time: float) -> None:
    pass


def started(name: str) -> NodeStarted:
    return NodeStarted(name, name.title())


def test_records_are_numbered_from_one_without_gaps_and_reach_everyone_in_order() -> None:
    seen: list[EventRecord] = []
    projected: list[tuple[RunEvent, float]] = []
    hub = EventHub(lambda event, time: projected.append((event, time)), lambda: 5.0)
    hub.listen(seen.append)
    subscription = hub.subscribe()
    for name in ("a", "b", "c"):
        hub.emit(started(name))
    assert [(record.seq, record.time) for record in seen] == [(1, 5.0), (2, 5.0), (3, 5.0)]
    assert projected == [(record.event, record.time) for record in seen]
    assert subscription.drain() == seen
    assert subscription.drain() == []


def test_a_subscription_says_once_that_it_is_ready_until_it_is_drained() -> None:
    hub = EventHub(ignore)
    subscription = hub.subscribe()
    calls: list[int] = []
    subscription.on_ready = lambda: calls.append(1)
    hub.emit(started("a"))
    hub.emit(started("b"))
    assert len(calls) == 1
    assert len(subscription.drain()) == 2
    hub.emit(started("c"))
    assert len(calls) == 2


def test_a_closed_subscription_gets_no_more_records() -> None:
    hub = EventHub(ignore)
    first, second = hub.subscribe(), hub.subscribe()
    first.close()
    first.close()
    hub.emit(started("a"))
    assert first.drain() == []
    assert len(second.drain()) == 1


def test_a_listener_that_raises_is_reported_and_dropped_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(record: EventRecord) -> None:
        raise BrokenPipeError("reader gone")

    seen: list[int] = []
    hub = EventHub(ignore)
    hub.listen(broken)
    hub.listen(lambda record: seen.append(record.seq))
    with caplog.at_level(logging.ERROR):
        hub.emit(started("a"))
        hub.emit(started("b"))
    assert seen == [1, 2]
    assert len(caplog.records) == 1


def test_an_event_line_has_number_time_type_and_fields() -> None:
    line = event_line(EventRecord(7, 1764522000.5, ChatMessageDelta("n", "m", "assistant", "héy")))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "seq": 7,
        "time": "2025-11-30T17:00:00.500000Z",
        "type": "chat_message_delta",
        "node_id": "n",
        "message_id": "m",
        "role": "assistant",
        "delta": "héy",
    }


@pytest.mark.parametrize("value", ["half a pair \ud83d", 2**80, float("nan"), {"deep": ["\udc00"]}])
def test_whatever_a_model_wrote_becomes_a_line_of_json(value: object) -> None:
    line = event_line(EventRecord(1, 0.0, NodeCompleted("n", "N", value)))
    read = json.loads(line)
    assert read["type"] == "node_completed"
    assert "output" in read
