"""Servers of plugins: where they are written, what they are called, and the user's word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.settings.servers.mcp_entry import entry_mistake
from tests.agent.mcp.configuration.test_configured_servers import Place

IN_ROOT = {"command": "${CLAUDE_PLUGIN_ROOT}/serve", "args": ["${CLAUDE_PLUGIN_DATA}/db"]}


@pytest.fixture(name="place")
def place_of_plugins(tmp_path: Path) -> Place:
    return Place(Path(os.path.realpath(tmp_path)))


def of_plugin(place: Place) -> dict[str, ConfiguredServer]:
    found = place.load(plugins=(place.root / "plug",)).servers
    return {one.definition.name: one for one in found}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (".mcp.json", {"mcpServers": {"db": IN_ROOT}}),
        (".mcp.json", {"db": IN_ROOT}),
        (".claude-plugin/plugin.json", {"mcpServers": {"db": IN_ROOT}}),
        (".claude-plugin/plugin.json", {"mcpServers": "./.mcp.json"}),
        (".claude-plugin/plugin.json", {"mcpServers": ["./other.json", {"db": IN_ROOT}]}),
    ],
)
def test_a_plugin_s_servers_wait_for_the_user_s_yes(
    place: Place, file: str, content: dict[str, object]
) -> None:
    place.write("plug/other.json", {})
    if content == {"mcpServers": "./.mcp.json"}:
        place.write("plug/.mcp.json", {"db": IN_ROOT})
    place.write(f"plug/{file}", content)
    one = of_plugin(place)["plugin:plug:db"]
    definition, root = one.definition, place.root / "plug"
    data = place.root / "home" / ".agent" / "plugins" / "data" / "plug"
    assert (one.standing, definition.scope, definition.is_foreign) == (
        "needs_approval", "plugin", True,
    )  # fmt: skip
    assert (definition.command, definition.args) == (f"{root}/serve", (f"{data}/db",))
    assert definition.env == {"CLAUDE_PLUGIN_ROOT": str(root), "CLAUDE_PLUGIN_DATA": str(data)}
    assert definition.entry == IN_ROOT
    place.consents.answer(place.root / "project", definition, "approved")
    assert of_plugin(place)["plugin:plug:db"].standing == "may_start"


def test_a_yes_is_for_one_plugin_and_never_by_name(place: Place) -> None:
    place.write("plug/.mcp.json", {"db": IN_ROOT})
    place.write("home/.agent/settings.json", {"enableAllProjectMcpServers": True})
    first = of_plugin(place)["plugin:plug:db"]
    place.consents.answer(place.root / "project", first.definition, "approved")
    place.write("other/plug/.mcp.json", {"db": IN_ROOT})
    (other,) = place.load(plugins=(place.root / "other" / "plug",)).servers
    assert other.definition.name == "plugin:plug:db"
    assert other.standing == "needs_approval"
    (by_flag,) = place.load(plugins=(place.root / "other" / "plug",), trust=True).servers
    assert by_flag.standing == "may_start"
    assert place.load(plugins=(place.root / "plug",), strict=True).servers == ()


def test_what_is_wrong_in_a_plugin_is_named_with_its_line(place: Place) -> None:
    entries = '{"mcpServers": {\n"odd": {"url": "https://x.example"},\n"good": {"command": "a"}}}'
    place.write("plug/.mcp.json", entries)
    place.write(
        "plug/.claude-plugin/plugin.json",
        '{"mcpServers": [\n"../../etc/x.json",\n"gone.json",\n7]}',
    )
    found = place.load(plugins=(place.root / "plug",))
    assert [one.definition.name for one in found.servers] == ["plugin:plug:good"]
    manifest = place.root / "plug" / ".claude-plugin" / "plugin.json"
    assert sorted(str(warning) for warning in found.warnings) == [
        f"{manifest}:2: mcpServers: ../../etc/x.json is not in the plugin",
        f"{manifest}:3: mcpServers: gone.json does not exist",
        f'{manifest}:4: mcpServers: expected {{"mcpServers": {{…}}}}',
        f"{place.root}/plug/.mcp.json:2: mcpServers.odd: has a "
        '"url" but no "type"; add "type": "http" (or "sse" or "ws"); the server is ignored',
    ]


@pytest.mark.parametrize("name", ["plugin:plug:db", "plugin_plug_db", "plugin.plug.db"])
def test_nothing_else_is_called_like_a_plugin_s_server(name: str) -> None:
    mistake = entry_mistake(name, {"command": "x"})
    assert mistake is not None
    assert mistake.kind == "reserved_name"
    assert entry_mistake("plugins", {"command": "x"}) is None
