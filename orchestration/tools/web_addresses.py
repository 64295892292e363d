"""Which addresses of the network a page may be fetched from."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from orchestration.tools.tool import FailureKind, ToolFailure

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_TRANSLATED = IPv6Network("64:ff9b::/96")


async def addresses_of(host: str, port: int, *, allow_private: bool) -> tuple[str, ...]:
    """Look a host up and give its addresses in the order in which they are to be tried.

    Raises:
        ToolFailure: it has none, or one of them is not public and `allow_private` is not set.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
            raise ToolFailure(
                FailureKind.FAILED, f"'{host}' cannot be looked up: temporarily unavailable"
            ) from None
        raise ToolFailure(
            FailureKind.NOT_FOUND, f"there is no computer named '{host}'", "check the address"
        ) from None
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not allow_private:
        for address in addresses:
            if not is_public(address):
                raise ToolFailure(
                    FailureKind.PERMISSION_DENIED,
                    f"'{host}' leads to {address}, which is not an address of the public network",
                    "the user can allow such addresses in the settings of the tools",
                )
    return addresses


def is_public(text: str) -> bool:
    """Whether this is an address that anyone on the internet can reach.

    Addresses that carry another one inside are public where that one is.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return _is_public_v4(address) if isinstance(address, IPv4Address) else _is_public_v6(address)


def _is_public_v4(address: IPv4Address) -> bool:
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _is_public_v6(address: IPv6Address) -> bool:
    if address in _TRANSLATED:
        return _is_public_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address not in _GLOBAL_UNICAST or not address.is_global or address.scope_id is not None:
        return False
    return all(_is_public_v4(inner) for inner in _inner_addresses(address))


def _inner_addresses(address: IPv6Address) -> tuple[IPv4Address, ...]:
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()
