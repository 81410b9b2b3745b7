"""What a rule about hosts is about, and that an empty list is about nothing."""

from __future__ import annotations

import pytest

from agent.sandbox.network.host_name import InvalidHost, read_host
from agent.sandbox.network.host_rules import HostRules, parse_host_rule, rule_for


def _allows(rule: str, host: str, port: int = 443) -> bool:
    rules = HostRules((parse_host_rule(rule),))
    return rules.allowing(read_host(host), port) is not None


def _denies(rule: str, host: str, port: int = 443) -> bool:
    rules = HostRules((), (parse_host_rule(rule),))
    return rules.denying(read_host(host), port) is not None


@pytest.mark.parametrize(
    ("rule", "host", "port", "expected"),
    [
        ("example.com", "example.com", 443, True),
        ("example.com", "www.example.com", 443, False),
        ("example.com", "example.com.evil.test", 443, False),
        ("example.com", "notexample.com", 443, False),
        ("Example.COM.", "example.com", 443, True),
        ("*.example.com", "a.b.example.com", 443, True),
        ("*.example.com", "example.com", 443, False),
        ("*.example.com", "evilexample.com", 443, False),
        ("cdn*.example.com", "cdn7.example.com", 443, True),
        ("cdn*.example.com", "cdn.evil.example.com", 443, False),
        ("bücher.example", "xn--bcher-kva.example", 443, True),
        ("example.com", "example.com", 22, True),
        ("example.com", "example.com", 8443, False),
        ("example.com:8443", "example.com", 8443, True),
        ("example.com:8443", "example.com", 443, False),
        ("example.com:*", "example.com", 9999, True),
        ("10.0.0.1", "10.0.0.1", 443, True),
        ("10.0.0.1", "::ffff:10.0.0.1", 443, True),
        ("10.0.0.0/8", "10.9.8.7", 443, True),
        ("10.0.0.0/8:8080", "10.9.8.7", 8080, True),
        ("10.0.0.0/8", "11.0.0.1", 443, False),
        ("[fd00::1]:80", "fd00::1", 80, True),
        ("[fd00::/8]", "fd12::3", 443, True),
        ("*", "anything.example", 443, True),
        ("*", "anything.example", 8443, False),
    ],
)
def test_an_allow_rule(rule: str, host: str, port: int, expected: bool) -> None:
    assert _allows(rule, host, port) is expected


def test_a_denial_without_a_port_is_about_every_port() -> None:
    assert _denies("example.com", "example.com", 8443)
    assert _denies("example.com:*", "example.com", 8443)
    assert not _denies("example.com:443", "example.com", 8443)
    assert _denies("*", "10.0.0.1", 1)


def test_empty_lists_allow_nothing() -> None:
    assert HostRules().allowing(read_host("example.com"), 443) is None


@pytest.mark.parametrize(
    "text",
    [
        "", "http://example.com", "example.com/path", "user@example.com", "*.10.0.0.1",
        "*.1", "10.0.0.0/99", "::1", "fd00::/8", "example.com:0", "example.com:70000",
        "example.com:x", "a b", "**/x", "0x7f.1", "*.", "\0",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InvalidHost):
        parse_host_rule(text)


def test_only_a_rule_about_addresses_names_one() -> None:
    address = read_host("10.0.0.1").address
    assert address is not None
    for text, names in (("*", False), ("10.0.0.1", True), ("10.0.0.0/8", True), ("a.b", False)):
        rules = HostRules((parse_host_rule(text),))
        assert (rules.naming_address(address, 443) is not None) is names, text


def test_a_grant_is_for_the_usual_ports_or_for_one_other() -> None:
    host = read_host("example.com")
    assert rule_for(host, 443).text == "example.com"
    assert rule_for(host, 8443).text == "example.com:8443"
    assert rule_for(read_host("::1"), 8443).text == "[::1]:8443"
