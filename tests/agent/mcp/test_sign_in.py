"""Signing in: only when a user does, stored for this user alone, refreshed once by all."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from agent.mcp.auth.needs_auth_cache import NeedsAuthCache
from agent.mcp.auth.token_store import SignIn, TokenStore
from agent.mcp.configuration.server_definition import OAuthSettings, ServerDefinition
from agent.mcp.mcp_errors import ConnectFailed, McpError
from agent.mcp.mcp_servers import McpServers
from agent.mcp.protocol.http_traffic import ADDRESSES, LimitedTransport, TrafficLog
from agent.mcp.protocol.oauth import ServerAuth
from agent.mcp.server_state import ServerState
from tests.agent.mcp.authorization_server import SignInServer
from tests.agent.mcp.running import definition, of, running
from tests.journeys.forked_program import ROOT, fork_program


class Browser:
    """Follows the address that it is shown, as a user's browser does."""

    def __init__(self, *, pastes: bool = False) -> None:
        self.shown: list[str] = []
        self._pastes = pastes
        self._back: asyncio.Queue[str] = asyncio.Queue()

    async def show(self, url: str) -> None:
        self.shown.append(url)
        async with httpx2.AsyncClient() as client:
            response = await client.get(url)
            back = response.headers["location"]
            if self._pastes:
                self._back.put_nowait(back)
            else:
                assert (await client.get(back)).status_code == 200

    async def read_pasted_address(self) -> str:
        return await self._back.get()


def guarded(server: SignInServer, **changes: object) -> ServerDefinition:
    return definition({"name": "guarded", "transport": "http", "url": server.url, **changes})


async def _called(servers: McpServers) -> str:
    return str((await servers.call_tool("guarded", "echo", {})).content[0]["text"])


@pytest.mark.parametrize("pastes", [False, True])
async def test_a_sign_in_lasts(tmp_path: Path, pastes: bool) -> None:
    async with SignInServer() as server:
        async with running(tmp_path, guarded(server)) as servers:
            view = of(servers, "guarded")
            assert (view.state, view.can_sign_in) == (ServerState.NEEDS_AUTH, True)
            assert view.tools == ()
            assert server.seen["POST /register"] == 0, "nothing is asked of anybody unasked"
            view = await servers.sign_in("guarded", Browser(pastes=pastes))
            assert (view.state, view.is_signed_in) == (ServerState.CONNECTED, True)
            assert await _called(servers) == "done"
        stored = tmp_path / "agent-home" / "mcp" / "tokens.json"
        assert stat.S_IMODE(stored.stat().st_mode) == 0o600
        async with running(tmp_path, guarded(server)) as servers:
            assert await _called(servers) == "done"
            assert server.seen["GET /authorize"] == 1
            await servers.sign_out("guarded")
            assert of(servers, "guarded").state is ServerState.NEEDS_AUTH
        assert b"access-" not in stored.read_bytes()


async def test_an_authorization_server_may_have_another_local_port(tmp_path: Path) -> None:
    async with SignInServer() as server:
        server.issuer = server.endpoints = server.other_base
        server.expires_in = 1
        async with running(tmp_path, guarded(server)) as servers:
            view = await servers.sign_in("guarded", Browser())
            assert (view.state, view.reason) == (ServerState.CONNECTED, "")
        server.expires_in = 3_600
        async with running(tmp_path, guarded(server)) as servers:
            assert await _called(servers) == "done"
        assert server.seen["refresh"] >= 1


async def test_a_local_port_that_serves_no_metadata_is_not_used(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        server.endpoints = server.other_base
        view = await servers.sign_in("guarded", Browser())
        assert view.state is ServerState.FAILED
        assert f"127.0.0.1:{urlsplit(server.other_base).port} on this machine" in view.reason
        assert server.seen["POST /register"] == 0


async def test_a_name_of_a_private_server_may_not_mean_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.mcp.protocol.oauth.system_resolve", lambda _: ("127.0.0.1",))
    remote = {"name": "guarded", "transport": "http", "url": "http://10.0.0.5/mcp"}
    auth = ServerAuth(definition(remote), TokenStore(tmp_path), None, None)
    with pytest.raises(ConnectFailed, match="on this machine"):
        await auth._check_request(httpx2.Request("POST", "http://leads-here.example/token"))


async def test_a_token_that_expired_is_refreshed(tmp_path: Path) -> None:
    async with SignInServer() as server:
        server.expires_in = 1
        async with running(tmp_path, guarded(server)) as servers:
            await servers.sign_in("guarded", Browser())
        server.expires_in = 3_600
        async with running(tmp_path, guarded(server)) as servers:
            assert await _called(servers) == "done"
        assert server.seen["refresh"] >= 1


async def test_a_token_that_is_refused_is_refreshed_and_the_call_runs(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        await servers.sign_in("guarded", Browser())
        server.valid.clear()
        assert await _called(servers) == "done"
        assert server.seen["refresh"] == 1


async def test_a_refused_refresh_wants_a_sign_in(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        await servers.sign_in("guarded", Browser())
        server.valid.clear()
        server.refresh_tokens.clear()
        with pytest.raises(McpError):
            await _called(servers)
        await servers.settle(timeout_s=30)
        view = of(servers, "guarded")
        assert (view.state, view.reason) == (
            ServerState.NEEDS_AUTH,
            "the sign-in is no longer valid",
        )


async def test_a_forgotten_client_registers_again(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        await servers.sign_in("guarded", Browser())
        server.valid.clear()
        server.clients.clear()
        view = await servers.sign_in("guarded", Browser())
        assert view.state is ServerState.CONNECTED
        assert server.seen["POST /register"] == 2


async def test_a_client_with_a_secret_is_who_the_configuration_says(tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "agent-home" / "mcp")
    async with SignInServer() as server:
        server.clients.add("mine")
        server.secrets["mine"] = "s3cret"
        one = guarded(server, oauth=OAuthSettings(client_id="mine"))
        store.set_client(server.url, "mine", "another")
        async with running(tmp_path, one) as servers:
            view = await servers.sign_in("guarded", Browser())
            assert view.state is not ServerState.CONNECTED
        store.set_client(server.url, "mine", "s3cret")
        async with running(tmp_path, one) as servers:
            view = await servers.sign_in("guarded", Browser())
            assert (view.state, view.reason) == (ServerState.CONNECTED, "")
        assert server.seen["POST /register"] == 0


async def test_without_pkce_there_is_no_sign_in(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        server.methods = None
        browser = Browser()
        view = await servers.sign_in("guarded", browser)
        assert view.state is ServerState.FAILED
        assert "PKCE" in view.reason
        assert browser.shown == []


async def test_metadata_of_another_resource_stops_it(tmp_path: Path) -> None:
    async with SignInServer() as server, running(tmp_path, guarded(server)) as servers:
        server.resource = "https://elsewhere.example/mcp"
        browser = Browser()
        view = await servers.sign_in("guarded", browser)
        assert view.state is ServerState.FAILED
        assert "elsewhere.example" in view.reason
        assert browser.shown == []


@pytest.mark.parametrize(
    ("server", "target"),
    [
        ("http://10.0.0.5/mcp", "http://169.254.169.254/token"),
        ("http://10.0.0.5/mcp", "http://100.100.100.200/token"),
        ("http://10.0.0.5/mcp", "http://[fd00:ec2::254]/token"),
        ("https://8.8.8.8/mcp", "http://8.8.4.4/token"),
        ("https://8.8.8.8/mcp", "http://8.8.8.8/token"),
        ("http://localhost:3000/mcp", "http://localhost:8080/register"),
        ("http://localhost:3000/mcp", "http://127.0.0.1:8080/register"),
        ("http://10.0.0.5/mcp", "http://localhost:8080/register"),
        ("http://10.0.0.5/mcp", "http://unresolvable.invalid/register"),
    ],
)
async def test_a_server_sends_the_sign_in_nowhere_unsafe(
    tmp_path: Path, server: str, target: str
) -> None:
    one = definition({"name": "guarded", "transport": "http", "url": server})
    auth = ServerAuth(one, TokenStore(tmp_path), None, None)
    with pytest.raises(ConnectFailed, match="signing in was stopped"):
        await auth._check_request(httpx2.Request("POST", target))


@pytest.mark.parametrize(
    ("server", "metadata_url", "target"),
    [
        ("http://localhost:3000/mcp", None, "http://127.0.0.1:3000/register"),
        ("http://localhost:3000/mcp", "http://localhost:8080/x", "http://localhost:8080/register"),
        ("https://8.8.8.8/mcp", None, "https://8.8.8.8:444/token"),
    ],
)
async def test_a_sign_in_reaches_what_the_user_named(
    tmp_path: Path, server: str, metadata_url: str | None, target: str
) -> None:
    oauth = OAuthSettings(metadata_url=metadata_url)
    one = definition({"name": "guarded", "transport": "http", "url": server, "oauth": oauth})
    auth = ServerAuth(one, TokenStore(tmp_path), None, None)
    assert str((await auth._check_request(httpx2.Request("POST", target))).url) == target


async def test_a_request_of_the_sign_in_goes_to_the_address_that_was_checked() -> None:
    answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = LimitedTransport(httpx2.AsyncHTTPTransport(), TrafficLog(), 5.0)
    request = httpx2.Request(
        "GET", f"http://rebinds.invalid:{port}/x", extensions={ADDRESSES: ("::1", "127.0.0.1")}
    )
    async with server:
        response = await transport.handle_async_request(request)
        assert await response.aread() == b"ok"
    await transport.aclose()
    assert f"host: rebinds.invalid:{port}".encode() in heads[0].lower()


async def test_a_configured_key_is_never_replaced_by_a_sign_in(tmp_path: Path) -> None:
    async with SignInServer() as server:
        keyed = guarded(server, headers={"Authorization": "Bearer wrong"})
        async with running(tmp_path, keyed) as servers:
            view = of(servers, "guarded")
            assert (view.state, view.can_sign_in) == (ServerState.FAILED, False)
            assert view.reason == "the server refused the request (HTTP 401)"
            with pytest.raises(ConnectFailed):
                await servers.sign_in("guarded", Browser())


async def test_headers_of_a_helper_are_sent(tmp_path: Path) -> None:
    async with SignInServer() as server:
        server.valid.add("helped")
        helper = """echo '{"Authorization": "Bearer helped"}'"""
        async with running(tmp_path, guarded(server, headers_helper=helper)) as servers:
            assert await _called(servers) == "done"


async def test_a_server_that_wanted_a_sign_in_is_left_alone_for_a_while(tmp_path: Path) -> None:
    async with SignInServer() as server:
        async with running(tmp_path, guarded(server)):
            pass
        asked = server.seen["POST /mcp"]
        async with running(tmp_path, guarded(server)) as servers:
            assert of(servers, "guarded").state is ServerState.NEEDS_AUTH
            assert server.seen["POST /mcp"] == asked
            await servers.reconnect("guarded")
            await servers.settle(timeout_s=30)
            assert server.seen["POST /mcp"] > asked


def test_what_wanted_a_sign_in_is_forgotten_after_a_quarter_of_an_hour(tmp_path: Path) -> None:
    now = 1_000.0
    cache = NeedsAuthCache(tmp_path, clock=lambda: now)
    cache.note("https://a")
    cache.note("https://b")
    cache.forget("https://b")
    assert (cache.wants("https://a"), cache.wants("https://b")) == (True, False)
    now += 15 * 60
    assert not cache.wants("https://a")


class _RefreshedElsewhere(TokenStore):
    """Another process refreshes the tokens right after they were first read."""

    has_refreshed = False

    def read(self, url: str) -> SignIn:
        known = super().read(url)
        if not self.has_refreshed:
            self.has_refreshed = True
            self.change(url, lambda _: _tokens("new", expires_in_s=3_600))
        return known


def _tokens(text: str, *, expires_in_s: float) -> SignIn:
    tokens = {"access_token": text, "token_type": "Bearer", "refresh_token": f"{text} refresh"}
    client = {"client_id": "this program", "redirect_uris": ["http://localhost/callback"]}
    return SignIn(tokens=tokens, client=client, expires_at=time.time() + expires_in_s)


async def test_tokens_that_another_process_refreshes_meanwhile_are_used(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/mcp"
    store = _RefreshedElsewhere(tmp_path)
    store.change(url, lambda _: _tokens("old", expires_in_s=-60))
    server = definition({"name": "g", "transport": "http", "url": url})
    request = httpx2.Request("POST", url)
    flow = ServerAuth(server, store, None, None).async_auth_flow(request)
    assert await anext(flow) is request, "not refreshed a second time"
    assert request.headers["authorization"] == "Bearer new"
    await flow.aclose()


async def test_two_processes_refresh_once(tmp_path: Path) -> None:
    async with SignInServer() as server:
        server.expires_in = 1
        async with running(tmp_path, guarded(server)) as servers:
            await servers.sign_in("guarded", Browser())
        server.expires_in = 3_600
        before = server.seen["refresh"]
        code = (
            "import asyncio, sys\n"
            "from pathlib import Path\n"
            "from tests.agent.mcp.running import definition, running\n"
            "async def main():\n"
            "    server = definition({'name': 'g', 'transport': 'http', 'url': sys.argv[2]})\n"
            "    async with running(Path(sys.argv[1]), server) as servers:\n"
            "        print((await servers.call_tool('g', 'echo', {})).content[0]['text'])\n"
            "asyncio.run(main())\n"
        )
        arguments = (str(tmp_path), server.url)
        both = [await fork_program(arguments, ROOT, dict(os.environ), code=code) for _ in range(2)]
        printed = [(await process.communicate())[0].strip() for process in both]
        assert printed == [b"done", b"done"]
        assert server.seen["refresh"] == before + 1


def test_a_damaged_store_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{")
    store = TokenStore(tmp_path)
    assert store.read("https://a").tokens is None
    store.set_client("https://a", "id", "secret")
    known = store.read("https://a").client
    assert known is not None
    assert known["client_secret"] == "secret"
