from __future__ import annotations

import pytest

from orchestration.tools.web_addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:8.8.8.8",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fc00::1",
        "ff02::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "nonsense",
    ],
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2001:4860:4860::8888", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)
