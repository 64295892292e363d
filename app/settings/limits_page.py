"""How much goes on at once, and what a run and a node may use up."""

from __future__ import annotations

from app.settings.access import Access
from app.settings.fields import BudgetRow, LineRow, as_count, as_number
from app.settings.page import ListedPage

_BUDGETS = (
    ("tokens", "Tokens", "Of prompts and replies together.", as_count),
    ("cost", "Money", "US dollars, where prices are known.", as_number),
    ("seconds", "Time", "Seconds of work; waiting for you does not count.", as_number),
    ("turns", "Turns", "Replies of models.", as_count),
)


class LimitsPage(ListedPage):
    """What goes on together is limited at once, what a run uses up from the next run on."""

    id = "limits"

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        together = self.group("At once", "In all runs together. Counts at once.")
        for name, caption, note in (
            ("provider_calls", "Model calls", "More wait their turn."),
            ("tools", "Tool calls", "More wait their turn."),
        ):
            line = LineRow(access, ("limits", name), caption, note, parse=as_count)
            self.put(together, name, line)
        for who, title, note in (
            (
                "run",
                "Each run",
                "At the limit the run pauses and asks you. Without a value of its own the warning "
                "comes at four fifths. Counts from the next run on.",
            ),
            ("node", "Each node", "The same for single nodes, with their subagents."),
        ):
            group = self.group(title, note)
            for name, caption, about, parse in _BUDGETS:
                row = BudgetRow(access, who, name, caption, about, parse)
                self.put(group, f"{who}.{name}", row)
            self.rows[who] = self.rows[f"{who}.tokens"]
        self.box.addStretch(1)
