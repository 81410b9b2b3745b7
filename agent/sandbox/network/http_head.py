"""Strict parser for the head of an HTTP request; ambiguous requests are refused."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from msgspec import Struct

from agent.sandbox.network.call_tokens import USER
from agent.sandbox.network.host_name import HostName, InvalidHost, authority, read_authority
from agent.sandbox.network.proxy_target import ProxyRefusal
from permissions.base.text.late_pattern import compile_late

MAX_HEADERS: Final = 100

_REQUEST_LINE: Final = compile_late(r"([A-Z-]{1,32}) ([!-~]+) HTTP/1\.([01])")
_HEADER: Final = compile_late(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*)", re.DOTALL)
_ABSOLUTE: Final = compile_late(r"http://([^/?#]*)([^#]*)", re.IGNORECASE)
_LENGTH: Final = compile_late(r"[0-9]{1,18}")
_HTTP_PORT: Final = 80
_FRAMING: Final = frozenset({"host", "content-length", "transfer-encoding"})
_FOR_ONE_HOP: Final = frozenset(
    {
        "connection", "host", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "upgrade",
    }
)  # fmt: skip


class HttpHead(Struct, frozen=True):
    """A request that the proxy can carry out."""

    method: str
    host: HostName
    port: int
    path: str
    """With the query; empty for CONNECT."""
    minor_version: str
    headers: tuple[tuple[str, str], ...]
    """Those that are passed to the server."""
    content_length: int
    """Bytes of the body; 0 where it is chunked or there is none."""
    is_chunked: bool
    token: str | None
    """Token of the call; None without credentials that this program issued."""

    @property
    def is_connect(self) -> bool:
        """Whether it asks for a tunnel."""
        return self.method == "CONNECT"

    def encode(self, *, authorization: str | None = None, absolute: bool = False) -> bytes:
        """Return the head for the server, or with an `absolute` URL for another proxy; it asks for
        the connection to be closed."""
        where = self.host.text if ":" not in self.host.text else f"[{self.host.text}]"
        if self.port != _HTTP_PORT:
            where = authority(self.host, self.port)
        path = f"http://{where}{self.path}" if absolute else self.path
        headers = [("Host", where), *self.headers, ("Connection", "close")]
        if authorization is not None:
            headers.append(("Proxy-Authorization", authorization))
        lines = [f"{self.method} {path} HTTP/1.{self.minor_version}"]
        lines += [f"{name}: {value}" for name, value in headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def parse_head(head: bytes) -> HttpHead:
    """Parse a request head, including the empty line at its end.

    Raises:
        ProxyRefusal: it is malformed, ambiguous, or not a request to a proxy.
    """
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise _bad("not an HTTP/1 request")
    method, target, minor_version = line.groups()
    headers = [_parse_header(each) for each in lines]
    if len(headers) > MAX_HEADERS:
        raise ProxyRefusal("head-too-large", f"more than {MAX_HEADERS} headers")
    host, port, path = _parse_target(method, target)
    values = _by_name(headers)
    content_length, is_chunked = _parse_framing(values, minor_version)
    _check_host_header(values, host, port, minor_version, method)
    if method == "CONNECT" and (content_length or is_chunked):
        raise _bad("CONNECT has a body")
    return HttpHead(
        method,
        host,
        port,
        path,
        minor_version,
        _end_to_end_headers(headers, values),
        content_length,
        is_chunked,
        _token(values.get("proxy-authorization", ())),
    )


def _bad(reason: str) -> ProxyRefusal:
    return ProxyRefusal("bad-request", reason)


def _parse_header(line: str) -> tuple[str, str]:
    match = _HEADER.fullmatch(line)
    if match is None:
        raise _bad("a header is malformed")
    return match[1], match[2].strip(" \t")


def _by_name(headers: list[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    values: dict[str, tuple[str, ...]] = {}
    for name, value in headers:
        key = name.lower()
        values[key] = (*values.get(key, ()), value)
    return values


def _parse_target(method: str, target: str) -> tuple[HostName, int, str]:
    try:
        if method == "CONNECT":
            return (*read_authority(target), "")
        absolute = _ABSOLUTE.fullmatch(target)
        if absolute is None:
            raise _bad("not a request to a proxy: the target has to be http://host/… or CONNECT")
        host, port = read_authority(absolute[1], _HTTP_PORT)
    except InvalidHost as error:
        raise ProxyRefusal("bad-request", str(error), (target, 0)) from None
    path = absolute[2]
    return host, port, path if path.startswith("/") else f"/{path}"


def _parse_framing(values: dict[str, tuple[str, ...]], minor_version: str) -> tuple[int, bool]:
    lengths = values.get("content-length", ())
    codings = values.get("transfer-encoding", ())
    if len(lengths) + len(codings) > 1:
        raise _bad("the length of the body is given more than once")
    if codings and (codings[0].lower() != "chunked" or minor_version == "0"):
        raise _bad("the only transfer encoding known here is chunked")
    if lengths and not _LENGTH.fullmatch(lengths[0]):
        raise _bad("the length of the body is not a number")
    return int(lengths[0]) if lengths else 0, bool(codings)


def _check_host_header(
    values: dict[str, tuple[str, ...]], host: HostName, port: int, minor_version: str, method: str
) -> None:
    hosts = values.get("host", ())
    if len(hosts) > 1:
        raise _bad("more than one Host header")
    if not hosts:
        # Some clients leave it out of CONNECT.
        if minor_version == "1" and method != "CONNECT":
            raise _bad("no Host header")
        return
    default_port = port if method == "CONNECT" else _HTTP_PORT
    try:
        place = read_authority(hosts[0], default_port)
    except InvalidHost:
        place = None
    if place != (host, port):
        where = (host.text, port)
        raise ProxyRefusal("bad-request", "the Host header names another host", where)


def _end_to_end_headers(
    headers: list[tuple[str, str]], values: dict[str, tuple[str, ...]]
) -> tuple[tuple[str, str], ...]:
    """Return the headers without the hop-by-hop ones. Raises ProxyRefusal."""
    hop_names = {
        name.strip().lower() for value in values.get("connection", ()) for name in value.split(",")
    }
    if hop_names & _FRAMING:
        raise _bad("the Connection header names a header that every hop needs")
    return tuple(
        (name, value)
        for name, value in headers
        if name.lower() not in _FOR_ONE_HOP and name.lower() not in hop_names
    )


def _token(credentials: tuple[str, ...]) -> str | None:
    if len(credentials) != 1:
        return None
    scheme, _, base64_text = credentials[0].partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, token = (
            base64.b64decode(base64_text.strip(), validate=True).decode().partition(":")
        )
    except (binascii.Error, UnicodeDecodeError):
        return None
    return token if user == USER else None
