"""WebFetch against a server on this machine, and against addresses that it must not touch."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest

from agent.abort import AbortSignal
from agent.errors import AgentError
from agent.tools.base import Tool, ToolError
from agent.tools.builtin.web_fetch import WebFetchInput, web_fetch_tool
from agent.tools.files import document
from agent.tools.web.fetch import MAX_BYTES, judge_public
from permissions.base.network.guarded_connect import Verdict
from permissions.matching.match_domain import named_hosts
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from tests.agent.tools.conftest import Bench


@dataclass
class Server:
    """Answers each path with fixed bytes and keeps the requests."""

    port: int = 0
    answers: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def judge(self, url: str) -> Verdict:
        """Stand for public DNS: every name of ours leads to this server."""
        host = urlsplit(url).hostname or ""
        is_ours = host.endswith(".test")
        return Verdict(is_ours, f"{host} is refused", ("127.0.0.1",) if is_ours else ())

    def url(self, path: str, host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def page(self, path: str, body: bytes, kind: str = "text/html", extra: str = "") -> str:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        self.answers[path] = f"{head}{extra}Connection: close\r\n\r\n".encode() + body
        return self.url(path)

    def redirect(self, path: str, location: str) -> str:
        self.answers[path] = (
            f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n"
            "Connection: close\r\n\r\n"
        ).encode()
        return self.url(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.requests.append(head)
        try:
            writer.write(self.answers[head.split(" ")[1]])
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    yield made
    listening.close()
    await listening.wait_closed()


@pytest.fixture
def fetch(server: Server) -> Tool[WebFetchInput]:
    return web_fetch_tool(server.judge)


@dataclass
class SmallModel:
    answer: str = "42"
    fails: bool = False
    prompts: list[str] = field(default_factory=list)

    async def ask(self, *, system: str, prompt: str, max_tokens: int, abort: AbortSignal) -> str:
        self.prompts.append(prompt)
        if self.fails:
            raise AgentError("overloaded")
        return self.answer


async def test_page_becomes_markdown(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    html = """<!doctype html><title>The title</title><style>b{}</style><script>evil()</script>
    <body><h2>Part</h2><p>Some <b>bold</b> <a href="/x">link</a> é</p><ul><li>one</ul></body>"""
    url = server.page("/", html.encode(), "text/html; charset=utf-8")
    outcome = await bench.call(fetch, url=url, prompt="what?")
    assert outcome.content == ("# The title\n\n## Part\n\nSome **bold** [link](/x) é\n\n* one")
    assert outcome.tool_response is not None
    assert outcome.tool_response["code"] == 200
    assert outcome.tool_response["url"] == url
    assert f"Host: site.test:{server.port}\r\n" in server.requests[0]


async def test_small_model_answers_from_the_page(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    model = SmallModel()
    bench.services.small_model = model
    url = server.page("/", b"the answer is 42", "text/plain")
    assert await bench.text(fetch, url=url, prompt="the answer?") == "42"
    assert "the answer is 42" in model.prompts[0]
    assert model.prompts[0].endswith("The question:\nthe answer?")
    model.fails = True
    text = await bench.text(fetch, url=url, prompt="the answer?")
    assert text.startswith("the answer is 42\n\n[the small model failed (overloaded)")


async def test_redirect_to_another_host_is_reported(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    url = server.redirect("/", server.url("/secret", "other.test"))
    text = await bench.text(fetch, url=url, prompt="x")
    assert f"not followed:\n{server.url('/secret', 'other.test')}\n" in text
    assert len(server.requests) == 1


@pytest.mark.parametrize("target", ["http://127.0.0.1/x", "http://site.test:1/x", "file:///etc"])
async def test_redirect_to_another_server_is_not_followed(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput], target: str
) -> None:
    text = await bench.text(fetch, url=server.redirect("/", target), prompt="x")
    assert f"not followed:\n{target}\n" in text


async def test_redirect_on_the_same_host_is_followed_but_not_forever(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    server.page("/end", b"there", "text/plain")
    assert await bench.text(fetch, url=server.redirect("/a", "/end"), prompt="x") == "there"
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        await bench.call(fetch, url=server.redirect("/loop", "/loop"), prompt="x")


async def test_body_is_bounded_also_when_packed(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    bomb = gzip.compress(b"a" * (MAX_BYTES * 4))
    url = server.page("/", bomb, "text/plain", "Content-Encoding: gzip\r\n")
    outcome = await bench.call(fetch, url=url, prompt="x")
    assert outcome.tool_response is not None
    assert outcome.tool_response["bytes"] == MAX_BYTES
    assert f"only the first {MAX_BYTES:,} bytes were read" in str(outcome.content)
    assert len(str(outcome.content)) < fetch.max_result_size_chars


async def test_error_status_is_an_error_with_what_the_server_said(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    server.answers["/"] = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno such page"
    outcome = await bench.call(fetch, url=server.url("/"), prompt="x")
    assert outcome.is_error
    assert outcome.content == "The server answered 404 Not Found:\nno such page"


async def test_binary_content_is_reported_plainly(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    with pytest.raises(ToolError, match="image/png, 3 bytes"):
        await bench.call(fetch, url=server.page("/", b"\x89PN", "image/png"), prompt="x")


@pytest.mark.parametrize(
    "charset", ["zlib", "undefined", "idna", "rot13", "no-such", "'a\x01b'", "é"]
)
async def test_no_charset_ends_the_call(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput], charset: str
) -> None:
    url = server.page("/", b"word", f"text/plain; charset={charset}")
    assert "w" in await bench.text(fetch, url=url, prompt="x")


@pytest.mark.parametrize("page", [b"<p>word &#" + b"9" * 5_000 + b";", b"<p>word<![" * 9])
async def test_what_the_parser_refuses_is_shown_as_it_is(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput], page: bytes
) -> None:
    assert "word" in await bench.text(fetch, url=server.page("/", page), prompt="x")


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (b"<!--" * 250_000, "text/html"),
        (b"</" * 500_000, "text/html"),
        (b"a-" + b"b9" * 500_000, "text/plain; charset=punycode"),
    ],
    ids=["comments", "ends", "punycode"],
)
async def test_a_page_that_takes_too_long_is_given_up(
    bench: Bench,
    server: Server,
    fetch: Tool[WebFetchInput],
    monkeypatch: pytest.MonkeyPatch,
    page: bytes,
    kind: str,
) -> None:
    monkeypatch.setattr(document, "CPU_S", 1)
    with pytest.raises(ToolError, match="takes more than 1 s or too much memory to read"):
        await bench.call(fetch, url=server.page("/", page, kind), prompt="x")


async def test_hostile_pages_are_survived(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    deep = b"<div>" * 5_000 + b"word\x1b[2J"
    assert "word" in await bench.text(fetch, url=server.page("/", deep), prompt="x")
    odd = server.page("/odd", "é".encode("cp1252"), "text/plain; charset=windows-1252")
    assert await bench.text(fetch, url=odd, prompt="x") == "é"
    unknown = server.page("/unknown", b"x", "text/plain; charset=nonsense")
    assert await bench.text(fetch, url=unknown, prompt="x") == "x"


async def test_broken_answers_are_reported(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput]
) -> None:
    server.answers["/"] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"
    with pytest.raises(ToolError, match="broke off"):
        await bench.call(fetch, url=server.url("/"), prompt="x")
    server.answers["/"] = b"nonsense\r\n\r\n"
    with pytest.raises(ToolError, match="could not be fetched"):
        await bench.call(fetch, url=server.url("/"), prompt="x")


async def test_slow_server_is_given_up(
    bench: Bench, server: Server, fetch: Tool[WebFetchInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.tools.web.fetch.TIMEOUT_S", 0.05)
    hold = asyncio.Event()

    async def stall(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await hold.wait()
        writer.close()

    slow = await asyncio.start_server(stall, "127.0.0.1", 0)
    port = slow.sockets[0].getsockname()[1]
    with pytest.raises(ToolError, match="did not answer within"):
        await bench.call(fetch, url=f"http://site.test:{port}/", prompt="x")
    hold.set()
    slow.close()
    await slow.wait_closed()


async def test_proxy_is_used_and_named(bench: Bench, server: Server) -> None:
    tool = web_fetch_tool(lambda _url: Verdict(True, "", ("192.0.2.1",)))
    bench.services.env = {"HTTP_PROXY": f"http://127.0.0.1:{server.port}"}
    server.page("http://site.test/x", b"through it", "text/plain")
    text = await bench.text(tool, url="http://site.test/x", prompt="x")
    assert text == (
        "through it\n\n[through the proxy 127.0.0.1, which hides where the request went]"
    )


async def test_next_address_is_tried(bench: Bench, server: Server) -> None:
    # The server listens on the IPv4 address only.
    tool = web_fetch_tool(lambda _url: Verdict(True, "", ("::1", "127.0.0.1")))
    url = server.page("/", b"second", "text/plain")
    assert await bench.text(tool, url=url, prompt="x") == "second"


async def test_unreachable_server_is_reported(bench: Bench, server: Server) -> None:
    tool = web_fetch_tool(lambda _url: Verdict(True, "", ("::1",)))
    with pytest.raises(ToolError, match="could not be reached"):
        await bench.call(tool, url=server.url("/"), prompt="x")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8080/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://192.168.1.1/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://100.64.0.1/",
    ],
)
async def test_private_and_own_addresses_are_refused(bench: Bench, url: str) -> None:
    assert not judge_public(url).is_allowed
    with pytest.raises(ToolError, match="is not fetched"):
        await bench.call(web_fetch_tool(), url=url, prompt="x")


async def test_loopback_is_fetched_where_a_rule_names_the_host(
    bench: Bench, server: Server
) -> None:
    bench.services.named_hosts = lambda: allowed("WebFetch(domain:localhost)")
    address = server.page("/", b"<p>the build is green</p>")
    of_host = address.replace("site.test", "localhost")
    outcome = await bench.call(web_fetch_tool(), url=of_host, prompt="x")
    assert "the build is green" in str(outcome.content)
    other = address.replace("site.test", "127.0.0.1")
    with pytest.raises(ToolError, match=r"no rule WebFetch\(domain:127\.0\.0\.1\)"):
        await bench.call(web_fetch_tool(), url=other, prompt="x")
    assert len(server.requests) == 1


def allowed(rule: str) -> frozenset[str]:
    rules, _ = RuleSet.build([RuleText(rule, RuleBehavior.ALLOW, RuleSource.USER)])
    return named_hosts(rules)


def test_a_pattern_names_no_host() -> None:
    assert allowed("WebFetch(domain:LocalHost)") == {"localhost"}
    assert allowed("WebFetch(domain:*)") == allowed("WebFetch") == frozenset()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/y",
        "example.com",
        "http://",
        "http://u:p@x/",
        "http://x:99999/",
    ],
)
async def test_other_urls_are_refused_before_anything_happens(bench: Bench, url: str) -> None:
    assert await bench.objection(web_fetch_tool(), url=url, prompt="x")
