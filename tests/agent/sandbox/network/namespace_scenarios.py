"""What a session's namespace is held to; run as a program: `python … SCENARIO [USER ID]`.

Prints one JSON object. Becomes the user first, so that the same is proved for root and for others.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping

from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.host_rules import HostRules, parse_host_rule
from agent.sandbox.network.namespace import NamespaceRefused
from agent.sandbox.network.session_network import CallNetwork, SessionNetwork
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import Launch

CALL = NetworkCall("toolu_1", "a command")
PYTHON = (sys.executable, "-I", "-S", "-c")
IGNORED = "while read -r name set; do [ $name = SigIgn: ] && echo $set; done < /proc/$$/status"

# Programs that run inside, as `python -c`.
LIST = "import os, json; print(json.dumps(sorted(os.listdir('/sys/class/net'))))"
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    print('connected')
except OSError as error:
    print(type(error).__name__, error)
"""
SERVE = """
import http.server, sys
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port, flush=True)
server.serve_forever()
"""
FETCH = """
import sys, urllib.request, urllib.error
try:
    print(urllib.request.urlopen(sys.argv[1], timeout=20).status)
except urllib.error.HTTPError as error:
    print(error.code, error.headers['X-Proxy-Error'], error.read().decode())
except OSError as error:
    print(type(error).__name__, error)
"""


def _launch(network: CallNetwork, *argv: str) -> Launch:
    env = {"PATH": os.defpath, **network.env}
    return Launch((*network.join_argv, *argv), env, pass_fds=network.descriptors)


async def _run_program(network: CallNetwork, *argv: str) -> str:
    ended = await run_program(_launch(network, *argv), RunLimits(60))
    return (ended.stdout + ended.stderr).decode().strip()


async def _run(network: CallNetwork, code: str, *arguments: str) -> str:
    return await _run_program(network, *PYTHON, code, *arguments)


async def _inside(session: SessionNetwork) -> Mapping[str, object]:
    """What a program in the namespace can do."""
    network = session.open_call(CALL, {"PATH": ""})
    host = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = host.sockets[0].getsockname()[1]
    session.gate.grant(parse_host_rule(f"127.0.0.1:{port}"))
    async with host:
        found = {
            "descriptors": await _run(
                network, "import os; print(len(os.listdir('/proc/self/fd')) - 1)"
            ),
            "user": await _run(network, "import os; print(os.getuid())"),
            "ignored signals": await _run_program(network, "sh", "-c", IGNORED),
            "outside": await _run(network, CONNECT, "192.0.2.1", "80"),
            "host loopback": await _run(network, CONNECT, "127.0.0.1", str(port)),
            "name": await _run(network, CONNECT, "example.com", "80"),
            "refused host": await _run(network, FETCH, "http://example.com/"),
            "refused tls": await _run(network, FETCH, "https://example.com/"),
            "refusals": [
                (each.host, each.port, each.code) for each in session.log.refusals("toolu_1")
            ],
        }
        proxied = network.env["HTTP_PROXY"].rpartition("@")[2].rpartition(":")
        found["proxy"] = await _run(network, CONNECT, proxied[0], proxied[2])
    session.close_call(network)
    return found


async def _servers(session: SessionNetwork) -> Mapping[str, object]:
    """A server of one call, seen by the next and not by the host."""
    first = session.open_call(CALL, {"PATH": ""})
    ports: list[int] = []
    seen = asyncio.Event()

    def on_first_line(line: bytes) -> None:
        ports.append(int(line))
        seen.set()

    server = asyncio.create_task(
        run_program(_launch(first, *PYTHON, SERVE), RunLimits(60), on_first_line=on_first_line)
    )
    await seen.wait()
    second = session.open_call(NetworkCall("toolu_2"), {"PATH": ""})
    url = f"http://127.0.0.1:{ports[0]}/"
    found = {"second call": await _run(second, FETCH, url)}
    try:
        socket.create_connection(("127.0.0.1", ports[0]), 5).close()
        found["host"] = "connected"
    except OSError as error:
        found["host"] = type(error).__name__
    server.cancel()
    await asyncio.gather(server, return_exceptions=True)
    return found


def _namespaces() -> list[str]:
    """Network namespaces of all processes of this user but this one's own."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
        except OSError:
            continue
    return sorted(found)


async def _closed(session: SessionNetwork) -> Mapping[str, object]:
    """What the end leaves."""
    network = session.open_call(CALL, {"PATH": ""})
    name = (await _run(network, "import os; print(os.readlink('/proc/self/ns/net'))")).strip()
    descriptors = len(os.listdir("/proc/self/fd"))
    await session.aclose()
    return {
        "was own": name != os.readlink("/proc/self/ns/net"),
        "left": name in _namespaces(),
        "closed descriptors": descriptors - len(os.listdir("/proc/self/fd")),
    }


async def _killed(session: SessionNetwork) -> Mapping[str, object]:
    """End as nothing can prevent, with a program still in the namespace."""
    network = session.open_call(CALL, {"PATH": ""})
    launch = _launch(network, *PYTHON, SERVE)

    def on_first_line(line: bytes) -> None:
        name = os.readlink(f"/proc/{_child()}/ns/net")
        print(json.dumps({"namespace": name, "child": _child()}), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    await run_program(launch, RunLimits(60), on_first_line=on_first_line)
    return {}


def _child() -> int:
    """Return the server's process id: the only process below this one in another namespace."""
    mine = os.readlink("/proc/self/ns/net")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            if parent == os.getpid() and os.readlink(f"/proc/{pid}/ns/net") != mine:
                return int(pid)
        except OSError:
            continue
    return 0


SCENARIOS = {"inside": _inside, "servers": _servers, "closed": _closed, "killed": _killed}


async def main(scenario: str) -> None:
    gate = HostGate(HostRules)
    session = SessionNetwork(gate, env={})
    try:
        await asyncio.gather(session.start(), session.start())
        found = await SCENARIOS[scenario](session)
    except NamespaceRefused as refused:
        found = {"refused": str(refused)}
    await session.aclose()
    await session.aclose()
    print(json.dumps(found))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.setgroups([])
        os.setgid(int(sys.argv[2]))
        os.setuid(int(sys.argv[2]))
    asyncio.run(main(sys.argv[1]))
