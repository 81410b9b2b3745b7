"""The network of a session where there are no namespaces: a proxy that is not for everybody."""

from __future__ import annotations

import asyncio

import pytest

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.session_network import SessionNetwork
from tests.agent.sandbox.network.proxy_stand import credentials, rules


async def _status(port: int, head: str) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"CONNECT 127.0.0.1:1 HTTP/1.1\r\n{head}\r\n".encode())
    answer = await reader.readline()
    writer.close()
    return answer.split(b" ")[1]


async def test_on_the_hosts_loopback_only_calls_are_served() -> None:
    gate = HostGate(lambda: rules(["127.0.0.1:1"]))
    session = SessionNetwork(gate, env={}, has_namespaces=False)
    await asyncio.gather(session.start(), session.start())
    call = session.open_call(NetworkCall("toolu_1", "make"), {})
    assert (call.join_argv, call.descriptors) == ((), ())
    port = int(call.env["HTTPS_PROXY"].rpartition(":")[2])
    own = f"Proxy-Authorization: {credentials(call.token)}\r\n"
    assert await _status(port, "") == b"407"
    assert await _status(port, f"Proxy-Authorization: {credentials('guess')}\r\n") == b"407"
    # Allowed, and nothing listens there.
    assert await _status(port, own) == b"502"
    session.close_call(call)
    assert await _status(port, own) == b"407"
    await session.aclose()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_each_session_has_a_port_and_credentials_of_its_own() -> None:
    sessions = [SessionNetwork(HostGate(rules), env={}, has_namespaces=False) for _ in range(2)]
    for session in sessions:
        await session.start()
    one, two = (session.open_call(NetworkCall("1"), {}) for session in sessions)
    assert one.token != two.token
    assert one.env["HTTP_PROXY"].rpartition(":")[2] != two.env["HTTP_PROXY"].rpartition(":")[2]
    for session in sessions:
        await session.aclose()
