"""Addresses that others made: a browser goes where the user reads."""

from __future__ import annotations

import pytest

from permissions.base.network.web_address import web_host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Example.org", "example.org"),
        ("http://localhost:8080/a?b=c#d", "localhost"),
        ("https://[::1]:8/x", "[::1]"),
        ("https://my_host.test/%E2%80%AE;a='(1)'", "my_host.test"),
        ("https://example.org?next=https://other.test/@", "example.org"),
    ],
)
def test_the_host_of_a_plain_address(url: str, host: str) -> None:
    assert web_host(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "https:evil.test",
        "https:///evil.test",
        "https://good.test@evil.test/",
        "https://good.test:80@evil.test/",
        "https://evil.test\\@good.test/",
        "https://evil.test\\.good.test/",
        "https://good.test\u2044.evil.test/",
        "https://g\u043e\u043ed.test/",
        "https://evil.test/\u202etset.doog//:sptth",
        "https://evil.test/\u05d0/good.test",
        "https://evil.test/ good",
        "https://evil.test/\n",
        "https://evil.test/\x1b]52;c;x\x07",
        "https://%65vil.test/",
        "https://evil.test:/\x00",
        "-https://evil.test",
        " https://evil.test",
    ],
)
def test_what_could_be_read_otherwise_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match="not a plain web address"):
        web_host(url)
