"""Read and write the settings file."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError

from orchestration.errors import UserError
from orchestration.settings.model import Settings
from orchestration.workspace.atomic_files import backup_path, set_aside, write_atomically


class LoadedSettings(Struct, frozen=True):
    """The settings, and what the person must be told about how they were found."""

    settings: Settings
    notice: str | None = None


class SettingsStore:
    """The settings file of one data folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> LoadedSettings:
        """Read the settings; without a file they are the defaults.

        A damaged file is set aside under a name with the time in it, so that nothing in it is
        lost, and the defaults are used.

        Raises:
            UserError: the file is there and the system does not let it be read.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return LoadedSettings(Settings())
        except NotADirectoryError:
            raise UserError(
                f"the data folder {self.path.parent} is not a folder; "
                "choose another with --data-dir"
            ) from None
        except OSError as error:
            raise UserError(
                f"the settings file {self.path} cannot be read ({error.strerror or error}); "
                "put its permissions right or choose another --data-dir"
            ) from error
        try:
            return LoadedSettings(Settings.model_validate_json(data.removeprefix(BOM_UTF8)))
        except ValidationError as error:
            return LoadedSettings(Settings(), self._put_aside(_what_is_wrong(error)))

    def read(self) -> Settings | str:
        """The settings as the file has them, or what is wrong with it; leaves it where it is.

        Raises:
            UserError: the file is there and the system does not let it be read.
        """
        try:
            return Settings.model_validate_json(self.path.read_bytes().removeprefix(BOM_UTF8))
        except FileNotFoundError:
            return Settings()
        except OSError as error:
            raise UserError(
                f"the settings file {self.path} cannot be read ({error.strerror or error})"
            ) from error
        except ValidationError as error:
            return _what_is_wrong(error)

    def save(self, settings: Settings) -> None:
        """Write the settings; the version before is kept as `.bak`.

        Raises:
            UserError: they could not be written; the file is as it was.
        """
        text = settings.model_dump_json(indent=2, exclude_defaults=True) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, text.encode("utf-8"), keep_backup=True)
        except OSError as error:
            raise UserError(
                f"the settings could not be saved to {self.path} ({error.strerror or error})"
            ) from error

    def _put_aside(self, what: str) -> str:
        try:
            kept = f"it is kept as {set_aside(self.path).name}"
        except OSError as error:
            kept = f"it could not be set aside ({error.strerror or error})"
        before = backup_path(self.path)
        hint = f", and the version before is {before.name}" if before.exists() else ""
        return f"the settings file {self.path} is damaged ({what}): {kept}{hint}; defaults are used"


def _what_is_wrong(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
