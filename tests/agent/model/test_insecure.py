"""A connection that can never be a secure one is refused once, with what to do, and not retried."""

from __future__ import annotations

import asyncio
import socket
import ssl

import httpx2
import pytest

from agent.model.failures import describe_html, from_connection
from agent.recovery.classify import FailureKind, classify


@pytest.fixture(autouse=True)
def without_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def raised(cause: BaseException) -> Exception:
    """The error as the HTTP library hands it on, with the cause further down."""
    try:
        try:
            raise cause
        except BaseException as inner:
            raise RuntimeError("connect failed") from inner
    except RuntimeError as outer:
        return outer


def wrong_version() -> ssl.SSLError:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    error.reason = "WRONG_VERSION_NUMBER"
    return error


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        (ssl.SSLCertVerificationError("certificate verify failed"), "certificate"),
        (wrong_version(), "does not use TLS"),
        (BaseExceptionGroup("all", [OSError("no"), wrong_version()]), "does not use TLS"),
    ],
)
def test_it_is_reported_and_not_tried_again(cause: BaseException, said: str) -> None:
    failure = classify(from_connection(raised(cause), "https://host"))
    assert failure.kind is FailureKind.INSECURE
    assert not failure.retryable
    assert said in failure.message
    assert "SSL_CERT_FILE" in (failure.hint or "")


def test_other_trouble_with_tls_is_tried_again() -> None:
    error = from_connection(raised(ssl.SSLError(1, "record layer failure")), "https://host")
    assert classify(error).retryable


def test_a_host_name_that_is_not_known_is_named_without_a_number() -> None:
    unknown = socket.gaierror(-2, "Name or service not known")
    error = from_connection(raised(unknown), "http://no-such-host.invalid")
    assert str(error) == (
        "No connection to http://no-such-host.invalid: its host name cannot be resolved."
    )
    assert classify(error).retryable


def test_a_failure_without_a_text_is_a_sentence_without_the_name_of_a_class() -> None:
    error = from_connection(httpx2.ReadError(""), "https://host")
    assert str(error) == "No connection to https://host: the connection broke before an answer"


def test_a_page_that_is_labeled_as_json_is_not_named_json() -> None:
    text = describe_html("application/json", b"<html>denied</html>")
    assert text == "The server answered with something instead of the Messages API's JSON (denied)."


@pytest.mark.parametrize(
    ("variable", "proxy", "said"),
    [
        (
            "https_proxy",
            "http://me:secret@gate:3128",
            "The proxy http://gate:3128 does not respond.",
        ),
        ("ALL_PROXY", "gate:1080", "The proxy gate:1080 does not respond."),
        ("HTTP_PROXY", "http://gate:3128", "No server responds at https://host."),
    ],
)
def test_a_proxy_of_the_environment_is_named_without_its_password(
    variable: str, proxy: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, proxy)
    assert str(from_connection(raised(ConnectionRefusedError()), "https://host")) == said


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("http://me:secret@127.0.0.1:{port}", "refuses the connection: 407 Who are you"),
        ("http://no-such-host.invalid:3128", "cannot be found: its host name cannot be resolved"),
    ],
)
async def test_what_a_proxy_refuses_names_the_proxy_and_its_variables(
    proxy: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        address = proxy.format(port=server.sockets[0].getsockname()[1])
        monkeypatch.setenv("HTTPS_PROXY", address)
        async with httpx2.AsyncClient() as client:
            with pytest.raises(httpx2.TransportError) as raised_error:
                await client.get("https://host.invalid")
    failure = classify(from_connection(raised_error.value, "https://host.invalid"))
    shown = address.replace("me:secret@", "")
    assert failure.text.startswith(f"The proxy {shown} {said}. Check the proxy,")
    assert "HTTPS_PROXY" in failure.hint
    assert failure.kind is FailureKind.PROXY
