"""Which addresses of an allowed name may be dialed."""

from __future__ import annotations

import socket
from collections.abc import Sequence

import pytest

from agent.sandbox.network.address_check import HostResolver, find_addresses, inner_kind
from agent.sandbox.network.host_name import read_host
from tests.agent.sandbox.network.proxy_stand import rules


async def _usable(
    host: str, addresses: Sequence[str], allow: Sequence[str] = (), deny: Sequence[str] = ()
) -> tuple[str, ...]:
    async def resolve(name: str) -> Sequence[str]:
        return addresses

    found = await find_addresses(read_host(host), 443, rules([host, *allow], deny), resolve)
    assert bool(found.usable) or bool(found.refusals)
    return found.usable


@pytest.mark.parametrize(
    ("address", "allow", "usable"),
    [
        ("8.8.8.8", [], True),
        ("2606:4700::1", [], True),
        ("10.0.0.1", [], False),
        ("10.0.0.1", ["10.0.0.1"], True),
        ("10.0.0.1", ["10.0.0.0/8"], True),
        ("10.0.0.1", ["10.0.0.1:8443"], False),
        ("10.0.0.1", ["*"], False),
        ("::ffff:10.0.0.1", ["10.0.0.1"], True),
        ("127.0.0.1", ["127.0.0.1"], True),
        ("fe80::1%eth0", [], False),
        ("169.254.169.254", ["169.254.0.0/16"], False),
        ("169.254.169.254", ["169.254.169.254"], True),
        ("168.63.129.16", [], False),
        ("168.63.129.16", ["168.63.0.0/16"], False),
    ],
)
async def test_an_inner_address_needs_a_rule_of_its_own(
    address: str, allow: Sequence[str], usable: bool
) -> None:
    assert bool(await _usable("name.example", [address], allow)) is usable


async def test_an_address_that_is_denied_is_not_reached_by_a_name() -> None:
    addresses = ["8.8.8.8", "9.9.9.9"]
    assert await _usable("name.example", addresses, deny=["8.8.8.8"]) == ("9.9.9.9",)
    assert await _usable("name.example", addresses, deny=["8.0.0.0/7"]) == ()


async def test_localhost_leads_to_loopback_whatever_a_resolver_says() -> None:
    assert await _usable("localhost", ["8.8.8.8"]) == ("127.0.0.1", "::1")
    assert await _usable("localhost", [], deny=["127.0.0.0/8"]) == ("::1",)
    found = await find_addresses(read_host("localhost"), 443, rules(["*"]), HostResolver())
    assert found.usable == ()


async def test_an_address_of_an_own_interface_counts_as_inner() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network but loopback")
        own = str(probe.getsockname()[0])
    assert inner_kind(read_host(own)) is not None
    assert await _usable("name.example", [own]) == ()


async def test_the_systems_resolver() -> None:
    resolver = HostResolver()
    try:
        assert set(await resolver("localhost")) & {"127.0.0.1", "::1"}
        with pytest.raises(OSError, match="Errno"):
            await resolver("no-such-name.invalid")
    finally:
        resolver.close()
