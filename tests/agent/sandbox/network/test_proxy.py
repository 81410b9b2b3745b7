"""The proxy as programs meet it: attribution, limits, questions, the machine's own proxy."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import shutil
from collections.abc import AsyncIterator, Iterator
from ipaddress import ip_address

import pytest

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.network.host_rules import HostRules, parse_host_rule
from agent.sandbox.network.proxy import ProxyLimits
from agent.sandbox.network.proxy_environment import proxy_environment
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import Launch
from tests.agent.sandbox.network.proxy_stand import (
    DENIED,
    GOOD,
    Stand,
    credentials,
    proxy_stand,
)
from tests.soak.scale import IS_SOAK

INSTALL = NetworkCall("toolu_1", "npm install")
CONNECT = f"CONNECT {GOOD}:PORT HTTP/1.1\nHost: {GOOD}:PORT\n\n"
CONNECTIONS = 10_000 if IS_SOAK else 2_000
UNKNOWN = "CONNECT new.test:443 HTTP/1.1\n\n"


async def _run(stand: Stand, *argv: str, token: str = "") -> tuple[int | None, str]:
    """Run a program with the variables of a call and return its exit code and output."""
    env = {"PATH": "/usr/bin:/bin", **proxy_environment(token, stand.port, {})}
    env["NO_PROXY"] = env["no_proxy"] = ""
    ended = await run_program(Launch(argv, env), RunLimits(60))
    return ended.exit_code, (ended.stdout + ended.stderr).decode()


@pytest.mark.parametrize("credential", ["http", "socks"])
async def test_a_connection_belongs_to_the_call_of_its_credentials(credential: str) -> None:
    async with proxy_stand() as stand:
        token = stand.calls.issue(INSTALL)
        if credential == "http":
            head = CONNECT.removesuffix("\n")
            header = f"Proxy-Authorization: {credentials(token)}\n\n"
            assert b" 200 " in await stand.send(stand.fill(head + header))
        else:
            password = b"\x01\x09agent-tui" + bytes([len(token)]) + token.encode()
            address = b"\x03" + bytes([len(GOOD)]) + GOOD.encode()
            assert (await stand.socks(address, credentials=password))[1] == 0
        assert {record.call for record in stand.log.records()} == {INSTALL}


@pytest.mark.parametrize("token", ["", "wrong", "revoked"])
async def test_without_credentials_nothing_more_is_allowed(token: str) -> None:
    async with proxy_stand() as stand:
        if token == "revoked":
            token = stand.calls.issue(INSTALL)
            stand.calls.revoke(token)
        header = f"Proxy-Authorization: {credentials(token)}\n\n"
        for request, status in ((CONNECT, b" 200 "), (UNKNOWN, b" 403 ")):
            head = request.removesuffix("\n") + (header if token else "\n")
            assert status in await stand.send(stand.fill(head))
        assert {record.call.id for record in stand.log.records()} == {""}


async def test_a_listener_that_others_reach_wants_credentials() -> None:
    async with proxy_stand(requires_credentials=True) as stand:
        assert (await stand.send(stand.fill(CONNECT))).startswith(b"HTTP/1.1 407 ")
        token = stand.calls.issue(INSTALL)
        header = f"Proxy-Authorization: {credentials(token)}\n\n"
        request = CONNECT.removesuffix("\n") + header
        assert b" 200 " in await stand.send(stand.fill(request))


async def test_the_log_has_what_was_decided_and_how_much_went_through() -> None:
    async with proxy_stand() as stand:
        url = f"http://{GOOD}:PORT/"
        request = f"POST {url}abc HTTP/1.1\nHost: {GOOD}:PORT\nContent-Length: 5\n\nhello"
        answer = await stand.send(stand.fill(request))
        await stand.send(stand.fill(f"CONNECT {DENIED}:443 HTTP/1.1\n\n"))
        await stand.until_connections(0)
        allowed, closed, refused = sorted(stand.log.records(), key=lambda each: each.event)
        assert (allowed.event, allowed.host, allowed.port) == ("allowed", GOOD, stand.server.port)
        assert (closed.event, closed.sent_bytes, closed.received_bytes) == (
            "closed",
            5,
            len(answer),
        )
        assert (refused.host, refused.port, refused.code) == (DENIED, 443, "blocked-by-denylist")
        assert refused.reason == f"{DENIED}:443 is denied by the rule {DENIED}"
        assert stand.log.refusals("") == (refused,)
        assert stand.log.refusals("toolu_1") == ()


async def test_questions_about_one_host_are_one() -> None:
    asked: list[HostRequest] = []
    answered = asyncio.Event()

    async def decide(request: HostRequest) -> HostAnswer:
        asked.append(request)
        await answered.wait()
        return HostAnswer(True)

    async with proxy_stand(decide_host=decide) as stand:
        configured = stand.gate.rules
        stand.names["new.test"] = ["127.0.0.1"]
        token = stand.calls.issue(INSTALL)
        header = f"Proxy-Authorization: {credentials(token)}\n\n"
        request = f"CONNECT new.test:PORT HTTP/1.1\n{header}"
        sending = [asyncio.create_task(stand.send(stand.fill(request))) for _ in range(20)]
        await stand.until_connections(20)
        answered.set()
        assert all(b" 200 " in answer for answer in await asyncio.gather(*sending))
        assert asked == [HostRequest("new.test", stand.server.port, INSTALL, None)]
        # The answer lasts for the session, and is about this port.
        assert b" 200 " in await stand.send(stand.fill(request))
        assert len(asked) == 1
        granted = parse_host_rule(f"new.test:{stand.server.port}", None)
        assert stand.gate.rules == HostRules((*configured.allow, granted), configured.deny)


async def test_a_no_tells_why() -> None:
    async def decide(request: HostRequest) -> HostAnswer:
        return HostAnswer(False, "use the mirror")

    async with proxy_stand(decide_host=decide) as stand:
        answer = await stand.send(stand.fill(UNKNOWN))
        assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: blocked-by-user\r\n")
        assert b"the user refused new.test:443: use the mirror" in answer


async def test_no_one_answers() -> None:
    withdrawn = asyncio.Event()

    async def decide(request: HostRequest) -> HostAnswer:
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        return HostAnswer(True)

    async with proxy_stand(decide_host=decide, wait_s=0.01) as stand:
        answer = await stand.send(stand.fill(UNKNOWN))
        assert b"X-Proxy-Error: no-answer" in answer
        await withdrawn.wait()


@pytest.mark.parametrize(
    "sent", [b"", b"\x05", b"\x05\x01\x00\x05\x01", b"GET ", CONNECT.encode()[:-1]]
)
async def test_a_request_that_does_not_come_is_not_waited_for(sent: bytes) -> None:
    async with proxy_stand(limits=ProxyLimits(head_s=0.05)) as stand:
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
        writer.write(sent)
        answer = await reader.read()
        writer.close()
        assert b" 200 " not in answer
        assert not sent.startswith(b"G") or answer.startswith(b"HTTP/1.1 408 ")
        await stand.until_connections(0)


async def test_an_idle_connection_is_closed_and_a_busy_one_is_not() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(100):
                writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    limits = ProxyLimits(idle_s=0.3)
    async with server, proxy_stand(limits=limits, allow=["127.0.0.1:*"]) as stand:
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        started = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() < started + 2 * limits.idle_s:
            writer.write(b"x")
            assert await reader.readexactly(1) == b"x"
        assert await reader.read() == b""
        writer.close()


async def test_each_end_may_finish_first() -> None:
    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = await reader.read()
        writer.write(b"%d" % len(data))
        writer.close()

    server = await asyncio.start_server(count, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, proxy_stand(allow=["127.0.0.1:*"]) as stand:
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"x" * 3_000_000)
        writer.write_eof()
        assert await reader.read() == b"3000000"
        writer.close()


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
async def test_thousands_of_connections_leave_a_bounded_number_open() -> None:
    async with proxy_stand(limits=ProxyLimits(connections=256)) as stand:
        held: list[asyncio.StreamWriter] = []
        for _ in range(256):
            reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
            writer.write(stand.fill(CONNECT))
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            held.append(writer)
        for _ in range(CONNECTIONS // 50):
            opened = await asyncio.gather(
                *(asyncio.open_connection("127.0.0.1", stand.port) for _ in range(50))
            )
            for reader, writer in opened:
                # Every one beyond the limit is answered at once, and closed.
                assert b"X-Proxy-Error: too-many-connections" in await reader.read()
                writer.close()
            assert stand.proxy.open_connections == 256
        for writer in held:
            writer.close()
        await stand.until_connections(0)
        assert b" 200 " in await stand.send(stand.fill(CONNECT))


async def test_the_end_closes_everything() -> None:
    async with proxy_stand() as stand:
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
        writer.write(stand.fill(CONNECT))
        await reader.readuntil(b"\r\n\r\n")
        await stand.proxy.aclose()
        assert await reader.read() == b""
        writer.close()
        assert stand.proxy.open_connections == 0
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", stand.port)


class OuterProxy:
    """The machine's own proxy: it sends everything to one server."""

    def __init__(self, status: str) -> None:
        self.heads: list[bytes] = []
        self.status = status
        self.to = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            await self._answer(reader, writer)
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        if head.startswith(b"CONNECT"):
            writer.write(f"HTTP/1.1 {self.status}\r\nX-Outer: 1\r\n\r\n".encode())
            if not self.status.startswith("2"):
                return
            head = await reader.readuntil(b"\r\n\r\n")
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.to)
        inner_writer.write(head)
        writer.write(await inner_reader.read())
        inner_writer.close()


@contextlib.asynccontextmanager
async def _behind_another_proxy(status: str = "200 OK") -> AsyncIterator[tuple[OuterProxy, Stand]]:
    outer = OuterProxy(status)
    server = await asyncio.start_server(outer.serve, "127.0.0.1", 0)
    url = f"http://me:pass%20word@127.0.0.1:{server.sockets[0].getsockname()[1]}"
    env = {"HTTPS_PROXY": url, "http_proxy": url, "NO_PROXY": "direct.test"}
    allow = ["outside.test", "direct.test:PORT", "10.1.2.3"]
    async with server, proxy_stand(env=env, allow=allow) as stand:
        outer.to = stand.server.port
        yield outer, stand


BASIC = b"Proxy-Authorization: Basic bWU6cGFzcyB3b3Jk\r\n"


async def test_a_tunnel_goes_through_the_machines_own_proxy() -> None:
    async with _behind_another_proxy() as (outer, stand):
        reader, writer = await asyncio.open_connection("127.0.0.1", stand.port)
        writer.write(b"CONNECT outside.test:443 HTTP/1.1\r\n\r\n")
        assert b" 200 Connection established" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /inner HTTP/1.1\r\n\r\n")
        assert (await reader.read()).endswith(b"/inner")
        writer.close()
        assert outer.heads == [
            b"CONNECT outside.test:443 HTTP/1.1\r\nHost: outside.test:443\r\n" + BASIC + b"\r\n"
        ]
        assert stand.looked_up == []  # by the other proxy


async def test_a_plain_request_goes_through_it_too() -> None:
    async with _behind_another_proxy() as (outer, stand):
        request = "GET http://outside.test/a?b HTTP/1.1\nHost: outside.test\n\n"
        assert (await stand.send(stand.fill(request))).endswith(b"http://outside.test/a?b")
        assert outer.heads[0].startswith(b"GET http://outside.test/a?b HTTP/1.1\r\n")
        assert BASIC in outer.heads[0]


async def test_what_is_excluded_from_it_goes_straight() -> None:
    async with _behind_another_proxy() as (outer, stand):
        stand.names["direct.test"] = ["127.0.0.1"]
        request = "GET http://direct.test:PORT/a HTTP/1.1\nHost: direct.test:PORT\n\n"
        # It leads inside, and no rule names that address.
        assert b"blocked-by-address" in await stand.send(stand.fill(request))
        assert outer.heads == []


async def test_it_is_no_way_to_what_is_not_allowed() -> None:
    async with _behind_another_proxy() as (outer, stand):
        assert b" 403 " in await stand.send(b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n")
        assert b" 403 " in await stand.send(b"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n")
        assert outer.heads == []
        assert b" 200 " in await stand.send(b"CONNECT 10.1.2.3:443 HTTP/1.1\r\n\r\n")


async def test_its_refusal_is_reported() -> None:
    async with _behind_another_proxy("407 Who are you") as (_, stand):
        answer = await stand.send(b"CONNECT outside.test:443 HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"the proxy of this machine refuses outside.test:443" in answer
        assert b"407 Who are you" in answer


async def test_a_kind_of_proxy_not_known_here_is_named() -> None:
    env = {"ALL_PROXY": "socks5://127.0.0.1:1"}
    async with proxy_stand(env=env, allow=["outside.test"]) as stand:
        answer = await stand.send(b"CONNECT outside.test:443 HTTP/1.1\r\n\r\n")
        assert b"speaks socks5, not http or https" in answer


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_curl_through_the_variables() -> None:
    async with proxy_stand() as stand:
        token = stand.calls.issue(INSTALL)
        url = f"http://{GOOD}:{stand.server.port}/a"
        code, out = await _run(stand, "curl", "-sS", url, token=token)
        assert (code, out) == (0, "/a")
        code, out = await _run(stand, "curl", "-sS", "-p", url, token=token)
        assert (code, out) == (0, "/a")
        code, out = await _run(stand, "curl", "-sS", f"https://{DENIED}/", token=token)
        assert code == 56
        assert "403" in out
        code, out = await _run(stand, "curl", "-sS", "-d", "x" * 100_000, f"http://{DENIED}/")
        assert out == f"agent-tui sandbox: {DENIED}:80 is denied by the rule {DENIED}\n"
        assert stand.log.records()[0].call == INSTALL


def test_the_variables_name_the_proxy_in_both_cases() -> None:
    env = proxy_environment("t0ken", 3128, {"PATH": ""})
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
    ):
        assert env[name] == "http://agent-tui:t0ken@127.0.0.1:3128"
    assert env["no_proxy"] == env["NO_PROXY"] == "127.0.0.1,localhost,::1"
    assert env["NODE_USE_ENV_PROXY"] == "1"
    assert "GIT_SSH_COMMAND" not in env


@pytest.mark.parametrize("helper", ["socat", "ncat", "nc.openbsd"])
def test_ssh_goes_through_a_program_where_there_is_one(
    helper: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("bin")
    program = directory / helper
    program.touch(0o755)
    env = proxy_environment("t0ken", 3128, {"PATH": str(directory)})
    assert env["GIT_SSH_COMMAND"].startswith(f"ssh -o ProxyCommand='{helper} ")
    assert ip_address("127.0.0.1").exploded in env["GIT_SSH_COMMAND"]
    own = {"PATH": str(directory), "GIT_SSH_COMMAND": "ssh -v"}
    assert "GIT_SSH_COMMAND" not in proxy_environment("t0ken", 3128, own)
