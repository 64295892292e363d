"""Fan-out of a run's events: numbered, stamped, handed on at once, never awaited."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from engine.vocabulary.events import RunEvent

logger = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class EventRecord(Struct, frozen=True, gc=False):
    """One event with its number (from 1, no gaps) and its time in seconds since the epoch."""

    seq: int
    time: float
    event: RunEvent


Listener = Callable[[EventRecord], None]


class Subscription:
    """Collects records for a reader with a rhythm of its own.

    `on_ready` is called once each time when there is something to drain again.
    """

    __slots__ = ("_hub", "_pending", "on_ready")

    def __init__(self, hub: EventHub) -> None:
        self._pending: list[EventRecord] = []
        self._hub = hub
        self.on_ready: Callable[[], None] | None = None

    def take(self, record: EventRecord) -> None:
        """Add a record; for the hub."""
        pending = self._pending
        pending.append(record)
        if len(pending) == 1 and self.on_ready is not None:
            self.on_ready()

    def drain(self) -> list[EventRecord]:
        """Everything since the last call, in order."""
        drained, self._pending = self._pending, []
        return drained

    def close(self) -> None:
        """Get no more records; may be called twice."""
        self._hub.remove(self.take)


class EventHub:
    """Numbers events and hands each to every listener, in the order in which they joined.

    A listener that raises is reported and dropped: a broken reader does not break a run.
    """

    __slots__ = ("_clock", "_listeners", "_project", "_seq")

    def __init__(
        self,
        project: Callable[[RunEvent, float], None],
        clock: Callable[[], float] = time.time,
        last_event: int = 0,
    ) -> None:
        """Make a hub whose every event goes to `project` first, with its time.

        Numbers go on after `last_event`.
        """
        self._project = project
        self._clock = clock
        self._seq = last_event
        self._listeners: tuple[Listener, ...] = ()

    def emit(self, event: RunEvent) -> None:
        """Tell everyone."""
        self._seq = seq = self._seq + 1
        now = self._clock()
        self._project(event, now)
        if not self._listeners:
            return
        record = EventRecord(seq, now, event)
        for listener in self._listeners:
            try:
                listener(record)
            except Exception:
                logger.exception("a listener failed on event %d and gets no more events", seq)
                self.remove(listener)

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every record from now on."""
        self._listeners = (*self._listeners, listener)

    def listen_first(self, listener: Listener) -> None:
        """Call `listener` with every record from now on, before any other."""
        self._listeners = (listener, *self._listeners)

    def remove(self, listener: Listener) -> None:
        """Stop calling `listener`; nothing happens if it is not known."""
        self._listeners = tuple(each for each in self._listeners if each != listener)

    def subscribe(self) -> Subscription:
        """Collect every record from now on."""
        subscription = Subscription(self)
        self.listen(subscription.take)
        return subscription


def rfc3339(seconds: float) -> str:
    """A time since the epoch as text, UTC, with microseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def event_line(record: EventRecord) -> bytes:
    """The record as one JSON line: `seq`, `time`, `type` and the fields of the event."""
    head = b'{"seq":%d,"time":"%s",' % (record.seq, rfc3339(record.time).encode())
    try:
        body = _encode(record.event)
    except (UnicodeEncodeError, OverflowError):
        # Half a surrogate pair, or a number beyond 64 bits, in what a model wrote.
        body = json.dumps(msgspec.to_builtins(record.event), separators=(",", ":")).encode()
    return head + body[1:] + b"\n"
