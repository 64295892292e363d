"""Notices of the system: by its tray, or by its portal where there is none; nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QSystemTrayIcon

_WITHOUT_SCREEN = frozenset({"offscreen", "minimal", "minimalegl", "vnc"})
_SHOWN_MS = 10_000
_SERVICE = "org.freedesktop.portal.Desktop"
_PATH = "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Notification"


class Channel(Protocol):
    """A way to tell somebody who looks elsewhere; `key` names a notice when it is pressed."""

    def show(self, key: str, title: str, text: str) -> None:
        """Show a notice; one with the same key is replaced."""

    def close(self) -> None:
        """Take away what is on screen."""


Pressed = Callable[[str], None]
"""Gets the key of a notice that the person has pressed."""


def channel_for(parent: QObject, pressed: Pressed, icon: QIcon) -> Channel | None:
    """What this system has; `None` where nobody would see it."""
    if QGuiApplication.platformName() in _WITHOUT_SCREEN:
        return None
    if QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages():
        return TrayChannel(parent, pressed, icon)
    # Without the variable D-Bus would start a program of its own.
    if os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        portal = PortalChannel(parent, pressed)
        return portal if portal.is_there else None
    return None


class TrayChannel(QObject):
    """Balloons at an icon in the system's tray; the icon is there while they are."""

    def __init__(self, parent: QObject, pressed: Pressed, icon: QIcon) -> None:
        super().__init__(parent)
        self._pressed = pressed
        self._latest = ""
        self._icon = QSystemTrayIcon(icon, self)
        self._icon.setToolTip("OpenFlow")
        self._icon.messageClicked.connect(self._on_pressed)
        self._icon.activated.connect(self._on_pressed)

    def show(self, key: str, title: str, text: str) -> None:
        """Show a notice in place of the one before."""
        self._latest = key
        self._icon.show()
        self._icon.showMessage(title, text, self._icon.icon(), _SHOWN_MS)

    def close(self) -> None:
        """Take the icon out of the tray."""
        self._icon.hide()

    def _on_pressed(self) -> None:
        if self._latest:
            self._pressed(self._latest)


class PortalChannel(QObject):
    """Notices by the portal of freedesktop.org, which also programs in a sandbox may use."""

    def __init__(self, parent: QObject, pressed: Pressed) -> None:
        super().__init__(parent)
        self._pressed = pressed
        # Imported here: most systems have a tray, and D-Bus is a library of its own.
        from PySide6.QtDBus import QDBusConnection, QDBusMessage

        self._message = QDBusMessage.createMethodCall
        self._bus = QDBusConnection.sessionBus()
        self._keys: set[str] = set()
        self.is_there = self._bus.isConnected()
        if self.is_there:
            self._bus.connect(
                _SERVICE,
                _PATH,
                _INTERFACE,
                "ActionInvoked",
                self,
                b"1_on_action(QString,QString)",  # as the macro SLOT writes it
            )

    def show(self, key: str, title: str, text: str) -> None:
        """Show a notice; what the portal says to it is not waited for."""
        self._keys.add(key)
        call = self._message(_SERVICE, _PATH, _INTERFACE, "AddNotification")
        call.setArguments([key, {"title": title, "body": text, "default-action": "show"}])
        self._bus.asyncCall(call)

    def close(self) -> None:
        """Take back what may still be on screen."""
        for key in sorted(self._keys):
            call = self._message(_SERVICE, _PATH, _INTERFACE, "RemoveNotification")
            call.setArguments([key])
            self._bus.asyncCall(call)
        self._keys.clear()

    @Slot(str, str)
    def _on_action(self, key: str, action: str) -> None:
        if key in self._keys:
            self._pressed(key)
