"""Where keys live: in the system's keyring, or in a file that only its owner can read.

All of this may wait for the system or for a person who unlocks the keyring: call it in a thread.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Protocol

from orchestration.errors import UserError
from orchestration.workspace.atomic_files import write_atomically

SERVICE = "openflow"
logger = logging.getLogger(__name__)


class SecretStore(Protocol):
    """Keeps values under names; the values appear in no message and in no `repr`."""

    def get(self, name: str) -> str | None:
        """The value, `None` if there is none."""

    def set(self, name: str, value: str) -> None:
        """Keep a value in place of the one before."""

    def delete(self, name: str) -> None:
        """Forget a value; nothing happens if there is none."""

    def place(self) -> str:
        """Where values are kept, for a person."""


class NoKeyring(Exception):
    """This computer has no keyring that works."""


class KeyringSecrets:
    """The operating system's keyring, imported when it is first asked."""

    def get(self, name: str) -> str | None:
        """The value from the keyring.

        Raises:
            NoKeyring: there is none, or it refuses.
        """
        import keyring
        from keyring.errors import KeyringError

        try:
            return keyring.get_password(SERVICE, name)
        except (KeyringError, OSError) as error:
            raise NoKeyring(str(error)) from error

    def set(self, name: str, value: str) -> None:
        """Put the value into the keyring.

        Raises:
            NoKeyring: there is none, or it refuses.
        """
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.set_password(SERVICE, name, value)
            kept = keyring.get_password(SERVICE, name) == value
        except (KeyringError, OSError) as error:
            raise NoKeyring(str(error)) from error
        if not kept:  # some backends take everything and keep nothing
            raise NoKeyring("the keyring keeps nothing")

    def delete(self, name: str) -> None:
        """Take the value out of the keyring.

        Raises:
            NoKeyring: there is none, or it refuses.
        """
        import keyring
        from keyring.errors import KeyringError, PasswordDeleteError

        try:
            keyring.delete_password(SERVICE, name)
        except PasswordDeleteError:
            logger.debug("the keyring had nothing to delete for %s", name)
        except (KeyringError, OSError) as error:
            raise NoKeyring(str(error)) from error

    def place(self) -> str:
        """The keyring's own name."""
        import keyring

        return f"the keyring ({keyring.get_keyring().name})"


class FileSecrets:
    """One JSON file of mode 0600."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, name: str) -> str | None:
        """The value from the file."""
        return self._read().get(name)

    def set(self, name: str, value: str) -> None:
        """Write the value into the file."""
        self._write({**self._read(), name: value})

    def delete(self, name: str) -> None:
        """Take the value out of the file."""
        values = self._read()
        if values.pop(name, None) is not None:
            self._write(values)

    def place(self) -> str:
        """The file's path."""
        return f"the file {self.path} (readable by you alone)"

    def _read(self) -> dict[str, str]:
        try:
            values = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UserError(
                f"the keys in {self.path} cannot be read ({error.strerror or error})"
            ) from error
        except ValueError:
            values = None
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise UserError(f"the file of keys {self.path} is damaged; repair it or remove it")
        return values

    def _write(self, values: dict[str, str]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(values, indent=2).encode("utf-8"), mode=0o600)
        except OSError as error:
            raise UserError(
                f"the key could not be kept in {self.path} ({error.strerror or error})"
            ) from error


class Secrets:
    """The keyring where one works, else the file; what was put into the file is still found."""

    def __init__(self, keyring: SecretStore, file: FileSecrets) -> None:
        self._keyring, self._file = keyring, file

    def get(self, name: str) -> str | None:
        """The value from the keyring, else from the file."""
        try:
            value = self._keyring.get(name)
        except NoKeyring as error:
            logger.debug("no keyring: %s", error)
            value = None
        return value if value is not None else self._file.get(name)

    def set(self, name: str, value: str) -> None:
        """Keep the value in the keyring, or in the file where there is none."""
        try:
            self._keyring.set(name, value)
        except NoKeyring as error:
            logger.debug("no keyring: %s", error)
            self._file.set(name, value)
        else:
            self._file.delete(name)

    def delete(self, name: str) -> None:
        """Forget the value in both places."""
        try:
            self._keyring.delete(name)
        except NoKeyring as error:
            logger.debug("no keyring: %s", error)
        self._file.delete(name)

    def place(self) -> str:
        """Where the next value would be kept."""
        try:
            self._keyring.get("probe")
        except NoKeyring:
            return self._file.place()
        return self._keyring.place()


def open_secrets(path: Path) -> Secrets:
    """The secret store of a data folder; `path` is its file for computers without a keyring."""
    return Secrets(KeyringSecrets(), FileSecrets(path))
