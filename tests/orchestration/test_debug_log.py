"""The debug log: what is written, how much of it, for whom, and what never is."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.debug_log import MEGABYTE, DebugLog
from orchestration.errors import UserError
from orchestration.masking import MASKED, Mask

SECRET = "of-9q/Zx+7'k\"Lm\\2&w"
OURS = logging.getLogger("orchestration.some_part")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DebugLog]:
    log = DebugLog(tmp_path / "logs" / "log.jsonl", lambda: [SECRET])
    yield log
    log.close()


def lines(log: DebugLog) -> list[dict[str, Any]]:
    log.flush_now()
    return [json.loads(line) for line in log.file.read_text(encoding="utf-8").splitlines()]


def test_nothing_is_written_unless_it_is_wanted(log: DebugLog) -> None:
    OURS.warning("a")
    assert not log.file.parent.exists()
    log.set_level("warnings", 1)
    OURS.info("b")
    OURS.warning("c %d", 3)
    logging.getLogger("another.library").warning("d")
    logging.getLogger("another.library").info("e")
    log.flush_now()
    log.set_level("off", 1)
    OURS.warning("f")
    assert [(line["text"], line["level"]) for line in lines(log)] == [
        ("c 3", "warning"),
        ("d", "warning"),
    ]
    assert logging.getLogger("orchestration").level == logging.NOTSET


def test_only_its_owner_can_read_it(log: DebugLog) -> None:
    log.set_level("debug", 1)
    OURS.debug("a")
    log.flush_now()
    assert stat.S_IMODE(log.file.stat().st_mode) == 0o600


def test_known_keys_are_never_written_in_whatever_form(log: DebugLog) -> None:
    log.set_level("debug", 1)
    OURS.info("the key is %s", SECRET)
    OURS.info("as JSON: %s", json.dumps({"key": SECRET, "inner": json.dumps({"key": SECRET})}))
    OURS.info("as Python: %r", {"key": SECRET})
    OURS.info("in an address: %s", "https://x/?q=of-9q%2FZx%2B7%27k%22Lm%5C2%26w")
    try:
        raise RuntimeError(f"refused: {SECRET}")
    except RuntimeError:
        OURS.warning("a call failed", exc_info=True)
    log.flush_now()
    written = log.file.read_text(encoding="utf-8")
    assert len(written.splitlines()) == 5
    for part in ("9q", "Zx", "Lm"):
        assert part not in written
    assert "Traceback" in written
    assert log.flushed_text() == written


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Authorization: Bearer abc.def-123", f"Authorization: Bearer {MASKED}"),
        ('{"x-api-key": "k-12345678"}', f'{{"x-api-key": "{MASKED}"}}'),
        ("postgresql://me:pass1@host/db", f"postgresql://me:{MASKED}@host/db"),
        ("api_key=12345678&a=1", f"api_key={MASKED}&a=1"),
        ("uses sk-proj-abcdefghij0123456789 now", f"uses {MASKED} now"),
        ("120 tokens, key of a map, skill-library", "120 tokens, key of a map, skill-library"),
    ],
)
def test_what_looks_like_a_key_is_masked_too(text: str, left: str) -> None:
    assert Mask(()).applied(text) == left


@given(st.text(min_size=6, max_size=40), st.text(max_size=30), st.text(max_size=30))
def test_no_known_value_is_left_in_any_text(secret: str, before: str, after: str) -> None:
    for written in (secret, json.dumps(secret)[1:-1], repr(secret)[1:-1]):
        # Where a part of what is masked stays, it is by what stood around it.
        masked = Mask([secret]).applied(f"{before}\n{written}\n{after}")
        assert written not in masked or written in before or written in after or (written in MASKED)


def test_it_stays_within_its_limit(log: DebugLog) -> None:
    log.set_level("debug", 1)
    for number in range(700):
        OURS.debug("%d %s", number, "x" * 3000)
    log.flush_now()
    assert log.size() <= 1_000_000
    assert lines(log)[-1]["text"].startswith("699 ")
    assert log.before.exists()
    log.clear()
    assert log.size() == 0


def test_two_programs_put_the_file_aside_without_loss(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    both = [DebugLog(file, lambda: ()) for _ in range(2)]
    try:
        for log in both:
            log.set_level("info", 1)
        # Together more than one file takes, and less than is kept: nothing may be gone.
        for number in range(80):
            OURS.info("%d %s", number, "x" * 5_000)
        for log in both:
            log.flush_now()

        assert [log.trouble for log in both] == ["", ""]
        assert both[0].size() <= MEGABYTE
        lines = both[0].before.read_text().splitlines() + file.read_text().splitlines()
        told = [int(json.loads(line)["text"].split()[0]) for line in lines]
        assert sorted(told) == sorted([*range(80), *range(80)])
    finally:
        for log in both:
            log.close()


def test_keys_that_cannot_be_looked_up_do_not_end_it(tmp_path: Path) -> None:
    def no_keys() -> list[str]:
        raise UserError("the file of keys is damaged")

    log = DebugLog(tmp_path / "log.jsonl", no_keys)
    log.set_level("info", 1)
    OURS.info("a")
    assert [line["text"] for line in lines(log)] == ["a"]
    assert "could not be looked up" in log.trouble
    log.close()
    log.close()


def test_a_place_that_cannot_be_written_is_told_and_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file, not a folder", encoding="utf-8")
    log = DebugLog(tmp_path / "logs" / "log.jsonl", list)
    log.set_level("info", 1)
    OURS.info("a")
    OURS.info("b")
    log.flush_now()
    assert "cannot be written" in log.trouble
    log.close()
