"""Notices of the system: once for each matter, and only while the person looks elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from app.kit.desktop_notices import channel_for
from app.notifications import Notifier, RunStanding, Target
from app.waiting_list import WaitingEntry

ASKS = WaitingEntry("r1", "idea", "question", "Planning / Idea", "For whom?", "p1")
WANTS = WaitingEntry("r1", "risk", "approval", "Planning / Risks", "write", "a1")
ON = RunStanding("r1", "Planning", "")


class Shown:
    """A channel that remembers; `press` is what the person does."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str, str]] = []
        self.press: Callable[[str], None] = lambda key: None
        self.is_closed = False

    def show(self, key: str, title: str, text: str) -> None:
        self.notices.append((key, title, text))

    def close(self) -> None:
        self.is_closed = True


class Desk:
    """A notifier with everything that it asks."""

    def __init__(self) -> None:
        self.window = QWidget()
        self.channel: Shown | None = Shown()
        self.is_active = self.is_off = False
        self.chosen: list[Target] = []
        self.notifier = Notifier(
            self.window,
            is_wanted=lambda: not self.is_off,
            make_channel=self._make,
            is_active=lambda: self.is_active,
        )
        self.notifier.chosen.connect(self.chosen.append)

    def _make(self, parent: QObject, pressed: Callable[[str], None]) -> Shown | None:
        if self.channel is not None:
            self.channel.press = pressed
        return self.channel

    @property
    def titles(self) -> list[str]:
        """What was told."""
        assert self.channel is not None
        return [title for _, title, _ in self.channel.notices]


@pytest.fixture
def desk(qapp: QApplication) -> Desk:
    return Desk()


def test_each_matter_is_told_once(desk: Desk) -> None:
    desk.notifier.follow([ASKS], [ON])
    desk.notifier.follow([ASKS], [ON])
    desk.notifier.follow([ASKS, WANTS], [ON])
    assert desk.titles == ["Planning / Idea asks a question", "Planning / Risks needs approval"]

    desk.notifier.follow([WANTS], [ON])
    desk.notifier.follow([WANTS, ASKS._replace(matter="p2")], [ON])
    assert len(desk.titles) == 3


def test_nothing_is_told_while_the_person_looks_or_does_not_want_it(desk: Desk) -> None:
    desk.is_active = True
    desk.notifier.follow([ASKS], [ON])
    desk.is_active, desk.is_off = False, True
    desk.notifier.follow([ASKS, WANTS], [ON])
    desk.is_off = False
    desk.notifier.follow([ASKS, WANTS], [ON])
    assert not desk.titles


def test_many_things_at_once_are_one_notice(desk: Desk) -> None:
    many = [WANTS._replace(matter=f"a{number}") for number in range(5)]
    desk.notifier.follow(many, [ON])
    assert desk.titles == ["OpenFlow"]


def test_the_end_of_a_run_is_told_unless_the_person_stopped_it(desk: Desk) -> None:
    on = [RunStanding(run_id, name, "") for run_id, name in (("a", "A"), ("b", "B"), ("c", "C"))]
    desk.notifier.follow([], on)
    ends = ("completed", "failed", "stopped")
    over = [run._replace(ended=end, error="no key") for run, end in zip(on, ends, strict=True)]
    desk.notifier.follow([], over)
    desk.notifier.follow([], over)
    assert desk.titles == ["A is done", "B failed"]


def test_pressing_a_notice_leads_to_what_it_is_about(desk: Desk) -> None:
    desk.notifier.follow([ASKS], [ON])
    assert desk.channel is not None
    desk.channel.press(desk.channel.notices[0][0])
    desk.channel.press("something else")
    assert desk.chosen == [Target("r1", ASKS)]
    assert desk.window.isVisible()
    desk.notifier.close()
    assert desk.channel.is_closed


def test_where_there_is_no_tray_nothing_is_shown_and_nothing_breaks(desk: Desk) -> None:
    assert channel_for(desk.window, lambda key: None, desk.window.windowIcon()) is None
    desk.channel = None
    desk.notifier.follow([ASKS], [ON])
    desk.notifier.close()
