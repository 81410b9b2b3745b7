"""Hosts have one form before anything is matched; what has two readings has none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.sandbox.network.host_name import InvalidHost, authority, read_authority, read_host


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("example.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example.", "xn--bcher-kva.example"),
        ("ｅｘａｍｐｌｅ。com", "example.com"),
        ("my_bucket.example", "my_bucket.example"),
        ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.1.", "10.0.0.1"),
        ("[::1]", "::1"),
        ("[2001:DB8:0:0::1]", "2001:db8::1"),
        ("[::ffff:10.0.0.1]", "10.0.0.1"),
        ("::ffff:a00:1", "10.0.0.1"),
        ("x" * 63 + ".example", "x" * 63 + ".example"),
    ],
)
def test_a_host_has_one_form(written: str, canonical: str) -> None:
    host = read_host(written)
    assert host.text == canonical
    assert read_host(host.text) == host
    assert (host.address is not None) == (":" in canonical or canonical.replace(".", "").isdigit())


@pytest.mark.parametrize(
    "written",
    [
        "",
        ".",
        "evil.example\0.good.example",
        "good.example\r\n",
        "good.example ",
        "user@good.example",
        "good.example/path",
        "good.example\\evil",
        "good.example#",
        "good%2eexample",
        "fe80::1%eth0",
        "good..example",
        "good.example..",
        ".good.example",
        "-option.example",
        "example-.com",
        "a,b",
        "*.example",
        "x" * 64 + ".example",
        ".".join(["x" * 60] * 5),
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "0177.0.0.1",
        "010.0.0.1",
        "127.0.0.1.1",
        "256.0.0.1",
        "1e1.0.0.09",
        "good.example.0x7f",
        "[127.0.0.1]",
        "[good.example]",
        "[::1",
        "::1]",
        "[[::1]]",
        "[::1%lo]",
        "a:b",
        "１２７.1",
        "a℀b.example",
        "\udcff.example",
    ],
)
def test_what_is_no_plain_host_is_refused(written: str) -> None:
    with pytest.raises(InvalidHost):
        read_host(written)


@given(st.text(max_size=40))
def test_any_text_is_refused_or_becomes_a_stable_form(written: str) -> None:
    try:
        host = read_host(written)
    except InvalidHost:
        return
    assert read_host(host.text) == host
    assert host.text.isascii()
    assert host.text == host.text.lower()
    assert not set(host.text) & set("\0\r\n @/\\%*[]")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("example.com:443", ("example.com", 443)),
        ("[::1]:8080", ("::1", 8080)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
        ("example.com:65535", ("example.com", 65535)),
    ],
)
def test_an_authority_is_a_host_and_a_port(written: str, expected: tuple[str, int]) -> None:
    host, port = read_authority(written)
    assert (host.text, port) == expected
    assert authority(host, port) == written


@pytest.mark.parametrize(
    "written",
    [
        "example.com",
        "example.com:",
        "example.com:0",
        "example.com:65536",
        "example.com:99999999",
        "example.com:+1",
        "example.com:1 ",
        "example.com:٣",
        "user@example.com:443",
        "user:1@example.com:443",
        "example.com:443/path",
        "::1:443",
        ":443",
        "[::1]443",
    ],
)
def test_anything_else_is_no_authority(written: str) -> None:
    with pytest.raises(InvalidHost):
        read_authority(written)


def test_a_default_port_is_for_an_authority_without_one() -> None:
    assert read_authority("example.com", 80) == (read_host("example.com"), 80)
    assert read_authority("example.com:81", 80) == (read_host("example.com"), 81)
