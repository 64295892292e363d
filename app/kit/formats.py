"""Numbers as a person reads them."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """A time span: `< 0.1 s`, `0.4 s`, `12 s`, `2 min 05 s`, `1 h 02 min`."""
    if seconds < 0.05:
        return "< 0.1 s"
    if seconds < 0.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min"


def count_text(count: int) -> str:
    """A count: `950`, `1.2k`, `34k`, `1.2M`."""
    if count < 1000:
        return str(count)
    for limit, unit in ((1_000_000, "k"), (1_000_000_000, "M")):
        if count < limit * 0.9995:
            value = count * 1000 / limit
            return (
                f"{value:.1f}".rstrip("0").rstrip(".") + unit
                if value < 9.95
                else f"{value:.0f}{unit}"
            )
    return f"{count / 1_000_000_000:.1f}B"


def money_text(dollars: float) -> str:
    """What something cost: `$0`, `< $0.0001`, `$0.0042`, `$0.42`, `$12.30`."""
    if 0 < dollars < 0.0001:
        return "< $0.0001"
    if 0 < dollars < 0.01:
        return f"${dollars:.4f}"
    return f"${dollars:.2f}" if dollars else "$0"


def usage_texts(tokens: int | None, cost: float | None) -> list[str]:
    """What was used up, as far as it is known: `34k tokens`, `$0.42`."""
    told = [] if tokens is None else [f"{count_text(tokens)} tokens"]
    return told if cost is None else [*told, money_text(cost)]


def plural(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
