"""Settings that are changed while the program runs, here and in their file."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from orchestration.errors import UserError
from orchestration.settings import store as store_module
from orchestration.settings.checking import BadSetting, Place, check_together, check_value, checked
from orchestration.settings.live import Edit, LiveSettings
from orchestration.settings.places import put
from orchestration.settings.store import SettingsStore


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "settings.json"


def live_of(file: Path) -> LiveSettings:
    store = SettingsStore(file)
    return LiveSettings(store, store.load().settings)


def change(live: LiveSettings, place: Place, value: Any) -> tuple[str, ...]:
    """What a page does with a value that a person has entered."""

    def edit(data: dict[str, Any]) -> None:
        check_value(place, value)
        put(data, place, value)
        check_together(checked(data), place)

    return asyncio.run(live.change(edit))


def test_a_change_counts_at_once_is_told_and_is_in_the_file(file: Path) -> None:
    live, told = live_of(file), []
    end = live.watch(lambda: told.append(live.current.limits.tools))
    change(live, ("limits", "tools"), 3)
    change(live, ("limits", "tools"), 3)
    assert (live.current.limits.tools, told) == (3, [3])
    assert json.loads(file.read_bytes()) == {"limits": {"tools": 3}}
    end()
    change(live, ("limits", "tools"), None)
    assert (live.current.limits.tools, told) == (16, [3])
    assert json.loads(file.read_bytes()) == {}


def test_what_this_version_does_not_know_stays_in_the_file(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text('{"later": {"a": 1}, "limits": {"odd": [2]}}', encoding="utf-8")
    change(live_of(file), ("notifications",), False)
    assert json.loads(file.read_bytes()) == {
        "later": {"a": 1},
        "limits": {"odd": [2]},
        "notifications": False,
    }


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (("limits", "tools"), 0, "From 1"),
        (("limits", "tools"), True, "number"),
        (("limits", "tools"), "many", "number"),
        (("limits", "run", "tokens"), -1, "least"),
        (("limits", "run", "cost"), 0, "More than 0"),
        (("providers", "openai", "base_url"), "ftp://x", "begin with https://"),
        (("providers", "openai", "base_url"), "https://a:secret@x", "take it out"),
        (("providers", "openai", "timeout_s"), 3601, "From 1 to 3,600"),
        (("providers", "openai", "wire"), "smoke", "'chat'"),
        (("providers", "openai", "models"), ["a", " "], "name"),
        (("embedded", "n_ctx"), 3, "tokens"),
        (("embedded", "model_file"), "/no/such.gguf", "cannot be read"),
        (("tools", "search_program"), "/no/such/program", "no program"),
        (("added_folders",), ["/no/such/folder"], "no folder"),
        (("models", "m", "context_window"), 0, "least"),
        (("approval_mode",), "sometimes", "read_only"),
        (("diagnostics", "log_megabytes"), 100_000, "most"),
        (("limits",), 5, "valid"),
    ],
)
def test_a_wrong_value_is_told_with_its_place_and_changes_nothing(
    file: Path, place: Place, value: Any, words: str
) -> None:
    live = live_of(file)
    before = live.current
    with pytest.raises(BadSetting, match=words) as refusal:
        change(live, place, value)
    assert refusal.value.place[: len(place)] == place[: len(refusal.value.place)]
    assert "secret" not in str(refusal.value)
    assert live.current is before
    assert not file.exists()


def test_a_warning_has_to_come_before_its_limit(file: Path) -> None:
    live = live_of(file)
    change(live, ("limits", "run", "tokens"), 1000)
    with pytest.raises(BadSetting, match="has to come before the limit"):
        change(live, ("limits", "warn_run", "tokens"), 1000)
    change(live, ("limits", "warn_run", "tokens"), 999)
    with pytest.raises(BadSetting, match="has to come before"):
        change(live, ("limits", "run", "tokens"), 500)
    assert live.current.limits.run.tokens == 1000


def test_what_somebody_else_wrote_is_taken_over_and_not_overwritten(file: Path) -> None:
    live, other = live_of(file), live_of(file)
    change(other, ("limits", "tools"), 5)
    told: list[int] = []
    live.watch(lambda: told.append(live.current.limits.tools))
    assert asyncio.run(live.reload()) == ()
    assert asyncio.run(live.reload()) == ()
    assert told == [5]
    change(other, ("limits", "tools"), 6)
    change(live, ("notifications",), False)
    assert json.loads(file.read_bytes()) == {"limits": {"tools": 6}, "notifications": False}
    assert live.current.limits.tools == 6


def test_a_file_that_was_damaged_meanwhile_changes_nothing_and_is_set_aside_later(
    file: Path,
) -> None:
    live = live_of(file)
    change(live, ("limits", "tools"), 5)
    file.write_bytes(b'{"limits": {"tools": "ma')
    (told,) = asyncio.run(live.reload())
    assert "cannot be used" in told
    assert "go on" in told
    assert asyncio.run(live.reload()) == ()
    assert live.current.limits.tools == 5
    (notice,) = change(live, ("notifications",), False)
    assert "damaged" in notice
    assert json.loads(file.read_bytes()) == {"limits": {"tools": 5}, "notifications": False}
    (kept,) = file.parent.glob("settings.damaged-*")
    assert kept.read_bytes().endswith(b'"ma')


def test_a_file_that_cannot_be_written_is_told_and_changes_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = live_of(file)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(store_module, "write_atomically", full)
    with pytest.raises(UserError, match="could not be saved"):
        change(live, ("limits", "tools"), 5)
    assert live.current.limits.tools == 16


def test_changes_at_the_same_time_are_all_kept(file: Path) -> None:
    live = live_of(file)

    def priced(name: str) -> Edit:
        return lambda data: put(data, ("models", name, "input_price"), 1)

    async def all_at_once() -> None:
        names = [f"model-{number}" for number in range(12)]
        await asyncio.gather(*(live.change(priced(name)) for name in names))

    asyncio.run(all_at_once())
    assert len(live.current.models) == 12
    assert len(json.loads(file.read_bytes())["models"]) == 12
