"""Where HTTP hooks may go, in every spelling of an address."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from permissions.base.network.guarded_connect import check_url
from permissions.base.network.url_patterns import url_matches

NAMES = {
    "public.example": ["93.184.216.34", "2606:2800:220:1::1"],
    "private.example": ["10.0.0.8"],
    "mixed.example": ["93.184.216.34", "192.168.1.1"],
    "metadata.example": ["169.254.169.254"],
    "loop.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:10.0.0.1"],
    "nothing.example": [],
    "garbage.example": ["not-an-address"],
    "zone.example": ["fe80::1%eth0"],
}


def resolve(host: str) -> Sequence[str]:
    if host not in NAMES:
        raise OSError(f"no such host {host}")
    return NAMES[host]


def fail(host: str) -> Sequence[str]:
    raise AssertionError(f"{host} must not be resolved")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/x",
        "http://127.9.9.9/",
        "http://[::1]:8000/",
        "http://localhost:9000/audit",
        "http://LOCALHOST/",
        "http://localhost./",
        "http://8.8.8.8/",
        "http://0x08080808/",
        "http://134744072/",
        "https://[2606:4700::1111]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[64:ff9b::808:808]/",
        "http://[2002:808:808::]/",
    ],
)
def test_plain_loopback_and_public_literals_are_allowed_without_resolving(url: str) -> None:
    verdict = check_url(url, fail)
    assert verdict.is_allowed, verdict.reason
    assert verdict.addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://0/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://198.18.0.1/",
        "http://192.0.2.1/",
        "http://240.0.0.1/",
        "http://[::]/",
        "http://[fc00::1]/",
        "http://[fd12::1]/",
        "http://[fe80::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[ff02::1]/",
        "http://[2001:db8::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:a00:1::]/",
        "http://[2002:7f00:1::1]/",
        "http://[64:ff9b:1::1]/",
        "http://[::10.0.0.1]/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://0x7f.1/",
        "http://0xa.0.0.1/",
        "http://3232235521/",
        "http://１０.0.0.1/",
        "http://10。0。0。1/",
        "http://%31%30.0.0.1/",
        "http://010.0.0.1.",
        "http://[::ffff:0:10.0.0.1]/",
        "http://[2606:4700::5efe:10.0.0.1]/",
        "http://[2606:4700::200:5efe:a9fe:a9fe]/",
        "http://[4000::1]/",
        "http://[::1%25lo]/",
        "http://[::1%lo]/",
        "http://[2606:4700::1111%25eth0]/",
        "http://[::1].public.example/",
        "http://[::ffff:7f00:1]x/",
        "http://[public.example]/",
        "http://[v1.8]/",
        "http://[127.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://%6cocalhost/",
        "http://LOCALHOST%2e/",
        "http://ⓛocalhost/",
        "http://256.0.0.1/",
        "http://4294967296/",
        "http://public.example.0x7f/",
        "http://1.2.3.4.5/",
        "http://10.0.0.1%00.public.example/",
        "http://public.example%2f/",
        "ftp://8.8.8.8/",
        "file:///etc/passwd",
        "gopher://8.8.8.8/",
        "//8.8.8.8/",
        "http://",
        "http:///x",
        "http://8.8.8.8:0/",
        "http://8.8.8.8:99999/",
        "http://8.8.8.8\\@10.0.0.1/",
        "http://8.8.8.8 /",
        "http://8.8.8.8\r\nHost: x/",
        "http://user@10.0.0.1/",
        "",
    ],
)
def test_private_addresses_and_odd_urls_are_refused_in_every_spelling(url: str) -> None:
    verdict = check_url(url, resolve)
    assert not verdict.is_allowed
    assert verdict.reason


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("public.example", True),
        ("PUBLIC.example.", True),
        ("private.example", False),
        ("mixed.example", False),
        ("metadata.example", False),
        ("loop.example", False),
        ("mapped.example", False),
        ("nothing.example", False),
        ("garbage.example", False),
        ("zone.example", False),
        ("unknown.example", False),
        ("10.0.0.1.nip.io", False),
    ],
)
def test_the_addresses_decide_not_the_name(host: str, allowed: bool) -> None:
    assert check_url(f"https://{host}/hook", resolve).is_allowed is allowed


def test_a_name_is_resolved_once_and_the_answer_is_what_to_connect_to() -> None:
    asked: list[str] = []

    def once(host: str) -> Sequence[str]:
        asked.append(host)
        return ["93.184.216.34", "93.184.216.34"]

    verdict = check_url("https://public.example/x", once)
    assert (verdict.addresses, asked) == (("93.184.216.34",), ["public.example"])


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("*", "https://anything/", True),
        ("https://hooks.example.com/*", "https://hooks.example.com/a/b", True),
        ("https://hooks.example.com/*", "http://hooks.example.com/a", False),
        ("https://hooks.example.com/*", "https://hooks.example.com@evil.com/", False),
        ("https://hooks.example.com/*", "https://hooks.example.com.evil.com/", False),
        ("https://*.example.com/*", "https://a.example.com/", True),
        ("https://*.example.com/*", "https://evil.com/?x=.example.com/", False),
        ("https://*.example.com", "https://a.example.com/any", True),
        ("http://localhost:*", "http://localhost:8080/x", True),
        ("http://localhost:*/*", "http://localhost:8080/x", True),
        ("http://localhost:8080/*", "http://localhost:9090/x", False),
        ("http://localhost/*", "http://localhost:9090/x", True),
        ("https://a.com/*", "https://a.com:8443/", False),
        ("https://a.com/in/*", "https://a.com/out/", False),
    ],
)
def test_url_patterns_stay_within_their_part(pattern: str, url: str, expected: bool) -> None:
    assert url_matches(pattern, url) is expected


def test_a_pattern_of_many_stars_is_compared_at_once() -> None:
    assert url_matches("https://a.com/" + "*a" * 30 + "*b", "https://a.com/" + "a" * 2_000) is False
    assert url_matches("https://" + "*a" * 30 + "*b/", "https://" + "a" * 250 + "/") is False


def test_a_star_in_the_host_does_not_reach_over_the_path() -> None:
    assert url_matches("https://*evil.com/*", "https://a.com/evil.com/") is False
