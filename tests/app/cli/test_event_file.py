from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from app.cli.event_file import EventFile
from engine.vocabulary.events import NodeStarted
from orchestration.errors import UserError
from orchestration.runs.event_hub import EventRecord


def record(seq: int) -> EventRecord:
    return EventRecord(seq, 1.5, NodeStarted("n", "N"))


def test_each_event_is_a_line_that_is_there_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    seen: list[bytes] = []
    first_seen = threading.Event()

    def read() -> None:
        with path.open("rb") as pipe:
            for line in pipe:
                seen.append(line)
                first_seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    events = EventFile(str(path))
    events.put(record(1))
    assert first_seen.wait(10)
    events.put(record(2))
    assert events.close() is None
    reader.join()
    assert [json.loads(line)["seq"] for line in seen] == [1, 2]
    assert json.loads(seen[0])["type"] == "node_started"


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be written to"):
        EventFile(str(tmp_path / "no" / "where"))


def test_a_full_disk_is_told_at_the_end_and_holds_nothing_up() -> None:
    if not Path("/dev/full").exists():
        return
    events = EventFile("/dev/full")
    for seq in range(1, 4):
        events.put(record(seq))
    sentence = events.close()
    assert sentence is not None
    assert "No space left" in sentence


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    events = EventFile(str(path))
    os.close(reader)
    events.put(record(1))
    assert events.close() is None


def test_a_closed_standard_error_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(UserError, match="it is closed"):
        EventFile("-")
