"""A project's servers and the user's word about them; many servers at once."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agent.assembly.assemble import settings_for
from agent.commands.headless import run_typed_command
from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.live.live_servers import LiveServers
from agent.mcp.live.user_port import SamplingChoice
from agent.mcp.server_requests import ElicitationAnswer, ElicitationRequest, SamplingRequest
from agent.mcp.server_state import ServerState
from agent.model.scripted.scenario import ToolCall, Turn
from agent.options import RunOptions
from agent.settings.trust import TrustStore
from tests.journeys.conftest import HELLO, Begin, Journey, results
from tests.journeys.start import user_at

SERVER = str(Path(__file__).parents[1] / "agent" / "mcp" / "plain_server.py")


class Person:
    """Answers questions about servers in order."""

    def __init__(self, *answers: ConsentAnswer | None) -> None:
        self.answers = list(answers)
        self.asked: asyncio.Queue[ConfiguredServer] = asyncio.Queue()

    async def approve_server(self, server: ConfiguredServer) -> ConsentAnswer | None:
        await self.asked.put(server)
        return self.answers.pop(0)

    async def accept_changes(self, server: str, changes: Sequence[ToolChange]) -> bool:
        raise AssertionError(f"{server} changed {changes}")

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        return ElicitationAnswer("decline")

    async def allow_sampling(self, request: SamplingRequest) -> SamplingChoice:
        return SamplingChoice.NO


def write(path: Path, **entries: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": entries}))


def plain(*arguments: str) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-I", "-S", SERVER, *arguments]}


async def live_of(journey: Journey) -> LiveServers:
    await journey.assembled.servers.ready()
    live = journey.assembled.commands.context.servers()
    assert live is not None
    return live


async def until(live: LiveServers, holds: Callable[[], bool]) -> None:
    """Return once something holds of the servers."""
    changed = asyncio.Event()
    end = live.servers.on_change(lambda _: changed.set())
    while not holds():
        await changed.wait()
        changed.clear()
    end()


def trust(home: Path, project: Path) -> None:
    settings = settings_for(RunOptions(), user_at(home, project))
    TrustStore(settings.agent_home / "trust.json").accept(settings.trust)


async def test_a_fresh_repository_s_server_is_approved_used_and_asked_about_again(
    begin: Begin, tmp_path: Path, fresh_home: Path
) -> None:
    project = tmp_path / "a project"
    write(project / ".mcp.json", plain=plain())
    trust(fresh_home, project)
    person = Person("approved", None)
    echo = Turn((ToolCall("mcp__plain__echo", {"text": "over the wire"}),))
    journey = await begin([echo, HELLO], mcp=person, allow=("mcp__plain__echo",))
    live = await live_of(journey)
    first = await person.asked.get()
    assert (first.definition.name, first.earlier) == ("plain", None)
    await until(live, lambda: bool(live.tools.names("plain")))
    await journey.send("echo")
    assert "over the wire" in json.dumps(journey.server.requests[-1].body["messages"])
    write(project / ".mcp.json", plain=plain("--all"))
    await journey.assembled.commands.context.reload_settings()
    again = await person.asked.get()
    assert (again.earlier, again.definition.args[-1]) == (plain(), "--all")
    assert live.tools.names("plain") == ()
    assert journey.assembled.ports.calls.registry.get("mcp__plain__echo") is None


async def test_a_plugin_s_server_starts_after_a_yes_with_its_places_and_no_secrets(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "plug"
    server = {"command": sys.executable, "args": ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/server.py"]}
    write(plugin / ".mcp.json", plain=server)
    (plugin / "server.py").write_text(Path(SERVER).read_text())
    monkeypatch.setenv("SOME_TOKEN", "secret")
    tool = "mcp__plugin_plug_plain__echo"
    call = Turn((ToolCall(tool, {"text": "env"}),))
    person = Person("approved")
    journey = await begin([call, HELLO], mcp=person, allow=(tool,), plugin_dirs=(plugin,))
    live = await live_of(journey)
    assert (await person.asked.get()).definition.name == "plugin:plug:plain"
    await until(live, lambda: bool(live.tools.names("plugin:plug:plain")))
    (result, *_) = results(await journey.send("show"))
    seen = json.loads(result.text)
    assert seen["CLAUDE_PLUGIN_ROOT"] == str(plugin)
    assert Path(seen["CLAUDE_PLUGIN_DATA"]).is_dir()
    assert "SOME_TOKEN" not in seen


async def test_a_server_that_takes_a_name_over_does_not_inherit_a_rule(
    begin: Begin, tmp_path: Path, fresh_home: Path
) -> None:
    home = fresh_home / ".agent" / "settings.json"
    write(home, plain=plain())
    journey = await begin([], mcp=Person(), allow=("mcp__plain__echo",))
    live = await live_of(journey)
    await until(live, lambda: bool(live.tools.names("plain")))
    live.rules.bind_stored(["mcp__plain__echo"])

    def allowed() -> bool:
        texts = journey.assembled.conversation.gate.context.rules.texts
        return "mcp__plain__echo" in [one.text for one in texts]

    assert allowed()
    write(home, plain=plain("--other"))
    await journey.assembled.commands.context.reload_settings()
    await live.follow_settings()
    await until(live, lambda: bool(live.tools.names("plain")))
    assert not allowed()


async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request as a server that wants a sign-in."""
    head = await reader.readuntil(b"\r\n\r\n")
    if found := re.search(rb"content-length: (\d+)", head, re.IGNORECASE):
        # Closing with something unread would reset the connection under the answer.
        await reader.readexactly(int(found[1]))
    writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    await writer.drain()
    writer.close()


async def test_of_many_servers_each_shows_its_state_and_none_holds_up_a_prompt(
    begin: Begin, fresh_home: Path
) -> None:
    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    entries: dict[str, object] = {f"mute{n}": plain("silent") for n in range(5)}
    entries |= {f"gone{n}": {"command": "/there/is/none"} for n in range(5)}
    entries |= {f"good{n}": plain() for n in range(10)}
    entries |= {
        f"asks{n}": {"type": "http", "url": f"http://127.0.0.1:{port}/{n}"} for n in range(5)
    }
    write(fresh_home / ".agent" / "settings.json", **entries)
    env = {"MCP_TIMEOUT": "600000"}  # so whoever waits for a mute one waits for ever
    journey = await begin([HELLO, HELLO], mcp=Person(), env=env)
    await journey.send("hi")
    assert len(journey.server.requests) == 1
    live = await live_of(journey)

    def states() -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for view in live.views():
            found.setdefault(view.name[:4], set()).add(str(view.state))
        return found

    expected = {
        "good": {ServerState.CONNECTED.value},
        "gone": {ServerState.FAILED.value},
        "mute": {ServerState.PENDING.value},
        "asks": {ServerState.NEEDS_AUTH.value},
    }
    await until(live, lambda: states() == expected)
    await journey.send("and now")
    told = json.dumps(journey.server.requests[-1].body["messages"])
    assert "asks0: waits for the user to sign in" in told
    assert "gone0: not connected" in told
    assert "good0: connected, 2 tools" in told
    listener.close()


async def test_servers_learn_of_another_working_directory(
    begin: Begin, tmp_path: Path, fresh_home: Path
) -> None:
    write(fresh_home / ".agent" / "settings.json", plain=plain())
    (tmp_path / "other").mkdir()
    journey = await begin([], mcp=Person())
    live = await live_of(journey)
    await until(live, lambda: bool(live.tools.names("plain")))
    await run_typed_command(f"/add-dir {tmp_path / 'other'}", journey.assembled.commands)

    def described() -> str:
        (view,) = live.views()
        return "".join(tool.description for tool in view.tools)

    await until(live, lambda: f"{tmp_path}/other" in described())
