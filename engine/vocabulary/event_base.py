"""What all events have in common."""

from __future__ import annotations

from msgspec import Struct


class Event(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type"):
    """Base of all events; subclasses are tagged with their snake_case name."""
