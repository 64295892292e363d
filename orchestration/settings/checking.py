"""Whether a value may stand in the settings, and what is wrong with it in words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from orchestration.errors import UserError
from orchestration.settings.model import Settings, Spending
from providers.address import problem_with_address
from providers.embedded.model_file import ModelFileError, model_path

Place = tuple[str, ...]

LONGEST_TIMEOUT_S = 3600
MOST_TOGETHER = 1000
LEAST_CONTEXT, MOST_CONTEXT = 512, 1_048_576
MOST_THREADS = 512


class BadSetting(UserError):
    """A value that may not stand where it was put; `place` names the setting step by step."""

    def __init__(self, place: Place, why: str) -> None:
        self.place = place
        self.why = why
        super().__init__(f"{'.'.join(place)}: {why}")


def checked(data: Mapping[str, Any]) -> Settings:
    """The settings that a file with this data holds.

    Raises:
        BadSetting: a value does not fit its place.
    """
    try:
        return Settings.model_validate(dict(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise BadSetting(tuple(map(str, first["loc"])), _in_words(dict(first))) from None


def check_value(place: Place, value: Any) -> None:
    """See that a value that a person has entered makes sense; may look at the disk.

    Raises:
        BadSetting: it does not.
    """
    if value is None:
        return
    for why in _problems(place, value):
        raise BadSetting(place, why)


def check_together(settings: Settings, place: Place) -> None:
    """See that what was entered at `place` fits the other values.

    Raises:
        BadSetting: it does not.
    """
    if place[:1] != ("limits",) or len(place) != 3:
        return
    limits = settings.limits
    who = place[1].removeprefix("warn_")
    hard: Spending = getattr(limits, who, Spending())
    soft: Spending = getattr(limits, f"warn_{who}", Spending())
    most, warned = getattr(hard, place[2], None), getattr(soft, place[2], None)
    if most is not None and warned is not None and warned >= most:
        raise BadSetting(place, f"The warning ({warned:g}) has to come before the limit ({most:g})")


def _problems(place: Place, value: Any) -> Iterator[str]:
    match place:
        case ("providers", _, "base_url"):
            if wrong := problem_with_address(str(value)):
                yield wrong[:1].upper() + wrong[1:]
        case ("providers", _, "timeout_s"):
            yield from _outside(value, 1, LONGEST_TIMEOUT_S, "seconds")
        case ("providers", _, "label" | "default_model") | ("providers", _, "models"):
            names = value if isinstance(value, list | tuple) else [value]
            if any(not str(name).strip() or not str(name).isprintable() for name in names):
                yield "A name is needed, without line breaks"
        case ("limits", "provider_calls" | "tools"):
            yield from _outside(value, 1, MOST_TOGETHER, "")
        case ("embedded", "n_ctx"):
            yield from _outside(value, LEAST_CONTEXT, MOST_CONTEXT, "tokens")
        case ("embedded", "threads"):
            yield from _outside(value, 1, MOST_THREADS, "threads")
        case ("embedded", "model_file"):
            try:
                model_path(str(value))
            except ModelFileError as error:
                words = str(error).partition(": choose another")[0]
                yield words[:1].upper() + words[1:]
        case ("tools", "search_program"):
            if shutil.which(os.path.expanduser(str(value))) is None:
                yield "There is no program of this name or at this path that can be run"
        case ("tools", "format_timeout_s"):
            yield from _outside(value, 0.1, 600, "seconds")
        case ("added_folders",):
            gone = [folder for folder in value if not os.path.isdir(os.path.expanduser(folder))]
            if gone:
                yield f"There is no folder {gone[0]}"


def _outside(value: Any, least: float, most: float, unit: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield "A number is needed"
    elif not least <= value <= most:
        yield f"From {least:,} to {most:,} {unit}".rstrip()


def _in_words(error: Mapping[str, Any]) -> str:
    kind, bounds = str(error["type"]), error.get("ctx", {})
    if kind.startswith(("int", "float")) or kind == "finite_number":
        return "A whole number is needed" if kind.startswith("int") else "A number is needed"
    if kind == "greater_than":
        return f"More than {bounds['gt']} is needed"
    if kind == "greater_than_equal":
        return f"{bounds['ge']} is the least"
    if kind == "less_than_equal":
        return f"{bounds['le']} is the most"
    return str(error["msg"])
