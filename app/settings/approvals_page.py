"""What runs by itself, what asks first, and how one is told of it."""

from __future__ import annotations

from app.settings.access import Access
from app.settings.fields import ChoiceRow, SwitchRow
from app.settings.page import ListedPage
from app.settings.rows import Told

MODES = (
    ("read_only", "Read only", "Reading tools run by themselves. Nothing that writes can run."),
    ("always_ask", "Always ask", "Every call asks you first, reading ones too."),
    ("write", "Ask to write", "Reading tools run by themselves; what writes or runs asks you."),
    ("yolo", "Never ask", "Everything runs by itself. For folders that you can afford to lose."),
)


class ApprovalsPage(ListedPage):
    """The default mode, what the modes mean, and notifications."""

    id = "approvals"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        group = self.group()
        self.mode = ChoiceRow(
            access,
            ("approval_mode",),
            "Default approval mode",
            "For nodes that leave their own open. Counts from the next run on.",
            choices=[(mode, title) for mode, title, _ in MODES],
        )
        self.put(group, "approval_mode", self.mode)
        meaning = self.group("What the modes mean")
        for mode, title, about in MODES:
            self.put(meaning, mode, Told(access.theme, title, about))
        rules = self.group("Standing rules")
        self.put(
            rules,
            "rules",
            Told(
                access.theme,
                "Rules hold for one run",
                "'Allow for this run' makes a rule for exactly that tool and that target or "
                "command; it ends with the run. There are no rules beyond a run, so that nothing "
                "is ever allowed that nobody has looked at.",
            ),
        )
        told = self.group("Notifications")
        self.put(
            told,
            "notifications",
            SwitchRow(
                access,
                ("notifications",),
                "Notifications of the system",
                "When a run waits for you or has ended while you are elsewhere.",
            ),
        )
        self.box.addStretch(1)
