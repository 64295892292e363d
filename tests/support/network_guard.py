"""Keeps tests off the network: only addresses of this machine can be reached."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest

_FAMILIES = (socket.AF_INET, socket.AF_INET6)


class NetworkGuard:
    """Refuses connections and look-ups that would leave the machine, and remembers them.

    They are remembered because the code under test may well handle the refusal: the test fails
    all the same. Names that end in `.invalid` exist nowhere by definition: looking one up fails
    as it does everywhere and is not held against a test.
    """

    def __init__(self) -> None:
        self.refused: list[str] = []
        self._connect = socket.socket.connect
        self._connect_ex = socket.socket.connect_ex
        self._getaddrinfo = socket.getaddrinfo

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put the guard before the functions of `socket`, until the patch is undone."""
        guard = self

        def connect(sock: socket.socket, address: Any) -> None:
            guard.check(sock, address)
            guard._connect(sock, address)

        def connect_ex(sock: socket.socket, address: Any) -> int:
            guard.check(sock, address)
            return guard._connect_ex(sock, address)

        def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
            guard.check_name(host)
            return guard._getaddrinfo(host, *arguments, **options)

        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket, "getaddrinfo", getaddrinfo)

    def check(self, sock: socket.socket, address: Any) -> None:
        """Refuse an address that is not of this machine."""
        if sock.family in _FAMILIES and not is_local(address[0]):
            self._refuse(f"{address[0]} port {address[1]}")

    def check_name(self, host: Any) -> None:
        """Refuse to look up a name that is not of this machine."""
        name = host.decode() if isinstance(host, bytes) else host
        if name is None or name == "" or is_local(name):
            return
        if name.rstrip(".").endswith(".invalid"):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        self._refuse(name)

    def _refuse(self, target: str) -> None:
        self.refused.append(target)
        raise ConnectionRefusedError(f"a test tried to reach {target}")


def is_local(host: str) -> bool:
    """Whether a host name or address is of this machine."""
    if host in ("localhost", "localhost.localdomain", "ip6-localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
