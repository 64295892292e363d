"""Whether a text is an address that a service can be reached at."""

from __future__ import annotations

from urllib.parse import urlsplit

_HOLDS_A_PASSWORD = (
    "the address holds a user name or a password: take it out and give the key by itself"
)


def problem_with_address(base_url: str) -> str | None:
    """What is wrong with the address and what to do, in a clause; `None` if nothing is.

    An address that holds a password is refused and not repeated: addresses are shown and stored.
    """
    try:
        parts = urlsplit(base_url)
        if parts.username is not None:
            return _HOLDS_A_PASSWORD
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    if is_web and base_url.isprintable() and " " not in base_url:
        return None
    return (
        f"'{base_url}' is not an address: it has to begin with https:// or http:// and name a host"
    )
