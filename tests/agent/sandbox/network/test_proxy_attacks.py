"""Each attack on the proxy beside what looks like it and is allowed, over real sockets."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from tests.agent.sandbox.network.proxy_stand import DENIED, GOOD, Stand, proxy_stand


class HttpRow(NamedTuple):
    """Two requests for the wire: one that goes through, one that must not."""

    name: str
    allowed: str
    attack: str
    status: int
    error: str


def _get(target: str, host: str = f"{GOOD}:PORT", more: str = "") -> str:
    return f"GET {target} HTTP/1.1\nHost: {host}\n{more}\n"


def _connect(target: str, host: str = "", more: str = "") -> str:
    return f"CONNECT {target} HTTP/1.1\nHost: {host or target}\n{more}\n"


URL = f"http://{GOOD}:PORT/x"
PLAIN = _get(URL)
TUNNEL = _connect(f"{GOOD}:PORT")
POST = f"POST {URL} HTTP/1.1\nHost: {GOOD}:PORT\n"

HTTP = [
    HttpRow("empty list", PLAIN, _get("http://other.test/x", "other.test"), 403, "allowlist"),
    HttpRow("subdomain", PLAIN, _get("http://evilgood.test:PORT/", "evilgood.test:PORT"), 403, "a"),
    HttpRow("suffix", PLAIN, _connect(f"{GOOD}.evil.test:PORT"), 403, "blocked-by-allowlist"),
    HttpRow("deny wins", _connect(f"www.{GOOD}:PORT"), _connect(f"{DENIED}:PORT"), 403, "denylist"),
    HttpRow(
        "upper case",
        _connect(f"{GOOD.upper()}:PORT"),
        _connect(f"{DENIED.upper()}:PORT"),
        403,
        "blocked-by-denylist",
    ),
    HttpRow(
        "trailing dot",
        _connect(f"{GOOD}.:PORT"),
        _connect(f"{DENIED}.:PORT"),
        403,
        "blocked-by-denylist",
    ),
    HttpRow("two dots", TUNNEL, _connect(f"{GOOD}..:PORT"), 400, "bad-request"),
    HttpRow("NUL", TUNNEL, _connect(f"evil.test\0.{GOOD}:PORT"), 400, "bad-request"),
    HttpRow("NUL in a URL", PLAIN, _get(f"http://evil.test\0.{GOOD}:PORT/"), 400, "bad-request"),
    HttpRow("user@host", PLAIN, _get(f"http://{GOOD}:PORT@evil.test/"), 400, "bad-request"),
    HttpRow("user@host, CONNECT", TUNNEL, _connect(f"{GOOD}@evil.test:PORT"), 400, "bad-request"),
    HttpRow("backslash", PLAIN, _get(f"http://{GOOD}:PORT\\@evil.test/"), 400, "bad-request"),
    HttpRow("percent", PLAIN, _get("http://good%2etest:PORT/", "good%2etest:PORT"), 400, "bad"),
    HttpRow("fragment", PLAIN, _get(f"http://evil.test#@{GOOD}:PORT/"), 400, "bad-request"),
    HttpRow("decimal", _connect("127.0.0.1:PORT"), _connect("2130706433:PORT"), 400, "bad-request"),
    HttpRow("octal", _connect("127.0.0.1:PORT"), _connect("0177.0.0.1:PORT"), 400, "bad-request"),
    HttpRow("hex", _connect("127.0.0.1:PORT"), _connect("0x7f.0.0.1:PORT"), 400, "bad-request"),
    HttpRow("short", _connect("127.0.0.1:PORT"), _connect("127.1:PORT"), 400, "bad-request"),
    HttpRow(
        "mapped",
        _connect("[::ffff:127.0.0.1]:PORT"),
        _connect("[::ffff:169.254.169.254]:PORT"),
        403,
        "blocked-by-address",
    ),
    HttpRow("metadata", TUNNEL, _connect("169.254.169.254:80"), 403, "blocked-by-address"),
    HttpRow("unspecified", TUNNEL, _connect("0.0.0.0:PORT"), 403, "blocked-by-address"),
    HttpRow("no brackets", TUNNEL, _connect("::1:PORT"), 400, "bad-request"),
    HttpRow("name in brackets", TUNNEL, _connect(f"[{GOOD}]:PORT"), 400, "bad-request"),
    HttpRow("zone", TUNNEL, _connect("[fe80::1%lo]:PORT"), 400, "bad-request"),
    HttpRow("CONNECT with path", TUNNEL, _connect(f"{GOOD}:PORT/x"), 400, "bad-request"),
    HttpRow("CONNECT with scheme", TUNNEL, _connect(f"http://{GOOD}:PORT"), 400, "bad-request"),
    HttpRow("CONNECT without port", TUNNEL, _connect(GOOD), 400, "bad-request"),
    HttpRow("CONNECT, Host differs", TUNNEL, _connect(f"{GOOD}:PORT", "evil.test:1"), 400, "bad"),
    HttpRow("CONNECT with a body", TUNNEL, _connect(f"{GOOD}:PORT", "", "Content-Length: 3\n"),
            400, "bad-request"),
    HttpRow("another port", TUNNEL, _connect(f"{GOOD}:1"), 403, "blocked-by-allowlist"),
    HttpRow("port zero", TUNNEL, _connect(f"{GOOD}:0"), 400, "bad-request"),
    HttpRow("port too large", TUNNEL, _connect(f"{GOOD}:65979"), 400, "bad-request"),
    HttpRow("Host differs", PLAIN, _get(URL, "evil.test"), 400, "bad-request"),
    HttpRow("Host without the port", PLAIN, _get(URL, GOOD), 400, "bad-request"),
    HttpRow("two Hosts", PLAIN, _get(URL, more="Host: evil.test\n"), 400, "bad-request"),
    HttpRow("no Host", PLAIN, f"GET {URL} HTTP/1.1\nAccept: */*\n\n", 400, "bad-request"),
    HttpRow("not a proxy request", PLAIN, _get("/x"), 400, "bad-request"),
    HttpRow("https in plain", PLAIN, _get(f"https://{GOOD}:PORT/x"), 400, "bad-request"),
    HttpRow("ftp", PLAIN, _get(f"ftp://{GOOD}:PORT/x"), 400, "bad-request"),
    HttpRow("HTTP/2", PLAIN, "PRI * HTTP/2.0\n\nSM\n\n", 400, "bad-request"),
    HttpRow("lower-case method", PLAIN, f"get {URL} HTTP/1.1\nHost: {GOOD}:PORT\n\n", 400, "bad"),
    HttpRow("two spaces", PLAIN, f"GET  {URL} HTTP/1.1\nHost: {GOOD}:PORT\n\n", 400, "bad-request"),
    HttpRow("folded header", PLAIN, _get(URL, more="X: a\n b: c\n"), 400, "bad-request"),
    HttpRow("blank before colon", PLAIN, _get(URL, more="Content-Length : 3\n"), 400, "bad"),
    HttpRow("bare CR", PLAIN, _get(URL, more="X: a\rHost: evil.test\n"), 400, "bad-request"),
    HttpRow("NUL in a header", PLAIN, _get(URL, more="X: a\0b\n"), 400, "bad-request"),
    HttpRow(
        "two lengths",
        POST + "Content-Length: 2\n\nab",
        POST + "Content-Length: 2\nContent-Length: 7\n\nab",
        400,
        "bad-request",
    ),
    HttpRow(
        "length and chunks",
        POST + "Transfer-Encoding: chunked\n\n2\nab\n0\n\n",
        POST + "Content-Length: 2\nTransfer-Encoding: chunked\n\n2\nab\n0\n\n",
        400,
        "bad-request",
    ),
    HttpRow(
        "unknown coding",
        POST + "Transfer-Encoding: Chunked\n\n0\n\n",
        POST + "Transfer-Encoding: xchunked\n\n0\n\n",
        400,
        "bad-request",
    ),
    HttpRow(
        "two codings",
        POST + "Transfer-Encoding: chunked\n\n0\n\n",
        POST + "Transfer-Encoding: identity\nTransfer-Encoding: chunked\n\n0\n\n",
        400,
        "bad-request",
    ),
    HttpRow("sign", POST + "Content-Length: 0\n\n", POST + "Content-Length: +0\n\n", 400, ""),
    HttpRow(
        "Connection names Host",
        _get(URL, more="Connection: keep-alive, X-Mine\nX-Mine: 1\n"),
        _get(URL, more="Connection: host\n"),
        400,
        "bad-request",
    ),
    HttpRow("101 headers", _get(URL, more="X: 1\n" * 99), _get(URL, more="X: 1\n" * 100), 431, ""),
    HttpRow(
        "head too large",
        _get(URL, more=f"X: {'a' * 60000}\n"),
        _get(URL, more=f"X: {'a' * 70000}\n"),
        431,
        "head-too-large",
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", HTTP, ids=lambda row: row.name)
async def test_an_attack_is_refused_and_its_twin_goes_through(row: HttpRow) -> None:
    async with proxy_stand() as stand:
        allowed = await stand.send(stand.fill(row.allowed))
        assert allowed.startswith(b"HTTP/1.1 200"), allowed
        connections = len(stand.server.received)
        refused = await stand.send(stand.fill(row.attack))
        head, _, body = refused.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % row.status), refused
        assert f"{row.error}" in head.decode().partition("X-Proxy-Error: ")[2].partition("\r\n")[0]
        assert body.startswith(b"agent-tui sandbox: ")
        assert len(stand.server.received) == connections
        assert stand.log.records()[-1].event == "refused"


def _name(text: bytes) -> bytes:
    return b"\x03" + bytes([len(text)]) + text


class SocksRow(NamedTuple):
    """Two SOCKS addresses: one that is connected to, one that must not be."""

    name: str
    allowed: bytes
    attack: bytes
    reply: int


GOOD_NAME = _name(GOOD.encode())
SOCKS = [
    SocksRow("NUL", GOOD_NAME, _name(b"evil.test\0.good.test"), 1),
    SocksRow("upper case", _name(GOOD.upper().encode()), _name(DENIED.upper().encode()), 2),
    SocksRow("trailing dot", _name(b"good.test."), _name(DENIED.encode() + b"."), 2),
    SocksRow("user@host", GOOD_NAME, _name(b"good.test@evil.test"), 1),
    SocksRow("not allowed", GOOD_NAME, _name(b"evil.test"), 2),
    SocksRow("empty", GOOD_NAME, _name(b""), 1),
    SocksRow("not UTF-8", GOOD_NAME, _name(b"\xff.good.test"), 1),
    SocksRow("decimal as a name", _name(b"127.0.0.1"), _name(b"2130706433"), 1),
    SocksRow("IPv4", b"\x01\x7f\x00\x00\x01", b"\x01\xa9\xfe\xa9\xfe", 2),
    SocksRow(
        "mapped", b"\x04" + bytes(10) + b"\xff\xff\x7f\x00\x00\x01",
        b"\x04" + bytes(10) + b"\xff\xff\xa9\xfe\xa9\xfe", 2,
    ),
    SocksRow("unknown type", GOOD_NAME, b"\x02good", 1),
]  # fmt: skip


@pytest.mark.parametrize("row", SOCKS, ids=lambda row: row.name)
async def test_the_same_over_socks(row: SocksRow) -> None:
    async with proxy_stand() as stand:
        assert (await stand.socks(row.allowed))[1] == 0
        connections = len(stand.server.received)
        assert (await stand.socks(row.attack))[1] == row.reply
        assert len(stand.server.received) == connections


@pytest.mark.parametrize("command", [2, 3, 9])
async def test_socks_does_nothing_but_connect(command: int) -> None:
    async with proxy_stand() as stand:
        assert (await stand.socks(GOOD_NAME))[1] == 0
        assert (await stand.socks(GOOD_NAME, command=command))[1] == 1


async def _status(stand: Stand, request: str) -> bytes:
    return (await stand.send(stand.fill(request))).split(b" ", 2)[1]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.2", "::1", "10.0.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
        "168.63.129.16", "fd00:ec2::254", "fe80::1", "::ffff:127.0.0.2", "64:ff9b::a00:1",
        "2002:a00:1::", "0.0.0.0", "::", "224.0.0.1", "not an address",
    ],
)  # fmt: skip
async def test_a_name_that_leads_inside_is_not_dialed(address: str) -> None:
    async with proxy_stand() as stand:
        assert await _status(stand, TUNNEL) == b"200"
        stand.names[GOOD] = [address]
        assert await _status(stand, TUNNEL) in (b"403", b"502")
        assert len(stand.server.received) == 1


async def test_of_several_addresses_the_inner_ones_are_dropped() -> None:
    async with proxy_stand() as stand:
        stand.names[GOOD] = ["10.0.0.1", "127.0.0.1"]
        assert await _status(stand, TUNNEL) == b"200"


async def test_a_name_is_resolved_once_and_the_checked_address_dialed() -> None:
    async with proxy_stand() as stand:
        assert await _status(stand, PLAIN) == b"200"
        assert stand.looked_up == [GOOD]


async def test_a_refused_name_is_never_looked_up() -> None:
    async with proxy_stand() as stand:
        assert await _status(stand, _connect(f"{DENIED}:PORT")) == b"403"
        assert await _status(stand, _connect("secret.evil.test:443")) == b"403"
        assert stand.looked_up == []


async def test_an_own_address_needs_a_rule_of_its_own() -> None:
    async with proxy_stand(allow=[f"{GOOD}:PORT", "*:PORT"]) as stand:
        answer = await stand.send(stand.fill(TUNNEL))
        assert b"X-Proxy-Error: blocked-by-address" in answer
        assert b"127.0.0.1, an address that is loopback" in answer


async def test_a_redirect_to_a_denied_host_is_another_request() -> None:
    async with proxy_stand() as stand:
        stand.server.status = "302 Found"
        stand.server.headers = f"Location: http://{DENIED}:{stand.server.port}/\r\n"
        answer = await stand.send(stand.fill(PLAIN))
        assert f"Location: http://{DENIED}".encode() in answer
        target = f"http://{DENIED}:PORT/"
        assert await _status(stand, _get(target, f"{DENIED}:PORT")) == b"403"


async def test_a_second_request_on_a_connection_goes_nowhere() -> None:
    async with proxy_stand() as stand:
        second = _get(f"http://{GOOD}:PORT/second")
        answer = await stand.send(stand.fill(PLAIN + second))
        assert answer.count(b"HTTP/1.1 200") == 1
        assert answer.endswith(b"/x")
        assert len(stand.server.received) == 1
        assert b"second" not in stand.server.received[0]


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        ("Content-Length: 2\n", "ab"),
        ("Transfer-Encoding: chunked\n", "2;a=1\nab\n0\nX: trailer\n\n"),
    ],
)
async def test_a_request_inside_a_body_stays_one(framing: str, body: str) -> None:
    async with proxy_stand() as stand:
        answer = await stand.send(stand.fill(f"{POST}{framing}\n{body}" + _get("/smuggled")))
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"smuggled" not in stand.server.received[0]
        assert b"ab" in stand.server.received[0]
        assert b"trailer" not in stand.server.received[0]


@pytest.mark.parametrize(
    "body", ["zz\nab\n", "-2\nab\n", "2\nabc\n", "0x2\nab\n", "222222222\nab\n"]
)
async def test_a_malformed_chunk_ends_the_connection(body: str) -> None:
    async with proxy_stand() as stand:
        request = f"{POST}Transfer-Encoding: chunked\n\n{body}0\n\n"
        assert not (await stand.send(stand.fill(request))).startswith(b"HTTP/1.1 200")
        assert not stand.server.received[0].endswith(b"0\r\n\r\n")


async def test_what_is_for_this_hop_stays_here() -> None:
    async with proxy_stand() as stand:
        more = "Proxy-Authorization: Basic c2VjcmV0\nProxy-Connection: keep-alive\nUpgrade: h2c\n"
        answer = await stand.send(stand.fill(_get(URL, more=f"{more}Accept: text/x\n")))
        assert answer.startswith(b"HTTP/1.1 200")
        assert stand.server.received[0].decode() == (
            f"GET /x HTTP/1.1\r\nHost: {GOOD}:{stand.server.port}\r\nAccept: text/x\r\n"
            "Connection: close\r\n\r\n"
        )
